/* SPDX-License-Identifier: MIT */
/* Formats a call stack in a few lines that show where a call was made.
 *
 *   at::native::add_kernel in libtorch_cuda.so     innermost first
 *   3 frames of libtorch_cpu.so                    adjacent frames without names
 *   .. 21 more frames                              native code, if Python frames follow
 *   forward at model.py:12
 *   .. 4 more frames */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_STACK_LINES_H
#define GPUTAP_ANALYSIS_SYMBOLS_STACK_LINES_H

#include <stddef.h>

#include "analysis/symbols/frames.h"

enum { STACK_LINES_USUAL = 12 };

/**
 * stack_lines() - return frames as lines separated by '\n'
 * @most: largest number of lines for frames, not including the line for omitted frames. 0: omit
 *        none
 * If all Python frames would be omitted, half of the lines are reserved for Python frames.
 * Return: text that the caller frees; NULL: out of memory, or no frames.
 */
char *stack_lines(const struct gt_frames *frames, size_t most);

#endif
