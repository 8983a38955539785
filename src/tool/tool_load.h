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

/* A library was opened that says that it is a tool: it is started by the next call of a runtime.
 * Maybe with the dynamic linker's lock. */
void gt_tools_opened(void);

/* The same, if there is such a library. Cheap when nothing was opened since the last time. Not with
 * a lock. */
void gt_tools_look(void);

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

/* This thread hands over a runtime's tables, or has done so: a runtime is being initialised. */
void gt_tools_take_tables(bool begins);

/* The program was running when tools came: an event and a line on stderr for each of them, once a
 * domain. @what: they are not notified of, as a part of a sentence. */
void gt_tools_report_missed(enum gt_domain domain, const char *what);

/* The same for what gt_tool_attach.missed() says. */
void gt_tools_find_missed(void);

/* How libraries of runtimes are found for tools: parts above this folder provide it, and are
 * called from here. No part need be there; each function may be NULL. */
struct gt_tool_attach {
	/* What makes runtimes come to us without `gputap run`: variables that they read, once;
	 * libraries that are interposed. Any number of times. */
	void (*begin)(void);
	/* Look for libraries that were mapped meanwhile, and notify subscribers that came
	 * meanwhile. Calls tools. */
	void (*look)(void);
	/* What a tool that comes now is not notified of any more, as a part of a sentence; NULL:
	 * nothing. */
	const char *(*missed)(void);
	enum gt_domain domain; /* of what is missed */
};
GT_INTERFACE(gt_tool_attach);

#endif
