/* SPDX-License-Identifier: MIT */
/* Finds and reads an index: see block_index.h. No data of an index is trusted. All lengths are
 * checked, and each head has a checksum. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/block_index.h"
#include "capture/checksum.h"
#include "capture/scan.h"
#include "util/grow.h"

enum {
	FEW_BLOCKS = 32, /* up to this number of blocks, reading the heads is as fast */
	SAMPLES = 16,    /* number of streams whose heads are compared */
	END_BYTES = 1024,
};

/* An INDEX block. */
struct part {
	uint64_t payload_at;
	uint32_t bytes, crc; /* size and checksum of the payload */
	struct gt_file_index index;
};

struct gt_index {
	int fd;
	struct part *parts; /* in file order */
	size_t count, room, next;
	uint8_t *heads; /* payload of the part that precedes `next` */
	size_t heads_room, used, bytes;
	uint64_t heads_at; /* position of `heads` in the file */
	uint64_t at;       /* position of the next block */
};

static bool is_head_good(const uint8_t *p, size_t bytes, struct gt_file_block *h)
{
	if (bytes < sizeof *h)
		return false;
	memcpy(h, p, sizeof *h);
	return h->magic == GT_BLOCK_MAGIC && h->head_bytes >= sizeof *h &&
	       h->head_bytes <= GT_FILE_HEAD_MAX && h->head_bytes <= bytes &&
	       h->stored_bytes <= GT_FILE_PAYLOAD_MAX && h->raw_bytes <= GT_FILE_PAYLOAD_MAX &&
	       gt_head_crc(p, h->head_bytes) == h->head_crc;
}

/* Restore the block magic of a head in an index. */
static bool restore_magic(uint8_t *head, size_t bytes)
{
	uint32_t magic;

	if (bytes < sizeof magic)
		return false;
	memcpy(&magic, head, sizeof magic);
	if (magic != GT_INDEX_MAGIC)
		return false;
	magic = GT_BLOCK_MAGIC;
	memcpy(head, &magic, sizeof magic);
	return true;
}

/* Read the END block. Return false if the file has no such block. */
static bool read_end(int fd, uint64_t bytes, struct gt_file_end *end, uint64_t *end_at)
{
	uint8_t last[END_BYTES];
	size_t n = bytes < sizeof last ? (size_t)bytes : sizeof last;
	struct gt_file_block h;

	if (gt_scan_read(fd, last, n, bytes - n))
		return false;
	for (size_t at = n; at-- > 0;) {
		if (!is_head_good(last + at, n - at, &h) || h.type != GT_BLOCK_END ||
		    at + h.head_bytes + h.stored_bytes != n || h.stored_bytes < sizeof *end ||
		    gt_crc32c(0, last + at + h.head_bytes, h.stored_bytes) != h.payload_crc)
			continue;
		memcpy(end, last + at + h.head_bytes, sizeof *end);
		*end_at = bytes - n + at;
		return true;
	}
	return false;
}

/* Read the INDEX at @at, which must end before @limit. */
static bool read_part(struct gt_index *x, uint64_t at, uint64_t limit, struct part *part)
{
	uint8_t start[GT_FILE_HEAD_MAX + sizeof part->index];
	size_t n = limit - at < sizeof start ? (size_t)(limit - at) : sizeof start;
	struct gt_file_block h;

	if (gt_scan_read(x->fd, start, n, at) || !is_head_good(start, n, &h) ||
	    h.type != GT_BLOCK_INDEX || h.flags & GT_BLOCK_ZSTD ||
	    h.stored_bytes < sizeof part->index || h.head_bytes + sizeof part->index > n ||
	    (uint64_t)h.head_bytes + h.stored_bytes > limit - at)
		return false;
	memcpy(&part->index, start + h.head_bytes, sizeof part->index);
	part->payload_at = at + h.head_bytes;
	part->bytes = h.stored_bytes;
	part->crc = h.payload_crc;
	return part->index.first < part->index.end && part->index.end <= at &&
	       part->index.previous < at;
}

/* Read all parts, starting with the last one, and put them in file order. Return true if the parts
 * are contiguous from @first. */
static bool read_parts(struct gt_index *x, uint64_t at, uint64_t limit, uint64_t first)
{
	while (at) {
		struct part part, *more = gt_grow(x->parts, x->count, &x->room, sizeof *more);

		if (!more)
			return false;
		x->parts = more;
		if (!read_part(x, at, limit, &part))
			return false;
		x->parts[x->count++] = part;
		limit = at;
		at = part.index.previous;
	}
	for (size_t i = 0; i < x->count / 2; i++) {
		struct part one = x->parts[i];

		x->parts[i] = x->parts[x->count - 1 - i];
		x->parts[x->count - 1 - i] = one;
	}
	for (size_t i = 0; i < x->count; i++) {
		if (x->parts[i].index.first != first)
			return false;
		first = x->parts[i].index.end;
	}
	return true;
}

