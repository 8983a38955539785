/* SPDX-License-Identifier: MIT */
/* Cuts a capture out of another one. The cut contains the records that match an expression, and the
 * records that those need.
 *
 * In detail, the cut contains all metadata (processes, threads, names, objects, clocks, windows,
 * stacks, ...), the rows that count, and the following rows, which gt_record_context marks:
 *   - calls that launched GPU activities, and calls that enclose others;
 *   - starts and ends of the enclosing ranges; external ids;
 *   - all collective calls, because matching starts with the first one;
 *   - if cut by time only, calls in progress at the cut's start, and all activities that may have
 *     delayed others.
 * A row outside the scope of gt_capture_set_scope() is never copied. */
#ifndef GPUTAP_CAPTURE_CUT_H
#define GPUTAP_CAPTURE_CUT_H

#include "capture/capture.h"

struct gt_cut {
	const char *text; /* the expression */
	/* Return true if the call or GPU activity counts. @range: receives true if the range that
	 * the call completes counts. Called once per call, in order of their ends; twice per
	 * activity. */
	bool (*wants)(void *data, const struct gt_item *item, bool *range);
	void *data;
	/* true if exactly the records that started within the time ranges count. from_ns is the
	 * start of the first range, to_ns the end of the last. If false, readers of the cut know
	 * that other records of its time are missing. */
	bool is_time;
	uint64_t from_ns, to_ns;
	void (*progress)(void *data, uint64_t done, uint64_t total); /* bytes; may be NULL */
	void *progress_data;
	/* results, which are added to these fields */
	uint64_t kept, context; /* records */
	uint64_t bytes_read;    /* size of the stream blocks read */
};

/**
 * gt_capture_cut() - write the cut of one session
 * @path: must not exist; on failure the caller removes the file
 * Memory: one bit per launch, and one block.
 * Return: 0 or negative errno with a cause.
 */
int gt_capture_cut(const struct gt_capture *c, size_t session, const char *path,
		   struct gt_cut *cut);

#endif
