/* SPDX-License-Identifier: MIT */
/* The durations of one thing in one run, in the order in which they came, in at most 6 KiB:
 *
 *   sample   one value of each `stride` that follow each other, chosen at random; at most
 *            DIFF_SAMPLE. Full: of each pair one stays, and the stride doubles. All values while
 *            there are few. The choice is the same each time.
 *   cells    sums of `cell_stride` values that follow each other, at most DIFF_CELLS. Full: pairs
 *            become one, and the stride doubles. No value is left out.
 *
 * Both go by position: two runs of one program have the same work at the same place. */
#ifndef GPUTAP_CLI_DIFF_SERIES_H
#define GPUTAP_CLI_DIFF_SERIES_H

#include <stdint.h>

enum { DIFF_SAMPLE = 1024, DIFF_CELLS = 128 };

/* Zero-initialised is empty. */
struct diff_series {
	uint64_t count;
	double total;
	float *sample;
	uint32_t sample_count, sample_room;
	uint64_t stride, in_stratum, random;
	double cells[DIFF_CELLS];
	uint64_t cell_stride, in_cell; /* in_cell: values in the last one */
	uint32_t cell_count;
};

void diff_series_add(struct diff_series *s, double value);
/* 0: no values. */
double diff_series_median(const struct diff_series *s);
static inline double diff_series_mean(const struct diff_series *s)
{
	return s->count ? s->total / (double)s->count : 0;
}
void diff_series_fini(struct diff_series *s);

#endif
