/* SPDX-License-Identifier: MIT */
/* Internals of sorter.c. Adjacent rows are mostly similar, so storing each word as its difference
 * from the previous row's word reduces rows to a third of their size.
 *
 *   | half a byte per word: size of its difference | differences, zigzag | next row | */
#ifndef GPUTAP_ANALYSIS_BASE_SORTER_PACK_H
#define GPUTAP_ANALYSIS_BASE_SORTER_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/base/sorter.h"

enum { SORTER_PACK_SLACK = 8 }; /* number of bytes after packed rows that may also be accessed */

/* Upper limit for the packed size of @count rows of @bytes in all, with slack. */
#define SORTER_PACK_BYTES(bytes, count) ((bytes) + (bytes) / 16 + (count) + SORTER_PACK_SLACK)

static inline uint64_t sorter_load_word(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

/* Pack a row. @last: previous row. Return the position of the next packed row. */
static inline uint8_t *sorter_pack_words(uint8_t *to, const char *row, const char *last,
					 size_t words)
{
	uint8_t *lengths = to;

	to += (words + 1) / 2;
	for (size_t i = 0; i < words; i++) {
		uint64_t delta = sorter_load_word(row + 8 * i) - sorter_load_word(last + 8 * i);
		uint64_t zigzag = delta << 1 ^ (uint64_t)((int64_t)delta >> 63);
		unsigned bytes = zigzag ? (71 - (unsigned)__builtin_clzll(zigzag)) / 8 : 0;

		memcpy(to, &zigzag, sizeof zigzag);
		to += bytes;
		if (i % 2)
			lengths[i / 2] |= (uint8_t)(bytes << 4);
		else
			lengths[i / 2] = (uint8_t)bytes;
	}
	return to;
}

static inline const uint8_t *sorter_unpack_words(const uint8_t *from, char *row, const char *last,
						 size_t words)
{
	static const uint64_t masks[16] = {
		0,
		UINT64_MAX >> 56,
		UINT64_MAX >> 48,
		UINT64_MAX >> 40,
		UINT64_MAX >> 32,
		UINT64_MAX >> 24,
		UINT64_MAX >> 16,
		UINT64_MAX >> 8,
		UINT64_MAX,
	};
	const uint8_t *lengths = from;

	from += (words + 1) / 2;
	for (size_t i = 0; i < words; i++) {
		unsigned bytes = lengths[i / 2] >> 4 * (i % 2) & 15;
		uint64_t zigzag = sorter_load_word(from) & masks[bytes];
		uint64_t word = sorter_load_word(last + 8 * i) + (zigzag >> 1 ^ -(zigzag & 1));

		memcpy(row + 8 * i, &word, sizeof word);
		from += bytes;
	}
	return from;
}

/* Pack a text as the words of its head and the part that differs from the previous text. */
static inline uint8_t *sorter_pack_text(uint8_t *to, struct sorter_text *row,
					const struct sorter_text *last)
{
	const uint32_t most = row->bytes < last->bytes ? row->bytes : last->bytes;
	uint32_t common = 0;

	while (common < most && row->text[common] == last->text[common])
		common++;
	row->common = common;
	to = sorter_pack_words(to, (const char *)row, (const char *)last, sizeof *row / 8);
	memcpy(to, row->text + common, row->bytes - common);
	return to + row->bytes - common;
}

static inline const uint8_t *sorter_unpack_text(const uint8_t *from, struct sorter_text *row,
						const struct sorter_text *last)
{
	from = sorter_unpack_words(from, (char *)row, (const char *)last, sizeof *row / 8);
	memcpy(row->text, last->text, row->common);
	memcpy(row->text + row->common, from, row->bytes - row->common);
	return from + row->bytes - row->common;
}

#endif
