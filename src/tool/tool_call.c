/* SPDX-License-Identifier: MIT */
/* Before and after a call that tools are told of.
 *
 *   tap ─► gt_tool_call_enter() ─► ENTER, first context to last ─► the call, recorded or not
 *      ◄── gt_tool_call_exit() ◄── EXIT, last to first, to those that had ENTER ◄──┘
 *
 * The frame lies on the tap's stack; gt_tool_frame is the innermost one of the thread. A callback or a runtime that jumps out
 * (longjmp, an exception) leaves frames behind: whoever comes next finds them deeper in the stack than itself, and takes no
 * notice. What comes in the middle of a call from the runtime itself is not the program's and is not told, where the core says
 * so (an `outermost` API; interposition); what a callback calls is.
 *
 * A call has a number, its correlation, unless all who hear of it asked to do without: then it shares that of the call around it, and
 * what it causes is caused by that one.
 *
 * Never here: locks, allocation (but for a thread's first time), system calls, errno changed. */
#include <string.h>

#include "core/emit.h"
#include "core/external.h"
#include "core/recording.h"
#include "tool/tool.h"
#include "tool/tool_buffer_write.h"
#include "tool/tool_reader.h"

_Thread_local struct gt_tool_frame *gt_tool_frame;

enum { IDS_AT_ONCE = 256 };

static _Alignas(64) _Atomic uint64_t last_correlation;
static _Thread_local uint64_t next_id, ids_end; /* what this thread has taken of them */

/* A counter that all threads write would be the dearest thing in a call: they take many numbers at once, unless a
 * context wants none to be left out. */
uint64_t gt_tool_new_correlation(void)
{
	if (gt_unlikely(atomic_load_explicit(&gt_tool_dense, memory_order_relaxed)))
		return atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
	if (gt_unlikely(next_id == ids_end)) {
		next_id = atomic_fetch_add_explicit(&last_correlation, IDS_AT_ONCE, memory_order_relaxed) + 1;
		ids_end = next_id + IDS_AT_ONCE;
	}
	return next_id++;
}

uint64_t gputap_correlation(void)
{
	const struct gt_tool_frame *f = gt_tool_frame_live(gt_tool_frame, __builtin_frame_address(0));

	return f ? f->call.correlation : 0;
}

void gputap_hide(int hidden)
{
	if (hidden)
		gt_internal_enter();
	else if (gt_thread.internal)
		gt_internal_leave();
}

static bool in_set(const uint64_t *set, uint32_t number)
{
	return set[number / 64] >> (number % 64) & 1;
}

/* Is this call the runtime's own, in the middle of one of the program's? */
static bool is_nested(const struct gt_tool_frame *outer, enum gt_domain domain)
{
	bool outermost = domain == GT_DOMAIN_HIP || domain == GT_DOMAIN_HIP_COMPILER;

	if (!outermost && !gt_skip_nested[domain])
		return false;
	for (const struct gt_tool_frame *f = outer; f && !f->calling; f = gt_tool_frame_live(f->outer, f)) {
		enum gt_domain other = (enum gt_domain)f->call.domain;

		if (other == domain || (outermost && (other == GT_DOMAIN_HIP || other == GT_DOMAIN_HIP_COMPILER)))
			return true;
	}
	return false;
}

/* Does this context want a number for the call, which is made in `f->outer`? */
static bool wants_number(const struct gt_tool_frame *f, const struct gt_tool_context *c, uint32_t how, enum gt_domain domain,
			 uint32_t number)
{
	return gt_likely(!(c->quiet_domains >> domain & 1)) || how & GT_TOOL_BUFFERED || !in_set(c->quiet[domain], number) ||
	       (c->quiet_flags[domain] & GPUTAP_QUIET_ALONE && !(f->outer && f->outer->call.correlation));
}

/* Who wants to hear of it. Return: how many. */
static uint32_t choose(struct gt_tool_frame *f, enum gt_domain domain, uint32_t number)
{
	uint8_t places[GT_TOOL_POOL];
	bool told = false;
	unsigned count;

	f->count = 0;
	f->retires = f->numbered = false;
	if (gt_unlikely(!gt_tool_look()))
		return 0;
	count = gt_tool_order(places);
	for (unsigned i = 0; i < count; i++) {
		const struct gt_tool_context *c = &gt_tool_pool[places[i]];
		uint32_t how = (c->calls[domain].fn && in_set(c->ops[domain], number) ? GT_TOOL_CALLED : 0) |
			       (c->buffered[domain].buffer && in_set(c->buffered[domain].ops, number) ? GT_TOOL_BUFFERED : 0);

		told |= how != 0;
		f->numbered |= how && wants_number(f, c, how, domain, number);
		how |= gt_tool_hears_all_retired(c);
		if (!how)
			continue;
		f->retires |= c->retired || (how & GT_TOOL_BUFFERED && c->buffered[domain].retirement);
		how |= c->flags & GPUTAP_CONTEXT_EXIT_FORWARD ? GT_TOOL_FORWARD : 0;
		how |= how & GT_TOOL_CALLED && c->calls[domain].flags & GPUTAP_CALLS_TIMED ? GT_TOOL_TIMED : 0;
		f->heard[f->count++] = (struct gt_tool_heard){
			places[i], atomic_load_explicit(&c->generation, memory_order_acquire), 0, how};
	}
	gt_tool_look_done();
	f->retires &= f->numbered;
	f->count = told ? f->count : 0;
	return f->count;
}

