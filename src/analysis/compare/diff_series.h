/* SPDX-License-Identifier: MIT */
/* Durations of one row in one run, in their order, in at most 6 KiB:
 *
 *   sample   one random value from each group of `stride` consecutive values, at most DIFF_SAMPLE
 *            values. If the sample is full, one value of each pair is kept and the stride doubles.
 *            A short series is kept completely. The random choice is the same in each run.
 *   cells    sums of `cell_stride` consecutive values, at most DIFF_CELLS sums. If the cells are
 *            full, pairs are added up and the stride doubles. The cells include all values.
 *
 * Sample and cells depend only on the positions of values, because two runs of a program do the
 * same at the same position. */
#ifndef GPUTAP_ANALYSIS_COMPARE_DIFF_SERIES_H
#define GPUTAP_ANALYSIS_COMPARE_DIFF_SERIES_H

#include <stdint.h>

enum { DIFF_SAMPLE = 1024, DIFF_CELLS = 128 };

/* Empty if zero-initialised. */
struct diff_series {
	uint64_t count;
	double total;
	float *sample;
	uint32_t sample_count, sample_room;
	uint64_t stride, in_stratum, random;
	double cells[DIFF_CELLS];
	uint64_t cell_stride, in_cell; /* in_cell: number of values in the last cell */
	uint32_t cell_count;
};

void diff_series_add(struct diff_series *s, double value);
/* Return the median of the sample; 0: the series is empty. */
double diff_series_median(const struct diff_series *s);
static inline double diff_series_mean(const struct diff_series *s)
{
	return s->count ? s->total / (double)s->count : 0;
}
void diff_series_fini(struct diff_series *s);

#endif
