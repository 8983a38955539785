/* SPDX-License-Identifier: MIT */
/* Notifies tools before and after a call.
 *
 *   tap ─► gt_tool_call_enter() ─► ENTER, first context to last ─► the call, recorded or not
 *      ◄── gt_tool_call_exit() ◄── EXIT, last to first, to contexts that had ENTER ◄──┘
 *
 * The frame is on the tap's stack; gt_tool_frame points to the thread's innermost frame. If a
 * callback or a runtime jumps out (longjmp, an exception), frames are left over. The next call
 * finds these frames deeper in the stack than itself, and ignores them. Tools are not notified of
 * calls that a runtime makes within a call of the program, if the API is `outermost` or interposed.
 * Tools are notified of calls that a callback makes.
 *
 * A call has its own number, the correlation id, if a subscriber needs it. Otherwise the call
 * shares the number of the enclosing call, which is also the cause of the call's activities.
 *
 * Never here: locks, allocation (except the first in a thread), system calls, a change of errno. */
#include <string.h>

#include "core/emit.h"
#include "core/external.h"
#include "core/recording.h"
#include "tool/tool.h"
#include "tool/tool_buffer_write.h"
#include "tool/tool_follow.h"
#include "tool/tool_reader.h"

enum { IDS_AT_ONCE = 256 };

static _Alignas(64) _Atomic uint64_t last_correlation;
static _Thread_local uint64_t next_id, ids_end; /* range of numbers reserved for this thread */

/* Return the next correlation number. A counter written by all threads would be the most expensive
 * part of a call, so each thread reserves many numbers at once, unless a context wants numbers
 * without gaps. */
uint64_t gt_tool_new_correlation(void)
{
	if (gt_unlikely(atomic_load_explicit(&gt_tool_dense, memory_order_relaxed)))
		return atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
	if (gt_unlikely(next_id == ids_end)) {
		next_id = atomic_fetch_add_explicit(&last_correlation, IDS_AT_ONCE,
						    memory_order_relaxed) +
			  1;
		ids_end = next_id + IDS_AT_ONCE;
	}
	return next_id++;
}

uint64_t gputap_correlation(void)
{
	const struct gt_tool_frame *f =
		gt_tool_frame_live(gt_tool_frame, (uintptr_t)__builtin_frame_address(0));

	return f ? f->call.correlation : 0;
}

void gputap_suppress_begin(void)
{
	gt_internal_enter();
}

void gputap_suppress_end(void)
{
	if (gt_thread.internal)
		gt_internal_leave();
}

/* Return true if the runtime makes this call within a call of the program. */
static bool is_nested(const struct gt_tool_frame *outer, enum gt_domain domain)
{
	if (!gt_domain_traits[domain].outermost && !gt_skip_nested[domain])
		return false;
	for (const struct gt_tool_frame *f = outer; f && !f->calling;
	     f = gt_tool_frame_live(f->outer, f->at)) {
		enum gt_domain other = (enum gt_domain)f->call.domain;

		if (other == domain || gt_domain_same_group(domain, other))
			return true;
	}
	return false;
}

/* Choose the call's subscribers, in the order of contexts. One hazard covers all subscribers until
 * each is called. Return the union of the subscribers' `how`, or 0 without subscribers. */
static uint32_t choose_readers(struct gt_tool_frame *f, struct gt_tool_reader *r,
			       enum gt_domain domain, uint32_t number)
{
	uint8_t places[GT_TOOL_POOL];
	uint32_t all = 0, subscribers = 0;
	unsigned count;

	atomic_store_explicit(&r->hazards[r->depth - 1], GT_TOOL_ANY, GT_ORDER_HAZARD);
	gt_tool_fence_of_reader();
	count = gt_tool_order(places);
	for (unsigned i = 0; i < count; i++) {
		const struct gt_tool_context *c = &gt_tool_pool[places[i]];
		uint32_t how = __atomic_load_n(&c->how[domain][number], __ATOMIC_RELAXED);

		if (!how)
			continue;
		all |= how;
		f->subscribers[subscribers++] =
			(struct gt_tool_subscriber){places[i],
						    atomic_load_explicit(&c->generation,
									 memory_order_acquire),
						    0, how};
	}
	f->count = subscribers;
	return all & (GT_TOOL_CALLED | GT_TOOL_BUFFERED) ? all : 0;
}

