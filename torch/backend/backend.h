/* SPDX-License-Identifier: MIT */
// torch's device "refdev": declarations that its parts share.
//
//   backend_device.cpp     current device and streams, guard, hooks, generator, profiler's stubs
//   backend_memory.cpp     memory of the device and pinned memory of the host
//   backend_copies.cpp     copies, fills, conversions
//   backend_operators.cpp  operators: they check, allocate and launch; other operators run on the
//                          CPU
//   backend_kernels.cpp    the kernels, independent of torch
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include "refdev.h"

namespace refdev
{

constexpr auto DEVICE_TYPE = c10::DeviceType::PrivateUse1;
enum { DEVICES_MOST = 16 };

#define REFDEV_CHECK(call) refdev::check_status((call), #call)

// Throw a torch error with the name of the failed call.
void check_status(refdevError_t status, const char *call);

// Devices and streams ---------------------------------------------------------

// Return the number of devices. Never throws; returns 0 without a device.
int count_devices();
int get_device();
void set_device(int device);

// Selects @device for refdev calls until the end of the block.
class DeviceScope
{
      public:
	explicit DeviceScope(int device) : before(get_device())
	{
		set_device(device);
	}
	~DeviceScope()
	{
		set_device(before);
	}
	DeviceScope(const DeviceScope &) = delete;
	DeviceScope &operator=(const DeviceScope &) = delete;

      private:
	int before;
};

// Stream 0 is the device's default stream. Other streams are created on first use and never
// destroyed.
c10::StreamId current_stream(int device);
refdevStream_t find_stream(int device, c10::StreamId id);

// Memory ----------------------------------------------------------------------

c10::DeviceAllocator *device_allocator();
c10::Allocator *pinned_allocator();
bool is_pinned(const void *memory);
// Do not free the host memory until the device has completed its current activities.
void keep_pinned(const void *memory);

} // namespace refdev
