/* SPDX-License-Identifier: MIT */
/* A call stack for people: a few lines that show where a call was made.
 *
 *   at::native::add_kernel in libtorch_cuda.so     innermost first
 *   3 frames of libtorch_cpu.so                    adjacent frames without names
 *   .. 21 more frames                              native code, if Python frames follow
 *   forward at model.py:12
 *   .. 4 more frames */
#ifndef GPUTAP_CLI_STACK_LINES_H
#define GPUTAP_CLI_STACK_LINES_H

#include <stddef.h>

#include "export/frames.h"

enum { STACK_LINES_USUAL = 12 };

/**
 * stack_lines() - return frames as lines, each but the last ended by '\n'
 * @most: lines of frames; one more is for omitted ones. 0: all, and none is omitted
 * If all of Python's frames would be omitted, half of the lines are theirs.
 * Return: text that the caller frees; NULL: no memory, or no frame.
 */
char *stack_lines(const struct gt_frames *frames, size_t most);

#endif
