/* SPDX-License-Identifier: MIT */
/* Judges the counts of a row. The program determines a count, so a count that changed is a change,
 * not a matter of noise:
 *
 *   runs of each side agree   exact: any difference is a change
 *   one run per side          exact, because a program is assumed to make the same calls in each
 *                             run; calls that poll are excepted
 *   runs of a side differ     Student's t, corrected together with the times; so for occurrences
 *                             of a range
 *   otherwise                 records are missing, or the numbers of ranges differ: a difference
 *                             of more than 1 % */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff.h"

#define LEAST_COUNT 0.01 /* smallest relative difference of counts that are not exact */

/* Calls that a program repeats until something has happened. */
static const char *const polling[] = {"*Event*Query*",  "*Stream*Query*",    "*Fence*Query*",
				      "*Queue*Query*",  "*Query*Status*",    "*GetEventInfo*",
				      "*EventGetInfo*", "hsa_signal_*load*", "hsa_signal_wait*",
				      "hsa_amd_*wait*", "hsa_queue_*load*",  "*GetAsyncError",
				      "MPI_Test*",      "MPI_*robe",         "*EventElapsedTime*"};

static bool polls(const struct diff_pair *pair)
{
	if (pair->table != DIFF_OPERATIONS)
		return false;
	for (size_t i = 0; i < sizeof polling / sizeof *polling; i++)
		if (!fnmatch(polling[i], pair->name, 0))
			return true;
	return false;
}

/* Return true if the expression selects records by their times, which vary between runs. */
static bool selects_by_time(const char *expression)
{
	static const char *const words[] = {"duration", "at"};

	for (size_t i = 0; expression && i < sizeof words / sizeof *words; i++) {
		const size_t bytes = strlen(words[i]);
		const char *at = expression;

		for (; (at = strstr(at, words[i])); at += bytes)
			if ((at == expression || !isalnum((unsigned char)at[-1])) &&
			    !isalnum((unsigned char)at[bytes]) && at[bytes] != '_')
				return true;
	}
	return false;
}

static bool has_all_records(const struct diff_run *run)
{
	return gt_capture_is_whole(&run->health) && !run->left_out && !run->dropped && !*run->part;
}

bool diff_counts_are_exact(const struct diff_result *result)
{
	const struct diff_run *first = &result->sides[DIFF_BASELINE].runs[0];

	if (result->parts && result->method != DIFF_BY_OCCURRENCES)
		return false;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_side *s = &result->sides[side];

		if (selects_by_time(s->where))
			return false;
		for (size_t i = 0; i < s->run_count; i++)
			if (!has_all_records(&s->runs[i]) ||
			    strcmp(s->runs[i].selection, first->selection) != 0 ||
			    (result->per_unit && result->method != DIFF_BY_OCCURRENCES &&
			     s->runs[i].units != first->units))
				return false;
	}
	return true;
}

static double count_of_run(const struct diff_result *result, const struct diff_pair *pair,
			   unsigned side, size_t at)
{
	const struct diff_row *row = pair->rows[side][at];
	double count = row ? (double)row->count : 0;

	/* if the numbers of ranges differ, calls outside of the ranges have other shares */
	if (row && row->in_units && result->per_unit)
		count = (double)row->in_units;
	return count / diff_parts_of_run(result, side, at);
}

/* Counts of a side: one for each run, or for each occurrence of the range. */
struct counts {
	double least, most, sum;
	double *logs;
	size_t n;
};

static void add_count(struct counts *c, double count)
{
	c->least = c->n ? fmin(c->least, count) : count;
	c->most = fmax(c->most, count);
	c->sum += count;
	c->logs[c->n++] = log(fmax(count, 0.5));
}

static struct counts counts_of(const struct diff_result *result, const struct diff_pair *pair,
			       unsigned side)
{
	const struct diff_side *s = &result->sides[side];
	const struct diff_row *first = pair->rows[side][0];
	struct counts c = {0};

	if (result->method == DIFF_BY_OCCURRENCES && first && first->counts_of_units) {
		c.logs = allocate_list(s->runs[0].unit_slots + 1, sizeof *c.logs);
		for (uint32_t i = 0; i < s->runs[0].unit_slots; i++)
			add_count(&c, first->counts_of_units[i]);
	} else {
		c.logs = allocate_list(s->run_count, sizeof *c.logs);
		for (size_t i = 0; i < s->run_count; i++)
			add_count(&c, count_of_run(result, pair, side, i));
	}
	return c;
}

/* Compare counts that vary between the runs of a side. */
static void compare_varying(const struct diff_result *result, struct diff_pair *pair,
			    const struct counts *counts)
{
	/* independent events would vary by at least the square root of their count */
	const struct diff_noise noise = {.least = (double)(counts[0].n + counts[1].n) /
						  (counts[0].sum + counts[1].sum),
					 .floor = fmax(result->count_noise, LEAST_COUNT)};
	const struct diff_values sides[DIFF_SIDES] = {{counts[0].logs, counts[0].n},
						      {counts[1].logs, counts[1].n}};
	struct diff_estimate e;

	diff_compare_values(&sides[0], &sides[1], &noise, &e);
	pair->count_judged = e.judged;
	pair->count_p = e.judged ? e.p : 1;
	pair->count_verdict = DIFF_COUNT_VARIES;
}

/* Return the verdict on counts of which some may be missing. The counts of host calls matter only
 * if their time changes as well. */
static enum diff_count_verdict judge_inexact(const struct diff_result *result,
					     const struct diff_pair *pair,
					     const struct counts *counts)
{
	const double limit = 1 + fmax(result->count_noise, LEAST_COUNT);
	const bool matters = pair->table != DIFF_OPERATIONS || diff_moved_much(result, pair);

	if (matters && counts[1].least > counts[0].most * limit)
		return DIFF_COUNT_MORE;
	if (matters && counts[0].least > counts[1].most * limit)
		return DIFF_COUNT_FEWER;
	return DIFF_COUNT_VARIES;
}

void diff_compare_counts(const struct diff_result *result, struct diff_pair *pair)
{
	const bool several = result->method != DIFF_BY_BLOCKS;
	struct counts counts[DIFF_SIDES];
	bool constant = true;

	pair->count_verdict = DIFF_COUNT_UNKNOWN;
	if (!diff_has_values(pair->table) || pair->table == DIFF_IDLE)
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		counts[side] = counts_of(result, pair, side);
		constant &= counts[side].least >= counts[side].most;
	}
	if (constant && counts[0].least == counts[1].least)
		pair->count_verdict = DIFF_COUNT_SAME;
	else if (several && (!constant || polls(pair)))
		compare_varying(result, pair, counts);
	else if (!result->exact_counts)
		pair->count_verdict = judge_inexact(result, pair, counts);
	else if (polls(pair))
		pair->count_verdict = DIFF_COUNT_VARIES;
	else
		pair->count_verdict =
			counts[1].least > counts[0].least ? DIFF_COUNT_MORE : DIFF_COUNT_FEWER;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free(counts[side].logs);
}

void diff_judge_count(const struct diff_result *result, struct diff_pair *pair)
{
	if (!pair->count_judged || pair->count_q > result->level)
		return;
	pair->count_verdict = pair->count[DIFF_CANDIDATE] > pair->count[DIFF_BASELINE]
				      ? DIFF_COUNT_MORE
				      : DIFF_COUNT_FEWER;
}
