/* SPDX-License-Identifier: MIT */
/* Writes a call's record into a tool's buffer, inline and without a copy.
 *
 * The record's stores overlap with the two time stamps and cost nothing, but only while the thread
 * has the core to itself. If another thread shares the core, each instruction costs time. The
 * record is therefore built in place rather than copied. */
#ifndef GPUTAP_TOOL_TOOL_BUFFER_WRITE_H
#define GPUTAP_TOOL_TOOL_BUFFER_WRITE_H

#include <string.h>

#include "core/thread.h"
#include "tool/tool.h"
#include "tool/tool_buffer.h"

static inline size_t gt_record_room(size_t bytes)
{
	return sizeof(struct gt_buffered_head) + ((bytes + 7) & ~(size_t)7);
}

/**
 * gt_buffer_reserve() - return the thread's writer, with room for one record at its `cur`
 * Return: writer; pass the same @bytes to gt_buffer_commit(). If NULL, call
 *         gt_tool_buffer_write_ticks() instead.
 */
static inline GT_IN_LINE struct gt_buffer_writer *gt_buffer_reserve(const struct gputap_buffer *b,
								    size_t bytes, bool last)
{
	const struct gt_writer_cache *cache = &gt_buffer_thread.cache[b->id % GT_WRITER_CACHE];
	struct gt_buffer_writer *l = cache->writer[last];

	if (gt_unlikely(!l || cache->id != b->id || l->busy))
		return NULL;
	l->busy = 1;
	__asm__ volatile("" ::: "memory"); /* excludes this thread's signal handlers */
	/* `limit` may be less than `cur`. A record that ends exactly at `limit` takes the slow
	 * path, which checks the watermark */
	if (gt_likely(l->limit - l->cur > (ptrdiff_t)gt_record_room(bytes)))
		return l;
	l->busy = 0;
	return NULL;
}

static inline GT_IN_LINE void gt_buffer_written(struct gt_buffer_writer *l, size_t bytes)
{
	l->cur += gt_record_room(bytes);
	atomic_store_explicit(&l->chunk->committed, l->lap | (uint32_t)(l->cur - l->chunk->data),
			      memory_order_release);
}

static inline GT_IN_LINE void gt_buffer_commit(struct gt_buffer_writer *l, size_t bytes)
{
	gt_buffer_written(l, bytes);
	__asm__ volatile("" ::: "memory");
	l->busy = 0;
}

/* Force the load of a single word. A load of two words would wait until both recent stores have
 * reached the cache. */
static inline GT_IN_LINE uint64_t gt_call_word(uint64_t word)
{
	__asm__("" : "+r"(word));
	return word;
}

static inline GT_IN_LINE void gt_call_record(struct gputap_record_call *r,
					     const struct gt_tool_frame *f, uint64_t end,
					     uint64_t ret)
{
	r->domain = f->call.domain;
	r->operation = f->call.operation;
	r->correlation = gt_call_word(f->call.correlation);
	r->parent = gt_call_word(f->call.parent);
	r->start = gt_call_word(f->start);
	r->end = gt_call_word(end);
	r->thread = gt_call_word(f->call.thread);
	r->external[0] = gt_call_word(f->call.external[0]);
	r->external[1] = gt_call_word(f->call.external[1]);
	r->ret = ret;
}

/* Write GPUTAP_RECORD_CALL for a call that has returned. @end and the frame's `start` are in host
 * ticks. */
static inline GT_IN_LINE void gt_tool_buffer_call(struct gputap_buffer *b,
						  const struct gt_tool_frame *f, uint64_t end,
						  uint64_t ret)
{
	const struct gt_buffered_head head = {GPUTAP_RECORD_CALL, sizeof(struct gputap_record_call),
					      offsetof(struct gputap_record_call, start), 2};
	struct gt_buffer_writer *l = gt_buffer_reserve(b, sizeof(struct gputap_record_call), false);
	struct gputap_record_call r;

	if (gt_likely(l != NULL)) {
		memcpy(l->cur, &head, sizeof head);
		gt_call_record((struct gputap_record_call *)(l->cur + sizeof head), f, end, ret);
		gt_buffer_commit(l, sizeof r);
	} else {
		gt_call_record(&r, f, end, ret);
		gt_tool_buffer_write_ticks(b, head.kind, &r, head.bytes, head.ticks_offset,
					   head.ticks_count, false);
	}
}

#endif
