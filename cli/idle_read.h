/* SPDX-License-Identifier: MIT */
/* Finds causes of idle time for exporters (gt_idle_read_fn): runs idle.h over a whole capture,
 * without a report. */
#ifndef GPUTAP_CLI_IDLE_READ_H
#define GPUTAP_CLI_IDLE_READ_H

#include "capture/capture.h"
#include "export/idle_parts.h"

gt_idle_read_fn idle_read;

#endif
