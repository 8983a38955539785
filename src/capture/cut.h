/* SPDX-License-Identifier: MIT */
/* A capture cut out of another one: the records that match an expression, and the records those
 * need.
 *
 * All metadata (processes, threads, names, objects, clocks, windows, stacks, ...) is copied. The
 * cut has the rows that count, and, marked by gt_record_context, rows that these need:
 *   - the calls that launched GPU activities, and calls that enclose others;
 *   - starts and ends of the ranges around them; external ids;
 *   - all collective calls, because matching starts with the first one;
 *   - if cut by time only, calls in progress at its start, and all activities that may have delayed
 *     others.
 * Rows outside the slice of gt_capture_set_slice() are not considered. */
#ifndef GPUTAP_CAPTURE_CUT_H
#define GPUTAP_CAPTURE_CUT_H

#include "capture/capture.h"

struct gt_cut {
	const char *text; /* the expression */
	/* Return true if the call or GPU activity counts. @range: receives whether the range that
	 * it completes counts. Called once per call, in order of their ends; twice per activity. */
	bool (*wants)(void *data, const struct gt_item *item, bool *range);
	void *data;
	/* true if exactly the records that started within a time range count: from the start of the
	 * first such range to the end of the last. If false, readers of the cut know that other
	 * records of its time are missing. */
	bool is_time;
	uint64_t from_ns, to_ns;
	void (*progress)(void *data, uint64_t done, uint64_t total); /* bytes; may be NULL */
	void *progress_data;
	/* results, added to */
	uint64_t kept, context; /* records */
	uint64_t bytes_read;    /* size of stream blocks read */
};

/**
 * gt_capture_cut() - write the cut of one session
 * @path: must not exist; the caller removes it when this fails
 * Memory: a bit for each launch, and one block.
 * Return: 0 or negative errno with a cause.
 */
int gt_capture_cut(const struct gt_capture *c, size_t session, const char *path,
		   struct gt_cut *cut);

#endif
