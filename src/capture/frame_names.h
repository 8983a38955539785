/* SPDX-License-Identifier: MIT */
/* Names of frames in call stacks. After the run, gputap reads the names from the program's files
 * and appends them to the capture, so that the names are available where those files are not.
 *
 * A name belongs to a process, the generation of the module that contains the frame, and an
 * address. Code that a JIT compiler generated belongs to no module and has generation 0. */
#ifndef GPUTAP_CAPTURE_FRAME_NAMES_H
#define GPUTAP_CAPTURE_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { GT_FRAME_NAMES_MOST = 32 };

/* A function at a frame. */
struct gt_frame_name {
	const char *function; /* linker name, possibly mangled; NULL: unknown */
	const char *file;     /* source file; NULL: unknown */
	uint32_t line;        /* 0: unknown */
};

struct gt_names_info {
	uint32_t process, generation;
	uint64_t address;
	uint32_t flags; /* enum gt_names_flag */
	uint32_t bytes;
	const char *text; /* in the form of struct gt_record_names, with two NULs at the end */
};

/* Return the names of the frame, or NULL if the capture has none. */
const struct gt_names_info *gt_capture_names_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address);

/* Unpack the functions, innermost first. Return their number, at most GT_FRAME_NAMES_MOST. */
size_t gt_names_unpack(const struct gt_names_info *names,
		       struct gt_frame_name list[GT_FRAME_NAMES_MOST]);

/* Names to append to a finished capture. gt_names_end() writes them to the file. */
struct gt_names_append;
/**
 * gt_names_begin() - start to append names to a capture
 * @c: a capture with one session, opened from one file that no process writes
 * Return: 0, or negative errno with a cause: -ENOTSUP several sessions, or no end marker; -ENOMEM.
 * Owner: caller; gt_names_end() or gt_names_cancel().
 */
int gt_names_begin(const struct gt_capture *c, struct gt_names_append **out);
/* Append the functions of one frame. @process: index in the capture. Return 0 or -ENOMEM with a
 * cause. */
int gt_names_append(struct gt_names_append *a, uint32_t process, uint32_t generation,
		    uint64_t address, uint32_t flags, const struct gt_frame_name *list,
		    size_t count);
/* Write all names to the file in one write. On failure the capture is unchanged. Return 0 or
 * negative errno with a cause: -EBUSY another process writes the file, -ESTALE the file was
 * replaced, or another errno. */
int gt_names_end(struct gt_names_append *a);
void gt_names_cancel(struct gt_names_append *a);

#endif
