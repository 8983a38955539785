/* SPDX-License-Identifier: MIT */
/* Calls that have not returned yet, and threads that make no calls, while the session runs.
 *
 * The start of a call stores the call's id and operation in the thread's slot
 * (gt_slot_domain.newest) and its time (started); its record comes when it returns. Ids of a thread
 * increase, so the newest call of a thread and domain is open if no record has its id. The order of
 * reading matters: first the slots, then the rings. A call that returns in between has a record
 * then, and is not reported.
 *
 * An outer call of the same domain as a newer call is not known: the slot holds one call per
 * domain. A call that the program left through a jump (siglongjmp(), an exception) counts as open
 * until the thread starts its next call of the domain. */
#ifndef GPUTAP_COLLECTOR_OPEN_CALLS_LIVE_H
#define GPUTAP_COLLECTOR_OPEN_CALLS_LIVE_H

#include "collector/drain_state.h"

struct gt_open_call {
	uint64_t id;
	uint32_t op;    /* GT_OP() without arguments */
	uint64_t start; /* host ticks; 0: not known */
	/* of collectives and messages, as in struct gt_slot_wait; 0: not known */
	uint64_t communicator, sequence, peer, bytes;
};

/* A thread of a traced process at one moment. */
struct gt_thread_calls {
	uint32_t slot, ordinal, tid;
	char name[17];
	uint64_t seen;                             /* host ticks at which the slot was read */
	unsigned open_count;                       /* 0: the thread is outside any recorded call */
	struct gt_open_call open[GT_DOMAIN_COUNT]; /* outermost first */
	/* the call that returned last: GT_OP(), 0: none; host ticks of its end */
	uint32_t last_call;
	uint64_t last_end;
};

typedef void gt_thread_calls_fn(struct gt_process *process, const struct gt_thread_calls *t,
				void *data);

/**
 * gt_open_calls_look() - call @each for every thread of a process that makes no progress
 * @least_ticks: leave out threads that have started or ended a call more recently. The rings of the
 *               process are read only if any thread is left. 0: all threads
 * Threads without recorded calls, and threads that made annotations only, are left out.
 * Call from the collector's thread.
 * Return: number of threads that make progress.
 */
unsigned gt_open_calls_look(struct gt_drain *d, struct gt_process *process, uint64_t least_ticks,
			    gt_thread_calls_fn *each, void *data);

/* Write the open calls of all processes as GT_RECORD_OPEN, with the states of their threads. The
 * records replace those that were written before. */
void gt_open_calls_write_all(struct gt_drain *d);
/* The same for a process that has ended or is no longer read, after its last drain. The states are
 * known if the process is still alive. */
void gt_open_calls_write_last(struct gt_drain *d, struct gt_process *process);

/* Return the duration of a tick of the host clock in ns, measured since the session's start. */
double gt_open_calls_tick_ns(const struct gt_drain *d, const struct gt_clock_tuple *now);

#endif
