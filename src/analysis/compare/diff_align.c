/* SPDX-License-Identifier: MIT */
/* Aligns rows of both sides that have the same key, then compares, judges and sorts them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/show.h"
#include "analysis/compare/diff.h"

#define LEVEL        0.05 /* allowed false discovery rate */
#define MUCH         0.05 /* share of the longest total */
#define LEAST_WEIGHT 0.01 /* share of the table's time, for --fail-over */
#define WAIT_NS      4e6  /* assumed wait for a processor that other programs use */
#define LEAST_COUNT  0.01 /* smallest relative difference of counts that matters */

const char *const diff_table_names[] = {
#define DIFF_TABLE_NAME(upper, name) name,
	DIFF_TABLES(DIFF_TABLE_NAME)
#undef DIFF_TABLE_NAME
		NULL};

bool diff_has_values(enum diff_table table)
{
	return table != DIFF_TOTALS && table != DIFF_DEVICES && table != DIFF_RANKS &&
	       table != DIFF_IDLE;
}

/* Pairs -------------------------------------------------------------------------------- */

static size_t add_pair(struct diff_result *result, size_t *room)
{
	struct diff_pair *pair;

	GROW_LIST(result->pairs, result->pair_count, *room);
	pair = &result->pairs[result->pair_count];
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		pair->rows[side] =
			allocate_list(result->sides[side].run_count, sizeof *pair->rows[side]);
	return result->pair_count++;
}

/* Add the rows of a run to the pairs. @keys: all keys; a key has the same number as its pair. */
static void add_run(struct diff_result *result, struct texts *keys, size_t *room, unsigned side,
		    size_t at)
{
	struct diff_run *run = &result->sides[side].runs[at];

	for (uint32_t i = 0; i < run->row_count; i++) {
		uint32_t number = texts_put(keys, texts_get(&run->keys, i));
		struct diff_pair *pair;

		if (number == result->pair_count)
			add_pair(result, room);
		pair = &result->pairs[number];
		pair->rows[side][at] = &run->rows[i];
		pair->table = run->rows[i].table;
		pair->device = run->rows[i].device;
		pair->rank = run->rows[i].rank;
		pair->name = texts_get(&run->names, run->rows[i].name);
		if (side == DIFF_BASELINE)
			pair->name_baseline = pair->name;
	}
}

static bool has_side(const struct diff_result *result, const struct diff_pair *pair, unsigned side)
{
	for (size_t i = 0; i < result->sides[side].run_count; i++)
		if (pair->rows[side][i])
			return true;
	return false;
}

/* Pairs that exist on one side only and whose names are equal except for compiler-generated
 * numbers. */
struct alike {
	size_t pair[DIFF_SIDES];
	unsigned count[DIFF_SIDES];
};

static void take_candidate(struct diff_pair *pair, struct diff_pair *from)
{
	struct diff_row **rows = pair->rows[DIFF_CANDIDATE];

	pair->rows[DIFF_CANDIDATE] = from->rows[DIFF_CANDIDATE];
	from->rows[DIFF_CANDIDATE] = rows;
	pair->name = from->name;
	from->table = DIFF_TABLE_COUNT; /* marks the pair as removed */
}

/* Align names that differ only in compiler-generated numbers, if each side has exactly one such
 * name. With several such names, the function does not guess. Equal names have already been
 * aligned. */
static void align_alike(struct diff_result *result)
{
	struct texts names = {0};
	struct alike *alike = allocate_list(result->pair_count + 1, sizeof *alike);

	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];
		bool baseline = has_side(result, pair, DIFF_BASELINE),
		     candidate = has_side(result, pair, DIFF_CANDIDATE);
		char *plain = baseline != candidate ? diff_plain_name(pair->name) : NULL,
		     *key = NULL;
		struct alike *a;

		if (plain && asprintf(&key, "%d %u %u %s", pair->table, pair->device, pair->rank,
				      plain) >= 0) {
			a = &alike[texts_put(&names, key)];
			a->pair[candidate] = i;
			a->count[candidate]++;
		}
		free(key);
		free(plain);
	}
	for (uint32_t i = 0; i < names.count; i++)
		if (alike[i].count[DIFF_BASELINE] == 1 && alike[i].count[DIFF_CANDIDATE] == 1)
			take_candidate(&result->pairs[alike[i].pair[DIFF_BASELINE]],
				       &result->pairs[alike[i].pair[DIFF_CANDIDATE]]);
	free(alike);
	texts_fini(&names);
}

