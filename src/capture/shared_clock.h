/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_CAPTURE_SHARED_CLOCK_H
#define GPUTAP_CAPTURE_SHARED_CLOCK_H

#include "capture/reader.h"

/**
 * gt_sessions_align_shared() - align clocks of hosts through collective calls
 * The sessions are already aligned by wall clocks. Sessions of boots that share collective calls
 * with the first session's boot are aligned again and marked GT_ALIGNED_SHARED.
 * Return: 0, even without shared calls; negative errno with a cause.
 */
int gt_sessions_align_shared(struct gt_capture *c);

#endif
