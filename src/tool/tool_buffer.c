/* SPDX-License-Identifier: MIT */
/* Buffers, the writers' side: tool_buffer.h has the picture.
 *
 * While there is room, a thread finds its writer in a small cache, copies the record and stores
 * `committed` (release). Else it calls write_slowly(), which
 *   1. looks the writer up, or makes one;
 *   2. adds the writer's bytes to the buffer's `filled`, and wakes the delivery at the watermark;
 *   3. begins the chunk again if the reader has read all of it; else takes a chunk from the pool
 *      (a lock-free stack); else the buffer is full.
 *
 * A writer looks at the watermark again after so many bytes: what is missing to the watermark,
 * divided by the number of writers. So one thread hits the watermark exactly, several hit it
 * within a few records.
 *
 * Fork: a child's buffers are empty. fork() tells us through pthread_atfork(); for _Fork() and
 * clone() there is a page that the kernel wipes, looked at in the slow path: what such a child
 * writes before it comes there is lost in it. */
#include "tool/tool_buffer.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/thread.h"
#include "tool/tool.h"
#include "tool/tool_buffer_write.h"

enum {
	PAGE = 4096,
	CREDIT_MIN = 256,
	CHUNK_MIN = 4096,
	CHUNK_MAX = 65536,
	CHUNKS = 16,
	BUFFER_DEFAULT = 1 << 20
};
enum { NEW_IMAGE = 0, RESETTING = 1, KNOWN_IMAGE = 2 };

#define POINTER_BITS ((UINT64_C(1) << 48) - 1)

_Thread_local struct gt_buffer_thread gt_buffer_thread;
struct gputap_buffer *gt_buffers;

struct wiped {
	_Atomic uint32_t state; /* NEW_IMAGE .. */
	_Atomic uint32_t lock;
};
static struct wiped not_wiped, *wiped = &not_wiped;
static _Atomic uint32_t process = 1;
static pthread_key_t key;
static uint64_t last_id; /* with the lock */

/* Waiting and locks ---------------------------------------------------------- */

void gt_word_wait(_Atomic uint32_t *word, uint32_t seen)
{
	const struct timespec some = {0, 5000000};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &some, NULL, 0);
}

void gt_word_sleep(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void gt_word_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* 0 open, 1 taken, 2 taken and waited for */
void gt_word_lock(_Atomic uint32_t *word)
{
	uint32_t open = 0;

	if (atomic_compare_exchange_strong_explicit(word, &open, 1, memory_order_acquire,
						    memory_order_relaxed))
		return;
	while (atomic_exchange_explicit(word, 2, memory_order_acquire) != 0)
		gt_word_wait(word, 2);
}

void gt_word_unlock(_Atomic uint32_t *word)
{
	if (atomic_exchange_explicit(word, 0, memory_order_release) == 2)
		gt_word_wake(word);
}

void gt_buffers_lock(sigset_t *signals)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, signals);
	gt_word_lock(&wiped->lock);
}

void gt_buffers_unlock(const sigset_t *signals)
{
	gt_word_unlock(&wiped->lock);
	pthread_sigmask(SIG_SETMASK, signals, NULL);
}

/* Chunks ----------------------------------------------------------------------- */

static void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static struct gt_chunk *chunk_create(size_t bytes)
{
	struct gt_chunk *c = map_pages(sizeof *c + bytes);

	if (c)
		c->bytes = bytes;
	return c;
}

static void pool_push(struct gputap_buffer *b, struct gt_chunk *c)
{
	uint64_t top = atomic_load_explicit(&b->pool, memory_order_relaxed), to;

	do {
		atomic_store_explicit(&c->below, (struct gt_chunk *)(uintptr_t)(top & POINTER_BITS),
				      memory_order_relaxed);
		to = (uint64_t)(uintptr_t)c | ((top & ~POINTER_BITS) + POINTER_BITS + 1);
	} while (!atomic_compare_exchange_weak_explicit(&b->pool, &top, to, memory_order_release,
							memory_order_relaxed));
}

static struct gt_chunk *pool_pop(struct gputap_buffer *b)
{
	uint64_t top = atomic_load_explicit(&b->pool, memory_order_acquire), to;
	struct gt_chunk *c;

