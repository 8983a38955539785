/* SPDX-License-Identifier: MIT */
/* Writes records into buffers. See the picture in tool_buffer.h.
 *
 * While there is room, a thread finds its writer in a small cache, copies the record and stores
 * `committed` (release). Otherwise the thread calls write_slowly(), which
 *   1. finds the writer, or creates a writer;
 *   2. adds the bytes written since the last such addition to the buffer's `filled`, and wakes the
 *      delivery thread if `filled` has reached the watermark;
 *   3. reuses the chunk from its beginning if the reader has read the whole chunk; otherwise takes
 *      another chunk from the pool (a lock-free stack). If the pool is empty, the buffer is full.
 *
 * With n writers, a writer checks the watermark again after writing 1/n of the bytes that the
 * buffer lacks to reach the watermark. A single thread therefore reaches the watermark exactly, and
 * several threads reach it within a few records. */
#include "tool/tool_buffer.h"

#include <errno.h>
#include <string.h>

#include "core/thread.h"
#include "tool/tool.h"
#include "tool/tool_buffer_write.h"

enum {
	CREDIT_MIN = 256,
	CHUNK_MIN = 4096,
	CHUNK_MAX = 65536,
	CHUNKS = 16,
	BUFFER_DEFAULT = 1 << 20
};

static uint64_t last_id; /* requires the lock */

/* Writing -------------------------------------------------------------------------- */

static inline void put_record(struct gt_buffer_writer *l, struct gt_buffered_head head,
			      const void *payload)
{
	memcpy(l->cur, &head, sizeof head);
	if (head.bytes)
		memcpy(l->cur + sizeof head, payload, head.bytes);
}

/* Add the bytes written since the last count to the buffer's sum. Return the sum. */
static int64_t count_written(struct gputap_buffer *b, struct gt_buffer_writer *l)
{
	int64_t written = l->cur - l->counted, filled;

	filled = atomic_fetch_add_explicit(&b->filled, written, memory_order_relaxed) + written;
	l->counted = l->cur;
	if (filled >= (int64_t)b->watermark)
		gt_delivery_want(b);
	return filled;
}

static void set_limit(struct gputap_buffer *b, struct gt_buffer_writer *l, int64_t filled)
{
	size_t left = (size_t)(l->chunk->data + l->chunk->bytes - l->cur), credit;
	uint32_t writers = atomic_load_explicit(&b->writer_count, memory_order_relaxed);

	l->limit = l->cur + left;
	if (filled >= (int64_t)b->watermark)
		/* delivery is already requested, so the next check is at the end of the chunk */
		return;
	credit = (size_t)((int64_t)b->watermark - filled);
	if (writers > 1)
		credit = credit / writers > CREDIT_MIN ? credit / writers : CREDIT_MIN;
	if (credit < left)
		l->limit = l->cur + credit;
}

static void link_chunk(struct gt_buffer_writer *l, struct gt_chunk *c)
{
	struct gt_chunk *before = l->chunk;

	gt_chunk_begin(c);
	l->chunk = c;
	l->lap = 0;
	l->cur = l->limit = l->counted = c->data;
	atomic_store_explicit(&before->next, c, memory_order_release);
}

/* Create a chunk beyond the buffer's bytes. */
static bool grow_buffer(struct gt_buffer_writer *l, size_t bytes)
{
	struct gt_chunk *c = gt_chunk_create(bytes);

	if (!c)
		return false;
	c->grown = true;
	link_chunk(l, c);
	return true;
}

/* Create a chunk for a record that is larger than a chunk. All such chunks together may add as many
 * bytes as the buffer has. */
static bool reserve_large(struct gputap_buffer *b, size_t need, bool anyway)
{
	if (need <= b->chunk_bytes ||
	    atomic_fetch_add_explicit(&b->oversize, need, memory_order_relaxed) + need <=
		    b->bytes ||
	    anyway)
		return true;
	atomic_fetch_sub_explicit(&b->oversize, need, memory_order_relaxed);
	return false;
}

static bool next_chunk(struct gputap_buffer *b, struct gt_buffer_writer *l, size_t need)
{
	uint64_t end = l->lap | (uint32_t)(l->cur - l->chunk->data);
	struct gt_chunk *c;

	if (!reserve_large(b, need, false))
		return false;
	if (l->chunk->bytes >= need &&
	    atomic_load_explicit(&l->chunk->consumed, memory_order_acquire) == end) {
		l->lap += GT_LAP_ONE;
		l->cur = l->limit = l->counted = l->chunk->data;
		atomic_store_explicit(&l->chunk->committed, l->lap, memory_order_release);
		return true;
	}
	if (need > b->chunk_bytes) {
		if (grow_buffer(l, need))
			return true;
		atomic_fetch_sub_explicit(&b->oversize, need, memory_order_relaxed);
		return false;
	}
	c = gt_pool_pop(b);
	if (c)
		link_chunk(l, c);
	return c != NULL;
}

