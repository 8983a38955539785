/* SPDX-License-Identifier: MIT */
/* The index of a capture: copies of the heads of its blocks, so that who opens it need not look for
 * them one by one.
 *
 *   | header | block .. | INDEX 1 | block .. | INDEX 2 | END |
 *    first 1 ^          ^ end 1, first 2      ^ end 2   index: INDEX 2; its previous: INDEX 1
 *
 * Each INDEX has the heads of the blocks that lie between its ends, without a hole; an INDEX before
 * it is one of those. Where blocks are, their sizes say. What no INDEX speaks of, as the last one
 * itself, is found by its heads, and so is everything where an index is damaged, not true, or not
 * there: a recording that goes on has none behind the last 1 MiB of heads.
 *
 * An index is not believed: see gt_index_open(). */
#ifndef GPUTAP_CAPTURE_BLOCK_INDEX_H
#define GPUTAP_CAPTURE_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format.h"

struct gt_scan_block;

/* Writing ---------------------------------------------------------------------------------- */

enum { GT_INDEX_BYTES = 1 << 20 }; /* of heads in one INDEX, about */

/* Heads of blocks that no INDEX has yet. */
struct gt_index_writer {
	uint8_t *heads;
	size_t bytes, room, flushed_bytes; /* flushed_..: after the last good flush */
	uint64_t first, end, flushed_end;  /* in the file */
	uint64_t previous;                 /* INDEX in it; 0: none */
	bool lost;                         /* not all heads are here: there will be no index */
};

/* No block yet; the first one will lie at @at. */
void gt_index_begin(struct gt_index_writer *x, uint64_t at);
void gt_index_fini(struct gt_index_writer *x);
/* Whole blocks have gone to x->end. */
void gt_index_add(struct gt_index_writer *x, const uint8_t *blocks, size_t bytes);
/* .. and lie in a file, up to @end. Nothing else may lie between. */
void gt_index_add_file(struct gt_index_writer *x, int fd, uint64_t end);
/* What was added is in the file for good; what was since the last time is not. */
void gt_index_keep(struct gt_index_writer *x);
void gt_index_cut_back(struct gt_index_writer *x);
/* The payload of an INDEX of the oldest heads. NULL: no memory, or none left. Owner: caller. */
uint8_t *gt_index_payload(const struct gt_index_writer *x, size_t *bytes);
/* That payload is a block of the file, at @at. */
void gt_index_put(struct gt_index_writer *x, const uint8_t *payload, uint64_t at);

/* Reading ---------------------------------------------------------------------------------- */

struct gt_index;

/* What a file says of its index. */
struct gt_index_info {
	uint64_t bytes;  /* of INDEX blocks; 0: there is none */
	uint64_t blocks; /* whose heads it has */
	bool used;       /* else there are so few blocks that their heads are read as soon, or: */
	bool wrong;      /* damaged, or not what the blocks say: not used */
};

/**
 * gt_index_open() - find a file's index and whether it is true
 * @first: where the first block lies; @bytes: of the file
 * @out:   receives it; NULL: blocks are to be found by their heads
 * Compared with the file are the heads of all blocks but streams, and of some streams. Who reads
 * another block compares its head, too: gt_block_read().
 * Owner: caller; gt_index_close(). */
void gt_index_open(int fd, uint64_t first, uint64_t bytes, struct gt_index_info *info,
		   struct gt_index **out);
void gt_index_close(struct gt_index *x);
/* The block at @at, which comes after that of the call before. Return: is it in the index? */
bool gt_index_next(struct gt_index *x, uint64_t at, struct gt_scan_block *block);

#endif
