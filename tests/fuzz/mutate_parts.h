/* SPDX-License-Identifier: MIT */
/* Internals of mutate.c and mutate_plausibly.c. A capture is a list of blocks, and a block with
 * records is a list of decoded records. */
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
	/* bytes of the head after its sums: bounds, number of a section */
	uint8_t extra[MUTATION_HEAD_EXTRA];
	size_t extra_bytes;
	uint8_t *payload; /* a STREAM block's records, in the form of the ring */
	size_t bytes, room;
	/* STREAM: 1: wrong counts, 2: changed row bytes, 3: cut, 4: packed */
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

/* Split a capture into @m, which must be empty. Release with mutation_free(). */
void mutation_parse(struct mutation *m, const uint8_t *file, size_t bytes);
void mutation_free(struct mutation *m);

/* Return a value that programs and arithmetic often handle incorrectly. @old: the current value. */
uint64_t mutation_odd_value(struct mutation *m, uint64_t old);
/* Overwrite some of @bytes with text that has a special meaning in terminals, JSON, SQL or HTML. */
void mutation_put_odd_text(struct mutation *m, uint8_t *at, size_t bytes);

void mutation_append(struct piece *b, const void *data, size_t bytes);
void mutation_insert(struct piece *b, size_t at, const void *data, size_t bytes);
bool mutation_has_records(const struct piece *b);
/* Find the offsets of a piece's records. Return the number of records. One record may be damaged by
 * an earlier change. */
size_t mutation_find_records(const struct piece *b, size_t *at, size_t most);

#endif
