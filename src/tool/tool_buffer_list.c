/* SPDX-License-Identifier: MIT */
/* Keeps the list of buffers and their parts: chunks, the pool of chunks (a lock-free stack) and
 * writers. See the picture in tool_buffer.h.
 *
 * Fork: a child's buffers are empty. fork() runs our handler (pthread_atfork()); _Fork() and
 * clone() do not. The child of _Fork() or clone() is detected through a page that the kernel zeroes
 * in the child (`wiped`). Only the slow path checks this page. Records that such a child writes
 * before its first slow path are lost. */
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/thread.h"
#include "tool/tool_buffer.h"
#include "tool/tool_buffer_write.h"

enum { PAGE = 4096 };
enum { NEW_PROCESS = 0, RESETTING = 1, KNOWN_PROCESS = 2 };

#define POINTER_BITS ((UINT64_C(1) << 48) - 1)

_Thread_local struct gt_buffer_thread gt_buffer_thread;
struct gputap_buffer *gt_buffers;
_Thread_local struct gputap_delivery *gt_delivery_here;
struct gputap_delivery *_Atomic gt_deliveries;

struct wiped {
	_Atomic uint32_t state; /* NEW_PROCESS or KNOWN_PROCESS */
	_Atomic uint32_t lock;
};
static struct wiped not_wiped;
static GT_AT_START struct wiped *wiped = &not_wiped;
static _Atomic uint32_t process = 1;
static pthread_key_t key;

/* Locks ---------------------------------------------------------------------- */

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

void *gt_pages_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct gt_chunk *gt_chunk_create(size_t bytes)
{
	struct gt_chunk *c = gt_pages_map(sizeof *c + bytes);

	if (c)
		c->bytes = bytes;
	return c;
}

void gt_pool_push(struct gputap_buffer *b, struct gt_chunk *c)
{
	uint64_t top = atomic_load_explicit(&b->pool, memory_order_relaxed), to;

	do {
		atomic_store_explicit(&c->below, (struct gt_chunk *)(uintptr_t)(top & POINTER_BITS),
				      memory_order_relaxed);
		to = (uint64_t)(uintptr_t)c | ((top & ~POINTER_BITS) + POINTER_BITS + 1);
	} while (!atomic_compare_exchange_weak_explicit(&b->pool, &top, to, memory_order_release,
							memory_order_relaxed));
}

struct gt_chunk *gt_pool_pop(struct gputap_buffer *b)
{
	uint64_t top = atomic_load_explicit(&b->pool, memory_order_acquire), to;
	struct gt_chunk *c;

	do {
		c = (struct gt_chunk *)(uintptr_t)(top & POINTER_BITS);
		if (!c)
			return NULL;
		/* Chunks of the pool stay mapped, so this load may read a stale value but never
		 * unmapped memory. The exchange fails if the value is stale */
		to = (uint64_t)(uintptr_t)atomic_load_explicit(&c->below, memory_order_relaxed) |
		     ((top & ~POINTER_BITS) + POINTER_BITS + 1);
	} while (!atomic_compare_exchange_weak_explicit(&b->pool, &top, to, memory_order_acquire,
							memory_order_acquire));
	return c;
}

void gt_chunk_release(struct gputap_buffer *b, struct gt_chunk *c)
{
	if (!c->grown) {
		gt_pool_push(b, c);
		return;
	}
	munmap(c, sizeof *c + c->bytes);
}

void gt_chunk_begin(struct gt_chunk *c)
{
	atomic_store_explicit(&c->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&c->consumed, 0, memory_order_relaxed);
	atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
}

struct gt_chunk *gt_chunk_add(struct gputap_buffer *b)
{
	struct gt_chunk *c = gt_chunk_create(b->chunk_bytes);

	if (c) {
		c->all = b->chunks;
		b->chunks = c;
	}
	return c;
}

/* Writers -------------------------------------------------------------------------- */

static void begin_writer(struct gt_buffer_writer *l, struct gt_chunk *c)
{
	gt_chunk_begin(c);
	l->chunk = l->held = l->read = c;
	l->stop = NULL;
	l->cur = l->limit = l->counted = c->data;
	l->lap = l->read_word = l->consumed = 0;
}

