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

/* Take the items that were read, up to an item of another thread. Return false after this item. */
static bool take_items(struct reader *r, struct items *items, struct rows *rows, size_t most)
{
	for (; items->item < items->end && rows->count < most; items->item++) {
		if (items->item->kind != items->kind)
			continue;
		if (!is_same_thread(items, items->item)) {
			if (rows->count)
				return false;
			items->thread = dataset_find_thread(r->dataset, items->item->process,
							    items->item->ordinal);
			items->has_thread = true;
		}
		if (items->copies)
			items->copies[rows->count] = *items->item;
		rows->row[rows->count] = items->copies ? &items->copies[rows->count] : items->item;
		rows->count++;
	}
	return true;
}

int items_next(struct reader *r, struct items *items, struct rows *rows, size_t most)
{
	int status = items->status;

	/* without copies, items of one step of the cursor only */
	while (status >= 0 && rows->count < (items->copies ? most : 1)) {
		if (items->item == items->end && (status = refill(items)) <= 0)
			break;
		if (!take_items(r, items, rows, most))
			break;
	}
	rows->thread = &items->thread;
	items->status = status < 0 ? status : 0;
	return rows->count ? 1 : status;
}

void items_close(struct items *items)
{
	gt_cursor_destroy(items->cursor);
}
