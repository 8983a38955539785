/* SPDX-License-Identifier: MIT */
/* Adds names of call stacks' frames to the capture, so that they are available where the program's
 * files are not. Only frames that are in a stack are looked up.
 *
 *   stacks ─► different frames ─► symbol tables ─► maps of JIT compilers ─► lines (bounded in time)
 *                                                                           └─► RECORDS, END
 *
 * Frames whose lines would have taken too long still get their function. */
#ifndef GPUTAP_EXPORT_NAME_FRAMES_H
#define GPUTAP_EXPORT_NAME_FRAMES_H

#include <stdint.h>

#include "export/bounded_lines.h"

struct gt_naming_options {
	uint64_t lines_ns; /* time limit for lines and inlined functions; 0: none are looked up */
	/* Called now and then; NULL: not needed */
	void (*progress)(void *data, uint64_t done, uint64_t total);
	void *data;
};

struct gt_naming {
	uint64_t frames;       /* frames looked up */
	uint64_t named;        /* frames of these that have a function now */
	uint64_t without_line; /* frames whose lines were not looked up, and why: */
	enum gt_lines_end end;
};

/**
 * gt_name_frames() - add names to a finished capture
 * @path: a capture of one session. It is left unchanged if it has no stacks, already has all names,
 *        or was recorded with an option that excludes names
 * Return: 0 or negative errno with a cause; then the capture is unchanged.
 * Thread: any; it creates a process (export/bounded_lines.h).
 */
int gt_name_frames(const char *path, const struct gt_naming_options *options,
		   struct gt_naming *result);

#endif
