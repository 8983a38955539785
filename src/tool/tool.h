/* SPDX-License-Identifier: MIT */
/* Internals of the tool API (include/gputap/tool.h), shared by the files in this folder.
 *
 *   tool_context.c   subscriptions of a context; starts and stops contexts
 *   tool_reader.c    tracks threads that call tools' functions, and the contexts they call
 *   tool_frame.c     stores the open call of each thread
 *   tool_call.c      notifies before and after a call; called from the generated taps
 *   tool_activity.c  handles GPU activities that the runtimes' folders report
 *   tool_batch.c     lists completed activities; tracks the threads that notify tools of them
 *   tool_complete.c  notifies of COMPLETE, the end of an activity
 *   tool_retire.c    retires correlation ids
 *   tool_object.c    notifies of objects that are loaded and unloaded
 *   tool_buffer.c    writes records into buffers
 *   tool_delivery.c  delivers the records; tool_flush.c waits for the delivery
 *   tool_buffer_list.c  lists all buffers and owns their memory
 *   tool_thread.c    starts gputap's threads
 *   tool_args.c      returns names and values of arguments
 *   tool_load.c      finds, starts and finishes tools
 *
 * No callback of a context runs after the context has been stopped. A context with callbacks
 * occupies one of POOL slots (`place` in the code). Slots are never freed; a slot's `generation`
 * distinguishes its users.
 *   1. A thread stores the slot that it will call in its hazards (or "all slots" while it chooses).
 *   2. The thread loads the slot's `active`, calls the callback if `active` is set, and clears the
 *      hazard.
 *   3. A thread that stops a context clears `active`, makes every running thread pass a barrier
 *      (membarrier(), so that calls need no barrier), and waits until no other thread's hazard
 *      names the slot. The hazards of a waiting thread do not count, so two callbacks that stop
 *      each other's context do not deadlock.
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
enum { GT_TOOL_POOL = 64 }; /* maximum number of contexts with callbacks */

struct gt_tool_calls {
	gputap_call_fn fn; /* NULL if not subscribed */
	void *user;
	uint32_t flags;
};

struct gt_tool_activities {
	gputap_activity_fn fn;
	void *user;
	uint64_t types; /* 0 if not subscribed */
};

struct gt_tool_objects {
	gputap_object_fn fn;
	void *user;
	uint64_t types;
	uint32_t flags;
};

/* Operations and activities of one domain, and the buffer that receives their records. */
struct gt_tool_buffered {
	struct gputap_buffer *buffer; /* NULL if not subscribed */
	uint64_t types;
	uint32_t retirement;
	uint64_t ops[GT_OPS_PER_DOMAIN / 64];
};

/* Ways in which a context is notified of a call or an activity. For a call, the eight bits are the
 * context's requests for the operation. */
enum gt_tool_how {
	GT_TOOL_CALLED = 1,
	GT_TOOL_BUFFERED = 2,
	GT_TOOL_FORWARD = 4,   /* deliver EXIT in the same order as ENTER */
	GT_TOOL_RETIRED = 8,   /* always notify of the retirement */
	GT_TOOL_TIMED = 16,    /* report the start time of the call itself */
	GT_TOOL_RETIRES = 32,  /* notify of the retirement if the call has a number */
	GT_TOOL_NUMBERED = 64, /* give the call a number */
	GT_TOOL_ALONE = 128    /* give the call a number if no enclosing call has one */
};

/* The slot of a context. All fields except the first three are constant while the context is
 * active. */
struct gt_tool_context {
	_Atomic uint32_t active; /* 1 while the context's callbacks may be called */
	/* 1 if the context was stopped but calls in progress still get EXIT
	 * (GPUTAP_CONTEXT_FINISH_CALLS) */
	_Atomic uint32_t finishing;
	_Atomic uint32_t generation; /* number of the slot's user */
	int32_t priority;
	uint32_t flags;
	struct gt_tool_calls calls[GT_DOMAIN_COUNT];
	struct gt_tool_activities activities[GT_DOMAIN_COUNT];
	struct gt_tool_objects objects[GT_DOMAIN_COUNT];
	struct gt_tool_buffered buffered[GT_DOMAIN_COUNT];
	gputap_retired_fn retired;
	void *retired_user;
	uint32_t uncorrelated_flags[GT_DOMAIN_COUNT];
	uint64_t uncorrelated[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64]; /* subset of ops[] */
	/* operations selected for calls[] */
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* enum gt_tool_how, computed from the fields above for fast reading by calls. Calls read
	 * the bytes while gt_tool_calls_select() writes them, so each byte is loaded and stored
	 * atomically */
	uint8_t how[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN];
	bool is_current; /* true if how[] agrees with the other fields */
	uint64_t age;    /* rank in the order of creation */
};
/* GT_TOOL_POOL slots, mapped for the first context; NULL before */
extern struct gt_tool_context *gt_tool_pool __attribute__((visibility("hidden")));

