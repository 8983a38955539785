/* SPDX-License-Identifier: MIT */
/* Prints the result of gputap diff as text, CSV, JSON or Markdown. Keys never change. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff.h"
#include "analysis/tables/selection.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "cli/ui.h"
#include "config.h"

enum { USUAL_TOP = 10, CHANGES_SHOWN = 3, LABEL = 11 };

static const char *const headings[DIFF_TABLE_COUNT] = {
	[DIFF_TOTALS] = "Totals",
	[DIFF_DEVICES] = "Devices, from first to last activity",
	[DIFF_IDLE] = "Idle time of devices by cause",
	[DIFF_RANKS] = "Ranks",
	[DIFF_KERNELS] = "Kernels",
	[DIFF_COPIES] = "Copies, memsets and maps",
	[DIFF_OTHER] = "Other GPU activities",
	[DIFF_GRAPHS] = "Graphs, by launch",
	[DIFF_RANGES] = "Ranges of the program",
	[DIFF_GPU_BY_RANGE] = "Operators: GPU activities by innermost range",
	[DIFF_OPERATIONS] = "Operations: calls of the host",
};

/* clang-format off */
static const struct grid_column columns[] = {
	{"added", "change", GRID_TEXT, GRID_FOR_PEOPLE, 0, false},
	{"ratio", "ratio", GRID_TEXT, GRID_FOR_PEOPLE, 0, false},
	{"count", "count", GRID_TEXT, GRID_FOR_PEOPLE_IF_ANY, 4, false},
	{"baseline", "baseline", GRID_TEXT, GRID_FOR_PEOPLE, 2, false},
	{"candidate", "candidate", GRID_TEXT, GRID_FOR_PEOPLE, 2, false},
	{"each", "each", GRID_TEXT, GRID_FOR_PEOPLE_IF_ANY, 1, false},
	{"interval", "95%", GRID_TEXT, GRID_FOR_PEOPLE_IF_ANY, 3, false},
	{"verdict", "verdict", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"by", "by", GRID_TEXT, GRID_DATA, 0, false},
	{"over_limit", "over limit", GRID_COUNT, GRID_DATA, 0, false},
	{"q", "q", GRID_SHARE, GRID_DATA, 0, false},
	{"change", "change", GRID_SHARE, GRID_DATA, 0, false},
	{"change_ns", "change_ns", GRID_SIGNED, GRID_DATA, 0, false},
	{"share", "share", GRID_SHARE, GRID_DATA, 0, false},
	{"total_baseline_ns", "total of baseline", GRID_NS, GRID_DATA, 0, false},
	{"total_candidate_ns", "total of candidate", GRID_NS, GRID_DATA, 0, false},
	{"count_baseline", "count of baseline", GRID_SHARE, GRID_DATA, 0, false},
	{"count_candidate", "count of candidate", GRID_SHARE, GRID_DATA, 0, false},
	{"change_of_count", "change of count", GRID_SHARE, GRID_DATA, 0, false},
	{"verdict_of_count", "verdict on count", GRID_TEXT, GRID_DATA, 0, false},
	{"q_of_count", "q of count", GRID_SHARE, GRID_DATA, 0, false},
	{"median_baseline_ns", "median of baseline", GRID_NS, GRID_DATA, 0, false},
	{"median_baseline_low_ns", "median of baseline, low", GRID_NS, GRID_DATA, 0, false},
	{"median_baseline_high_ns", "median of baseline, high", GRID_NS, GRID_DATA, 0, false},
	{"median_candidate_ns", "median of candidate", GRID_NS, GRID_DATA, 0, false},
	{"median_candidate_low_ns", "median of candidate, low", GRID_NS, GRID_DATA, 0, false},
	{"median_candidate_high_ns", "median of candidate, high", GRID_NS, GRID_DATA, 0, false},
	{"median_change", "median change", GRID_SHARE, GRID_DATA, 0, false},
	{"median_change_low", "median change, low", GRID_SHARE, GRID_DATA, 0, false},
	{"median_change_high", "median change, high", GRID_SHARE, GRID_DATA, 0, false},
	{"mean_change", "mean change", GRID_SHARE, GRID_DATA, 0, false},
	{"mean_change_low", "mean change, low", GRID_SHARE, GRID_DATA, 0, false},
	{"mean_change_high", "mean change, high", GRID_SHARE, GRID_DATA, 0, false},
	{"total_is_noise", "total is noise", GRID_COUNT, GRID_DATA, 0, false},
	{"renamed", "renamed", GRID_COUNT, GRID_DATA, 0, false},
	{"name_baseline", "name in baseline", GRID_TEXT, GRID_DATA, 0, false},
	{"device", "device", GRID_ID, GRID_IF_ANY, 0, false},
	{"rank", "rank", GRID_ID, GRID_IF_ANY, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};
/* clang-format on */
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

/* Rows --------------------------------------------------------------------------------- */

static const char *signed_time(struct grid *g, double ns)
{
	return grid_keep(g, "%s%s",
			 ns > 0.5    ? "+"
			 : ns < -0.5 ? "-"
				     : "",
			 show_duration(diff_whole_ns(ns)));
}

/* Format a change as "+5.1%", or as a factor if it is 2 or more. */
void diff_put_change(char *text, size_t size, double change)
{
	double times = 1 + change;

	if (fabs(change) < 0.0005)
		snprintf(text, size, "0.0%%"); /* printed without a sign */
	else if (change >= 1)
		snprintf(text, size, "x%.*f", times < 9.995 ? 2 : times < 99.95 ? 1 : 0, times);
	else
		snprintf(text, size, "%+.1f%%", change * 100);
}

/* Format one end of an interval. The digits of extreme ends are not significant. */
static void put_bound(char *text, size_t size, double change)
{
	if (change > 99)
		snprintf(text, size, ">x100");
	else if (change < -0.99)
		snprintf(text, size, "<-99%%");
	else
		diff_put_change(text, size, change);
}

static const char *count_text(struct grid *g, const double *count)
{
	const char *text[DIFF_SIDES];

	if (count[0] <= 0 && count[1] <= 0) /* the row consists of one number */
		return "";
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		text[side] = count[side] == floor(count[side]) ? show_count((uint64_t)count[side])
							       : grid_keep(g, "%.1f", count[side]);
	return count[0] == count[1] ? grid_keep(g, "%s", text[0])
				    : grid_keep(g, "%s > %s", text[0], text[1]);
}

static const struct diff_estimate *estimate_of(const struct diff_pair *pair)
{
	return pair->by == DIFF_MEAN ? &pair->of_mean : &pair->of_median;
}

/* Return the compared value; for a row on one side only, the row's median or total. */
static double value_of(const struct diff_pair *pair, unsigned side)
{
	const struct diff_estimate *e = estimate_of(pair);

	if (pair->by == DIFF_TOTAL)
		return pair->total_ns[side];
	if (e->known)
		return side ? e->candidate : e->baseline;
	return pair->has_median[side] ? pair->median[side] : pair->total_ns[side];
}

/* Return the name of the statistic that the verdict uses. */
static const char *measure_of(const struct diff_result *result, const struct diff_pair *pair)
{
	return pair->by == DIFF_MEDIAN ? "median"
	       : pair->by == DIFF_TOTAL || result->method != DIFF_BY_BLOCKS ||
			       pair->table == DIFF_IDLE
		       ? "total"
		       : "mean";
}

static struct grid_cell ns_cell(double ns, bool has)
{
	return has ? cell_count(diff_whole_ns(ns)) : cell_none();
}

static struct grid_cell real_cell(double value, bool has)
{
	return has ? cell_real(value) : cell_none();
}

static struct grid_cell *put_estimate(struct grid_cell *cell, const struct diff_estimate *e)
{
	*cell++ = real_cell(e->change, e->known);
	*cell++ = real_cell(e->low, e->judged);
	*cell++ = real_cell(e->high, e->judged);
	return cell;
}

static const char *verdict_text(const struct diff_pair *pair)
{
	return pair->verdict == DIFF_TOO_FEW && !diff_has_values(pair->table)
		       ? "one run"
		       : diff_verdict_name(pair->verdict);
}

static struct grid_cell verdict_cell(const struct diff_pair *pair)
{
	struct grid_cell cell = cell_text(verdict_text(pair));

	if (pair->verdict == DIFF_SLOWER || pair->over)
		cell.tone = CELL_BAD;
	else if (pair->verdict == DIFF_FASTER)
		cell.tone = CELL_GOOD;
	return cell;
}

/* Fill in the columns of the text form. */
static struct grid_cell *put_people(struct grid *g, struct grid_cell *cell,
				    const struct diff_result *result, const struct diff_pair *pair)
{
	const struct diff_estimate *e = estimate_of(pair);
	bool both = pair->verdict != DIFF_NEW && pair->verdict != DIFF_GONE;
	/* a row that consists of one number has only a total */
	bool each = both && e->known && pair->by != DIFF_TOTAL && diff_has_values(pair->table) &&
		    pair->table != DIFF_IDLE;
	char change[32] = "", ratio[32] = "", low[32], high[32];

	if (each)
		diff_put_change(change, sizeof change, e->change);
	else if (both && diff_has_values(pair->table) && pair->table != DIFF_IDLE &&
		 diff_is_significant(e))
		snprintf(change, sizeof change, e->change < 0 ? "faster" : "slower");
	if (diff_total_is_noise(pair))
		snprintf(ratio, sizeof ratio, "noise");
	else if (both && pair->total_ns[DIFF_BASELINE] > 0)
		diff_put_change(ratio, sizeof ratio, diff_change_of_total(pair));
	*cell++ = cell_text(diff_total_is_noise(pair) ? "noise"
						      : signed_time(g, diff_added_ns(pair)));
	*cell++ = cell_text(grid_keep(g, "%s", ratio));
	*cell++ = cell_text(count_text(g, pair->count));
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		*cell++ = cell_text(
			pair->verdict == (side ? DIFF_GONE : DIFF_NEW)
				? ""
				: grid_keep(g, "%s",
					    show_duration(diff_whole_ns(value_of(pair, side)))));
	/* a change that names no statistic is a change of medians */
	*cell++ =
		cell_text(*change && pair->by == DIFF_MEAN && pair->judged && pair->has_median[0] &&
					  result->method != DIFF_BY_OCCURRENCES
				  ? grid_keep(g, "%s (%s)", change, measure_of(result, pair))
				  : grid_keep(g, "%s", change));
	/* with several runs, rows that consist of one number also have an interval */
	if (e->judged && both && pair->by != DIFF_TOTAL) {
		put_bound(low, sizeof low, e->low);
		put_bound(high, sizeof high, e->high);
		*cell++ = cell_text(grid_keep(g, "%s..%s", low, high));
	} else {
		*cell++ = cell_text("");
	}
	return cell;
}

static void put_row(struct grid *g, const struct diff_result *result, const struct diff_pair *pair)
{
	struct grid_cell *cell = grid_row(g);

	cell = put_people(g, cell, result, pair);
	*cell++ = verdict_cell(pair);
	*cell++ = pair->judged ? cell_text(measure_of(result, pair)) : cell_none();
	*cell++ = cell_count(pair->over);
	*cell++ = real_cell(pair->q, pair->judged);
	*cell++ = real_cell(diff_change_of_total(pair), pair->total_ns[DIFF_BASELINE] > 0);
	*cell++ = cell_signed((int64_t)llround(diff_added_ns(pair)));
	*cell++ = cell_real(fabs(pair->share) < 0.0005 ? 0 : pair->share);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		*cell++ = ns_cell(pair->total_ns[side], true);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		*cell++ = pair->count[side] == floor(pair->count[side])
				  ? cell_count((uint64_t)pair->count[side])
				  : cell_real(pair->count[side]);
	*cell++ = real_cell(pair->count[DIFF_CANDIDATE] - pair->count[DIFF_BASELINE],
			    pair->count_verdict != DIFF_COUNT_UNKNOWN);
	*cell++ = pair->count_verdict != DIFF_COUNT_UNKNOWN
			  ? cell_text(diff_count_verdict_name(pair->count_verdict))
			  : cell_none();
	*cell++ = real_cell(pair->count_q, pair->count_judged);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		*cell++ = ns_cell(pair->median[side], pair->has_median[side]);
		*cell++ = ns_cell(pair->median_low[side], pair->has_median[side]);
		*cell++ = ns_cell(pair->median_high[side], pair->has_median[side]);
	}
	cell = put_estimate(cell, &pair->of_median);
	cell = put_estimate(cell, &pair->of_mean);
	*cell++ = cell_count(diff_total_is_noise(pair));
	*cell++ = cell_count(pair->renamed);
	*cell++ = strcmp(pair->name, pair->name_baseline) != 0 ? cell_text(pair->name_baseline)
							       : cell_none();
	*cell++ = pair->device != LOOKUP_NONE ? cell_count(pair->device) : cell_none();
	*cell++ = pair->rank != LOOKUP_NONE ? cell_count(pair->rank) : cell_none();
	*cell = cell_text(pair->name);
}

