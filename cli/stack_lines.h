/* SPDX-License-Identifier: MIT */
/* A call stack for people: few lines that say where a call was made from.
 *
 *   at::native::add_kernel in libtorch_cuda.so     innermost first
 *   3 frames of libtorch_cpu.so                    those in a row that have no names
 *   .. 21 more frames                              of native code, where Python's come behind it
 *   forward at model.py:12
 *   .. 4 more frames */
#ifndef GPUTAP_CLI_STACK_LINES_H
#define GPUTAP_CLI_STACK_LINES_H

#include <stddef.h>

#include "export/frames.h"

enum { STACK_LINES_USUAL = 12 };

/**
 * stack_lines() - frames as lines, each ended by '\n' but the last
 * @most: lines of frames; one more is for what is left out. 0: all, and nothing is left out
 * Where Python's frames would all be left out, half of the lines are theirs.
 * Return: text that the caller frees; NULL: no memory, or no frame.
 */
char *stack_lines(const struct gt_frames *frames, size_t most);

#endif
