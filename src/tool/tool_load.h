/* SPDX-License-Identifier: MIT */
/* Tools: what the files that find and start them share. */
#ifndef GPUTAP_TOOL_TOOL_LOAD_H
#define GPUTAP_TOOL_TOOL_LOAD_H

#include <stdbool.h>

#include "tool/tool.h"
#include "util/provided.h"

/* Is somebody named in GPUTAP_TOOLS, or does a library that everybody sees say that it is a
 * tool? Cheap. */
bool gt_tools_expected(void);

/* Look for tools, once. Are there any that are still to be started? */
bool gt_tools_find(void);

/* Start those that do not want to wait for the first call (GPUTAP_TOOL_ON_FIRST_CALL): all
 * libraries' constructors have run. */
void gt_tools_begin(void);

/* The libraries that are there end: finish the tools, once, but for those that have a place of
 * their own among the handlers of exit() (GPUTAP_TOOL_ON_FIRST_CALL). Re-entry and another
 * thread's call return at once. */
void gt_tools_finish(void);

/* Have that called before the libraries that are mapped now are ended. */
void gt_tools_finish_at_exit(void);

/* Was libgputap opened for somebody alone (RTLD_LOCAL)? His libraries are not found by name
 * then. */
bool gt_tools_are_hidden(void);

/* A runtime hands over its table: tools that are still to be started are, and will be finished
 * before it ends. @mapped: other libraries may have come with it. */
void gt_tools_meet_runtime(bool mapped);

/* How libraries of runtimes are found for tools: a part above this folder provides it, and is
 * called from here. No part need be there. */
struct gt_tool_attach {
	/* What makes runtimes come to us without `gputap run`: variables that they read, once;
	 * libraries that are interposed. Any number of times. */
	void (*begin)(void);
	/* Look for libraries that were mapped meanwhile, and notify subscribers that came
	 * meanwhile. Calls tools. */
	void (*look)(void);
};
GT_INTERFACE(gt_tool_attach);

#endif