static void make_table(struct grid *g, const struct diff_result *result, enum diff_table table)
{
	grid_init(g, diff_table_names[table], columns, COLUMN_COUNT);
	g->heading = headings[table];
	g->usual_top = USUAL_TOP;
	for (size_t i = 0; i < result->pair_count; i++)
		if (result->pairs[i].table == table)
			put_row(g, result, &result->pairs[i]);
}

static size_t rows_of(const struct grid *g, const struct diff_options *options)
{
	if (options->top >= 0)
		return (size_t)options->top;
	return options->json || options->csv ? 0 : g->usual_top;
}

/* Text --------------------------------------------------------------------------------- */

/* Print the files of a side in one line. */
static void print_side(const struct diff_result *result, unsigned at, FILE *out)
{
	const struct diff_side *side = &result->sides[at];
	const struct diff_run *run = &side->runs[0];
	const struct ui_colors *c = ui_colors(out);
	const unsigned room = ui_room(out) - LABEL;
	char more[64] = "", *text;
	unsigned used;

	if (side->run_count > 1)
		snprintf(more, sizeof more, " and %zu more run%s", side->run_count - 1,
			 side->run_count == 2 ? "" : "s");
	else if (run->path_count > 1)
		snprintf(more, sizeof more, " and %zu more of the same run", run->path_count - 1);
	fprintf(out, "%s%-*s%s", c->bold, LABEL, at ? "candidate" : "baseline", c->reset);
	used = (unsigned)strlen(more) + (side->expression ? room / 2 : 0);
	used = ui_put_end(out, run->paths[0], room > used ? room - used : room);
	if (asprintf(&text, "%s%s%s", more, side->expression ? ", where " : "",
		     side->expression ? side->expression : "") >= 0) {
		ui_put(out, text, room > used ? room - used : 1);
		free(text);
	}
	fputc('\n', out);
}

