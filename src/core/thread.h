/* SPDX-License-Identifier: MIT */
/* State with which a thread of the traced program writes records, and the hot path itself.
 *
 *   gt_thread_get() -> gt_call_begin() -> the real call -> gt_ring_reserve() .. gt_ring_commit()
 *   -> gt_call_end()
 *
 * The state is one TLS block (initial-exec) with one hot cache line. Threads share data only
 * through the segment (ring/segment.h).
 * Never on this path: allocation, locks, formatting, system calls, errno. The slow paths run once
 * per thread (gt_thread_attach()) and once per block (gt_ring_next()). */
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

/* Without this attribute, GCC moves the common parts of taps into functions, which costs each tap
 * two calls with six arguments each. The time stamps hide this cost only while no other thread uses
 * the core. */
#define GT_IN_LINE __attribute__((always_inline))

#define GT_EPOCH_NONE UINT32_MAX

/* Places the globals that every recorded call reads next to each other. For a program, calls are
 * rare, so the cache lines of these globals are cold. */
#define GT_HOT __attribute__((section("gt_hot")))

/* Places the globals that the dynamic linker or a constructor writes in every process next to each
 * other. The first write to a page costs 0.5 to 2 us. */
#define GT_AT_START __attribute__((section("gt_start")))

/* Places a function that a constructor calls in every process next to the constructors. The first
 * call into a range of 16 pages maps the range, which costs some 2 us. */
#define GT_AT_START_CODE __attribute__((section(".text.startup")))

struct gt_graph_launch;
struct gt_submit_order;

struct gt_thread {
	uint8_t *cur;           /* address at which the next record will be written */
	struct gt_block *block; /* NULL until the first record */
	struct gt_slot *slot;   /* NULL: no slot yet */
	uint64_t next_id;       /* id of the next call */
	/* lower half of the address at which the current block's data ends */
	uint32_t end;
	/* nonzero between reserve and commit, while records of a signal handler are counted, but
	 * not written */
	uint8_t writing;
	uint32_t outer_return; /* GT_RETURN() of the outermost open call, if `depth` is not 0 */
	/* number of open calls. Follows `outer_return`, because both are written together */
	uint32_t depth;
	/* equals *gt_epoch when attached to this process; otherwise GT_EPOCH_NONE or stale */
	uint32_t epoch;
	/* greater than 0 during gputap's own calls into a runtime, in which taps call straight
	 * through. Follows `epoch`, because both are read together */
	uint32_t internal;
	uintptr_t outer;              /* GT_HERE() of the outermost open call */
	struct gt_external *external; /* ids that the program pushed; NULL: no id was ever pushed */
	struct gt_torch_ranges *ranges; /* ranges of runtime/torch; NULL: none was ever started */
	uint32_t lost;                  /* records dropped since the last GT_EVENT_LOSS */
	uint32_t lost_domain;
	/* core/gap_edges.h, in host ticks: end of the last call; time after which a call looks for
	 * an edge, UINT64_MAX: never; last reading of the thread's use of the processor */
	uint64_t last_end, look_at, last_reading;
	/* id of the open, recorded call of an `outermost` API (HIP); 0: none */
	uint64_t api_id;
	/* host ticks at the start of that call: activities that lower layers submit during the call
	 * are linked to it */
	uint64_t api_start;
	/* bytes that this call copies or sets; 0: none, or unknown. If not 0, the next three
	 * fields are also valid */
	uint64_t api_bytes;
	uint64_t api_source, api_destination;
	uint32_t api_direction; /* direction, as the API defines it; 0: none */
	/* not NULL in a thread of a runtime that submits activities for other threads' calls
	 * (runtime/submit_order.h) */
	struct gt_submit_order *submit_order;
	/* graph launch open in this thread (runtime/graph_nodes.h); NULL: none */
	struct gt_graph_launch *graph;
	/* memory for the next exec (core/exec_environment.c); NULL: none */
	void *exec_area;
	/* process that uses exec_area: this process, or a vfork's child that has ended; 0: none */
	uint32_t exec_user;
};

/* Store an exec area in the thread's state. The area is freed when the thread ends. Signal:
 * safe. */
void gt_thread_keep_exec_area(struct gt_thread *t, void *area);

/* Hooks of runtimes for thread events. Each hook is set before the first call that needs it, and is
 * never changed afterwards. NULL: no runtime needs the hook. */
enum gt_thread_end {
	GT_THREAD_END_RANGES,
	GT_THREAD_END_ANNOUNCED,
	GT_THREAD_END_NVTX,
	GT_THREAD_END_ROCTX,
	GT_THREAD_END_STACKS,
	GT_THREAD_ENDS
};
extern struct gt_thread_hooks {
	/* called when a call of the program gets no thread state */
	void (*_Atomic call_missed)(void);
	/* called after a thread was attached, inside one of the thread's calls, with the program's
	 * signal mask and all other state of the program */
	void (*_Atomic attached)(void);
	/* called when the thread ends; frees memory that a runtime has mapped for the thread. One
	 * entry per runtime that needs it */
	void (*_Atomic ends[GT_THREAD_ENDS])(struct gt_thread *t);
} gt_thread_hooks __attribute__((visibility("hidden")));

