/* SPDX-License-Identifier: MIT */
/* How busy others kept the processors that a session might use: times of a run on a busy machine
 * are not those of a quiet one. */
#ifndef GPUTAP_COLLECTOR_LOAD_H
#define GPUTAP_COLLECTOR_LOAD_H

#include <sched.h>

#include "capture/capture.h"

struct gt_load {
	cpu_set_t processors;
	struct gt_machine_load at_begin;
};

void gt_load_begin(struct gt_load *l);
/* Since the begin. All children must have been waited for: what others are still running counts as
 * others'. @out: .processors is 0 where the kernel does not say. */
void gt_load_end(const struct gt_load *l, struct gt_machine_load *out);

#endif
