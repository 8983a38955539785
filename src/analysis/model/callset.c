/* SPDX-License-Identifier: MIT */
/* See callset.h. */
#include "analysis/model/callset.h"

#include <stdlib.h>

#include "util/grow.h"

enum { CHUNK_SHIFT = 9, CHUNK_CALLS = 1 << CHUNK_SHIFT, CHUNK_WORDS = CHUNK_CALLS / 64 };

struct gt_callset_chunk {
	uint64_t bits[CHUNK_WORDS];
	size_t first; /* index in gt_callset.numbers of the chunk's first marked call */
};

int gt_callset_mark(struct gt_callset *s, uint32_t process, uint64_t id)
{
	int64_t found = gt_map_find(&s->chunk_map, process, id >> CHUNK_SHIFT);
	unsigned bit = (unsigned)(id % CHUNK_CALLS);

	if (found < 0) {
		struct gt_callset_chunk *chunks =
			gt_grow(s->chunks, s->chunk_count, &s->chunk_room, sizeof *chunks);

		if (!chunks)
			return -ENOMEM;
		s->chunks = chunks;
		if (gt_map_add(&s->chunk_map, process, id >> CHUNK_SHIFT, (uint32_t)s->chunk_count))
			return -ENOMEM;
		chunks[s->chunk_count] = (struct gt_callset_chunk){.first = 0};
		found = (int64_t)s->chunk_count++;
	}
	s->chunks[found].bits[bit / 64] |= UINT64_C(1) << bit % 64;
	return 0;
}

int gt_callset_settle(struct gt_callset *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->chunk_count; i++) {
		s->chunks[i].first = count;
		for (unsigned w = 0; w < CHUNK_WORDS; w++)
			count += (size_t)__builtin_popcountll(s->chunks[i].bits[w]);
	}
	s->numbers = count ? calloc(count, sizeof *s->numbers) : NULL;
	return count && !s->numbers ? -ENOMEM : 0;
}

uint32_t *gt_callset_find(const struct gt_callset *s, uint32_t process, uint64_t id)
{
	int64_t found = gt_map_find(&s->chunk_map, process, id >> CHUNK_SHIFT);
	unsigned bit = (unsigned)(id % CHUNK_CALLS);
	const struct gt_callset_chunk *chunk = found < 0 ? NULL : &s->chunks[found];
	uint64_t mask = UINT64_C(1) << bit % 64;
	size_t at;

	if (!chunk || !(chunk->bits[bit / 64] & mask))
		return NULL;
	at = chunk->first + (size_t)__builtin_popcountll(chunk->bits[bit / 64] & (mask - 1));
	for (unsigned w = 0; w < bit / 64; w++)
		at += (size_t)__builtin_popcountll(chunk->bits[w]);
	return &s->numbers[at];
}

void gt_callset_fini(struct gt_callset *s)
{
	gt_map_fini(&s->chunk_map);
	free(s->chunks);
	free(s->numbers);
	*s = (struct gt_callset){.chunks = NULL};
}