/* Return GT_TOOL_RETIRED if the context wants to be notified of all retirements, otherwise 0. */
static inline uint32_t gt_tool_wants_all_retired(const struct gt_tool_context *c)
{
	return c->retired && c->flags & GPUTAP_CONTEXT_ALL_RETIRED ? GT_TOOL_RETIRED : 0;
}

/* A context that was notified of the start of a call or activity and will be notified of the
 * end. */
struct gt_tool_subscriber {
	uint32_t place, generation;
	uint64_t data; /* the eight bytes that the callback may store */
	uint32_t how;  /* enum gt_tool_how */
};

uint32_t gt_tool_thread(void); /* gettid(), cached */

/* Calls (tool_call.c) -------------------------------------------------------- */

/* References that delay the retirement of a call (tool_retire.c). */
struct gt_correlation;

/* An open call that tools are notified of. The frame is on the calling thread's stack, or in memory
 * of the code that announces the call. */
struct gt_tool_frame {
	struct gt_tool_frame *outer; /* the enclosing call */
	/* stack position of the call: the frame's address if the frame is on the stack. Otherwise
	 * `word` holds the stack word below that position at the start of the call
	 * (gt_stack_word()) */
	uintptr_t at;
	uint32_t word;
	/* equals gt_tool_frame_mark() until another function's variables overwrite the frame */
	uintptr_t mark;
	struct gputap_call call;       /* passed to callbacks */
	struct gt_correlation *shared; /* NULL until something delays the retirement of the call */
	uint64_t start;                /* in host ticks if a buffer needs the time; else 0 */
	/* true while a callback of this call runs: calls made meanwhile belong to the callback, not
	 * to the runtime */
	bool calling;
	bool numbered; /* true if the call has its own correlation id */
	/* true if tools are notified; false if the frame only causes the call stack to be
	 * recorded */
	bool notified;
	uint32_t op; /* GT_OP() */
	struct gt_stacks_call stacks;
	uint32_t how;   /* enum gt_tool_how, combined over all subscribers */
	uint32_t count; /* number of subscribers[] */
	struct gt_tool_subscriber subscribers[GT_TOOL_POOL];
};

/* Return the value that `mark` has while the frame's call is open. A jump out of the call leaves a
 * different mark once the stack is reused, so the frame is not mistaken for an open call. */
static inline uintptr_t gt_tool_frame_mark(const struct gt_tool_frame *f)
{
	return ((uintptr_t)f ^ (uintptr_t)f->outer << 1) + (uintptr_t)UINT64_C(0x9e3779b97f4a7c15);
}

/* Return true if the call was left by a jump: other functions have overwritten its part of the
 * stack. */
static inline bool gt_tool_frame_is_lost(const struct gt_tool_frame *f)
{
	return f->mark != gt_tool_frame_mark(f) ||
	       (f->at != (uintptr_t)f && gt_stack_word(f->at) != f->word);
}

/**
 * gt_tool_frame_live() - return the innermost open call, starting at @f; NULL if no call is open
 * @here: the caller's position in the stack. longjmp() or an exception left the frames that are
 *        deeper in the stack or overwritten by other functions. Calls around an overwritten frame
 *        are unknown.
 */
static inline struct gt_tool_frame *gt_tool_frame_live(struct gt_tool_frame *f, uintptr_t here)
{
	while (f && (f->at <= here || gt_tool_frame_is_lost(f)))
		f = gt_tool_frame_is_lost(f) ? NULL : f->outer;
	return f;
}

/* Innermost frame of this thread, or NULL. */
extern _Thread_local struct gt_tool_frame *gt_tool_frame
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Number of contexts with GPUTAP_CONTEXT_DENSE. */
extern _Atomic uint32_t gt_tool_dense __attribute__((visibility("hidden")));
/* Number of contexts with GPUTAP_CONTEXT_INNERMOST. */
extern _Atomic uint32_t gt_tool_innermost __attribute__((visibility("hidden")));

/* Return the next correlation number, for a call or for an activity without a notified call. */
uint64_t gt_tool_new_correlation(void);

