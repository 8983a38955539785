/* SPDX-License-Identifier: MIT */
/* Internals of the tool API (include/gputap/tool.h), shared by its files.
 *
 *   tool_context.c   subscriptions of a context; start, and stop, which ends its callbacks
 *   tool_reader.c    threads that call tools' functions, and the contexts that they call
 *   tool_frame.c     the call that a thread is in
 *   tool_call.c      before and after a call, called from the generated taps
 *   tool_activity.c  GPU activities, reported by the runtimes' folders
 *   tool_batch.c     completed activities, and the threads that notify of them
 *   tool_complete.c  COMPLETE: how an activity ended
 *   tool_retire.c    correlation ids that retire
 *   tool_object.c    objects that are loaded and unloaded
 *   tool_buffer.c    writes into buffers; tool_delivery.c delivers them, tool_flush.c waits for
 *                    that; all buffers: tool_buffer_list.c
 *   tool_thread.c    gputap's threads
 *   tool_args.c      names and arguments
 *   tool_load.c      finding, starting, finishing tools
 *
 * How a callback is kept from running after stop. A context with callbacks has one of POOL places,
 * which are never freed; a place's `generation` distinguishes its users.
 *   1. A thread stores the place that it will call in its hazards (all places, while it chooses).
 *   2. It loads `active` of the place, calls if it is set, and clears the hazard.
 *   3. A thread that stops a context clears `active`, makes every running thread pass a barrier
 *      (membarrier(), so that calls need none), and waits until no other thread's hazard names the
 *      place. While it waits, its own hazards do not count, so two callbacks that stop each
 *      other's context do not wait for ever.
 *
 * A call takes no lock, allocates nothing and makes no system call. */
#ifndef GPUTAP_TOOL_TOOL_H
#define GPUTAP_TOOL_TOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/context.h"
#include "core/stacks.h"
#include "core/tap.h"
#include "gputap/tool.h"

enum { GT_TOOL_VERSION = GPUTAP_VERSION_MAJOR << 16 | GPUTAP_VERSION_MINOR };
enum { GT_TOOL_POOL = 64 }; /* contexts with callbacks, at once */

struct gt_tool_calls {
	gputap_call_fn fn; /* NULL: no subscription */
	void *user;
	uint32_t flags;
};

struct gt_tool_activities {
	gputap_activity_fn fn;
	void *user;
	uint64_t types; /* 0: no subscription */
};

struct gt_tool_objects {
	gputap_object_fn fn;
	void *user;
	uint64_t types;
	uint32_t flags;
};

/* Operations and activities of a domain that are recorded into a buffer. */
struct gt_tool_buffered {
	struct gputap_buffer *buffer; /* NULL: no subscription */
	uint64_t types;
	uint32_t retirement;
	uint64_t ops[GT_OPS_PER_DOMAIN / 64];
};

/* How a context is notified of a call or of an activity. For calls: its requests for the operation,
 * in eight bits. */
enum gt_tool_how {
	GT_TOOL_CALLED = 1,
	GT_TOOL_BUFFERED = 2,
	GT_TOOL_FORWARD = 4,   /* EXIT in the order of ENTER */
	GT_TOOL_RETIRED = 8,   /* notify of its retirement in any case */
	GT_TOOL_TIMED = 16,    /* report when the call itself started */
	GT_TOOL_RETIRES = 32,  /* notify of its retirement if it has a number */
	GT_TOOL_NUMBERED = 64, /* the call gets a number */
	GT_TOOL_ALONE = 128    /* it gets one if no enclosing call has one */
};

/* A context's place. All fields except the first three are constant while it is active. */
struct gt_tool_context {
	_Atomic uint32_t active; /* 1: its callbacks may be called */
	/* 1: stopped, but calls in progress get EXIT (GPUTAP_CONTEXT_FINISH_CALLS) */
	_Atomic uint32_t finishing;
	_Atomic uint32_t generation; /* of the place */
	int32_t priority;
	uint32_t flags;
	struct gt_tool_calls calls[GT_DOMAIN_COUNT];
	struct gt_tool_activities activities[GT_DOMAIN_COUNT];
	struct gt_tool_objects objects[GT_DOMAIN_COUNT];
	struct gt_tool_buffered buffered[GT_DOMAIN_COUNT];
	gputap_retired_fn retired;
	void *retired_user;
	uint32_t uncorrelated_flags[GT_DOMAIN_COUNT];
	uint64_t uncorrelated[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64]; /* of ops[] below */
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];          /* for calls[] */
	/* all of the above in the form that calls read: enum gt_tool_how. Written while calls read
	 * it (gt_tool_calls_select()), so each byte is loaded and stored atomically */
	uint8_t how[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN];
	bool is_current; /* how[] agrees with the other fields */
	uint64_t age;    /* order of creation */
};
extern struct gt_tool_context gt_tool_pool[GT_TOOL_POOL] __attribute__((visibility("hidden")));

