/* SPDX-License-Identifier: MIT */
/* Statistics of `gputap diff`: Student's t compared with published tables, and the error rate on
 * synthetic series with known differences. The random numbers are the same in each run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/lookup.h"
#include "analysis/compare/diff.h"
#include "analysis/compare/diff_series.h"
#include "analysis/compare/diff_statistics.h"
#include "unit.h"

#define CHECK_NEAR(value, wanted, most)                                                     \
	do {                                                                                \
		double value_ = (value), wanted_ = (wanted);                                \
		if (!(fabs(value_ - wanted_) <= (most)))                                    \
			unit_fail(__FILE__, __LINE__, "%s is %.9g, not %.9g +- %g", #value, \
				  value_, wanted_, (double)(most));                         \
	} while (0)

static double uniform(uint64_t *state)
{
	return ((double)(lookup_mix(*state += UINT64_C(0x9e3779b97f4a7c15)) >> 11) + 0.5) /
	       9007199254740992.0;
}

static double normal(uint64_t *state)
{
	double u = uniform(state), v = uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Durations of a kernel in one run. */
struct run_model {
	unsigned count;
	double median;
	double spread;      /* standard deviation of the logarithm of each duration */
	double correlation; /* correlation between neighbouring durations */
	double outliers;    /* share of durations that are five times as long */
	double run_spread;  /* variation of the level between runs */
	double slower;      /* relative slowdown from slower_from on */
	unsigned slower_from;
	unsigned period; /* every period-th duration is three times as long */
};

static void make_run(struct diff_series *s, const struct run_model *m, uint64_t *state)
{
	double level = m->run_spread * normal(state), last = normal(state);

	*s = (struct diff_series){0};
	for (unsigned i = 0; i < m->count; i++) {
		double log_ns = log(m->median) + level;

		last = m->correlation * last +
		       sqrt(1 - m->correlation * m->correlation) * normal(state);
		log_ns += m->spread * last;
		if (uniform(state) < m->outliers)
			log_ns += log(5);
		if (m->period && i % m->period == 0)
			log_ns += log(3);
		if (m->slower > 0 && i >= m->slower_from)
			log_ns += log1p(m->slower);
		diff_series_add(s, round(exp(log_ns)));
	}
}

/* Return the share of pairs of runs that are reported as different, at a level of 5 %. */
static double share_found(const struct run_model *before, const struct run_model *after,
			  double floor, unsigned pairs)
{
	uint64_t state = 42;
	unsigned found = 0;

	for (unsigned i = 0; i < pairs; i++) {
		struct diff_series b, a;
		struct diff_estimate median, mean;

		make_run(&b, before, &state);
		make_run(&a, after, &state);
		diff_compare_series(&b, &a, floor, &median, &mean);
		CHECK(median.judged && mean.judged);
		found += 2 * fmin(median.p, mean.p) <= 0.05;
		diff_series_fini(&b);
		diff_series_fini(&a);
	}
	if (getenv("RATES"))
		fprintf(stderr, "rate %g\n", (double)found / pairs);
	return (double)found / pairs;
}

UNIT_TEST(tails_of_student_are_those_of_the_tables)
{
	CHECK_NEAR(diff_student_quantile(0.025, 1), 12.7062, 1e-3);
	CHECK_NEAR(diff_student_quantile(0.025, 2), 4.30265, 1e-4);
	CHECK_NEAR(diff_student_quantile(0.025, 7), 2.36462, 1e-4);
	CHECK_NEAR(diff_student_quantile(0.005, 10), 3.16927, 1e-4);
	CHECK_NEAR(diff_student_quantile(0.025, 1e6), 1.95996, 1e-4);
	CHECK_NEAR(diff_student_tail(0, 5), 0.5, 1e-12);
	CHECK_NEAR(diff_student_tail(2, 10), 0.036694, 1e-6);
	CHECK_NEAR(diff_student_tail(-2, 10), 1 - 0.036694, 1e-6);
}

