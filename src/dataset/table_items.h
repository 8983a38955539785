/* SPDX-License-Identifier: MIT */
/* Reads the items of one kind, for tables whose rows are items. */
#ifndef GPUTAP_DATASET_TABLE_ITEMS_H
#define GPUTAP_DATASET_TABLE_ITEMS_H

#include "dataset/table_reader.h"

struct items {
	enum gt_record_kind kind;
	struct gt_cursor *cursor;
	const struct gt_item *item, *end; /* items that were not returned yet */
	struct thread_number thread;      /* thread of the last item */
	bool has_thread;
	int status; /* error that follows the rows that were returned */
	/* room for ROWS_MOST items, if rows of several steps of the cursor are collected, so that
	 * columns are filled in longer loops. Their arguments are not valid. NULL: none */
	struct gt_item *copies;
};

int items_open(struct reader *r, struct items *items, enum gt_record_kind kind);
/* Implements table.next(). All rows come from one thread. */
int items_next(struct reader *r, struct items *items, struct rows *rows, size_t most);
void items_close(struct items *items);

#endif