/* Unit tests are programs and define GT_TLS_MODEL as "local-exec". In programs, GNU ld would turn
 * the `add` of "initial-exec" into a `lea`, but GCC 12's check for NULL (-fsanitize=null) reads the
 * flags of the `add`. */
#ifndef GT_TLS_MODEL
#define GT_TLS_MODEL "initial-exec"
#endif
extern _Thread_local struct gt_thread gt_thread
	__attribute__((tls_model(GT_TLS_MODEL), visibility("hidden")));

/* Points to a page that the kernel wipes in a fork child (MADV_WIPEONFORK), however the child was
 * created. The epoch is 0 in the child, so that every thread state of the parent is stale. The
 * epoch is also 0 when not recording. */
extern const _Atomic uint32_t *gt_epoch __attribute__((visibility("hidden")));
extern uint32_t gt_host_clock __attribute__((visibility("hidden"))); /* enum gt_host_clock */

uint64_t gt_ticks_boottime(void) __attribute__((cold, visibility("hidden")));

static inline uint64_t gt_ticks(void)
{
	if (GT_HAS_COUNTER && gt_likely(gt_host_clock == GT_HOST_CLOCK_COUNTER))
		return gt_counter_read();
	return gt_ticks_boottime();
}

/* Per domain: all ones while interposition has replaced the symbols of a runtime of the domain;
 * otherwise 0. The runtime's internal calls inside a call of the program then reach taps again, and
 * are not the program's. (`outermost` domains use gt_thread_api() for this purpose.) */
extern uint32_t gt_skip_nested[GT_DOMAIN_COUNT] __attribute__((visibility("hidden")));

/* Stack address of the tap that this macro is compiled into: below the tap's caller, for any size
 * of the tap's frame. */
#define GT_HERE() ((uintptr_t)__builtin_dwarf_cfa())

/* The lower half of the tap's return address. Machines that store the return address in memory
 * store it just below GT_HERE(). */
#if defined(__x86_64__)
#define GT_RETURN() (*(const uint32_t *)(GT_HERE() - 8))
#else
#define GT_RETURN() ((uint32_t)(uintptr_t)__builtin_return_address(0))
#endif

/**
 * gt_thread_attach() - slow half of gt_thread_get(), for a new thread, for a new process, or while
 * recording is off
 * Return: the thread's state with a slot; NULL: make the call as if gputap were not there.
 */
struct gt_thread *gt_thread_attach(struct gt_thread *t);

/**
 * gt_thread_stand_for() - create a state with which this thread writes the records of another
 * thread
 * @t:    memory of the caller; only the caller writes records with this state
 * @tid:  id of the represented thread; @name: name of the track
 * Return: @t with a separate slot, which is drained like any other; NULL: nothing is recorded.
 */
struct gt_thread *gt_thread_stand_for(struct gt_thread *t, uint32_t tid, const char *name);

/* Slow halves of gt_thread_call() and gt_thread_api(). @here: the caller's GT_HERE(). */
struct gt_thread *gt_thread_attach_call(struct gt_thread *t, enum gt_domain domain, uintptr_t here);
struct gt_thread *gt_thread_attach_api(struct gt_thread *t, uintptr_t here);

/* Return the word just below stack address @at of this thread, hidden from sanitizers: GT_RETURN()
 * of the tap for which GT_HERE() was @at, unless the word has been overwritten. 0 on other
 * machines. */
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

/* Return true if the thread is attached to this process, and not inside a call made for gputap
 * itself. */
static inline bool gt_thread_ready(const struct gt_thread *t)
{
	uint64_t epoch_internal;

	/* one comparison suffices, because the upper half must be 0 */
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

/* Return true if a call at this stack position is inside all open calls. A call that was left with
 * a jump (siglongjmp(), an exception) still looks open. Such a call is recognised if a later call
 * comes from the same stack address or a higher one, or if the return address of the open call has
 * been overwritten. */
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

/* gt_thread_get() for a call of @domain. Also returns NULL if the runtime, not the program, made
 * the call. @here: GT_HERE() of the function that the tap jumped to. */
static inline GT_IN_LINE struct gt_thread *gt_thread_call_at(enum gt_domain domain, uintptr_t here)
{
	struct gt_thread *t = &gt_thread;

	if (gt_likely(gt_thread_ready(t) &&
		      (!t->depth || (gt_thread_is_inside(t, here) && !gt_skip_nested[domain]))))
		return t;
	return gt_thread_attach_call(t, domain, here);
}

static inline GT_IN_LINE struct gt_thread *gt_thread_call(enum gt_domain domain)
{
	return gt_thread_call_at(domain, GT_HERE());
}

/* gt_thread_get() for a call of an `outermost` API. Also returns NULL inside a call of the same
 * API. If the result is not NULL, call gt_api_enter() and gt_api_leave(). */
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

/* Clears the id without restoring an outer one: inside an open call, gt_thread_api() returns
 * NULL. */
static inline void gt_api_leave(struct gt_thread *t)
{
	t->api_id = 0;
}

/* Return the thread's state for gputap's own records (objects, modules, events), even inside
 * gputap's own calls. */
static inline struct gt_thread *gt_thread_own(void)
{
	struct gt_thread *t = &gt_thread;

	if (gt_likely(t->epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed) && t->epoch))
		return t;
	return gt_thread_attach(t);
}

