/* SPDX-License-Identifier: MIT */
/* Finds the times at which records that match an expression can start, and thus the parts of a
 * capture that must be read. */
#ifndef GPUTAP_ANALYSIS_QUERY_FILTER_SCOPE_H
#define GPUTAP_ANALYSIS_QUERY_FILTER_SCOPE_H

#include "analysis/query/filter.h"
#include "capture/capture.h"

enum { FILTER_SPANS_MOST = 32 };

/* Additional time to read before and after the time ranges, for activities that block others, and
 * for calls and ranges that continue. */
#define FILTER_CONTEXT_NS UINT64_C(1000000000)

/* Sorted, disjoint time ranges. */
struct filter_times {
	struct gt_time_range spans[FILTER_SPANS_MOST];
	uint32_t count;
};

/* Find the time ranges. Call after finding the occurrences. Return false if matching records can
 * start at any time. */
bool filter_find_times(const struct filter *f, struct filter_times *times);
/* Return the span that contains the time @ns; NULL: none. */
const struct gt_time_range *filter_times_find(const struct filter_times *times, uint64_t ns);

/* The part of a capture that a filter needs. */
struct filter_scope {
	bool some;                    /* true if the filter needs only some times */
	bool of_processes;            /* true if the filter needs only some processes */
	struct filter_times begins;   /* times at which matching records start */
	struct filter_times overlaps; /* times to read */
	bool is_time;                 /* true if exactly the records that start in `begins` match */
	bool *processes;              /* flags of the processes to read; NULL: all */
};

/**
 * filter_scope_find() - find the part of @capture that the expression needs
 * @f: NULL: all records
 * Captures in which ranks wait for each other are read completely, because collective calls are
 * matched by order, starting with the first call.
 * Return: 0 or negative errno with a cause.
 * Owner:  caller; filter_scope_fini().
 */
int filter_scope_find(struct filter_scope *s, struct filter *f, const struct gt_capture *capture);
void filter_scope_fini(struct filter_scope *s);
/* Let this cursor return only the records in the scope. Return 0 or negative errno with a cause. */
int filter_scope_restrict(const struct filter_scope *s, struct gt_cursor *cursor);
/**
 * filter_scope_begin() - let cursors of @capture return only records that the expression needs
 * Calls filter_scope_find(). The scope of the capture is changed, so no other thread may read it.
 * Return: 0 or negative errno with a cause.
 */
int filter_scope_begin(struct filter_scope *s, struct filter *f, const struct gt_capture *capture);
static inline void filter_scope_end(const struct gt_capture *capture)
{
	gt_capture_set_scope((struct gt_capture *)(uintptr_t)capture, NULL);
}
/* Return true if a record that starts at @begin_ns can match. */
static inline bool filter_scope_has(const struct filter_scope *s, uint64_t begin_ns)
{
	return !s->some || filter_times_find(&s->begins, begin_ns);
}
/* Return true if all records between the two times were read. */
static inline bool filter_scope_covers(const struct filter_scope *s, uint64_t from_ns,
				       uint64_t to_ns)
{
	return !s->some ||
	       (filter_times_find(&s->overlaps, from_ns) &&
		filter_times_find(&s->overlaps, from_ns) == filter_times_find(&s->overlaps, to_ns));
}

#endif
