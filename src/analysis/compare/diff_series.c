/* SPDX-License-Identifier: MIT */
/* See diff_series.h. */
#include "analysis/compare/diff_series.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"

static uint64_t next_random(struct diff_series *s)
{
	return lookup_mix(s->random += UINT64_C(0x9e3779b97f4a7c15));
}

static void halve_sample(struct diff_series *s)
{
	for (uint32_t i = 0; i < s->sample_count / 2; i++)
		s->sample[i] = s->sample[2 * i + (next_random(s) & 1)];
	s->sample_count /= 2;
	s->stride *= 2;
}

static void add_to_sample(struct diff_series *s, double value)
{
	GROW_LIST(s->sample, s->sample_count, s->sample_room);
	/* the k-th value in a stratum replaces the previous choice with probability 1/k */
	if (s->stride == 1 || next_random(s) % ++s->in_stratum == 0)
		s->sample[s->sample_count] = (float)value;
	if (s->stride > 1 && s->in_stratum < s->stride)
		return;
	s->in_stratum = 0;
	if (++s->sample_count == DIFF_SAMPLE)
		halve_sample(s);
}

static void add_to_cells(struct diff_series *s, double value)
{
	if (!s->cell_count || s->in_cell == s->cell_stride) {
		if (s->cell_count == DIFF_CELLS) {
			for (unsigned i = 0; i < DIFF_CELLS / 2; i++)
				s->cells[i] = s->cells[2 * i] + s->cells[2 * i + 1];
			s->cell_count /= 2;
			s->cell_stride *= 2;
		}
		s->cells[s->cell_count++] = 0;
		s->in_cell = 0;
	}
	s->cells[s->cell_count - 1] += value;
	s->in_cell++;
}

void diff_series_add(struct diff_series *s, double value)
{
	if (!s->count)
		s->stride = s->cell_stride = 1;
	s->count++;
	s->total += value;
	add_to_sample(s, value);
	add_to_cells(s, value);
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

double diff_series_median(const struct diff_series *s)
{
	float sorted[DIFF_SAMPLE];
	uint32_t n = s->sample_count;

	if (!n)
		return 0;
	memcpy(sorted, s->sample, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_floats);
	return n % 2 ? (double)sorted[n / 2]
		     : ((double)sorted[n / 2 - 1] + (double)sorted[n / 2]) / 2;
}

void diff_series_fini(struct diff_series *s)
{
	free(s->sample);
	*s = (struct diff_series){0};
}
