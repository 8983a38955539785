/* SPDX-License-Identifier: MIT */
/* State with which a thread of the traced program writes records, and the hot path itself.
 *
 *   gt_thread_get() -> gt_call_begin() -> the real call -> gt_ring_reserve() .. gt_ring_commit()
 *   -> gt_call_end()
 *
 * One TLS block (initial-exec), one cache line hot. Nothing here is shared with other threads
 * except through the segment (ring/segment.h).
 * Never on this path: allocation, locks, formatting, system calls, errno. The slow paths
 * (gt_thread_attach(), gt_ring_next()) run once per thread and once per block. */
#ifndef GPUTAP_CORE_THREAD_H
#define GPUTAP_CORE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "clock/counter.h"
#include "ring/segment.h"

#define gt_likely(x)   __builtin_expect(!!(x), 1)
#define gt_unlikely(x) __builtin_expect(!!(x), 0)

/* Without this, GCC makes functions of the common parts of taps: two calls with six arguments each.
 * Their cost is hidden behind the time stamps only while no other thread uses the core. */
#define GT_IN_LINE __attribute__((always_inline))

#define GT_EPOCH_NONE UINT32_MAX

/* The globals that every recorded call reads are adjacent: calls are rare from a program's point of
 * view, so their cache lines are cold. */
#define GT_HOT __attribute__((section("gt_hot")))

struct gt_graph_launch;
struct gt_submit_order;

struct gt_thread {
	uint8_t *cur;           /* where the next record goes */
	struct gt_block *block; /* NULL until the first record */
	struct gt_slot *slot;   /* NULL: none yet */
	uint64_t next_id;       /* id of the next call */
	uint32_t end;           /* end of the current block's data: the address's lower half */
	/* between reserve and commit: a signal handler's records are counted, not written */
	uint8_t writing;
	uint32_t outer_return; /* GT_RETURN() of the outermost open call, if `depth` is not 0 */
	uint32_t depth;        /* open calls. After `outer_return`: written together */
	/* equals *gt_epoch when attached to this process; else GT_EPOCH_NONE or stale */
	uint32_t epoch;
	/* greater than 0 in gputap's own calls into a runtime: taps call straight through. After
	 * `epoch`: read together */
	uint32_t internal;
	uintptr_t outer;                /* GT_HERE() of the outermost open call */
	struct gt_external *external;   /* ids that the program pushed; NULL: none ever */
	struct gt_torch_ranges *ranges; /* ranges of runtime/torch; NULL: none was ever started */
	uint32_t lost;                  /* records dropped since the last GT_EVENT_LOSS */
	uint32_t lost_domain;
	/* id of the open, recorded call of an `outermost` API (HIP); 0: none */
	uint64_t api_id;
	/* host ticks of its start: activities that lower layers submit meanwhile are linked to
	 * it */
	uint64_t api_start;
	/* bytes that this call copies or sets; 0: none, or not known. Then also: */
	uint64_t api_bytes;
	uint64_t api_source, api_destination;
	uint32_t api_direction; /* as the API defines it; 0: none */
	/* not NULL in a runtime's own thread, which submits activities for other threads' calls
	 * (runtime/submit_order.h) */
	struct gt_submit_order *submit_order;
	/* the one open in this thread (runtime/graph_nodes.h); NULL: none */
	struct gt_graph_launch *graph;
	/* memory of core/exec_environment.c, for the next exec; NULL: none */
	void *exec_area;
	/* process that uses it: this one, or a vfork's child that is gone; 0: none */
	uint32_t exec_user;
};

/* Store such memory in the thread's state: it is freed when the thread ends. Signal: safe. */
void gt_thread_keep_exec_area(struct gt_thread *t, void *area);

/* Hooks of runtimes for events of threads. Each is set before the first call that needs it, and
 * then stays; NULL: no runtime needs it. */
enum gt_thread_end {
	GT_THREAD_END_RANGES,
	GT_THREAD_END_ANNOUNCED,
	GT_THREAD_END_NVTX,
	GT_THREAD_END_ROCTX,
	GT_THREAD_END_STACKS,
	GT_THREAD_ENDS
};
extern struct gt_thread_hooks {
	/* a call of the program gets no thread state */
	void (*_Atomic call_missed)(void);
	/* a thread was attached, inside its call: signal mask and all other state are the
	 * program's */
	void (*_Atomic attached)(void);
	/* the thread ends: frees memory that a runtime has mapped for it. One per runtime that
	 * needs it */
	void (*_Atomic ends[GT_THREAD_ENDS])(struct gt_thread *t);
} gt_thread_hooks __attribute__((visibility("hidden")));

