/* SPDX-License-Identifier: MIT */
/* The moment at which tools are started, and the one at which they are finished.
 *
 *   libraries' constructors ── ours ──► .. ──► __libc_start_main() ──► main() .. exit()
 *                              expected?       tools are started              └─► finished
 *                                 └─► pending: by the first call of a runtime,
 *                                     if that comes before
 *
 * A library of a tool that is linked with libgputap is initialised after it: in our constructor,
 * its own have not run. So what is found is started when all libraries are through: in the
 * program's call of __libc_start_main(), which is sent here and has done nothing yet. A runtime
 * that is called before that (by a library's constructor) starts them then:
 * gt_recording.pending. Where there is no such call (a start-up of the program's own; libgputap
 * was opened by a running program), and for tools that want it so (GPUTAP_TOOL_ON_FIRST_CALL),
 * the first call of a runtime is what starts them.
 *
 * A tool that is opened when libgputap is there already is found by libgputap-audit.so, which calls
 * gt_tools_opened(), or without it by gt_mapped_look(); the next call of a runtime starts it. What
 * came too late for something is told so at once: gt_tools_find_missed().
 *
 * The end: before the ends of libraries, so that tools may still call runtimes; and after the
 * ends of what the program has made since it began to use runtimes. A tool that wants the first
 * call to start it is finished where exit() comes to a handler that was registered just before
 * its start(). */
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

/* libgputap-audit.so looks for it. */
extern struct gt_tool_opened gputap_attach_tools __attribute__((visibility("default")));
struct gt_tool_opened gputap_attach_tools = {.magic = GT_TOOL_OPENED_MAGIC};

static start_fn *real_start;
static void (*libraries_end)(void);

/* With the handlers of exit(): behind the program's own. */
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

/* Will the program call program_starts()? Not if it is running: then we were opened, and mostly
 * not for all to see. */
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
