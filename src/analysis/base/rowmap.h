/* SPDX-License-Identifier: MIT */
/* Maps every call of an export to its row number, for GPU activities that refer to the call.
 *
 * A cursor returns a thread's calls in order of their ids, so the row of a call is the first row of
 * its run plus the index of the call in that run. Memory depends on the number of runs, not on the
 * number of calls. Missing calls leave row numbers unused; many missing calls start a new run. Each
 * row has four bits: one is set if the row exists, and three are flags for the caller. */
#ifndef GPUTAP_ANALYSIS_BASE_ROWMAP_H
#define GPUTAP_ANALYSIS_BASE_ROWMAP_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { GT_ROW_THERE = 1 }; /* lowest of the four bits */

/* Consecutive calls of one thread: call `seq + i` has row `row + i`. */
struct gt_row_run {
	uint32_t process, ordinal;
	uint64_t seq, span;
	int64_t row;
};

/* Must be zero-initialised except next_row. */
struct gt_rowmap {
	struct gt_row_run *runs;
	size_t run_count, run_capacity, last_run;
	uint8_t *flags; /* two rows per byte */
	size_t flags_bytes;
	int64_t next_row; /* first unused row */
};

/* Return a row for the next call, or 0 if out of memory. */
int64_t gt_rowmap_take(struct gt_rowmap *map, const struct gt_item *call);
/* Return a row for an item other than a call. */
static inline int64_t gt_rowmap_next(struct gt_rowmap *map)
{
	return map->next_row++;
}

/* Call after all calls have been added. */
void gt_rowmap_settle(struct gt_rowmap *map);
/* Return the row of a call. Call after gt_rowmap_settle(). 0: the call was not added, or its row
 * does not exist. */
int64_t gt_rowmap_find(struct gt_rowmap *map, uint32_t process, uint64_t id);

unsigned gt_rowmap_flags(const struct gt_rowmap *map, int64_t row);
/* Set bits of a row. Return 0 or -ENOMEM without a cause. */
int gt_rowmap_set(struct gt_rowmap *map, int64_t row, unsigned flags);

void gt_rowmap_fini(struct gt_rowmap *map);

#endif
