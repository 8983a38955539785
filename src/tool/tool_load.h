/* SPDX-License-Identifier: MIT */
/* Tools: for the files that find and start them. */
#ifndef GPUTAP_TOOL_TOOL_LOAD_H
#define GPUTAP_TOOL_TOOL_LOAD_H

#include <stdbool.h>

#include "tool/tool.h"
#include "util/provided.h"

/* Return true if GPUTAP_TOOLS names a tool, or if a library in the global scope exports a tool's
 * description. Cheap. */
bool gt_tools_expected(void);

/* Look for tools, once. Return true if some must still be started. */
bool gt_tools_find(void);

/* Handle a newly opened library that exports a tool's description: the next call of a runtime
 * starts it. The caller may hold the dynamic linker's lock. */
void gt_tools_opened(void);

/* Look for a newly opened library of a tool, and do the same as gt_tools_opened(). Cheap if no
 * library was opened since the last time. Call it without a lock. */
void gt_tools_look(void);

/* Start the tools without GPUTAP_TOOL_ON_FIRST_CALL, after the constructors of all libraries. */
void gt_tools_begin(void);

/* Finish the tools, once, before the mapped libraries end. Tools with GPUTAP_TOOL_ON_FIRST_CALL
 * have separate exit() handlers. Re-entry and another thread's call return at once. */
void gt_tools_finish(void);

/* Register that call, to run before the libraries that are mapped now end. */
void gt_tools_finish_at_exit(void);

/* Return true if libgputap was opened with RTLD_LOCAL. The names of the opener's libraries are then
 * not found. */
bool gt_tools_are_hidden(void);

/* Start the remaining tools when a runtime passes its table. They will be finished before the
 * runtime ends. @mapped: other libraries may have been mapped with it. */
void gt_tools_meet_runtime(bool mapped);

/* Mark that this thread passes a runtime's tables, or has done so: a runtime is initialising. */
void gt_tools_take_tables(bool begins);

/* Report that tools were added while the program was running: an event and a line on stderr for
 * each tool, once for each domain. @what: the part that they miss, within a sentence. */
void gt_tools_report_missed(enum gt_domain domain, const char *what);

/* Do the same for the text of gt_tool_attach.missed(). */
void gt_tools_find_missed(void);

/* Functions that find libraries of runtimes for tools. Folders above this one provide them. Each
 * may be NULL. */
struct gt_tool_attach {
	/* attach to runtimes without `gputap run`: set the variables that they read (once) and
	 * interpose their libraries. May be called repeatedly */
	void (*begin)(void);
	/* look for libraries that were mapped since the last call, and notify new subscribers.
	 * Calls tools */
	void (*look)(void);
	/* return what a tool that is added now is no longer notified of, as a part of a sentence;
	 * NULL: nothing */
	const char *(*missed)(void);
	enum gt_domain domain; /* domain of the missed calls */
};
GT_INTERFACE(gt_tool_attach);

#endif
