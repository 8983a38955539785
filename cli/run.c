/* SPDX-License-Identifier: MIT */
/* gputap run: traces a program from start to end. gputap's output goes to stderr. The program keeps
 * its stdin and stdout, and gputap exits with its exit status or signal. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/command.h"
#include "cli/run_options.h"
#include "cli/run_plugins.h"
#include "cli/run_results.h"
#include "cli/ui.h"
#include "collector/collector.h"
#include "collector/environment.h"
#include "collector/target.h"
#include "generated/runtimes.h"
#include "util/error.h"

static const char help[] =
	"gputap run [options] [--] PROGRAM [ARGUMENTS]\n"
	"\n"
	"Run PROGRAM unmodified and record its calls to GPU runtimes and all GPU\n"
	"activity, in PROGRAM and in every process that it starts. The input, output and\n"
	"exit status of PROGRAM do not change.\n"
	"\n"
	"Examples\n"
	"  gputap run ./simulation --steps 100            writes simulation.PID.gputap\n"
	"  gputap run -o step.gputap python train.py      then: gputap report step.gputap\n"
	"  gputap run -o step.pftrace python train.py     to open at ui.perfetto.dev\n"
	"  gputap run --ops 'clEnqueue*,clFinish' ./prog  only these calls\n"
	"  gputap run -m lite -o serve.gputap ./server    only kernels\n"
	"  gputap run --no-args --no-device ./prog        only calls and their times\n"
	"  gputap run --tool ./histogram.so ./prog        with a tool: gputap/tool.h\n"
	"  gputap run --wait ./server --daemon            until its last process ends\n"
	"  gputap run --delay 30s --duration 5s ./train   five seconds, after 30\n"
	"\n" RUN_HELP_OUTPUT RUN_HELP_WHAT RUN_HELP_KEEP "When to record\n"
	"      --paused         wait for 'gputap start' or the start signal\n"
	"      --delay TIME     start recording after TIME: 30 or 30s, 500ms, 2min\n"
	"      --duration TIME  record for TIME; the program continues afterwards\n"
	"      --from RANGE     start recording when a process starts this range: step;\n"
	"                       'step#3', the third one; * and ? are wildcards\n"
	"      --to RANGE       stop when this range ends: 'step#5'\n"
	"      --max-kernels N  stop after N kernels; some more may be recorded\n"
	"      --start-signal SIGNAL\n"
	"      --stop-signal SIGNAL\n"
	"                       start or stop when `gputap run` receives SIGNAL: USR1,\n"
	"                       SIGUSR2, RTMIN+3. The program does not receive it. If\n"
	"                       both are the same signal, it toggles recording\n"
	"How to record\n"
	"  -p, --pid PID        attach to a running process: see `gputap attach`\n"
	"      --tree           and to its descendants\n"
	"      --no-plugins     do not load vendors' plug-ins (KINETO_PLUGIN_PATH and the\n"
	"                       standard folders)\n"
	"      --tool LIBRARY[:ARGUMENTS]\n"
	"                       load a tool (gputap/tool.h) into every process; may be\n"
	"                       repeated\n"
	"      --wait           wait until every process of the tree has ended, not only\n"
	"                       PROGRAM\n" RUN_HELP_BUFFERS "  -h, --help\n"
	"\n"
	"RTL_MODE and RTL_OUTPUT of rocm-trace-lite set --mode and --output, unless these\n"
	"are given. In RTL_OUTPUT, %p is the process id of gputap: one file holds all\n"
	"processes.\n";

static int parse_arguments(struct run_request *r, int argc, char **argv)
{
	int code = run_options_parse(r, argc, argv, help);

	if (code)
		return code;
	if (r->pid) /* like perf record -p */
		return 0;
	if (r->tree)
		return ui_fail(GT_EXIT_USAGE, "--tree needs --pid: `gputap run` records every "
					      "process that the program starts");
	if (optind >= argc) {
		ui_fail(GT_EXIT_USAGE, "no program to run");
		fputs("  'gputap run ./program arguments'; 'gputap run --help' shows more\n",
		      stderr);
		return GT_EXIT_USAGE;
	}
	r->argv = argv + optind;
	return run_options_finish(r);
}

static int cannot_start(const char *program, const struct gt_target *t, int error)
{
	gt_error_clear();
	if (error == ENOENT && t->executable)
		return ui_fail(GT_EXIT_CANNOT_EXEC,
			       "%s: cannot be started: its interpreter%s%s does not exist", program,
			       t->interpreter[0] ? " " : "", t->interpreter);
	if (error == ENOENT || error == ENOTDIR)
		return ui_fail(GT_EXIT_NOT_FOUND, "%s: no such program%s",
			       *program ? program : "''", strchr(program, '/') ? "" : " in PATH");
	if (error == EACCES && t->found && !t->executable)
		return ui_fail(GT_EXIT_CANNOT_EXEC, "%s: not an executable program", t->path);
	return ui_fail(GT_EXIT_CANNOT_EXEC, "%s: cannot be started: %s", program, strerror(error));
}

