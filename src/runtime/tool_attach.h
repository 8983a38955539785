/* SPDX-License-Identifier: MIT */
/* How runtimes come to tools without `gputap run`: what tool_attach.c and tool_start.c share. */
#ifndef GPUTAP_RUNTIME_TOOL_ATTACH_H
#define GPUTAP_RUNTIME_TOOL_ATTACH_H

#include <stdbool.h>

/* Has main() begun, or may it have? */
bool gt_tools_late(void);
void gt_tools_set_late(bool late);

/* Set the variables that runtimes read (once), and interpose the libraries that are mapped. */
void gt_tool_attach_begin(void);

#endif