/* Print the command of a side, its time, and the records that are missing. */
static void print_runs(const struct diff_result *result, unsigned at, FILE *out)
{
	const struct diff_side *side = &result->sides[at];
	const struct diff_run *run = &side->runs[0];
	const struct ui_colors *c = ui_colors(out);
	const char *name = result->parts ? "run" : at ? "candidate" : "baseline";
	uint64_t records = 0, dropped = 0, untraced = 0, least = run->wall_ns, most = run->wall_ns;
	const bool several = side->run_count > 1;

	for (size_t i = 0; i < side->run_count; i++) {
		least = side->runs[i].wall_ns < least ? side->runs[i].wall_ns : least;
		most = side->runs[i].wall_ns > most ? side->runs[i].wall_ns : most;
		records += side->runs[i].records;
		dropped += side->runs[i].dropped;
		untraced += side->runs[i].untraced;
	}
	if (!at || !result->parts) {
		ui_print_sentence(out, NULL, "%c%s: %s%s%s%s%s%s%s, %s record%s%s", name[0] - 32,
				  name + 1, run->command, *run->command ? ", " : "",
				  show_duration(least), several ? " to " : "",
				  several ? show_duration(most) : "", *run->host ? " on " : "",
				  run->host, show_count(records), records == 1 ? "" : "s",
				  several ? " in all" : "");
		if (*run->part)
			ui_print_sentence(out, NULL, "%s%s", several ? "The first run: " : "",
					  run->part);
	}
	if (dropped)
		ui_print_sentence(out, c->red, "%s records were lost", show_count(dropped));
	if (untraced)
		ui_print_sentence(out, c->red, "%s program%s not traced; 'gputap info' lists them",
				  show_count(untraced), untraced == 1 ? " was" : "s were");
	if (!diff_side_is_whole(side))
		ui_print_sentence(out, c->red,
				  "Damaged or incomplete input: missing records look like "
				  "differences. See 'gputap info'.");
}