UNIT_TEST(discoveries_are_controlled_as_benjamini_and_hochberg_did)
{
	/* the fifteen p values in section 3.2 of their paper of 1995, of which four are
	 * discoveries */
	double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		      0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
	unsigned found = 0;

	diff_control_discoveries(p, 15);
	for (unsigned i = 0; i < 15; i++) {
		found += p[i] <= 0.05;
		CHECK(!i || p[i] >= p[i - 1]);
	}
	CHECK_EQ(found, 4);
	CHECK_NEAR(p[0], 0.0015, 1e-9);
	diff_control_discoveries(p, 0);
}

UNIT_TEST(a_series_keeps_its_median_and_its_sum_in_little_memory)
{
	uint64_t state = 7;
	struct diff_series s = {0};
	double sum = 0;

	for (unsigned i = 0; i < 999; i++) {
		diff_series_add(&s, i);
		sum += i;
	}
	CHECK_NEAR(diff_series_median(&s), 499, 0);
	for (unsigned i = 0; i < 3000000; i++) {
		double value = 1000 + 100 * normal(&state);

		diff_series_add(&s, value);
		sum += value;
	}
	CHECK_NEAR(s.total, sum, 1);
	CHECK(s.sample_count <= DIFF_SAMPLE && s.sample_count >= DIFF_SAMPLE / 2);
	CHECK_NEAR(diff_series_median(&s), 1000, 20);
	diff_series_fini(&s);
}

UNIT_TEST(a_sample_has_no_step_that_a_period_could_match)
{
	struct diff_series s = {0};
	double sum = 0;

	for (unsigned i = 0; i < 1 << 20; i++)
		diff_series_add(&s, i % 4 == 0 ? 100 : 10);
	for (unsigned i = 0; i < s.sample_count; i++)
		sum += s.sample[i] > 50;
	CHECK_NEAR(sum / s.sample_count, 0.25, 0.06);
	diff_series_fini(&s);
}

UNIT_TEST(runs_of_one_program_seldom_differ)
{
	const struct run_model
		white = {.count = 2000, .median = 50000, .spread = 0.1},
		alike = {.count = 5000, .median = 50000, .spread = 0.1, .correlation = 0.98},
		tails = {.count = 3000, .median = 8000, .spread = 0.05, .outliers = 0.02},
		many_tails = {.count = 500, .median = 8000, .spread = 0.05, .outliers = 0.1},
		mixed = {.count = 3000, .median = 8000, .spread = 0.02, .period = 7},
		drift = {.count = 4000, .median = 50000, .spread = 0.1, .correlation = 0.9995},
		levels = {.count = 2000, .median = 50000, .spread = 0.03, .run_spread = 0.007},
		few = {.count = 12, .median = 50000, .spread = 0.1};

	CHECK(share_found(&white, &white, 0, 200) <= 0.05);
	CHECK(share_found(&alike, &alike, 0, 200) <= 0.07);
	CHECK(share_found(&tails, &tails, 0, 200) <= 0.05);
	CHECK(share_found(&many_tails, &many_tails, 0, 200) <= 0.05);
	CHECK(share_found(&mixed, &mixed, 0, 200) <= 0.05);
	CHECK(share_found(&drift, &drift, 0.02, 200) <= 0.07);
	CHECK(share_found(&levels, &levels, 0.02, 200) <= 0.05);
	CHECK(share_found(&few, &few, 0.02, 200) <= 0.05);
}

UNIT_TEST(slowdowns_are_found)
{
	struct run_model m = {.count = 3000,
			      .median = 50000,
			      .spread = 0.03,
			      .correlation = 0.5,
			      .outliers = 0.01,
			      .run_spread = 0.005},
			 slow = m;

	slow.median *= 1.05;
	CHECK(share_found(&m, &slow, 0.02, 100) >= 0.6);
	slow.median = m.median * 1.2;
	CHECK(share_found(&m, &slow, 0.02, 100) == 1);
	m.spread = slow.spread = 0.1;
	CHECK(share_found(&m, &slow, 0.02, 100) >= 0.95);
	/* from the tenth of forty steps on */
	slow = m;
	slow.slower = 0.2;
	slow.slower_from = slow.count / 4;
	CHECK(share_found(&m, &slow, 0.02, 100) >= 0.85);
}

