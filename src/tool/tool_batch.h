/* SPDX-License-Identifier: MIT */
/* The list of work that has completed, and the deliveries that are under way: tool_complete.c
 * notifies, tool_batch.c has what is left when a thread that did ends. */
#ifndef GPUTAP_TOOL_TOOL_BATCH_H
#define GPUTAP_TOOL_TOOL_BATCH_H

#include "tool/tool_activity_item.h"

/* threads that notify at the same time; a callback that jumps out of one more loses its list */
enum { GT_TOOL_BATCHES = 16 };

#define GT_TOOL_NO_THREAD UINT32_MAX /* of a batch's owner: it has ended */

/* Index + 1 of the newest item. Pushed one by one, taken whole. */
extern _Atomic uint32_t gt_tool_done_list __attribute__((visibility("hidden")));

/* What a delivery is at, so that a callback that jumps out of it does not take the rest with it.
 * The same thread's next delivery finds that it was left, as it stands higher in the stack;
 * another one does when the process ends, of a thread that is gone. */
struct gt_tool_batch {
	_Atomic uint64_t owner;   /* thread << 32 | process; 0: free */
	uintptr_t stack;          /* where the delivery stands */
	_Atomic uint32_t current; /* index + 1; the owner's, while its thread lives */
	/* index + 1 of the first item after it; the thread that exchanges it notifies of it */
	_Atomic uint32_t rest;
};
extern struct gt_tool_batch gt_tool_batches[GT_TOOL_BATCHES] __attribute__((visibility("hidden")));

/* There are batches of threads that have ended. */
extern _Atomic uint32_t gt_tool_orphans __attribute__((visibility("hidden")));

/* Deliveries that this thread is in the middle of. */
extern _Thread_local uint32_t gt_tool_deliveries
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
