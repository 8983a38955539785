/* SPDX-License-Identifier: MIT */
/* The row number of every call of an export, found again when device work names the call.
 *
 * A cursor gives a thread's calls in order of their ids, so a call's row is the row of its
 * thread's run plus its count within it: memory goes by runs, not by calls. Calls that are
 * missing leave row numbers unused; where many are missing, a new run begins. Four bits for each
 * row say that it is there and what the caller wants to remember. */
#ifndef GPUTAP_EXPORT_ROWMAP_H
#define GPUTAP_EXPORT_ROWMAP_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { GT_ROW_THERE = 1 }; /* the lowest of the four bits */

/* Calls of one thread, one after the other: count `seq + i` has row `row + i`. */
struct gt_row_run {
	uint32_t process, ordinal;
	uint64_t seq, span;
	int64_t row;
};

/* Zero-initialised but for next_row. */
struct gt_rowmap {
	struct gt_row_run *runs;
	size_t run_count, run_capacity, last_run;
	uint8_t *flags; /* two rows a byte */
	size_t flags_bytes;
	int64_t next_row; /* that nobody has */
};

/* The row of a call that comes now; 0: no memory. */
int64_t gt_rowmap_take(struct gt_rowmap *map, const struct gt_item *call);
/* A row for something that is no call. */
static inline int64_t gt_rowmap_next(struct gt_rowmap *map)
{
	return map->next_row++;
}

/* All calls were taken. */
void gt_rowmap_settle(struct gt_rowmap *map);
/* The row of a call, after that. 0: it was not taken, or no flag was set for it. */
int64_t gt_rowmap_find(struct gt_rowmap *map, uint32_t process, uint64_t id);

unsigned gt_rowmap_flags(const struct gt_rowmap *map, int64_t row);
/* Set bits of a row. 0 or -ENOMEM without a cause. */
int gt_rowmap_set(struct gt_rowmap *map, int64_t row, unsigned flags);

void gt_rowmap_fini(struct gt_rowmap *map);

#endif
