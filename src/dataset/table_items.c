/* SPDX-License-Identifier: MIT */
/* See table_items.h. */
#include "dataset/table_items.h"

int items_open(struct reader *r, struct items *items, enum gt_record_kind kind)
{
	items->kind = kind;
	return reader_open_cursor(r, &items->cursor);
}

static int refill(struct items *items)
{
	int count = gt_cursor_next_several(items->cursor, &items->item);

	items->end = items->item;
	if (count > 0)
		items->end += count;
	return count;
}

/* Return true if the item was written by the thread of the previous items. */
static inline bool is_same_thread(const struct items *items, const struct gt_item *item)
{
	return items->has_thread && items->thread.process == item->process &&
	       items->thread.ordinal == item->ordinal;
}

int items_next(struct reader *r, struct items *items, struct rows *rows, size_t most)
{
	int status;

	while (!rows->count) {
		/* items of several calls of the cursor are not valid at the same time */
		if (items->item == items->end && (status = refill(items)) <= 0)
			return status;
		for (; items->item < items->end && rows->count < most; items->item++) {
			if (items->item->kind != items->kind)
				continue;
			if (!is_same_thread(items, items->item)) {
				if (rows->count)
					break;
				items->thread =
					dataset_find_thread(r->dataset, items->item->process,
							    items->item->ordinal);
				items->has_thread = true;
			}
			rows->row[rows->count++] = items->item;
		}
	}
	rows->thread = &items->thread;
	return 1;
}

void items_close(struct reader *r, struct items *items)
{
	reader_close_cursor(r, items->cursor);
}
