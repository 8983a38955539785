/* SPDX-License-Identifier: MIT */
/* For gputap's own threads that call no function of tools; others use gt_tool_thread_takes(). */
#ifndef GPUTAP_TOOL_TOOL_THREAD_H
#define GPUTAP_TOOL_TOOL_THREAD_H

#include <stdbool.h>

/* Name the calling thread, where no filter of the program's may kill for it. */
void gt_tool_thread_name(const char *name);
/* It begins, or ends: the collector finds a process in which no other thread is left. */
void gt_tool_thread_count(bool begins);

#endif
