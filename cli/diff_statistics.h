/* SPDX-License-Identifier: MIT */
/* Separate changes between two sides from noise. docs/internals/diff-statistics.md explains the
 * methods. All computations use logarithms, because a change is a ratio. */
#ifndef GPUTAP_CLI_DIFF_STATISTICS_H
#define GPUTAP_CLI_DIFF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/diff_series.h"

/* Fewer values do not show how a run drifts. */
#define DIFF_MANY_VALUES 64

struct diff_estimate {
	bool known;    /* both sides have values */
	bool judged;   /* enough values to know their noise: low, high and p are valid */
	double change; /* 0.05 is 5 % more */
	double baseline, candidate; /* the compared values of the sides */
	double low, high;           /* 95 % interval */
	double p; /* probability of such a change or a larger one if nothing had changed */
};

/* Compare one run per side. A block bootstrap measures the noise within the runs; it draws the same
 * blocks on both sides if both have the same number of values. The noise between runs is the drift
 * between parts of a run, and @floor, which one run cannot show. */
void diff_compare_series(const struct diff_series *baseline, const struct diff_series *candidate,
			 double floor, struct diff_estimate *median, struct diff_estimate *mean);

/* A side with several runs, or with several occurrences of a range. */
struct diff_values {
	const double *log; /* logarithms of the compared values */
	size_t count;
};
struct diff_noise {
	double least; /* smallest variance of a value */
	double floor;
	bool in_order; /* values are in the order of time: neighbours may be correlated */
};
/* Compare with Student's t and the common variance of both sides. With many values, use medians and
 * the median absolute deviation, so that a few outliers hide nothing. */
void diff_compare_values(const struct diff_values *baseline, const struct diff_values *candidate,
			 const struct diff_noise *noise, struct diff_estimate *e);

/* Return the variance of the logarithm of a series' median, from order statistics. */
double diff_variance_of_median(const struct diff_series *s);

/* Return the probability that Student's t exceeds @t; return the value that it exceeds with
 * probability @tail. */
double diff_student_tail(double t, double freedom);
double diff_student_quantile(double tail, double freedom);

/* Replace each p value with the smallest share of false discoveries at which it counts as a
 * discovery (Benjamini and Hochberg). */
void diff_control_discoveries(double *p, size_t count);

#endif
