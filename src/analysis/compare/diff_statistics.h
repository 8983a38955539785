/* SPDX-License-Identifier: MIT */
/* Separates changes between two sides from noise. docs/internals/diff-statistics.md explains the
 * methods. All computations use logarithms, because a change is a ratio. */
#ifndef GPUTAP_ANALYSIS_COMPARE_DIFF_STATISTICS_H
#define GPUTAP_ANALYSIS_COMPARE_DIFF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/compare/diff_series.h"

/* Smallest number of values that show how a run drifts. */
#define DIFF_MANY_VALUES 64

struct diff_estimate {
	bool known;    /* true if both sides have values */
	bool judged;   /* true if the noise is known, so that low, high and p are valid */
	double change; /* relative change: 0.05 is 5 % more */
	double baseline, candidate; /* compared value of each side */
	double low, high;           /* 95 % confidence interval */
	double p;                   /* probability of an equal or larger change by chance */
};

/* Compare one run per side. A block bootstrap measures the noise within the runs. If both sides
 * have the same number of values, the bootstrap draws the same blocks on both sides. The noise
 * between runs is the drift between parts of a run, plus @floor, the noise that one run cannot
 * show. */
void diff_compare_series(const struct diff_series *baseline, const struct diff_series *candidate,
			 double floor, struct diff_estimate *median, struct diff_estimate *mean);

/* The same for the sums of the values, if the numbers of values are a matter of noise. */
void diff_compare_sums(const struct diff_series *baseline, const struct diff_series *candidate,
		       double floor, struct diff_estimate *sum);

/* Values of a side with several runs, or with several occurrences of a range. */
struct diff_values {
	const double *log; /* logarithms of the compared values */
	size_t count;
};
struct diff_noise {
	double least; /* smallest variance to assume for a value */
	double floor;
	/* usual variance of similar rows, which counts as much as this number of values; 0: none */
	double usual, usual_freedom;
	/* true if the values are in chronological order, so that neighbours may be correlated */
	bool in_order;
};
/* Compare with Student's t and the pooled variance of both sides. With many values, use medians and
 * the median absolute deviation, so that a few outliers do not hide a change. */
void diff_compare_values(const struct diff_values *baseline, const struct diff_values *candidate,
			 const struct diff_noise *noise, struct diff_estimate *e);

/* Return the common variance of the values of both sides; negative: unknown. */
double diff_variance_of_runs(const struct diff_values *baseline,
			     const struct diff_values *candidate);

/* Return the variance of the logarithm of a series' median, estimated from order statistics. */
double diff_variance_of_median(const struct diff_series *s);

/* diff_student_tail() returns the probability that Student's t exceeds @t. The other function
 * returns the value that Student's t exceeds with probability @tail. */
double diff_student_tail(double t, double freedom);
double diff_student_quantile(double tail, double freedom);

/* Replace each p value with the smallest false discovery rate at which it counts as a discovery
 * (Benjamini and Hochberg). */
void diff_control_discoveries(double *p, size_t count);

#endif