/* Sentences about differences between the first runs of both sides that make a comparison less
 * reliable; "": none. */
struct differences {
	char devices[1024], selection[2 * SELECTION_LINE + 64], programs[256], alike[160];
};

/* Return the length of the program's name in a command, without its folder, and its start. */
static int find_program(const char *command, const char **start)
{
	const size_t bytes = strcspn(command, " ");

	*start = command;
	for (size_t i = 0; i < bytes; i++)
		if (command[i] == '/')
			*start = command + i + 1;
	return (int)(bytes - (size_t)(*start - command));
}

static void find_differences(const struct diff_result *result, struct differences *d)
{
	const struct diff_run *baseline = &result->sides[0].runs[0],
			      *candidate = &result->sides[1].runs[0];
	uint64_t alike = 0;

	const char *before, *after;
	const int bytes_before = find_program(baseline->command, &before),
		  bytes_after = find_program(candidate->command, &after);

	*d->devices = *d->selection = *d->programs = *d->alike = '\0';
	if (bytes_before && bytes_after &&
	    (bytes_before != bytes_after || strncmp(before, after, (size_t)bytes_before) != 0))
		snprintf(d->programs, sizeof d->programs,
			 "Programs differ: baseline: %.*s; candidate: %.*s.",
			 bytes_before > 80 ? 80 : bytes_before, before,
			 bytes_after > 80 ? 80 : bytes_after, after);
	if (baseline->devices && candidate->devices &&
	    strcmp(baseline->devices, candidate->devices) != 0)
		snprintf(d->devices, sizeof d->devices,
			 "Devices differ: baseline: %.480s; candidate: %.480s.",
			 *baseline->devices ? baseline->devices : "none",
			 *candidate->devices ? candidate->devices : "none");
	if (strcmp(baseline->selection, candidate->selection) != 0)
		snprintf(d->selection, sizeof d->selection,
			 "Recording differs: baseline: %s; candidate: %s.",
			 *baseline->selection ? baseline->selection : "all",
			 *candidate->selection ? candidate->selection : "all");
	for (size_t i = 0; i < result->pair_count; i++)
		alike += !result->pairs[i].renamed &&
			 strcmp(result->pairs[i].name, result->pairs[i].name_baseline) != 0;
	if (alike)
		snprintf(d->alike, sizeof d->alike,
			 "%s %s only in numbers chosen by a compiler and %s aligned (--json prints "
			 "both).",
			 show_count(alike),
			 alike == 1 ? "kernel name differs" : "kernel names differ",
			 alike == 1 ? "is" : "are");
}

