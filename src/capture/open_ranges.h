/* SPDX-License-Identifier: MIT */
/* Ranges that a program has begun and not ended, of a flight recorder: the records that began them
 * may be older than the window, and those in it need them. They stand at the begin of each chunk
 * (keep.h), and count where that one is the oldest. */
#ifndef GPUTAP_CAPTURE_OPEN_RANGES_H
#define GPUTAP_CAPTURE_OPEN_RANGES_H

#include "capture/writer.h"

struct gt_open_range {
	uint32_t process, ordinal;
	/* of a thread's stack: what is on it; started ones: their number is @id */
	enum gt_open_kind {
		GT_OPEN_OPERATION, /* external ids, as enum gt_external_stack */
		GT_OPEN_USER,
		GT_OPEN_PUSHED,
		GT_OPEN_STARTED
	} kind;
	uint32_t words; /* 0: too much is open, it only counts */
	uint64_t id;
	uint64_t *record;
};

struct gt_open_ranges {
	struct gt_open_range *list; /* as they began, of each thread */
	size_t count, room;
	uint64_t bytes;
};

/* Records of a thread: memory that the program may be writing to. */
void gt_open_ranges_look(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal,
			 const void *data, size_t bytes);
/* A thread has ended; @ordinal 0: the process. */
void gt_open_ranges_end(struct gt_open_ranges *o, uint32_t process, uint32_t ordinal);
/* As STREAM blocks. 0 or negative errno. */
int gt_open_ranges_write(const struct gt_open_ranges *o, struct gt_capture_writer *to);
void gt_open_ranges_fini(struct gt_open_ranges *o);

#endif
