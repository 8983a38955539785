/* SPDX-License-Identifier: MIT */
/* Commands of gputap. Each command has one file; cli/main.c lists them. */
#ifndef GPUTAP_CLI_COMMAND_H
#define GPUTAP_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

/* Exit codes of gputap itself. `gputap run` returns the program's exit code. */
enum {
	GT_EXIT_OK = 0,
	/* Bad input, or output that cannot be written. An error sentence names the problem and the
	 * solution */
	GT_EXIT_FAILURE = 1,
	/* Unknown option, command, domain and so on. The error names the nearest valid one */
	GT_EXIT_USAGE = 2,
	/* `gputap diff`: the captures cannot be compared, or only in part. For this command, 1 is a
	 * result */
	GT_EXIT_NO_ANSWER = 3,
	GT_EXIT_CANNOT_EXEC = 126,
	GT_EXIT_NOT_FOUND = 127 /* `gputap run`: the program was not found */
};

struct gt_command {
	const char *name;
	const char *summary;               /* one line for `gputap --help` */
	int (*run)(int argc, char **argv); /* argv[0] is the name of the command */
};

extern const struct gt_command gt_command_run, gt_command_report, gt_command_export,
	gt_command_info, gt_command_list, gt_command_merge, gt_command_recover, gt_command_doctor,
	gt_command_plugin, gt_command_soft, gt_command_top, gt_command_diff, gt_command_start,
	gt_command_stop, gt_command_status, gt_command_snapshot, gt_command_what_if,
	gt_command_attach, gt_command_detach;

/* Print the summary at the end of `gputap run`, in at most twenty lines. @store: store the summary
 * in a large capture. Return 0 or negative errno with a cause. */
int gt_report_short(const char *capture, bool store, FILE *out);
/* Write a clause about the runtimes that can be traced on this machine. Takes a few ms. */
void gt_doctor_short(char *text, size_t size);

#endif
