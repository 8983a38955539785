/* SPDX-License-Identifier: MIT */
/* Starts and finishes tools at the right moment.
 *
 *   libraries' constructors ── ours ──► .. ──► __libc_start_main() ──► main() .. exit()
 *                              expected?       tools are started              └─► finished
 *                                 └─► pending: at the first call of a runtime,
 *                                     if that comes before
 *
 * A tool's library that is linked with libgputap is initialised after libgputap, so the tool's
 * constructors have not run yet when libgputap's constructor runs. The tools found are therefore
 * started once all libraries are initialised: in the program's call of __libc_start_main(), which
 * is redirected here and has had no effect yet. If a runtime is called before that, from a
 * library's constructor, that call starts the tools (gt_recording.pending). The first call of a
 * runtime also starts them if __libc_start_main() is not called this way (a program with its own
 * start-up code; libgputap opened by a running program), and for tools that request it
 * (GPUTAP_TOOL_ON_FIRST_CALL).
 *
 * A tool that is opened after libgputap is found by libgputap-audit.so, which calls
 * gt_tools_opened(), or without it by gt_mapped_look(). The next call of a runtime starts the tool.
 * A tool that is too late for a domain is notified immediately (gt_tools_find_missed()).
 *
 * Tools are finished before libraries' destructors run, so that they may still call runtimes, and
 * after the exit handlers that the program has registered since it began to use runtimes. A tool
 * that starts on the first call is finished when exit() reaches a handler that was registered just
 * before the tool's start(). */
#include <dlfcn.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/recording.h"
#include "core/tool_opened.h"
#include "runtime/mapped.h"
#include "runtime/tool_attach.h"
#include "tool/tool_load.h"

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *program, int argc, char **argv, void (*init)(void),
		     void (*fini)(void), void (*end)(void), void *stack);

/* Exported for libgputap-audit.so. */
GT_AT_START struct gt_tool_opened gputap_attach_tools = {.magic = GT_TOOL_OPENED_MAGIC};

static start_fn *real_start;
static void (*libraries_end)(void);

/* Handle the end of the program. Runs as one of the exit() handlers, after the program's own
 * handlers. */
static void program_ends(void)
{
	gt_tools_finish();
	libraries_end();
}

static int program_starts(main_fn *program, int argc, char **argv, void (*init)(void),
			  void (*fini)(void), void (*end)(void), void *stack)
{
	gt_tools_begin();
	gt_tools_set_late(true);
	if (atomic_load(&gt_recording.tools) && end) {
		libraries_end = end;
		end = program_ends;
	}
	return real_start(program, argc, argv, init, fini, end, stack);
}

/* Return true if the program will call program_starts(). Returns false if the program is already
 * running: libgputap was then opened with dlopen(), usually without RTLD_GLOBAL. */
static bool wait_for_program(void)
{
	if (gt_tools_are_hidden())
		return false;
	real_start = (start_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "__libc_start_main");
	return real_start &&
	       gt_mapped_program("__libc_start_main", (void *)(uintptr_t)program_starts);
}

__attribute__((constructor)) static void start_at_load(void)
{
	bool expected;

	gt_recording_init();
	atomic_store(&gputap_attach_tools.opened, gt_tools_opened);
	expected = gt_tools_expected();
	if (expected && wait_for_program())
		gt_tools_set_late(false);
	else if (!(expected || gt_tools_are_hidden()) || !gt_tools_find())
		return;
	atomic_store(&gt_recording.pending, gt_tools_start);
	gt_tool_attach_begin();
	gt_contexts_refresh();
	gt_tools_find_missed();
}
