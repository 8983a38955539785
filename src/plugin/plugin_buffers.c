/* SPDX-License-Identifier: MIT */
/* Manages buffers: creates a buffer when a plug-in requests it, and keeps completed buffers until
 * they are read after the session.
 *
 *   request  ──► out list ── complete_buffer ──► completed list ──► plugin_records.c ──► freed
 *
 * Life of a buffer:
 *   1. The plug-in requests the buffer, in any thread. The buffer's bytes are added to bytes_now,
 *      an atomic sum that limits memory and is not used for ordering. The buffer goes to the out
 *      list, with the session's number.
 *   2. The plug-in completes the buffer, in any thread. The buffer leaves the out list. If its
 *      valid bytes are more than 0 and at most its size, it goes to the end of the completed lists
 *      of the plug-in's session and stream, if the plug-in has them; otherwise it is freed, without
 *      the lock.
 *   3. The session ends. Buffers that are still out are counted, and stay in the out list.
 *   4. Each reader takes its completed buffers one after the other. The last reader frees the
 *      buffer (plugin_records.c), or passes the buffer's pages to the function set with
 *      gt_plugin_buffers_give().
 *
 * Late buffers. GPU activities that are in flight when a session ends complete afterwards, into a
 * buffer that was requested in that session or outside any session. Such a buffer is late.
 * complete_buffer() nevertheless appends it to the session's list, so that the buffer is read with
 * the session that has just ended, or retired when the next session begins (gt_plugin_retire()). A
 * plug-in may also keep filling a late buffer with the next session's records. The time of each
 * record shows to which session the record belongs.
 *
 * Locks: the lists of a plug-in are read and written with its `buffers.lock` held. Plug-ins call
 * these functions while they hold their own locks, so this lock is a leaf: no plug-in function is
 * called while the lock is held. The callbacks have no context, so each plug-in gets two separate
 * functions. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/plugin_parts.h"

/* limit of the buffers that plug-ins without a stream request while no session is open (for
 * activities in flight) */
enum { IDLE_BYTES_MOST = 64 << 20 };

static struct gt_plugin *all;
static uint32_t session_number;       /* 0: no session is open */
static size_t buffer_bytes = 1 << 20; /* used by a stream that starts before any session */
static uint64_t bytes_most = UINT64_C(4) << 30;
static uint64_t bytes_now;  /* atomic */
static uint64_t idle_bytes; /* atomic; bytes of buffers requested without a reader */
static void (*take_pages)(void *pages, size_t bytes, void *user);
static void *take_user;

static bool is_idle(const struct gt_plugin_buffer *b)
{
	return !b->session && !b->streamed;
}

static void give_back_bytes(const struct gt_plugin_buffer *b)
{
	__atomic_fetch_sub(&bytes_now, b->bytes, __ATOMIC_RELAXED);
	if (is_idle(b))
		__atomic_fetch_sub(&idle_bytes, b->bytes, __ATOMIC_RELAXED);
}

static void free_buffer(struct gt_plugin_buffer *b)
{
	give_back_bytes(b);
	munmap(b->data, b->bytes + GT_PLUGIN_GUARD_BYTES);
	free(b);
}

void gt_plugin_buffers_give(void (*take)(void *pages, size_t bytes, void *user), void *user)
{
	take_pages = take;
	take_user = user;
}

static bool is_last_reader(struct gt_plugin *p, struct gt_plugin_buffer *b)
{
	bool last;

	pthread_mutex_lock(&p->buffers.lock);
	last = !--b->readers;
	pthread_mutex_unlock(&p->buffers.lock);
	return last;
}

void gt_plugin_buffer_release(struct gt_plugin *p, struct gt_plugin_reader *r,
			      struct gt_plugin_buffer *b)
{
	if (!is_last_reader(p, b))
		return;
	if (r->who != GT_PLUGIN_SESSION || !take_pages) {
		free_buffer(b);
		return;
	}
	give_back_bytes(b);
	take_pages(b->data, b->bytes + GT_PLUGIN_GUARD_BYTES, take_user);
	free(b);
}

struct gt_plugin_buffer *gt_plugin_buffer_next(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	struct gt_plugin_buffer *b;

	pthread_mutex_lock(&p->buffers.lock);
	b = r->first;
	if (b) {
		r->first = b->next[r->who];
		if (!r->first)
			r->last = &r->first;
	}
	pthread_mutex_unlock(&p->buffers.lock);
	return b;
}

/* Compute the guard byte of an address. The byte depends on the address, so that a plug-in that
 * overwrites the guard with a constant does not match the guard by chance. */