struct gt_buffer_writer *gt_writer_take(struct gputap_buffer *b, bool last)
{
	struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_relaxed);
	struct gt_chunk *c;

	while (l && (l->owner || l->last != last))
		l = l->next;
	if (!l) {
		l = gt_pages_map(sizeof *l);
		c = l ? gt_chunk_add(b) : NULL;
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

void gt_writer_give(struct gt_buffer_writer *l)
{
	l->owner = NULL;
	atomic_fetch_sub_explicit(&l->buffer->writer_count, 1, memory_order_relaxed);
}

/* Return a thread's writers when the thread ends. Runs again if a later destructor of the program
 * writes. */
static void give_writers_back(void *arg)
{
	struct gt_buffer_thread *me = arg;
	sigset_t signals;

	gt_buffers_lock(&signals);
	for (struct gt_buffer_writer *l = me->writers; l; l = l->own_next)
		gt_writer_give(l);
	me->writers = NULL;
	memset(me->cache, 0, sizeof me->cache);
	gt_buffers_unlock(&signals);
}

struct gt_buffer_writer *gt_writer_of_thread(struct gputap_buffer *b, bool last)
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
	if (!l && (l = gt_writer_take(b, last)) != NULL) {
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

/* The child of a fork ------------------------------------------------------------------- */

static void buffer_reset(struct gputap_buffer *b)
{
	struct gt_buffer_writer *l = atomic_load_explicit(&b->writers, memory_order_relaxed),
				*kept = NULL, *next;
	struct gt_chunk *c;

	/* This thread may have called fork() in a signal handler that interrupted a write. The
	 * interrupted write continues in the child, so its writer stays unchanged. */
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
			gt_pool_push(b, c);
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

static void reset_deliveries(uint32_t now)
{
	for (struct gputap_delivery *d = atomic_load(&gt_deliveries); d; d = d->next) {
		atomic_store(&d->asleep, 0);
		atomic_store(&d->waits, 0);
		atomic_store(&d->starting, 0);
	}
	gt_tool_ticks_reset();
	/* a callback called fork(), so the delivery's thread is the child's only thread */
	if (gt_delivery_here)
		atomic_store(&gt_delivery_here->process, now);
}

/* Empty all buffers, in the only thread of a fork's child. Locks that other threads of the parent
 * held are released here or overwritten together with the buffers. */
static void reset_buffers(void)
{
	uint32_t now = atomic_load_explicit(&process, memory_order_relaxed) + 1;

	atomic_store_explicit(&process, now, memory_order_relaxed);
	memset(&gt_buffer_thread, 0, sizeof gt_buffer_thread);
	for (struct gputap_buffer *b = gt_buffers; b; b = b->next)
		buffer_reset(b);
	reset_deliveries(now);
	atomic_store_explicit(&wiped->lock, 0, memory_order_relaxed);
	atomic_store_explicit(&wiped->state, KNOWN_PROCESS, memory_order_release);
}

void gt_buffers_look(void)
{
	uint32_t state = NEW_PROCESS;

	if (gt_likely(atomic_load_explicit(&wiped->state, memory_order_acquire) == KNOWN_PROCESS))
		return;
	if (atomic_compare_exchange_strong_explicit(&wiped->state, &state, RESETTING,
						    memory_order_acquire, memory_order_relaxed))
		reset_buffers();
	while (atomic_load_explicit(&wiped->state, memory_order_acquire) != KNOWN_PROCESS)
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
	struct wiped *page = gt_pages_map(PAGE);

	if (page && syscall(SYS_madvise, page, PAGE, MADV_WIPEONFORK) == 0)
		wiped = page;
	else if (page)
		munmap(page, PAGE); /* before Linux 4.14, only fork() is detected */
	atomic_store_explicit(&wiped->state, KNOWN_PROCESS, memory_order_relaxed);
	pthread_key_create(&key, give_writers_back);
	pthread_atfork(fork_begins, fork_parent, fork_child);
}

void gt_buffers_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_buffers);
	gt_buffers_look();
}

/* Destruction ----------------------------------------------------------------------- */

void gt_buffer_unmap(struct gputap_buffer *b)
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
	gt_buffer_unmap(b);
}
