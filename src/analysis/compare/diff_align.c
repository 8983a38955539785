/* SPDX-License-Identifier: MIT */
/* Aligns rows of both sides that have the same key, then compares, judges and sorts them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff.h"

#define LEAST_IDLE    0.01  /* share of the run for a verdict on idle time */
#define LEAST_WEIGHT  0.01  /* share of the table's time, for --fail-over */
#define LEAST_HOST    0.001 /* share of the run for a verdict on times of the host */
#define LOADED        0.1   /* load of other programs that hides changes */
#define LARGE         0.2   /* change of a total that may be hidden by load */
#define MOSTLY        0.5   /* probability of a wait above which most values include one */
#define MOST_LOAD     0.95
#define SHARE_OF_LOAD 0.05 /* share of the largest slowdown by load by which runs differ */
#define USUAL_FREEDOM 3.0  /* weight of the usual variance of similar rows, in values */

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

/* Pairs that exist on one side only and whose names are equal except for compiler-generated
 * numbers. */
struct alike {
	size_t pair[DIFF_SIDES];
	unsigned count[DIFF_SIDES];
};

/* Align names that differ only in compiler-generated numbers, if each side has exactly one such
 * name. With several such names, the function does not guess. Equal names have already been
 * aligned. */
static void align_alike(struct diff_result *result)
{
	struct texts names = {0};
	struct alike *alike = allocate_list(result->pair_count + 1, sizeof *alike);

	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];
		bool baseline = diff_has_side(result, pair, DIFF_BASELINE),
		     candidate = diff_has_side(result, pair, DIFF_CANDIDATE);
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
			diff_take_candidate(&result->pairs[alike[i].pair[DIFF_BASELINE]],
					    &result->pairs[alike[i].pair[DIFF_CANDIDATE]]);
	free(alike);
	texts_fini(&names);
}

static void drop_pair(struct diff_pair *pair)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free(pair->rows[side]);
}

static void align_pairs(struct diff_result *result)
{
	struct texts keys = {0};
	size_t room = 0, kept = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < result->sides[side].run_count; i++)
			add_run(result, &keys, &room, side, i);
	texts_fini(&keys);
	align_alike(result);
	diff_align_renamed(result);
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		result->in_both += pair->table < DIFF_TABLE_COUNT && pair->table != DIFF_IDLE &&
				   diff_has_values(pair->table) &&
				   diff_has_side(result, pair, DIFF_BASELINE) &&
				   diff_has_side(result, pair, DIFF_CANDIDATE);
		if (pair->table == DIFF_TABLE_COUNT)
			drop_pair(pair);
		else
			result->pairs[kept++] = *pair;
	}
	result->pair_count = kept;
}

/* Comparison --------------------------------------------------------------------------- */

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

		parts += diff_parts_of_run(result, side, i);
		if (!row)
			continue;
		pair->count[side] += (double)row->count;
		pair->total_ns[side] += (double)row->total_ns;
	}
	pair->count[side] /= parts > 0 ? parts : 1;
	pair->total_ns[side] /= parts > 0 ? parts : 1;
	find_median(result, pair, side);
}

/* Return the smaller mean of the gaps of both sides. */
static double shortest_gap(const struct diff_pair *pair)
{
	double ns = INFINITY;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		if (pair->count[side] > 0)
			ns = fmin(ns, pair->total_ns[side] / pair->count[side]);
	return fmax(1, ns);
}

/* Return the assumed noise between runs, which one run per side does not show. If other programs
 * use the machine, a thread sometimes waits milliseconds for a processor. If a row has only a few
 * short values, all of them may include such a wait. */
static double noise_of_row(const struct diff_result *result, const struct diff_pair *pair)
{
	double shortest = fmin(pair->median[DIFF_BASELINE], pair->median[DIFF_CANDIDATE]);

	if (diff_is_on_gpus(result, pair->table))
		return result->count_noise;
	if (pair->table == DIFF_IDLE && result->others > 0)
		return result->noise + result->wait_ns / shortest_gap(pair);
	if (result->others <= 0 ||
	    (result->busy <= MOSTLY &&
	     fmin(pair->count[DIFF_BASELINE], pair->count[DIFF_CANDIDATE]) >= DIFF_MANY_VALUES))
		return result->noise;
	return result->noise * (1 + DIFF_WAIT_NS / fmax(1, shortest));
}

