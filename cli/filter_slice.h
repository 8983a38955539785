/* SPDX-License-Identifier: MIT */
/* When records can begin for which an expression holds: what of a capture must be read. */
#ifndef GPUTAP_CLI_FILTER_SLICE_H
#define GPUTAP_CLI_FILTER_SLICE_H

#include "capture/capture.h"
#include "cli/filter.h"

enum { FILTER_SPANS_MOST = 32 };

/* What is read beside a slice: work that others stand behind, calls and ranges that go on. */
#define FILTER_CONTEXT_NS UINT64_C(1000000000)

/* In order, apart from each other. */
struct filter_times {
	struct gt_slice_span spans[FILTER_SPANS_MOST];
	uint32_t count;
};

/* After the occurrences were found. False: at any time. */
bool filter_find_times(const struct filter *f, struct filter_times *times);
/* The span that holds a time; NULL: none. */
const struct gt_slice_span *filter_times_find(const struct filter_times *times, uint64_t ns);

/* What a filter makes of a capture. */
struct filter_slice {
	bool some;                    /* false: of any time */
	bool of_processes;            /* some processes are not read */
	struct filter_times begins;   /* of what is looked for */
	struct filter_times overlaps; /* what is read */
	bool is_time;                 /* all that begins then is looked for, and nothing else */
};

/**
 * filter_slice_begin() - cursors of @capture give what the expression needs, from now on
 * @f: NULL: everything
 * Captures in which ranks wait for each other are read whole: collective calls are matched by their
 * order from the first one on.
 * Return: 0 or negative errno with a cause.
 */
int filter_slice_begin(struct filter_slice *s, struct filter *f, const struct gt_capture *capture);
static inline void filter_slice_end(const struct gt_capture *capture)
{
	gt_capture_set_slice((struct gt_capture *)(uintptr_t)capture, NULL);
}
/* Did it begin when something that is looked for can begin? */
static inline bool filter_slice_has(const struct filter_slice *s, uint64_t begin_ns)
{
	return !s->some || filter_times_find(&s->begins, begin_ns);
}
/* Was all read from one time to the other? */
static inline bool filter_slice_covers(const struct filter_slice *s, uint64_t from_ns,
				       uint64_t to_ns)
{
	return !s->some ||
	       (filter_times_find(&s->overlaps, from_ns) &&
		filter_times_find(&s->overlaps, from_ns) == filter_times_find(&s->overlaps, to_ns));
}

#endif
