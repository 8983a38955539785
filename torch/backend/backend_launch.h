/* SPDX-License-Identifier: MIT */
// Launches operator kernels on the device's current stream.
#pragma once

#include <ATen/core/Tensor.h>

#include "backend.h"
#include "backend_kernels.h"

namespace refdev
{

inline bool is_here(const at::Tensor &t)
{
	return t.device().type() == DEVICE_TYPE;
}

// Return the kernel type for @t, or TYPE_COUNT if no kernel supports it.
inline Type type_of(const at::Tensor &t)
{
	switch (t.scalar_type()) {
	case at::kFloat: return FLOAT32;
	case at::kDouble: return FLOAT64;
	case at::kLong: return INT64;
	default: return TYPE_COUNT;
	}
}

// Launch a group for each GROUP_ITEMS of @items, for each @y and @z.
template <typename Arguments>
void launch(int device, refdevKernel_t kernel, const Arguments &arguments, int64_t items,
	    int64_t y = 1, int64_t z = 1)
{
	const DeviceScope scope(device);
	const refdevDim3 grid = {uint32_t((items + GROUP_ITEMS - 1) / GROUP_ITEMS), uint32_t(y),
				 uint32_t(z)};

	REFDEV_CHECK(refdevLaunchKernel(kernel, grid, {GROUP_ITEMS, 1, 1}, &arguments,
					sizeof arguments,
					find_stream(device, current_stream(device))));
}

// Plan sizes and strides of @out and its broadcast operands. Merges dimensions that are contiguous
// in all operands. Return false if there are more dimensions than kernels support.
bool plan_elementwise(Elementwise *e, const at::Tensor &out, at::ArrayRef<at::Tensor> operands);

} // namespace refdev
