/* SPDX-License-Identifier: MIT */
/* Names of the frames of call stacks, in the capture: who reads the program's files when it has
 * ended appends them, so that they are there where those files are not.
 *
 * A name goes with a process, the generation of the module that the frame is in, and the address.
 * Code that a JIT compiler made is in no module; its generation is 0. */
#ifndef GPUTAP_CAPTURE_FRAME_NAMES_H
#define GPUTAP_CAPTURE_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { GT_FRAME_NAMES_MOST = 32 };

/* A function of a frame. */
struct gt_frame_name {
	const char *function; /* as it is linked, maybe mangled; NULL: not known */
	const char *file;     /* of the source; NULL: not known */
	uint32_t line;        /* 0: not known */
};

struct gt_names_info {
	uint32_t process, generation;
	uint64_t address;
	uint32_t flags; /* enum gt_names_flag */
	uint32_t bytes;
	const char *text; /* as in struct gt_record_names; ended by two NULs */
};

/* Names of the frame; NULL: the capture has none. */
const struct gt_names_info *gt_capture_names_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address);

/* Its functions, innermost first. Return: how many; at most GT_FRAME_NAMES_MOST. */
size_t gt_names_unpack(const struct gt_names_info *names,
		       struct gt_frame_name list[GT_FRAME_NAMES_MOST]);

/* Names for a capture that is finished; they stand in it when gt_names_end() returns. */
struct gt_names_append;
/**
 * gt_names_begin() - begin to add names to a capture
 * @c: of one session, from one file, which is not written any more
 * Return: 0, or negative errno with a cause: -ENOTSUP it is of several sessions, or has no end
 *         mark; -ENOMEM.
 * Owner: caller; gt_names_end() or gt_names_cancel().
 */
int gt_names_begin(const struct gt_capture *c, struct gt_names_append **out);
/* @process: in the capture. Return: 0 or -ENOMEM with a cause. */
int gt_names_append(struct gt_names_append *a, uint32_t process, uint32_t generation,
		    uint64_t address, uint32_t flags, const struct gt_frame_name *list,
		    size_t count);
/* Into the file, in one write. Where that fails the capture is as it was. Return: 0 or negative
 * errno with a cause: -EBUSY somebody writes it, -ESTALE it is another file by now, .. */
int gt_names_end(struct gt_names_append *a);
void gt_names_cancel(struct gt_names_append *a);

#endif