static void drop_pair(struct diff_pair *pair)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free(pair->rows[side]);
}

static void align_pairs(struct diff_result *result, uint32_t tables)
{
	struct texts keys = {0};
	size_t room = 0, kept = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < result->sides[side].run_count; i++)
			add_run(result, &keys, &room, side, i);
	texts_fini(&keys);
	align_alike(result);
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		result->in_both += pair->table < DIFF_TABLE_COUNT && diff_has_values(pair->table) &&
				   has_side(result, pair, DIFF_BASELINE) &&
				   has_side(result, pair, DIFF_CANDIDATE);
		if (pair->table == DIFF_TABLE_COUNT || (tables && !(tables >> pair->table & 1)))
			drop_pair(pair);
		else
			result->pairs[kept++] = *pair;
	}
	result->pair_count = kept;
}

/* Comparison --------------------------------------------------------------------------- */

/* Return the number by which counts and totals of a run are divided. */
static double parts_of_run(const struct diff_result *result, unsigned side, size_t at)
{
	double units = (double)result->sides[side].runs[at].units;

	return result->per_unit && units > 0 ? units : 1;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Find the median of a side and its bounds. With several runs, use the median, the smallest and the
 * largest of the runs' medians. */
static void find_median(const struct diff_result *result, struct diff_pair *pair, unsigned side)
{
	size_t runs = result->sides[side].run_count, n = 0;
	double *medians = allocate_list(runs, sizeof *medians);

	for (size_t i = 0; i < runs; i++) {
		const struct diff_row *row = pair->rows[side][i];

		if (!row || row->median <= 0)
			continue;
		medians[n++] = row->median;
		pair->median_low[side] = row->median_low;
		pair->median_high[side] = row->median_high;
	}
	if (n) {
		qsort(medians, n, sizeof *medians, compare_doubles);
		pair->has_median[side] = true;
		pair->median[side] =
			n % 2 ? medians[n / 2] : (medians[n / 2 - 1] + medians[n / 2]) / 2;
		if (n > 1) {
			pair->median_low[side] = medians[0];
			pair->median_high[side] = medians[n - 1];
		}
	}
	free(medians);
}

static void sum_side(const struct diff_result *result, struct diff_pair *pair, unsigned side)
{
	const struct diff_side *s = &result->sides[side];
	double parts = 0;

	for (size_t i = 0; i < s->run_count; i++) {
		const struct diff_row *row = pair->rows[side][i];

		parts += parts_of_run(result, side, i);
		if (!row)
			continue;
		pair->count[side] += (double)row->count;
		pair->total_ns[side] += (double)row->total_ns;
	}
	pair->count[side] /= parts > 0 ? parts : 1;
	pair->total_ns[side] /= parts > 0 ? parts : 1;
	find_median(result, pair, side);
}

static double ratio_of(double baseline, double candidate)
{
	return baseline > 0 ? candidate / baseline - 1 : 0;
}

static bool is_on_gpus(const struct diff_result *result, enum diff_table table)
{
	return table != DIFF_OPERATIONS && table != DIFF_RANGES && diff_has_values(table) &&
	       result->sides[DIFF_BASELINE].runs[0].on_gpus &&
	       result->sides[DIFF_CANDIDATE].runs[0].on_gpus;
}

/* Return the assumed noise between runs, which one run per side does not show. If other programs
 * use the machine, a thread sometimes waits milliseconds for a processor. If a row has only a few
 * short values, all of them may include such a wait. */
static double noise_of_row(const struct diff_result *result, const struct diff_pair *pair)
{
	double shortest = fmin(pair->median[DIFF_BASELINE], pair->median[DIFF_CANDIDATE]);

	if (is_on_gpus(result, pair->table))
		return result->count_noise;
	if (result->others <= 0 ||
	    fmin(pair->count[DIFF_BASELINE], pair->count[DIFF_CANDIDATE]) >= DIFF_MANY_VALUES)
		return result->noise;
	return result->noise * (1 + WAIT_NS / fmax(1, shortest));
}

/* Compare one run per side. A row that consists of one number has no values. */
static void compare_blocks(const struct diff_result *result, struct diff_pair *pair)
{
	const struct diff_row *baseline = pair->rows[DIFF_BASELINE][0],
			      *candidate = pair->rows[DIFF_CANDIDATE][0];

	if (baseline->series.count && candidate->series.count)
		diff_compare_series(&baseline->series, &candidate->series,
				    noise_of_row(result, pair), &pair->of_median, &pair->of_mean);
}

/* Collect the logarithm of the median, or of the total, of each run. Return: number of values. */
static size_t collect_runs(const struct diff_result *result, const struct diff_pair *pair,
			   unsigned side, bool totals, double *values, double *variance)
{
	size_t n = 0;

	for (size_t i = 0; i < result->sides[side].run_count; i++) {
		const struct diff_row *row = pair->rows[side][i];
		double value = !row     ? 0
			       : totals ? (double)row->total_ns / parts_of_run(result, side, i)
					: row->median;

		if (value <= 0)
			continue;
		values[n++] = log(value);
		*variance += totals ? 0 : row->median_variance;
	}
	return n;
}

static void compare_runs(const struct diff_result *result, struct diff_pair *pair, bool totals,
			 struct diff_estimate *e)
{
	struct diff_noise noise = {.floor = result->noise};
	double *values[DIFF_SIDES], variance = 0;
	struct diff_values sides[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		values[side] = allocate_list(result->sides[side].run_count, sizeof *values[side]);
		sides[side].log = values[side];
		sides[side].count =
			collect_runs(result, pair, side, totals, values[side], &variance);
	}
	/* differences between runs cannot be smaller than the uncertainty of the runs' medians */
	if (sides[0].count + sides[1].count)
		noise.least = variance / (double)(sides[0].count + sides[1].count);
	diff_compare_values(&sides[0], &sides[1], &noise, e);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free(values[side]);
}

/* Compare the occurrences of the range that contain records of the row. */
static void compare_occurrences(const struct diff_result *result, struct diff_pair *pair)
{
	struct diff_noise noise = {.floor = result->noise, .in_order = true};
	double *values[DIFF_SIDES];
	struct diff_values sides[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_run *run = &result->sides[side].runs[0];
		const struct diff_row *row = pair->rows[side][0];
		size_t n = 0;

		values[side] = allocate_list(run->unit_slots + 1, sizeof *values[side]);
		for (uint32_t i = 0; row->of_units && i < run->unit_slots; i++)
			if (row->of_units[i] > 0)
				values[side][n++] = log((double)row->of_units[i]);
		sides[side] = (struct diff_values){values[side], n};
	}
	diff_compare_values(&sides[0], &sides[1], &noise, &pair->of_mean);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free(values[side]);
}

static struct diff_estimate plain_estimate(const double *sides)
{
	return (struct diff_estimate){
		.known = true,
		.baseline = sides[DIFF_BASELINE],
		.candidate = sides[DIFF_CANDIDATE],
		.change = ratio_of(sides[DIFF_BASELINE], sides[DIFF_CANDIDATE]),
	};
}

bool diff_is_significant(const struct diff_estimate *e)
{
	return e->judged && e->p <= LEVEL;
}

/* Return true if the program determines the row's count. Polling calls have arbitrary counts. */
static bool has_own_count(enum diff_table table)
{
	return table != DIFF_OPERATIONS && diff_has_values(table);
}

static double count_of_run(const struct diff_result *result, const struct diff_pair *pair,
			   unsigned side, size_t at)
{
	const struct diff_row *row = pair->rows[side][at];

	return row ? (double)row->count / parts_of_run(result, side, at) : 0;
}

/* Return true if the counts of all runs on one side differ from all counts on the other side. */
static bool counts_differ(const struct diff_result *result, const struct diff_pair *pair)
{
	double least[DIFF_SIDES], most[DIFF_SIDES];
	double limit = fmax(result->count_noise, LEAST_COUNT);

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		least[side] = most[side] = count_of_run(result, pair, side, 0);
		for (size_t i = 1; i < result->sides[side].run_count; i++) {
			double count = count_of_run(result, pair, side, i);

			least[side] = fmin(least[side], count);
			most[side] = fmax(most[side], count);
		}
	}
	return least[1] > most[0] * (1 + limit) || least[0] > most[1] * (1 + limit);
}

