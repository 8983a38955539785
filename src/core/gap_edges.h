/* SPDX-License-Identifier: MIT */
/* Edges of gaps: the start of a call that ends a long time without calls of the thread, and the end
 * of a call that took long. At an edge, the thread records what it has used of the processor so far
 * (GT_HOST_USAGE), and its stack if the session requests the stacks of calls that end gaps.
 *
 *   calls   ──[A]──────── gap ────────[B]──[C]─────── long call ───────[D]──
 *   edges                             1                                2
 *
 * Between edges, a thread with many short calls records its use once per GT_EDGE_BUSY_NS, so that
 * the use before a gap, between the last reading and the end of A, is small and bounded.
 *
 * A tap makes one comparison at the start and one at the end of a call: has gt_thread.look_at
 * passed? This time is the length of a gap after the last call that looked for an edge. Every gap
 * and every long call passes it, and short calls look once per length of a gap.
 *
 * Taps of recorded calls use gt_edge_start() instead of gt_call_start(), and gt_edge_end() instead
 * of gt_ticks(). Only outermost calls of a thread have edges: a call inside another call follows
 * the start of that call. Domains of annotations have no edges: the time between two of their calls
 * is not idle time of a device.
 * Never in this file: more than a few instructions. The functions for edges are in host_usage.c. */
#ifndef GPUTAP_CORE_GAP_EDGES_H
#define GPUTAP_CORE_GAP_EDGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"
#include "ring/session.h"

/* minimum length of a gap, and of a long call */
#define GT_EDGE_GAP_NS  UINT64_C(100000)
/* maximum time between two readings of a thread that makes calls */
#define GT_EDGE_BUSY_NS UINT64_C(1000000)

extern struct gt_edges {
	uint64_t ticks, ns; /* the host clock and CLOCK_BOOTTIME at the start of recording */
	uint64_t stack_ns;  /* minimum length of a gap for a stack; 0: no stacks requested */
	/* thresholds in host ticks; UINT64_MAX: never. gap_ticks is 0 until the rate of the host
	 * clock is known */
	_Atomic uint64_t gap_ticks, stack_ticks, busy_ticks;
	_Atomic bool reads; /* true if the session requests readings, and the kernel permits them */
	bool is_wanted;     /* true if the session requests readings or stacks */
} gt_edges __attribute__((visibility("hidden")));

/* Initialise from the session, before the first call. */
void gt_edges_init(const struct gt_session *session) __attribute__((visibility("hidden")));

/* Return the minimum length of a gap in ticks. Return 0 if it is not known yet. */
uint64_t gt_edges_gap_ticks(void) __attribute__((cold, visibility("hidden")));

/* Look whether a call that starts at @start ends a gap or is long after the last reading, and
 * handle the edge if so. @op: GT_OP()
 * without the count of arguments; @id: 0 if the call is not recorded. Return the start of the call,
 * which is later than @start if there was an edge. */
uint64_t gt_edge_at_start(struct gt_thread *t, uint32_t op, uint64_t id, uint64_t start)
	__attribute__((cold, visibility("hidden")));
/* Look whether a call that ends at @end took long, or ends long after the last reading. */
void gt_edge_at_end(struct gt_thread *t, uint64_t id, uint64_t start, uint64_t end)
	__attribute__((cold, visibility("hidden")));

static inline GT_IN_LINE uint64_t gt_edge_take_start(struct gt_thread *t, uint32_t op, uint64_t id)
{
	uint64_t start = gt_ticks();

	if (gt_unlikely(start > t->look_at))
		start = gt_edge_at_start(t, op, id, start);
	return start;
}

/* Take the start of the call that gt_call_begin() began, and note it in case the call never
 * returns. */
static inline GT_IN_LINE uint64_t gt_edge_start(struct gt_thread *t, uint32_t op, uint64_t id)
{
	uint64_t start = gt_edge_take_start(t, op, id);

	atomic_store_explicit(&t->slot->domains[GT_OP_DOMAIN(op)].started, start,
			      memory_order_relaxed);
	return start;
}

/* Take the start of a call that is not recorded, but whose GPU activities are. The end of such a
 * call is not taken, so the next gap starts here. */
static inline GT_IN_LINE uint64_t gt_edge_start_unrecorded(struct gt_thread *t, uint32_t op)
{
	uint64_t start = gt_edge_take_start(t, op, 0);

	t->last_end = start;
	return start;
}

/* Handle the end of a call. @end: host ticks */
static inline GT_IN_LINE void gt_edge_note_end(struct gt_thread *t, uint64_t id, uint64_t start,
					       uint64_t end)
{
	if (gt_unlikely(end > t->look_at))
		gt_edge_at_end(t, id, start, end);
	t->last_end = end;
}

/* Take the end of a call. */
static inline GT_IN_LINE uint64_t gt_edge_end(struct gt_thread *t, uint64_t id, uint64_t start)
{
	uint64_t end = gt_ticks();

	gt_edge_note_end(t, id, start, end);
	return end;
}

#endif
