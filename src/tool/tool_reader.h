/* SPDX-License-Identifier: MIT */
/* Hazards of threads that call tools' functions (tool.h describes the protocol). The functions are
 * inline because each callback uses them. */
#ifndef GPUTAP_TOOL_TOOL_READER_H
#define GPUTAP_TOOL_TOOL_READER_H

#include "tool/tool.h"

enum { GT_TOOL_DEPTH = 8 };

/* The thread sanitizer recognises only a seq_cst operation as a fence. */
#if defined(__SANITIZE_THREAD__)
#define GT_ORDER_HAZARD memory_order_seq_cst
#define GT_ORDER_READ   memory_order_seq_cst
#define GT_TOOL_FENCE() ((void)0)
#else
/* release: the previous call ends before its hazard is replaced */
#define GT_ORDER_HAZARD memory_order_release
#define GT_ORDER_READ   memory_order_acquire
#define GT_TOOL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* A thread that calls tools' functions. Never freed: later threads reuse the struct. */
struct gt_tool_reader {
	/* slot + 1 | generation << 32; GT_TOOL_ANY for all slots; 0 for none */
	_Atomic uint64_t hazards[GT_TOOL_DEPTH];
	uintptr_t stack[GT_TOOL_DEPTH]; /* position of each caller in the stack */
	uint32_t depth;
	uint32_t thread;
	_Atomic uint32_t choosing; /* nonzero between gt_tool_look() and gt_tool_look_done() */
	_Atomic uint32_t waiting;  /* nonzero while waiting for callbacks of other threads to end */
	_Atomic uint32_t taken;
	struct gt_tool_reader *next;
};

/* This thread's reader, or NULL before the first call. */
extern _Thread_local struct gt_tool_reader *gt_tool_reader
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
/* 1 if a thread that stops a context makes all threads pass a barrier */
extern _Atomic uint32_t gt_tool_membarrier __attribute__((visibility("hidden")));

/* Make this thread a reader. Return NULL if out of memory, or if this process has no callbacks. */
struct gt_tool_reader *gt_tool_become_reader(void) __attribute__((cold));

/* Make calling threads become readers from now on. Call before a context gets a slot. */
void gt_tool_readers_begin(void);
/* Rewrite the order of the active slots. The caller holds gt_core_lock(). */
void gt_tool_order_write(void);
/* Wait until no other thread is in a callback of an inactive slot. */
void gt_tool_readers_wait(uint32_t place);

/* Order a reader's store before its load. The thread that stops a context stores and loads in the
 * reverse order, so at least one of the two threads sees the other's store. */
static inline void gt_tool_fence_of_reader(void)
{
	if (gt_likely(atomic_load_explicit(&gt_tool_membarrier, memory_order_relaxed)))
		atomic_signal_fence(memory_order_seq_cst);
	else
		GT_TOOL_FENCE();
}

/* Add to the thread's `choosing` counter. A signal handler that makes calls may interrupt the
 * update. */
static inline void gt_tool_choosing(struct gt_tool_reader *r, uint32_t more)
{
	uint32_t n = atomic_load_explicit(&r->choosing, memory_order_relaxed) + more;

	atomic_store_explicit(&r->choosing, n, more == 1 ? GT_ORDER_HAZARD : memory_order_release);
}

/**
 * gt_tool_look() - start to read the subscriptions of the slots in gt_tool_order()
 * A thread that stops a context waits until gt_tool_look_done() ends the read. Call no callback in
 * between, and do nothing slow.
 * Return: false if no subscriber exists or if out of memory for a further thread.
 */
static inline bool gt_tool_look(void)
{
	struct gt_tool_reader *r =
		gt_likely(gt_tool_reader != NULL) ? gt_tool_reader : gt_tool_become_reader();

	if (gt_unlikely(!r))
		return false;
	gt_tool_choosing(r, 1);
	gt_tool_fence_of_reader();
	return true;
}

static inline void gt_tool_look_done(void)
{
	gt_tool_choosing(gt_tool_reader, (uint32_t)-1);
}

/* Slots of the active contexts in order, one per byte; the upper byte contains the number of slots.
 * GT_TOOL_MANY if more than seven contexts are active. */
