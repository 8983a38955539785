/* SPDX-License-Identifier: MIT */
/* Attaches tools to runtimes without `gputap run`: declarations shared by tool_attach.c and
 * tool_start.c. */
#ifndef GPUTAP_RUNTIME_TOOL_ATTACH_H
#define GPUTAP_RUNTIME_TOOL_ATTACH_H

#include <stdbool.h>

/* Return true if main() has, or may have, started. */
bool gt_tools_late(void);
void gt_tools_set_late(bool late);

/* Set the variables that runtimes read (once only), and interpose the mapped libraries. */
void gt_tool_attach_begin(void);

#endif
