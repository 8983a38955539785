/* SPDX-License-Identifier: MIT */
/* Interface between the folders of ROCm's runtimes for each other's devices and streams: HIP's
 * devices are HSA's agents, and ROCTx names objects of both. Without the providing folder, devices
 * and names are unknown. */
#ifndef GPUTAP_RUNTIME_ROCM_H
#define GPUTAP_RUNTIME_ROCM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "util/provided.h"

struct gt_rocm_device {
	uint64_t number; /* of its object */
	uint64_t handle; /* hsa_agent_t */
	const char *pci; /* "0000:03:00.0"; "": not known */
};

/* Provided by HSA. */
struct gt_rocm_devices {
	bool (*get)(uint32_t position, struct gt_rocm_device *device);
	void (*meet)(struct gt_thread *t);
	void (*name)(struct gt_thread *t, uint64_t handle, const char *pci, const char *name);
};
GT_INTERFACE(gt_rocm_devices);

/* Provided by HIP. */
struct gt_rocm_streams {
	void (*write_default)(struct gt_thread *t, uint64_t device);
	void (*name)(struct gt_thread *t, const void *stream, const char *name);
	void (*name_device)(struct gt_thread *t, int device, const char *name);
};
GT_INTERFACE(gt_rocm_streams);

/* Get a GPU by position. Return false if @position is past the last one. */
static inline bool gt_rocm_device_get(uint32_t position, struct gt_rocm_device *device)
{
	return GT_IS_PROVIDED(gt_rocm_devices) &&
	       GT_PROVIDED(gt_rocm_devices)->get(position, device);
}

/* From now on, know also those devices that were not used yet. */
static inline void gt_rocm_devices_meet(struct gt_thread *t)
{
	if (GT_IS_PROVIDED(gt_rocm_devices))
		GT_PROVIDED(gt_rocm_devices)->meet(t);
}

/* Name a device, as the program did: by handle, or, if @pci is not NULL, by PCI address. A name for
 * a device not known yet is applied once it is known. */
static inline void gt_rocm_device_name(struct gt_thread *t, uint64_t handle, const char *pci,
				       const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_devices))
		GT_PROVIDED(gt_rocm_devices)->name(t, handle, pci, name);
}

/* Name a HIP device. @device: as hipSetDevice() takes it. */
static inline void gt_rocm_hip_device_name(struct gt_thread *t, int device, const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->name_device(t, device, name);
}

/* Name a stream, as the program did. */
static inline void gt_rocm_stream_name(struct gt_thread *t, const void *stream, const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->name(t, stream, name);
}

/* Write a device's default stream. Called when the device gets its first queue. */
static inline void gt_rocm_stream_write_default(struct gt_thread *t, uint64_t device)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->write_default(t, device);
}

#endif
