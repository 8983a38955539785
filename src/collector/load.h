/* SPDX-License-Identifier: MIT */
/* Measures how busy other processes kept the processors that a session may use, because run times
 * on a busy machine differ from run times on a quiet machine. */
#ifndef GPUTAP_COLLECTOR_LOAD_H
#define GPUTAP_COLLECTOR_LOAD_H

#include <sched.h>

#include "capture/capture.h"

struct gt_load {
	cpu_set_t processors;
	struct gt_machine_load at_begin;
};

void gt_load_begin(struct gt_load *l);
/* Measure from gt_load_begin() until now. The caller must have waited for all children, because
 * running children count as other processes. @out: .processors is 0 if the kernel reports no
 * processors. */
void gt_load_end(const struct gt_load *l, struct gt_machine_load *out);

#endif
