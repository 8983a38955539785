/* SPDX-License-Identifier: MIT */
/* The index of a capture: copies of the heads of its blocks, so that a reader that opens it need
 * not search for each of them.
 *
 *   | header | block .. | INDEX 1 | block .. | INDEX 2 | END |
 *    first 1 ^          ^ end 1, first 2      ^ end 2   index: INDEX 2; its previous: INDEX 1
 *
 * Each INDEX has the heads of the blocks that lie between its ends, without a hole; the INDEX
 * before it is one of those. Sizes of blocks give their positions. Blocks that no INDEX lists, such
 * as the last INDEX itself, are found by reading heads; this applies to all blocks if an index is
 * damaged, wrong or missing. A recording in progress has no index of its newest heads, up to 1 MiB
 * of them.
 *
 * An index is verified before use: see gt_index_open(). */
#ifndef GPUTAP_CAPTURE_BLOCK_INDEX_H
#define GPUTAP_CAPTURE_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format.h"

struct gt_scan_block;

/* Writing ---------------------------------------------------------------------------------- */

enum { GT_INDEX_BYTES = 1 << 20 }; /* approximate bytes of heads in one INDEX */

/* Heads of blocks that no INDEX lists yet. */
struct gt_index_writer {
	uint8_t *heads;
	size_t bytes, room, flushed_bytes; /* flushed_..: after the last good flush */
	uint64_t first, end, flushed_end;  /* positions in the file */
	uint64_t previous;                 /* position of the previous INDEX; 0: none */
	bool lost;                         /* heads are missing: no index will be written */
};

/* Start without blocks; the first one will be at @at. */
void gt_index_begin(struct gt_index_writer *x, uint64_t at);
void gt_index_fini(struct gt_index_writer *x);
/* Add whole blocks that were written at x->end. */
void gt_index_add(struct gt_index_writer *x, const uint8_t *blocks, size_t bytes);
/* Add the blocks of a file up to @end, written at x->end. Nothing else may lie between. */
void gt_index_add_file(struct gt_index_writer *x, int fd, uint64_t end);
/* Commit entries added since the last call; gt_index_cut_back() discards those that are not. */
void gt_index_keep(struct gt_index_writer *x);
void gt_index_cut_back(struct gt_index_writer *x);
/* Return the payload of an INDEX of the oldest heads. NULL: no memory, or none left.
 * Owner: caller. */
uint8_t *gt_index_payload(const struct gt_index_writer *x, size_t *bytes);
/* Note that this payload was written as a block at @at. */
void gt_index_put(struct gt_index_writer *x, const uint8_t *payload, uint64_t at);

/* Reading ---------------------------------------------------------------------------------- */

struct gt_index;

/* State of a file's index. */
struct gt_index_info {
	uint64_t bytes;  /* size of the INDEX blocks; 0: none */
	uint64_t blocks; /* blocks whose heads it has */
	/* false if there are so few blocks that reading their heads is as fast, or if `wrong` */
	bool used;
	bool wrong; /* damaged, or it contradicts the blocks: not used */
};

/**
 * gt_index_open() - find a file's index and check it against the blocks
 * @first: position of the first block; @bytes: size of the file
 * @out:   receives it; NULL: blocks must be found through their heads
 * Heads of all blocks but streams, and of some streams, are compared with the file. A reader of any
 * other block must compare its head itself, as gt_block_read() does.
 * Owner: caller; gt_index_close(). */
void gt_index_open(int fd, uint64_t first, uint64_t bytes, struct gt_index_info *info,
		   struct gt_index **out);
void gt_index_close(struct gt_index *x);
/* Look up the block at @at, which must follow the block of the previous call. Return true if it is
 * in the index. */
bool gt_index_next(struct gt_index *x, uint64_t at, struct gt_scan_block *block);

#endif
