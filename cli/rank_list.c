/* SPDX-License-Identifier: MIT */
#include "cli/rank_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANGE_BYTES = 32 }; /* room for ", ", two numbers and a sign, or for ", .." */

static int compare_ranks(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void rank_list_write(char *text, size_t size, int64_t *ranks, size_t count)
{
	size_t used;

	if (count)
		qsort(ranks, count, sizeof *ranks, compare_ranks);
	used = (size_t)snprintf(text, size, "rank%s ",
				count && ranks[count - 1] > ranks[0] ? "s" : "");
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && ranks[end] <= ranks[end - 1] + 1; end++)
			;
		if (used + 2 * RANGE_BYTES > size) {
			snprintf(text + used, size - used, ", ..");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? ", " : "",
					 ranks[i]);
		if (ranks[end - 1] > ranks[i])
			used += (size_t)snprintf(text + used, size - used, "%s%" PRId64,
						 ranks[end - 1] == ranks[i] + 1 ? ", " : "-",
						 ranks[end - 1]);
	}
}