/* Compare one run per side. A row that consists of one number has no values. */
static void compare_blocks(const struct diff_result *result, struct diff_pair *pair)
{
	const struct diff_row *baseline = pair->rows[DIFF_BASELINE][0],
			      *candidate = pair->rows[DIFF_CANDIDATE][0];

	if (baseline->series.count && candidate->series.count)
		diff_compare_series(&baseline->series, &candidate->series,
				    noise_of_row(result, pair), &pair->of_median, &pair->of_mean);
	if (pair->table == DIFF_IDLE) { /* the number of gaps is a matter of noise */
		diff_compare_sums(&baseline->series, &candidate->series, noise_of_row(result, pair),
				  &pair->of_mean);
		pair->of_median = (struct diff_estimate){0};
	}
}

/* Collect the logarithm of the median, or of the total, of each run. Return: number of values. */
static size_t collect_runs(const struct diff_result *result, const struct diff_pair *pair,
			   unsigned side, bool totals, double *values, double *variance)
{
	size_t n = 0;

	for (size_t i = 0; i < result->sides[side].run_count; i++) {
		const struct diff_row *row = pair->rows[side][i];
		double value = !row     ? 0
			       : totals ? (double)row->total_ns / diff_parts_of_run(result, side, i)
					: row->median;

		if (value <= 0)
			continue;
		values[n++] = log(value);
		*variance += totals ? 0 : row->median_variance;
	}
	return n;
}

static enum diff_usual kind_of(enum diff_table table)
{
	if (table == DIFF_OPERATIONS || table == DIFF_RANGES)
		return DIFF_USUAL_HOST;
	return diff_has_values(table) && table != DIFF_IDLE ? DIFF_USUAL_GPU : DIFF_USUAL_SUMS;
}

/* The runs of both sides as values. */
struct run_values {
	struct diff_values sides[DIFF_SIDES];
	double *logs[DIFF_SIDES];
	double variance; /* mean variance of the runs' medians */
};

static void collect_values(const struct diff_result *result, const struct diff_pair *pair,
			   bool totals, struct run_values *v)
{
	size_t n = 0;

	v->variance = 0;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		v->logs[side] = allocate_list(result->sides[side].run_count, sizeof *v->logs[side]);
		v->sides[side].log = v->logs[side];
		v->sides[side].count =
			collect_runs(result, pair, side, totals, v->logs[side], &v->variance);
		n += v->sides[side].count;
	}
	v->variance /= n ? (double)n : 1;
}

static void drop_values(struct run_values *v)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free(v->logs[side]);
}

/* Return the least variance between runs on a machine that other programs use. If a row consists of
 * a few values, one of them may include a wait for a processor. */
static double variance_of_wait(const struct diff_result *result, const struct diff_pair *pair)
{
	const double total = fmin(pair->total_ns[DIFF_BASELINE], pair->total_ns[DIFF_CANDIDATE]);
	double wait;

	if (pair->table == DIFF_IDLE) {
		wait = log1p(result->wait_ns / shortest_gap(pair));
		return wait * wait;
	}
	if (diff_is_on_gpus(result, pair->table) || total <= 0)
		return 0;
	/* the load is not the same in each run */
	wait = SHARE_OF_LOAD * -log1p(-fmin(result->load, MOST_LOAD));
	if (pair->table != DIFF_TOTALS &&
	    fmin(pair->count[DIFF_BASELINE], pair->count[DIFF_CANDIDATE]) < DIFF_MANY_VALUES)
		wait = fmax(wait, log1p(DIFF_WAIT_NS * result->load / total));
	return wait * wait;
}

static void compare_runs(const struct diff_result *result, struct diff_pair *pair, bool totals,
			 struct diff_estimate *e)
{
	struct diff_noise noise = {
		.floor = result->noise,
		.usual = result->usual[kind_of(pair->table)][totals],
	};
	struct run_values v;

	collect_values(result, pair, totals, &v);
	noise.usual_freedom = noise.usual > 0 ? USUAL_FREEDOM : 0;
	/* differences between runs cannot be smaller than the uncertainty of the runs' medians */
	noise.least = fmax(v.variance, variance_of_wait(result, pair));
	diff_compare_values(&v.sides[0], &v.sides[1], &noise, e);
	drop_values(&v);
}

/* Find the usual variances between runs: the medians over the rows of each kind. */
static void find_usual(struct diff_result *result)
{
	double *variances[DIFF_USUAL_COUNT];

	for (unsigned totals = 0; totals < 2; totals++) {
		size_t counts[DIFF_USUAL_COUNT] = {0};

		for (unsigned k = 0; k < DIFF_USUAL_COUNT; k++)
			variances[k] = allocate_list(result->pair_count + 1, sizeof *variances[k]);
		for (size_t i = 0; i < result->pair_count; i++) {
			const enum diff_usual kind = kind_of(result->pairs[i].table);
			struct run_values v;
			double variance;

			collect_values(result, &result->pairs[i], totals, &v);
			variance = diff_variance_of_runs(&v.sides[0], &v.sides[1]);
			drop_values(&v);
			if (variance >= 0)
				variances[kind][counts[kind]++] = variance;
		}
		for (unsigned k = 0; k < DIFF_USUAL_COUNT; k++) {
			qsort(variances[k], counts[k], sizeof *variances[k], compare_doubles);
			result->usual[k][totals] = counts[k] ? variances[k][counts[k] / 2] : 0;
			free(variances[k]);
		}
	}
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
		.change = diff_ratio_of(sides[DIFF_BASELINE], sides[DIFF_CANDIDATE]),
	};
}

