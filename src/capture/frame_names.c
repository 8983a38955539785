/* SPDX-License-Identifier: MIT */
/* Names of frames in a capture: see frame_names.h. */
#include "capture/frame_names.h"

#include <stdlib.h>
#include <string.h>

#include "capture/reader.h"

/* Entries of one frame keep the order of the file, so the last one is the newest. */
static int compare_names(const void *a, const void *b)
{
	const struct gt_names_info *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

int gt_names_finish(struct gt_capture *c)
{
	return gt_sort_stable(c->names, c->name_count, sizeof *c->names, compare_names);
}

const struct gt_names_info *gt_capture_names_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address)
{
	const struct gt_names_info wanted = {.process = process,
					     .generation = generation,
					     .address = address};
	size_t low = 0, high = c->name_count;

	while (low < high) { /* find the first entry after @address */
		size_t middle = low + (high - low) / 2;

		if (compare_names(&c->names[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !compare_names(&c->names[low - 1], &wanted) ? &c->names[low - 1] : NULL;
}

/* Return the text at *p, which ends before @end, and advance *p past the text. NULL: the text is
 * empty. */
static const char *take_text(const char **p, const char *end)
{
	const char *text = *p;
	size_t length = strlen(text);

	*p = text + length < end ? text + length + 1 : end;
	return length ? text : NULL;
}

size_t gt_names_unpack(const struct gt_names_info *names,
		       struct gt_frame_name list[GT_FRAME_NAMES_MOST])
{
	const char *p = names->text, *end = p + names->bytes, *line;
	size_t count = 0;

	while (p < end && count < GT_FRAME_NAMES_MOST) {
		list[count].function = take_text(&p, end);
		list[count].file = take_text(&p, end);
		line = take_text(&p, end);
		list[count].line = line ? (uint32_t)strtoul(line, NULL, 10) : 0;
		count++;
	}
	return count;
}