static void call_one(struct gt_tool_frame *f, struct gt_tool_heard *h)
{
	const struct gt_tool_calls *to = &gt_tool_pool[h->place].calls[f->call.domain];

	if (gt_unlikely(!gt_tool_lock_in(h->place, h->generation, f->call.phase == GPUTAP_PHASE_EXIT))) {
		h->how &= ~(uint32_t)GT_TOOL_CALLED; /* stopped, and wants to hear no end either */
		return;
	}
	to->fn(&f->call, &h->data, to->user);
	gt_tool_lock_out();
}

/* The first call of all, before any tool was started (runtime/tool_start.c). */
static bool starts_tools(void)
{
	void (*start)(void) = atomic_load_explicit(&gt_recording.pending, memory_order_relaxed);

	if (gt_likely(!start))
		return false;
	start();
	return true;
}

bool gt_tool_call_enter(struct gt_tool_frame *f, const struct gt_table *table, uint32_t index, void *args, uint32_t args_bytes)
{
	const uint32_t number = GT_OP_NUMBER(table->operations[index].op);
	struct gt_tool_frame *outer = gt_tool_frame_live(gt_tool_frame, f);
	uint32_t how = 0;

	f->outer = outer;
	if (gt_thread.internal || is_nested(outer, table->domain) ||
	    (!choose(f, table->domain, number) && !(starts_tools() && choose(f, table->domain, number))))
		return false;
	f->shared = NULL;
	f->call = (struct gputap_call){
		.size = sizeof f->call,
		.domain = table->domain,
		.operation = number,
		.phase = GPUTAP_PHASE_ENTER,
		.instance = table->instance,
		.thread = gt_tool_reader->thread, /* it has looked */
		.correlation = f->numbered ? gt_tool_new_correlation() : outer ? outer->call.correlation : 0,
		.parent = !outer ? 0 : f->numbered ? outer->call.correlation : outer->call.parent,
		.args = args,
		.args_bytes = args_bytes,
	};
	if (gt_unlikely(gt_thread.external))
		gt_external_tops(f->call.external);
	f->mark = gt_tool_frame_mark(f);
	f->calling = true;
	gt_tool_frame = f;
	for (uint32_t i = 0; i < f->count; i++) {
		if (f->heard[i].how & GT_TOOL_CALLED)
			call_one(f, &f->heard[i]);
		how |= f->heard[i].how;
	}
	f->calling = false;
	f->start = how & GT_TOOL_BUFFERED ? gt_ticks() : 0;
	f->call.start = how & GT_TOOL_TIMED ? gt_ticks_boottime() : 0;
	return true;
}

static void write_record(const struct gt_tool_frame *f, const struct gt_tool_heard *h, uint64_t end, uint64_t ret)
{
	if (!gt_tool_lock_in(h->place, h->generation, true))
		return;
	gt_tool_buffer_call(gt_tool_pool[h->place].buffered[f->call.domain].buffer, f, end, ret);
	gt_tool_lock_out();
}

void gt_tool_call_exit(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes)
{
	uint64_t end = f->start ? gt_ticks() : 0, word = 0;

	f->call.phase = GPUTAP_PHASE_EXIT;
	if (gt_likely(gt_tool_reader != NULL))
		f->call.thread = gt_tool_reader->thread; /* another one in the child of a fork in the middle of the call */
	f->call.ret = ret;
	f->call.ret_bytes = ret_bytes;
	f->calling = true;
	gt_tool_frame = f; /* what was called may have left frames behind */
	if (f->start && ret)
		memcpy(&word, ret, ret_bytes < sizeof word ? ret_bytes : sizeof word);
	for (uint32_t first, last = f->count; last > 0; last = first) {
		first = last - 1;
		while (gt_unlikely(f->heard[first].how & GT_TOOL_FORWARD) && first > 0 && f->heard[first - 1].how & GT_TOOL_FORWARD)
			first--;
		for (uint32_t i = first; i < last; i++) {
			if (f->heard[i].how & GT_TOOL_CALLED)
				call_one(f, &f->heard[i]);
			if (f->heard[i].how & GT_TOOL_BUFFERED)
				write_record(f, &f->heard[i], end, word);
		}
	}
	if (f->shared || f->retires)
		gt_correlation_leave(f);
	gt_tool_frame = f->outer;
	f->mark = 0;
}
