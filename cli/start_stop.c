/* SPDX-License-Identifier: MIT */
/* gputap start, stop, status: control running sessions from another terminal. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/grid.h"
#include "cli/hung_jobs.h"
#include "cli/session_find.h"
#include "cli/stuck_threads.h"
#include "cli/ui.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/file_name.h"
#include "util/short_slice.h"

#define WHICH                                                                              \
	"SESSION is the name of the session's capture or the id of one of its processes\n" \
	"(`gputap run` or any traced process); default: the only running session. Only\n"  \
	"the owner of a session and root can access it.\n"

static const char start_help[] =
	"gputap start [SESSION]\n"
	"\n"
	"Resume recording in a paused session, in all of its processes at once.\n" WHICH "\n"
	"Examples\n"
	"  gputap run --paused -o serve.gputap ./serve   in one terminal; in another:\n"
	"  gputap start                                  record from now on\n"
	"  gputap start serve.gputap                     the session of that capture\n"
	"\n"
	"Options\n"
	"  -q, --quiet   print nothing\n"
	"  -h, --help\n";

static const char stop_help[] =
	"gputap stop [SESSION]\n"
	"\n"
	"Pause recording in all processes of a session. The program continues, as fast as\n"
	"without gputap, and `gputap start` resumes recording. The capture contains what\n"
	"was recorded, and is finished when the program ends.\n" WHICH "\n"
	"Examples\n"
	"  gputap stop                 the only session\n"
	"  gputap stop 4711            the session of process 4711\n"
	"\n"
	"Options\n"
	"  -q, --quiet   print nothing\n"
	"  -h, --help\n";

static const char status_help[] =
	"gputap status [SESSION]\n"
	"\n"
	"List running sessions: capture, program, number of processes, start time,\n"
	"whether they record or are paused, and how much they have recorded. A second\n"
	"table shows the threads that have neither started nor ended a call for a second:\n"
	"the call that is open, since when, and whether the GPU is idle. In a job of\n"
	"several ranks, it names the rank for which the others wait.\n"
	"SESSION is the name of a session's capture or the id of one of its processes\n"
	"(`gputap run` or any traced process); default: all sessions. Only the owner of a\n"
	"session and root can access it.\n"
	"\n"
	"Examples\n"
	"  gputap status               all of yours\n"
	"  gputap status --stacks      and where in the program the threads are\n"
	"  gputap status --json 4711   the session of process 4711, for scripts\n"
	"\n"
	"Options\n"
	"  -a, --all     show the calls of all threads, also of those with progress\n"
	"      --stacks  show the call stacks of the threads without progress\n"
	"      --json    print JSON for scripts\n"
	"  -h, --help\n";

#define WAIT_NS UINT64_C(2000000000)

enum {
	OPT_JSON = 256,
	OPT_STACKS,
	PATH_ROOM = 30,
};

struct status_choice {
	bool json;
	bool all; /* all threads, even those with progress */
	bool stacks;
};

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"quiet", no_argument, NULL, 'q'},
	{NULL, 0, NULL, 0},
};

static const struct option status_options[] = {
	{"help", no_argument, NULL, 'h'},
	{"json", no_argument, NULL, OPT_JSON},
	{"all", no_argument, NULL, 'a'},
	{"stacks", no_argument, NULL, OPT_STACKS},
	{NULL, 0, NULL, 0},
};

/* Start and stop ----------------------------------------------------------------------- */

struct change {
	const char *command, *help, *done, *already;
};

/* Wait until every process has changed its state, at most WAIT_NS, because a process stopped with
 * SIGSTOP never changes its state.
 * @not_following: number of processes that have not changed their state.
 * Return the final value of this number. */
static uint64_t wait_for_all(const struct session_found *s, uint64_t not_following)
{
	const struct timespec nap = {0, 2000000};
	uint64_t begin_ns = gt_clock_ns(CLOCK_MONOTONIC);
	struct session_answer now;

	while (not_following && gt_clock_ns(CLOCK_MONOTONIC) - begin_ns < WAIT_NS) {
		nanosleep(&nap, NULL);
		if (session_ask_state(s->folder, &now)) {
			gt_error_clear(); /* the session has ended */
			return 0;
		}
		not_following = session_number(&now, "not_following");
		session_answer_fini(&now);
	}
	return not_following;
}

