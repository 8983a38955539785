/* SPDX-License-Identifier: MIT */
/* Internals of spill.c. Adjacent rows are mostly similar, so storing each word as its difference
 * from the previous row's word reduces rows to a third of their size.
 *
 *   | half a byte per word: size of its difference | differences, zigzag | next row | */
#ifndef GPUTAP_ANALYSIS_BASE_SPILL_PACK_H
#define GPUTAP_ANALYSIS_BASE_SPILL_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SPILL_PACK_SLACK = 8 }; /* number of bytes after packed rows that may also be accessed */

/* Return the largest packed size of rows. @words: 8-byte words per row. */
static inline size_t spill_pack_bytes(size_t words, size_t rows)
{
	return rows * (words * 8 + (words + 1) / 2);
}

static inline uint64_t spill_load_word(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

/* Pack a row. @last: previous row. Return the position of the next packed row. */
static inline uint8_t *spill_pack_row(uint8_t *to, const char *row, const char *last, size_t words)
{
	uint8_t *lengths = to;

	to += (words + 1) / 2;
	for (size_t i = 0; i < words; i++) {
		uint64_t delta = spill_load_word(row + 8 * i) - spill_load_word(last + 8 * i);
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

static inline const uint8_t *spill_unpack_row(const uint8_t *from, char *row, const char *last,
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
		uint64_t zigzag = spill_load_word(from) & masks[bytes];
		uint64_t word = spill_load_word(last + 8 * i) + (zigzag >> 1 ^ -(zigzag & 1));

		memcpy(row + 8 * i, &word, sizeof word);
		from += bytes;
	}
	return from;
}

#endif
