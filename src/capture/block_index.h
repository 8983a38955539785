/* SPDX-License-Identifier: MIT */
/* The index of a capture. It contains copies of the blocks' heads, so that a reader need not search
 * for each block when it opens the capture.
 *
 *   | header | block .. | INDEX 1 | block .. | INDEX 2 | END |
 *    first 1 ^          ^ end 1, first 2      ^ end 2   index: INDEX 2; its previous: INDEX 1
 *
 * Each INDEX contains the heads of all blocks between `first` and `end`; these include the previous
 * INDEX. The sizes of the blocks give their positions. The reader finds blocks that no INDEX lists,
 * such as the last INDEX itself, by reading heads. If an index is damaged, wrong or missing, the
 * reader finds all blocks that way. In a recording in progress, up to 1 MiB of the newest heads are
 * not in an index yet.
 *
 * gt_index_open() verifies an index before use. */
#ifndef GPUTAP_CAPTURE_BLOCK_INDEX_H
#define GPUTAP_CAPTURE_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/format.h"

struct gt_scan_block;

/* Writing ---------------------------------------------------------------------------------- */

enum { GT_INDEX_BYTES = 1 << 20 }; /* approximate size of the heads in one INDEX */

/* Heads of blocks that no INDEX lists yet. */
struct gt_index_writer {
	uint8_t *heads;
	size_t bytes, room, flushed_bytes; /* flushed_..: after the last good flush */
	uint64_t first, end, flushed_end;  /* positions in the file */
	uint64_t previous;                 /* position of the previous INDEX; 0: none */
	/* true if heads are missing, so that no index will be written */
	bool lost;
};

/* Start with an empty index. The first block will be at @at. */
void gt_index_begin(struct gt_index_writer *x, uint64_t at);
void gt_index_fini(struct gt_index_writer *x);
/* Add whole blocks written at x->end. */
void gt_index_add(struct gt_index_writer *x, const uint8_t *blocks, size_t bytes);
/* Add the blocks of a file from x->end to @end. The range may contain only blocks. */
void gt_index_add_file(struct gt_index_writer *x, int fd, uint64_t end);
/* Commit entries added since the last call. gt_index_cut_back() discards entries added since
 * then. */
void gt_index_keep(struct gt_index_writer *x);
void gt_index_cut_back(struct gt_index_writer *x);
/* Return the payload of an INDEX with the oldest heads. NULL: out of memory, or no heads are left.
 * Owner: caller. */
uint8_t *gt_index_payload(const struct gt_index_writer *x, size_t *bytes);
/* Note that this payload was written as a block at @at. */
void gt_index_put(struct gt_index_writer *x, const uint8_t *payload, uint64_t at);

/* Reading ---------------------------------------------------------------------------------- */

struct gt_index;

/* State of a file's index. */
struct gt_index_info {
	uint64_t bytes;  /* size of the INDEX blocks; 0: none */
	uint64_t blocks; /* number of blocks whose heads are in the index */
	/* true if the reader uses the index; false if `wrong`, or if the file has so few blocks
	 * that reading their heads is as fast */
	bool used;
	bool wrong; /* true if the index is damaged or contradicts the blocks */
};

/**
 * gt_index_open() - find a file's index and check it against the blocks
 * @first: position of the first block
 * @bytes: size of the file
 * @out:   receives the index; NULL: the caller finds blocks through their heads
 * Compares the heads of all blocks that are not streams, and of some streams, with the file. A
 * reader of any other block must compare its head itself, as gt_block_read() does.
 * Owner: caller; gt_index_close().
 */
void gt_index_open(int fd, uint64_t first, uint64_t bytes, struct gt_index_info *info,
		   struct gt_index **out);
void gt_index_close(struct gt_index *x);
/* Look up the block at @at, which must follow the block of the previous call. Return true if the
 * index contains the block. */
bool gt_index_next(struct gt_index *x, uint64_t at, struct gt_scan_block *block);

#endif
