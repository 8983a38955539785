/* SPDX-License-Identifier: MIT */
/* `gputap run --stacks`: calls whose stacks are recorded. */
#ifndef GPUTAP_CLI_RUN_STACKS_H
#define GPUTAP_CLI_RUN_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "ring/session.h"

/* Options for naming the frames of stacks after the program's end. */
struct run_stacks {
	bool no_names;     /* true if no frame names are added to the capture */
	uint64_t lines_ns; /* time limit for looking up the source lines of frames */
	bool is_chosen;    /* true if --stacks was given */
};
#define RUN_STACKS_USUAL ((struct run_stacks){.lines_ns = UINT64_C(2000000000)})

/* Parse @value: "launch,slow:1ms,gaps:1ms,lines:10s"; "no": none; NULL: launches and gaps.
 * @parse_time: converts "1ms" to ns. Return the exit code. */
int run_stacks_option(const char *value, struct gt_session *session, struct run_stacks *names,
		      bool (*parse_time)(const char *text, uint64_t *ns));
/* Without --stacks, choose the stacks of calls that end long gaps, if calls are recorded. @samples:
 * true if threads are sampled; source lines are then looked up. */
void run_stacks_default(struct gt_session *session, struct run_stacks *names, bool samples);
/* Check that the session records calls that can have stacks. Return the exit code. */
int run_stacks_check(const struct gt_session *session);
/* Write " stacks=launch,slow:1000000ns,no-names" for the capture's options text; "" without
 * stacks. */
void run_stacks_describe(const struct gt_session *session, const struct run_stacks *names,
			 char *text, size_t size);

/* Add frame names to a finished capture, if it contains stacks. Print notes about missing names and
 * failures. @quiet: no progress bar, no notes. */
void run_stacks_name(const char *path, const struct run_stacks *names, bool quiet);
/* Add frame names like run_stacks_name(), but without messages; may be called in any thread.
 * @names: struct run_stacks. */
void run_stacks_name_snapshot(const char *path, void *names);

#endif