static void print_differences(const struct diff_result *result, FILE *out)
{
	const char *yellow = ui_colors(out)->yellow;
	struct differences d;

	find_differences(result, &d);
	if (*d.programs)
		ui_print_sentence(out, yellow, "%s", d.programs);
	if (*d.devices)
		ui_print_sentence(out, yellow, "%s", d.devices);
	if (*d.selection)
		ui_print_sentence(out, yellow, "%s", d.selection);
	if (*d.alike)
		ui_print_sentence(out, NULL, "%s", d.alike);
}

static void print_limit(const struct diff_result *result, const char *limit, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	const size_t new = result->verdicts[DIFF_NEW];
	char uncounted[96] = "";
	bool by_count = false;

	if (new) /* only the name may have changed */
		snprintf(uncounted, sizeof uncounted,
			 "; %s row%s only in the candidate %s not counted", show_count(new),
			 new == 1 ? "" : "s", new == 1 ? "is" : "are");
	for (size_t i = 0; i < result->pair_count; i++)
		by_count |= result->pairs[i].over && result->pairs[i].verdict != DIFF_SLOWER;
	if (result->over)
		ui_print_sentence(out, c->red,
				  "--fail-over %s: %s row%s got slower%s by more than the "
				  "limit%s.",
				  limit, show_count(result->over), result->over == 1 ? "" : "s",
				  by_count ? ", or more frequent," : "", uncounted);
	else
		ui_print_sentence(out, c->green,
				  "--fail-over %s: no row got slower by more than the limit%s.",
				  limit, uncounted);
}