static int change(int argc, char **argv, const struct change *what)
{
	struct session_list list;
	struct session_answer answer;
	const struct session_found *s;
	bool quiet = false;
	int option, code;

	gt_short_slice_take();
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":hq", options, NULL)) != -1)
		switch (option) {
		case 'q': quiet = true; break;
		case 'h': fputs(what->help, stdout); return GT_EXIT_OK;
		default: return ui_bad_option(what->command, argv, options);
		}
	if (argc - optind > 1)
		return ui_fail(GT_EXIT_USAGE, "only one session at a time; also given: '%s'",
			       argv[optind + 1]);
	if (session_list_read(&list, false))
		return ui_fail(GT_EXIT_FAILURE, "%s", "");
	code = session_find(&list, argv[optind], &s);
	if (!code && session_ask(s->folder, what->command, &answer)) {
		code = ui_fail(GT_EXIT_FAILURE, "%s",
			       gt_file_name(session_value(&s->status, "output")));
	} else if (!code) {
		bool changed = !strcmp(session_value(&answer, "changed"), "yes");
		uint64_t not_following = wait_for_all(s, session_number(&answer, "not_following"));

		if (!quiet)
			ui_note("%s %s", gt_file_name(session_value(&answer, "output")),
				changed ? what->done : what->already);
		if (not_following)
			ui_note("%s process%s not applied the change yet: stopped or not scheduled",
				show_count(not_following), not_following == 1 ? " has" : "es have");
		session_answer_fini(&answer);
	}
	session_list_fini(&list);
	return code;
}

static int run_start(int argc, char **argv)
{
	static const struct change start = {"start", start_help, "is now being recorded",
					    "was already being recorded"};

	return change(argc, argv, &start);
}

static int run_stop(int argc, char **argv)
{
	static const struct change stop = {"stop", stop_help,
					   "is paused; 'gputap start' resumes recording",
					   "was already paused"};

	return change(argc, argv, &stop);
}

/* Status -------------------------------------------------------------------------------- */

static const struct grid_column columns[] = {
	{.key = "output", .title = "writes", .show = GRID_DATA},
	{.key = "output_text", .title = "writes", .show = GRID_FOR_PEOPLE},
	{.key = "collector", .title = "gputap", .type = GRID_ID},
	{.key = "state", .title = "state", .show = GRID_DATA},
	{.key = "why", .title = "why", .show = GRID_DATA},
	{.key = "state_text", .title = "state", .show = GRID_FOR_PEOPLE},
	{.key = "running_ns", .title = "since", .type = GRID_NS, .rank = 2},
	{.key = "changed_ago_ns", .title = "for", .type = GRID_NS, .show = GRID_DATA},
	{.key = "starts_in_ns", .title = "starts in", .type = GRID_NS, .show = GRID_DATA},
	{.key = "stops_in_ns", .title = "stops in", .type = GRID_NS, .show = GRID_DATA},
	{.key = "processes", .title = "processes", .type = GRID_COUNT, .rank = 4},
	{.key = "following", .title = "following", .type = GRID_COUNT, .show = GRID_DATA},
	{.key = "not_following", .title = "not following", .type = GRID_COUNT, .show = GRID_DATA},
	{.key = "recorded", .title = "records", .type = GRID_COUNT},
	{.key = "kernels", .title = "kernels", .type = GRID_COUNT, .show = GRID_DATA},
	{.key = "lost", .title = "lost", .type = GRID_COUNT, .show = GRID_IF_ANY, .bad = true},
	{.key = "bytes", .title = "size", .type = GRID_BYTES, .rank = 3},
	{.key = "windows", .title = "windows", .type = GRID_COUNT, .show = GRID_DATA},
	{.key = "capture", .title = "capture", .show = GRID_DATA},
	{.key = "folder", .title = "folder", .show = GRID_DATA},
	{.key = "pid", .title = "pid", .type = GRID_ID, .show = GRID_DATA},
	{.key = "pids", .title = "pids", .show = GRID_DATA},
	{.key = "command", .title = "program"},
};

static struct grid_cell number(const struct session_answer *a, const char *key)
{
	return *session_value(a, key) ? cell_count(session_number(a, key)) : cell_none();
}

static uint64_t difference(const struct session_answer *a, const char *to, const char *from)
{
	uint64_t x = session_number(a, to), y = session_number(a, from);

	return x > y ? x - y : 0;
}

static const char *describe_state(struct grid *g, const struct session_answer *a)
{
	uint64_t for_ns = difference(a, "now_ns", "changed_ns");

	if (*session_value(a, "starts_in_ns"))
		return grid_keep(g, "starts in %s",
				 show_duration(session_number(a, "starts_in_ns")));
	if (!strcmp(session_value(a, "state"), "paused"))
		return grid_keep(g, "paused %s", show_duration(for_ns));
	if (*session_value(a, "stops_in_ns"))
		return grid_keep(g, "stops in %s", show_duration(session_number(a, "stops_in_ns")));
	return session_number(a, "windows") > 1 || strcmp(session_value(a, "why"), "process")
		       ? grid_keep(g, "recording %s", show_duration(for_ns))
		       : "recording";
}

/* Return the end of a path, which is its most informative part. */
static const char *short_path(struct grid *g, const char *path)
{
	const char *end = path, *slash;

	while (text_width(end) > PATH_ROOM && (slash = strchr(end + 1, '/')))
		end = slash;
	return end == path ? path : grid_keep(g, "..%s", end);
}

