/* SPDX-License-Identifier: MIT */
/* The tool API inside (include/gputap/tool.h): what its files share.
 *
 *   tool_context.c   who asks for what; start, stop, and that nobody is called after it
 *   tool_reader.c    threads that call tools' functions, and whom
 *   tool_frame.c     the call that a thread is in
 *   tool_call.c      before and after a call: the generated taps call it
 *   tool_activity.c      device work: the runtimes' activity comes here
 *   tool_batch.c     work that has completed, and who is notifying of it
 *   tool_complete.c  COMPLETE: how it ended
 *   tool_retire.c    correlation ids that retire
 *   tool_object.c    objects that come and go
 *   tool_buffer.c    writes into buffers; tool_delivery.c hands them over, tool_flush.c waits for
 *                    that; all buffers: tool_buffer_list.c
 *   tool_thread.c    threads of gputap's own
 *   tool_args.c      names and arguments
 *   tool_load.c      finding, starting, finishing tools
 *
 * Who may be called now. A context that asks for callbacks has one of POOL places that are never
 * freed; a place's `generation` distinguishes its users. A thread says in its hazards which place
 * it is about to call (any of them, while it looks whom), looks whether that is still active,
 * calls, takes the hazard back. Who stops a context makes it inactive, has every running thread
 * pass a barrier (membarrier(), so that the calls themselves need none), and waits until no
 * other thread's hazard is on the place. A thread that waits so counts as having taken back its
 * own hazards: two callbacks that stop each other's context do not wait for ever.
 *
 * On a call's way: no lock, no allocation, no system call. */
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
	gputap_call_fn fn; /* NULL: not asked */
	void *user;
	uint32_t flags;
};

struct gt_tool_activities {
	gputap_activity_fn fn;
	void *user;
	uint64_t types; /* 0: not asked */
};

struct gt_tool_objects {
	gputap_object_fn fn;
	void *user;
	uint64_t types;
	uint32_t flags;
};

/* Operations and work of a domain that go into a buffer. */
struct gt_tool_buffered {
	struct gputap_buffer *buffer; /* NULL: not asked */
	uint64_t types;
	uint32_t retirement;
	uint64_t ops[GT_OPS_PER_DOMAIN / 64];
};

/* How a context is notified of a call or of work. For calls: what it asked for that operation, in
 * eight bits. */
enum gt_tool_how {
	GT_TOOL_CALLED = 1,
	GT_TOOL_BUFFERED = 2,
	GT_TOOL_FORWARD = 4,   /* EXIT in the order of ENTER */
	GT_TOOL_RETIRED = 8,   /* in any case, its retirement */
	GT_TOOL_TIMED = 16,    /* .. and when the call itself began */
	GT_TOOL_RETIRES = 32,  /* .. and its retirement, if it has a number */
	GT_TOOL_NUMBERED = 64, /* it is to have a number of its own */
	GT_TOOL_ALONE = 128    /* .. if it is made in no call that has one */
};

/* A context's place. All but the first three are constant while it is active. */
struct gt_tool_context {
	_Atomic uint32_t active; /* 1: may be called */
	/* 1: stopped, but calls that have begun get EXIT (GPUTAP_CONTEXT_FINISH_CALLS) */
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
	/* all of the above as calls look at it: enum gt_tool_how. Written while calls look
	 * (gt_tool_calls_select()): each byte is loaded and stored at once */
	uint8_t how[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN];
	bool is_current; /* how[] says what the rest does */
	uint64_t age;    /* order of creation */
};
extern struct gt_tool_context gt_tool_pool[GT_TOOL_POOL] __attribute__((visibility("hidden")));

/* GT_TOOL_RETIRED, or 0. */
static inline uint32_t gt_tool_wants_all_retired(const struct gt_tool_context *c)
{
	return c->retired && c->flags & GPUTAP_CONTEXT_ALL_RETIRED ? GT_TOOL_RETIRED : 0;
}

/* Who had the beginning of something, and has its end. */
struct gt_tool_subscriber {
	uint32_t place, generation;
	uint64_t data; /* the callback's eight bytes */
	uint32_t how;  /* enum gt_tool_how */
};

uint32_t gt_tool_thread(void); /* gettid(), remembered */

/* Calls (tool_call.c) -------------------------------------------------------- */

/* What hangs on a call (tool_retire.c). */
struct gt_correlation;

/* An open call that tools are notified of: on its thread's stack, or kept elsewhere by who
 * announces the call. */
struct gt_tool_frame {
	struct gt_tool_frame *outer; /* that this call was made in */
	/* where the call stands in the stack: the frame's own address, unless it is kept elsewhere.
	 * Then: what lay below that place when the call began (gt_stack_word()) */
	uintptr_t at;
	uint32_t word;
	/* gt_tool_frame_mark(): it is one, and no other function's variables have come over it */
	uintptr_t mark;
	struct gputap_call call;       /* what callbacks get */
	struct gt_correlation *shared; /* NULL: no work hangs on it so far */
	uint64_t start;                /* host ticks, where a buffer wants them; else 0 */
	/* a callback of it runs: calls made now are not the runtime's own */
	bool calling;
	bool numbered; /* has a correlation of its own */
	bool notified; /* tools are; else it is a frame for `stacks` only */
	uint32_t op;   /* GT_OP() */
	struct gt_stacks_call stacks;
	uint32_t how;   /* enum gt_tool_how of all subscribers */
	uint32_t count; /* of subscribers[] */
	struct gt_tool_subscriber subscribers[GT_TOOL_POOL];
};

/* Of the frame whose call is open; else none, so that it is not taken for one after a jump out
 * of it. */