static void print_judgement(const struct diff_result *result, const struct diff_options *options,
			    FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	const size_t *v = result->verdicts;
	char text[DIFF_TEXT];

	if (result->per_unit)
		ui_print_sentence(out, NULL,
				  "Counts and changes are per '%s': baseline %s, candidate %s.",
				  result->unit, show_count(result->sides[0].units),
				  show_count(result->sides[1].units));
	else if (result->sides[0].run_count + result->sides[1].run_count > 2)
		ui_print_sentence(out, NULL, "Counts and changes are per run.");
	diff_describe_method(result, text, sizeof text);
	ui_print_sentence(out, c->dim, "%s", text);
	diff_describe(result, text, sizeof text);
	ui_print_sentence(out,
			  v[DIFF_SLOWER]   ? c->red
			  : v[DIFF_FASTER] ? c->green
					   : "",
			  "%s.", text);
	if (options->limit)
		print_limit(result, options->limit, out);
}

/* Return true if a row differs, or if it may differ and much time was lost or gained. */
static bool is_worth_showing(const struct diff_result *result, enum diff_table table)
{
	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (pair->table == table && pair->verdict != DIFF_NOISE &&
		    (pair->verdict != DIFF_TOO_FEW || diff_moved_much(result, pair)))
			return true;
	}
	return table == DIFF_TOTALS;
}

static void print_silent_tables(uint32_t silent, FILE *out)
{
	char text[512] = "";
	unsigned count = 0;

	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++)
		if (silent >> t & 1)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
				 count++ ? "," : "", diff_table_names[t]);
	if (!count)
		return;
	fprintf(out, "\n%s", ui_colors(out)->dim);
	ui_wrapf(out, 0, 2, "No change beyond noise in: %s (-t %s shows %s)", text, text,
		 count == 1 ? "it" : "them");
	fprintf(out, "%s\n", ui_colors(out)->reset);
}

/* Print a change in one line. */
static void print_change(const struct diff_result *result, const struct diff_pair *pair, FILE *out)
{
	const unsigned room = ui_room(out) - UI_INDENT;
	size_t most = room;
	char text[DIFF_TEXT];

	do { /* cut the name, not the figures after it */
		diff_describe_change(result, pair, most, text, sizeof text);
		most -= 2;
	} while (text_width(text) > room && most > 8);
	fprintf(out, "%*s", UI_INDENT, "");
	ui_put(out, text, room);
	fputc('\n', out);
}

/* Print the largest changes in at most CHANGES_SHOWN lines, which follow the names of the files. In
 * lines that are left, print rows that may have changed. */
static void print_changes(const struct diff_result *result, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	size_t count, shown, unsure_count, lines;
	const struct diff_pair **list = diff_list_changes(result, false, &count),
			       **unsure = diff_list_changes(result, true, &unsure_count);

	if (!count)
		ui_print_sentence(out, unsure_count ? NULL : c->green, "No change beyond noise.");
	shown = count > CHANGES_SHOWN ? CHANGES_SHOWN - 1 : count;
	for (size_t i = 0; i < shown; i++)
		print_change(result, list[i], out);
	if (shown < count)
		fprintf(out, "%*s%s.. and %zu more changes, below%s\n", UI_INDENT, "", c->dim,
			count - shown, c->reset);
	lines = count ? count : 1;
	for (size_t i = 0; i < unsure_count && lines + i < CHANGES_SHOWN; i++)
		print_change(result, unsure[i], out);
	fputc('\n', out);
	free(list);
	free(unsure);
}

void diff_print_text(const struct diff_result *result, const struct diff_options *options,
		     FILE *out)
{
	uint32_t silent = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		print_side(result, side, out);
	print_changes(result, out);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		print_runs(result, side, out);
	if (options->where)
		ui_print_sentence(out, ui_colors(out)->yellow, "Only where %s", options->where);
	print_differences(result, out);
	print_judgement(result, options, out);
	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++) {
		struct grid g;

		if (options->tables && !(options->tables >> t & 1))
			continue;
		make_table(&g, result, (enum diff_table)t);
		if (g.row_count && !options->tables &&
		    !is_worth_showing(result, (enum diff_table)t)) {
			silent |= 1u << t;
		} else if (g.row_count || options->tables >> t & 1) {
			fputc('\n', out);
			grid_print_text(&g, out, rows_of(&g, options));
		}
		grid_fini(&g);
	}
	print_silent_tables(silent, out);
}

