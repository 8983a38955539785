/* SPDX-License-Identifier: MIT */
/* What a thread says of whom it is about to call (tool.h has the whole of it): inline, as each
 * callback does it. */
#ifndef GPUTAP_TOOL_TOOL_READER_H
#define GPUTAP_TOOL_TOOL_READER_H

#include "tool/tool.h"

enum { GT_TOOL_DEPTH = 8 };

/* Only a seq_cst operation is a fence in the eyes of the thread sanitizer. */
#if defined(__SANITIZE_THREAD__)
#define GT_ORDER_HAZARD memory_order_seq_cst
#define GT_ORDER_READ   memory_order_seq_cst
#define GT_TOOL_FENCE() ((void)0)
#else
#define GT_ORDER_HAZARD memory_order_release /* what the one before it was called for is over */
#define GT_ORDER_READ   memory_order_acquire
#define GT_TOOL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* A thread that calls tools' functions. Never freed: taken over by later threads. */
struct gt_tool_reader {
	/* place + 1 | generation << 32; GT_TOOL_ANY; 0: none */
	_Atomic uint64_t hazards[GT_TOOL_DEPTH];
	uintptr_t stack[GT_TOOL_DEPTH]; /* where the caller of each stands */
	uint32_t depth;
	uint32_t thread;
	_Atomic uint32_t choosing; /* between gt_tool_look() and gt_tool_look_done() */
	_Atomic uint32_t waiting;  /* for others' callbacks to end */
	_Atomic uint32_t taken;
	struct gt_tool_reader *next;
};

/* This thread's; NULL: not yet. */
extern _Thread_local struct gt_tool_reader *gt_tool_reader
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
/* who stops a context has it done for us */
extern _Atomic uint32_t gt_tool_membarrier __attribute__((visibility("hidden")));

/* The first time in a thread. NULL: no memory, or there is nobody to be called in this process. */
struct gt_tool_reader *gt_tool_become_reader(void) __attribute__((cold));

/* A context is given a place: threads that call become readers from now on. */
void gt_tool_readers_begin(void);
/* The order anew, of the places that are active. With gt_core_lock(). */
void gt_tool_order_write(void);
/* Until no other thread is in a callback of this place, which is not active any more. */
void gt_tool_readers_wait(uint32_t place);

/* Between a reader's store and its load, and the other way round in who stops a context: one of
 * them must see the other. */
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
 * gt_tool_look() - what is asked of the places in gt_tool_order() may be looked at now, until
 * gt_tool_look_done()
 * Who stops a context waits for it: no callback, nothing that takes long, between the two.
 * Return: false: there is no subscriber, or no memory for a thread more.
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

/* Active contexts' places, first to last, if they are seven at most, and how many; else
 * GT_TOOL_MANY. */
enum { GT_TOOL_FEW = 7 };
#define GT_TOOL_MANY UINT64_MAX
extern _Atomic uint64_t gt_tool_few __attribute__((visibility("hidden")));
unsigned gt_tool_order_of_many(uint8_t places[GT_TOOL_POOL]);

/* Places of the contexts that are active, first to last. Return: how many. */
static inline unsigned gt_tool_order(uint8_t places[GT_TOOL_POOL])
{
	uint64_t few = atomic_load_explicit(&gt_tool_few, GT_ORDER_READ);

	if (gt_unlikely(few == GT_TOOL_MANY))
		return gt_tool_order_of_many(places);
	memcpy(places, &few, sizeof few);
	return (unsigned)(few >> 56);
}

#define GT_TOOL_ANY UINT64_MAX /* hazard: whoever is in the order; for a moment, as `choosing` */

static inline uint64_t gt_tool_hazard(uint32_t place, uint32_t generation)
{
	return (uint64_t)generation << 32 | (place + 1);
}

/* Levels from this one on are left: the thread's depth is what it was before it. */
void gt_tool_level_drop(struct gt_tool_reader *r, uint32_t level) __attribute__((cold));
/* Callbacks that were left with longjmp(): they stood deeper in the stack than @here. Return:
 * false: it is too deep. */
bool gt_tool_level_deep(struct gt_tool_reader *r, uintptr_t here) __attribute__((cold));

/**
 * gt_tool_level_in() - this thread is about to call functions of one or several places, one after
 * the other
 * @here: where it stands in the stack
 * Return: NULL: nobody is to be called. Else gt_tool_hold() before each, gt_tool_level_out() with
 * what `depth` is now. Nests 8 deep in a thread; deeper ones are not called.
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
 * gt_tool_hold() - the next one that is called is of this place
 * @begun: it had ENTER: all right also when it is only finishing
 * Return: false: not to be called.
 */
static inline bool gt_tool_hold(struct gt_tool_reader *r, uint32_t level, uint32_t place,
				uint32_t generation, bool begun)
{
	struct gt_tool_context *c = &gt_tool_pool[place];

	atomic_store_explicit(&r->hazards[level - 1], gt_tool_hazard(place, generation),
			      GT_ORDER_HAZARD);
	gt_tool_fence_of_reader();
	/* first that somebody may be called, then that it is him: the place may have another
	 * user since we were notified of it, and stands still only while one who was active then
	 * waits for us */
	return gt_likely((atomic_load_explicit(&c->active, GT_ORDER_READ) ||
			  (begun && atomic_load_explicit(&c->finishing, GT_ORDER_READ))) &&
			 atomic_load_explicit(&c->generation, memory_order_relaxed) == generation);
}

static inline void gt_tool_level_out(struct gt_tool_reader *r, uint32_t level)
{
	if (gt_unlikely(r->depth != level)) /* something deeper was left by a jump */
		gt_tool_level_drop(r, level);
	atomic_store_explicit(&r->hazards[level - 1], 0, memory_order_release);
	r->depth = level - 1;
}

/**
 * gt_tool_lock_in() - about to call this place's functions, and no others: a level and a hold in
 * one
 * Return: false: not to be called. True: call, then gt_tool_lock_out().
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