static uint8_t guard_byte(const uint8_t *at)
{
	return (uint8_t)((uint64_t)(uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* Create a buffer in separate pages, so that the first bytes that a plug-in writes past the end (up
 * to the guard's size) do not overwrite the program's memory. */
static struct gt_plugin_buffer *make_buffer(size_t bytes)
{
	struct gt_plugin_buffer *b = calloc(1, sizeof *b);
	void *data = b ? mmap(NULL, bytes + GT_PLUGIN_GUARD_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
		       : MAP_FAILED;

	if (data == MAP_FAILED) {
		free(b);
		return NULL;
	}
	b->data = data;
	b->bytes = bytes;
	for (uint8_t *at = b->data + bytes; at < b->data + bytes + GT_PLUGIN_GUARD_BYTES; at++)
		*at = guard_byte(at);
	return b;
}

bool gt_plugin_buffer_is_whole(const struct gt_plugin_buffer *b)
{
	const uint8_t *end = b->data + b->bytes;

	for (const uint8_t *at = end; at < end + GT_PLUGIN_GUARD_BYTES; at++)
		if (*at != guard_byte(at))
			return false;
	return true;
}

static void request(struct gt_plugin *p, uint8_t **buffer, size_t *size)
{
	struct gt_plugin_buffer like = {
		.bytes = __atomic_load_n(&buffer_bytes, __ATOMIC_RELAXED),
		.session = __atomic_load_n(&session_number, __ATOMIC_RELAXED),
		.streamed = atomic_load_explicit(&p->streaming, memory_order_relaxed),
	};
	struct gt_plugin_buffer *b;
	bool full;

	if (!buffer || !size)
		return;
	*buffer = NULL;
	*size = 0;
	full = __atomic_add_fetch(&bytes_now, like.bytes, __ATOMIC_RELAXED) >
	       __atomic_load_n(&bytes_most, __ATOMIC_RELAXED);
	if (is_idle(&like))
		full |= __atomic_add_fetch(&idle_bytes, like.bytes, __ATOMIC_RELAXED) >
			IDLE_BYTES_MOST;
	if (full || !(b = make_buffer(like.bytes))) {
		give_back_bytes(&like);
		gt_plugin_count_both(p, GPUTAP_PLUGIN_NO_BUFFER);
		return;
	}
	b->session = like.session;
	b->streamed = like.streamed;
	pthread_mutex_lock(&p->buffers.lock);
	b->next[0] = p->buffers.out;
	p->buffers.out = b;
	pthread_mutex_unlock(&p->buffers.lock);
	*buffer = b->data;
	*size = b->bytes;
}

static struct gt_plugin_buffer *take_out(struct gt_plugin *p, const uint8_t *data)
{
	for (struct gt_plugin_buffer **at = &p->buffers.out; *at; at = &(*at)->next[0])
		if ((*at)->data == data) {
			struct gt_plugin_buffer *b = *at;

			*at = b->next[0];
			return b;
		}
	return NULL;
}

/* Append @b. The caller holds the lock. */
static void append_buffer(struct gt_plugin_reader *r, struct gt_plugin_buffer *b)
{
	b->next[r->who] = NULL;
	*r->last = b;
	r->last = &b->next[r->who];
	b->readers++;
}

static void complete_buffer(struct gt_plugin *p, const uint8_t *data, size_t size, size_t valid)
{
	uint32_t session = __atomic_load_n(&session_number, __ATOMIC_RELAXED);
	struct gt_plugin_buffer *b, *unwanted = NULL;

	pthread_mutex_lock(&p->buffers.lock);
	b = take_out(p, data);
	if (!b || valid > b->bytes || size != b->bytes)
		gt_plugin_count_both(p, GPUTAP_PLUGIN_BAD_BUFFER);
	if (b && valid && valid <= b->bytes) {
		b->valid = valid;
		b->late = !session || b->session != session;
		if (session || b->session || is_idle(b))
			append_buffer(&p->readers[GT_PLUGIN_SESSION], b);
		if (atomic_load_explicit(&p->streaming, memory_order_relaxed))
			append_buffer(&p->readers[GT_PLUGIN_STREAM], b);
	}
	unwanted = b && !b->readers ? b : NULL;
	pthread_mutex_unlock(&p->buffers.lock);
	if (unwanted)
		free_buffer(unwanted);
}

#define CALLBACKS(n)                                                         \
	static void request_##n(uint8_t **buffer, size_t *size)              \
	{                                                                    \
		request(&all[n], buffer, size);                              \
	}                                                                    \
	static void complete_##n(uint8_t *buffer, size_t size, size_t valid) \
	{                                                                    \
		complete_buffer(&all[n], buffer, size, valid);               \
	}
#define REQUEST(n)  request_##n,
#define COMPLETE(n) complete_##n,
GT_PLUGIN_EACH(CALLBACKS)
static const pu1BufferRequestFn requests[GT_PLUGINS_MOST] = {GT_PLUGIN_EACH(REQUEST)};
static const pu1BufferCompleteFn completes[GT_PLUGINS_MOST] = {GT_PLUGIN_EACH(COMPLETE)};

pu1BufferRequestFn gt_plugin_request_of(uint32_t index)
{
	return requests[index];
}

pu1BufferCompleteFn gt_plugin_complete_of(uint32_t index)
{
	return completes[index];
}

void gt_plugin_buffers_init(struct gt_plugin *plugins, uint32_t count)
{
	all = plugins;
	for (uint32_t i = 0; i < count; i++) {
		pthread_mutex_init(&plugins[i].buffers.lock, NULL);
		for (int who = 0; who < GT_PLUGIN_READERS; who++) {
			plugins[i].readers[who].who = (enum gt_plugin_who)who;
			plugins[i].readers[who].last = &plugins[i].readers[who].first;
		}
	}
}

void gt_plugin_buffers_begin(uint32_t session, size_t bytes, uint64_t most)
{
	__atomic_store_n(&buffer_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&bytes_most, most, __ATOMIC_RELAXED);
	__atomic_store_n(&session_number, session, __ATOMIC_RELAXED);
}

void gt_plugin_buffers_count_kept(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	pthread_mutex_lock(&p->buffers.lock);
	for (struct gt_plugin_buffer *b = p->buffers.out; b; b = b->next[0])
		gt_plugin_count(r, GPUTAP_PLUGIN_KEPT_BUFFER);
	pthread_mutex_unlock(&p->buffers.lock);
}

void gt_plugin_buffers_clear(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	struct gt_plugin_buffer *b;

	while ((b = gt_plugin_buffer_next(p, r)) != NULL)
		if (is_last_reader(p, b))
			free_buffer(b);
	if (r->reading && is_last_reader(p, r->reading))
		free_buffer(r->reading);
	r->reading = NULL;
}
