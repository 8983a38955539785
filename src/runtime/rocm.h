/* SPDX-License-Identifier: MIT */
/* What the folders of ROCm's runtimes ask of each other's devices and streams: HIP's devices are
 * HSA's agents, and ROCTx names things of both. Without the folder that knows there is no device,
 * and no name. */
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

/* HSA's. */
struct gt_rocm_devices {
	bool (*get)(uint32_t position, struct gt_rocm_device *device);
	void (*meet)(struct gt_thread *t);
	void (*name)(struct gt_thread *t, uint64_t handle, const char *pci, const char *name);
};
GT_INTERFACE(gt_rocm_devices);

/* HIP's. */
struct gt_rocm_streams {
	void (*write_default)(struct gt_thread *t, uint64_t device);
	void (*name)(struct gt_thread *t, const void *stream, const char *name);
	void (*name_device)(struct gt_thread *t, int device, const char *name);
};
GT_INTERFACE(gt_rocm_streams);

/* By position, GPUs only. False: behind the last. */
static inline bool gt_rocm_device_get(uint32_t position, struct gt_rocm_device *device)
{
	return GT_IS_PROVIDED(gt_rocm_devices) &&
	       GT_PROVIDED(gt_rocm_devices)->get(position, device);
}

/* Those that nobody has used yet are known, too, from now on. */
static inline void gt_rocm_devices_meet(struct gt_thread *t)
{
	if (GT_IS_PROVIDED(gt_rocm_devices))
		GT_PROVIDED(gt_rocm_devices)->meet(t);
}

/* The program has named a device: by handle, or, if @pci is not NULL, by PCI address. One that is
 * not known yet has the name when it is. */
static inline void gt_rocm_device_name(struct gt_thread *t, uint64_t handle, const char *pci,
				       const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_devices))
		GT_PROVIDED(gt_rocm_devices)->name(t, handle, pci, name);
}

/* The same. @device: as hipSetDevice() takes it. */
static inline void gt_rocm_hip_device_name(struct gt_thread *t, int device, const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->name_device(t, device, name);
}

/* The program has named a stream. */
static inline void gt_rocm_stream_name(struct gt_thread *t, const void *stream, const char *name)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->name(t, stream, name);
}

/* A device got its first queue: its default stream is written. */
static inline void gt_rocm_stream_write_default(struct gt_thread *t, uint64_t device)
{
	if (GT_IS_PROVIDED(gt_rocm_streams))
		GT_PROVIDED(gt_rocm_streams)->write_default(t, device);
}

#endif
