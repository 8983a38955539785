/* SPDX-License-Identifier: MIT */
/* See call_set.h. A set that contains every second one of 100 million calls takes 13 MB. */
#include "capture/call_set.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"

enum { CHUNK_BITS = 1 << 14, ROOM_FIRST = 256 };

struct gt_call_chunk {
	uint64_t number; /* id / CHUNK_BITS */
	uint32_t process;
	uint64_t *bits; /* NULL: the entry is free */
};

static size_t place_of(const struct gt_call_set *s, uint32_t process, uint64_t number)
{
	uint64_t hash = (number ^ (uint64_t)process << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (s->room - 1);
}

/* Return the entry of the chunk, or the free entry into which the chunk would go. */
static struct gt_call_chunk *find_chunk(const struct gt_call_set *s, uint32_t process,
					uint64_t number)
{
	size_t at = place_of(s, process, number);

	while (s->chunks[at].bits &&
	       (s->chunks[at].number != number || s->chunks[at].process != process))
		at = (at + 1) & (s->room - 1);
	return &s->chunks[at];
}

static int grow_table(struct gt_call_set *s)
{
	struct gt_call_set more = {.room = s->room ? s->room * 2 : ROOM_FIRST};

	more.chunks = calloc(more.room, sizeof *more.chunks);
	if (!more.chunks)
		return gt_error(-ENOMEM, "cannot store the calls of a part");
	for (size_t i = 0; i < s->room; i++)
		if (s->chunks[i].bits)
			*find_chunk(&more, s->chunks[i].process, s->chunks[i].number) =
				s->chunks[i];
	free(s->chunks);
	s->chunks = more.chunks;
	s->room = more.room;
	s->last = NULL;
	return 0;
}

/* Return the chunk of a call, or NULL if the set contains no call of that chunk. */
static struct gt_call_chunk *get_chunk(struct gt_call_set *s, uint32_t process, uint64_t id)
{
	const uint64_t number = id / CHUNK_BITS;
	struct gt_call_chunk *chunk = s->last;

	if (chunk && chunk->number == number && chunk->process == process)
		return chunk;
	chunk = s->room ? find_chunk(s, process, number) : NULL;
	if (!chunk || !chunk->bits)
		return NULL;
	return s->last = chunk;
}

int gt_call_set_add(struct gt_call_set *s, uint32_t process, uint64_t id)
{
	struct gt_call_chunk *chunk = get_chunk(s, process, id);

	if (!chunk) {
		if (s->count * 2 >= s->room && grow_table(s))
			return -ENOMEM;
		chunk = find_chunk(s, process, id / CHUNK_BITS);
		chunk->bits = calloc(CHUNK_BITS / 64, sizeof *chunk->bits);
		if (!chunk->bits)
			return gt_error(-ENOMEM, "cannot store the calls of a part");
		chunk->number = id / CHUNK_BITS;
		chunk->process = process;
		s->count++;
	}
	chunk->bits[id % CHUNK_BITS / 64] |= UINT64_C(1) << id % 64;
	return 0;
}

bool gt_call_set_has(struct gt_call_set *s, uint32_t process, uint64_t id)
{
	const struct gt_call_chunk *chunk = get_chunk(s, process, id);

	return chunk && chunk->bits[id % CHUNK_BITS / 64] >> id % 64 & 1;
}

void gt_call_set_fini(struct gt_call_set *s)
{
	for (size_t i = 0; i < s->room; i++)
		free(s->chunks[i].bits);
	free(s->chunks);
	*s = (struct gt_call_set){0};
}
