/* SPDX-License-Identifier: MIT */
/* A batch: rows as Arrow arrays, which own their memory.
 *
 *   batch ─┬─ values and validity of all columns, one allocation
 *          ├─ texts and elements of lists, an allocation for each column
 *          └─ users: the struct array, and each of its children
 *
 * A consumer may release the children and the parent in any order and in any thread. */
#ifndef GPUTAP_DATASET_ARROW_BATCH_H
#define GPUTAP_DATASET_ARROW_BATCH_H

#include "dataset/table_reader.h"

struct batch;

/* Columns of a stream: indexes into table->columns. */
struct batch_shape {
	const struct table *table;
	const uint32_t *columns;
	size_t column_count;
	size_t rows; /* rows of a batch, at most */
};

/* Allocate a batch. Return NULL with a cause if out of memory. */
struct batch *batch_create(const struct batch_shape *shape);
/* Add rows. The batch must have room for them. May call memory_ran_out(). */
void batch_add(struct batch *b, struct reader *r, const struct rows *rows);
size_t batch_rows(const struct batch *b);
/* Hand the batch over to the consumer. May call memory_ran_out(); the batch is then unchanged. */
void batch_export(struct batch *b, struct reader *r, struct ArrowArray *out);
void batch_destroy(struct batch *b); /* for a batch that was not handed over */

/* Return Arrow's format of a column. */
const char *batch_format(const struct column *column);

#endif
