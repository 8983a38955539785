/* SPDX-License-Identifier: MIT */
/* Callbacks into the program that a runtime makes inside one of the program's own calls. */
#ifndef GPUTAP_CORE_CALLBACK_H
#define GPUTAP_CORE_CALLBACK_H

#include <stdint.h>

/* Number of calls that were open when this thread's innermost callback started. 0: no callback is
 * active, or the callback did not start inside a call. If a runtime is interposed, nested calls are
 * the runtime's own (gt_skip_nested). Calls made at this depth are the program's. */
extern _Thread_local uint32_t gt_callback_depth
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