/* CSV and JSON ------------------------------------------------------------------------- */

void diff_print_csv(const struct diff_result *result, const struct diff_options *options, FILE *out)
{
	bool several = !options->tables || (options->tables & (options->tables - 1)), first = true;

	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++) {
		struct grid g;

		if (options->tables && !(options->tables >> t & 1))
			continue;
		make_table(&g, result, (enum diff_table)t);
		if (!first)
			fputc('\n', out);
		first = false;
		grid_print_csv(&g, out, rows_of(&g, options), several);
		grid_fini(&g);
	}
}

static void print_json_side(const struct diff_result *result, unsigned at, struct json *j)
{
	const struct diff_side *side = &result->sides[at];

	json_object(j, at ? "candidate" : "baseline");
	json_string(j, "where", side->expression);
	json_bool(j, "complete", diff_side_is_whole(side));
	if (result->per_unit)
		json_count(j, "occurrences", side->units);
	json_array(j, "runs");
	for (size_t i = 0; i < side->run_count; i++) {
		const struct diff_run *run = &side->runs[i];

		json_object(j, NULL);
		json_array(j, "paths");
		for (size_t p = 0; p < run->path_count; p++)
			json_string(j, NULL, run->paths[p]);
		json_close(j);
		json_string(j, "command", run->command);
		json_string(j, "host", run->host);
		json_string(j, "devices", run->devices);
		json_string(j, "selection", run->selection);
		json_string(j, "part", *run->part ? run->part : NULL);
		json_count(j, "start_unix_ns", run->start_unix_ns);
		json_count(j, "wall_ns", run->wall_ns);
		json_count(j, "records", run->records);
		json_count(j, "matched", run->matched);
		json_count(j, "dropped", run->dropped);
		json_number(j, "load_of_others", run->others);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static void print_json_changes(const struct diff_result *result, bool unsure, struct json *j)
{
	char text[DIFF_TEXT];
	size_t count;
	const struct diff_pair **list = diff_list_changes(result, unsure, &count);

	json_object(j, unsure ? "unsure" : "changes");
	json_count(j, "count", count);
	json_array(j, "rows");
	for (size_t i = 0; i < count; i++) {
		diff_describe_change(result, list[i], DIFF_TEXT / 4, text, sizeof text);
		json_object(j, NULL);
		json_string(j, "table", diff_table_names[list[i]->table]);
		json_string(j, "name", list[i]->name);
		json_string(j, "text", text);
		json_close(j);
	}
	json_close(j);
	json_close(j);
	free(list);
}

void diff_print_json(const struct diff_result *result, const struct diff_options *options,
		     FILE *out)
{
	static const char *const methods[] = {"blocks", "runs", "occurrences"};
	struct json j = {.out = out};
	char text[512];

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-diff");
	json_count(&j, "version", 1);
	json_string(&j, "gputap", GPUTAP_VERSION);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		print_json_side(result, side, &j);
	json_string(&j, "where", options->where);
	json_string(&j, "per", result->per_unit ? result->unit : NULL);
	json_string(&j, "method", methods[result->method]);
	json_number(&j, "noise", result->noise);
	diff_describe(result, text, sizeof text);
	json_string(&j, "verdict", text);
	json_object(&j, "verdicts");
	for (int v = DIFF_NOISE; v <= DIFF_TOO_FEW; v++) {
		snprintf(text, sizeof text, "%s", diff_verdict_name((enum diff_verdict)v));
		if (strchr(text, ' '))
			*strchr(text, ' ') = '_';
		json_count(&j, text, result->verdicts[v]);
	}
	json_close(&j);
	json_object(&j, "counts");
	for (int v = DIFF_COUNT_SAME; v < DIFF_COUNT_VERDICT_COUNT; v++)
		json_count(&j, diff_count_verdict_name((enum diff_count_verdict)v),
			   result->counts[v]);
	json_close(&j);
	json_count(&j, "tests", result->tests);
	json_number(&j, "level", result->level);
	json_bool(&j, "exact_counts", result->exact_counts);
	print_json_changes(result, false, &j);
	print_json_changes(result, true, &j);
	json_bool(&j, "over_limit", result->over > 0);
	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++) {
		struct grid g;

		if (options->tables && !(options->tables >> t & 1))
			continue;
		make_table(&g, result, (enum diff_table)t);
		grid_print_json(&g, &j, rows_of(&g, options));
		grid_fini(&g);
	}
	json_close(&j);
}

/* Markdown ----------------------------------------------------------------------------- */

static void put_code(FILE *out, const char *text)
{
	fputs("<code>", out);
	ui_put_as(out, gt_put_markdown, text);
	fputs("</code>", out);
}

static void print_markdown_row(const struct diff_result *result, const struct diff_pair *pair,
			       struct grid *g, FILE *out)
{
	const char *people[COLUMN_COUNT];
	struct grid_cell cells[COLUMN_COUNT], *end = put_people(g, cells, result, pair);

	for (struct grid_cell *cell = cells; cell < end; cell++)
		people[cell - cells] = cell->has == CELL_TEXT ? cell->text : "";
	fprintf(out, "| %s%s%s | %s | %s | %s | %s | %s | %s | ", pair->over ? "**" : "",
		verdict_text(pair), pair->over ? "**" : "", people[0], people[1], people[3],
		people[4], people[5], people[6]);
	put_code(out, pair->name);
	fputs(" |\n", out);
}

static void print_markdown_table(const struct diff_result *result, enum diff_table table,
				 size_t top, FILE *out)
{
	size_t shown = 0, more = 0;
	struct grid g;

	grid_init(&g, "", columns, COLUMN_COUNT); /* the grid keeps the texts */
	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (pair->table != table ||
		    (table != DIFF_TOTALS &&
		     (pair->verdict == DIFF_NOISE || pair->verdict == DIFF_TOO_FEW)))
			continue;
		if (top && shown == top) {
			more++;
			continue;
		}
		if (!shown++)
			fprintf(out,
				"\n**%s**\n\n| verdict | change | ratio | baseline | candidate | "
				"each | 95%% interval | name |\n"
				"| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |\n",
				headings[table]);
		print_markdown_row(result, pair, &g, out);
	}
	if (more)
		fprintf(out, "\n.. and %zu more.\n", more);
	grid_fini(&g);
}

