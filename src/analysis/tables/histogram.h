/* SPDX-License-Identifier: MIT */
/* A summary of durations in little memory. The first HISTOGRAM_EXACT values are kept as they are,
 * so small samples give exact percentiles. If there are more values, all of them are moved into
 * log-linear buckets, 32 per power of two. A percentile is then within 1/64 (1.6 %) of the true
 * value. Sums, smallest and largest value are always exact. */
#ifndef GPUTAP_ANALYSIS_TABLES_HISTOGRAM_H
#define GPUTAP_ANALYSIS_TABLES_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_EXACT = 32, HISTOGRAM_OCTAVES = 60, HISTOGRAM_STEPS = 32 };

struct histogram {
	uint64_t count, total, min, max;
	/* used while count <= HISTOGRAM_EXACT; its size is the next power of two */
	uint64_t *values;
	/* used after that: HISTOGRAM_OCTAVES arrays of HISTOGRAM_STEPS counts, NULL until needed */
	uint64_t **octaves;
};

void histogram_add(struct histogram *h, uint64_t value);
/* Add all values of another histogram. */
void histogram_merge(struct histogram *to, const struct histogram *from);
/* Return a percentile; 0 if there are no values. @permille: 500 for the median. */
uint64_t histogram_percentile(const struct histogram *h, unsigned permille);
static inline uint64_t histogram_mean(const struct histogram *h)
{
	return h->count ? h->total / h->count : 0;
}
void histogram_fini(struct histogram *h);

#endif