/* Notify of ENTER before a call. If the call stack must be recorded, this function runs even
 * without a tool. Return false if the call has no subscriber. The caller then makes the call
 * without gt_tool_call_exit(). */
bool gt_tool_call_enter(struct gt_tool_frame *f, const struct gt_table *table, uint32_t index,
			void *args, uint32_t args_bytes);
/* Like gt_tool_call_enter(), for a frame that is not on the stack.
 * @at: the call's position in the stack */
bool gt_tool_call_enter_at(struct gt_tool_frame *f, uintptr_t at, const struct gt_table *table,
			   uint32_t index, void *args, uint32_t args_bytes);
/* Notify of EXIT after the call; @ret may be NULL. */
void gt_tool_call_exit(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes);

/* Correlation (tool_activity.c, tool_retire.c) -------------------------------- */

/* Add a reference to the frame's call. Return NULL if no context wants the retirement or if out of
 * memory. */
struct gt_correlation *gt_correlation_get(struct gt_tool_frame *f);
void gt_correlation_put(struct gt_correlation *c);
/* End a call whose frame has `shared`, or whose retirement a context wants. The call retires now if
 * no other reference exists. */
void gt_correlation_leave(struct gt_tool_frame *f);

/* Notify a newly started context of all existing objects (tool_object.c). */
void gt_tool_objects_replay(uint32_t place, uint32_t generation);

/* For each domain, a bit for each activity type that an active context wants. Runtimes read a
 * domain's bits with one load. */
extern _Atomic uint64_t gt_tool_activity_types[GT_DOMAIN_COUNT]
	__attribute__((visibility("hidden")));

/* Buffers (tool_buffer.c) ----------------------------------------------------- */

/* Write a record like gputap_buffer_write(). The record contains @ticks_count times in host ticks
 * at @ticks_offset. Delivery converts these times. */
int gt_tool_buffer_write_ticks(struct gputap_buffer *b, uint64_t kind, const void *payload,
			       size_t bytes, uint32_t ticks_offset, uint32_t ticks_count,
			       bool last);

/* Mark the start or end of a wait for other threads, in code that callbacks may call. No thread may
 * wait for a buffer's delivery thread between the two marks: a writer that finds its buffer full
 * does not wait, and a flush in a callback returns. */
void gt_tool_delivery_waits(bool waits);
/* Return true if this thread delivers a buffer and is inside a callback. */
bool gt_tool_delivery_is_here(void);

/* gputap's threads (tool_thread.c) ---------------------------------------------- */

/* Start a detached thread with all signals blocked, between the callbacks of
 * gputap_thread_subscribe(). @stack_bytes 0 selects the default. Return: 0 or an errno. */
int gt_tool_thread_start(void *(*run)(void *), void *arg, size_t stack_bytes);
/* Like gt_tool_thread_start(), without an event on failure: the caller reports the consequence. */
int gt_tool_thread_try(void *(*run)(void *), void *arg, size_t stack_bytes);
/* Declare the calling thread a thread of gputap, named @name, that calls tools' functions. If such
 * a function ends the thread, @left is called as the thread's last action. */
void gt_tool_thread_takes(const char *name, void (*left)(void *arg), void *arg);
/* Undo gt_tool_thread_takes() before the thread returns normally. */
void gt_tool_thread_leaves(void);
bool gt_tool_thread_is_ours(void);
/* Let other threads continue the delivery that this ending thread had started
 * (gt_tool_deliver()). */
void gt_tool_deliver_left(void);

/* Tools (tool_load.c) --------------------------------------------------------- */

/* Start the tools that wait for the first call of a runtime (gt_recording.pending). Find the tools
 * first if no search has run yet. */
void gt_tools_start(void);
/* Prepare for a subscription: start the core without a session, and attach to runtimes. Call
 * without locks. */
void gt_tools_needed(void);
/* Return the tool whose start() or finish() runs in this thread, or NULL. The tool owns contexts
 * that are created now. */
const struct gputap_tool *gt_tool_current(void);
/* Return the priority of contexts that are created now in this thread: the priority of
 * gt_tool_current(), or 0 without a tool. */
int32_t gt_tool_priority(void);

/* Stop and destroy the contexts that a tool created in start(). None of their callbacks runs
 * afterwards. */
void gt_tool_contexts_destroy(const struct gputap_tool *tool);
/* Stop all contexts when the process ends. */
void gt_tool_contexts_stop_all(void);
/* Stop the contexts of a tool. */
void gt_tool_contexts_stop_of(const struct gputap_tool *tool);

#endif
