/* SPDX-License-Identifier: MIT */
/* Hazards of threads that call tools' functions (tool.h describes the protocol). Inline, because
 * each callback uses them. */
#ifndef GPUTAP_TOOL_TOOL_READER_H
#define GPUTAP_TOOL_TOOL_READER_H

#include "tool/tool.h"

enum { GT_TOOL_DEPTH = 8 };

/* The thread sanitizer recognizes only a seq_cst operation as a fence. */
#if defined(__SANITIZE_THREAD__)
#define GT_ORDER_HAZARD memory_order_seq_cst
#define GT_ORDER_READ   memory_order_seq_cst
#define GT_TOOL_FENCE() ((void)0)
#else
#define GT_ORDER_HAZARD memory_order_release /* the previous hazard's call has ended */
#define GT_ORDER_READ   memory_order_acquire
#define GT_TOOL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* A thread that calls tools' functions. Never freed: later threads reuse it. */
struct gt_tool_reader {
	/* place + 1 | generation << 32; GT_TOOL_ANY; 0: none */
	_Atomic uint64_t hazards[GT_TOOL_DEPTH];
	uintptr_t stack[GT_TOOL_DEPTH]; /* position of each caller in the stack */
	uint32_t depth;
	uint32_t thread;
	_Atomic uint32_t choosing; /* between gt_tool_look() and gt_tool_look_done() */
	_Atomic uint32_t waiting;  /* until callbacks of other threads end */
	_Atomic uint32_t taken;
	struct gt_tool_reader *next;
};

/* This thread's reader; NULL: none yet. */
extern _Thread_local struct gt_tool_reader *gt_tool_reader
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
/* 1: the thread that stops a context makes all threads pass a barrier */
extern _Atomic uint32_t gt_tool_membarrier __attribute__((visibility("hidden")));

/* Make this thread a reader. Return NULL without memory, or if this process has no callbacks. */
struct gt_tool_reader *gt_tool_become_reader(void) __attribute__((cold));

/* Make threads that call become readers from now on, before a context gets a place. */
void gt_tool_readers_begin(void);
/* Rewrite the order of the active places. With gt_core_lock(). */
void gt_tool_order_write(void);
/* Wait until no other thread is in a callback of this place, which is no longer active. */
void gt_tool_readers_wait(uint32_t place);

/* Order a reader's store before its load. The thread that stops a context has the reverse order, so
 * one of the two sees the other's store. */
static inline void gt_tool_fence_of_reader(void)
{
	if (gt_likely(atomic_load_explicit(&gt_tool_membarrier, memory_order_relaxed)))
		atomic_signal_fence(memory_order_seq_cst);
	else
		GT_TOOL_FENCE();
}

/* The thread's counter. A signal handler's calls may interrupt it. */
static inline void gt_tool_choosing(struct gt_tool_reader *r, uint32_t more)
{
	uint32_t n = atomic_load_explicit(&r->choosing, memory_order_relaxed) + more;

	atomic_store_explicit(&r->choosing, n, more == 1 ? GT_ORDER_HAZARD : memory_order_release);
}

/**
 * gt_tool_look() - start to read the subscriptions of the places in gt_tool_order()
 * gt_tool_look_done() ends it. A thread that stops a context waits for that, so call no callback in
 * between, and do nothing that takes long.
 * Return: false: no subscriber exists, or no memory for a further thread.
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

/* Places of the active contexts, first to last, and their number in the upper byte, if they are
 * seven at most; else GT_TOOL_MANY. */
enum { GT_TOOL_FEW = 7 };
#define GT_TOOL_MANY UINT64_MAX
extern _Atomic uint64_t gt_tool_few __attribute__((visibility("hidden")));
unsigned gt_tool_order_of_many(uint8_t places[GT_TOOL_POOL]);

/* Get the places of the active contexts, first to last. Return their number. */
static inline unsigned gt_tool_order(uint8_t places[GT_TOOL_POOL])
{
	uint64_t few = atomic_load_explicit(&gt_tool_few, GT_ORDER_READ);

	if (gt_unlikely(few == GT_TOOL_MANY))
		return gt_tool_order_of_many(places);
	memcpy(places, &few, sizeof few);
	return (unsigned)(few >> 56);
}

#define GT_TOOL_ANY UINT64_MAX /* hazard on all places, while `choosing` is set */

static inline uint64_t gt_tool_hazard(uint32_t place, uint32_t generation)
{
	return (uint64_t)generation << 32 | (place + 1);
}

/* Drop the levels from this one on. The thread's depth is then that before it. */
void gt_tool_level_drop(struct gt_tool_reader *r, uint32_t level) __attribute__((cold));
/* Drop levels of callbacks that longjmp() left: they are deeper in the stack than @here. Return
 * false if the remaining depth is too large. */
bool gt_tool_level_deep(struct gt_tool_reader *r, uintptr_t here) __attribute__((cold));

/**
 * gt_tool_level_in() - start to call functions of one or several places in turn
 * @here: position in the stack
 * Return: NULL: call none. Else call gt_tool_hold() before each, and gt_tool_level_out() with the
 *         present `depth` at the end. Nests 8 deep in a thread; deeper functions are not called.
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
 * gt_tool_hold() - set the place whose function is called next
 * @begun: it got ENTER, so it may be called while its context is finishing
 * Return: false: do not call it.
 */
static inline bool gt_tool_hold(struct gt_tool_reader *r, uint32_t level, uint32_t place,
				uint32_t generation, bool begun)
{
	struct gt_tool_context *c = &gt_tool_pool[place];

	atomic_store_explicit(&r->hazards[level - 1], gt_tool_hazard(place, generation),
			      GT_ORDER_HAZARD);
	gt_tool_fence_of_reader();
	/* Check `active` before `generation`: the place may have a new user since it was chosen,
	 * and keeps its user only while a stop of the active one waits for this hazard. */
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
 * gt_tool_lock_in() - start to call functions of one place: a level and a hold in one
 * Return: false: do not call. True: call, then gt_tool_lock_out().
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
