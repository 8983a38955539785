/* SPDX-License-Identifier: MIT */
/* Names of frames in call stacks, in the capture: gputap reads them from the program's files and
 * appends them after the run, so that they are available where those files are not.
 *
 * A name belongs to a process, the generation of the module that contains the frame, and the
 * address. Code that a JIT compiler generated is in no module; its generation is 0. */
#ifndef GPUTAP_CAPTURE_FRAME_NAMES_H
#define GPUTAP_CAPTURE_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { GT_FRAME_NAMES_MOST = 32 };

/* A function at a frame. */
struct gt_frame_name {
	const char *function; /* linker name, maybe mangled; NULL: not known */
	const char *file;     /* source file; NULL: not known */
	uint32_t line;        /* 0: not known */
};

struct gt_names_info {
	uint32_t process, generation;
	uint64_t address;
	uint32_t flags; /* enum gt_names_flag */
	uint32_t bytes;
	const char *text; /* as in struct gt_record_names; two NULs at its end */
};

/* Return the names of the frame; NULL: the capture has none. */
const struct gt_names_info *gt_capture_names_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address);

/* Unpack the functions, innermost first. Return how many; at most GT_FRAME_NAMES_MOST. */
size_t gt_names_unpack(const struct gt_names_info *names,
		       struct gt_frame_name list[GT_FRAME_NAMES_MOST]);

/* Names to be added to a finished capture; they are in the file when gt_names_end() returns. */
struct gt_names_append;
/**
 * gt_names_begin() - start to add names to a capture
 * @c: a capture of one session, from one file, which is not being written
 * Return: 0, or negative errno with a cause: -ENOTSUP it has several sessions, or no end mark;
 * -ENOMEM.
 * Owner: caller; gt_names_end() or gt_names_cancel().
 */
int gt_names_begin(const struct gt_capture *c, struct gt_names_append **out);
/* @process: in the capture. Return 0 or -ENOMEM with a cause. */
int gt_names_append(struct gt_names_append *a, uint32_t process, uint32_t generation,
		    uint64_t address, uint32_t flags, const struct gt_frame_name *list,
		    size_t count);
/* Write the names to the file, in one write. If that fails the capture is unchanged. Return 0 or
 * negative errno with a cause: -EBUSY a process is writing it, -ESTALE the file was replaced, .. */
int gt_names_end(struct gt_names_append *a);
void gt_names_cancel(struct gt_names_append *a);

#endif