/* Make room for `need` bytes at l->cur. If the buffer is lossless, wait for room. */
static int make_buffer_room(struct gputap_buffer *b, struct gt_buffer_writer *l, size_t need)
{
	for (;;) {
		uint32_t seen = atomic_load_explicit(&b->room, memory_order_seq_cst);
		int64_t filled = count_written(b, l);

		if ((need <= b->chunk_bytes &&
		     (size_t)(l->chunk->data + l->chunk->bytes - l->cur) >= need) ||
		    next_chunk(b, l, need)) {
			set_limit(b, l, filled);
			return 0;
		}
		gt_delivery_want(b);
		if (b->policy == GPUTAP_BUFFER_DISCARD)
			return -ENOSPC;
		if (gt_delivery_blocked(atomic_load_explicit(&b->delivery, memory_order_acquire))) {
			if (!reserve_large(b, need, true) ||
			    !grow_buffer(l, need > b->chunk_bytes ? need : b->chunk_bytes))
				return -ENOSPC;
			set_limit(b, l, filled);
			return 0;
		}
		atomic_fetch_add_explicit(&b->waiters, 1, memory_order_seq_cst);
		gt_word_wait(&b->room, seen);
		atomic_fetch_sub_explicit(&b->waiters, 1, memory_order_relaxed);
	}
}

static __attribute__((noinline)) int write_slowly(struct gputap_buffer *b,
						  struct gt_buffered_head head, const void *payload,
						  bool last)
{
	int saved = errno, rc = -ENOSPC;
	size_t need = gt_record_room(head.bytes);
	struct gt_buffer_writer *l;
	bool borrowed = false;
	sigset_t signals;

	gt_buffers_look();
	l = gt_writer_of_thread(b, last);
	/* a signal handler interrupted a write: the handler's record uses another writer */
	if (l && l->busy) {
		gt_buffers_lock(&signals);
		l = gt_writer_take(b, last);
		gt_buffers_unlock(&signals);
		borrowed = l != NULL;
	}
	if (l) {
		l->busy = 1;
		rc = make_buffer_room(b, l, need);
		if (rc == 0) {
			put_record(l, head, payload);
			gt_buffer_written(l, head.bytes);
			if (l->cur >= l->limit || borrowed)
				count_written(b, l);
		}
		l->busy = 0;
	}
	if (borrowed) {
		gt_buffers_lock(&signals);
		gt_writer_give(l);
		gt_buffers_unlock(&signals);
	}
	if (rc)
		atomic_fetch_add_explicit(&b->lost, 1, memory_order_relaxed);
	errno = saved;
	return rc;
}

int gt_tool_buffer_write_ticks(struct gputap_buffer *b, uint64_t kind, const void *payload,
			       size_t bytes, uint32_t ticks_offset, uint32_t ticks_count, bool last)
{
	const struct gt_buffered_head head = {kind, (uint32_t)bytes, (uint16_t)ticks_offset,
					      (uint16_t)ticks_count};
	struct gt_buffer_writer *l;

	if (gt_unlikely(bytes > UINT32_MAX)) /* rounding up could overflow */
		return -EMSGSIZE;
	l = gt_buffer_reserve(b, bytes, last);
	if (gt_likely(l != NULL)) {
		put_record(l, head, payload);
		gt_buffer_commit(l, bytes);
		return 0;
	}
	if (gt_record_room(bytes) > b->bytes)
		return -EMSGSIZE;
	return write_slowly(b, head, payload, last);
}

int gputap_buffer_write(struct gputap_buffer *b, uint64_t kind, const void *payload, size_t bytes,
			int last)
{
	if (gt_unlikely(!b || (bytes && !payload)))
		return -EINVAL;
	return gt_tool_buffer_write_ticks(b, kind, payload, bytes, 0, 0, last != 0);
}

/* Creation and destruction ---------------------------------------------------------- */

static struct gputap_buffer *buffer_pages(const struct gputap_buffer_opts *o)
{
	size_t bytes = o->bytes ? o->bytes : BUFFER_DEFAULT, chunk = CHUNK_MIN;
	struct gputap_buffer *b = gt_pages_map(sizeof *b);

	while (chunk < CHUNK_MAX && chunk * CHUNKS < bytes)
		chunk *= 2;
	if (!b)
		return NULL;
	b->chunk_bytes = chunk;
	b->bytes = (bytes + chunk - 1) / chunk * chunk;
	b->watermark = !o->watermark             ? b->bytes / 2
		       : o->watermark < b->bytes ? o->watermark
						 : b->bytes;
	b->policy = o->policy;
	b->fn = o->fn;
	b->user = o->user;
	return b;
}

int gputap_buffer_create(const struct gputap_buffer_opts *o, struct gputap_buffer **out)
{
	struct gputap_delivery *d;
	struct gputap_buffer *b;
	sigset_t signals;
	int rc = 0;

	if (!out)
		return -EINVAL;
	*out = NULL;
	if (!o || o->size < sizeof *o || !o->fn || o->policy > GPUTAP_BUFFER_DISCARD ||
	    o->reserved || o->bytes > SIZE_MAX / 4)
		return -EINVAL;
	for (size_t i = sizeof *o; i < o->size; i++)
		if (((const char *)o)[i])
			/* the caller requests a feature that this version does not have */
			return -EINVAL;
	gt_buffers_init();
	gt_tool_ticks_start();
	d = o->delivery;
	if (!d && (rc = gt_delivery_default(&d)) < 0)
		return rc;
	b = buffer_pages(o);
	if (!b)
		return -ENOMEM;
	atomic_store_explicit(&b->delivery, d, memory_order_relaxed);
	/* each writer adds one chunk, because part of a chunk can remain unread */
	for (size_t i = 0; i < b->bytes / b->chunk_bytes; i++) {
		struct gt_chunk *c = gt_chunk_add(b);

		if (!c) {
			gt_buffer_unmap(b);
			return -ENOMEM;
		}
		gt_pool_push(b, c);
	}
	gt_buffers_lock(&signals);
	b->id = ++last_id;
	b->next = gt_buffers;
	gt_buffers = b;
	gt_buffers_unlock(&signals);
	*out = b;
	return 0;
}
