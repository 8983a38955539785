/* SPDX-License-Identifier: MIT */
/* See odd_ranges.h. */
#include "analysis/tables/odd_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "analysis/model/ranges.h"

enum {
	INSTANCES_MOST = 1024,
	INSTANCES_LEAST = 8,
	DEVIATIONS = 8,
	LEAST_PERCENT = 50, /* smallest excess over the median, in percent */
	FEW_PERCENT = 10,   /* largest percentage of outliers */
};
#define DEVIATION_OF_MAD 1.4826
#define LEAST_DEVIATION  0.01 /* smallest assumed deviation, as a fraction of the median */

struct instance {
	uint64_t start_ns, duration_ns;
	uint32_t process;
	bool counts;
};

struct odd_ranges_name {
	struct instance *list;
	uint32_t count, room;
	bool too_many;
};

void odd_ranges_add(struct odd_ranges *o, uint32_t name, const struct gt_range *range,
		    uint64_t duration_ns, bool counts)
{
	struct odd_ranges_name *n;

	if (!o->wanted || range->instant)
		return;
	GROW_LIST(o->names, name, o->room);
	n = &o->names[name];
	if (n->too_many)
		return;
	if (n->count == INSTANCES_MOST) {
		free(n->list);
		*n = (struct odd_ranges_name){.too_many = true};
		return;
	}
	GROW_LIST(n->list, n->count, n->room);
	n->list[n->count++] =
		(struct instance){range->start_ns, duration_ns, range->process, counts};
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Return the median. Sorts @values. */
static uint64_t median_of(uint64_t *values, uint32_t count)
{
	qsort(values, count, sizeof *values, compare_numbers);
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

static uint32_t number_of(const struct odd_ranges_name *n, const struct instance *instance)
{
	uint32_t number = 1;

	for (uint32_t i = 0; i < n->count; i++)
		number += n->list[i].process == instance->process &&
			  n->list[i].start_ns < instance->start_ns;
	return number;
}

static uint64_t excess_of(const struct odd_range *r)
{
	return r->duration_ns - r->median_ns;
}

/* Find the outliers of a name. @best[0]: largest outlier that is not the first instance in its
 * process; @best[1]: largest outlier that is the first instance. */
static void find_of_name(const struct odd_ranges_name *n, uint32_t name, uint64_t least_ns,
			 struct odd_range *best)
{
	uint64_t values[INSTANCES_MOST], median, limit;
	uint32_t count = 0, odd = 0;
	double deviation;

	for (uint32_t i = 0; i < n->count; i++)
		if (n->list[i].counts)
			values[count++] = n->list[i].duration_ns;
	if (count < INSTANCES_LEAST)
		return;
	median = median_of(values, count);
	for (uint32_t i = 0; i < count; i++)
		values[i] = values[i] > median ? values[i] - median : median - values[i];
	deviation = DEVIATION_OF_MAD * (double)median_of(values, count);
	if (deviation < LEAST_DEVIATION * (double)median)
		deviation = LEAST_DEVIATION * (double)median;
	limit = median + (uint64_t)(DEVIATIONS * deviation);
	if (limit < median + median / 100 * LEAST_PERCENT)
		limit = median + median / 100 * LEAST_PERCENT;
	if (limit < median + least_ns)
		limit = median + least_ns;
	for (uint32_t i = 0; i < n->count; i++)
		odd += n->list[i].counts && n->list[i].duration_ns > limit;
	for (uint32_t i = 0; i < n->count && odd * 100 <= count * FEW_PERCENT + 100; i++) {
		const struct instance *one = &n->list[i];
		struct odd_range found = {.name = name,
					  .process = one->process,
					  .count = count,
					  .duration_ns = one->duration_ns,
					  .median_ns = median};
		struct odd_range *slot;

		if (!one->counts || one->duration_ns <= limit)
			continue;
		found.number = number_of(n, one);
		slot = &best[found.number == 1];
		if (!slot->count || excess_of(&found) > excess_of(slot))
			*slot = found;
	}
}

bool odd_ranges_find(const struct odd_ranges *o, uint64_t least_ns, struct odd_range *out)
{
	struct odd_range best[2] = {{0}, {0}};

	if (o->is_known)
		best[0] = o->known;
	for (uint32_t name = 0; name < o->room; name++)
		if (o->names[name].count)
			find_of_name(&o->names[name], name, least_ns, best);
	*out = best[0].count ? best[0] : best[1];
	return out->count;
}

void odd_ranges_fini(struct odd_ranges *o)
{
	for (uint32_t i = 0; i < o->room; i++)
		free(o->names[i].list);
	free(o->names);
	*o = (struct odd_ranges){0};
}
