/* SPDX-License-Identifier: MIT */
/* See period.h. */
#include "analysis/patterns/period.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"

enum {
	CANDIDATES = 24,
	LENGTH_MOST = 1 << 16,
	MATCH_PERCENT = 95, /* share of activities that must repeat */
};

struct name_count {
	size_t last; /* index + 1 of the latest item of the name; 0: none */
	/* how often the name occurs, and how often @length items after the same name */
	uint32_t items, matches;
};

/* Return true if nearly all items repeat after @length. Each name counts the same, so that a name
 * that fills most of a step does not decide alone. Rare names do not count. */
static bool repeats(const struct period_item *items, size_t from, size_t count, size_t length,
		    struct name_count *names, size_t name_count)
{
	double sum = 0;
	size_t n = 0;

	memset(names, 0, name_count * sizeof *names);
	for (size_t i = from + length; i < count; i++) {
		names[items[i].name].items++;
		names[items[i].name].matches += items[i].name == items[i - length].name;
	}
	for (size_t i = 0; i < name_count; i++)
		if (names[i].items >= PERIOD_STEPS_LEAST) {
			sum += (double)names[i].matches / names[i].items;
			n++;
		}
	return n && sum * 100 >= (double)n * MATCH_PERCENT;
}

/* Return the number of items in [@from, @count) whose name is that of the item @length earlier. */
static size_t count_matches(const struct period_item *items, size_t from, size_t count,
			    size_t length)
{
	size_t matches = 0;

	for (size_t i = from + length; i < count; i++)
		matches += items[i].name == items[i - length].name;
	return matches;
}

/* Count the distances between successive items of one name. votes[d]: number of items at distance
 * d. */
static void count_distances(const struct period_item *items, size_t count, struct name_count *names,
			    uint32_t *votes)
{
	for (size_t i = 0; i < count; i++) {
		size_t *last = &names[items[i].name].last;

		if (*last && i + 1 - *last < LENGTH_MOST)
			votes[i + 1 - *last]++;
		*last = i + 1;
	}
}

/* Return the smallest of the frequent distances at which nearly all items repeat; 0: none. The
 * first third of the items may differ, because programs start slowly. */
static size_t find_length(const struct period_item *items, size_t count)
{
	uint32_t *votes = allocate_scratch(LENGTH_MOST, sizeof *votes);
	size_t best[CANDIDATES], candidates = 0, length = 0;
	const size_t from = count / 3;
	struct name_count *names;
	uint32_t name_count = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].name >= name_count)
			name_count = items[i].name + 1;
	names = allocate_scratch(name_count, sizeof *names);
	count_distances(items, count, names, votes);
	for (size_t d = 1; d < LENGTH_MOST; d++) {
		size_t at;

		if (!votes[d] || d * PERIOD_STEPS_LEAST > count - from)
			continue;
		if (candidates == CANDIDATES && votes[d] <= votes[best[CANDIDATES - 1]])
			continue;
		candidates += candidates < CANDIDATES;
		for (at = candidates - 1; at && votes[best[at - 1]] < votes[d]; at--)
			best[at] = best[at - 1];
		best[at] = d;
	}
	for (size_t i = 0; i < candidates; i++)
		if ((!length || best[i] < length) &&
		    repeats(items, from, count, best[i], names, name_count))
			length = best[i];
	free_scratch(names);
	free_scratch(votes);
	return length;
}

/* Return the index from which the items repeat: the first after the last stretch of one period in
 * which most items do not. */
static size_t find_steady(const struct period_item *items, size_t count, size_t length)
{
	size_t at = count - count % length;

	while (at >= 2 * length &&
	       count_matches(items, at - 2 * length, at, length) * 100 >= length * MATCH_PERCENT)
		at -= length;
	return at >= length ? at - length : 0;
}

/* Return the place in the period before which the gaps are largest on average. */
static size_t find_phase(const struct period_item *items, size_t from, size_t count, size_t length)
{
	size_t best = 0;
	double best_ns = -1;

	for (size_t phase = 0; phase < length; phase++) {
		double sum = 0;
		size_t n = 0;

		for (size_t i = from + phase; i < count; i += length) {
			if (!i)
				continue;
			n++;
			if (items[i].start_ns > items[i - 1].end_ns)
				sum += (double)(items[i].start_ns - items[i - 1].end_ns);
		}
		if (n && sum / (double)n > best_ns) {
			best_ns = sum / (double)n;
			best = phase;
		}
	}
	return best;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Return the time from the start of one item to the start of another, 0 if the other one started
 * earlier: activities of several queues do not start in the order of their launches. */
static uint64_t time_between(const struct period_item *from, const struct period_item *to)
{
	return to->start_ns > from->start_ns ? to->start_ns - from->start_ns : 0;
}

bool period_find(const struct period_item *items, size_t count, struct period *out)
{
	size_t length, first, steps = 0;
	uint64_t *lengths;

	*out = (struct period){0};
	if (count < 2 * PERIOD_STEPS_LEAST || !(length = find_length(items, count)))
		return false;
	first = find_steady(items, count, length);
	first += find_phase(items, first, count, length);
	if (count < first + length * (PERIOD_STEPS_LEAST + 1))
		return false;
	lengths = allocate_scratch(count / length + 1, sizeof *lengths);
	for (size_t i = first; i + length < count; i += length)
		lengths[steps++] = time_between(&items[i], &items[i + length]);
	out->length = (uint32_t)length;
	out->steps = (uint32_t)steps;
	for (size_t i = first; i < first + length; i++)
		out->kernels += items[i].is_kernel;
	out->from_ns = items[first].start_ns;
	out->to_ns = out->from_ns + time_between(&items[first], &items[first + steps * length]);
	out->third_ns = out->from_ns + time_between(&items[first], &items[first + 2 * length]);
	qsort(lengths, steps, sizeof *lengths, compare_numbers);
	out->median_ns = lengths[steps / 2];
	out->low_ns = lengths[steps / 10];
	out->high_ns = lengths[steps - 1 - steps / 10];
	free_scratch(lengths);
	return true;
}
