/* SPDX-License-Identifier: MIT */
/* Splits a capture into pieces that cursors read independently, for example in several threads.
 *
 * Blocks can be decoded one by one, but calls that contain others are only complete when their
 * outermost call arrives, perhaps in a later block:
 *
 *     | piece 1: .. call, call, inner, | piece 2: inner, outermost, call, .. |
 *                              after  -------------------------^
 *
 * If the last call of a piece is an inner one, the cursor of this piece also returns the next rows,
 * up to and including the outermost call. The cursor of the next piece skips these rows. Both
 * look at the same row: the last call before the boundary. */
#include <errno.h>
#include <stdlib.h>

#include "capture/cursor.h"
#include "util/error.h"

static bool has_calls(const struct stream_block *b)
{
	return b->first_ticks <= b->last_ticks;
}

/* Set *depth to the depth of the last call. Leave *depth unchanged if the block has no calls,
 * or is damaged before the first one. Return 0 or negative errno. */
static int find_last_depth(struct gt_cursor *k, struct stream_block *b, int *depth)
{
	struct gt_file_stream base = gt_block_base(b);
	const uint8_t *payload;
	struct gt_row row;
	int status = gt_block_read(&k->reader, k->capture, b, &payload);

	if (status)
		return status == -EBADMSG ? 0 : status;
	gt_decoder_begin(&k->decoder, &base, payload, b->raw_bytes);
	while ((status = gt_decoder_next(&k->decoder, &row)) == 1)
		if (row.shape->item.kind == GT_RECORD_CALL)
			*depth = row.shape->item.detail;
	return status == -EBADMSG ? 0 : status;
}

int gt_cursor_is_call_open(struct gt_cursor *k, size_t first, size_t block)
{
	int depth = -1, status = 0;

	while (block > first && depth < 0 && !status) {
		struct stream_block *b = &k->capture->blocks[--block];

		if (has_calls(b))
			status = find_last_depth(k, b, &depth);
	}
	return status ? status : depth > 0;
}

int gt_cursor_take_piece(struct gt_cursor *k, const struct gt_capture_piece *piece)
{
	const struct ring_stream *s = &k->capture->streams[piece->stream];
	int status = gt_cursor_is_call_open(k, s->first, piece->first);

	if (status < 0)
		return status;
	k->in_piece = true;
	k->in_block = false;
	k->has_overflow = false;
	k->margin = status ? GT_MARGIN_BEFORE : GT_MARGIN_NONE;
	k->piece_first = piece->first;
	k->piece_end = piece->first + piece->count;
	k->block = k->block_end = 0;
	k->stream = piece->stream;
	k->stream_end = piece->stream + 1;
	return 0;
}

static bool can_be_split(const struct gt_capture *c, const struct ring_stream *s)
{
	for (size_t i = s->first; i < s->first + s->count; i++)
		if (c->blocks[i].marks & GT_FILE_EXTERNAL)
			return false;
	return true;
}

int gt_capture_split(const struct gt_capture *c, uint64_t bytes, struct gt_capture_piece **pieces,
		     size_t *count)
{
	/* at most one per block, because streams have blocks */
	struct gt_capture_piece *list = calloc(c->block_count + 1, sizeof *list);
	size_t n = 0;

	*pieces = list;
	*count = 0;
	if (!list)
		return gt_error(-ENOMEM, "cannot read capture %s", c->files[0].path);
	for (size_t stream = 0; stream < c->stream_count; stream++) {
		const struct ring_stream *s = &c->streams[stream];
		const bool split = can_be_split(c, s);
		bool is_begun = false;

		for (size_t i = s->first; i < s->first + s->count; i++) {
			const struct stream_block *b = &c->blocks[i];
			struct gt_capture_piece *p;

			if (!is_begun || (split && list[n - 1].bytes >= bytes))
				list[n++] = (struct gt_capture_piece){.stream = stream, .first = i};
			is_begun = true;
			p = &list[n - 1];
			p->count++;
			p->bytes += (uint64_t)b->head_bytes + b->stored_bytes;
			p->is_large = !split && p->bytes > bytes;
		}
	}
	*count = n;
	return 0;
}
