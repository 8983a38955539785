/* SPDX-License-Identifier: MIT */
/* Calls without taps: somebody announces their begin and their end (`announced` in api/README.md),
 * with the arguments as one struct. They are recorded, and tools notified of them, as a tap does
 * it; what is recorded of the arguments is found in the domain's description.
 *
 *   announcer ─► gt_announced_begin() ─► ENTER, correlation id ┐ kept for the thread
 *                     the call, and taps of the calls in it    │
 *   announcer ─► gt_announced_end() ───► record, EXIT ◄────────┘
 *
 * Thread: both in that of the call. Signal: not safe. errno is left as it is. */
#ifndef GPUTAP_RUNTIME_ANNOUNCED_H
#define GPUTAP_RUNTIME_ANNOUNCED_H

#include "core/tap.h"

struct gt_announcement {
	const struct gt_table *table;
	uint32_t index; /* of the operation */
	/* struct of the arguments, one after the other, as C lays it out; NULL: it has none, or
	 * they are not known */
	const void *arguments;
	/* the same at the end as at the begin, and of no other open call of the operation in the
	 * thread */
	uint64_t key;
	/* of the begin: where the call stands in the stack: above all that is called inside of it,
	 * below its caller; and what lies just below that address does not change until it ends.
	 * 0: not known; then a call inside of it is taken for one beside it */
	uintptr_t at;
	const char *name; /* of what its `named` argument stands for; NULL: not known */
};

/* Does anybody want this call? Both functions ask it themselves. */
static inline bool gt_announced_is_wanted(const struct gt_table *table, uint32_t index)
{
	return gt_tap_services(&table->taps[index]) & (GT_SERVICE_STREAM | GT_SERVICE_NOTIFY);
}

void gt_announced_begin(const struct gt_announcement *a) __attribute__((visibility("hidden")));

/* @status: what it returned, if it is a status. One that did not begin is left alone. */
void gt_announced_end(const struct gt_announcement *a, int32_t status)
	__attribute__((visibility("hidden")));

/* The innermost recorded call that is announced and open in this thread, and when it began. 0:
 * there is none. */
uint64_t gt_announced_open(uint64_t *start) __attribute__((visibility("hidden")));

/* Once, before the first call. */
void gt_announced_init(enum gt_domain domain) __attribute__((visibility("hidden")));

#endif
