/* SPDX-License-Identifier: MIT */
/* Finds the innermost range of the program that contains a call. Ranges are recorded when they end,
 * after the calls in them. So the ranges of a thread are read before its calls, from the blocks
 * that contain marks, and sorted by their starts; then both are walked together.
 *
 *   ranges, by first call:  [1 .. 9] [2 .. 4] [6 .. 8]        stack of open ranges
 *   calls, by id:            1 2 3 4 5 6 7 8 9                1, 1 2, 1 2, 1 2, 1, 1 6, ..
 */
#ifndef GPUTAP_DATASET_RANGE_TOPS_H
#define GPUTAP_DATASET_RANGE_TOPS_H

#include "dataset/table_reader.h"

struct range_tops;

/* Result of the last search, which holds for ids in (after, until]. */
struct range_top {
	uint64_t after, until, first;
};

int range_tops_create(struct reader *r, struct range_tops **out);
void range_tops_destroy(struct range_tops *t);
/* Prepare for calls of a thread. Return immediately if it is the same thread as before. Return 1
 * or negative errno with a cause. */
int range_tops_enter(struct range_tops *t, const struct thread_number *thread);
/* Return the first call of the innermost range that contains call @id; 0: none. Call with ascending
 * ids; of other calls, only enclosing ranges that are still open are found. */
uint64_t range_tops_search(struct range_tops *t, uint64_t id);
static inline uint64_t range_tops_find(struct range_tops *t, uint64_t id)
{
	const struct range_top *last = (const struct range_top *)t;

	return id > last->after && id <= last->until ? last->first : range_tops_search(t, id);
}

/* Create a cursor over the blocks of one stream that contain marks. */
int range_marks_open(struct reader *r, size_t first_stream, size_t count, struct gt_cursor **out);

#endif
