/* SPDX-License-Identifier: MIT */
/* The commands of gputap: one file each, listed in cli/main.c. */
#ifndef GPUTAP_CLI_COMMAND_H
#define GPUTAP_CLI_COMMAND_H

#include <stdio.h>

/* Exit codes of gputap itself. `gputap run` passes the program's own through. */
enum {
	GT_EXIT_OK = 0,
	/* the input is bad, the output cannot be written: one sentence says what and the way out */
	GT_EXIT_FAILURE = 1,
	/* unknown option, command, domain, .. : the nearest right one is named */
	GT_EXIT_USAGE = 2,
	/* `gputap diff`, whose 1 is an answer: captures that cannot be compared, or only in part */
	GT_EXIT_NO_ANSWER = 3,
	GT_EXIT_CANNOT_EXEC = 126,
	GT_EXIT_NOT_FOUND = 127 /* `gputap run`: no such program */
};

struct gt_command {
	const char *name;
	const char *summary;               /* one line for `gputap --help` */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct gt_command gt_command_run, gt_command_report, gt_command_export,
	gt_command_info, gt_command_list, gt_command_merge, gt_command_recover, gt_command_doctor,
	gt_command_plugin, gt_command_soft, gt_command_top, gt_command_diff, gt_command_start,
	gt_command_stop, gt_command_status, gt_command_snapshot;

/* Where the time went, in at most twenty lines, for the end of `gputap run`. Return: 0 or
 * negative errno with a cause. */
int gt_report_short(const char *capture, FILE *out);
/* Half a sentence on what can be traced on this machine; takes a few ms. */
void gt_doctor_short(char *text, size_t size);

#endif
