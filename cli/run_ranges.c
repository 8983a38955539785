/* SPDX-License-Identifier: MIT */
/* See run_ranges.h. */
#include "cli/run_ranges.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/query/filter.h"
#include "analysis/query/filter_value.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "cli/where.h"

static const char *const options[GT_RANGE_EDGES] = {"--from", "--to"};

static int fail_at(enum gt_range_edge edge, const char *value, size_t at, const char *what)
{
	struct filter_error error = {.at = at};

	snprintf(error.text, sizeof error.text, "%s", what);
	return where_print_error_of(options[edge], value, &error);
}

/* Return true if @value has the form NAME#N. As with --where, names may contain '#', as in
 * "f()::{lambda()#1}". */
static bool is_counted(const char *value)
{
	const char *hash = strrchr(value, '#');

	return hash && hash > value && !hash[1 + strspn(hash + 1, "0123456789.")];
}

int run_ranges_option(struct gt_range_bound ranges[GT_RANGE_EDGES], enum gt_range_edge edge,
		      const char *value)
{
	struct gt_range_bound *bound = &ranges[edge];
	struct filter_occurrence_value which = {.name_bytes = strlen(value), .first = 1, .last = 1};
	size_t wrong;

	if (!*value)
		return fail_at(edge, value, 0, "a range's name is missing: step, step#3, layer*#2");
	if (is_counted(value)) {
		if (filter_parse_occurrence(value, strlen(value), false, &which, &wrong) < 0)
			return fail_at(edge, value, wrong,
				       "# must be followed by a number from 1: step#3");
		if (which.last != which.first)
			return fail_at(edge, value, which.name_bytes + 1,
				       "name one range: the first in --from, the last in --to");
	}
	if (which.name_bytes >= sizeof bound->name)
		return fail_at(edge, value, sizeof bound->name - 1, "this name is too long");
	memcpy(bound->name, value, which.name_bytes);
	bound->name[which.name_bytes] = '\0';
	bound->number = which.first;
	return GT_EXIT_OK;
}

int run_ranges_check(const struct gt_window_options *w)
{
	const struct gt_range_bound *from = &w->ranges[GT_RANGE_FROM],
				    *to = &w->ranges[GT_RANGE_TO];

	if ((from->number || to->number) && (w->delay_ns || w->duration_ns))
		return ui_fail(GT_EXIT_USAGE,
			       "%s is a time in the session, --from and --to are ranges of each "
			       "process: choose one",
			       w->delay_ns ? "--delay" : "--duration");
	if (from->number && to->number < from->number && to->number &&
	    !strcmp(from->name, to->name))
		return ui_fail(GT_EXIT_USAGE,
			       "--to %s#%" PRIu64 " ends before --from %s#%" PRIu64 " starts",
			       to->name, to->number, from->name, from->number);
	return GT_EXIT_OK;
}

void run_ranges_describe(const struct gt_range_bound ranges[GT_RANGE_EDGES], FILE *out)
{
	for (int i = 0; i < GT_RANGE_EDGES; i++)
		if (ranges[i].number)
			fprintf(out, " %s=%s#%" PRIu64, options[i] + 2, ranges[i].name,
				ranges[i].number);
}

/* Return "third", "number 11" and the like. */
static const char *which(uint64_t n, char text[32])
{
	static const char *const words[] = {"",       "first", "second", "third",
					    "fourth", "fifth", "sixth",  "seventh",
					    "eighth", "ninth", "tenth"};

	if (n < sizeof words / sizeof *words)
		return words[n];
	snprintf(text, 32, "number %" PRIu64, n);
	return text;
}

/* Print a note about a missing range. @what: "the recording window never opened" or the like. */
static void note_missing(const char *what, const struct gt_range_bound *bound, uint64_t begun)
{
	char text[32];

	if (!begun)
		ui_note("%s: no range '%s' started", what, bound->name);
	else if (begun >= bound->number)
		ui_note("%s: the range '%s#%" PRIu64 "' did not end", what, bound->name,
			bound->number);
	else if (begun == 1)
		ui_note("%s: the range '%s' started once; there was no %s", what, bound->name,
			which(bound->number, text));
	else
		ui_note("%s: the range '%s' started %" PRIu64 " times; there was no %s", what,
			bound->name, begun, which(bound->number, text));
}

void run_ranges_note(const struct gt_range_bound ranges[GT_RANGE_EDGES],
		     const struct gt_ranges_met *met)
{
	const struct gt_range_bound *from = &ranges[GT_RANGE_FROM], *to = &ranges[GT_RANGE_TO];

	if (from->number && !met->windows && met->missed)
		ui_note("the recording window never opened: '%s#%" PRIu64
			"' of --to ended before '%s#%" PRIu64 "' of --from started",
			to->name, to->number, from->name, from->number);
	else if (from->number && !met->windows && !met->begun[GT_RANGE_FROM] && met->lacks_torch)
		ui_note("the recording window never opened: no range named '%s' was seen; torch's "
			"ranges need gputap in torch's environment ('pip install gputap'; in "
			"the source tree 'pip install ./torch')",
			from->name);
	else if (from->number && !met->windows)
		note_missing("the recording window never opened", from, met->begun[GT_RANGE_FROM]);
	else if (to->number && !met->ended)
		note_missing("the recording window stayed open until the end", to,
			     met->begun[GT_RANGE_TO]);
}
