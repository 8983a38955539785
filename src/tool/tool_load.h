/* SPDX-License-Identifier: MIT */
/* Declares the functions that find and start tools. */
#ifndef GPUTAP_TOOL_TOOL_LOAD_H
#define GPUTAP_TOOL_TOOL_LOAD_H

#include <stdbool.h>

#include "tool/tool.h"
#include "util/provided.h"

/* Return true if GPUTAP_TOOLS names a tool, or if a library in the global scope exports a tool's
 * description. The check is cheap. */
bool gt_tools_expected(void);

/* Look for tools, once. Return true if a tool must still be started. */
bool gt_tools_find(void);

/* Handle a newly opened library that exports a tool's description. The next call of a runtime
 * starts the tool. The caller may hold the dynamic linker's lock. */
void gt_tools_opened(void);

/* Look for a newly opened tool library and handle it like gt_tools_opened(). Cheap if no library
 * was opened since the last call. Call without a lock. */
void gt_tools_look(void);

/* Start the tools without GPUTAP_TOOL_ON_FIRST_CALL, after the constructors of all libraries. */
void gt_tools_begin(void);

/* Finish the tools, once, before the mapped libraries end. Tools with GPUTAP_TOOL_ON_FIRST_CALL
 * have separate exit() handlers. Nested and concurrent calls return at once. */
void gt_tools_finish(void);

/* Register gt_tools_finish() to run before the currently mapped libraries end. */
void gt_tools_finish_at_exit(void);

/* Return true if libgputap was opened with RTLD_LOCAL. Symbols of the opener's libraries are then
 * not found. */
bool gt_tools_are_hidden(void);

/* Start the remaining tools when a runtime passes its table. These tools finish before the runtime
 * ends. @mapped: true if other libraries may have been mapped with the runtime. */
void gt_tools_meet_runtime(bool mapped);

/* Mark that this thread starts or stops passing a runtime's tables while the runtime
 * initialises. */
void gt_tools_take_tables(bool begins);

/* Report that tools were added while the program was running: an event and a line on stderr for
 * each tool, once for each domain. @what: the missed part, a phrase within a sentence. */
void gt_tools_report_missed(enum gt_domain domain, const char *what);

/* Return true if a runtime is in use whose calls start no tool (gt_tool_attach.is_bypassing). */
bool gt_tools_are_bypassed(void);

/* Report the text of gt_tool_attach.missed() like gt_tools_report_missed(). */
void gt_tools_find_missed(void);

/* Attach to the runtimes that are mapped (gt_tool_attach.begin). A constructor may call it. */
void gt_tools_attach(void);

/* Functions that find libraries of runtimes for tools. Folders that depend on this folder provide
 * them. Each pointer may be NULL. */
struct gt_tool_attach {
	/* attach to runtimes without `gputap run`: set the variables that the runtimes read (once)
	 * and interpose the runtimes' libraries. May be called repeatedly */
	void (*begin)(void);
	/* look for libraries that were mapped since the last call, and notify new subscribers.
	 * Calls tools */
	void (*look)(void);
	/* return the phrase for the records that a newly added tool misses; NULL if none */
	const char *(*missed)(void);
	enum gt_domain domain; /* domain of the missed calls */
	/* return true if a tool that is found now is late: the program may have used runtimes */
	bool (*is_late)(void);
	/* return true if the program uses a runtime whose calls reach no tap until take_over() */
	bool (*is_bypassing)(void);
	/* take over such runtimes (core/late.h). Called after a tool has started. May call runtimes
	 * and tools */
	void (*take_over)(void);
};
GT_INTERFACE(gt_tool_attach);

#endif