	do {
		c = (struct gt_chunk *)(uintptr_t)(top & POINTER_BITS);
		if (!c)
			return NULL;
		/* chunks of the pool stay mapped, so this may be stale but not wild; then the
		 * exchange fails */
		to = (uint64_t)(uintptr_t)atomic_load_explicit(&c->below, memory_order_relaxed) |
		     ((top & ~POINTER_BITS) + POINTER_BITS + 1);
	} while (!atomic_compare_exchange_weak_explicit(&b->pool, &top, to, memory_order_acquire,
							memory_order_acquire));
	return c;
}

void gt_chunk_release(struct gputap_buffer *b, struct gt_chunk *c)
{
	if (!c->grown) {
		pool_push(b, c);
		return;
	}
	munmap(c, sizeof *c + c->bytes);
}

static void chunk_begin(struct gt_chunk *c)
{
	atomic_store_explicit(&c->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&c->consumed, 0, memory_order_relaxed);
	atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
}

/* With the lock. A chunk that counts towards the buffer's bytes. */
static struct gt_chunk *chunk_add(struct gputap_buffer *b)
{
	struct gt_chunk *c = chunk_create(b->chunk_bytes);

	if (c) {
		c->all = b->chunks;
		b->chunks = c;
	}
	return c;
}

/* Writers -------------------------------------------------------------------------- */

static void begin_writer(struct gt_buffer_writer *l, struct gt_chunk *c)
{
	chunk_begin(c);
	l->chunk = l->held = l->read = c;
	l->stop = NULL;
	l->cur = l->limit = l->counted = c->data;
	l->lap = l->read_word = l->consumed = 0;
}

/* With the lock: one that nobody has, or a new one. */
static struct gt_buffer_writer *take_writer(struct gputap_buffer *b, bool last)
{
	struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_relaxed);
	struct gt_chunk *c;

	while (l && (l->owner || l->last != last))
		l = l->next;
	if (!l) {
		l = map_pages(sizeof *l);
		c = l ? chunk_add(b) : NULL;
		if (!c) {
			if (l)
				munmap(l, sizeof *l);
			return NULL;
		}
		l->buffer = b;
		l->last = last;
		begin_writer(l, c);
		l->next = atomic_load_explicit(&b->writers, memory_order_relaxed);
		atomic_store_explicit(&b->writers, l, memory_order_release);
	}
	l->owner = &gt_buffer_thread;
	atomic_fetch_add_explicit(&b->writer_count, 1, memory_order_relaxed);
	return l;
}

static void give_writer(struct gt_buffer_writer *l)
{
	l->owner = NULL;
	atomic_fetch_sub_explicit(&l->buffer->writer_count, 1, memory_order_relaxed);
}

/* Runs again when a later destructor of the program's writes. */
static void give_writers_back(void *arg)
{
	struct gt_buffer_thread *me = arg;
	sigset_t signals;

	gt_buffers_lock(&signals);
	for (struct gt_buffer_writer *l = me->writers; l; l = l->own_next)
		give_writer(l);
	me->writers = NULL;
	memset(me->cache, 0, sizeof me->cache);
	gt_buffers_unlock(&signals);
}

/* This thread's writer, which is in the cache then. */
static struct gt_buffer_writer *writer_of_thread(struct gputap_buffer *b, bool last)
{
	struct gt_buffer_thread *me = &gt_buffer_thread;
	struct gt_buffer_writer *l;
	sigset_t signals;

	if (me->cache[b->id % GT_WRITER_CACHE].id == b->id &&
	    me->cache[b->id % GT_WRITER_CACHE].writer[last])
		return me->cache[b->id % GT_WRITER_CACHE].writer[last];
	gt_buffers_lock(&signals);
	for (l = me->writers; l && (l->buffer != b || l->last != last);)
		l = l->own_next;
	if (!l && (l = take_writer(b, last)) != NULL) {
		if (!me->writers)
			pthread_setspecific(key, me);
		l->own_next = me->writers;
		me->writers = l;
	}
	if (me->cache[b->id % GT_WRITER_CACHE].id != b->id)
		me->cache[b->id % GT_WRITER_CACHE].writer[0] =
			me->cache[b->id % GT_WRITER_CACHE].writer[1] = NULL;
	me->cache[b->id % GT_WRITER_CACHE].id = b->id;
	me->cache[b->id % GT_WRITER_CACHE].writer[last] = l;
	gt_buffers_unlock(&signals);
	return l;
}

/* Writing -------------------------------------------------------------------------- */