/* Return true if @e may decide the verdict. An estimate that opposes the total may decide only that
 * a row is slower, if it is significant and the estimate of the total is not: a few outliers of the
 * baseline then moved the total. If counts differ, the counts moved the total. A row that takes
 * more time in total is never faster. */
static bool may_decide(const struct diff_pair *pair, const struct diff_estimate *e,
		       const struct diff_estimate *other, bool by_counts)
{
	if (!e->judged || !diff_opposes_total(pair, e))
		return e->judged;
	return e->change > 0 && !by_counts && diff_is_significant(e) &&
	       (!diff_is_significant(other) || diff_opposes_total(pair, other));
}

/* Choose the statistic of a row. Show the median unless only the mean decides. */
static void choose_measure(struct diff_pair *pair)
{
	const struct diff_estimate *median = &pair->of_median, *mean = &pair->of_mean;
	const bool by_counts = pair->count[DIFF_BASELINE] != pair->count[DIFF_CANDIDATE];
	const bool by_median = may_decide(pair, median, mean, by_counts),
		   by_mean = may_decide(pair, mean, median, by_counts);
	const double tests = median->judged && mean->judged ? 2 : 1;

	pair->judged = median->judged || mean->judged;
	if (by_median && by_mean) { /* two tests were made: double the smaller p */
		pair->p = fmin(1, tests * fmin(median->p, mean->p));
		pair->by = mean->p < median->p && median->p > 1e-4 && pair->p <= DIFF_LEVEL
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
	choose_measure(pair);
}

/* Verdicts ----------------------------------------------------------------------------- */

static double longest_of(const struct diff_result *result)
{
	double ns = 0;

	for (size_t i = 0; i < result->pair_count; i++)
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			if (result->pairs[i].table == (result->parts ? DIFF_RANGES : DIFF_TOTALS))
				ns = fmax(ns, result->pairs[i].total_ns[side]);
	return ns;
}

/* Return true if the row changed by enough time for a verdict. */
static bool is_relevant(const struct diff_result *result, const struct diff_pair *pair)
{
	return kind_of(pair->table) != DIFF_USUAL_HOST || diff_moved(result, pair, LEAST_HOST);
}

static enum diff_verdict judge_pair(const struct diff_result *result, const struct diff_pair *pair)
{
	if (pair->table == DIFF_IDLE) { /* a missing cause took no time */
		if (!diff_moved(result, pair, LEAST_IDLE))
			return pair->judged ? DIFF_NOISE : DIFF_TOO_FEW;
	} else {
		if (!diff_has_side(result, pair, DIFF_BASELINE))
			return DIFF_NEW;
		if (!diff_has_side(result, pair, DIFF_CANDIDATE))
			return DIFF_GONE;
	}
	if (pair->judged && pair->q <= result->level && is_relevant(result, pair))
		return diff_change_of(pair) > 0 ? DIFF_SLOWER : DIFF_FASTER;
	if (pair->count_verdict == DIFF_COUNT_MORE)
		return DIFF_MORE;
	if (pair->count_verdict == DIFF_COUNT_FEWER)
		return DIFF_FEWER;
	if (pair->renamed)
		return DIFF_RENAMED;
	if (!pair->judged)
		return DIFF_TOO_FEW;
	if (!diff_moved_much(result, pair))
		return DIFF_NOISE;
	if (pair->by == DIFF_TOTAL &&
	    (diff_is_significant(&pair->of_median) || diff_is_significant(&pair->of_mean)))
		/* the single values got faster and the total slower, or vice versa */
		return DIFF_UNSURE;
	if (result->method == DIFF_BY_RUNS) /* a change, but not among so many rows, or with load */
		return pair->p <= DIFF_LEVEL ||
				       (result->load > LOADED && fabs(pair->of_mean.change) > LARGE)
			       ? DIFF_UNSURE
			       : DIFF_NOISE;
	return result->method == DIFF_BY_BLOCKS && pair->of_mean.known &&
			       fabs(pair->of_mean.change) > result->count_noise
		       ? DIFF_UNSURE
		       : DIFF_NOISE;
}

/* Correct all tests together: those of the times of all rows of all tables, and those of counts
 * that vary between runs. The printed tables do not matter. */
static void control_discoveries(struct diff_result *result)
{
	double *p = allocate_list(2 * result->pair_count + 1, sizeof *p);
	size_t n = 0;

	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		result->judged += pair->judged;
		if (pair->judged)
			p[n++] = pair->p;
		if (pair->count_judged)
			p[n++] = pair->count_p;
	}
	diff_control_discoveries(p, n);
	result->tests = n;
	for (size_t i = n = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		if (pair->judged)
			pair->q = p[n++];
		if (pair->count_judged)
			pair->count_q = p[n++];
		diff_judge_count(result, pair);
	}
	free(p);
}

