/* SPDX-License-Identifier: MIT */
/* Declares functions for gputap's threads that call no tool function. Threads that call tool
 * functions use gt_tool_thread_takes(). */
#ifndef GPUTAP_TOOL_TOOL_THREAD_H
#define GPUTAP_TOOL_TOOL_THREAD_H

#include <stdbool.h>

/* Name the calling thread, unless a seccomp filter of the program could kill the process for it. */
void gt_tool_thread_name(const char *name);
/* Mark the start or end of a gputap thread, so that the collector can detect a process that has no
 * other threads left. */
void gt_tool_thread_count(bool begins);

#endif
