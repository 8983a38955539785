/* SPDX-License-Identifier: MIT */
/* Collects the heads for an index: see block_index.h. */
#include <stdlib.h>
#include <string.h>

#include "capture/block_index.h"
#include "capture/scan.h"
#include "util/grow.h"

void gt_index_begin(struct gt_index_writer *x, uint64_t at)
{
	x->bytes = x->flushed_bytes = 0;
	x->first = x->end = x->flushed_end = at;
	x->previous = 0;
	x->lost = false;
}

void gt_index_fini(struct gt_index_writer *x)
{
	free(x->heads);
	x->heads = NULL;
	x->bytes = x->room = 0;
}

static uint8_t *make_room(struct gt_index_writer *x, size_t bytes)
{
	uint8_t *more = gt_grow_to(x->heads, x->bytes + bytes, &x->room, 1);

	if (!more)
		return NULL;
	x->heads = more;
	return more + x->bytes;
}

/* Add a head. The extension follows @head. */
static void add_head(struct gt_index_writer *x, const void *head)
{
	struct gt_file_block h;
	uint8_t *to;

	memcpy(&h, head, sizeof h);
	to = make_room(x, h.head_bytes);
	if (!to) {
		x->lost = true;
		return;
	}
	memcpy(to, head, h.head_bytes);
	x->bytes += h.head_bytes;
	x->end += (uint64_t)h.head_bytes + h.stored_bytes;
}

void gt_index_add(struct gt_index_writer *x, const uint8_t *blocks, size_t bytes)
{
	while (bytes && !x->lost) {
		struct gt_file_block h;

		memcpy(&h, blocks, sizeof h);
		add_head(x, blocks);
		blocks += (size_t)h.head_bytes + h.stored_bytes;
		bytes -= (size_t)h.head_bytes + h.stored_bytes;
	}
}

/* Add a block that a scan found. Its head and extension are separate in memory. */
static void add_found(struct gt_index_writer *x, const struct gt_scan_block *block)
{
	uint8_t head[GT_FILE_HEAD_MAX];

	memcpy(head, &block->head, sizeof block->head);
	memcpy(head + sizeof block->head, block->extension,
	       block->head.head_bytes - sizeof block->head);
	add_head(x, head);
}

void gt_index_add_file(struct gt_index_writer *x, int fd, uint64_t end)
{
	struct gt_scan *s = malloc(sizeof *s);
	struct gt_scan_block *block = malloc(sizeof *block);

	if (s && block && !x->lost) {
		gt_scan_begin(s, fd, x->end, end);
		while (!x->lost && gt_scan_next(s, block) > 0 && block->at == x->end)
			add_found(x, block);
	}
	x->lost |= x->end != end;
	free(block);
	free(s);
}

void gt_index_keep(struct gt_index_writer *x)
{
	x->flushed_bytes = x->bytes;
	x->flushed_end = x->end;
}

void gt_index_cut_back(struct gt_index_writer *x)
{
	x->bytes = x->flushed_bytes;
	x->end = x->flushed_end;
}

static void mark_heads(uint8_t *heads, size_t bytes)
{
	static const uint32_t magic = GT_INDEX_MAGIC;

	for (size_t at = 0; at < bytes;) {
		struct gt_file_block h;

		memcpy(&h, heads + at, sizeof h);
		memcpy(heads + at, &magic, sizeof magic);
		at += h.head_bytes;
	}
}

uint8_t *gt_index_payload(const struct gt_index_writer *x, size_t *bytes)
{
	struct gt_file_index index = {x->previous, x->first, x->first, 0, 0};
	uint8_t *payload;
	size_t used = 0;

	while (used < x->bytes) {
		struct gt_file_block h;

		memcpy(&h, x->heads + used, sizeof h);
		if (used + h.head_bytes > GT_INDEX_BYTES + GT_FILE_HEAD_MAX)
			break;
		used += h.head_bytes;
		index.end += (uint64_t)h.head_bytes + h.stored_bytes;
		index.blocks++;
	}
	payload = used && !x->lost ? malloc(sizeof index + used) : NULL;
	if (!payload)
		return NULL;
	memcpy(payload, &index, sizeof index);
	memcpy(payload + sizeof index, x->heads, used);
	mark_heads(payload + sizeof index, used);
	*bytes = sizeof index + used;
	return payload;
}

void gt_index_put(struct gt_index_writer *x, const uint8_t *payload, uint64_t at)
{
	struct gt_file_index index;
	size_t used = 0;

	memcpy(&index, payload, sizeof index);
	for (uint32_t i = 0; i < index.blocks; i++) {
		struct gt_file_block h;

		memcpy(&h, x->heads + used, sizeof h);
		used += h.head_bytes;
	}
	memmove(x->heads, x->heads + used, x->bytes - used);
	x->bytes -= used;
	x->first = index.end;
	x->previous = at;
}
