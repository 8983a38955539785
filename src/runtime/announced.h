/* SPDX-License-Identifier: MIT */
/* Calls without taps: another module announces their start and end (`announced` in api/README.md)
 * and passes the arguments as one struct. They are recorded, and tools notified of them, as a tap
 * does; the domain's description says what is recorded of the arguments.
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
	/* struct of the arguments, laid out as C does it; NULL: the operation has none, or they are
	 * not known */
	const void *arguments;
	/* the same at the end as at the start; unique among the thread's open calls of the
	 * operation */
	uint64_t key;
	/* at the start: address in the stack, above the frames of all functions called inside the
	 * call and below its caller's; the word just below that address does not change until the
	 * call ends. 0: not known; then a nested call is taken for a sibling */
	uintptr_t at;
	const char *name; /* name of the object in its `named` argument; NULL: not known */
};

/* Return true if a subscriber or the stream wants this call. Both functions below check it
 * themselves. */
static inline bool gt_announced_is_wanted(const struct gt_table *table, uint32_t index)
{
	return gt_tap_services(&table->taps[index]) & (GT_SERVICE_STREAM | GT_SERVICE_NOTIFY);
}

void gt_announced_begin(const struct gt_announcement *a) __attribute__((visibility("hidden")));

/* @status: the returned status, if the operation returns one. Does nothing if the call's start was
 * not announced. */
void gt_announced_end(const struct gt_announcement *a, int32_t status)
	__attribute__((visibility("hidden")));

/* Return the id of the innermost recorded call announced and still open in this thread, and its
 * start time; 0 if there is none. */
uint64_t gt_announced_open(uint64_t *start) __attribute__((visibility("hidden")));

/* Call once, before the first announced call. */
void gt_announced_init(enum gt_domain domain) __attribute__((visibility("hidden")));

#endif
