/* SPDX-License-Identifier: MIT */
/* `gputap run --stacks`: of which calls the stack is recorded. */
#ifndef GPUTAP_CLI_RUN_STACKS_H
#define GPUTAP_CLI_RUN_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "ring/session.h"

/* What becomes of the stacks when the program has ended. */
struct run_stacks {
	bool no_names;     /* the capture gets no names of frames */
	uint64_t lines_ns; /* for looking up their lines, at most */
};
#define RUN_STACKS_USUAL ((struct run_stacks){.lines_ns = UINT64_C(2000000000)})

/* @value: "launch,slow:1ms,lines:10s"; NULL: launches. @parse_time: "1ms" to ns. Return: exit
 * code. */
int run_stacks_option(const char *value, struct gt_session *session, struct run_stacks *names,
		      bool (*parse_time)(const char *text, uint64_t *ns));
/* Does the rest of the session leave calls that it can say the stacks of? Return: exit code. */
int run_stacks_check(const struct gt_session *session);
/* " stacks=launch,slow:1000000ns,no-names" for the capture's options text; "" without. */
void run_stacks_describe(const struct gt_session *session, const struct run_stacks *names,
			 char *text, size_t size);

/* Names of frames into a capture that is finished, if it has stacks; notes what they lack and a
 * failure. @quiet: no bar, no note. */
void run_stacks_name(const char *path, const struct run_stacks *names, bool quiet);
/* Without a word, in any thread. */
void run_stacks_name_snapshot(const char *path, void *names);

#endif
