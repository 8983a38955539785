/* SPDX-License-Identifier: MIT */
/* Helpers with which tables fill columns. Each fill function is one loop over a few rows, so that
 * a column that nobody wants costs nothing. */
#ifndef GPUTAP_DATASET_FILL_COLUMN_H
#define GPUTAP_DATASET_FILL_COLUMN_H

#include "dataset/table_reader.h"

/* Set bit number @at, in a bitmap that was cleared at first. */
static inline void put_bit(uint8_t *bits, size_t at, bool set)
{
	bits[at >> 3] |= (uint8_t)(set << (at & 7));
}

/* Note whether row out->at + @i has a value. */
static inline void mark_value(struct column_data *out, size_t i, bool known)
{
	put_bit(out->valid, out->at + i, known);
	out->null_count += !known;
}

/* Append the text of row out->at + @i; NULL: no value. */
void put_text(struct column_data *out, size_t i, const char *text);
/* Append the elements of row out->at + @i. */
void put_list(struct column_data *out, size_t i, const int32_t *elements, size_t count);

/* Define fill_NAME() for rows that are items `k`. */
#define FILL(name, type, value)                                            \
	static void fill_##name(struct reader *r, struct column_data *out, \
				const struct rows *rows)                   \
	{                                                                  \
		type *restrict to = (type *)out->values + out->at;         \
                                                                           \
		(void)r;                                                   \
		for (size_t i = 0; i < rows->count; i++) {                 \
			const struct gt_item *k = rows->row[i];            \
                                                                           \
			(void)k;                                           \
			to[i] = (value);                                   \
		}                                                          \
	}
/* The same for a column in which rows may have no value. */
#define FILL_IF(name, type, known, value)                                  \
	static void fill_##name(struct reader *r, struct column_data *out, \
				const struct rows *rows)                   \
	{                                                                  \
		type *restrict to = (type *)out->values + out->at;         \
                                                                           \
		(void)r;                                                   \
		for (size_t i = 0; i < rows->count; i++) {                 \
			const struct gt_item *k = rows->row[i];            \
			const bool has = (known);                          \
                                                                           \
			(void)k;                                           \
			to[i] = has ? (type)(value) : 0;                   \
			mark_value(out, i, has);                           \
		}                                                          \
	}
/* The same for a number of a text; negative: no value. */
#define FILL_TEXT(name, number)                                            \
	static void fill_##name(struct reader *r, struct column_data *out, \
				const struct rows *rows)                   \
	{                                                                  \
		int32_t *to = (int32_t *)out->values + out->at;            \
                                                                           \
		(void)r;                                                   \
		for (size_t i = 0; i < rows->count; i++) {                 \
			const struct gt_item *k = rows->row[i];            \
			const int32_t n = (number);                        \
                                                                           \
			to[i] = n < 0 ? 0 : n;                             \
			mark_value(out, i, n >= 0);                        \
		}                                                          \
	}

#endif
