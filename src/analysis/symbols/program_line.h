/* SPDX-License-Identifier: MIT */
/* The frame of a stack that names a line of the program. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_PROGRAM_LINE_H
#define GPUTAP_ANALYSIS_SYMBOLS_PROGRAM_LINE_H

#include "analysis/symbols/frames.h"

/* Return the innermost frame of the best kind; NULL: no function is known. Kinds, best first:
 *
 *   Python       of the program, then of installed packages
 *   executable   with a source file outside of system headers, then without
 *   libraries    with a source file, then without, then the C library */
const struct gt_frame *gt_frames_program_line(const struct gt_frames *frames);

#endif
