/* SPDX-License-Identifier: MIT */
/* Internals of cursors: select the blocks and rows within a scope of a capture
 * (gt_capture_set_scope()).
 *
 * A block is skipped only if none of its rows is in the scope. Rows of other blocks are selected
 * individually, before calls are joined with enclosing ones. So a cursor returns the same items
 * whether or not blocks are skipped. */
#ifndef GPUTAP_CAPTURE_SCOPE_H
#define GPUTAP_CAPTURE_SCOPE_H

#include <stdatomic.h>

#include "capture/reader.h"

struct scope {
	struct gt_time_range *spans; /* sorted, disjoint */
	size_t count;
	bool read_all;   /* true: skip no block */
	bool *processes; /* NULL: all */
	/* number of references by the capture and by cursors, perhaps of several threads */
	atomic_uint users;
};

/* Drop a reference. @s: may be NULL. */
void gt_scope_put(struct scope *s);

/* Return true if this interval overlaps a span. */
static inline bool gt_scope_overlaps(const struct scope *s, uint64_t start_ns, uint64_t end_ns)
{
	size_t low = 0, high = s->count;

	while (low < high) { /* find the first span that starts after the interval */
		size_t middle = low + (high - low) / 2;

		if (s->spans[middle].from_ns <= end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && s->spans[low - 1].to_ns >= start_ns;
}

static inline bool gt_scope_has_process(const struct scope *s, uint32_t process)
{
	return !s || !s->processes || s->processes[process];
}

/* Return true if a call is in the scope even outside all spans, because the ends of paired marks
 * can be anywhere. */
bool gt_scope_has_marker(uint32_t op);
static inline bool gt_scope_has_call(const struct scope *s, const struct gt_item *call)
{
	return gt_scope_overlaps(s, call->start_ns, call->end_ns) || gt_scope_has_marker(call->op);
}
static inline bool gt_scope_has_activity(const struct scope *s, const struct gt_item *activity)
{
	return !activity->start_ns ||
	       gt_scope_overlaps(s, activity->start_ns,
				 activity->end_ns > activity->start_ns ? activity->end_ns
								       : activity->start_ns);
}
/* Return true if a row of the block may be in the scope. */
bool gt_scope_has_block(const struct gt_capture *c, const struct scope *s,
			const struct stream_block *b);
/* Return the total size of a stream's blocks. */
static inline uint64_t gt_stream_bytes(const struct gt_capture *c, size_t stream)
{
	const struct ring_stream *s = &c->streams[stream];
	uint64_t bytes = 0;

	for (size_t i = s->first; i < s->first + s->count; i++)
		bytes += (uint64_t)c->blocks[i].head_bytes + c->blocks[i].stored_bytes;
	return bytes;
}
/* Return true if the block may contain calls that start or end ranges. */
bool gt_block_has_marks(const struct stream_block *b);

#endif
