/* SPDX-License-Identifier: MIT */
/* Queries for a runtime whose GPU activities are recorded by another runtime's folder: HSA's folder
 * records the activities of HIP. */
#ifndef GPUTAP_RUNTIME_GPU_ACTIVITY_H
#define GPUTAP_RUNTIME_GPU_ACTIVITY_H

#include <stdbool.h>

#include "core/context.h"
#include "core/tap.h"

/* Return true if GPU activities of @domain are recorded. If false, they are at most reported to
 * tools. */
static inline bool gt_activity_is_recorded(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_stream_activity, memory_order_relaxed) >> domain & 1;
}

/* Return true if GPU activities of @domain launched now are recorded. Returns false while the
 * program pauses recording. */
static inline bool gt_launches_are_recorded(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_stream_launches, memory_order_relaxed) >> domain & 1;
}

#endif
