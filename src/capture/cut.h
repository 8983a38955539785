/* SPDX-License-Identifier: MIT */
/* A capture cut out of another one: the records that an expression holds for, and what those need.
 *
 * All that is no rows (processes, threads, names, objects, clocks, windows, stacks, ..) is copied.
 * Of the rows there are those that count, and, marked by gt_record_context, for their sake
 *   - the calls that device work was launched by, and calls that others are in;
 *   - what began the ranges around them, and ended those; external ids;
 *   - collective calls, which are matched from the first one on;
 *   - of a cut in time alone, calls that go on when it begins, and all work that others may have
 *     stood behind.
 * What of a row is asked for was read already where the slice of gt_capture_set_slice() has it. */
#ifndef GPUTAP_CAPTURE_CUT_H
#define GPUTAP_CAPTURE_CUT_H

#include "capture/capture.h"

struct gt_cut {
	const char *text; /* the expression */
	/* Does the call or the work count? @range: receives that of the range that is whole by it.
	 * Asked once of each call, in order of their ends; of work twice. */
	bool (*wants)(void *data, const struct gt_item *item, bool *range);
	void *data;
	/* All that began in a time counts, and nothing else: from the begin of the first such time
	 * to the end of the last. Else is_time is false, and who reads the cut knows that other
	 * records of its time are missing. */
	bool is_time;
	uint64_t from_ns, to_ns;
	void (*progress)(void *data, uint64_t done, uint64_t total); /* bytes; may be NULL */
	void *progress_data;
	/* results, += */
	uint64_t kept, context; /* records */
	uint64_t bytes_read;    /* of stream blocks */
};

/**
 * gt_capture_cut() - write the cut of one session
 * @path: must not exist; removed by the caller when this fails
 * Memory: a bit for each launch, and one block.
 * Return: 0 or negative errno with a cause.
 */
int gt_capture_cut(const struct gt_capture *c, size_t session, const char *path,
		   struct gt_cut *cut);

#endif
