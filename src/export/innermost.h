/* SPDX-License-Identifier: MIT */
/* In which of the program's ranges a call was begun: the innermost of those that are one record
 * each (operators of torch, gputap_range_begin()). A range is recorded when it ends, after the
 * calls in it, so they are read before everything else; captures without any are not read. Memory:
 * 40 bytes a range. */
#ifndef GPUTAP_EXPORT_INNERMOST_H
#define GPUTAP_EXPORT_INNERMOST_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

struct gt_innermost_range {
	uint64_t first, last; /* calls of the thread; the first one's number is the range's own */
	uint32_t process, ordinal;
	size_t around; /* the range around it; SIZE_MAX: none */
};

/* Zero-initialised is empty. */
struct gt_innermost {
	struct gt_innermost_range *ranges; /* by process, thread, first call */
	size_t count, room;
};

/* Return: 0 or negative errno with a cause. */
int gt_innermost_read(struct gt_innermost *m, const struct gt_capture *c);
/* A range; those that say nothing are left out. Return: 0, or -ENOMEM with a cause. */
int gt_innermost_add(struct gt_innermost *m, uint32_t process, uint32_t ordinal, uint64_t first,
		     uint64_t last);
/* After the last range, before the first question. */
void gt_innermost_sort(struct gt_innermost *m);
/* The number of the range in which that call of the thread was begun; 0: of none. */
uint64_t gt_innermost_find(const struct gt_innermost *m, uint32_t process, uint32_t ordinal,
			   uint64_t id);
void gt_innermost_fini(struct gt_innermost *m);

#endif
