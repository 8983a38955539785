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
 * gt_tools_opened(), or without it by gt_mapped_look(), or announces itself with
 * gputap_tool_opened(). The next call of a runtime starts the tool, and then takes over the
 * runtimes that the program has used before (core/late.h). If a runtime is in use whose calls reach
 * no tap yet, a thread of gputap starts the tool as soon as dlopen() is over.
 * A tool that is too late for a domain is notified immediately (gt_tools_find_missed()).
 *
 * Tools are finished before libraries' destructors run, so that they may still call runtimes, and
 * after the exit handlers that the program has registered since it began to use runtimes. A tool
 * that starts on the first call is finished when exit() reaches a handler that was registered just
 * before the tool's start(). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/context.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/tool_opened.h"
#include "runtime/mapped.h"
#include "runtime/tool_attach.h"
#include "tool/tool_load.h"
#include "tool/tool_thread.h"

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *program, int argc, char **argv, void (*init)(void),
		     void (*fini)(void), void (*end)(void), void *stack);

/* Exported for libgputap-audit.so. */
GT_AT_START struct gt_tool_opened gputap_attach_tools = {.magic = GT_TOOL_OPENED_MAGIC};

static start_fn *real_start;
static void (*libraries_end)(void);
static bool is_starting; /* main() has not begun; the tools are started now */

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
	is_starting = true;
	gt_tools_begin();
	is_starting = false;
	gt_tools_set_late(true);
	if (atomic_load(&gt_recording.tools) && end) {
		libraries_end = end;
		end = program_ends;
	}
	return real_start(program, argc, argv, init, fini, end, stack);
}

/* Return true if the program's first function has called libc's start function. The call's return
 * address, which lies in the program's first function, is then near the end of the stack:
 *
 *   x86-64:  pushed by the call, below argc          aarch64:  in the frame of the called function
 *
 * Before that, the dynamic linker's own frames are there. They may contain the address of the first
 * function itself, but no address behind it. */
static bool is_program_entered(void)
{
	enum { BELOW = 1024, ABOVE = 64, FUNCTION_BYTES = 96 };
	void *const *end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
	const uintptr_t entry = getauxval(AT_ENTRY);
	uintptr_t word;

	for (size_t at = 0; entry && end && *end && at < BELOW + ABOVE; at += sizeof word) {
		memcpy(&word, (const char *)*end - BELOW + at, sizeof word);
		if (word > entry && word < entry + FUNCTION_BYTES)
			return true;
	}
	return false;
}

/* Return true if main() runs. libgputap was then opened with dlopen(). The dynamic linker calls
 * constructors at start-up in the first thread only. A program whose first function is not libc's
 * is not recognised: its tools start in the first call of a runtime. */
static bool is_running(void)
{
	static _Atomic bool known;

	if (!atomic_load(&known) && (syscall(SYS_gettid) != getpid() || is_program_entered()))
		atomic_store(&known, true);
	return atomic_load(&known);
}

/* Return true if the program will call program_starts(). */
static bool wait_for_program(void)
{
	if (is_running() || gt_tools_are_hidden())
		return false;
	real_start = (start_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "__libc_start_main");
	return real_start &&
	       gt_mapped_program("__libc_start_main", (void *)(uintptr_t)program_starts);
}

/* Start the tools when the dlopen() that runs now is over, constructors included. */
static void *start_soon(void *unused)
{
	void *program;

	gt_tool_thread_name("gputap");
	program = dlopen(NULL, RTLD_LAZY); /* waits for the dynamic linker's lock */
	if (program)
		dlclose(program);
	gt_tools_start();
	return unused;
}

/* Attach to the runtimes for tools that were found and not started. A constructor calls this. */
static void attach(void)
{
	enum { STACK_BYTES = 256 * 1024 };

	atomic_store(&gt_recording.pending, gt_tools_start);
	if (is_running())
		gt_late_begin();
	gt_tools_attach();
	gt_contexts_refresh();
	gt_tools_find_missed();
	if (is_running() && gt_tools_are_bypassed())
		gt_tool_thread_start(start_soon, NULL, STACK_BYTES);
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
	attach();
}

static bool is_late(void)
{
	return !is_starting && is_running();
}

GT_PROVIDE(gt_tool_attach) = {.is_late = is_late};

int gputap_tool_opened(void)
{
	if (!is_running()) /* program_starts() will find the tool */
		return 0;
	gt_tools_opened();
	if (gt_tools_find())
		attach();
	return 0;
}
