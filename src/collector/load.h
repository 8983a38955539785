/* SPDX-License-Identifier: MIT */
/* Measures how busy others kept the processors that a session may use: times of a run on a busy
 * machine differ from those on a quiet one. */
#ifndef GPUTAP_COLLECTOR_LOAD_H
#define GPUTAP_COLLECTOR_LOAD_H

#include <sched.h>

#include "capture/capture.h"

struct gt_load {
	cpu_set_t processors;
	struct gt_machine_load at_begin;
};

void gt_load_begin(struct gt_load *l);
/* Measure since the start. All children must have been waited for: running ones count as others.
 * @out: .processors is 0 if the kernel reports none. */
void gt_load_end(const struct gt_load *l, struct gt_machine_load *out);

#endif
