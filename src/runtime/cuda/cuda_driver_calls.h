/* SPDX-License-Identifier: MIT */
/* Records driver calls of a program that gputap was attached to while the program was running, from
 * the callbacks of the CUPTI session.
 *
 * Such a program holds addresses of driver functions, which it has looked up earlier. Most of them
 * are changed to taps (runtime/mapped.c, held_pointers.c), but not those in the heap, on stacks and
 * in generated code, for example those of Python's ctypes. CUPTI calls back for every call, through
 * any address:
 *
 *   program -> tap -> cuMemAlloc_v2() -> CUPTI -> ENTER: the tap records this call, do nothing
 *   program --------> cuMemAlloc_v2() -> CUPTI -> ENTER -> gt_announced_begin()
 *
 * A tap that records a call has set gt_thread.api_id, or has an open frame for tools, so each call
 * is recorded once. Taps remain in use because they cost less, and because they also see calls
 * while CUPTI belongs to another tool. */
#ifndef GPUTAP_RUNTIME_CUDA_DRIVER_CALLS_H
#define GPUTAP_RUNTIME_CUDA_DRIVER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct cupti_callback;
struct gt_cupti_library;

/* Assign CUPTI's callback ids to operations. Call before the functions below, with CUPTI open. */
__attribute__((visibility("hidden"))) void gt_cuda_calls_begin(
	const struct gt_cupti_library *library);

/* Return true if calls must be recorded from callbacks: gputap is attached, and the session wants
 * calls of the driver and allows the use of CUPTI. */
__attribute__((visibility("hidden"))) bool gt_cuda_calls_wanted(void);

/* Return true if this callback must be enabled for the call itself. */
__attribute__((visibility("hidden"))) bool gt_cuda_calls_need(uint32_t id);

/* Follow changed contexts: call @enable for each callback id whose state must change.
 * @again: true after subscribing, when no callback is enabled */
__attribute__((visibility("hidden"))) void gt_cuda_calls_enable(bool (*enable)(uint32_t id,
									       bool on),
								bool again);

/* Return the index + 1 of a callback's operation if the callback is enabled for calls. Return 0 if
 * it is not, or after an event about a function that gputap does not know. */
__attribute__((visibility("hidden"))) uint32_t gt_cuda_calls_find(uint32_t id);

/* Handle a callback of CUPTI's domain 1. The caller holds no lock (cuda_driver_announce.c). */
__attribute__((visibility("hidden"))) void gt_cuda_calls_callback(
	uint32_t id, const struct cupti_callback *data);

#endif
