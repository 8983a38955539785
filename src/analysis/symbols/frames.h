/* SPDX-License-Identifier: MIT */
/* Finds the functions, files and lines of the frames of a capture's call stacks. Names come from
 * the capture, or from the mapped files if they still exist with the same build id. Nothing is
 * fetched over a network.
 *
 * Stacks are shown innermost frame first. Frames of gputap are left out. Native frames of an
 * interpreter that runs Python are replaced with the Python functions. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_FRAMES_H
#define GPUTAP_ANALYSIS_SYMBOLS_FRAMES_H

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
	const char *module;   /* path; NULL for Python frames and for code generated at run time */
	/* offset in the module's file; for GT_ORIGIN_UNKNOWN: address in memory */
	uint64_t address;
};

struct gt_frames {
	const struct gt_frame *list;
	size_t count;
	uint8_t end; /* GT_FRAMES_WHOLE, .. */
};

struct gt_frame_names;
/* Return a reader of frame names. Return NULL if out of memory. @c must stay open. Thread: one at a
 * time. */
struct gt_frame_names *gt_frame_names_create(const struct gt_capture *c);
void gt_frame_names_destroy(struct gt_frame_names *n);
/* Do not look for lines in debug information, which can take long and may be damaged: use names of
 * the capture, and symbol tables for frames without names. Call before the first stack. */
void gt_frame_names_skip_lines(struct gt_frame_names *n);

/* Return the frames of a stack, valid until @n is destroyed. The list is empty if the stack was
 * lost. */
struct gt_frames gt_frames_get(struct gt_frame_names *n, uint32_t process, uint32_t number);

/**
 * gt_frame_text() - write one frame as a line: "step at train.py:42", "main+0x1b in prog"
 * Return: length of the text, as snprintf().
 */
size_t gt_frame_text(const struct gt_frame *frame, char *text, size_t size);

#endif
