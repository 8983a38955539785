/* SPDX-License-Identifier: MIT */
/* A set of small numbers that grows. */
#ifndef GPUTAP_ANALYSIS_BASE_BITS_H
#define GPUTAP_ANALYSIS_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct gt_bits {
	uint64_t *word;
	uint32_t words;
};

static inline bool gt_bits_has(const struct gt_bits *set, uint32_t number)
{
	return number / 64 < set->words && set->word[number / 64] >> number % 64 & 1;
}

/* Add a number. If memory is exhausted, the number is not added; callers then only repeat work. */
static inline void gt_bits_add(struct gt_bits *set, uint32_t number)
{
	if (number / 64 >= set->words) {
		uint32_t words = (number / 64 + 4) & ~3u;
		uint64_t *more = realloc(set->word, words * sizeof *more);

		if (!more)
			return;
		memset(more + set->words, 0, (words - set->words) * sizeof *more);
		set->word = more;
		set->words = words;
	}
	set->word[number / 64] |= UINT64_C(1) << number % 64;
}

static inline void gt_bits_fini(struct gt_bits *set)
{
	free(set->word);
	*set = (struct gt_bits){0};
}

#endif
