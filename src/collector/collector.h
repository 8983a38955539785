/* SPDX-License-Identifier: MIT */
/* The collector: makes the session folder, starts the program, drains rings into a capture
 * until the program has ended, finishes the capture. One thread; poll, never spin. */
#ifndef GPUTAP_COLLECTOR_COLLECTOR_H
#define GPUTAP_COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ring/session.h"

struct gt_run_options {
	const char *output;     /* capture to write */
	bool replace;
	bool compress;
	bool wait_tree;         /* stay until every process of the tree has ended */
	struct gt_session session; /* what to record and how; magic, version, bytes, host_clock are filled in */
	const char *options_text;  /* for gt_session_info.options */
};

struct gt_run_result {
	int wait_status;        /* of the program, as waitpid() gives it */
	int exec_errno;         /* not 0: the program could not be started */
	uint32_t processes, runtimes;
	uint64_t seen, recorded, dropped;
	bool complete;
	int output_error;       /* negative errno: the capture could not take everything (disk full) */
};

/**
 * gt_collector_run() - trace argv[0] with argv from start to end
 * Return: 0, or negative errno with a cause when tracing could not even begin; the program was not started then.
 */
int gt_collector_run(const struct gt_run_options *options, char *const *argv, struct gt_run_result *result);

/* Finish a capture whose collector died. @directory: the session folder. */
int gt_collector_recover(const char *directory, FILE *tell, struct gt_run_result *result);

#endif
