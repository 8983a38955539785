/* SPDX-License-Identifier: MIT */
/* See unrecorded.h. Functions for lists of spans that do not need a capture. */
#include <stdlib.h>

#include "analysis/idle/unrecorded.h"

size_t unrecorded_find(const struct unrecorded_list *list, uint64_t time)
{
	size_t low = 0, high = list ? list->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->spans[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t unrecorded_ns(const struct unrecorded_list *list, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t sum = 0;

	for (size_t i = unrecorded_find(list, start_ns);
	     list && i < list->count && list->spans[i].start < end_ns; i++) {
		const struct unrecorded_span *span = &list->spans[i];
		uint64_t from = span->start > start_ns ? span->start : start_ns,
			 to = span->end < end_ns ? span->end : end_ns;

		sum += to - from;
	}
	return sum;
}

void unrecorded_list_fini(struct unrecorded_list *list)
{
	free(list->spans);
	*list = (struct unrecorded_list){0};
}