static double values_found(size_t n, size_t m, double spread, double shift, double far)
{
	uint64_t state = 3;
	unsigned found = 0, trials = 2000;
	double b[64], a[64];

	for (unsigned t = 0; t < trials; t++) {
		struct diff_estimate e;

		for (size_t i = 0; i < n; i++)
			b[i] = spread * normal(&state);
		for (size_t i = 0; i < m; i++)
			a[i] = shift + spread * normal(&state);
		b[0] += far;
		diff_compare_values(&(struct diff_values){b, n}, &(struct diff_values){a, m},
				    &(struct diff_noise){0}, &e);
		CHECK(e.judged);
		found += e.p <= 0.05;
	}
	if (getenv("RATES"))
		fprintf(stderr, "rate %g\n", (double)found / trials);
	return (double)found / trials;
}

UNIT_TEST(several_runs_a_side_are_wrong_as_often_as_said)
{
	CHECK_NEAR(values_found(2, 2, 0.03, 0, 0), 0.05, 0.015);
	CHECK_NEAR(values_found(5, 5, 0.03, 0, 0), 0.05, 0.015);
	CHECK_NEAR(values_found(6, 1, 0.03, 0, 0), 0.05, 0.015);
	CHECK(values_found(20, 1, 0.03, 0, 0) <= 0.09); /* approximate, because medians are used */
	CHECK(values_found(20, 20, 0.03, 0, 0) <= 0.07);
	CHECK(values_found(5, 5, 0.01, log(1.05), 0) >= 0.95);
}

UNIT_TEST(one_step_that_warms_up_hides_no_other)
{
	CHECK(values_found(19, 1, 0.02, log(1.5), log(20)) >= 0.99);
}

UNIT_TEST(what_happens_now_and_then_is_nothing_new)
{
	uint64_t state = 11;
	struct diff_estimate e;
	double b[20], a = 3.0;

	for (unsigned i = 0; i < 20; i++)
		b[i] = (i % 5 ? 0 : 3.05) + 0.01 * normal(&state);
	diff_compare_values(&(struct diff_values){b, 20}, &(struct diff_values){&a, 1},
			    &(struct diff_noise){0}, &e);
	CHECK(e.p > 0.2);
	a = 4;
	diff_compare_values(&(struct diff_values){b, 20}, &(struct diff_values){&a, 1},
			    &(struct diff_noise){0}, &e);
	CHECK(e.p < 0.01);
}

UNIT_TEST(equal_values_do_not_differ_and_few_are_not_judged)
{
	const double same[] = {1, 1, 1, 1};
	struct diff_series s = {0};
	struct diff_estimate e, f;

	diff_compare_values(&(struct diff_values){same, 3}, &(struct diff_values){same, 3},
			    &(struct diff_noise){0}, &e);
	CHECK(e.judged && e.p > 0.99);
	diff_compare_values(&(struct diff_values){same, 1}, &(struct diff_values){same, 1},
			    &(struct diff_noise){0}, &e);
	CHECK(e.known && !e.judged);
	for (int i = 0; i < 3; i++)
		diff_series_add(&s, 10);
	diff_compare_series(&s, &s, 0.02, &e, &f);
	CHECK(e.known && !e.judged && f.known && !f.judged);
	for (int i = 0; i < 300; i++)
		diff_series_add(&s, 10);
	diff_compare_series(&s, &s, 0.02, &e, &f);
	CHECK(e.judged && e.p > 0.99 && e.low < 0 && e.high > 0);
	diff_series_fini(&s);
}

