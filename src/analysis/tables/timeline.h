/* SPDX-License-Identifier: MIT */
/* Computes when a device was busy: the union of its intervals, added in any order.
 *
 *   timeline_add() -> pending, unsorted -> spans, sorted and disjoint -> runs in a temporary file
 *
 * Memory is bounded: too many spans are written in sorted order to a file of runs (sorter.h, 32
 * bytes each), and timeline_finish() merges all runs. Many timelines can share a pool, which bounds
 * their total size. */
#ifndef GPUTAP_ANALYSIS_TABLES_TIMELINE_H
#define GPUTAP_ANALYSIS_TABLES_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/sorter.h"
#include "analysis/idle/unrecorded.h"
#include "analysis/tables/histogram.h"

enum { TIMELINE_GAPS = 128 };

struct timeline_span {
	uint64_t start, end;
	uint64_t queued;      /* time at which the first activity was submitted; 0: not known */
	uint32_t first, last; /* names of the activities at the start and at the end of the span */
};

struct timeline_gap {
	uint64_t start, end;
	uint64_t idle_ns; /* length without unrecorded time */
	/* part of the gap in which the activity that ended it was not yet queued */
	uint64_t starved_ns;
	uint32_t before, after;
};

/* Memory limit and file that timelines share. Empty if zero-initialised. */
struct timeline_pool {
	size_t bytes, bytes_most; /* bytes_most 0: default */
	struct sorter_file file;
};

struct timeline {
	/* Results, valid after timeline_finish() */
	uint64_t first_ns, last_ns, busy_ns;
	uint64_t unrecorded_ns; /* time without records, which is neither busy nor idle */
	uint64_t starved_ns;    /* sum of starved_ns over all gaps */
	struct histogram gaps;
	struct timeline_gap largest[TIMELINE_GAPS]; /* largest gaps, longest idle time first */
	unsigned largest_count;
	/* Set by the caller: called in timeline_finish() for each span, earliest first; may be
	 * NULL */
	void (*each)(void *data, uint64_t start_ns, uint64_t end_ns);
	void *each_data;
	const struct unrecorded_list *unrecorded; /* set before timeline_finish(); NULL: none */
	struct timeline_pool *pool;               /* must outlive the timeline; NULL: none */
	/* Internal state */
	size_t spans_most; /* 0: default */
	struct timeline_span *spans, *pending;
	size_t span_count, span_room, pending_count, pending_room;
	struct sorter runs;               /* spans beyond the memory limit */
	bool any, finished_any, disorder; /* disorder: true if `pending` is not sorted */
	uint64_t end_ns;                  /* end of the span that was finished last */
	uint32_t end_name;
};

/* Add an interval. A zero-initialised timeline is empty. */
void timeline_add(struct timeline *t, const struct timeline_span *activity);
/* Compute the results. Return 0, or negative errno with a cause if the temporary file cannot be
 * written or read. */
int timeline_finish(struct timeline *t);
void timeline_fini(struct timeline *t);
void timeline_pool_fini(struct timeline_pool *p);

/* Return the time from the first activity to the last, without unrecorded time. This is the
 * denominator of shares. */
static inline uint64_t timeline_span_ns(const struct timeline *t)
{
	return t->last_ns - t->first_ns - t->unrecorded_ns;
}

static inline uint64_t timeline_idle_ns(const struct timeline *t)
{
	return timeline_span_ns(t) - t->busy_ns;
}

#endif
