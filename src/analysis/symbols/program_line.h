/* SPDX-License-Identifier: MIT */
/* The frame of a stack that names a line of the program. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_PROGRAM_LINE_H
#define GPUTAP_ANALYSIS_SYMBOLS_PROGRAM_LINE_H

#include "analysis/symbols/frames.h"

/* Return the innermost Python frame; else the innermost frame with a source file outside of system
 * headers; else the innermost frame with a function outside of the C library; else the innermost
 * frame. NULL: there are no frames. */
const struct gt_frame *gt_frames_program_line(const struct gt_frames *frames);

#endif
