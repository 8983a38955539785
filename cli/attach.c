/* SPDX-License-Identifier: MIT */
/* gputap attach: traces a program that is already running. gputap detach: ends such a session. */
#include "cli/attach.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/run_plugins.h"
#include "cli/run_results.h"
#include "cli/session_find.h"
#include "cli/ui.h"
#include "collector/attach_target.h"
#include "collector/collector.h"
#include "collector/inject.h"
#include "generated/runtimes.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/file_name.h"
#include "util/short_slice.h"

static const char attach_help[] =
	"gputap attach [options] PID\n"
	"\n"
	"Record the calls to GPU runtimes and all GPU activity of a running process, from\n"
	"now on. One thread of the process is stopped for about a millisecond, to load\n"
	"gputap's library. Recording ends when the process ends, after --duration, with\n"
	"Ctrl-C, or with `gputap detach`; the process continues without gputap. It can be\n"
	"attached to again. The process must belong to the same user, or gputap needs\n"
	"root or the capability SYS_PTRACE.\n"
	"\n"
	"Examples\n"
	"  gputap attach 4711                       writes NAME.4711.gputap, until Ctrl-C\n"
	"  gputap attach --duration 10s 4711        ten seconds\n"
	"  gputap attach --tree 4711                with the processes that it started\n"
	"  gputap attach --keep 30s 4711            keep the last 30 seconds; then:\n"
	"  gputap snapshot 4711                     write them, as often as needed\n"
	"\n"
	"Which processes\n"
	"  -p, --pid PID        the process; the same as the argument\n"
	"      --tree           also the descendants of the process, and programs that\n"
	"                       these processes start\n"
	"      --wait           until every recorded process has ended, not only PID\n"
	/* the options of `gputap run` */
	RUN_HELP_OUTPUT RUN_HELP_WHAT RUN_HELP_KEEP "When to record\n"
	"      --duration TIME  detach after TIME: 10 or 10s, 500ms, 2min\n"
	"      --max-kernels N  detach after N kernels; some more may be recorded\n"
	"      --paused         wait for 'gputap start' or the start signal\n"
	"      --delay TIME     start recording after TIME\n"
	"      --from RANGE     start recording when a process starts this range: step;\n"
	"                       'step#3', the third one; * and ? are wildcards\n"
	"      --to RANGE       stop when this range ends: 'step#5'\n"
	"      --start-signal SIGNAL\n"
	"      --stop-signal SIGNAL\n"
	"                       start or stop when gputap receives SIGNAL: USR1,\n"
	"                       SIGUSR2, RTMIN+3. If both are the same signal, it\n"
	"                       toggles recording\n"
	"How to record\n"
	"      --no-plugins     do not load vendors' plug-ins (KINETO_PLUGIN_PATH and the\n"
	"                       standard folders)\n" RUN_HELP_BUFFERS "  -h, --help\n";

static const char detach_help[] =
	"gputap detach PID\n"
	"\n"
	"End the session of `gputap attach` that records process PID. The process\n"
	"continues without gputap, and the capture is complete when this command returns.\n"
	"PID is a recorded process or that of `gputap attach`; the name of the session's\n"
	"capture also works. Only the owner of a session and root can access it.\n"
	"\n"
	"Examples\n"
	"  gputap detach 4711            the session of process 4711\n"
	"  gputap detach train.gputap    the session that writes this capture\n"
	"\n"
	"Options\n"
	"  -q, --quiet   print nothing\n"
	"  -h, --help\n";

enum { NAME_SHOWN = 60 };

/* Progress of the attachments, and the numbers of the first line. */
struct progress {
	const struct run_request *request;
	size_t targets, done, attached;
	uint64_t took_ns, longest_stop_ns;
};

/* Print -------------------------------------------------------------------------------- */

/* Write the command line, truncated. */
static const char *show_command(char *const *argv, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; argv[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? " " : "", argv[i]);
	if (n >= size && size > 3)
		strcpy(text + size - 3, "..");
	return text;
}

static void print_attached(const struct progress *p)
{
	const struct run_request *r = p->request;
	char command[NAME_SHOWN], processes[96] = "";

	if (r->quiet)
		return;
	if (p->targets > 1)
		snprintf(processes, sizeof processes, " and %zu of its %zu descendants",
			 p->attached - 1, p->targets - 1);
	ui_note("attached to %u (%s)%s in %s; its threads stood still for %s at most; recording to "
		"%s",
		r->pid, show_command(r->argv, command, sizeof command), processes,
		show_duration(p->took_ns), show_duration(p->longest_stop_ns),
		show_shell_word(r->output));
	if (isatty(STDERR_FILENO) && !r->run.windows.duration_ns)
		ui_note("Ctrl-C or 'gputap detach %u' ends the recording; the program continues",
			r->pid);
}

