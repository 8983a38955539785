/* SPDX-License-Identifier: MIT */
/* Tracks threads that call tools' functions, and the contexts that these threads may call. tool.h
 * describes the protocol.
 *
 * Threads read the order of active contexts without a lock. Up to seven slots fit in one word. For
 * more slots, a sequence number is odd while a thread writes them with gt_core_lock() held. */
#include "tool/tool_reader.h"

#include <linux/membarrier.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ORDER_WORDS = GT_TOOL_POOL / 8, SPINS = 1000, YIELDS = 100000, NAP_NS = 20000 };
/* 5 s, in naps: limit of the wait for a thread that left a callback by longjmp() and has slept
 * since then */
enum { PATIENCE = 250000 };

struct gt_tool_context *gt_tool_pool;
_Atomic uint64_t gt_tool_activity_types[GT_DOMAIN_COUNT];
_Atomic uint32_t gt_tool_dense, gt_tool_innermost;

static _Atomic bool place_given; /* true once any context had a slot */

static _Atomic uint32_t order_sequence, order_count;
static _Atomic uint64_t order[ORDER_WORDS];
_Atomic uint64_t gt_tool_few;

static _Atomic(struct gt_tool_reader *) readers;
static pthread_key_t key;
static bool key_there;
_Atomic uint32_t gt_tool_membarrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Counterpart of gt_tool_fence_of_reader(). */
static void fence_of_writer(void)
{
	if (atomic_load_explicit(&gt_tool_membarrier, memory_order_relaxed))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	else
		GT_TOOL_FENCE();
}

/* Threads -------------------------------------------------------------------- */

static void clear_reader(struct gt_tool_reader *r)
{
	r->depth = 0;
	for (int i = 0; i < GT_TOOL_DEPTH; i++)
		atomic_store_explicit(&r->hazards[i], 0, memory_order_release);
	atomic_store_explicit(&r->choosing, 0, memory_order_relaxed);
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	atomic_store_explicit(&r->taken, 0, memory_order_release);
}

static void give_reader_back(void *reader)
{
	gt_tool_deliver_left();
	gt_tool_reader = NULL;
	clear_reader(reader);
}

/* Reset in the child of a fork, which has only this thread. */
static void in_child(void)
{
	for (struct gt_tool_reader *r = atomic_load(&readers); r; r = r->next)
		if (r != gt_tool_reader && atomic_load(&r->taken))
			clear_reader(r);
	if (gt_tool_reader)
		gt_tool_reader->thread = (uint32_t)syscall(SYS_gettid);
	/* if a thread of the parent was writing the order, complete the write */
	if (atomic_load(&order_sequence) % 2)
		atomic_fetch_add(&order_sequence, 1);
}

static void init_readers(void)
{
	key_there = pthread_key_create(&key, give_reader_back) == 0;
	pthread_atfork(NULL, NULL, in_child);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
		atomic_store(&gt_tool_membarrier, 1);
}

static struct gt_tool_reader *make_reader(void)
{
	struct gt_tool_reader *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			      *first;

	if (r == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&r->taken, 1, memory_order_relaxed);
	first = atomic_load_explicit(&readers, memory_order_relaxed);
	do
		r->next = first;
	while (!atomic_compare_exchange_weak_explicit(&readers, &first, r, memory_order_release,
						      memory_order_relaxed));
	return r;
}

struct gt_tool_reader *gt_tool_become_reader(void)
{
	int saved = errno;
	struct gt_tool_reader *r;

	/* No callback exists. Do not call init_readers(): it may delay a multithreaded process by
	 * 16 ms, the kernel's grace period. */
	if (!atomic_load_explicit(&place_given, memory_order_acquire))
		return NULL;
	pthread_once(&once, init_readers);
	for (r = atomic_load_explicit(&readers, memory_order_acquire); r; r = r->next) {
		uint32_t no = 0;

		if (atomic_compare_exchange_strong_explicit(&r->taken, &no, 1, memory_order_acquire,
							    memory_order_relaxed))
			break;
	}
	if (!r)
		r = make_reader();
	if (r) {
		r->thread = (uint32_t)syscall(SYS_gettid);
		gt_tool_reader = r;
		if (key_there)
			pthread_setspecific(key, r);
	}
	errno = saved;
	return r;
}

void gt_tool_readers_begin(void)
{
	pthread_once(&once, init_readers);
	atomic_store_explicit(&place_given, true, memory_order_release);
}

uint32_t gt_tool_thread(void)
{
	struct gt_tool_reader *r = gt_tool_reader ? gt_tool_reader : gt_tool_become_reader();

	return r ? r->thread : (uint32_t)syscall(SYS_gettid);
}

/* Hazards -------------------------------------------------------------------- */

