/* SPDX-License-Identifier: MIT */
/* gputap snapshot: saves a capture of a running session. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/session_find.h"
#include "cli/ui.h"
#include "util/error.h"

static const char help[] =
	"gputap snapshot [options] [SESSION]\n"
	"\n"
	"Write a capture of a running session: the retained records of `gputap run\n"
	"--keep`, else all records so far. The program and its recording continue.\n"
	"SESSION is the name of the session's capture or the id of one of its processes\n"
	"(`gputap run` or any traced process); default: the only running session.\n"
	"\n"
	"Examples\n"
	"  gputap snapshot                    writes last.1.gputap next to last.gputap\n"
	"  gputap snapshot -o slow.gputap     then: gputap report slow.gputap\n"
	"  gputap snapshot 4711               the session of process 4711\n"
	"\n"
	"Options\n"
	"  -o, --output FILE  write to FILE; default: derived from the capture's name\n"
	"  -f, --force        replace FILE if it exists\n"
	"      --stacks       also save the call stacks of threads in calls or without\n"
	"                     progress; `gputap report -t open` shows them\n"
	"  -q, --quiet        print nothing\n"
	"  -h, --help\n";

enum { OPT_STACKS = 256 };

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},  {"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'}, {"stacks", no_argument, NULL, OPT_STACKS},
	{"quiet", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0},
};

/* Return the request "snapshot path=.. replace=yes stacks=yes", which the caller frees. NULL: an
 * error was printed. */
static char *make_request(const char *output, bool force, bool stacks)
{
	char folder[PATH_MAX] = "", path[2 * PATH_MAX], *word, *request;

	if (!output)
		return strdup(stacks ? "snapshot stacks=yes" : "snapshot");
	if (output[0] != '/' && !getcwd(folder, sizeof folder)) {
		ui_fail(GT_EXIT_FAILURE, "cannot get the current folder: %m");
		return NULL;
	}
	snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", output);
	word = session_escape(path);
	if (!word || asprintf(&request, "snapshot path=%s%s%s", word, force ? " replace=yes" : "",
			      stacks ? " stacks=yes" : "") < 0)
		request = NULL;
	free(word);
	return request;
}

/* Wait until the snapshot has been written or has failed. */
static int wait_for(const char *folder, uint64_t number, bool quiet)
{
	const struct timespec nap = {0, 10000000};
	char request[64];

	snprintf(request, sizeof request, "snapshot-state number=%llu", (unsigned long long)number);
	for (;;) {
		struct session_answer now;
		const char *state;
		int code = -1;

		int status = session_ask(folder, request, &now);

		if (status == -ETIMEDOUT || status == -EINVAL)
			return ui_fail(GT_EXIT_FAILURE, "snapshot %llu",
				       (unsigned long long)number);
		gt_error_clear();
		if (status)
			return ui_fail(GT_EXIT_FAILURE,
				       "the session has ended; its records are in its capture");
		state = session_value(&now, "state");
		if (!strcmp(state, "written")) {
			code = GT_EXIT_OK;
			if (!quiet)
				ui_note("wrote %s", show_shell_word(session_value(&now, "path")));
		} else if (!strcmp(state, "failed")) {
			code = ui_fail(GT_EXIT_FAILURE, "%s", session_value(&now, "error"));
		}
		session_answer_fini(&now);
		if (code >= 0)
			return code;
		nanosleep(&nap, NULL);
	}
}

static int take(const char *which, const char *output, bool force, bool quiet, bool stacks)
{
	struct session_list list;
	struct session_answer answer;
	const struct session_found *s;
	char *request;
	int code;

	if (session_list_read(&list, false))
		return ui_fail(GT_EXIT_FAILURE, "cannot list sessions");
	code = session_find(&list, which, &s);
	if (!code && output && !force && !access(output, F_OK))
		code = ui_fail(GT_EXIT_FAILURE, "%s exists: -f replaces it",
			       show_shell_word(output));
	request = code ? NULL : make_request(output, force, stacks);
	if (!code && !request) {
		code = GT_EXIT_FAILURE;
	} else if (!code && session_ask(s->folder, request, &answer)) {
		code = ui_fail(GT_EXIT_FAILURE, "%s", session_value(&s->status, "output"));
	} else if (!code) {
		code = wait_for(s->folder, session_number(&answer, "number"), quiet);
		session_answer_fini(&answer);
	}
	free(request);
	session_list_fini(&list);
	return code;
}

static int run(int argc, char **argv)
{
	const char *output = NULL;
	bool force = false, quiet = false, stacks = false;
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":ho:fq", options, NULL)) != -1)
		switch (option) {
		case 'o': output = optarg; break;
		case 'f': force = true; break;
		case OPT_STACKS: stacks = true; break;
		case 'q': quiet = true; break;
		case 'h': fputs(help, stdout); return GT_EXIT_OK;
		default: return ui_bad_option("snapshot", argv, options);
		}
	if (argc - optind > 1)
		return ui_fail(GT_EXIT_USAGE, "only one session at a time; also given: '%s'",
			       argv[optind + 1]);
	if (output && !text_ends_with(output, ".gputap"))
		return ui_fail(GT_EXIT_USAGE, "%s: the name of a snapshot must end in .gputap",
			       output);
	return take(argv[optind], output, force, quiet, stacks);
}

const struct gt_command gt_command_snapshot = {"snapshot", "write a capture of a running session",
					       run};