bool diff_opposes_total(const struct diff_pair *pair, const struct diff_estimate *e)
{
	return e->known && e->change * diff_added_ns(pair) < 0;
}

/* Return true if @e may decide the verdict. An estimate that opposes the total may decide only if
 * it is significant and the estimate of the total is not: a few outliers then moved the total. If
 * counts differ, the counts moved the total. */
static bool may_decide(const struct diff_pair *pair, const struct diff_estimate *e,
		       const struct diff_estimate *other, bool by_counts)
{
	if (!e->judged || !diff_opposes_total(pair, e))
		return e->judged;
	return !by_counts && diff_is_significant(e) &&
	       (!diff_is_significant(other) || diff_opposes_total(pair, other));
}

/* Choose the statistic of a row. Show the median unless only the mean decides. */
static void choose_measure(const struct diff_result *result, struct diff_pair *pair)
{
	const struct diff_estimate *median = &pair->of_median, *mean = &pair->of_mean;
	const bool by_counts = counts_differ(result, pair);
	const bool by_median = may_decide(pair, median, mean, by_counts),
		   by_mean = may_decide(pair, mean, median, by_counts);
	const double tests = median->judged && mean->judged ? 2 : 1;

	pair->judged = median->judged || mean->judged;
	if (by_median && by_mean) { /* two tests were made: double the smaller p */
		pair->p = fmin(1, tests * fmin(median->p, mean->p));
		pair->by = mean->p < median->p && median->p > 1e-4 && pair->p <= LEVEL
				   ? DIFF_MEAN
				   : DIFF_MEDIAN;
	} else if (by_median || by_mean) {
		pair->by = by_mean ? DIFF_MEAN : DIFF_MEDIAN;
		pair->p = fmin(1, tests * (by_mean ? mean->p : median->p));
	} else {
		pair->p = 1;
		if (!pair->judged && median->known && !diff_opposes_total(pair, median))
			pair->by = DIFF_MEDIAN;
		else if (!pair->judged && mean->known && !diff_opposes_total(pair, mean))
			pair->by = DIFF_MEAN;
		else
			pair->by = DIFF_TOTAL;
	}
}

