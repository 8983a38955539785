/* SPDX-License-Identifier: MIT */
/* When a device was busy: the union of its intervals, which come in any order.
 *
 *   timeline_add() -> pending, unsorted -> spans, sorted and disjoint -> runs in a temporary file
 *
 * Memory is bounded: if there are too many spans they are written, already sorted, to a file of
 * runs (spill.h, 32 bytes each), and timeline_finish() merges all of them. Without space for such a
 * file they stay in memory. Many timelines can share a pool, which bounds all of them together. */
#ifndef GPUTAP_CLI_TIMELINE_H
#define GPUTAP_CLI_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/histogram.h"
#include "cli/spill.h"
#include "cli/unrecorded.h"

enum { TIMELINE_GAPS = 128 };

struct timeline_span {
	uint64_t start, end;
	uint64_t queued;      /* when its first activity was submitted; 0: not known */
	uint32_t first, last; /* names of the activities at its start and end */
};

struct timeline_gap {
	uint64_t start, end;
	uint64_t idle_ns;    /* its length without time that was not recorded */
	uint64_t starved_ns; /* part in which the activity that ended it was not yet queued */
	uint32_t before, after;
};

/* Memory and a file that timelines share. Zero-initialised is empty. */
struct timeline_pool {
	size_t bytes, bytes_most; /* bytes_most 0: the default */
	struct spill_file file;
};

struct timeline {
	/* results, after timeline_finish() */
	uint64_t first_ns, last_ns, busy_ns;
	uint64_t unrecorded_ns; /* neither busy nor idle, as nothing was recorded */
	uint64_t starved_ns;    /* sum over all gaps */
	struct histogram gaps;
	struct timeline_gap largest[TIMELINE_GAPS]; /* the longest idle first */
	unsigned largest_count;
	/* the caller sets it: called in timeline_finish() for each span, in order; may be NULL */
	void (*each)(void *data, uint64_t start_ns, uint64_t end_ns);
	void *each_data;
	const struct unrecorded_list *unrecorded; /* set before timeline_finish(); NULL: none */
	struct timeline_pool *pool;               /* must outlive the timeline; NULL: none */
	/* work */
	size_t spans_most; /* 0: the default */
	struct timeline_span *spans, *pending;
	size_t span_count, span_room, pending_count, pending_room;
	struct spill runs;                /* spans over the limit */
	bool any, finished_any, disorder; /* disorder: true if pending is not sorted */
	uint64_t end_ns;                  /* end of the span that was finished last */
	uint32_t end_name;
};

/* Zero-initialised is empty. */
void timeline_add(struct timeline *t, const struct timeline_span *work);
/* Finish. Return 0 or negative errno with a cause: the temporary file cannot be read. */
int timeline_finish(struct timeline *t);
void timeline_fini(struct timeline *t);
void timeline_pool_fini(struct timeline_pool *p);

/* Return the time from the first activity to the last without time that was not recorded: the
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