static inline GT_IN_LINE void call_one(struct gt_tool_frame *f, struct gt_tool_reader *r,
				       uint32_t level, struct gt_tool_subscriber *h, bool begun)
{
	const struct gt_tool_calls *to = &gt_tool_pool[h->place].calls[f->call.domain];

	if (gt_likely(gt_tool_hold(r, level, h->place, h->generation, begun)))
		to->fn(&f->call, &h->data, to->user);
	else
		/* the context was stopped without EXIT for calls in progress */
		h->how &= ~(uint32_t)GT_TOOL_CALLED;
}

/* Handle the first call of the process, or the first call after a tool was opened
 * (runtime/tool_start.c). */
static inline void start_tools(void)
{
	void (*start)(void) = atomic_load_explicit(&gt_recording.pending, memory_order_relaxed);

	if (gt_unlikely(start != NULL))
		start();
}

/* Set each member individually. Clearing the whole struct would use a string instruction, which
 * starts slowly. */
static void begin_frame(struct gt_tool_frame *f, const struct gt_table *table, uint32_t number,
			void *args, uint32_t args_bytes)
{
	const struct gt_tool_frame *outer = f->outer;
	struct gputap_call *call = &f->call;

	call->size = sizeof *call;
	call->domain = (enum gputap_domain)table->domain;
	call->operation = number;
	call->phase = GPUTAP_CALL_PHASE_ENTER;
	call->instance = table->instance;
	call->thread = gt_tool_reader->thread; /* gt_tool_look() has made this thread a reader */
	if (gt_likely(f->numbered)) {
		call->correlation = gt_tool_new_correlation();
		call->parent = outer ? outer->call.correlation : 0;
	} else {
		call->correlation = outer ? outer->call.correlation : 0;
		call->parent = outer ? outer->call.parent : 0;
	}
	call->args = args;
	call->args_bytes = args_bytes;
	call->ret_bytes = 0;
	call->ret = NULL;
	call->external[0] = call->external[1] = 0;
	call->start = 0;
	if (gt_unlikely(gt_thread.external))
		gt_external_tops(call->external);
}

static inline GT_IN_LINE bool enter_call(struct gt_tool_frame *f, uintptr_t at,
					 const struct gt_table *table, uint32_t index, void *args,
					 uint32_t args_bytes)
{
	const uint32_t number = GT_OP_NUMBER(table->operations[index].op);
	struct gt_tool_frame *outer = gt_tool_frame_live(gt_tool_frame, at);
	struct gt_tool_reader *r;
	uint32_t how, level;

	if (gt_thread.internal)
		return false;
	/* true at the first call of a process that starts in a pause */
	if (gt_unlikely(atomic_load_explicit(&gt_control_pending, memory_order_relaxed)))
		gt_control_meet();
	if (is_nested(outer, table->domain))
		return false;
	start_tools();
	r = gt_tool_level_in(at);
	how = gt_likely(r != NULL) ? choose_readers(f, r, table->domain, number) : 0;
	if (!how) {
		if (r)
			gt_tool_level_out(r, r->depth);
		return false;
	}
	f->outer = outer;
	f->at = at;
	f->shared = NULL;
	f->how = how;
	f->notified = true;
	f->stacks.start_ns = 0;
	f->numbered = how & GT_TOOL_NUMBERED ||
		      (how & GT_TOOL_ALONE && !(outer && outer->call.correlation));
	begin_frame(f, table, number, args, args_bytes);
	f->mark = gt_tool_frame_mark(f);
	f->calling = true;
	gt_tool_frame = f;
	level = r->depth;
	for (struct gt_tool_subscriber *h = f->subscribers, *end = h + f->count; h < end; h++)
		if (h->how & GT_TOOL_CALLED)
			call_one(f, r, level, h, false);
	gt_tool_level_out(r, level);
	f->calling = false;
	f->start = gt_unlikely(how & GT_TOOL_BUFFERED) ? gt_ticks() : 0;
	if (gt_unlikely(how & GT_TOOL_TIMED))
		f->call.start = gt_ticks_boottime();
	return true;
}

