/* SPDX-License-Identifier: MIT */
/* Reads the selection of records in `gputap run` from a capture's options text. Reports print the
 * selection in their heads, and the parts of it that matched nothing. */
#ifndef GPUTAP_ANALYSIS_TABLES_SELECTION_H
#define GPUTAP_ANALYSIS_TABLES_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/tables/modes.h"
#include "analysis/tables/summary.h"

enum { SELECTION_LINE = 1024 };

/* A selection. A list is "" if it selects everything. */
struct capture_selection {
	const struct mode *mode;
	bool arguments, device, commands;
	char domains[128], operations[256], kernels[256];
};

/* Read the selection. @options: options text of a session; NULL or from an older gputap:
 * everything. */
void selection_read(const char *options, struct capture_selection *s);

/* Return true if the selection includes calls other than the program's own annotations. */
bool selection_has_calls(const struct capture_selection *s);

/* Write "mode lite (kernels); only domains hip" and the like. Return false, and "", if everything
 * was requested. */
bool selection_describe(const struct capture_selection *s, char *text, size_t size);

/* Write "--ops clFoo, --kernels ^conv": the parts of the selection that matched nothing in
 * @summary. @summary must be made from one capture, with names and without --where. Return false,
 * and "", if all parts matched. */
bool selection_unmet(const struct capture_selection *s, const struct summary *summary, char *text,
		     size_t size);

#endif