/* Unit tests are programs and define it as "local-exec". For those GNU ld would turn the `add` of
 * "initial-exec" into a `lea`, but GCC 12's check for NULL (-fsanitize=null) reads the flags of the
 * `add`. */
#ifndef GT_TLS_MODEL
#define GT_TLS_MODEL "initial-exec"
#endif
extern _Thread_local struct gt_thread gt_thread
	__attribute__((tls_model(GT_TLS_MODEL), visibility("hidden")));

/* Points to a page that the kernel wipes in a fork child (MADV_WIPEONFORK), however the child was
 * created: it is 0 there, so that every thread state of the parent is stale. Also 0 when not
 * recording. */
extern const _Atomic uint32_t *gt_epoch __attribute__((visibility("hidden")));
extern uint32_t gt_host_clock __attribute__((visibility("hidden"))); /* enum gt_host_clock */

uint64_t gt_ticks_boottime(void) __attribute__((cold, visibility("hidden")));

static inline uint64_t gt_ticks(void)
{
	if (GT_HAS_COUNTER && gt_likely(gt_host_clock == GT_HOST_CLOCK_COUNTER))
		return gt_counter_read();
	return gt_ticks_boottime();
}

/* Per domain: all ones while interposition has replaced the symbols of a runtime of it, because its
 * internal calls inside a call of the program reach taps again, and are not the program's. Else 0.
 * (Domains that are `outermost` use gt_thread_api() for that.) */
extern uint32_t gt_skip_nested[GT_DOMAIN_COUNT] __attribute__((visibility("hidden")));

/* Stack address of the tap that this is compiled into: below its caller, for any size of its
 * frame. */
#define GT_HERE() ((uintptr_t)__builtin_dwarf_cfa())

/* The lower half of the tap's return address, which is in memory below GT_HERE() on machines that
 * store it there. */
#if defined(__x86_64__)
#define GT_RETURN() (*(const uint32_t *)(GT_HERE() - 8))
#else
#define GT_RETURN() ((uint32_t)(uintptr_t)__builtin_return_address(0))
#endif

/**
 * gt_thread_attach() - slow half of gt_thread_get(): new thread, new process, or recording is off
 * Return: the thread's state with a slot, or NULL: make the call as if gputap were not there.
 */
struct gt_thread *gt_thread_attach(struct gt_thread *t);

/**
 * gt_thread_stand_for() - make a state for records of another thread, that this one writes
 * @t:    the caller's, and only the caller writes with it
 * @tid:  id of the thread that it represents; @name: name of the track
 * Return: @t with a separate slot, which is drained like any other; NULL: nothing is recorded.
 */
struct gt_thread *gt_thread_stand_for(struct gt_thread *t, uint32_t tid, const char *name);

/* The slow halves of gt_thread_call() and gt_thread_api(). @here: the caller's GT_HERE(). */
struct gt_thread *gt_thread_attach_call(struct gt_thread *t, enum gt_domain domain, uintptr_t here);
struct gt_thread *gt_thread_attach_api(struct gt_thread *t, uintptr_t here);

/* Return the word just below @at in this thread's stack, hidden from sanitizers: GT_RETURN() of the
 * tap whose GT_HERE() it was, unless it has been overwritten. 0 on other machines. */
static inline uint32_t gt_stack_word(uintptr_t at)
{
	uint32_t word = 0;

#if defined(__x86_64__)
	__asm__("movl -8(%1), %0" : "=r"(word) : "r"(at) : "memory");
#else
	(void)at;
#endif
	return word;
}

/* Return true if attached to this process, and not inside a call made for gputap itself. */
static inline bool gt_thread_ready(const struct gt_thread *t)
{
	uint64_t epoch_internal;

	/* one comparison, because the upper half must be 0 */
	static_assert(offsetof(struct gt_thread, internal) ==
				      offsetof(struct gt_thread, epoch) + 4 &&
			      offsetof(struct gt_thread, epoch) % 8 == 0,
		      "read as one little-endian word");
	memcpy(&epoch_internal, &t->epoch, sizeof epoch_internal);
	return epoch_internal == atomic_load_explicit(gt_epoch, memory_order_relaxed);
}

