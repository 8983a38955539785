/* SPDX-License-Identifier: MIT */
#include "analysis/tables/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/lookup.h"

/* Count a value. Values below 32 have octave 0 and a bucket each. A value v >= 32 with highest bit
 * e has octave e - 4. */
static void count_value(struct histogram *h, uint64_t value)
{
	unsigned octave = 0, step = (unsigned)value;

	if (value >= HISTOGRAM_STEPS) {
		unsigned e = 63 - (unsigned)__builtin_clzll(value);
		octave = e - 4;
		step = (unsigned)(value >> (e - 5)) & (HISTOGRAM_STEPS - 1);
	}
	if (!h->octaves[octave])
		h->octaves[octave] = allocate_list(HISTOGRAM_STEPS, sizeof **h->octaves);
	h->octaves[octave][step]++;
}

static uint64_t bucket_middle(unsigned octave, unsigned step)
{
	return octave == 0 ? step
			   : ((uint64_t)(HISTOGRAM_STEPS + step) << (octave - 1)) +
				     ((UINT64_C(1) << (octave - 1)) >> 1);
}

static void start_counting(struct histogram *h)
{
	h->octaves = allocate_list(HISTOGRAM_OCTAVES, sizeof *h->octaves);
	for (uint64_t i = 0; i < h->count; i++)
		count_value(h, h->values[i]);
	free(h->values);
	h->values = NULL;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	if (h->count == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	if (h->count == HISTOGRAM_EXACT)
		start_counting(h);
	if (h->count >= HISTOGRAM_EXACT) {
		count_value(h, value);
	} else {
		if ((h->count & (h->count - 1)) == 0)
			h->values = resize_list(h->values, h->count, h->count ? h->count * 2 : 1,
						sizeof *h->values);
		h->values[h->count] = value;
	}
	h->count++;
	h->total += value;
}

static void add_octave(struct histogram *to, unsigned octave, const uint64_t *counts)
{
	if (!to->octaves[octave])
		to->octaves[octave] = allocate_list(HISTOGRAM_STEPS, sizeof **to->octaves);
	for (unsigned s = 0; s < HISTOGRAM_STEPS; s++)
		to->octaves[octave][s] += counts[s];
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (uint64_t i = 0; from->values && i < from->count; i++)
		histogram_add(to, from->values[i]);
	if (!from->octaves)
		return;
	if (!to->octaves)
		start_counting(to);
	for (unsigned o = 0; o < HISTOGRAM_OCTAVES; o++)
		if (from->octaves[o])
			add_octave(to, o, from->octaves[o]);
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->total += from->total;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

uint64_t histogram_percentile(const struct histogram *h, unsigned permille)
{
	/* nearest rank: the smallest value such that at least this share of all values is not
	 * greater */
	uint64_t rank = (uint64_t)(((unsigned __int128)h->count * permille + 999) / 1000),
		 passed = 0, middle;
	uint64_t sorted[HISTOGRAM_EXACT];

	if (!h->count)
		return 0;
	if (!rank)
		rank = 1;
	if (h->values) {
		memcpy(sorted, h->values, h->count * sizeof *sorted);
		qsort(sorted, h->count, sizeof *sorted, by_value);
		return sorted[rank - 1];
	}
	for (unsigned o = 0; o < HISTOGRAM_OCTAVES; o++)
		for (unsigned s = 0; h->octaves[o] && s < HISTOGRAM_STEPS; s++) {
			passed += h->octaves[o][s];
			if (passed < rank)
				continue;
			middle = bucket_middle(o, s);
			return middle < h->min ? h->min : middle > h->max ? h->max : middle;
		}
	return h->max;
}

void histogram_fini(struct histogram *h)
{
	for (unsigned o = 0; h->octaves && o < HISTOGRAM_OCTAVES; o++)
		free(h->octaves[o]);
	free(h->octaves);
	free(h->values);
	*h = (struct histogram){0};
}
