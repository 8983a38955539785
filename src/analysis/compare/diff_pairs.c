/* SPDX-License-Identifier: MIT */
/* Facts about tables and about pairs of rows. */
#include <math.h>

#include "analysis/compare/diff.h"

#define MUCH 0.05 /* share of the longest total */

const char *const diff_table_names[] = {
#define DIFF_TABLE_NAME(upper, name) name,
	DIFF_TABLES(DIFF_TABLE_NAME)
#undef DIFF_TABLE_NAME
		NULL};

double diff_ratio_of(double baseline, double candidate)
{
	return baseline > 0 ? candidate / baseline - 1 : 0;
}

bool diff_has_values(enum diff_table table)
{
	return table != DIFF_TOTALS && table != DIFF_DEVICES && table != DIFF_RANKS;
}

bool diff_has_side(const struct diff_result *result, const struct diff_pair *pair, unsigned side)
{
	for (size_t i = 0; i < result->sides[side].run_count; i++)
		if (pair->rows[side][i])
			return true;
	return false;
}

double diff_parts_of_run(const struct diff_result *result, unsigned side, size_t at)
{
	double units = (double)result->sides[side].runs[at].units;

	return result->per_unit && units > 0 ? units : 1;
}

bool diff_is_significant(const struct diff_estimate *e)
{
	return e->judged && e->p <= DIFF_LEVEL;
}

bool diff_opposes_total(const struct diff_pair *pair, const struct diff_estimate *e)
{
	return e->known && e->change * diff_added_ns(pair) < 0;
}

uint64_t diff_whole_ns(double ns)
{
	double whole = fabs(ns) + 0.5;

	return whole < 0x1p64 ? (uint64_t)whole : UINT64_MAX;
}

double diff_change_of_total(const struct diff_pair *pair)
{
	return diff_ratio_of(pair->total_ns[DIFF_BASELINE], pair->total_ns[DIFF_CANDIDATE]);
}

double diff_change_of_count(const struct diff_pair *pair)
{
	return diff_ratio_of(pair->count[DIFF_BASELINE], pair->count[DIFF_CANDIDATE]);
}

double diff_change_of(const struct diff_pair *pair)
{
	switch (pair->by) {
	case DIFF_MEDIAN: return pair->of_median.change;
	case DIFF_MEAN: return pair->of_mean.change;
	case DIFF_TOTAL: break;
	}
	return diff_change_of_total(pair);
}

bool diff_total_is_noise(const struct diff_pair *pair)
{
	return pair->by != DIFF_TOTAL &&
	       diff_opposes_total(pair, pair->by == DIFF_MEAN ? &pair->of_mean : &pair->of_median);
}

bool diff_moved(const struct diff_result *result, const struct diff_pair *pair, double share)
{
	return fabs(diff_added_ns(pair)) > share * result->longest_ns;
}

bool diff_moved_much(const struct diff_result *result, const struct diff_pair *pair)
{
	return diff_moved(result, pair, MUCH);
}

void diff_take_candidate(struct diff_pair *pair, struct diff_pair *from)
{
	struct diff_row **rows = pair->rows[DIFF_CANDIDATE];

	pair->rows[DIFF_CANDIDATE] = from->rows[DIFF_CANDIDATE];
	from->rows[DIFF_CANDIDATE] = rows;
	pair->name = from->name;
	from->table = DIFF_TABLE_COUNT; /* marks the pair as removed */
}

bool diff_is_on_gpus(const struct diff_result *result, enum diff_table table)
{
	return table != DIFF_OPERATIONS && table != DIFF_RANGES && table != DIFF_IDLE &&
	       diff_has_values(table) && result->sides[DIFF_BASELINE].runs[0].on_gpus &&
	       result->sides[DIFF_CANDIDATE].runs[0].on_gpus;
}
