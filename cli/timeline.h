/* SPDX-License-Identifier: MIT */
/* When a device was busy: the union of its intervals, which come in almost any order.
 *
 *   timeline_add() -> pending, unsorted -> merged spans, sorted, apart from each other -> finished: only sums
 *
 * Memory is bounded: beyond SPANS_MOST the older half of the spans is finished and nothing before their end (the
 * frontier) can change any more. What comes later than that and lies before the frontier is counted in late_ns:
 * busy_ns may be too small by up to that. Captures are nearly in order of time, so it is 0 but for strange ones. */
#ifndef GPUTAP_CLI_TIMELINE_H
#define GPUTAP_CLI_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/histogram.h"

enum { TIMELINE_GAPS = 128 };

struct timeline_span {
	uint64_t start, end;
	uint64_t queued;      /* when its first work was handed over; 0: not known */
	uint32_t first, last; /* names of the work at its start and end */
};

struct timeline_gap {
	uint64_t start, end;
	uint64_t starved_ns; /* the part in which the work that ended the gap was not yet queued */
	uint32_t before, after;
};

struct timeline {
	/* results, after timeline_finish() */
	uint64_t first_ns, last_ns, busy_ns, late_ns;
	uint64_t starved_ns;      /* of all gaps together */
	struct histogram gaps;
	struct timeline_gap largest[TIMELINE_GAPS]; /* largest first */
	unsigned largest_count;
	/* work */
	struct timeline_span *spans, *pending;
	size_t span_count, span_room, pending_count;
	uint64_t frontier;
	uint32_t frontier_last;
	bool any, finished_any;
};

/* Zero-initialised is empty. */
void timeline_add(struct timeline *t, const struct timeline_span *work);
void timeline_finish(struct timeline *t);
void timeline_fini(struct timeline *t);

#endif