static inline void put_record(struct gt_buffer_writer *l, struct gt_buffered_head head,
			      const void *payload)
{
	memcpy(l->cur, &head, sizeof head);
	if (head.bytes)
		memcpy(l->cur + sizeof head, payload, head.bytes);
}

/* What the writer has written since the last time, into the buffer's sum. Return: the sum. */
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
		return; /* it is wanted: nothing to look for until the chunk's end */
	credit = (size_t)((int64_t)b->watermark - filled);
	if (writers > 1)
		credit = credit / writers > CREDIT_MIN ? credit / writers : CREDIT_MIN;
	if (credit < left)
		l->limit = l->cur + credit;
}

static void link_chunk(struct gt_buffer_writer *l, struct gt_chunk *c)
{
	struct gt_chunk *before = l->chunk;

	chunk_begin(c);
	l->chunk = c;
	l->lap = 0;
	l->cur = l->limit = l->counted = c->data;
	atomic_store_explicit(&before->next, c, memory_order_release);
}

/* Beyond the buffer's bytes. */
static bool grow_buffer(struct gt_buffer_writer *l, size_t bytes)
{
	struct gt_chunk *c = chunk_create(bytes);

	if (!c)
		return false;
	c->grown = true;
	link_chunk(l, c);
	return true;
}

/* A record larger than a chunk has one of its own, out of the buffer's bytes once more. */
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
	c = pool_pop(b);
	if (c)
		link_chunk(l, c);
	return c != NULL;
}

/* Room for `need` bytes at l->cur, waited for if the buffer wants it so. */
static int make_room(struct gputap_buffer *b, struct gt_buffer_writer *l, size_t need)
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
	l = writer_of_thread(b, last);
	/* this is a signal handler, in the middle of a write: its record gets another way */
	if (l && l->busy) {
		gt_buffers_lock(&signals);
		l = take_writer(b, last);
		gt_buffers_unlock(&signals);
		borrowed = l != NULL;
	}
	if (l) {
		l->busy = 1;
		rc = make_room(b, l, need);
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
		give_writer(l);
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

	if (gt_unlikely(bytes > UINT32_MAX)) /* what it is rounded up to may be anything */
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

/* A fork child ------------------------------------------------------------------- */

static void buffer_reset(struct gputap_buffer *b)
{
	struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_relaxed),
				*kept = NULL, *next;
	struct gt_chunk *c;

	/* In the middle of a write, in whose signal handler the fork came, this thread's writer is
	 * left as it is. */
	for (struct gt_buffer_writer *o = l; o; o = o->next)
		if (o->busy && o->owner == &gt_buffer_thread)
			o->chunk->abandoned = true;
	c = b->chunks;
	for (; l; l = next) {
		next = l->next;
		while (c && c->abandoned)
			c = c->all;
		if (!c || (l->busy && l->owner == &gt_buffer_thread))
			continue;
		begin_writer(l, c);
		l->owner = NULL;
		l->busy = 0;
		l->touched = false;
		l->drain = 0;
		l->next = kept;
		kept = l;
		c = c->all;
	}
	atomic_store_explicit(&b->writers, kept, memory_order_relaxed);
	atomic_store_explicit(&b->pool, 0, memory_order_relaxed);
	for (; c; c = c->all)
		if (!c->abandoned)
			pool_push(b, c);
	atomic_store_explicit(&b->filled, 0, memory_order_relaxed);
	atomic_store_explicit(&b->lost, 0, memory_order_relaxed);
	atomic_store_explicit(&b->oversize, 0, memory_order_relaxed);
	atomic_store_explicit(&b->wanted, 0, memory_order_relaxed);
	atomic_store_explicit(&b->waiters, 0, memory_order_relaxed);
	atomic_store_explicit(&b->writer_count, 0, memory_order_relaxed);
	atomic_store_explicit(&b->draining, 0, memory_order_relaxed);
	atomic_store_explicit(&b->flush_done,
			      atomic_load_explicit(&b->flush_ticket, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&b->drainer, NULL, memory_order_relaxed);
	b->touched = NULL;
	b->batch_count = 0;
}

/* One thread, the child's first. Locks that others held are open again, or will be overwritten. */
static void reset_buffers(void)
{
	uint32_t now = atomic_load_explicit(&process, memory_order_relaxed) + 1;

	atomic_store_explicit(&process, now, memory_order_relaxed);
	memset(&gt_buffer_thread, 0, sizeof gt_buffer_thread);
	for (struct gputap_buffer *b = gt_buffers; b; b = b->next)
		buffer_reset(b);
	gt_deliveries_reset(now);
	atomic_store_explicit(&wiped->lock, 0, memory_order_relaxed);
	atomic_store_explicit(&wiped->state, KNOWN_IMAGE, memory_order_release);
}

void gt_buffers_look(void)
{
	uint32_t state = NEW_IMAGE;

	if (gt_likely(atomic_load_explicit(&wiped->state, memory_order_acquire) == KNOWN_IMAGE))
		return;
	if (atomic_compare_exchange_strong_explicit(&wiped->state, &state, RESETTING,
						    memory_order_acquire, memory_order_relaxed))
		reset_buffers();
	while (atomic_load_explicit(&wiped->state, memory_order_acquire) != KNOWN_IMAGE)
		gt_word_wait(&wiped->state, RESETTING);
}

uint32_t gt_buffers_process(void)
{
	gt_buffers_look();
	return atomic_load_explicit(&process, memory_order_relaxed);
}

static sigset_t before_fork;

static void fork_begins(void)
{
	sigset_t signals;

	gt_buffers_lock(&signals);
	before_fork = signals;
}

static void fork_parent(void)
{
	sigset_t signals = before_fork;

	gt_buffers_unlock(&signals);
}

static void fork_child(void)
{
	sigset_t signals = before_fork;

	reset_buffers();
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

static void init_buffers(void)
{
	struct wiped *page = map_pages(PAGE);

	if (page && syscall(SYS_madvise, page, PAGE, MADV_WIPEONFORK) == 0)
		wiped = page;
	else if (page)
		munmap(page, PAGE); /* before Linux 4.14: only fork() is noticed */
	atomic_store_explicit(&wiped->state, KNOWN_IMAGE, memory_order_relaxed);
	pthread_key_create(&key, give_writers_back);
	pthread_atfork(fork_begins, fork_parent, fork_child);
}

void gt_buffers_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_buffers);
	gt_buffers_look();
}

