/* SPDX-License-Identifier: MIT */
/* Declares the list of completed activities and the deliveries in progress. tool_complete.c
 * notifies the tools. If a notifying thread ends, tool_batch.c lets other threads continue its
 * delivery. */
#ifndef GPUTAP_TOOL_TOOL_BATCH_H
#define GPUTAP_TOOL_TOOL_BATCH_H

#include "tool/tool_activity_item.h"

/* maximum number of tracked threads that notify at the same time. If a callback jumps out of the
 * delivery of a further thread, the rest of that delivery is lost */
enum { GT_TOOL_BATCHES = 16 };

#define GT_TOOL_NO_THREAD UINT32_MAX /* owner of a batch whose thread has ended */

/* Index + 1 of the newest activity. Threads push single activities and take the whole list. */
extern _Atomic uint32_t gt_tool_done_list __attribute__((visibility("hidden")));

/* Progress of a delivery, from which the remaining activities are found if a callback jumps out of
 * the delivery. The thread's next delivery detects the jump, because that delivery runs higher in
 * the stack. If the thread has ended, a delivery at the end of the process finds the remaining
 * activities. */
struct gt_tool_batch {
	_Atomic uint64_t owner; /* thread << 32 | process; 0 if free */
	uintptr_t stack;        /* stack position of the delivery */
	/* index + 1; written only by the owner while the owner's thread lives */
	_Atomic uint32_t current;
	/* index + 1 of the activity after `current`; the thread that takes this value by an
	 * exchange notifies */
	_Atomic uint32_t rest;
};
extern struct gt_tool_batch gt_tool_batches[GT_TOOL_BATCHES] __attribute__((visibility("hidden")));

/* 1 if ended threads left batches. */
extern _Atomic uint32_t gt_tool_orphans __attribute__((visibility("hidden")));

/* Number of nested deliveries in this thread. */
extern _Thread_local uint32_t gt_tool_deliveries
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