static void compare_pair(const struct diff_result *result, struct diff_pair *pair)
{
	switch (result->method) {
	case DIFF_BY_BLOCKS: compare_blocks(result, pair); break;
	case DIFF_BY_RUNS:
		compare_runs(result, pair, false, &pair->of_median);
		compare_runs(result, pair, true, &pair->of_mean);
		break;
	case DIFF_BY_OCCURRENCES: compare_occurrences(result, pair); break;
	}
	if (!pair->of_mean.known && pair->total_ns[0] > 0 && pair->total_ns[1] > 0)
		pair->of_mean = plain_estimate(pair->total_ns);
	if (!pair->of_median.known && pair->has_median[0] && pair->has_median[1])
		pair->of_median = plain_estimate(pair->median);
	choose_measure(result, pair);
}

uint64_t diff_whole_ns(double ns)
{
	double whole = fabs(ns) + 0.5;

	return whole < 0x1p64 ? (uint64_t)whole : UINT64_MAX;
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

double diff_change_of_total(const struct diff_pair *pair)
{
	return ratio_of(pair->total_ns[DIFF_BASELINE], pair->total_ns[DIFF_CANDIDATE]);
}

/* Verdicts ----------------------------------------------------------------------------- */

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {"noise", "slower", "faster", "more",   "fewer",
					    "new",   "gone",   "unsure", "too few"};

	return names[verdict];
}

static double longest_of(const struct diff_result *result)
{
	double ns = 0;

	for (size_t i = 0; i < result->pair_count; i++)
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			if (result->pairs[i].table == (result->parts ? DIFF_RANGES : DIFF_TOTALS))
				ns = fmax(ns, result->pairs[i].total_ns[side]);
	return ns;
}

bool diff_moved_much(const struct diff_result *result, const struct diff_pair *pair)
{
	return fabs(diff_added_ns(pair)) > MUCH * result->longest_ns;
}