/* Load the heads of the next part and verify them against its INDEX. */
static bool load_part(struct gt_index *x)
{
	const struct part *part = &x->parts[x->next];
	uint64_t at = part->index.first;
	size_t used = sizeof part->index;
	uint32_t blocks = 0;
	uint8_t *more;

	if (x->heads_room < part->bytes) {
		more = realloc(x->heads, part->bytes);
		if (!more)
			return false;
		x->heads = more;
		x->heads_room = part->bytes;
	}
	if (gt_scan_read(x->fd, x->heads, part->bytes, part->payload_at) ||
	    gt_crc32c(0, x->heads, part->bytes) != part->crc)
		return false;
	for (; used < part->bytes; blocks++) {
		struct gt_file_block h;

		if (!restore_magic(x->heads + used, part->bytes - used) ||
		    !is_head_good(x->heads + used, part->bytes - used, &h))
			return false;
		used += h.head_bytes;
		at += (uint64_t)h.head_bytes + h.stored_bytes;
	}
	if (at != part->index.end || blocks != part->index.blocks)
		return false;
	x->used = sizeof part->index;
	x->bytes = part->bytes;
	x->heads_at = part->payload_at;
	x->at = part->index.first;
	x->next++;
	return true;
}

bool gt_index_next(struct gt_index *x, uint64_t at, struct gt_scan_block *block)
{
	if (x->used == x->bytes && x->next < x->count && x->parts[x->next].index.first == at &&
	    !load_part(x))
		x->next = x->count;
	if (x->used == x->bytes || x->at != at)
		return false;
	memcpy(&block->head, x->heads + x->used, sizeof block->head);
	memcpy(block->extension, x->heads + x->used + sizeof block->head,
	       block->head.head_bytes - sizeof block->head);
	block->at = at;
	block->head_at = x->heads_at + x->used;
	x->used += block->head.head_bytes;
	x->at += (uint64_t)block->head.head_bytes + block->head.stored_bytes;
	return true;
}

/* Return true if the head of the block in the file equals that in the index. */
static bool is_block_there(const struct gt_index *x, const struct gt_scan_block *block)
{
	uint8_t head[GT_FILE_HEAD_MAX];
	size_t n = sizeof block->head;

	return !gt_scan_read(x->fd, head, block->head.head_bytes, block->at) &&
	       !memcmp(head, &block->head, n) &&
	       !memcmp(head + n, block->extension, block->head.head_bytes - n);
}

static void rewind_index(struct gt_index *x)
{
	x->next = 0;
	x->used = x->bytes = 0;
}

/* Compare the index with the file. A sample of the streams is enough, because a wrong index gives
 * wrong positions for all later blocks. */
static bool compare_index(struct gt_index *x, struct gt_scan_block *block, uint64_t blocks)
{
	uint64_t at = x->parts[0].index.first, number = 0;
	bool good = true;

	while (good && gt_index_next(x, at, block)) {
		const bool wanted = block->head.type != GT_BLOCK_STREAM ||
				    number++ % (blocks / SAMPLES + 1) == 0;

		good = !wanted || is_block_there(x, block);
		at += (uint64_t)block->head.head_bytes + block->head.stored_bytes;
	}
	good &= at == x->parts[x->count - 1].index.end;
	rewind_index(x);
	return good;
}

void gt_index_open(int fd, uint64_t first, uint64_t bytes, struct gt_index_info *info,
		   struct gt_index **out)
{
	struct gt_scan_block *block = NULL;
	struct gt_file_end end;
	struct gt_index *x;
	uint64_t end_at;

	*info = (struct gt_index_info){0};
	*out = NULL;
	if (!read_end(fd, bytes, &end, &end_at) || !end.index)
		return;
	info->wrong = true;
	x = calloc(1, sizeof *x);
	if (!x)
		return;
	x->fd = fd;
	if (end.index >= end_at || !read_parts(x, end.index, end_at, first))
		goto out;
	for (size_t i = 0; i < x->count; i++) {
		info->bytes += x->parts[i].bytes;
		info->blocks += x->parts[i].index.blocks;
	}
	block = info->blocks >= FEW_BLOCKS ? malloc(sizeof *block) : NULL;
	info->wrong = block && !compare_index(x, block, info->blocks);
	info->used = block && !info->wrong;
out:
	free(block);
	if (info->used)
		*out = x;
	else
		gt_index_close(x);
}

void gt_index_close(struct gt_index *x)
{
	if (!x)
		return;
	free(x->parts);
	free(x->heads);
	free(x);
}
