/* SPDX-License-Identifier: MIT */
/* See where.h. */
#include "cli/where.h"

#include <stdio.h>

#include "analysis/query/filter_nothing.h"
#include "cli/command.h"
#include "cli/ui.h"

int where_print_error_of(const char *option, const char *expression,
			 const struct filter_error *error)
{
	unsigned before = 0;
	char part[512];

	snprintf(part, sizeof part, "%.*s",
		 (int)(error->at < sizeof part ? error->at : sizeof part - 1), expression);
	before = text_width(part);
	ui_fail(GT_EXIT_USAGE, "%s: %s", option, error->text);
	fputs("  ", stderr);
	ui_put(stderr, expression, UINT32_MAX);
	fprintf(stderr, "\n  %*s^\n", (int)before, "");
	return GT_EXIT_USAGE;
}

int where_print_error(const char *expression, const struct filter_error *error)
{
	return where_print_error_of("--where", expression, error);
}

void where_note_nothing(const struct filter *f, const char *expression, const char *of)
{
	char why[FILTER_WHY_BYTES];

	filter_explain_nothing(f, why);
	ui_note("--where '%s' matches no record%s%s%s", expression, of, *why ? ": " : "", why);
}
