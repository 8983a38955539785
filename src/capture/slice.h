/* SPDX-License-Identifier: MIT */
/* Inside of cursors: which blocks and which rows a slice of a capture has (gt_capture_set_slice()).
 *
 * A block is left unread only if no row of it is in the slice; what is in it is decided row by row,
 * before calls are joined with those around them. So a cursor gives the same whether or not blocks
 * are left out. */
#ifndef GPUTAP_CAPTURE_SLICE_H
#define GPUTAP_CAPTURE_SLICE_H

#include "capture/reader.h"

struct slice {
	struct gt_slice_span *spans; /* in order, apart from each other */
	size_t count;
	bool read_all;   /* no block is left unread */
	bool *processes; /* NULL: all */
	unsigned users;  /* the capture, and cursors */
};

/* @s: may be NULL. */
void gt_slice_put(struct slice *s);

/* Does something that lasts so long overlap a span? */
static inline bool gt_slice_overlaps(const struct slice *s, uint64_t start_ns, uint64_t end_ns)
{
	size_t low = 0, high = s->count;

	while (low < high) { /* the first span that begins after it */
		size_t middle = low + (high - low) / 2;

		if (s->spans[middle].from_ns <= end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && s->spans[low - 1].to_ns >= start_ns;
}

static inline bool gt_slice_has_process(const struct slice *s, uint32_t process)
{
	return !s || !s->processes || s->processes[process];
}

/* Is a call that overlaps no span in the slice all the same? Pairs of marks can be anywhere. */
bool gt_slice_has_mark(uint32_t op);
static inline bool gt_slice_has_call(const struct slice *s, const struct gt_item *call)
{
	return gt_slice_overlaps(s, call->start_ns, call->end_ns) || gt_slice_has_mark(call->op);
}
static inline bool gt_slice_has_work(const struct slice *s, const struct gt_item *work)
{
	return !work->start_ns ||
	       gt_slice_overlaps(s, work->start_ns,
				 work->end_ns > work->start_ns ? work->end_ns : work->start_ns);
}
/* Can any row of the block be in the slice? */
bool gt_slice_has_block(const struct gt_capture *c, const struct slice *s,
			const struct stream_block *b);
/* Bytes of a stream's blocks. */
static inline uint64_t gt_stream_bytes(const struct gt_capture *c, size_t stream)
{
	const struct ring_stream *s = &c->streams[stream];
	uint64_t bytes = 0;

	for (size_t i = s->first; i < s->first + s->count; i++)
		bytes += (uint64_t)c->blocks[i].head_bytes + c->blocks[i].stored_bytes;
	return bytes;
}
/* Can the block have calls that say something of ranges? */
bool gt_block_has_marks(const struct stream_block *b);

#endif