/* Making and unmaking ---------------------------------------------------------------- */

static struct gputap_buffer *buffer_pages(const struct gputap_buffer_opts *o)
{
	size_t bytes = o->bytes ? o->bytes : BUFFER_DEFAULT, chunk = CHUNK_MIN;
	struct gputap_buffer *b = map_pages(sizeof *b);

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

static void buffer_unmap(struct gputap_buffer *b)
{
	struct gt_chunk *c, *after;
	struct gt_buffer_writer *l, *next;

	for (l = atomic_load_explicit(&b->writers, memory_order_relaxed); l; l = next) {
		next = l->next;
		for (c = l->held; c; c = after) {
			after = atomic_load_explicit(&c->next, memory_order_relaxed);
			if (c->grown)
				munmap(c, sizeof *c + c->bytes);
		}
		munmap(l, sizeof *l);
	}
	for (c = b->chunks; c; c = after) {
		after = c->all;
		munmap(c, sizeof *c + c->bytes);
	}
	munmap(b, sizeof *b);
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
			return -EINVAL; /* it asks for something that this version does not have */
	gt_buffers_init();
	gt_tool_ticks_start();
	d = o->delivery;
	if (!d && (rc = gt_delivery_default(&d)) < 0)
		return rc;
	b = buffer_pages(o);
	if (!b)
		return -ENOMEM;
	atomic_store_explicit(&b->delivery, d, memory_order_relaxed);
	/* each writer brings one more: for what is left of one that has been read in part */
	for (size_t i = 0; i < b->bytes / b->chunk_bytes; i++) {
		struct gt_chunk *c = chunk_add(b);

		if (!c) {
			buffer_unmap(b);
			return -ENOMEM;
		}
		pool_push(b, c);
	}
	gt_buffers_lock(&signals);
	b->id = ++last_id;
	b->next = gt_buffers;
	gt_buffers = b;
	gt_buffers_unlock(&signals);
	*out = b;
	return 0;
}

void gt_buffer_free(struct gputap_buffer *b)
{
	sigset_t signals;

	gt_buffers_lock(&signals);
	for (struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_relaxed);
	     l; l = l->next) {
		struct gt_buffer_writer **p = l->owner ? &l->owner->writers : NULL;

		while (p && *p && *p != l)
			p = &(*p)->own_next;
		if (p && *p)
			*p = l->own_next;
	}
	gt_buffers_unlock(&signals);
	buffer_unmap(b);
}