/* Return GT_TOOL_RETIRED if the context wants all retirements, or 0. */
static inline uint32_t gt_tool_wants_all_retired(const struct gt_tool_context *c)
{
	return c->retired && c->flags & GPUTAP_CONTEXT_ALL_RETIRED ? GT_TOOL_RETIRED : 0;
}

/* A context that was notified of the start of something and will be notified of its end. */
struct gt_tool_subscriber {
	uint32_t place, generation;
	uint64_t data; /* the callback's eight bytes */
	uint32_t how;  /* enum gt_tool_how */
};

uint32_t gt_tool_thread(void); /* gettid(), remembered */

/* Calls (tool_call.c) -------------------------------------------------------- */

/* References that delay the retirement of a call (tool_retire.c). */
struct gt_correlation;

/* An open call that tools are notified of. It is on its thread's stack, or in memory of the code
 * that announces the call. */
struct gt_tool_frame {
	struct gt_tool_frame *outer; /* the enclosing call */
	/* position of the call in the stack: the frame's address, unless the frame is elsewhere.
	 * Then `word` is the word below that position when the call started (gt_stack_word()) */
	uintptr_t at;
	uint32_t word;
	/* gt_tool_frame_mark() while no other function's variables have overwritten the frame */
	uintptr_t mark;
	struct gputap_call call;       /* passed to callbacks */
	struct gt_correlation *shared; /* NULL: nothing delays its retirement so far */
	uint64_t start;                /* host ticks if a buffer needs them; else 0 */
	/* true while a callback of it runs: calls made now are not the runtime's */
	bool calling;
	bool numbered; /* has its own correlation */
	bool notified; /* tools are notified; else the frame is for `stacks` only */
	uint32_t op;   /* GT_OP() */
	struct gt_stacks_call stacks;
	uint32_t how;   /* enum gt_tool_how of all subscribers */
	uint32_t count; /* of subscribers[] */
	struct gt_tool_subscriber subscribers[GT_TOOL_POOL];
};

/* Return the value of `mark` while the frame's call is open. After a jump out of the call, the mark
 * differs, so the frame is not mistaken for an open one. */
static inline uintptr_t gt_tool_frame_mark(const struct gt_tool_frame *f)
{
	return ((uintptr_t)f ^ (uintptr_t)f->outer << 1) + (uintptr_t)UINT64_C(0x9e3779b97f4a7c15);
}

/* Return true if the call was left: other functions have overwritten its part of the stack. */
static inline bool gt_tool_frame_is_lost(const struct gt_tool_frame *f)
{
	return f->mark != gt_tool_frame_mark(f) ||
	       (f->at != (uintptr_t)f && gt_stack_word(f->at) != f->word);
}

/**
 * gt_tool_frame_live() - return the innermost open call at or around @f; NULL: none
 * @here: the caller's position in the stack. Frames that are deeper were left by longjmp() or an
 *        exception, and so were frames that other functions have overwritten. The calls around
 *        an overwritten frame are not known.
 */
static inline struct gt_tool_frame *gt_tool_frame_live(struct gt_tool_frame *f, uintptr_t here)
{
	while (f && (f->at <= here || gt_tool_frame_is_lost(f)))
		f = gt_tool_frame_is_lost(f) ? NULL : f->outer;
	return f;
}

/* Innermost frame of this thread; NULL: none. */
extern _Thread_local struct gt_tool_frame *gt_tool_frame
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Number of contexts with GPUTAP_CONTEXT_DENSE. */
extern _Atomic uint32_t gt_tool_dense __attribute__((visibility("hidden")));
/* Number of contexts with GPUTAP_CONTEXT_INNERMOST. */
extern _Atomic uint32_t gt_tool_innermost __attribute__((visibility("hidden")));

/* Return the next number, for a call, or for an activity that no notified call causes. */
uint64_t gt_tool_new_correlation(void);