static void on_attach(const struct gt_attach_note *note, void *data)
{
	struct progress *p = data;

	p->done++;
	p->took_ns += note->took_ns;
	if (note->stop_ns > p->longest_stop_ns)
		p->longest_stop_ns = note->stop_ns;
	if (note->error)
		ui_note("%u is not recorded: %s", note->target->pid, note->error);
	else
		p->attached++;
	if (p->done == p->targets && p->attached)
		print_attached(p);
}

static void note_nothing_seen(void *data)
{
	const struct run_request *r = data;

	if (r->what.domains)
		ui_note("%s used none of --domains %s while it was recorded",
			gt_file_name(r->argv[0]), r->what.domains);
	else
		ui_note("%s used no runtime that gputap can trace (%s) while it was recorded",
			gt_file_name(r->argv[0]), GT_RUNTIMES_TRACED);
	run_results_note_not_traced(r->capture);
}

static void note_end(const struct run_request *r, const struct gt_run_result *result)
{
	if (result->not_detached)
		ui_note("%u process%s did not answer: stopped, or busy in a runtime; gputap's "
			"library ends there when %s",
			result->not_detached, result->not_detached == 1 ? " has" : "es have",
			result->not_detached == 1 ? "it continues" : "they continue");
	if (r->quiet)
		return;
	if (result->is_detached)
		ui_note("detached from %u, which continues", r->pid);
	else
		ui_note("process %u ended", r->pid);
}

/* Attach --------------------------------------------------------------------------------- */

static int cannot_attach(const struct run_request *r, int error)
{
	int code = error == -ESRCH ? GT_EXIT_NOT_FOUND : GT_EXIT_CANNOT_EXEC;

	return ui_fail(code, "cannot attach to %u", r->pid);
}

/* Find out if a session already records the process. */
static int check_sessions(const struct run_request *r)
{
	const struct session_found *found = NULL;
	struct session_list list;
	char pid[16];
	int code = GT_EXIT_OK;

	if (session_list_read(&list, false)) {
		gt_error_clear();
		return code;
	}
	snprintf(pid, sizeof pid, "%u", r->pid);
	if (session_match(&list, pid, &found)) {
		bool is_attached = !strcmp(session_value(&found->status, "attached"), "yes");

		code = ui_fail(GT_EXIT_CANNOT_EXEC,
			       "%u is recorded already, to %s; 'gputap %s %u' ends %s", r->pid,
			       session_name(&list, found), is_attached ? "detach" : "stop", r->pid,
			       is_attached ? "that session" : "the recording");
	}
	session_list_fini(&list);
	return code;
}

static int find_targets(const struct run_request *r, struct gt_attach_target **list, size_t *count)
{
	struct gt_attach_target *one;
	int status;

	if (r->tree)
		return gt_attach_find_tree(r->pid, list, count);
	one = malloc(sizeof *one);
	if (!one)
		return gt_error(-ENOMEM, "no memory for the process");
	status = gt_attach_find(r->pid, one);
	if (!status)
		status = gt_inject_check((pid_t)r->pid);
	if (status) {
		free(one);
		return status;
	}
	*list = one;
	*count = 1;
	return 0;
}

static int record(struct run_request *r)
{
	struct progress progress = {.request = r, .targets = r->run.target_count};
	struct gt_run_result result;
	bool written;
	int status;

	r->run.session.late = GT_LATE_SESSION | (r->tree ? GT_LATE_EXEC : 0);
	r->run.on_attach = on_attach;
	r->run.attach_data = &progress;
	if (!r->no_plugins)
		run_plugins_find(&r->run.session, r->quiet);
	run_results_name_snapshots(r);
	status = gt_collector_run(&r->run, r->argv, &result);
	if (status) {
		int code = cannot_attach(r, status);

		if (status == -EMFILE || status == -ENFILE || status == -EEXIST)
			run_results_way_out(r, -status);
		return code;
	}
	run_results_name_stacks(r);
	note_end(r, &result);
	written = run_results_print(r, &result, 0, note_nothing_seen, r);
	return written && !result.output_error ? GT_EXIT_OK : GT_EXIT_FAILURE;
}

