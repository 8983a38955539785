/* SPDX-License-Identifier: MIT */
/* See activity_token.h. The submitting thread (after EXIT) and the thread that detects the
 * completion each decrement `left`. The later of the two threads returns the token to the pool. */
#include "runtime/activity_token.h"

#include "core/context.h"
#include "core/emit.h"
#include "core/external.h"
#include "tool/tool_stock.h"
#include "tool/tool_activity.h"

struct gt_activity {
	struct gt_tool_entry entry;
	_Atomic uint32_t left; /* number of steps still to come: submitted, completed */
	uint32_t epoch;        /* process in which the activity was submitted */
	bool recorded;
	uint64_t id, call_start;
	struct gt_activity_info what;
	struct gt_tool_activity *tool_activity; /* NULL: no tool wants the activity */
};

static struct gt_tool_stock stock = {.entry_bytes = sizeof(struct gt_activity)};

static bool is_recorded(const struct gt_call *call, enum gt_domain domain)
{
	return call->thread && atomic_load_explicit(&gt_stream_launches, memory_order_relaxed) >>
					       gt_domain_traits[domain].activity &
				       1;
}

/* Notify tools with ENTER. Return the tool activity; NULL: no tool wants the activity. */
static struct gt_tool_activity *notify_enter(const struct gt_activity_info *what)
{
	struct gt_tool_activity *p;

	if (!(gt_tool_activity_asked(what->domain) & GPUTAP_ACTIVITY_BIT(what->op)))
		return NULL;
	p = gt_tool_activity_take(what->domain, true);
	if (!p)
		return NULL;
	p->dispatch = what->op == GT_DEVICE_KERNEL;
	p->activity.type = (enum gputap_activity_type)what->op;
	p->activity.device = what->device;
	p->activity.device_handle = what->device_handle;
	p->activity.queue = what->queue;
	p->activity.queue_handle = what->queue_handle;
	p->activity.name = what->name ? gt_string_text(what->name) : NULL;
	p->activity.bytes = what->bytes;
	p->activity.source = what->source;
	p->activity.destination = what->destination;
	p->activity.group_bytes = what->group_bytes;
	p->activity.private_bytes = what->private_bytes;
	p->activity.graph = what->graph;
	p->activity.replay = what->replay;
	p->activity.ordinal = what->ordinal;
	for (int i = 0; i < 3; i++) {
		p->activity.grid[i] = what->grid[i];
		p->activity.group[i] = what->block[i];
	}
	return gt_tool_activity_enter(p) ? p : NULL;
}

struct gt_activity *gt_activity_begin(const struct gt_call *call,
				      const struct gt_activity_info *what)
{
	bool recorded = is_recorded(call, what->domain);
	struct gt_tool_activity *tool_activity = notify_enter(what);
	struct gt_activity *w;

	if (!recorded && !tool_activity)
		return NULL;
	w = gt_tool_stock_take(&stock, true);
	if (!w) {
		if (recorded) {
			gt_device_seen(call->thread, what->domain);
			gt_drop(call->thread, GT_CLASS_DEVICE, what->domain, GT_DROP_POOL);
		}
		if (tool_activity) {
			gt_tool_activity_exit(tool_activity);
			gt_tool_activity_drop(tool_activity, true);
		}
		return NULL;
	}
	w->recorded = recorded;
	w->epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	w->id = call->id;
	w->call_start = call->start;
	w->what = *what;
	w->tool_activity = tool_activity;
	atomic_store_explicit(&w->left, 2, memory_order_release);
	return w;
}

static void put_token(struct gt_activity *w)
{
	if (atomic_fetch_sub_explicit(&w->left, 1, memory_order_acq_rel) == 1)
		gt_tool_stock_give(&stock, &w->entry);
}

void gt_activity_submitted(struct gt_activity *w)
{
	if (!w)
		return;
	if (w->recorded) /* not earlier, because a refused launch is not a GPU activity */
		gt_device_seen(gt_thread_own(), w->what.domain);
	if (w->tool_activity)
		gt_tool_activity_exit(w->tool_activity);
	put_token(w);
}

void gt_activity_refused(struct gt_activity *w)
{
	if (!w)
		return;
	if (w->tool_activity) {
		gt_tool_activity_exit(w->tool_activity);
		gt_tool_activity_drop(w->tool_activity, false);
	}
	gt_tool_stock_give(&stock, &w->entry);
}

static void write_item(struct gt_thread *t, const struct gt_activity *w, int32_t status,
		       const struct gt_activity_times *times)
{
	struct gt_record_device *r = gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, w->what.domain);

	if (!r)
		return;
	*r = (struct gt_record_device){
		.head = {sizeof *r / 8, GT_RECORD_DEVICE, (uint8_t)w->what.op,
			 GT_DEVICE_REF(w->what.domain, w->what.device)},
		.id = w->id,
		.call_start = w->call_start,
		.queue = w->what.queue | (uint64_t)w->what.graph << 32,
		.name = w->what.name,
		.status = status,
		.queued = times->queued,
		.submitted = times->submitted,
		.start = times->start,
		.end = times->end,
		.bytes = w->what.bytes,
		.object = {w->what.source,
			   w->what.symbol ? GT_KERNEL_DETAIL(w->what.symbol, w->what.group_bytes,
							     w->what.private_bytes)
					  : w->what.destination},
		.global = {w->what.grid[0], w->what.grid[1], w->what.grid[2]},
		.local = {w->what.block[0], w->what.block[1], w->what.block[2]},
		.ordinal = w->what.ordinal,
		.replay = w->what.replay,
	};
	gt_ring_commit(t, sizeof *r);
}

/* Write GT_EVENT_CLOCK after 1, 2, 4, 8 and so on invalid times. */
static void report_broken_clock(enum gt_domain domain)
{
	static _Atomic uint64_t seen, reported;
	uint64_t n = atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed) + 1;

	if ((n & (n - 1)) == 0)
		gt_event_write(gt_thread_own(), GT_EVENT_CLOCK, domain,
			       n - atomic_exchange(&reported, n), "activity ends before it starts");
}

void gt_activity_completed(struct gt_activity *w, int32_t status,
			   const struct gt_activity_times *times, uint64_t start_ns,
			   uint64_t end_ns)
{
	struct gt_thread *t;

	if (!w || w->epoch != atomic_load_explicit(gt_epoch, memory_order_relaxed))
		return;
	if (times->end < times->start && times->end)
		report_broken_clock(w->what.domain);
	t = w->recorded ? gt_thread_own() : NULL;
	if (t)
		write_item(t, w, status, times);
	if (w->tool_activity) {
		gt_tool_activity_done(w->tool_activity, status, start_ns, end_ns);
		gt_tool_deliver();
	}
	put_token(w);
}
