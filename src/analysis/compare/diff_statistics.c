/* SPDX-License-Identifier: MIT */
/* See diff_statistics.h. Random numbers have fixed seeds, so the same captures always give the same
 * result. docs/internals/diff-statistics.md names the sources, the departures from them and their
 * reasons. Methods:
 *
 *   one run per side   bootstrap of blocks that do not overlap (Carlstein 1986), with two block
 *                      sizes (after Flyvbjerg, Petersen 1989). Ours: add_drift(), between_runs().
 *   several values     Student's t with a common variance (Student 1908), to which the usual
 *                      variance of similar rows is added (Smyth 2004); from ROBUST values on,
 *                      median and MAD (Hampel 1974). serial_factor(): variance of correlated values
 *                      (Bayley, Hammersley 1946). Ours: share_as_far().
 *   smallest effect    test of an interval null hypothesis (Hodges, Lehmann 1954)
 *   error of a median  order statistics (McKean, Schrader 1984)
 *   many rows          false discovery rate (Benjamini, Hochberg 1995) */
#include "analysis/compare/diff_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"

enum {
	BLOCKS = DIFF_MANY_VALUES,
	BLOCKS_COARSE = 12, /* number of coarse blocks, which show slow drift */
	DRAWS = 200,
	LEAST_VALUES = 5, /* smallest number of values whose noise can be estimated */
	/* smallest number of values for which medians are compared instead of means */
	ROBUST = 8,
};
#define TAIL           0.025 /* probability of each tail outside a 95 % interval */
/* Variance between runs: a multiple of the variance of single values, plus a multiple of its
 * square. */
#define BETWEEN        0.01
#define BETWEEN_STATES 0.2
#define AS_FAR         0.85 /* a value at this share of a distance is about as far */
#define BETWEEN_SUMS   0.01 /* the same for sums of gaps, whose lengths differ by factors */

/* Student's t ------------------------------------------------------------------------- */

/* Compute the continued fraction of the incomplete beta function with Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + even / c;
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		d = 1 + odd * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + odd / c;
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-13)
			break;
	}
	return f;
}

/* lgamma() without its global variable, because several threads call this function. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double diff_student_tail(double t, double freedom)
{
	double both = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));

	return t >= 0 ? both / 2 : 1 - both / 2;
}

double diff_student_quantile(double tail, double freedom)
{
	double low = 0, high = 2;

	while (diff_student_tail(high, freedom) > tail && high < 1e9)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (diff_student_tail(middle, freedom) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Judge an estimate of the logarithm of a ratio, based on its standard error. The null hypothesis
 * is a true change of at most @floor, so this margin is added at both ends of the interval. */
static void judge(struct diff_estimate *e, double ratio, double error, double freedom, double floor)
{
	double margin = log1p(floor), reach;

	e->known = e->judged = true;
	e->change = expm1(ratio);
	if (error < 1e-9) /* the values are equal within the precision of any clock */
		error = 1e-9;
	reach = diff_student_quantile(TAIL, freedom) * error + margin;
	e->low = expm1(ratio - reach);
	e->high = expm1(ratio + reach);
	e->p = diff_student_tail((fabs(ratio) - margin) / error, freedom) +
	       diff_student_tail((fabs(ratio) + margin) / error, freedom);
	if (e->p > 1)
		e->p = 1;
}

/* One run per side ---------------------------------------------------------------------- */

struct ordered {
	float value;
	uint16_t block;
};

