/* SPDX-License-Identifier: MIT */
/* What `gputap run` was asked to record, as a capture's options text says it: reports say it in
 * their heads, and which of it met nothing. */
#ifndef GPUTAP_CLI_SELECTION_H
#define GPUTAP_CLI_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/mode.h"
#include "cli/summary.h"

enum { SELECTION_LINE = 1024 };

/* Lists are "" where all was asked for. */
struct capture_selection {
	const struct mode *mode;
	bool arguments, device, commands;
	char domains[128], operations[256], kernels[256];
};

/* @options: of a session; NULL or of an older gputap: all. */
void selection_read(const char *options, struct capture_selection *s);

/* Were calls asked for, beside the program's own annotations? */
bool selection_has_calls(const struct capture_selection *s);

/* "mode lite (kernels, ..); only domains hip". Return: false, and "": all was asked for. */
bool selection_describe(const struct capture_selection *s, char *text, size_t size);

/* "--ops clFoo, --kernels ^conv": what of the selection met nothing in @summary, which must be
 * of one capture, with names and without --where. Return: false, and "": all of it met
 * something. */
bool selection_unmet(const struct capture_selection *s, const struct summary *summary, char *text,
		     size_t size);

#endif
