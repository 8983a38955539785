/* SPDX-License-Identifier: MIT */
/* gputap recover: completes captures whose collector was killed. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/run_stacks.h"
#include "cli/ui.h"
#include "cli/untraced_note.h"
#include "collector/collector.h"

static const char help[] =
	"gputap recover [FOLDER ...]\n"
	"\n"
	"Finish a capture whose `gputap run` was killed. The records of the programs are\n"
	"in the session's folder. recover adds them to the capture and removes the\n"
	"folder. Programs of the session that still run continue unrecorded.\n"
	"\n"
	"Examples\n"
	"  gputap recover                              list what can be recovered\n"
	"  gputap recover /dev/shm/gputap-1000-x7Ks2q  finish the capture of that session\n";

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void list_one(const struct gt_session_found *found, void *data)
{
	unsigned *count = data;

	/* paths may contain any characters, and any user can write to /tmp */
	ui_put(stdout, found->path, UINT32_MAX);
	fputs(found->collector_pid ? "  is being written to " : "  left from ", stdout);
	ui_put(stdout, *found->output ? found->output : "an unnamed capture", UINT32_MAX);
	if (found->collector_pid) {
		printf(" by process %u\n", found->collector_pid);
		return;
	}
	puts(found->in_use ? "; some of its programs still run" : "");
	++*count;
}

static int list_sessions(void)
{
	unsigned count = 0;

	gt_collector_sessions(list_one, &count);
	if (count)
		printf("\n'gputap recover FOLDER' finishes a capture.\n");
	else
		printf("no session to recover\n");
	return GT_EXIT_OK;
}

static int recover(const char *folder)
{
	struct run_stacks stacks = RUN_STACKS_USUAL;
	struct gt_run_result result;
	char output[PATH_MAX];
	int status = gt_collector_recover(folder, output, &result);

	if (status == -ENODATA) {
		ui_fail(GT_EXIT_FAILURE, "nothing to recover");
		return GT_EXIT_FAILURE;
	}
	if (status == -EALREADY) {
		ui_note("%s had nothing left to finish and was removed", folder);
		return GT_EXIT_OK;
	}
	if (status) {
		ui_fail(GT_EXIT_FAILURE, "cannot recover %s", folder);
		fputs("  'gputap recover' lists the sessions that can be finished\n", stderr);
		return GT_EXIT_FAILURE;
	}
	run_stacks_name(output, &stacks, false);
	ui_note("finished %s with %s records of %u process%s that were still in memory", output,
		show_count(result.recorded), result.processes, result.processes == 1 ? "" : "es");
	if (result.dropped > result.unfinished)
		ui_note("%s records are lost: the rings were full after the collector was killed",
			show_count(result.dropped - result.unfinished));
	if (result.is_rebuilt)
		ui_note("the session's journal is missing or damaged: losses of its ended threads "
			"are unknown, so the capture is not complete");
	untraced_note(output);
	if (result.still_running)
		ui_note("%u process%s of the session still run%s, unrecorded from now on",
			result.still_running, result.still_running == 1 ? "" : "es",
			result.still_running == 1 ? "s" : "");
	return GT_EXIT_OK;
}

static int run_recover(int argc, char **argv)
{
	int option, code = GT_EXIT_OK;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (option != 'h')
			return ui_bad_option("recover", argv, options);
		fputs(help, stdout);
		return GT_EXIT_OK;
	}
	if (optind == argc)
		return list_sessions();
	umask(S_IRWXG | S_IRWXO);
	for (int i = optind; i < argc; i++)
		if (recover(argv[i]))
			code = GT_EXIT_FAILURE;
	return code;
}

const struct gt_command gt_command_recover = {"recover",
					      "finish captures whose collector was killed",
					      run_recover};