static enum diff_verdict judge_pair(const struct diff_result *result, const struct diff_pair *pair)
{
	if (pair->table != DIFF_IDLE) { /* a missing cause took no time */
		if (!has_side(result, pair, DIFF_BASELINE))
			return DIFF_NEW;
		if (!has_side(result, pair, DIFF_CANDIDATE))
			return DIFF_GONE;
	}
	if (pair->judged && pair->q <= LEVEL)
		return diff_change_of(pair) > 0 ? DIFF_SLOWER : DIFF_FASTER;
	/* changed counts of host calls matter only if their time changes as well */
	if (counts_differ(result, pair) && diff_has_values(pair->table) &&
	    (has_own_count(pair->table) || diff_moved_much(result, pair)))
		return pair->count[DIFF_CANDIDATE] > pair->count[DIFF_BASELINE] ? DIFF_MORE
										: DIFF_FEWER;
	if (!pair->judged)
		return DIFF_TOO_FEW;
	if (!diff_moved_much(result, pair))
		return DIFF_NOISE;
	if (pair->by == DIFF_TOTAL &&
	    (diff_is_significant(&pair->of_median) || diff_is_significant(&pair->of_mean)))
		/* the single values got faster and the total slower, or vice versa */
		return DIFF_UNSURE;
	return result->method == DIFF_BY_BLOCKS && pair->of_mean.known &&
			       fabs(pair->of_mean.change) > result->noise
		       ? DIFF_UNSURE
		       : DIFF_NOISE;
}

static void control_discoveries(struct diff_result *result)
{
	double *p = allocate_list(result->pair_count + 1, sizeof *p);
	size_t n = 0;

	for (size_t i = 0; i < result->pair_count; i++)
		if (result->pairs[i].judged)
			p[n++] = result->pairs[i].p;
	diff_control_discoveries(p, n);
	result->judged = n;
	for (size_t i = n = 0; i < result->pair_count; i++)
		if (result->pairs[i].judged)
			result->pairs[i].q = p[n++];
	free(p);
}

static void weigh(struct diff_result *result)
{
	double moved[DIFF_TABLE_COUNT] = {0}, sums[DIFF_TABLE_COUNT][DIFF_SIDES] = {{0}};

	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		moved[pair->table] += fabs(diff_added_ns(pair));
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			sums[pair->table][side] += pair->total_ns[side];
	}
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		if (moved[pair->table] > 0)
			pair->share = diff_added_ns(pair) / moved[pair->table];
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			if (sums[pair->table][side] > 0)
				pair->weight = fmax(pair->weight,
						    pair->total_ns[side] / sums[pair->table][side]);
	}
}

/* Return true if the row exceeds the limit of --fail-over. */
static bool is_over(const struct diff_pair *pair, const struct diff_options *options)
{
	double limit = options->limits[pair->table];

	if (limit < 0 || pair->weight < LEAST_WEIGHT)
		return false;
	if (pair->verdict == DIFF_SLOWER)
		return diff_change_of(pair) > limit;
	return pair->verdict == DIFF_MORE && has_own_count(pair->table) &&
	       diff_change_of_total(pair) > limit;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct diff_pair *x = a, *y = b;
	double change_x = fabs(diff_added_ns(x)), change_y = fabs(diff_added_ns(y));

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (change_x != change_y)
		return change_x > change_y ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

void diff_align(struct diff_result *result, const struct diff_options *options)
{
	align_pairs(result, options->tables);
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];
		bool both = has_side(result, pair, DIFF_BASELINE) &&
			    has_side(result, pair, DIFF_CANDIDATE);

		if (!pair->name_baseline)
			pair->name_baseline = pair->name;
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			sum_side(result, pair, side);
		if (both)
			compare_pair(result, pair);
	}
	control_discoveries(result);
	weigh(result);
	result->longest_ns = longest_of(result);
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		pair->verdict = judge_pair(result, pair);
		/* show the statistic that contains the time difference */
		if (pair->verdict == DIFF_UNSURE)
			pair->by =
				diff_opposes_total(pair, &pair->of_mean) ? DIFF_TOTAL : DIFF_MEAN;
		pair->over = is_over(pair, options);
		if (pair->verdict != DIFF_TOO_FEW || diff_has_values(pair->table))
			result->verdicts[pair->verdict]++;
		result->over += pair->over;
	}
	if (result->pair_count)
		qsort(result->pairs, result->pair_count, sizeof *result->pairs, compare_pairs);
}

