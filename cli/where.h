/* SPDX-License-Identifier: MIT */
/* Prints errors of filter expressions, and notes about expressions that match nothing. */
#ifndef GPUTAP_CLI_WHERE_H
#define GPUTAP_CLI_WHERE_H

#include "analysis/query/filter.h"

/* Print the position and the reason of an error in the expression. Return GT_EXIT_USAGE. */
int where_print_error(const char *expression, const struct filter_error *error);
/* Print an error like where_print_error(), but for an option other than --where. */
int where_print_error_of(const char *option, const char *expression,
			 const struct filter_error *error);

/* Note on stderr that no record matched, with the reason. @of: kind of records; "": any kind. */
void where_note_nothing(const struct filter *f, const char *expression, const char *of);

#endif
