/* SPDX-License-Identifier: MIT */
/* Whether a traced thread is in a recorded call, from its slot and the records that are not drained
 * yet. Reads only what a quiet thread has written. */
#ifndef GPUTAP_COLLECTOR_THREAD_CALLS_H
#define GPUTAP_COLLECTOR_THREAD_CALLS_H

#include "collector/drain_state.h"

enum gt_thread_calls_state {
	GT_CALLS_NONE,     /* the slot has no thread, or the thread has made no call */
	GT_CALLS_STARTED,  /* a call has started since the last look */
	GT_CALLS_OPEN,     /* the thread is in a call, or has lost a record */
	GT_CALLS_RETURNED, /* all calls have returned */
};

/* A thread's calls at the last look. Zeroed initially. */
struct gt_thread_calls {
	uint64_t newest[GT_DOMAIN_COUNT]; /* gt_slot_domain.newest */
	uint64_t done[GT_DOMAIN_COUNT];   /* highest id with a record */
	/* records before byte `at` of `block` were looked at, in a walk that began at `first` */
	uint32_t first, block, at;
};

/* Look at the thread of slot @i again. */
enum gt_thread_calls_state gt_thread_calls_look(struct gt_drain *d, struct gt_process *process,
						uint32_t i, struct gt_thread_calls *calls);

#endif
