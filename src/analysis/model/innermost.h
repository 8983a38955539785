/* SPDX-License-Identifier: MIT */
/* Finds the program's innermost range in which a call was started, among ranges with one record
 * each (operators of torch, gputap_range_begin()). A range is recorded when it ends, after the
 * calls in it, so all ranges are read before other records. A capture without ranges is not read.
 * Memory: 40 bytes per range. */
#ifndef GPUTAP_ANALYSIS_MODEL_INNERMOST_H
#define GPUTAP_ANALYSIS_MODEL_INNERMOST_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

struct gt_innermost_range {
	/* ids of the thread's first and last call in the range; `first` identifies the range */
	uint64_t first, last;
	uint32_t process, ordinal;
	size_t around; /* index of the enclosing range; SIZE_MAX: none */
};

/* Empty if zero-initialised. */
struct gt_innermost {
	struct gt_innermost_range *ranges; /* sorted by process, thread, first call */
	size_t count, room;
	size_t last; /* result of the last search: number of ranges that start before the call */
};

/* Read all ranges. Return 0 or negative errno with a cause. */
int gt_innermost_read(struct gt_innermost *m, const struct gt_capture *c);
/* Add a range; ranges without data are ignored. Return 0, or -ENOMEM with a cause. */
int gt_innermost_add(struct gt_innermost *m, uint32_t process, uint32_t ordinal, uint64_t first,
		     uint64_t last);
/* Sort the ranges. Call after the last range and before the first search. */
void gt_innermost_sort(struct gt_innermost *m);
/* Return the id of the innermost range in which the thread started call @id; 0: none. Threads that
 * search at the same time need copies of the struct, which may share the ranges. */
uint64_t gt_innermost_find(struct gt_innermost *m, uint32_t process, uint32_t ordinal, uint64_t id);
void gt_innermost_fini(struct gt_innermost *m);

#endif
