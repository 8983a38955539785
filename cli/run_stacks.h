/* SPDX-License-Identifier: MIT */
/* `gputap run --stacks`: of which calls the stack is recorded. */
#ifndef GPUTAP_CLI_RUN_STACKS_H
#define GPUTAP_CLI_RUN_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "ring/session.h"

/* @value: "launch,slow:1ms"; NULL: launches. @parse_time: "1ms" to ns. Return: exit code. */
int run_stacks_option(const char *value, struct gt_session *session,
		      bool (*parse_time)(const char *text, uint64_t *ns));
/* Does the rest of the session leave calls that it can say the stacks of? Return: exit code. */
int run_stacks_check(const struct gt_session *session);
/* " stacks=launch,slow:1000000ns" for the capture's options text; "" without. */
void run_stacks_describe(const struct gt_session *session, char *text, size_t size);

#endif
