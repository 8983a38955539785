/* SPDX-License-Identifier: MIT */
/* What a runtime's folder asks of device work that another one follows: HIP's work is HSA's.
 * Weak: the other folder may not be in the build. */
#ifndef GPUTAP_RUNTIME_DEVICE_WORK_H
#define GPUTAP_RUNTIME_DEVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/context.h"
#include "core/tap.h"

/* Is device work of @domain recorded? Else tools at most are notified of it. */
static inline bool gt_work_is_recorded(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_stream_work, memory_order_relaxed) >> domain & 1;
}

/* And work of @domain that is launched now? Not while the program pauses its recording. */
static inline bool gt_launches_are_recorded(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_stream_launches, memory_order_relaxed) >> domain & 1;
}

/* A device of ROCm's. */
struct gt_rocm_device {
	uint64_t number; /* of its object */
	uint64_t handle; /* hsa_agent_t */
	const char *pci; /* "0000:03:00.0"; "": not known */
};

/* By position, GPUs only. False: behind the last. */
bool gt_rocm_device_at(uint32_t position, struct gt_rocm_device *device) GT_WRAP;

/* A ROCm device got its first queue: HIP writes its default stream. */
void gt_hip_write_default_stream(struct gt_thread *t, uint64_t device) GT_WRAP;

#endif