static void print_markdown_changes(const struct diff_result *result, FILE *out)
{
	char text[DIFF_TEXT];
	size_t count;
	const struct diff_pair **list = diff_list_changes(result, false, &count);

	for (size_t i = 0; i < count && i < USUAL_TOP; i++) {
		diff_describe_change(result, list[i], DIFF_TEXT / 4, text, sizeof text);
		fputs(i ? "- " : "\n- ", out);
		ui_put_as(out, gt_put_markdown, text);
		fputc('\n', out);
	}
	free(list);
}

void diff_print_markdown(const struct diff_result *result, const struct diff_options *options,
			 FILE *out)
{
	struct differences d;
	char text[DIFF_TEXT];

	diff_describe(result, text, sizeof text);
	fprintf(out, "### gputap diff: %s\n\n", text);
	diff_describe_method(result, text, sizeof text);
	fprintf(out, "%s\n", text);
	find_differences(result, &d);
	if (*d.programs) {
		fputc('\n', out);
		ui_put_as(out, gt_put_markdown, d.programs);
		fputc('\n', out);
	}
	if (*d.devices) {
		fputs("\n**Different machines?** ", out);
		put_code(out, d.devices);
		fputc('\n', out);
	}
	if (*d.selection) {
		fputc('\n', out);
		ui_put_as(out, gt_put_markdown, d.selection);
		fputc('\n', out);
	}
	if (options->limit) {
		fprintf(out, "\n%s by more than the --fail-over limit, ",
			result->over ? "**Slower**" : "Nothing is slower");
		put_code(out, options->limit);
		fputs(".\n", out);
	}
	print_markdown_changes(result, out);
	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++)
		if (!options->tables || options->tables >> t & 1)
			print_markdown_table(result, (enum diff_table)t,
					     options->top >= 0 ? (size_t)options->top : USUAL_TOP,
					     out);
}
