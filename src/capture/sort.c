/* SPDX-License-Identifier: MIT */
/* A stable sort: see reader.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"
#include "util/error.h"

/* Merge sort. A stable sort is needed, because the last of equal entries in the file is the newest.
 * qsort() is not stable. */
int gt_sort_stable(void *list, size_t count, size_t bytes,
		   int (*compare)(const void *, const void *))
{
	char *from = list, *to, *buffer;
	size_t width, i;

	for (i = 1; i < count && compare(from + (i - 1) * bytes, from + i * bytes) <= 0; i++)
		;
	if (i >= count)
		return 0;
	to = buffer = malloc(count * bytes);
	if (!buffer)
		return gt_error(-ENOMEM, "cannot sort %zu entries", count);
	for (width = 1; width < count; width *= 2) {
		for (i = 0; i < count; i += 2 * width) {
			size_t a = i, middle = i + width < count ? i + width : count, b = middle;
			size_t end = i + 2 * width < count ? i + 2 * width : count, k;

			for (k = i; k < end; k++) {
				size_t take =
					a < middle && (b >= end || compare(from + a * bytes,
									   from + b * bytes) <= 0)
						? a++
						: b++;

				memcpy(to + k * bytes, from + take * bytes, bytes);
			}
		}
		buffer = from;
		from = to;
		to = buffer;
	}
	if (from != list) {
		memcpy(list, from, count * bytes);
		to = from;
	}
	free(to);
	return 0;
}