/* Notify of ENTER before a call. Called also without a tool, if the call stack is to be recorded.
 * Return false if the call has no subscriber: make it without calling exit. */
bool gt_tool_call_enter(struct gt_tool_frame *f, const struct gt_table *table, uint32_t index,
			void *args, uint32_t args_bytes);
/* Do the same for a frame that is not on the stack; @at: the call's position in the stack. */
bool gt_tool_call_enter_at(struct gt_tool_frame *f, uintptr_t at, const struct gt_table *table,
			   uint32_t index, void *args, uint32_t args_bytes);
/* Notify of EXIT after the call; @ret may be NULL. */
void gt_tool_call_exit(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes);

/* Correlation (tool_activity.c, tool_retire.c) -------------------------------- */

/* Add a reference to the frame's call. Return NULL if no context wants its retirement, or without
 * memory. */
struct gt_correlation *gt_correlation_get(struct gt_tool_frame *f);
void gt_correlation_put(struct gt_correlation *c);
/* End a call whose frame has `shared`, or whose retirement a context wants. It retires now if no
 * other reference exists. */
void gt_correlation_leave(struct gt_tool_frame *f);

/* Notify a context that was just started of the objects that exist (tool_object.c). */
void gt_tool_objects_replay(uint32_t place, uint32_t generation);

/* Types of a domain's activities that active contexts want. Runtimes check it with one load. */
extern _Atomic uint64_t gt_tool_activity_types[GT_DOMAIN_COUNT]
	__attribute__((visibility("hidden")));

/* Buffers (tool_buffer.c) ----------------------------------------------------- */

/* Write a record like gputap_buffer_write(). At @ticks_offset, it has @ticks_count times in host
 * ticks, which are converted when the record is delivered. */
int gt_tool_buffer_write_ticks(struct gputap_buffer *b, uint64_t kind, const void *payload,
			       size_t bytes, uint32_t ticks_offset, uint32_t ticks_count,
			       bool last);

/* Mark the start and the end of a wait for other threads, in code that callbacks may call. A
 * buffer's delivery thread that waits in this way cannot be waited for: meanwhile a writer that
 * finds its buffer full does not wait, and a flush in a callback returns. */
void gt_tool_delivery_waits(bool waits);
/* Return true if this thread delivers a buffer and is in a callback. */
bool gt_tool_delivery_is_here(void);

/* gputap's threads (tool_thread.c) ---------------------------------------------- */

/* Start a detached thread with all signals blocked, between the callbacks of
 * gputap_thread_subscribe(). @stack_bytes 0: the default. Return: 0 or an errno. */
int gt_tool_thread_start(void *(*run)(void *), void *arg, size_t stack_bytes);
/* Do the same without an event on failure: the caller reports the consequence. */
int gt_tool_thread_try(void *(*run)(void *), void *arg, size_t stack_bytes);
/* Declare this a thread of gputap, named @name, that calls tools' functions. If one of them ends
 * the thread, @left is called at its very end. */
void gt_tool_thread_takes(const char *name, void (*left)(void *arg), void *arg);
/* End that declaration: the thread returns normally. */
void gt_tool_thread_leaves(void);
bool gt_tool_thread_is_ours(void);
/* Let other threads continue what this ending thread was delivering (gt_tool_deliver()). */
void gt_tool_deliver_left(void);

/* Tools (tool_load.c) --------------------------------------------------------- */

/* Start the tools that wait for the first call of a runtime (gt_recording.pending). Look for them
 * first if that has not been done. */
void gt_tools_start(void);
/* Prepare for a subscription: the core works without a session from now on, and runtimes are
 * attached to. Called without locks. */
void gt_tools_needed(void);
/* Return the tool whose start() or finish() runs in this thread, which owns contexts that are
 * created now; NULL: none. */
const struct gputap_tool *gt_tool_current(void);
/* Return the priority of contexts that are created now in this thread: of that tool, or 0. */
int32_t gt_tool_priority(void);

/* Stop and destroy the contexts that a tool created in start(). No callback of them runs
 * afterwards. */
void gt_tool_contexts_destroy(const struct gputap_tool *tool);
/* Stop all contexts: the process ends. */
void gt_tool_contexts_stop_all(void);
/* Stop the contexts of a tool. */
void gt_tool_contexts_stop_of(const struct gputap_tool *tool);

#endif