static void add_session(struct grid *g, const struct session_list *list,
			const struct session_found *s)
{
	const struct session_answer *a = &s->status;
	struct grid_cell *cell = grid_row(g);

	if (!cell)
		return;
	*cell++ = cell_text(gt_file_name(session_value(a, "output")));
	*cell++ = cell_text(short_path(g, session_name(list, s)));
	*cell++ = number(a, "collector");
	*cell++ = cell_text(session_value(a, "state"));
	*cell++ = cell_text(session_value(a, "why"));
	*cell++ = cell_text(describe_state(g, a));
	*cell++ = cell_count(difference(a, "now_ns", "since_ns"));
	*cell++ = cell_count(difference(a, "now_ns", "changed_ns"));
	*cell++ = number(a, "starts_in_ns");
	*cell++ = number(a, "stops_in_ns");
	*cell++ = number(a, "processes");
	*cell++ = number(a, "following");
	*cell++ = number(a, "not_following");
	*cell++ = number(a, "recorded");
	*cell++ = number(a, "kernels");
	*cell++ = number(a, "lost");
	*cell++ = number(a, "bytes");
	*cell++ = number(a, "windows");
	*cell++ = cell_text(session_value(a, "capture"));
	*cell++ = cell_text(s->folder);
	*cell++ = number(a, "pid");
	*cell++ = cell_text(session_value(a, "pids"));
	*cell++ = cell_text(session_value(a, "command"));
}

/* Print which ranks keep others waiting, one sentence per line. */
static void print_hung(const struct hang_verdict *hung)
{
	for (size_t i = 0; i < hung->count; i++) {
		fputs(i ? "" : "\n", stdout);
		ui_wrap(stdout, 0, 2, hung->sentences[i]);
		fputc('\n', stdout);
	}
}

static void print_sessions(const struct session_list *list, const struct session_found *only,
			   const struct status_choice *choice)
{
	struct json j = {.out = stdout};
	struct hang_verdict hung = {0};
	struct stuck_list stuck;
	struct grid g;

	stuck_list_read(&stuck, list, only, choice->all ? 0 : STUCK_MS, choice->stacks);
	hung_jobs_find(&stuck, STUCK_MS * UINT64_C(1000000), &hung);

	grid_init(&g, "sessions", columns, sizeof columns / sizeof *columns);
	g.heading = "";
	g.none = "no session is running";
	for (size_t i = 0; i < list->count; i++)
		if (!only || only == &list->sessions[i])
			add_session(&g, list, &list->sessions[i]);
	if (choice->json) {
		json_object(&j, NULL);
		grid_print_json(&g, &j, 0);
		stuck_list_print_json(&stuck, &j);
		hung_jobs_print_json(&hung, &j);
		json_close(&j);
	} else {
		grid_print_text(&g, stdout, 0);
		print_hung(&hung);
		stuck_list_print_text(&stuck, stdout, choice->all, 0);
		stuck_list_print_stacks(&stuck, stdout, choice->all);
	}
	grid_fini(&g);
	hang_fini(&hung);
	stuck_list_fini(&stuck);
}

static int run_status(int argc, char **argv)
{
	struct session_list list;
	const struct session_found *only = NULL;
	struct status_choice choice = {0};
	int option, code = GT_EXIT_OK;

	gt_short_slice_take();
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":ah", status_options, NULL)) != -1)
		switch (option) {
		case OPT_JSON: choice.json = true; break;
		case OPT_STACKS: choice.stacks = true; break;
		case 'a': choice.all = true; break;
		case 'h': fputs(status_help, stdout); return GT_EXIT_OK;
		default: return ui_bad_option("status", argv, status_options);
		}
	if (argc - optind > 1)
		return ui_fail(GT_EXIT_USAGE, "only one session at a time; also given: '%s'",
			       argv[optind + 1]);
	if (session_list_read(&list, true))
		return ui_fail(GT_EXIT_FAILURE, "%s", "");
	if (argv[optind])
		code = session_find(&list, argv[optind], &only);
	if (!code)
		print_sessions(&list, only, &choice);
	if (!code && !only && list.silent_own)
		ui_note("%zu more session%s did not answer: is `gputap run` stopped?",
			list.silent_own, list.silent_own == 1 ? "" : "s");
	if (!code && !only && list.silent > list.silent_own)
		ui_note("%zu session%s of other users did not answer",
			list.silent - list.silent_own,
			list.silent - list.silent_own == 1 ? "" : "s");
	session_list_fini(&list);
	return code;
}

const struct gt_command gt_command_start = {"start", "resume recording in a paused session",
					    run_start};
const struct gt_command gt_command_stop = {"stop", "pause recording in a session", run_stop};
const struct gt_command gt_command_status = {"status", "list running sessions", run_status};
