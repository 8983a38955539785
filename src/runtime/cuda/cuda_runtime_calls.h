/* SPDX-License-Identifier: MIT */
/* Records calls of the CUDA runtime API from the callbacks of the CUPTI session. */
#ifndef GPUTAP_RUNTIME_CUDA_RUNTIME_CALLS_H
#define GPUTAP_RUNTIME_CUDA_RUNTIME_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Prepare the lists of operations. Call before the functions below, once CUPTI is open. */
void gt_cuda_runtime_begin(void) __attribute__((visibility("hidden")));

/* Return true if a call of the runtime API is wanted now. CUPTI is then needed even if GPU
 * activities are not wanted. Call only if the program uses CUDA. */
bool gt_cuda_runtime_wanted(void) __attribute__((visibility("hidden")));

/* Return true if this callback must be enabled. */
bool gt_cuda_runtime_needs(uint32_t id) __attribute__((visibility("hidden")));

/* Follow changed contexts: call @enable for each callback id whose state must change.
 * @again: true after subscribing, when no callback is enabled */
void gt_cuda_runtime_enable(bool (*enable)(uint32_t id, bool on), bool again)
	__attribute__((visibility("hidden")));

/* Handle a callback of CUPTI's domain 2. @data: struct cupti_callback. The caller holds no lock. */
void gt_cuda_runtime_callback(uint32_t id, const void *data) __attribute__((visibility("hidden")));

#endif