UNIT_TEST(names_are_alike_but_for_what_a_compiler_numbered)
{
	static const char *const alike[][2] = {
		{"void run<f<int>::{lambda(int)#2}>(int)",
		 "void run<f<int>::{lambda(int)#*}>(int)"},
		{"k<0x7f31c0a0>", "k<0x*>"},
		{"_Z1kI3$_12E", "_Z1kI3$_*E"},
		{"f()::'lambda3'(int)", "f()::'lambda*'(int)"},
		{"_GLOBAL__N__1f2e3d::k", "_GLOBAL__N__*::k"},
	};
	static const char *const apart[] = {"gemm_128x64", "kernel_1", "add<16>", "f(int)", "",
					    "0x",          "sum8x8",   "tile0x4f"};

	for (unsigned i = 0; i < sizeof alike / sizeof *alike; i++) {
		char *plain = diff_plain_name(alike[i][0]);

		CHECK(plain != NULL);
		CHECK_STR(plain, alike[i][1]);
		free(plain);
	}
	for (unsigned i = 0; i < sizeof apart / sizeof *apart; i++)
		CHECK(diff_plain_name(apart[i]) == NULL);
}

/* Return the share of pairs whose sums of gaps differ. The number of gaps varies by its square
 * root, and their lengths by factors. */
static double sums_found(double longer, unsigned pairs)
{
	uint64_t state = 7;
	unsigned found = 0;

	for (unsigned i = 0; i < pairs; i++) {
		struct diff_series sides[2];
		struct diff_estimate sum;

		for (unsigned side = 0; side < 2; side++) {
			const double level = 0.03 * normal(&state);
			const unsigned gaps = (unsigned)(400 + 20 * normal(&state));

			sides[side] = (struct diff_series){0};
			for (unsigned gap = 0; gap < gaps; gap++)
				diff_series_add(&sides[side],
						5000 * exp(level + normal(&state)) +
							(side && gap % 16 == 0 ? longer : 0));
		}
		diff_compare_sums(&sides[0], &sides[1], 0.02, &sum);
		CHECK(sum.judged);
		CHECK_NEAR(sum.baseline, sides[0].total, 1e-6);
		found += sum.p <= 0.05;
		diff_series_fini(&sides[0]);
		diff_series_fini(&sides[1]);
	}
	return (double)found / pairs;
}

UNIT_TEST(sums_of_gaps_differ_if_a_few_gaps_become_much_longer)
{
	CHECK(sums_found(0, 200) <= 0.05);
	CHECK(sums_found(500000, 100) >= 0.95);
}

/* Return the share of wrong verdicts of two runs a side if the variance is combined with the usual
 * one. */
static double few_runs_found(double shift, double freedom)
{
	uint64_t state = 3;
	unsigned found = 0;

	for (unsigned i = 0; i < 2000; i++) {
		double logs[4];
		struct diff_estimate e;
		const struct diff_noise noise = {.usual = 0.01 * 0.01, .usual_freedom = freedom};

		for (unsigned k = 0; k < 4; k++)
			logs[k] = 0.01 * normal(&state) + (k > 1 ? shift : 0);
		diff_compare_values(&(struct diff_values){logs, 2},
				    &(struct diff_values){logs + 2, 2}, &noise, &e);
		found += e.p <= 0.01;
	}
	return found / 2000.0;
}

UNIT_TEST(the_usual_variance_makes_few_runs_more_certain)
{
	CHECK(few_runs_found(0, 3) <= 0.012);
	CHECK(few_runs_found(0.06, 3) >= few_runs_found(0.06, 0) + 0.3);
}

UNIT_TEST(the_variance_of_runs_is_that_of_both_sides)
{
	const double logs[] = {1, 3, 10, 12};

	CHECK_NEAR(diff_variance_of_runs(&(struct diff_values){logs, 2},
					 &(struct diff_values){logs + 2, 2}),
		   2, 1e-12);
	CHECK(diff_variance_of_runs(&(struct diff_values){logs, 1},
				    &(struct diff_values){logs + 1, 1}) < 0);
}
