/* SPDX-License-Identifier: MIT */
/* The frames of a capture's call stacks with their names: functions, files, lines. Names come from
 * the files that were mapped, if these still exist with the same build id; nothing is fetched over
 * a network.
 *
 * A stack as shown, innermost frame first: gputap's frames are left out, and native frames of an
 * interpreter that runs Python are replaced with Python's functions. */
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
	const char *file;     /* source file; NULL: not known */
	uint32_t line;        /* 0: not known */
	const char *module;   /* path; NULL: Python's, or code generated at run time */
	uint64_t address;     /* in the module's file; UNKNOWN: in memory */
};

struct gt_frames {
	const struct gt_frame *list;
	size_t count;
	uint8_t end; /* GT_FRAMES_WHOLE, .. */
};

struct gt_frame_names;
/* Return NULL: no memory. @c must stay open. Thread: one at a time. */
struct gt_frame_names *gt_frame_names_create(const struct gt_capture *c);
void gt_frame_names_destroy(struct gt_frame_names *n);

/* Return the stack's frames, valid until @n is destroyed. An empty list if the stack was lost. */
struct gt_frames gt_frames_get(struct gt_frame_names *n, uint32_t process, uint32_t number);

/**
 * gt_frame_text() - write one frame as a line: "step at train.py:42", "main+0x1b in prog"
 * Return: length of the text, as snprintf().
 */
size_t gt_frame_text(const struct gt_frame *frame, char *text, size_t size);

#endif