/* Increment a counter with a single writer that other processes read. Takes a single instruction if
 * the machine has one, because a signal handler's increment must not get lost between the load and
 * the store. There is no lock prefix, because no other thread writes the counter. */
static inline void gt_count(_Atomic uint64_t *counter)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %0" : "+m"(*counter) : : "cc");
#else
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
#endif
}

/* Open one more call in the thread. @here, @back: its GT_HERE() and GT_RETURN(). */
static inline GT_IN_LINE void gt_call_open_at(struct gt_thread *t, uintptr_t here, uint32_t back)
{
	static_assert(offsetof(struct gt_thread, depth) ==
				      offsetof(struct gt_thread, outer_return) + 4 &&
			      offsetof(struct gt_thread, outer_return) % 8 == 0,
		      "written as one little-endian word");
	if (gt_likely(!t->depth)) {
		uint64_t return_depth = back | UINT64_C(1) << 32;

		t->outer = here;
		memcpy(&t->outer_return, &return_depth, sizeof return_depth);
		return;
	}
	t->depth++;
}

static inline GT_IN_LINE void gt_call_open(struct gt_thread *t)
{
	gt_call_open_at(t, GT_HERE(), GT_RETURN());
}

/* Count a call as seen, assign its id, and note the call in case the process dies in it. @here,
 * @back: as for gt_call_open_at(). */
static inline GT_IN_LINE uint64_t gt_call_begin_at(struct gt_thread *t, enum gt_domain domain,
						   uint32_t number, uintptr_t here, uint32_t back)
{
	struct gt_slot_domain *mine = &t->slot->domains[domain];
	uint64_t id = 1;

	gt_call_open_at(t, here, back); /* first, because the depth was read just before */
	gt_count(&mine->seen[GT_CLASS_CALL]);
#if defined(__x86_64__) /* one instruction, as in gt_count(): ids stay unique under signals */
	__asm__ volatile("xaddq %0, %1" : "+r"(id), "+m"(t->next_id) : : "cc");
#else
	id = __atomic_fetch_add(&t->next_id, 1, __ATOMIC_RELAXED);
#endif
	atomic_store_explicit(&mine->newest, GT_CALL_WORD(id, number), memory_order_relaxed);
	return id;
}

static inline GT_IN_LINE uint64_t gt_call_begin(struct gt_thread *t, enum gt_domain domain,
						uint32_t number)
{
	return gt_call_begin_at(t, domain, number, GT_HERE(), GT_RETURN());
}

/* Take the start of the call that gt_call_begin() began, and note it in case the call never
 * returns. */
static inline GT_IN_LINE uint64_t gt_call_start(struct gt_thread *t, enum gt_domain domain)
{
	uint64_t start = gt_ticks();

	atomic_store_explicit(&t->slot->domains[domain].started, start, memory_order_relaxed);
	return start;
}

/* Open a call that is not recorded, but whose GPU activities are recorded. Calls that the runtime
 * makes inside it do not count as the program's. End the call like any other. */
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
 * gt_ring_next() - slow half of gt_ring_reserve(): hand over the full block and take another block
 * Return: room for `bytes` in the new block, or NULL. With NULL, *why is the reason under which to
 *         count the record.
 */
void *gt_ring_next(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why);

/* Return the bytes from @p to the end of its block. */
static inline uint32_t gt_ring_room(const struct gt_thread *t, const uint8_t *p)
{
	return t->end - (uint32_t)(uintptr_t)p;
}

/**
 * gt_ring_try() - gt_ring_reserve() for records that are neither calls nor GPU activities, whose
 * losses are not counted
 * @why: set on failure
 */
static inline void *gt_ring_try(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	void *p;

	if (gt_unlikely(t->writing)) {
		*why = GT_DROP_NESTED;
		return NULL;
	}
	t->writing = 1;
	/* orders memory accesses with respect to this thread's signal handlers */
	__asm__ volatile("" ::: "memory");
	/* A call that started in the parent may return in the child of a fork. The child must not
	 * write to the parent's blocks. The epoch comparison detects this, because the child's
	 * epoch differs, however the child was created. */
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
 * Return: address for the record; call gt_ring_commit() afterwards. NULL: the record was dropped
 *         and counted.
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
				__builtin_unreachable(); /* if there is room, there is a block */
			return p;
		}
		t->writing = 0;
	}
	return gt_ring_reserve_slow(t, bytes, class, domain);
}

/* Make the complete record of `bytes` bytes at t->cur visible to the collector. */
static inline GT_IN_LINE void gt_ring_commit(struct gt_thread *t, size_t bytes)
{
	t->cur += bytes;
	atomic_store_explicit(&t->block->committed, (uint32_t)(t->cur - gt_block_data(t->block)),
			      memory_order_release);
	__asm__ volatile("" ::: "memory");
	t->writing = 0;
}

#endif
