/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_CAPTURE_SHARED_CLOCK_H
#define GPUTAP_CAPTURE_SHARED_CLOCK_H

#include "capture/reader.h"

/**
 * gt_sessions_align_shared() - clocks of hosts, by the calls that their processes made together
 * Sessions are on one clock by their wall clocks. Those of boots that share collective calls with
 * the first session's are moved again, and told so (GT_ALIGNED_SHARED).
 * Return: 0, also when there is nothing that is shared; negative errno with a cause.
 */
int gt_sessions_align_shared(struct gt_capture *c);

#endif
