/* SPDX-License-Identifier: MIT */
/* Ranges that a program has started and not ended yet, for a flight recorder. The records that
 * started these ranges may be older than the window, but records inside the ranges need these
 * records. The writer stores the open ranges at the start of each chunk (keep.h); a capture uses
 * those of the oldest chunk. */
#ifndef GPUTAP_CAPTURE_OPEN_RANGES_H
#define GPUTAP_CAPTURE_OPEN_RANGES_H

#include "capture/writer.h"

struct gt_open_range {
	uint32_t process, ordinal;
	/* entries of a thread's stacks, or started ranges, whose number is @id */
	enum gt_open_kind {
		GT_OPEN_OPERATION, /* external ids, as enum gt_external_stack */
		GT_OPEN_USER,
		GT_OPEN_PUSHED,
		GT_OPEN_STARTED
	} kind;
	uint32_t words; /* 0: this range is only counted, because too many ranges are open */
	uint64_t id;
	uint64_t *record;
};

struct gt_open_ranges {
	struct gt_open_range *list; /* in order of their start, for all threads */
	size_t count, room;
	uint64_t bytes;
};

/* Update the list from records of a thread. The program may be writing to @data. */
void gt_open_ranges_look(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal,
			 const void *data, size_t bytes);
/* Remove the ranges of a thread that has ended; @ordinal 0: of the process. */
void gt_open_ranges_end(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal);
/* Write all open ranges as STREAM blocks. Return 0 or negative errno. */
int gt_open_ranges_write(const struct gt_open_ranges *o, struct gt_capture_writer *to);
void gt_open_ranges_fini(struct gt_open_ranges *o);

#endif