/* Notify tools before the call stack is recorded, because a callback may make calls. */
static __attribute__((noinline)) bool enter_with_stack(struct gt_tool_frame *f,
						       const struct gt_table *table, uint32_t index,
						       uint32_t services, void *args,
						       uint32_t args_bytes)
{
	const uint32_t op = table->operations[index].op;
	bool notified = false;

	f->stacks.start_ns = 0;
	if (atomic_load_explicit(&gt_recording.tools, memory_order_relaxed) ||
	    atomic_load_explicit(&gt_recording.pending, memory_order_relaxed))
		notified = enter_call(f, (uintptr_t)f, table, index, args, args_bytes);
	gt_stacks_enter(&f->stacks, table, op, services);
	f->notified = notified;
	f->op = op;
	return notified || f->stacks.start_ns;
}

bool gt_tool_call_enter(struct gt_tool_frame *f, const struct gt_table *table, uint32_t index,
			void *args, uint32_t args_bytes)
{
	const uint32_t services = gt_tap_services(&table->taps[index]);

	if (gt_likely(!(services & (GT_SERVICE_STACK | GT_SERVICE_SLOW))))
		return enter_call(f, (uintptr_t)f, table, index, args, args_bytes);
	return enter_with_stack(f, table, index, services, args, args_bytes);
}

bool gt_tool_call_enter_at(struct gt_tool_frame *f, uintptr_t at, const struct gt_table *table,
			   uint32_t index, void *args, uint32_t args_bytes)
{
	f->word = gt_stack_word(at);
	return enter_call(f, at, table, index, args, args_bytes);
}

/* Notify of EXIT if a context wants a record, or EXIT in the order of ENTER. */
static void exit_all(struct gt_tool_frame *f, struct gt_tool_reader *r, uint32_t level,
		     uint64_t end)
{
	uint64_t word = 0;

	if (f->start && f->call.ret)
		memcpy(&word, f->call.ret,
		       f->call.ret_bytes < sizeof word ? f->call.ret_bytes : sizeof word);
	for (uint32_t first, last = f->count; last > 0; last = first) {
		first = last - 1;
		while (gt_unlikely(f->subscribers[first].how & GT_TOOL_FORWARD) && first > 0 &&
		       f->subscribers[first - 1].how & GT_TOOL_FORWARD)
			first--;
		for (uint32_t i = first; i < last; i++) {
			struct gt_tool_subscriber *h = &f->subscribers[i];

			if (h->how & GT_TOOL_CALLED)
				call_one(f, r, level, h, true);
			if (h->how & GT_TOOL_BUFFERED &&
			    gt_tool_hold(r, level, h->place, h->generation, true))
				gt_tool_buffer_call(
					gt_tool_pool[h->place].buffered[f->call.domain].buffer, f,
					end, word);
		}
	}
}

static void exit_call(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes)
{
	uint64_t end = f->start ? gt_ticks() : 0;
	struct gt_tool_reader *r = gt_tool_level_in(f->at);

	f->call.phase = GPUTAP_CALL_PHASE_EXIT;
	f->call.ret = ret;
	f->call.ret_bytes = ret_bytes;
	f->calling = true;
	gt_tool_frame = f; /* the called function may have left frames */
	if (gt_likely(r != NULL)) {
		uint32_t level = r->depth;

		/* in a child that was forked during the call, the thread has another id */
		f->call.thread = r->thread;
		if (f->how & (GT_TOOL_BUFFERED | GT_TOOL_FORWARD))
			exit_all(f, r, level, end);
		else
			for (struct gt_tool_subscriber *h = f->subscribers + f->count;
			     h-- > f->subscribers;)
				if (h->how & GT_TOOL_CALLED)
					call_one(f, r, level, h, true);
		gt_tool_level_out(r, level);
	}
	if (f->shared || (f->how & GT_TOOL_RETIRES && f->numbered))
		gt_correlation_leave(f);
	gt_tool_frame = f->outer;
	f->mark = 0;
}

void gt_tool_call_exit(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes)
{
	if (gt_unlikely(f->stacks.start_ns))
		gt_stacks_leave(&f->stacks, f->op);
	if (gt_likely(f->notified))
		exit_call(f, ret, ret_bytes);
}
