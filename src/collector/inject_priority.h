/* SPDX-License-Identifier: MIT */
/* Priorities while a thread of another process is stopped. On a busy machine, the stop would
 * otherwise last as long as both threads wait for a processor, at each of their steps. */
#ifndef GPUTAP_COLLECTOR_INJECT_PRIORITY_H
#define GPUTAP_COLLECTOR_INJECT_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's struct sched_attr, first version. */
struct gt_inject_priority {
	uint32_t size, policy; /* size 0: nothing was changed */
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* Raise the priority of the calling thread, which must end soon. Return true if it runs before all
 * usual threads. */
bool gt_inject_priority_take(void);

/* Give a stopped thread a real-time priority, if gputap may do so and undo it (CAP_SYS_NICE).
 * Threads that it creates do not inherit it. A better nice value would not help: the scheduler lets
 * a thread that has just used its share wait even longer if its weight grows. Without the right,
 * give it short slices (util/short_slice.h), which the worker inherits. */
void gt_inject_priority_lend(pid_t tid, struct gt_inject_priority *before);
void gt_inject_priority_return(pid_t tid, const struct gt_inject_priority *before);

#endif
