/* SPDX-License-Identifier: MIT */
/* A callback of the program's that a runtime calls inside one of the program's calls. */
#ifndef GPUTAP_CORE_CALLBACK_H
#define GPUTAP_CORE_CALLBACK_H

#include <stdint.h>

/* Calls that were open when the innermost callback of this thread began; 0: there is none, or it
 * was not inside of one. Where a runtime is interposed, calls within calls are its own
 * (gt_skip_nested): but not those that are made at this depth. */
extern _Thread_local uint32_t gt_callback_depth
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
