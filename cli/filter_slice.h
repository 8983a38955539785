/* SPDX-License-Identifier: MIT */
/* Find when records that match an expression can start, and so which parts of a capture must be
 * read. */
#ifndef GPUTAP_CLI_FILTER_SLICE_H
#define GPUTAP_CLI_FILTER_SLICE_H

#include "capture/capture.h"
#include "cli/filter.h"

enum { FILTER_SPANS_MOST = 32 };

/* Read so much more around the time ranges: activities that block others, calls and ranges that
 * continue. */
#define FILTER_CONTEXT_NS UINT64_C(1000000000)

/* In order, disjoint. */
struct filter_times {
	struct gt_slice_span spans[FILTER_SPANS_MOST];
	uint32_t count;
};

/* Find the times; call after the occurrences were found. Return false if records can start at any
 * time. */
bool filter_find_times(const struct filter *f, struct filter_times *times);
/* Return the span that contains a time; NULL: none. */
const struct gt_slice_span *filter_times_find(const struct filter_times *times, uint64_t ns);

/* The part of a capture that a filter needs. */
struct filter_slice {
	bool some;                    /* false: all times */
	bool of_processes;            /* true if some processes are not read */
	struct filter_times begins;   /* times of matching records' starts */
	struct filter_times overlaps; /* times that are read */
	bool is_time;                 /* true if all records that start then match, and no others */
};

/**
 * filter_slice_begin() - let cursors of @capture return only records that the expression needs
 * @f: NULL: everything
 * Captures in which ranks wait for each other are read completely: collective calls are matched by
 * order, from the first one on.
 * Return: 0 or negative errno with a cause.
 */
int filter_slice_begin(struct filter_slice *s, struct filter *f, const struct gt_capture *capture);
static inline void filter_slice_end(const struct gt_capture *capture)
{
	gt_capture_set_slice((struct gt_capture *)(uintptr_t)capture, NULL);
}
/* Return true if a record that starts at @begin_ns can match. */
static inline bool filter_slice_has(const struct filter_slice *s, uint64_t begin_ns)
{
	return !s->some || filter_times_find(&s->begins, begin_ns);
}
/* Return true if everything between the two times was read. */
static inline bool filter_slice_covers(const struct filter_slice *s, uint64_t from_ns,
				       uint64_t to_ns)
{
	return !s->some ||
	       (filter_times_find(&s->overlaps, from_ns) &&
		filter_times_find(&s->overlaps, from_ns) == filter_times_find(&s->overlaps, to_ns));
}

#endif