static void note_obstacle(const struct gt_target *t, const char *program)
{
	/* A privileged program removes gputap's variables from the environment, so its children do
	 * not get them. Children for another machine or word size are started without these
	 * variables */
	bool children = t->obstacle != GT_TARGET_PRIVILEGED && !t->complains;

	ui_note("%s cannot be traced because %s%s", program, gt_target_reason(t->obstacle),
		children ? "; programs that it starts can still be traced" : "");
}

struct seen_nothing {
	const struct run_request *request;
	const struct gt_target *target;
	const struct gt_run_result *result;
};

static void note_nothing_seen(void *data)
{
	const struct seen_nothing *s = data;
	const struct run_request *r = s->request;
	const char *program = r->argv[0];
	char here[256];

	if (s->target->obstacle) {
		ui_note("nothing was recorded");
		return;
	}
	if (!s->result->processes && WIFEXITED(s->result->wait_status) &&
	    WEXITSTATUS(s->result->wait_status) == 127) {
		ui_note("the dynamic linker could not load %s; if it printed 'static TLS block' "
			"above, use:\n  GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1048576 "
			"gputap run ..",
			program);
		return;
	}
	if (r->what.domains)
		ui_note("%s used none of --domains %s", program, r->what.domains);
	if (r->what.domains)
		return;
	gt_doctor_short(here, sizeof here);
	ui_note("%s used no runtime that gputap can trace (%s); %s", program, GT_RUNTIMES_TRACED,
		here);
	run_results_note_not_traced(r->capture);
}

/* Exit with the program's exit status or signal. */
static int end_as(int wait_status)
{
	struct rlimit none = {0, 0};
	sigset_t one;
	int number;

	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	number = WTERMSIG(wait_status);
	fflush(stdout);
	fflush(stderr);
	setrlimit(RLIMIT_CORE, &none); /* a core dump, if any, must be that of the program */
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	kill(getpid(), number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return 128 + number; /* the signal does not kill gputap */
}

/* Print a note if the environment names another tool's library for NVTX (nsys sets one), because a
 * program loads only one such library. */
static void note_other_nvtx(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");

	if (path && *path && !strstr(path, "libgputap.so"))
		ui_note("NVTX_INJECTION64_PATH names %s, which receives the program's NVTX ranges; "
			"unset it to record them",
			path);
}

static void note_other_gputap(const struct gt_libraries *libraries)
{
	char other[PATH_MAX];

	if (gt_libraries_find_other(libraries, other))
		ui_note("LD_PRELOAD names another gputap, %s, which is not loaded into the "
			"program: unset LD_PRELOAD, or run the gputap that belongs to it",
			other);
	if (gt_libraries_find_shadowed(libraries, other))
		ui_note("LD_LIBRARY_PATH has another gputap, %s, whose other libraries may not fit "
			"this one: remove its folder from LD_LIBRARY_PATH, or run the gputap that "
			"belongs to it",
			other);
}

/* Look at the program as the library that is loaded into it will. Not inlined, so that the paths
 * leave the stack again. */
__attribute__((noinline)) static void look_at_target(const struct run_request *r,
						     struct gt_target *target)
{
	struct gt_libraries libraries;

	if (gt_libraries_find(&libraries)) { /* reported when they are needed */
		gt_error_clear();
		gt_target_look(r->argv[0], target);
	} else {
		gt_target_look_with(r->argv[0], &libraries, target);
		if (!r->quiet)
			note_other_gputap(&libraries);
	}
}

static int run(int argc, char **argv)
{
	/* static, because the struct is too large for a small stack */
	static struct run_request r = {.command = "run", .pattern = "", .has_program = true};
	struct gt_run_result result;
	struct gt_target target;
	struct seen_nothing nothing = {&r, &target, &result};
	int code = parse_arguments(&r, argc, argv), status;
	bool written;

	if (code)
		return code;
	if (r.pid)
		return attach_process(&r, argv + optind);
	look_at_target(&r, &target);
	if (!target.executable) /* check before a file is created or replaced */
		return cannot_start(r.argv[0], &target, target.found ? EACCES : ENOENT);
	if (target.obstacle && !r.quiet)
		note_obstacle(&target, r.argv[0]);
	if (!r.quiet && gt_session_recordable(&r.run.session) >> GT_DOMAIN_NVTX & 1)
		note_other_nvtx();
	if (!r.no_plugins)
		run_plugins_find(&r.run.session, r.quiet);
	run_results_name_snapshots(&r);
	status = gt_collector_run(&r.run, r.argv, &result);
	if (status) {
		ui_fail(GT_EXIT_FAILURE, "cannot trace");
		run_results_way_out(&r, -status);
		return GT_EXIT_FAILURE;
	}
	if (result.exec_errno) {
		code = cannot_start(r.argv[0], &target, result.exec_errno);
		if (result.exec_errno == EMFILE || result.exec_errno == ENFILE)
			run_results_way_out(&r, result.exec_errno);
		return code;
	}
	run_results_name_stacks(&r);
	written = run_results_print(&r, &result, target.obstacle ? 1 : 0, note_nothing_seen,
				    &nothing);
	code = end_as(result.wait_status);
	return code || written ? code : GT_EXIT_FAILURE;
}

const struct gt_command gt_command_run = {"run", "trace a program from start to end", run};
