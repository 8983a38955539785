/* SPDX-License-Identifier: MIT */
/* Call stacks of threads of running sessions, as the collectors report them
 * (collector/thread_stacks.h), with the names of their functions. Frames of gputap are left out.
 * Native frames of an interpreter that runs Python are replaced with the Python functions. */
#ifndef GPUTAP_CLI_STUCK_STACKS_H
#define GPUTAP_CLI_STUCK_STACKS_H

#include "analysis/symbols/frames.h"
#include "cli/json.h"

struct stuck_raw_frame;

/* The stack of a thread. Zeroed initially. */
struct stuck_stack {
	bool is_there; /* the collector has answered: a stack or an error */
	int error;     /* errno; 0: there is a stack */
	uint8_t end;   /* GT_FRAMES_WHOLE, .. */
	struct stuck_raw_frame *raw;
	size_t raw_count, raw_room;
	struct gt_frame *frames; /* innermost first; set by stuck_names_find() */
	size_t count;
	char *text; /* a few lines, or why there is no stack; set by stuck_names_find() */
};

/* Add a line of an answer, "stack=.." or "frame=..". */
void stuck_stack_add(struct stuck_stack *s, const char *line);
void stuck_stack_fini(struct stuck_stack *s);
/* Print the members "stack" and "stack_error". */
void stuck_stack_print_json(const struct stuck_stack *s, struct json *j);

/* Names of functions, until stuck_names_destroy(). */
struct stuck_names;

/* Find the names of all frames, and make the texts. Lines in debug information are looked up for
 * a limited time. */
struct stuck_names *stuck_names_find(struct stuck_stack *const *list, size_t count);
void stuck_names_destroy(struct stuck_names *n); /* accepts NULL */

#endif
