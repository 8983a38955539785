/* SPDX-License-Identifier: MIT */
/* The list of completed activities, and the deliveries in progress. tool_complete.c notifies;
 * tool_batch.c continues when a notifying thread ends. */
#ifndef GPUTAP_TOOL_TOOL_BATCH_H
#define GPUTAP_TOOL_TOOL_BATCH_H

#include "tool/tool_activity_item.h"

/* threads that can notify at the same time; if a callback jumps out of a further one, its list is
 * lost */
enum { GT_TOOL_BATCHES = 16 };

#define GT_TOOL_NO_THREAD UINT32_MAX /* owner of a batch whose thread has ended */

/* Index + 1 of the newest activity. Threads push one at a time and take the whole list. */
extern _Atomic uint32_t gt_tool_done_list __attribute__((visibility("hidden")));

/* Progress of a delivery, so that a callback that jumps out of it does not lose the rest. The same
 * thread's next delivery finds that it was left, because it is higher in the stack. If the thread
 * has ended, a delivery at the end of the process finds it. */
struct gt_tool_batch {
	_Atomic uint64_t owner;   /* thread << 32 | process; 0: free */
	uintptr_t stack;          /* position of the delivery in the stack */
	_Atomic uint32_t current; /* index + 1; the owner writes it while its thread lives */
	/* index + 1 of the first activity after it; the thread that exchanges it notifies */
	_Atomic uint32_t rest;
};
extern struct gt_tool_batch gt_tool_batches[GT_TOOL_BATCHES] __attribute__((visibility("hidden")));

/* 1: batches of ended threads exist. */
extern _Atomic uint32_t gt_tool_orphans __attribute__((visibility("hidden")));

/* Number of deliveries in progress in this thread. */
extern _Thread_local uint32_t gt_tool_deliveries
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