int attach_process(struct run_request *r, char **rest)
{
	struct gt_attach_target *targets = NULL;
	struct gt_attach_text text = {0};
	int code, status;

	if (*rest)
		return ui_fail(GT_EXIT_USAGE, "only one process at a time; also given: '%s'",
			       *rest);
	if (r->has_tool)
		return ui_fail(GT_EXIT_USAGE, "--tool loads a library when a program starts; a "
					      "running process cannot get it");
	code = check_sessions(r);
	if (code)
		return code;
	status = find_targets(r, &targets, &r->run.target_count);
	if (!status)
		status = gt_attach_text_read(r->pid, &text);
	if (status) {
		free(targets);
		return cannot_attach(r, status);
	}
	r->run.targets = targets;
	r->run.directory = text.directory;
	r->argv = text.argv;
	code = run_options_finish(r);
	if (!code)
		code = record(r);
	gt_attach_text_fini(&text);
	free(targets);
	return code;
}

static int run_attach(int argc, char **argv)
{
	/* static, because the struct is too large for a small stack */
	static struct run_request r = {.command = "attach", .pattern = ""};
	int code = run_options_parse(&r, argc, argv, attach_help);
	char **rest = argv + optind;

	if (code)
		return code;
	if (!r.pid) {
		if (!*rest) {
			ui_fail(GT_EXIT_USAGE, "no process to attach to");
			fputs("  'gputap attach PID'; 'gputap attach --help' shows more\n", stderr);
			return GT_EXIT_USAGE;
		}
		if (!run_options_pid(*rest, &r.pid))
			return ui_fail(GT_EXIT_USAGE,
				       "'%s' is not a process id; 'pgrep -a %s' finds processes by "
				       "name",
				       *rest, show_shell_word(*rest));
		rest++;
	}
	return attach_process(&r, rest);
}

/* Detach --------------------------------------------------------------------------------- */

/* Wait until the session is over, and so the capture complete. */
static void wait_for_end(const char *folder)
{
	const struct timespec nap = {0, 5000000};
	struct session_answer answer;

	while (!session_ask_state(folder, &answer)) {
		session_answer_fini(&answer);
		nanosleep(&nap, NULL);
	}
	gt_error_clear();
}

static int detach(const struct session_list *list, const struct session_found *s, bool quiet)
{
	struct session_answer answer;

	if (strcmp(session_value(&s->status, "attached"), "yes") != 0)
		return ui_fail(GT_EXIT_FAILURE,
			       "%s is written by `gputap run`, which started the program and "
			       "records it until it ends; 'gputap stop' pauses the recording",
			       session_name(list, s));
	if (session_ask(s->folder, "detach", &answer))
		return ui_fail(GT_EXIT_FAILURE, "%s", session_name(list, s));
	session_answer_fini(&answer);
	wait_for_end(s->folder);
	if (!quiet)
		ui_note("detached from %s; the capture is in %s", session_value(&s->status, "pid"),
			session_name(list, s));
	return GT_EXIT_OK;
}

static int run_detach(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"quiet", no_argument, NULL, 'q'},
		{NULL, 0, NULL, 0},
	};
	const struct session_found *found;
	struct session_list list;
	bool quiet = false;
	int option, code;

	gt_short_slice_take();
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":hq", options, NULL)) != -1)
		switch (option) {
		case 'q': quiet = true; break;
		case 'h': fputs(detach_help, stdout); return GT_EXIT_OK;
		default: return ui_bad_option("detach", argv, options);
		}
	if (optind >= argc)
		return ui_fail(GT_EXIT_USAGE, "no process to detach from; 'gputap status' lists "
					      "the sessions");
	if (argc - optind > 1)
		return ui_fail(GT_EXIT_USAGE, "only one session at a time; also given: '%s'",
			       argv[optind + 1]);
	if (session_list_read(&list, false))
		return ui_fail(GT_EXIT_FAILURE, "%s", "");
	code = session_find(&list, argv[optind], &found);
	if (!code)
		code = detach(&list, found, quiet);
	session_list_fini(&list);
	return code;
}

const struct gt_command gt_command_attach = {"attach", "trace a process that is already running",
					     run_attach};
const struct gt_command gt_command_detach = {"detach", "end a session of `gputap attach`",
					     run_detach};