void diff_result_fini(struct diff_result *result)
{
	for (size_t i = 0; i < result->pair_count; i++)
		drop_pair(&result->pairs[i]);
	free(result->pairs);
	free(result->unit);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct diff_side *s = &result->sides[side];

		for (size_t i = 0; i < s->run_count; i++)
			diff_run_fini(&s->runs[i]);
		free(s->runs);
		free(s->where);
	}
	*result = (struct diff_result){0};
}

/* Descriptions ------------------------------------------------------------------------- */

static void add_part(char *text, size_t size, size_t count, const char *what)
{
	size_t used = strlen(text);

	if (count)
		snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", show_count(count),
			 what);
}

void diff_describe(const struct diff_result *result, char *text, size_t size)
{
	const size_t *v = result->verdicts;
	char rest[256] = "";

	*text = '\0';
	add_part(text, size, v[DIFF_SLOWER], "slower");
	add_part(text, size, v[DIFF_FASTER], "faster");
	if (*text)
		strncat(text, " beyond noise", size - strlen(text) - 1);
	else if (result->judged)
		snprintf(text, size,
			 v[DIFF_MORE] + v[DIFF_FEWER] + v[DIFF_NEW] + v[DIFF_GONE]
				 ? "%s row%s compared, none slower or faster beyond noise"
				 : "%s row%s compared, no difference beyond noise",
			 show_count(result->judged), result->judged == 1 ? "" : "s");
	else if (v[DIFF_TOO_FEW])
		snprintf(text, size, "Too few values to separate changes from noise");
	else
		snprintf(text, size,
			 "One number per run and one run per side: the noise is unknown");
	if (v[DIFF_SLOWER] + v[DIFF_FASTER])
		add_part(rest, sizeof rest, v[DIFF_NOISE], "within noise");
	add_part(rest, sizeof rest, v[DIFF_UNSURE], "unsure (large changes that may be noise)");
	add_part(rest, sizeof rest, v[DIFF_MORE], "more often");
	add_part(rest, sizeof rest, v[DIFF_FEWER], "less often");
	add_part(rest, sizeof rest, v[DIFF_GONE], "only in the baseline");
	add_part(rest, sizeof rest, v[DIFF_NEW], "only in the candidate");
	if (result->judged)
		add_part(rest, sizeof rest, v[DIFF_TOO_FEW], "with too few values to tell");
	if (*rest) {
		strncat(text, "; ", size - strlen(text) - 1);
		strncat(text, rest, size - strlen(text) - 1);
	}
}

void diff_describe_method(const struct diff_result *result, char *text, size_t size)
{
	char floor[128] = "";

	if (result->others > 0) {
		snprintf(text, size,
			 "One run per side: noise within each run is measured, noise between runs "
			 "is not. Other programs used %.0f%% of the processors' time during a run, "
			 "which can slow everything by a factor of %.3g: smaller changes count as "
			 "noise. Compare several runs per side to measure noise between runs.",
			 result->others * 100, 1 + result->noise);
		return;
	}
	if (result->noise > 0)
		snprintf(floor, sizeof floor, "changes up to %.3g%% count as noise",
			 result->noise * 100);
	switch (result->method) {
	case DIFF_BY_BLOCKS:
		if (result->parts) {
			snprintf(text, size, "Noise within both parts of the run is measured%s%s.",
				 *floor ? "; " : "", floor);
			break;
		}
		snprintf(
			text, size,
			"One run per side: noise within each run is measured, noise between runs "
			"is not (%s). Compare several runs per side to measure noise between runs.",
			*floor ? floor : "counted as 0");
		break;
	case DIFF_BY_RUNS:
		snprintf(text, size,
			 "Baseline: %zu run%s, candidate: %zu run%s. Noise between runs is "
			 "measured%s%s.",
			 result->sides[0].run_count, result->sides[0].run_count == 1 ? "" : "s",
			 result->sides[1].run_count, result->sides[1].run_count == 1 ? "" : "s",
			 *floor ? "; " : "", floor);
		break;
	case DIFF_BY_OCCURRENCES:
		snprintf(text, size, "Noise is the difference from one '%s' to the next%s%s.",
			 result->unit, *floor ? "; " : "", floor);
		break;
	}
}

bool diff_side_is_whole(const struct diff_side *side)
{
	for (size_t i = 0; i < side->run_count; i++)
		if (!gt_capture_is_whole(&side->runs[i].health) || side->runs[i].left_out)
			return false;
	return true;
}