/**
 * gt_thread_get() - return this thread's state, ready to record
 * Return: NULL if this call must not be recorded (gputap's own call, recording off, no slot free).
 */
static inline struct gt_thread *gt_thread_get(void)
{
	struct gt_thread *t = &gt_thread;

	return gt_likely(gt_thread_ready(t)) ? t : gt_thread_attach(t);
}

/* Return true if a call at this stack position is inside all open ones. A call may have been left
 * with a jump (siglongjmp(), an exception): then it looks open. It is not if a later call comes
 * from the same height of the stack or above, or if its return address has been overwritten. */
static inline GT_IN_LINE bool gt_thread_is_inside(const struct gt_thread *t, uintptr_t here)
{
	if (!t->depth)
		return true;
	if (here >= t->outer)
		return false;
#if defined(__x86_64__)
	return gt_stack_word(t->outer) == t->outer_return;
#else
	return true;
#endif
}

/* gt_thread_get() for a call of that domain: NULL also if the call is not the program's, but the
 * runtime's own. */
static inline GT_IN_LINE struct gt_thread *gt_thread_call(enum gt_domain domain)
{
	struct gt_thread *t = &gt_thread;
	uintptr_t here = GT_HERE();

	if (gt_likely(gt_thread_ready(t) &&
		      (!t->depth || (gt_thread_is_inside(t, here) && !gt_skip_nested[domain]))))
		return t;
	return gt_thread_attach_call(t, domain, here);
}

/* gt_thread_get() for a call of an `outermost` API: NULL also inside one of the API's calls. If it
 * is not NULL, call gt_api_enter() and gt_api_leave(). */
static inline GT_IN_LINE struct gt_thread *gt_thread_api(void)
{
	struct gt_thread *t = &gt_thread;
	uintptr_t here = GT_HERE();

	if (gt_likely(gt_thread_ready(t) && !t->api_id && gt_thread_is_inside(t, here)))
		return t;
	return gt_thread_attach_api(t, here);
}

static inline void gt_api_enter(struct gt_thread *t, uint64_t id, uint64_t start)
{
	t->api_id = id;
	t->api_start = start;
}

/* Note that the current call copies or fills memory. */
static inline void gt_api_moves(struct gt_thread *t, uint64_t bytes, uintptr_t destination,
				uintptr_t source, uint32_t direction)
{
	t->api_bytes = bytes;
	t->api_destination = destination;
	t->api_source = source;
	t->api_direction = direction;
}

/* No call was open before: inside one, gt_thread_api() returns NULL. */
static inline void gt_api_leave(struct gt_thread *t)
{
	t->api_id = 0;
}

/* For gputap's own records (objects, modules, events), also inside its own calls. */
static inline struct gt_thread *gt_thread_own(void)
{
	struct gt_thread *t = &gt_thread;

	if (gt_likely(t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed) && t->epoch))
		return t;
	return gt_thread_attach(t);
}

/* Increment a counter with a single writer that other processes read. One instruction if the
 * machine has one: a signal handler's increment must not get lost between our load and our store.
 * No lock prefix: no other thread writes. */
static inline void gt_count(_Atomic uint64_t *counter)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %0" : "+m"(*counter) : : "cc");
#else
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
#endif
}

/* Open one more call. */
static inline GT_IN_LINE void gt_call_open(struct gt_thread *t)
{
	static_assert(offsetof(struct gt_thread, depth) ==
				      offsetof(struct gt_thread, outer_return) + 4 &&
			      offsetof(struct gt_thread, outer_return) % 8 == 0,
		      "written as one little-endian word");
	if (gt_likely(!t->depth)) {
		uint64_t return_depth = GT_RETURN() | UINT64_C(1) << 32;

		t->outer = GT_HERE();
		memcpy(&t->outer_return, &return_depth, sizeof return_depth);
		return;
	}
	t->depth++;
}

