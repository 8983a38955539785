/* SPDX-License-Identifier: MIT */
/* What a thread says of whom it is about to call (tool.h has the whole of it): inline, as each callback does it. */
#ifndef GPUTAP_TOOL_TOOL_READER_H
#define GPUTAP_TOOL_TOOL_READER_H

#include "tool/tool.h"

enum { GT_TOOL_DEPTH = 8 };

/* Only a seq_cst operation is a fence in the eyes of the thread sanitizer. */
#if defined(__SANITIZE_THREAD__)
#define GT_ORDER_HAZARD memory_order_seq_cst
#define GT_ORDER_READ memory_order_seq_cst
#define GT_TOOL_FENCE() ((void)0)
#else
#define GT_ORDER_HAZARD memory_order_relaxed
#define GT_ORDER_READ memory_order_acquire
#define GT_TOOL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* A thread that calls tools' functions. Never freed: taken over by later threads. */
struct gt_tool_reader {
	_Atomic uint64_t hazards[GT_TOOL_DEPTH]; /* place + 1 | generation << 32; 0: none */
	uintptr_t stack[GT_TOOL_DEPTH]; /* where the caller of each stands */
	uint32_t depth;
	uint32_t thread;
	_Atomic uint32_t choosing; /* between gt_tool_look() and gt_tool_look_done() */
	_Atomic uint32_t waiting; /* for others' callbacks to end */
	_Atomic uint32_t taken;
	struct gt_tool_reader *next;
};

/* This thread's; NULL: not yet. */
extern _Thread_local struct gt_tool_reader *gt_tool_reader __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern _Atomic uint32_t gt_tool_membarrier __attribute__((visibility("hidden"))); /* who stops a context has it done for us */

/* The first time in a thread. NULL: no memory, or there is nobody to be called in this process. */
struct gt_tool_reader *gt_tool_become_reader(void) __attribute__((cold));

/* Between a reader's store and its load, and the other way round in who stops a context: one of them must see the other. */
static inline void gt_tool_fence_of_reader(void)
{
	if (gt_likely(atomic_load_explicit(&gt_tool_membarrier, memory_order_relaxed)))
		atomic_signal_fence(memory_order_seq_cst);
	else
		GT_TOOL_FENCE();
}

/* The thread's own counter; a signal handler's calls may come between. */
static inline void gt_tool_choosing(struct gt_tool_reader *r, uint32_t more)
{
	uint32_t n = atomic_load_explicit(&r->choosing, memory_order_relaxed) + more;

	atomic_store_explicit(&r->choosing, n, more == 1 ? GT_ORDER_HAZARD : memory_order_release);
}

/**
 * gt_tool_look() - what is asked of the places in gt_tool_order() may be looked at now, until gt_tool_look_done()
 * Who stops a context waits for it: no callback, nothing that takes long, between the two.
 * Return: false: there is nobody to be told, or no memory for a thread more.
 */
static inline bool gt_tool_look(void)
{
	struct gt_tool_reader *r = gt_likely(gt_tool_reader != NULL) ? gt_tool_reader : gt_tool_become_reader();

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

static inline uint64_t gt_tool_hazard(uint32_t place, uint32_t generation)
{
	return (uint64_t)generation << 32 | (place + 1);
}

/**
 * gt_tool_lock_in() - about to call this place's functions
 * @begun: it heard the beginning: all right also when it is only finishing
 * Return: false: not to be called. True: call, then gt_tool_lock_out().
 * Nests 8 deep in a thread; deeper ones are not called.
 */
static inline bool gt_tool_lock_in(uint32_t place, uint32_t generation, bool begun)
{
	struct gt_tool_reader *r = gt_likely(gt_tool_reader != NULL) ? gt_tool_reader : gt_tool_become_reader();
	struct gt_tool_context *c = &gt_tool_pool[place];
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (gt_unlikely(!r))
		return false;
	/* callbacks that were left with longjmp(): they stood deeper in the stack than we do */
	while (gt_unlikely(r->depth && r->stack[r->depth - 1] <= here))
		atomic_store_explicit(&r->hazards[--r->depth], 0, memory_order_release);
	if (gt_unlikely(r->depth == GT_TOOL_DEPTH))
		return false;
	r->stack[r->depth] = here;
	atomic_store_explicit(&r->hazards[r->depth], gt_tool_hazard(place, generation), GT_ORDER_HAZARD);
	gt_tool_fence_of_reader();
	/* first that somebody may be called, then that it is him: the place may have another user since we were told of it, and
	 * stands still only while one who was active then waits for us */
	if (gt_likely((atomic_load_explicit(&c->active, GT_ORDER_READ) ||
		       (begun && atomic_load_explicit(&c->finishing, GT_ORDER_READ))) &&
		      atomic_load_explicit(&c->generation, memory_order_relaxed) == generation)) {
		r->depth++;
		return true;
	}
	atomic_store_explicit(&r->hazards[r->depth], 0, memory_order_release);
	return false;
}

static inline void gt_tool_lock_out(void)
{
	struct gt_tool_reader *r = gt_tool_reader;

	if (gt_likely(r && r->depth))
		atomic_store_explicit(&r->hazards[--r->depth], 0, memory_order_release);
}

#endif