enum { GT_TOOL_FEW = 7 };
#define GT_TOOL_MANY UINT64_MAX
extern _Atomic uint64_t gt_tool_few __attribute__((visibility("hidden")));
unsigned gt_tool_order_of_many(uint8_t places[GT_TOOL_POOL]);

/* Get the slots of the active contexts in order. Return the number of slots. */
static inline unsigned gt_tool_order(uint8_t places[GT_TOOL_POOL])
{
	uint64_t few = atomic_load_explicit(&gt_tool_few, GT_ORDER_READ);

	if (gt_unlikely(few == GT_TOOL_MANY))
		return gt_tool_order_of_many(places);
	memcpy(places, &few, sizeof few);
	return (unsigned)(few >> 56);
}

#define GT_TOOL_ANY UINT64_MAX /* hazard on all slots, while `choosing` is set */

static inline uint64_t gt_tool_hazard(uint32_t place, uint32_t generation)
{
	return (uint64_t)generation << 32 | (place + 1);
}

/* Drop @level and all deeper levels. The thread's depth is then @level - 1. */
void gt_tool_level_drop(struct gt_tool_reader *r, uint32_t level) __attribute__((cold));
/* Drop the levels of callbacks that longjmp() left, which are deeper in the stack than @here.
 * Return false if the remaining depth is too large. */
bool gt_tool_level_deep(struct gt_tool_reader *r, uintptr_t here) __attribute__((cold));

/**
 * gt_tool_level_in() - start to call functions of one or several slots in turn
 * @here: position in the stack
 * Return: NULL if no function may be called. Otherwise call gt_tool_hold() before each function,
 *         and finally gt_tool_level_out() with the `depth` set here. Levels nest 8 deep in a
 *         thread; deeper functions are not called.
 */
static inline struct gt_tool_reader *gt_tool_level_in(uintptr_t here)
{
	struct gt_tool_reader *r =
		gt_likely(gt_tool_reader != NULL) ? gt_tool_reader : gt_tool_become_reader();

	if (gt_unlikely(!r) || (gt_unlikely(r->depth) && !gt_tool_level_deep(r, here)))
		return NULL;
	r->stack[r->depth++] = here;
	return r;
}

/**
 * gt_tool_hold() - set the slot whose function is called next
 * @begun: true if the context got ENTER, so it may be called while it is finishing
 * Return: false if the function must not be called.
 */
static inline bool gt_tool_hold(struct gt_tool_reader *r, uint32_t level, uint32_t place,
				uint32_t generation, bool begun)
{
	struct gt_tool_context *c = &gt_tool_pool[place];

	atomic_store_explicit(&r->hazards[level - 1], gt_tool_hazard(place, generation),
			      GT_ORDER_HAZARD);
	gt_tool_fence_of_reader();
	/* Check `active` before `generation`: the slot may have a new user since it was chosen. The
	 * user changes only after a stop, and a stop of an active user waits for this hazard. */
	return gt_likely((atomic_load_explicit(&c->active, GT_ORDER_READ) ||
			  (begun && atomic_load_explicit(&c->finishing, GT_ORDER_READ))) &&
			 atomic_load_explicit(&c->generation, memory_order_relaxed) == generation);
}

static inline void gt_tool_level_out(struct gt_tool_reader *r, uint32_t level)
{
	if (gt_unlikely(r->depth != level)) /* a jump left a deeper level */
		gt_tool_level_drop(r, level);
	atomic_store_explicit(&r->hazards[level - 1], 0, memory_order_release);
	r->depth = level - 1;
}

/**
 * gt_tool_lock_in() - start to call functions of one slot: gt_tool_level_in() and gt_tool_hold()
 * Return: true if the function may be called; call gt_tool_lock_out() afterwards.
 */
static inline bool gt_tool_lock_in(uint32_t place, uint32_t generation, bool begun)
{
	struct gt_tool_reader *r = gt_tool_level_in((uintptr_t)__builtin_frame_address(0));

	if (gt_unlikely(!r))
		return false;
	if (gt_likely(gt_tool_hold(r, r->depth, place, generation, begun)))
		return true;
	gt_tool_level_out(r, r->depth);
	return false;
}

static inline void gt_tool_lock_out(void)
{
	struct gt_tool_reader *r = gt_tool_reader;

	if (gt_likely(r && r->depth))
		gt_tool_level_out(r, r->depth);
}

#endif