/* The values to draw from. */
struct drawing {
	struct ordered values[DIFF_SAMPLE];
	uint32_t count;
	/* sum and number of values in the cells of each block */
	double sums[BLOCKS], counts[BLOCKS];
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static void prepare(struct drawing *d, const struct diff_series *s, unsigned blocks)
{
	memset(d->sums, 0, sizeof d->sums);
	memset(d->counts, 0, sizeof d->counts);
	d->count = s->sample_count;
	for (uint32_t i = 0; i < d->count; i++)
		d->values[i] = (struct ordered){s->sample[i], (uint16_t)(i * blocks / d->count)};
	qsort(d->values, d->count, sizeof *d->values, compare_ordered);
	for (uint32_t i = 0; i < s->cell_count; i++) {
		unsigned block = i * blocks / s->cell_count;

		d->sums[block] += s->cells[i];
		d->counts[block] += (double)(i + 1 < s->cell_count ? s->cell_stride : s->in_cell);
	}
}

/* Return the median of the values if each block occurs the number of times in @times. */
static double drawn_median(const struct drawing *d, const unsigned *times)
{
	uint64_t all = 0, sum = 0;

	for (uint32_t i = 0; i < d->count; i++)
		all += times[d->values[i].block];
	for (uint32_t i = 0; i < d->count; i++) {
		sum += times[d->values[i].block];
		if (2 * sum > all)
			return (double)d->values[i].value;
		if (2 * sum == all && times[d->values[i].block]) {
			uint32_t next = i + 1;

			while (next < d->count && !times[d->values[next].block])
				next++;
			return next < d->count ? ((double)d->values[i].value +
						  (double)d->values[next].value) /
							 2
					       : (double)d->values[i].value;
		}
	}
	return 0;
}

static double drawn_mean(const struct drawing *d, const unsigned *times, unsigned blocks)
{
	double sum = 0, count = 0;

	for (unsigned i = 0; i < blocks; i++) {
		sum += d->sums[i] * times[i];
		count += d->counts[i] * times[i];
	}
	return count > 0 ? sum / count : 0;
}

static void draw_blocks(unsigned *times, unsigned blocks, uint64_t *random)
{
	memset(times, 0, blocks * sizeof *times);
	for (unsigned i = 0; i < blocks; i++)
		times[lookup_mix(*random += UINT64_C(0x9e3779b97f4a7c15)) % blocks]++;
}

struct moments {
	double sum, squares;
	unsigned count;
};

static void add_moment(struct moments *m, double baseline, double candidate)
{
	double ratio;

	if (baseline <= 0 || candidate <= 0)
		return;
	ratio = log(candidate / baseline);
	m->sum += ratio;
	m->squares += ratio * ratio;
	m->count++;
}

static double variance_of(const struct moments *m)
{
	double mean = m->count ? m->sum / m->count : 0;
	double variance = m->count ? m->squares / m->count - mean * mean : 0;

	return variance > 0 ? variance : 0;
}

/* Squared standard errors: of the ratio of the sides, and of the baseline alone. */
struct errors {
	double ratio, baseline;
};

static struct errors errors_of(const struct moments *ratios, const struct moments *baselines,
			       unsigned blocks)
{
	/* a bootstrap of n blocks underestimates the variance by (n - 1) / n */
	const double factor = (double)blocks / (blocks - 1);

	return (struct errors){variance_of(ratios) * factor, variance_of(baselines) * factor};
}

static void draw(const struct diff_series *baseline, const struct diff_series *candidate,
		 unsigned blocks, struct errors *median, struct errors *mean)
{
	struct drawing *b = allocate_list(2, sizeof *b), *a = b + 1;
	struct moments medians = {0}, means = {0}, medians_baseline = {0}, means_baseline = {0};
	unsigned times_baseline[BLOCKS], times_candidate[BLOCKS];
	bool paired = baseline->count == candidate->count;
	uint64_t random = 1;

	prepare(b, baseline, blocks);
	prepare(a, candidate, blocks);
	for (unsigned i = 0; i < DRAWS; i++) {
		double of_median, of_mean;

		draw_blocks(times_baseline, blocks, &random);
		if (paired)
			memcpy(times_candidate, times_baseline, sizeof times_candidate);
		else
			draw_blocks(times_candidate, blocks, &random);
		of_median = drawn_median(b, times_baseline);
		of_mean = drawn_mean(b, times_baseline, blocks);
		add_moment(&medians_baseline, 1, of_median);
		add_moment(&means_baseline, 1, of_mean);
		add_moment(&medians, of_median, drawn_median(a, times_candidate));
		add_moment(&means, of_mean, drawn_mean(a, times_candidate, blocks));
	}
	free(b);
	*median = errors_of(&medians, &medians_baseline, blocks);
	*mean = errors_of(&means, &means_baseline, blocks);
}

/* Return the variance of a run's drift, based on the variances of fine and coarse blocks. The two
 * variances would be equal if distant values were as independent as neighbours. The excess of the
 * variance of coarse blocks is drift. A run may stay in one state from start to end, so more values
 * do not reduce the drift. */
static double drift_of(double fine, double coarse)
{
	return coarse > fine
		       ? BLOCKS_COARSE * (coarse - fine) / (1 - (double)BLOCKS_COARSE / BLOCKS)
		       : 0;
}

/* Add the geometric mean of two drifts: the drift of the ratio, and twice the drift of the
 * baseline. The ratio does not contain the phases of the program, which are the same on both sides.
 * The baseline does not contain a slowdown that starts during the candidate. Drift in both the
 * ratio and the baseline is noise. */
static double add_drift(const struct errors *fine, const struct errors *coarse)
{
	return fmax(fine->ratio, coarse->ratio) + sqrt(drift_of(fine->ratio, coarse->ratio) * 2 *
						       drift_of(fine->baseline, coarse->baseline));
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Estimate the variance of values from their quartiles. Sorts @values. */
static double spread_of(double *values, uint32_t n)
{
	double spread;

	qsort(values, n, sizeof *values, compare_doubles);
	spread = (values[n - 1 - n / 4] - values[n / 4]) / 1.349;
	return spread * spread;
}

/* Return the variance of the logarithms of single values, estimated from quartiles. If both sides
 * have the same number of values, the variance of the differences between values at the same
 * position. */
static double variance_of_values(const struct diff_series *baseline,
				 const struct diff_series *candidate)
{
	bool paired = baseline->count == candidate->count;
	double logs[DIFF_SAMPLE], variance = 0;

	for (unsigned side = paired; side < 2; side++) {
		const struct diff_series *s = side ? candidate : baseline;

		for (uint32_t i = 0; i < s->sample_count; i++) {
			double other = paired ? (double)baseline->sample[i] : 1;

			logs[i] = log(fmax(0.5, (double)s->sample[i]) / fmax(0.5, other));
		}
		variance += spread_of(logs, s->sample_count);
	}
	return variance;
}

/* Estimate the variance between runs from the variance of values. If values differ by factors, as
 * in a program with two states, runs differ nearly as much. */
static double between_runs(double variance)
{
	return BETWEEN * variance + BETWEEN_STATES * variance * variance;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Squared standard errors of the logarithms of the ratios of medians and means. */
struct series_errors {
	double median, mean, freedom;
	double spread; /* variance of single values */
};

/* Return false if the noise of so few values is unknown. */
static bool find_errors(const struct diff_series *baseline, const struct diff_series *candidate,
			struct series_errors *e)
{
	uint64_t values = least(baseline->sample_count, candidate->sample_count);
	unsigned blocks = (unsigned)least(least(BLOCKS, values),
					  least(baseline->cell_count, candidate->cell_count));
	struct errors of_median, of_mean;

	if (blocks < LEAST_VALUES)
		return false;
	draw(baseline, candidate, blocks, &of_median, &of_mean);
	e->freedom = blocks - 1;
	if (blocks == BLOCKS) {
		struct errors coarse_median, coarse_mean;

		draw(baseline, candidate, BLOCKS_COARSE, &coarse_median, &coarse_mean);
		of_median.ratio = add_drift(&of_median, &coarse_median);
		of_mean.ratio = add_drift(&of_mean, &coarse_mean);
		e->freedom = BLOCKS_COARSE - 1;
	}
	e->median = of_median.ratio;
	e->mean = of_mean.ratio;
	e->spread = variance_of_values(baseline, candidate);
	return true;
}

void diff_compare_series(const struct diff_series *baseline, const struct diff_series *candidate,
			 double floor, struct diff_estimate *median, struct diff_estimate *mean)
{
	double middle_baseline = diff_series_median(baseline),
	       middle_candidate = diff_series_median(candidate);
	struct series_errors e;
	double between;

	*median = *mean = (struct diff_estimate){0};
	if (middle_baseline <= 0 || middle_candidate <= 0 || baseline->total <= 0 ||
	    candidate->total <= 0)
		return;
	median->known = mean->known = true;
	median->baseline = middle_baseline;
	median->candidate = middle_candidate;
	median->change = middle_candidate / middle_baseline - 1;
	mean->baseline = diff_series_mean(baseline);
	mean->candidate = diff_series_mean(candidate);
	mean->change = mean->candidate / mean->baseline - 1;
	if (!find_errors(baseline, candidate, &e))
		return;
	between = between_runs(e.spread);
	judge(median, log(middle_candidate / middle_baseline), sqrt(e.median + between), e.freedom,
	      floor);
	judge(mean, log(mean->candidate / mean->baseline), sqrt(e.mean + between), e.freedom,
	      floor);
}

void diff_compare_sums(const struct diff_series *baseline, const struct diff_series *candidate,
		       double floor, struct diff_estimate *sum)
{
	struct series_errors e;

	*sum = (struct diff_estimate){0};
	if (baseline->total <= 0 || candidate->total <= 0)
		return;
	sum->known = true;
	sum->baseline = baseline->total;
	sum->candidate = candidate->total;
	sum->change = candidate->total / baseline->total - 1;
	if (!find_errors(baseline, candidate, &e))
		return;
	/* independent events vary by the square root of their number */
	e.mean += BETWEEN_SUMS + 1 / (double)baseline->count + 1 / (double)candidate->count;
	judge(sum, log(candidate->total / baseline->total), sqrt(e.mean), e.freedom, floor);
}

/* Several values per side ---------------------------------------------------------------- */

/* Return the median. Sorts @values. */
static double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof *values, compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double location_of(const struct diff_values *v, bool robust)
{
	double sum = 0;

	if (robust) {
		double *copy = allocate_list(v->count, sizeof *copy);

		memcpy(copy, v->log, v->count * sizeof *copy);
		sum = median_of(copy, v->count);
		free(copy);
		return sum;
	}
	for (size_t i = 0; i < v->count; i++)
		sum += v->log[i];
	return sum / (double)v->count;
}

/* Return the differences between the values and the location of their side. Owner: caller. */
static double *residuals_of(const struct diff_values *baseline, double at_baseline,
			    const struct diff_values *candidate, double at_candidate)
{
	double *r = allocate_list(baseline->count + candidate->count, sizeof *r);

	for (size_t i = 0; i < baseline->count; i++)
		r[i] = baseline->log[i] - at_baseline;
	for (size_t i = 0; i < candidate->count; i++)
		r[baseline->count + i] = candidate->log[i] - at_candidate;
	return r;
}

static double plain_variance(const double *r, size_t n, double freedom)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += r[i] * r[i];
	return squares / freedom;
}

static double robust_variance(const double *r, size_t n, double freedom)
{
	double *copy = allocate_list(n, sizeof *copy), scale;

	for (size_t i = 0; i < n; i++)
		copy[i] = fabs(r[i]);
	scale = 1.4826 * median_of(copy, n);
	free(copy);
	return scale > 0 ? scale * scale * (double)n / freedom : plain_variance(r, n, freedom);
}

/* Return the factor by which the variance of a sum grows because neighbours are correlated: (1 + r)
 * / (1 - r), where r is the first-order correlation. Outliers count as 3 deviations. */
static double serial_factor(const double *r, size_t n, double variance)
{
	double most = 3 * sqrt(variance), products = 0, squares = 0, correlation;

	if (n < ROBUST || variance <= 0)
		return 1;
	for (size_t i = 0; i < n; i++) {
		double x = fmax(-most, fmin(most, r[i]));

		squares += x * x;
		if (i)
			products += x * fmax(-most, fmin(most, r[i - 1]));
	}
	correlation = squares > 0 ? products / squares : 0;
	correlation = fmax(0, fmin(0.9, correlation));
	return (1 + correlation) / (1 - correlation);
}

/* Return a p value for a comparison of one or two values with many values: the share of the many
 * values that are about as far from their middle, because a robust measure of spread hides outliers
 * and the smaller of two groups, such as steps with one launch less. One outlier, for example the
 * first step, is ignored. */
static double share_as_far(const struct diff_values *baseline, double at_baseline,
			   const struct diff_values *candidate, double at_candidate)
{
	const struct diff_values *many = baseline->count > candidate->count ? baseline : candidate;
	double middle = many == baseline ? at_baseline : at_candidate,
	       away = (many == baseline ? at_candidate : at_baseline) - middle;
	size_t far = 0;

	if (many->count < ROBUST || baseline->count + candidate->count - many->count > 2)
		return 0;
	for (size_t i = 0; i < many->count; i++)
		far += away > 0 ? many->log[i] - middle >= AS_FAR * away
				: many->log[i] - middle <= AS_FAR * away;
	return far > 1 ? fmin(1, 2.0 * (double)(far - 1) / (double)many->count) : 0;
}

void diff_compare_values(const struct diff_values *baseline, const struct diff_values *candidate,
			 const struct diff_noise *noise, struct diff_estimate *e)
{
	size_t n = baseline->count, m = candidate->count;
	double at_baseline, at_candidate, variance, squared, freedom, *r;
	double of_baseline = 1, of_candidate = 1, rare;
	bool robust = n >= ROBUST || m >= ROBUST;

	*e = (struct diff_estimate){0};
	if (!n || !m)
		return;
	at_baseline = location_of(baseline, robust);
	at_candidate = location_of(candidate, robust);
	e->known = true;
	e->change = expm1(at_candidate - at_baseline);
	e->baseline = exp(at_baseline);
	e->candidate = exp(at_candidate);
	if (n + m < 3)
		return;
	freedom = (double)(n + m - 2);
	r = residuals_of(baseline, at_baseline, candidate, at_candidate);
	variance = robust ? robust_variance(r, n + m, freedom) : plain_variance(r, n + m, freedom);
	if (noise->in_order) {
		of_baseline = serial_factor(r, n, variance);
		of_candidate = serial_factor(r + n, m, variance);
	}
	rare = share_as_far(baseline, at_baseline, candidate, at_candidate);
	free(r);
	variance = (freedom * variance + noise->usual_freedom * noise->usual) /
		   (freedom + noise->usual_freedom);
	freedom += noise->usual_freedom;
	variance = fmax(variance, noise->least);
	if (robust) { /* the variance of a median is pi/2 times that of a mean */
		of_baseline *= n > 2 ? M_PI_2 : 1;
		of_candidate *= m > 2 ? M_PI_2 : 1;
	}
	squared = variance * (of_baseline / (double)n + of_candidate / (double)m);
	judge(e, at_candidate - at_baseline, sqrt(squared), freedom, noise->floor);
	e->p = fmax(e->p, rare);
}

double diff_variance_of_runs(const struct diff_values *baseline,
			     const struct diff_values *candidate)
{
	const size_t n = baseline->count, m = candidate->count;
	const bool robust = n >= ROBUST || m >= ROBUST;
	double variance, *r;

	if (!n || !m || n + m < 3)
		return -1;
	r = residuals_of(baseline, location_of(baseline, robust), candidate,
			 location_of(candidate, robust));
	variance = robust ? robust_variance(r, n + m, (double)(n + m - 2))
			  : plain_variance(r, n + m, (double)(n + m - 2));
	free(r);
	return variance;
}

double diff_variance_of_median(const struct diff_series *s)
{
	uint32_t n = s->sample_count, low, high;
	struct drawing *d;
	double error = 0;

	if (n < LEAST_VALUES)
		return 0;
	d = allocate_list(1, sizeof *d);
	prepare(d, s, 1);
	low = (uint32_t)fmax(0, floor(n / 2.0 - 0.98 * sqrt(n)));
	high = (uint32_t)fmin(n - 1, ceil(n / 2.0 + 0.98 * sqrt(n)));
	if (d->values[low].value > 0)
		error = log((double)(d->values[high].value / d->values[low].value)) / (2 * 1.96);
	free(d);
	return error * error;
}

/* Many comparisons --------------------------------------------------------------------- */

struct ranked {
	double p;
	size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->at > y->at) - (x->at < y->at);
}

void diff_control_discoveries(double *p, size_t count)
{
	struct ranked *sorted = allocate_list(count + 1, sizeof *sorted);
	double smallest = 1;

	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct ranked){p[i], i};
	qsort(sorted, count, sizeof *sorted, compare_ranked);
	for (size_t i = count; i-- > 0;) {
		double adjusted = sorted[i].p * (double)count / (double)(i + 1);

		smallest = adjusted < smallest ? adjusted : smallest;
		p[sorted[i].at] = smallest;
	}
	free(sorted);
}
