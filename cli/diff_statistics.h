/* SPDX-License-Identifier: MIT */
/* Is one side slower than the other, or is it noise? docs/internals/diff-statistics.md explains the
 * methods. All is done with logarithms: a change is a ratio. */
#ifndef GPUTAP_CLI_DIFF_STATISTICS_H
#define GPUTAP_CLI_DIFF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/diff_series.h"

/* Of a change: 0.05 is 5 % more. */
/* Fewer do not show how a run drifts. */
#define DIFF_MANY_VALUES 64

struct diff_estimate {
	bool known;  /* there are values on both sides */
	bool judged; /* and enough of them to know their noise: low, high and p are valid */
	double change;
	double baseline, candidate; /* what was compared, of the sides */
	double low, high;           /* 95 % interval */
	double p;                   /* of such a change or a larger one, if there was none */
};

/* One run a side. Noise within the runs: blocks of values that follow each other are drawn again
 * (block bootstrap), the same blocks on both sides if both have as many values. Noise between
 * runs: how far parts of a run drift from each other, and @floor, which no such run can show. */
void diff_compare_series(const struct diff_series *baseline, const struct diff_series *candidate,
			 double floor, struct diff_estimate *median, struct diff_estimate *mean);

/* A side of several runs, or of several occurrences of a range. */
struct diff_values {
	const double *log; /* logarithms of what is compared */
	size_t count;
};
struct diff_noise {
	double least; /* variance that a value has at least */
	double floor;
	bool in_order; /* values follow each other in time: neighbours may be alike */
};
/* Student's t with the variance of both sides together; of many values, medians and the median
 * absolute deviation, so that a few that are far away hide nothing. */
void diff_compare_values(const struct diff_values *baseline, const struct diff_values *candidate,
			 const struct diff_noise *noise, struct diff_estimate *e);

/* Variance of the logarithm of a series' median, by order statistics. */
double diff_variance_of_median(const struct diff_series *s);

/* Probability that Student's t is beyond @t on one side; the value beyond which it is with
 * probability @tail. */
double diff_student_tail(double t, double freedom);
double diff_student_quantile(double tail, double freedom);

/* Benjamini and Hochberg: p values in, the smallest share of false discoveries at which each
 * counts as one out. */
void diff_control_discoveries(double *p, size_t count);

#endif
