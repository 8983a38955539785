/* SPDX-License-Identifier: MIT */
/* What a runtime's folder asks of device work that another one follows: HIP's work is HSA's. */
#ifndef GPUTAP_RUNTIME_DEVICE_WORK_H
#define GPUTAP_RUNTIME_DEVICE_WORK_H

#include <stdbool.h>

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

#endif
