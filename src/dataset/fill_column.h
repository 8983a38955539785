/* SPDX-License-Identifier: MIT */
/* Helpers with which tables fill columns. Each fill function is one loop over a few rows, so that
 * a column that nobody wants costs nothing. */
#ifndef GPUTAP_DATASET_FILL_COLUMN_H
#define GPUTAP_DATASET_FILL_COLUMN_H

#include <string.h>

#include "dataset/table_reader.h"

/* Set the bits of @bits from bit number @at on, in a bitmap that was cleared at first and has 8
 * bytes of slack. */
static inline void put_bits(uint8_t *bitmap, size_t at, uint64_t bits)
{
	uint8_t *to = bitmap + (at >> 3);
	const unsigned shift = at & 7;
	uint64_t word;

	memcpy(&word, to, sizeof word);
	word |= bits << shift;
	memcpy(to, &word, sizeof word);
	if (shift)
		to[8] |= (uint8_t)(bits >> (64 - shift));
}

/* Append the text of row out->at + @i; NULL: no value. */
void put_text(struct column_data *out, size_t i, const char *text);
/* Append the elements of row out->at + @i. */
void put_list(struct column_data *out, size_t i, const int32_t *elements, size_t count);

/* Begin and end of a fill function: a loop over rows that are items `k`, with `bits` for the rows
 * that have a value. */
#define FILL_BEGIN(name, type)                                             \
	static void fill_##name(struct reader *r, struct column_data *out, \
				const struct rows *rows)                   \
	{                                                                  \
		type *restrict to = (type *)out->values + out->at;         \
		const size_t count = rows->count;                          \
		uint64_t bits = 0;                                         \
                                                                           \
		(void)r;                                                   \
		for (size_t i = 0; i < count; i++) {                       \
			const struct gt_item *k = rows->row[i];            \
                                                                           \
			(void)k;
#define FILL_END               \
	}                      \
	(void)bits, (void)out; \
	}
#define FILL_END_NULLABLE                    \
	}                                    \
	put_bits(out->valid, out->at, bits); \
	}

/* Define fill_NAME() for a column in which each row has a value. */
#define FILL(name, type, value) \
	FILL_BEGIN(name, type)  \
	to[i] = (value);        \
	FILL_END
/* The same for a column in which rows may have no value. */
#define FILL_IF(name, type, known, value) \
	FILL_BEGIN(name, type)            \
	const bool has = (known);         \
	to[i] = has ? (type)(value) : 0;  \
	bits |= (uint64_t)has << i;       \
	FILL_END_NULLABLE
/* The same for a number of a text; negative: no value. */
#define FILL_TEXT(name, number)          \
	FILL_BEGIN(name, int32_t)        \
	const int32_t n = (number);      \
	to[i] = n < 0 ? 0 : n;           \
	bits |= (uint64_t)(n >= 0) << i; \
	FILL_END_NULLABLE

/* Describe a column that fill_NAME() fills. */
#define FILLED_COLUMN(column_name, column_type, column_unit, null, description)       \
	{                                                                             \
		.name = #column_name, .type = (column_type), .unit = (column_unit),   \
		.nullable = (null), .fill = fill_##column_name, .text = (description) \
	}
/* The same for a column of texts. */
#define FILLED_TEXTS(column_name, kind, null, description)                                  \
	{                                                                                   \
		.name = #column_name, .type = COLUMN_I32, .unit = "", .nullable = (null),   \
		.dictionary = (kind) + 1, .fill = fill_##column_name, .text = (description) \
	}

#endif
