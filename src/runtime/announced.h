/* SPDX-License-Identifier: MIT */
/* Records calls that have no taps. Another module announces their start and end (`announced` in
 * api/README.md) and passes the arguments as one struct. Tools are notified of these calls, as with
 * taps. The domain's description determines which arguments are recorded.
 *
 *   announcer ─► gt_announced_begin() ─► ENTER, correlation id ┐ stored for the thread
 *                     the call, and taps of the calls in it    │
 *   announcer ─► gt_announced_end() ───► record, EXIT ◄────────┘
 *
 * Thread: both functions are called in the thread of the call. Signal: not safe. errno is
 *         unchanged. */
#ifndef GPUTAP_RUNTIME_ANNOUNCED_H
#define GPUTAP_RUNTIME_ANNOUNCED_H

#include "core/tap.h"

struct gt_announcement {
	const struct gt_table *table;
	uint32_t index; /* index of the operation */
	/* struct of the arguments in C layout; NULL: no arguments, or not known */
	const void *arguments;
	/* equal at start and end; unique among the thread's open calls of the operation */
	uint64_t key;
	/* At the start: a stack address above the frames of all functions called inside the call
	 * and below the frame of its caller. The word just below that address does not change until
	 * the call ends. 0: not known; a nested call is then mistaken for a sibling. */
	uintptr_t at;
	const char *name; /* name of the object in the `named` argument; NULL: not known */
	/* at the end: what the runtime reported about the call (`asks` in api/README.md); NULL:
	 * nothing */
	const struct gt_facts *facts;
};

/* Return true if a subscriber or the session wants this call. gt_announced_begin() and
 * gt_announced_end() check this themselves. */
static inline bool gt_announced_is_wanted(const struct gt_table *table, uint32_t index)
{
	return gt_tap_services(&table->taps[index]) & (GT_SERVICE_STREAM | GT_SERVICE_NOTIFY);
}

void gt_announced_begin(const struct gt_announcement *a) __attribute__((visibility("hidden")));

/* Return true if the thread's innermost open call is @a. Cheap. */
bool gt_announced_is_open(const struct gt_announcement *a) __attribute__((visibility("hidden")));

/* Announce the end of a call. @status: returned status, if the operation returns one. Does nothing
 * if the start of the call was not announced. */
void gt_announced_end(const struct gt_announcement *a, int32_t status)
	__attribute__((visibility("hidden")));

/* Return the id of the innermost recorded call that is announced and open in this thread, and set
 * *start to its start time. Return 0 if there is none. */
uint64_t gt_announced_open(uint64_t *start) __attribute__((visibility("hidden")));

/* Call once, before the first announced call. */
void gt_announced_init(enum gt_domain domain) __attribute__((visibility("hidden")));

#endif