static inline uintptr_t gt_tool_frame_mark(const struct gt_tool_frame *f)
{
	return ((uintptr_t)f ^ (uintptr_t)f->outer << 1) + (uintptr_t)UINT64_C(0x9e3779b97f4a7c15);
}

/* Was the call left, as other functions have written over what it had in the stack? */
static inline bool gt_tool_frame_is_lost(const struct gt_tool_frame *f)
{
	return f->mark != gt_tool_frame_mark(f) ||
	       (f->at != (uintptr_t)f && gt_stack_word(f->at) != f->word);
}

/**
 * gt_tool_frame_live() - the innermost open call at or around @f; NULL: none
 * @here: where the caller stands: what lies deeper was left by longjmp() or an exception. So was
 *        what other functions have written over: what its own outer calls were is not known any
 *        more then.
 */
static inline struct gt_tool_frame *gt_tool_frame_live(struct gt_tool_frame *f, uintptr_t here)
{
	while (f && (f->at <= here || gt_tool_frame_is_lost(f)))
		f = gt_tool_frame_is_lost(f) ? NULL : f->outer;
	return f;
}

/* Innermost of this thread; NULL: none. */
extern _Thread_local struct gt_tool_frame *gt_tool_frame
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Contexts that want ids without gaps (GPUTAP_CONTEXT_DENSE). */
extern _Atomic uint32_t gt_tool_dense __attribute__((visibility("hidden")));
/* .. and that want work's cause to be the innermost call (GPUTAP_CONTEXT_INNERMOST). */
extern _Atomic uint32_t gt_tool_innermost __attribute__((visibility("hidden")));

/* The next number, for a call, or for work that no notified call causes. */
uint64_t gt_tool_new_correlation(void);

/* Before a call. False: no subscriber: make it as if no tool were there. Also where no tool asks,
 * and the stack is to be recorded that the call is made from. */
bool gt_tool_call_enter(struct gt_tool_frame *f, const struct gt_table *table, uint32_t index,
			void *args, uint32_t args_bytes);
/* The same for a frame that is not on the stack; @at: where the call stands there. */
bool gt_tool_call_enter_at(struct gt_tool_frame *f, uintptr_t at, const struct gt_table *table,
			   uint32_t index, void *args, uint32_t args_bytes);
/* After it; @ret may be NULL. */
void gt_tool_call_exit(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes);

/* Work and correlation (tool_activity.c, tool_retire.c) --------------------------- */

/* One more reference on the frame's call. NULL: nobody asks for its retirement, or there is
 * no memory. */
struct gt_correlation *gt_correlation_get(struct gt_tool_frame *f);
void gt_correlation_put(struct gt_correlation *c);
/* The call is over, whose frame has `shared`, or whose retirement somebody asks for: it
 * retires now. */
void gt_correlation_leave(struct gt_tool_frame *f);

/* Objects (tool_object.c): a context that asks for them has been started: notify it of those that
 * are there. */
void gt_tool_objects_replay(uint32_t place, uint32_t generation);

/* Anybody active who asks for this domain's work? For the runtimes' activity: one load. */
extern _Atomic uint64_t gt_tool_activity_types[GT_DOMAIN_COUNT]
	__attribute__((visibility("hidden")));

/* Buffers (tool_buffer.c) ----------------------------------------------------- */

/* gputap_buffer_write() of a record whose times are host ticks at these two byte offsets: they
 * are converted when it is handed over. */
int gt_tool_buffer_write_ticks(struct gputap_buffer *b, uint64_t kind, const void *payload,
			       size_t bytes, uint32_t ticks_offset, uint32_t ticks_count,
			       bool last);

/* Around waiting for other threads, by code that callbacks may call: a buffer's delivery that
 * does it cannot be waited for, so who finds its buffer full meanwhile does not wait, and who
 * flushes it in a callback goes on. */
void gt_tool_delivery_waits(bool waits);
/* Is this a buffer's delivery, in the middle of a callback? */
bool gt_tool_delivery_is_here(void);

/* Threads of gputap's own (tool_thread.c) ------------------------------------- */

/* Starts one: detached, all signals blocked; between the callbacks of gputap_thread_subscribe().
 * @stack_bytes 0: the default. Return: 0 or an errno. */
int gt_tool_thread_start(void *(*run)(void *), void *arg, size_t stack_bytes);
/* The same without an event if it fails: the caller says what that means. */
int gt_tool_thread_try(void *(*run)(void *), void *arg, size_t stack_bytes);
/* This is one, named @name, which calls tools' functions: if one of them ends it, @left is
 * called, at its very end. */
void gt_tool_thread_takes(const char *name, void (*left)(void *arg), void *arg);
/* .. it returns as it should. */
void gt_tool_thread_leaves(void);
bool gt_tool_thread_is_ours(void);
/* This thread ends: others go on with what it was delivering (gt_tool_deliver()). */
void gt_tool_deliver_left(void);

/* Tools (tool_load.c) --------------------------------------------------------- */

/* Start the tools that wait (gt_recording.pending), looking for them first if nobody has yet: a
 * runtime is called. */
void gt_tools_start(void);
/* Somebody in the process subscribes, tool or not: the core works without a session, and
 * runtimes come to us. No locks. */
void gt_tools_needed(void);
/* The tool whose start() or finish() runs in this thread; NULL: none. What is made now is its. */
const struct gputap_tool *gt_tool_current(void);
/* Priority of contexts that are made now in this thread: of that tool, else 0. */
int32_t gt_tool_priority(void);

/* What a tool has made in its start(): stopped and gone. No callback of it runs afterwards. */
void gt_tool_contexts_destroy(const struct gputap_tool *tool);
/* The process ends: nobody is called any more. */
void gt_tool_contexts_stop_all(void);
/* Of that tool. */
void gt_tool_contexts_stop_of(const struct gputap_tool *tool);

#endif
