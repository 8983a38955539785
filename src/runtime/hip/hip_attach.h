/* SPDX-License-Identifier: MIT */
/* Shared by the two ways to attach to HIP, through its table and by interposition. An instance uses
 * only one of them. */
#ifndef GPUTAP_RUNTIME_HIP_HIP_ATTACH_H
#define GPUTAP_RUNTIME_HIP_HIP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

/* Return the function that programs call instead of an operation's tap, or NULL if programs call
 * the tap. */
void *gt_hip_front(uint32_t instance, uint32_t index);

/* Return true if this instance's taps replace a library's exports. */
bool gt_hip_is_interposed(uint32_t instance);

#endif
