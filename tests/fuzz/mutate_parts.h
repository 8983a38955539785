/* SPDX-License-Identifier: MIT */
/* Internals of mutate.c and mutate_plausibly.c: a capture as a list of blocks; blocks with records
 * are lists of decoded ones. */
#ifndef GPUTAP_FUZZ_MUTATE_PARTS_H
#define GPUTAP_FUZZ_MUTATE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture/format.h"
#include "mutate.h"

enum { MUTATION_BLOCKS_MAX = 4096, MUTATION_HEAD_EXTRA = 256, MUTATION_RECORDS_MAX = 8192 };

struct piece {
	struct gt_file_block head;
	struct gt_file_stream stream;
	/* of the head, after its sums: bounds, the number of a section */
	uint8_t extra[MUTATION_HEAD_EXTRA];
	size_t extra_bytes;
	uint8_t *payload; /* of a STREAM: its records, as in a ring */
	size_t bytes, room;
	/* STREAM: 1 wrong counts, 2 row bytes changed, 3 cut, 4 packed */
	int lies;
};

struct mutation {
	uint64_t random;
	struct gt_file_header header;
	struct piece *pieces[MUTATION_BLOCKS_MAX];
	size_t count;
};

static inline uint64_t draw(struct mutation *m)
{
	return mutate_random(&m->random);
}

static inline size_t below(struct mutation *m, size_t n)
{
	return n ? draw(m) % n : 0;
}

static inline void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Take a capture apart into @m, which is empty. Release with mutation_free(). */
void mutation_parse(struct mutation *m, const uint8_t *file, size_t bytes);
void mutation_free(struct mutation *m);

/* Return a value that programs and arithmetic stumble over. @old: the present one. */
uint64_t mutation_odd_value(struct mutation *m, uint64_t old);
/* Overwrite some of @bytes with text that terminals, JSON, SQL or HTML could interpret. */
void mutation_put_odd_text(struct mutation *m, uint8_t *at, size_t bytes);

void mutation_append(struct piece *b, const void *data, size_t bytes);
void mutation_insert(struct piece *b, size_t at, const void *data, size_t bytes);
bool mutation_has_records(const struct piece *b);
/* Find the offsets of the records of a piece. Return: their number; one may be damaged by an
 * earlier change. */
size_t mutation_find_records(const struct piece *b, size_t *at, size_t most);

#endif