/* Count a call as seen, give it its id, and note it in case the process dies in it. */
static inline GT_IN_LINE uint64_t gt_call_begin(struct gt_thread *t, enum gt_domain domain,
						uint32_t number)
{
	struct gt_slot_domain *mine = &t->slot->domains[domain];
	uint64_t id = 1;

	gt_call_open(t); /* first: the depth was read just before */
	gt_count(&mine->seen[GT_CLASS_CALL]);
#if defined(__x86_64__) /* one instruction, as in gt_count(): ids stay unique under signals */
	__asm__ volatile("xaddq %0, %1" : "+r"(id), "+m"(t->next_id) : : "cc");
#else
	id = __atomic_fetch_add(&t->next_id, 1, __ATOMIC_RELAXED);
#endif
	atomic_store_explicit(&mine->newest, GT_CALL_WORD(id, number), memory_order_relaxed);
	return id;
}

/* Open a call that is not recorded, but whose GPU activities are: nested calls of the runtime are
 * not the program's. Ends like all calls. */
static inline GT_IN_LINE uint64_t gt_call_begin_unrecorded(struct gt_thread *t)
{
	gt_call_open(t);
	return 0;
}

static inline void gt_call_end(struct gt_thread *t)
{
	/* the depth is 0 if notice_jump() mistook another stack for a jump out of this call */
	t->depth -= t->depth != 0;
}

/* Count a record that could not be written. In the child of a fork, records of calls that the
 * parent's thread started are not counted. */
void gt_drop(struct gt_thread *t, enum gt_class class, enum gt_domain domain,
	     enum gt_drop_reason reason);

/**
 * gt_ring_next() - slow half of gt_ring_reserve(): pass the block on, take another one
 * Return: room for `bytes` in the new block, or NULL; then *why is the reason to count.
 */
void *gt_ring_next(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why);

/* Return the bytes from @p to the end of its block. */
static inline uint32_t gt_ring_room(const struct gt_thread *t, const uint8_t *p)
{
	return t->end - (uint32_t)(uintptr_t)p;
}

/**
 * gt_ring_try() - gt_ring_reserve() for records that are neither calls nor GPU activities: losses
 * are not counted
 * @why: set when it fails
 */
static inline void *gt_ring_try(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	void *p;

	if (gt_unlikely(t->writing)) {
		*why = GT_DROP_NESTED;
		return NULL;
	}
	t->writing = 1;
	__asm__ volatile("" ::: "memory"); /* order with respect to this thread's signal handlers */
	/* A call that started in the parent may return in the child of a fork. The parent's blocks
	 * must not be written any more: however the child was created, its epoch differs. */
	if (gt_likely(gt_ring_room(t, t->cur) >= bytes &&
		      t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed)))
		return t->cur;
	p = gt_ring_next(t, bytes, why);
	if (gt_unlikely(p == NULL))
		t->writing = 0;
	return p;
}

void *gt_ring_reserve_slow(struct gt_thread *t, size_t bytes, enum gt_class class,
			   enum gt_domain domain);

/**
 * gt_ring_reserve() - reserve room for one record
 * @bytes: multiple of 8
 * Return: where to write it; call gt_ring_commit() after. NULL: dropped and counted.
 */
static inline GT_IN_LINE void *gt_ring_reserve(struct gt_thread *t, size_t bytes,
					       enum gt_class class, enum gt_domain domain)
{
	if (gt_likely(!t->writing)) {
		t->writing = 1;
		__asm__ volatile("" ::: "memory"); /* as in gt_ring_try() */
		uint8_t *p = t->cur;

		if (gt_likely(gt_ring_room(t, p) >= bytes &&
			      t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed))) {
			if (!p)
				__builtin_unreachable(); /* there is room, so there is a block */
			return p;
		}
		t->writing = 0;
	}
	return gt_ring_reserve_slow(t, bytes, class, domain);
}

/* Make the record of `bytes` at t->cur, now complete, visible to the collector. */
static inline GT_IN_LINE void gt_ring_commit(struct gt_thread *t, size_t bytes)
{
	t->cur += bytes;
	atomic_store_explicit(&t->block->committed, (uint32_t)(t->cur - gt_block_data(t->block)),
			      memory_order_release);
	__asm__ volatile("" ::: "memory");
	t->writing = 0;
}

#endif
