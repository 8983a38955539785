/* SPDX-License-Identifier: MIT */
/* Calls of the CUDA runtime API, out of CUPTI's callbacks. For the owner of CUPTI. */
#ifndef GPUTAP_RUNTIME_CUDA_RUNTIME_CALLS_H
#define GPUTAP_RUNTIME_CUDA_RUNTIME_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Does anybody ask for a call of the runtime API now? Then CUPTI is needed, also where no device
 * work is asked for. The program uses CUDA. */
bool gt_cuda_runtime_wanted(void) __attribute__((visibility("hidden")));

/* Is this callback to be on? */
bool gt_cuda_runtime_needs(uint32_t id) __attribute__((visibility("hidden")));

/* Contexts have changed: @enable is called for each callback id that is to be on and was not, and
 * for each that was on and is not to be. @again: after subscribing: nothing was on. */
void gt_cuda_runtime_enable(bool (*enable)(uint32_t id, bool on), bool again)
	__attribute__((visibility("hidden")));

/* A callback of CUPTI's domain 2; @data: struct cupti_callback. No lock is held. */
void gt_cuda_runtime_callback(uint32_t id, const void *data) __attribute__((visibility("hidden")));

#endif
