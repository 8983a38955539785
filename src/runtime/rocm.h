/* SPDX-License-Identifier: MIT */
/* Interface between the folders of ROCm's runtimes for devices and streams: HIP's devices are HSA's
 * agents, and ROCTx names objects of both. Without the providing folder, devices and names are
 * unknown. */
#ifndef GPUTAP_RUNTIME_ROCM_H
#define GPUTAP_RUNTIME_ROCM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "util/provided.h"

struct gt_rocm_device {
	uint64_t number; /* number of the device object */
	uint64_t handle; /* hsa_agent_t */
	const char *pci; /* "0000:03:00.0"; "": not known */
};

/* Functions that HSA's folder provides. */
struct gt_rocm_devices {
	bool (*get)(uint32_t position, struct gt_rocm_device *device);
	void (*meet)(struct gt_thread *t);
	void (*name)(struct gt_thread *t, uint64_t handle, const char *pci, const char *name);
};
GT_INTERFACE(gt_rocm_devices);

/* Functions that HIP's folder provides. */
struct gt_rocm_streams {
	void (*write_default)(struct gt_thread *t, uint64_t device);
	void (*name)(struct gt_thread *t, const void *stream, const char *name);
	void (*name_device)(struct gt_thread *t, int device, const char *name);
};
GT_INTERFACE(gt_rocm_streams);

/* Get a GPU by index. Return false if @position is past the last GPU. */
static inline bool gt_rocm_device_get(uint32_t position, struct gt_rocm_device *device)
{
	return GT_IS_PROVIDED(gt_rocm_devices) &&
	       GT_PROVIDED(gt_rocm_devices)->get(position, device);
}

/* Add devices that have not been used yet to the known devices. */
static inline void gt_rocm_devices_meet(struct gt_thread *t)
{
	if (GT_IS_PROVIDED(gt_rocm_devices))
		GT_PROVIDED(gt_rocm_devices)->meet(t);
}

/* Apply the program's name for a device. The device is identified by PCI address if @pci is not
 * NULL, otherwise by handle. A name for an unknown device is applied once the device is known. */
static inline void gt_rocm_device_name(struct gt_thread *t, uint64_t handle, const char *pci,
				       const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_devices))
		GT_PROVIDED(gt_rocm_devices)->name(t, handle, pci, name);
}

/* Apply the program's name for a HIP device. @device: number as for hipSetDevice() */
static inline void gt_rocm_hip_device_name(struct gt_thread *t, int device, const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->name_device(t, device, name);
}

/* Apply the program's name for a stream. */
static inline void gt_rocm_stream_name(struct gt_thread *t, const void *stream, const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->name(t, stream, name);
}

/* Write the default stream of a device. Called when the device gets its first queue. */
static inline void gt_rocm_stream_write_default(struct gt_thread *t, uint64_t device)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->write_default(t, device);
}

#endif
