/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_CAPTURE_SHARED_CLOCK_H
#define GPUTAP_CAPTURE_SHARED_CLOCK_H

#include "capture/reader.h"

/**
 * gt_sessions_align_shared() - align clocks of hosts through collective calls
 * Sessions are already aligned with wall clocks. Those of boots that share collective calls with
 * the first session's are aligned again, and marked GT_ALIGNED_SHARED.
 * Return: 0, also if no calls are shared; negative errno with a cause.
 */
int gt_sessions_align_shared(struct gt_capture *c);

#endif
