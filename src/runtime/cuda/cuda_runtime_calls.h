/* SPDX-License-Identifier: MIT */
/* Calls of the CUDA runtime API, out of CUPTI's callbacks. For the owner of CUPTI. */
#ifndef GPUTAP_RUNTIME_CUDA_RUNTIME_CALLS_H
#define GPUTAP_RUNTIME_CUDA_RUNTIME_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Does anybody ask for a call of the runtime API now? Then CUPTI is needed, also where no device
 * work is asked for. The program uses CUDA. */
bool gt_cuda_runtime_wanted(void) __attribute__((visibility("hidden")));

/* After subscribing, and when contexts have changed: @enable is called for each callback id that is
 * to be on, and for those that are not any more. */
void gt_cuda_runtime_enable(bool (*enable)(uint32_t id, bool on))
	__attribute__((visibility("hidden")));

/* A callback of CUPTI's domain 2; @data: struct cupti_callback. No lock is held. */
void gt_cuda_runtime_callback(uint32_t id, const void *data) __attribute__((visibility("hidden")));

#endif