static bool called_now(const struct gt_tool_reader *r, uint32_t place)
{
	if (!atomic_load_explicit(&r->taken, memory_order_acquire) ||
	    atomic_load_explicit(&r->waiting, memory_order_acquire))
		return false;
	/* a brief wait: the thread may have read the order before the stop */
	if (atomic_load_explicit(&r->choosing, memory_order_seq_cst))
		return true;
	for (int i = 0; i < GT_TOOL_DEPTH; i++) {
		uint64_t hazard = atomic_load_explicit(&r->hazards[i], memory_order_seq_cst);

		if ((uint32_t)hazard == place + 1 || hazard == GT_TOOL_ANY)
			return true;
	}
	return false;
}

void gt_tool_level_drop(struct gt_tool_reader *r, uint32_t level)
{
	while (r->depth >= level)
		atomic_store_explicit(&r->hazards[--r->depth], 0, memory_order_release);
}

bool gt_tool_level_deep(struct gt_tool_reader *r, uintptr_t here)
{
	while (r->depth && r->stack[r->depth - 1] <= here)
		atomic_store_explicit(&r->hazards[--r->depth], 0, memory_order_release);
	return r->depth < GT_TOOL_DEPTH;
}

void gt_tool_readers_wait(uint32_t place)
{
	const struct timespec nap = {0, NAP_NS};
	int saved = errno;

	fence_of_writer();
	if (gt_tool_reader)
		atomic_store_explicit(&gt_tool_reader->waiting, 1, memory_order_release);
	for (struct gt_tool_reader *r = atomic_load_explicit(&readers, memory_order_acquire); r;
	     r = r->next)
		for (int i = 0; r != gt_tool_reader && i < PATIENCE && called_now(r, place); i++)
			syscall(SYS_nanosleep, &nap, NULL);
	if (gt_tool_reader)
		atomic_store_explicit(&gt_tool_reader->waiting, 0, memory_order_release);
	errno = saved;
}

/* Order ---------------------------------------------------------------------- */

unsigned gt_tool_order_of_many(uint8_t places[GT_TOOL_POOL])
{
	for (int i = 0; i < SPINS + YIELDS; i++) {
		uint32_t before = atomic_load_explicit(&order_sequence, GT_ORDER_READ);
		uint32_t count = atomic_load_explicit(&order_count, memory_order_acquire);

		for (uint32_t w = 0; w * 8 < count; w++) {
			uint64_t word = atomic_load_explicit(&order[w], memory_order_acquire);

			memcpy(places + w * 8, &word, 8);
		}
		if (gt_likely(before % 2 == 0 &&
			      atomic_load_explicit(&order_sequence, memory_order_relaxed) ==
				      before))
			return count;
		if (gt_unlikely(i >= SPINS)) /* the writing thread was preempted */
			sched_yield();
	}
	/* the fork that created this process did not run our handler: act as if no context had
	 * started yet */
	return 0;
}

static bool comes_before(uint32_t a, uint32_t b)
{
	return gt_tool_pool[a].priority != gt_tool_pool[b].priority
		       ? gt_tool_pool[a].priority < gt_tool_pool[b].priority
		       : gt_tool_pool[a].age < gt_tool_pool[b].age;
}

void gt_tool_order_write(void)
{
	uint64_t words[ORDER_WORDS] = {0}, types[GT_DOMAIN_COUNT] = {0};
	uint8_t *places = (uint8_t *)words;
	uint32_t count = 0;

	for (uint32_t p = 0; p < GT_TOOL_POOL; p++) {
		uint32_t at = count;

		if (!atomic_load_explicit(&gt_tool_pool[p].active, memory_order_relaxed))
			continue;
		for (; at && comes_before(p, places[at - 1]); at--)
			places[at] = places[at - 1];
		places[at] = (uint8_t)p;
		count++;
		for (int d = 0; d < GT_DOMAIN_COUNT; d++)
			types[d] |= gt_tool_pool[p].activities[d].types |
				    gt_tool_pool[p].buffered[d].types;
	}
	atomic_fetch_add_explicit(&order_sequence, 1, memory_order_seq_cst);
	for (int w = 0; w < ORDER_WORDS; w++)
		atomic_store_explicit(&order[w], words[w], memory_order_release);
	atomic_store_explicit(&order_count, count, memory_order_release);
	atomic_fetch_add_explicit(&order_sequence, 1, memory_order_release);
	atomic_store_explicit(&gt_tool_few,
			      count <= GT_TOOL_FEW ? words[0] | (uint64_t)count << 56
						   : GT_TOOL_MANY,
			      memory_order_seq_cst);
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		atomic_store_explicit(&gt_tool_activity_types[d], types[d], memory_order_relaxed);
}
