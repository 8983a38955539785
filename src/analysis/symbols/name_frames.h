/* SPDX-License-Identifier: MIT */
/* Adds the names of call stack frames to a capture, so that they are available on machines without
 * the program's files. Only frames that occur in a stack are looked up.
 *
 *   stacks ─► different frames ─► symbol tables ─► maps of JIT compilers ─► lines (bounded in time)
 *                                                                           └─► RECORDS, END
 *
 * A frame whose line would have taken too long still gets its function. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_NAME_FRAMES_H
#define GPUTAP_ANALYSIS_SYMBOLS_NAME_FRAMES_H

#include <stdint.h>

#include "analysis/symbols/bounded_lines.h"

struct gt_naming_options {
	uint64_t lines_ns; /* time limit for lines and inlined functions; 0: neither is looked up */
	/* Called from time to time; may be NULL. */
	void (*progress)(void *data, uint64_t done, uint64_t total);
	void *data;
};

struct gt_naming {
	uint64_t frames; /* number of frames looked up */
	uint64_t named;  /* number of these frames that have a function now */
	/* number of frames whose lines were not looked up, for the reason in `end` */
	uint64_t without_line;
	enum gt_lines_end end;
};

/**
 * gt_name_frames() - add names to a finished capture
 * @path: capture of one session; left unchanged if it has no stacks, already has all names, or was
 *        recorded with an option that excludes names
 * Return: 0 or negative errno with a cause; on error the capture is unchanged.
 * Thread: any; creates a process (analysis/symbols/bounded_lines.h).
 */
int gt_name_frames(const char *path, const struct gt_naming_options *options,
		   struct gt_naming *result);

#endif
