/* SPDX-License-Identifier: MIT */
/* The frames of a capture's call stacks with their names: functions, files, lines. They come from
 * the files that were mapped, where those are still there with the same build id; nothing is
 * fetched over a network.
 *
 * A stack as it is shown, innermost first: gputap's own frames are not in it, and where native code
 * is an interpreter's that runs Python, Python's functions stand for it. */
#ifndef GPUTAP_EXPORT_FRAMES_H
#define GPUTAP_EXPORT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/callstacks.h"

enum gt_frame_origin { GT_ORIGIN_NATIVE, GT_ORIGIN_INLINED, GT_ORIGIN_PYTHON, GT_ORIGIN_UNKNOWN };

struct gt_frame {
	enum gt_frame_origin origin;
	const char *function; /* demangled; NULL: not known */
	const char *file;     /* of the source; NULL: not known */
	uint32_t line;        /* 0: not known */
	const char *module; /* path; NULL: Python's, or code that was made while the program ran */
	uint64_t address;   /* in the module's file; UNKNOWN: in memory */
};

struct gt_frames {
	const struct gt_frame *list;
	size_t count;
	uint8_t end; /* GT_FRAMES_WHOLE, .. */
};

struct gt_frame_names;
/* NULL: no memory. @c must stay open. Thread: one at a time. */
struct gt_frame_names *gt_frame_names_create(const struct gt_capture *c);
void gt_frame_names_destroy(struct gt_frame_names *n);

/* The stack's frames; they stay until @n is destroyed. An empty list where the stack was lost. */
struct gt_frames gt_frames_get(struct gt_frame_names *n, uint32_t process, uint32_t number);

/**
 * gt_frame_text() - one frame in a line: "step at train.py:42", "main+0x1b in prog"
 * Return: length that the text has, as snprintf().
 */
size_t gt_frame_text(const struct gt_frame *frame, char *text, size_t size);

#endif