static void weigh(struct diff_result *result)
{
	double moved[DIFF_TABLE_COUNT] = {0}, sums[DIFF_TABLE_COUNT][DIFF_SIDES] = {{0}},
	       counts[DIFF_TABLE_COUNT][DIFF_SIDES] = {{0}};

	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		moved[pair->table] += fabs(diff_added_ns(pair));
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			sums[pair->table][side] += pair->total_ns[side];
			counts[pair->table][side] += pair->count[side];
		}
	}
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		if (moved[pair->table] > 0)
			pair->share = diff_added_ns(pair) / moved[pair->table];
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			if (sums[pair->table][side] > 0)
				pair->weight = fmax(pair->weight,
						    pair->total_ns[side] / sums[pair->table][side]);
			if (counts[pair->table][side] > 0)
				pair->count_weight =
					fmax(pair->count_weight,
					     pair->count[side] / counts[pair->table][side]);
		}
	}
}

/* Return true if the row's count exceeds the limit of --fail-over. */
static bool is_count_over(const struct diff_pair *pair, const struct diff_options *options)
{
	const double limit = options->limits[pair->table];

	if (options->count_limit != DIFF_NO_LIMIT && pair->table == DIFF_OPERATIONS &&
	    pair->verdict == DIFF_NEW) /* names of operations do not change */
		return !isinf(options->count_limit);
	if (pair->count_verdict != DIFF_COUNT_MORE)
		return false;
	if (options->count_limit != DIFF_NO_LIMIT)
		return diff_change_of_count(pair) > options->count_limit;
	return limit >= 0 && fmax(pair->weight, pair->count_weight) >= LEAST_WEIGHT &&
	       diff_change_of_count(pair) > limit;
}

/* Return true if the row exceeds the limit of --fail-over. */
static bool is_over(const struct diff_pair *pair, const struct diff_options *options)
{
	const double limit = options->limits[pair->table];

	return (limit >= 0 && pair->weight >= LEAST_WEIGHT && pair->verdict == DIFF_SLOWER &&
		diff_change_of(pair) > limit) ||
	       is_count_over(pair, options);
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

/* Count the verdicts. Rows that are one number per run have no verdict if a side has one run. */
static void count_verdicts(struct diff_result *result)
{
	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (pair->verdict != DIFF_TOO_FEW || diff_has_values(pair->table))
			result->verdicts[pair->verdict]++;
		result->counts[pair->count_verdict]++;
		result->over += pair->over;
	}
}

void diff_align(struct diff_result *result, const struct diff_options *options)
{
	align_pairs(result);
	result->exact_counts = diff_counts_are_exact(result);
	if (result->method == DIFF_BY_RUNS)
		find_usual(result);
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		if (!pair->name_baseline)
			pair->name_baseline = pair->name;
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			sum_side(result, pair, side);
		if (diff_has_side(result, pair, DIFF_BASELINE) &&
		    diff_has_side(result, pair, DIFF_CANDIDATE))
			compare_pair(result, pair);
	}
	result->longest_ns = longest_of(result);
	for (size_t i = 0; i < result->pair_count; i++)
		if (diff_has_side(result, &result->pairs[i], DIFF_BASELINE) &&
		    diff_has_side(result, &result->pairs[i], DIFF_CANDIDATE))
			diff_compare_counts(result, &result->pairs[i]);
	control_discoveries(result);
	weigh(result);
	for (size_t i = 0; i < result->pair_count; i++) {
		struct diff_pair *pair = &result->pairs[i];

		pair->verdict = judge_pair(result, pair);
		/* show the statistic that contains the time difference */
		if (pair->verdict == DIFF_UNSURE)
			pair->by =
				diff_opposes_total(pair, &pair->of_mean) ? DIFF_TOTAL : DIFF_MEAN;
		pair->over = is_over(pair, options);
	}
	count_verdicts(result);
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
