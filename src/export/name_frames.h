/* SPDX-License-Identifier: MIT */
/* Names of the frames of a capture's call stacks into the capture, so that it has them where the
 * program's files are not. Only frames that are in a stack are looked up.
 *
 *   stacks ─► different frames ─► symbol tables ─► maps of JIT compilers ─► lines (bounded in time)
 *                                                                           └─► RECORDS, END
 *
 * What the lines took too long for has its function all the same. */
#ifndef GPUTAP_EXPORT_NAME_FRAMES_H
#define GPUTAP_EXPORT_NAME_FRAMES_H

#include <stdint.h>

#include "export/bounded_lines.h"

struct gt_naming_options {
	uint64_t lines_ns; /* for lines and inlined functions, at most; 0: none are looked up */
	/* Now and then; NULL: nobody is told */
	void (*progress)(void *data, uint64_t done, uint64_t total);
	void *data;
};

struct gt_naming {
	uint64_t frames;       /* that were looked up */
	uint64_t named;        /* .. and have a function now */
	uint64_t without_line; /* frames whose lines nobody has looked for, and why: */
	enum gt_lines_end end;
};

/**
 * gt_name_frames() - names into a capture that is finished
 * @path: of one session; without stacks, with all names already, or where its options say that
 *        nobody wants names, it is left as it is
 * Return: 0 or negative errno with a cause; the capture is as it was then.
 * Thread: any; it makes a process (export/bounded_lines.h).
 */
int gt_name_frames(const char *path, const struct gt_naming_options *options,
		   struct gt_naming *result);

#endif
