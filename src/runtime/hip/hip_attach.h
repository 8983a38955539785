/* SPDX-License-Identifier: MIT */
/* HIP's ways to attach, among themselves: an instance belongs to one of them. */
#ifndef GPUTAP_RUNTIME_HIP_HIP_ATTACH_H
#define GPUTAP_RUNTIME_HIP_HIP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

/* What programs call in place of an operation's tap; NULL: the tap. */
void *gt_hip_front(uint32_t instance, uint32_t index);

/* Are this instance's taps in the place of a library's exports? */
bool gt_hip_is_interposed(uint32_t instance);

#endif
