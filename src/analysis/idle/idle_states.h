/* SPDX-License-Identifier: MIT */
/* Activities of threads on the host, from readings of their state (GT_RECORD_HOST):
 *
 *   usage    the thread reads it at the edges of gaps between its calls and of long calls: exact
 *            CPU time, context switches and page faults between two readings
 *   states   the collector reads them at intervals: the object of a wait, and its time
 *
 * An interval lies between two edges of a thread's outermost calls. Its time is split into spans:
 *
 *       |  call  |            interval            |  call  |
 *       usage    |  hole  | state | hole | state  | usage
 *
 *   1. A span for each state. The time between two spans, or between a span and an edge, is a hole.
 *      Holes get the state of their neighbours, because a collector reads at intervals.
 *   2. CPU time from the usage is exact. If the spans have less, holes get more of it, then the
 *      other spans; if the spans have more, the reverse.
 *   3. Without states, the usage alone separates CPU time, page faults and waiting. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_STATES_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/lookup.h"
#include "capture/capture.h"

struct idle_states;

/* A part of an interval. The time of its kinds adds up to its length, but their order is not
 * known. */
struct idle_span {
	uint64_t start, end;
	uint64_t cpu_ns, delay_ns;    /* time on a processor; waiting for a processor */
	enum gt_host_state cpu_state; /* of cpu_ns: COMPUTING or FAULTS */
	enum gt_host_state state;     /* of the remaining time */
	uint32_t wait;                /* what the thread waited for; LOOKUP_NONE: not known */
	bool has_holder;              /* LOCK: true if the thread that holds the lock is known */
	bool is_hole;
};

/* Sums of an interval; counts are part of the usage between two readings. */
struct idle_interval {
	uint64_t from, to;
	struct idle_span *spans; /* in order, without holes between them; none: nothing is known */
	size_t count, room;
	uint64_t cpu_ns, delay_ns, rest_ns; /* sums of the spans */
	double minor_faults, major_faults, voluntary, involuntary;
};

/* Return a reader without rows. @names: receives the texts of waits. */
struct idle_states *idle_states_create(const struct gt_capture *capture, struct texts *names,
				       size_t packed_most);
void idle_states_destroy(struct idle_states *t);
/* Add a reading. @thread: position of the thread in the order of records. */
void idle_states_add(struct idle_states *t, const struct gt_item *item, uint32_t thread);
/* Begin to read the states of a thread. Threads must be read in order. */
int idle_states_begin(struct idle_states *t, uint32_t thread);
/* Return the interval from @from to @to of the current thread. @from must not decrease between
 * calls. NULL: reading failed, and *status is a negative errno. The result is valid until the next
 * call. */
const struct idle_interval *idle_states_read(struct idle_states *t, uint64_t from, uint64_t to,
					     int *status);
/* Return the index of the first span that ends after @time, or the interval's count. */
size_t idle_interval_find(const struct idle_interval *v, uint64_t time);

#endif
