/* SPDX-License-Identifier: MIT */
/* Tracks the GPU activities that tools are notified of, from submission to completion.
 *
 *   pool ── take ──► activity {cause, thread} ── enter ──► in flight ─┬─ exit ─┬─► done list
 *                                                                    └─ done ─┘
 *   done list ── deliver ──► pool
 *
 * EXIT (in the submitting thread) and the end (in a helper) happen in any order. Each of the two
 * threads sets a bit, and the thread that sets the second bit puts the activity on the done list
 * (tool_complete.c).
 *
 * Locking: none.
 * Never here: malloc. System calls only if a caller lets the pool grow. */
#include "tool/tool_activity_item.h"

#include <errno.h>

#include "core/external.h"
#include "core/subscriber.h"
#include "tool/tool_reader.h"

enum { EXITED = 1, DONE = 2, DROPPED = 4 };

static struct gt_tool_stock items = {.entry_bytes = sizeof(struct gt_tool_activity)};
static _Atomic uint64_t lost, lost_notified;
/* last numbers assigned: [1] to a dispatch, [0] to any other activity */
static _Alignas(64) _Atomic uint64_t numbers[GT_DOMAIN_COUNT][2];

struct gt_tool_activity *gt_tool_activity_at(uint32_t index)
{
	return (struct gt_tool_activity *)(void *)gt_tool_stock_at(&items, index);
}

/* Return true for a call of a high-level API whose activities come from a lower domain (HIP, whose
 * activities come from HSA). */
static bool is_users_call(const struct gt_tool_frame *f)
{
	return gt_domain_delegates((enum gt_domain)f->call.domain);
}

/* Find the call that causes an activity which this thread submits now: the enclosing call of a
 * high-level API, or else the innermost call. If a context wants the innermost call, prefer that
 * call. */
static struct gt_tool_frame *find_cause(void)
{
	struct gt_tool_frame *first = gt_tool_open_call(), *f;

	while (first && !first->numbered)
		first = first->outer;
	if (atomic_load_explicit(&gt_tool_innermost, memory_order_relaxed))
		return first;
	for (f = first; f && !(f->numbered && is_users_call(f));
	     f = gt_tool_frame_live(f->outer, f->at))
		;
	return f ? f : first;
}

/* Set the cause. An activity without a causing call gets a number once it has a subscriber. */
static void set_cause(struct gt_tool_activity *p, struct gt_tool_frame *f, bool may_grow)
{
	p->shared = f ? gt_correlation_get(f) : gt_correlation_new(0, may_grow);
	p->activity.correlation = f ? f->call.correlation : 0;
	p->api = f && is_users_call(f) &&
		 !atomic_load_explicit(&gt_tool_innermost, memory_order_relaxed);
}

struct gt_tool_activity *gt_tool_activity_take(enum gt_domain domain, bool may_grow)
{
	struct gt_tool_activity *p = gt_tool_stock_take(&items, may_grow);

	if (gt_unlikely(!p)) {
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
		return NULL;
	}
	atomic_store_explicit(&p->epoch, atomic_load_explicit(gt_epoch, memory_order_relaxed),
			      memory_order_relaxed);
	p->count = 0;
	atomic_store_explicit(&p->state, 0, memory_order_relaxed);
	p->activity = (struct gputap_activity){.size = sizeof p->activity,
					       .domain = (enum gputap_domain)domain,
					       .thread = gt_tool_thread()};
	gt_external_tops(p->activity.external);
	set_cause(p, find_cause(), may_grow);
	return p;
}

void gt_tool_activity_submitting(struct gt_tool_activity *p)
{
	struct gt_correlation *old = p->shared;
	struct gt_tool_frame *f;

	if (p->api || p->activity.thread != gt_tool_thread() || !(f = find_cause()) ||
	    f->call.correlation == p->activity.correlation)
		return;
	set_cause(p, f, false);
	if (old)
		gt_correlation_put(old);
}

void gt_tool_activity_give(struct gt_tool_activity *p)
{
	if (p->shared)
		gt_correlation_put(p->shared);
	atomic_store_explicit(&p->waited_for, 0, memory_order_release);
	gt_tool_stock_give(&items, &p->entry);
}

/* Choose the subscribers. Return false if the activity has no subscriber. */
static bool choose_item_readers(struct gt_tool_activity *p)
{
	uint64_t bit = GPUTAP_ACTIVITY_BIT(p->activity.type);
	uint32_t domain = p->activity.domain;
	uint8_t places[GT_TOOL_POOL];
	uint64_t waited_for = 0;
	bool is_notified = false;
	unsigned count;

	if (atomic_load_explicit(&gt_tool_ended, memory_order_relaxed) || !gt_tool_look())
		return false;
	count = gt_tool_order(places);
	for (unsigned i = 0; i < count; i++) {
		const struct gt_tool_context *c = &gt_tool_pool[places[i]];
		uint32_t how = (c->activities[domain].fn && c->activities[domain].types & bit
					? GT_TOOL_CALLED
					: 0) |
			       (c->buffered[domain].buffer && c->buffered[domain].types & bit
					? GT_TOOL_BUFFERED
					: 0);

		is_notified |= how != 0;
		waited_for |= how && p->count < GT_TOOL_SUBSCRIBERS ? UINT64_C(1) << places[i] : 0;
		how |= gt_tool_wants_all_retired(c);
		if (how && p->count < GT_TOOL_SUBSCRIBERS)
			p->subscribers[p->count++] = (struct gt_tool_subscriber){
				places[i],
				atomic_load_explicit(&c->generation, memory_order_acquire), 0, how};
		else if (how)
			atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	}
	gt_tool_look_done();
	if (is_notified)
		atomic_store_explicit(&p->waited_for, waited_for, memory_order_release);
	return is_notified;
}

/* An entry that is returned and reused during the count counts as either the old or the new
 * activity. */
uint64_t gt_tool_activity_open(uint32_t place)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed),
		 end = gt_tool_stock_count(&items);
	uint64_t count = 0;

	for (uint32_t i = 0; i < end; i++) {
		const struct gt_tool_activity *p = gt_tool_stock_look(&items, i);

		count += p &&
			 atomic_load_explicit(&p->waited_for, memory_order_acquire) >> place & 1 &&
			 atomic_load_explicit(&p->epoch, memory_order_relaxed) == epoch;
	}
	return count;
}

void gt_tool_activity_forget(uint32_t place)
{
	uint32_t end = gt_tool_stock_count(&items);

	for (uint32_t i = 0; i < end; i++) {
		struct gt_tool_activity *p = gt_tool_stock_look(&items, i);

		if (p)
			atomic_fetch_and_explicit(&p->waited_for, ~(UINT64_C(1) << place),
						  memory_order_relaxed);
	}
}

void gt_tool_activity_notify(struct gt_tool_activity *p, struct gt_tool_subscriber *h)
{
	const struct gt_tool_activities *to =
		&gt_tool_pool[h->place].activities[p->activity.domain];
	uint32_t phase = p->activity.phase;
	bool before;

	if (!(h->how & GT_TOOL_CALLED))
		return;
	if (gt_unlikely(!gt_tool_lock_in(h->place, h->generation,
					 phase != GPUTAP_ACTIVITY_PHASE_ENTER))) {
		h->how &= ~(uint32_t)GT_TOOL_CALLED;
		return;
	}
	before = gt_tool_calling(true);
	to->fn(&p->activity, &h->data, to->user);
	gt_tool_calling(before);
	gt_tool_lock_out();
}

bool gt_tool_activity_enter(struct gt_tool_activity *p)
{
	int saved = errno;

	if (!choose_item_readers(p)) {
		gt_tool_activity_give(p);
		return false;
	}
	if (!p->activity.correlation) {
		p->activity.correlation = gt_tool_new_correlation();
		if (p->shared)
			gt_correlation_number(p->shared, p->activity.correlation);
	}
	if (p->shared)
		gt_correlation_subscribe(p->shared, p->activity.domain, p->subscribers, p->count);
	p->activity.number = atomic_fetch_add_explicit(&numbers[p->activity.domain][p->dispatch], 1,
						       memory_order_relaxed) +
			     1;
	p->began = gt_ticks_boottime();
	p->activity.phase = GPUTAP_ACTIVITY_PHASE_ENTER;
	for (uint32_t i = 0; i < p->count; i++) {
		p->entering = i + 1;
		gt_tool_activity_notify(p, &p->subscribers[i]);
	}
	p->entered = gt_ticks_boottime();
	errno = saved;
	return true;
}

/* Free or deliver an activity whose EXIT and end have both been recorded. */
static void settle(struct gt_tool_activity *p, uint32_t state)
{
	if (state & DROPPED)
		gt_tool_activity_give(p);
	else
		gt_tool_activity_is_done(p);
}

void gt_tool_activity_exit(struct gt_tool_activity *p)
{
	int saved = errno;
	uint32_t before;

	p->activity.phase = GPUTAP_ACTIVITY_PHASE_EXIT;
	for (uint32_t i = p->count; i-- > 0;)
		gt_tool_activity_notify(p, &p->subscribers[i]);
	before = atomic_fetch_or_explicit(&p->state, EXITED, memory_order_acq_rel);
	if (before)
		settle(p, before);
	errno = saved;
}

void gt_tool_activity_left(struct gt_tool_activity *p)
{
	uint32_t before;

	if (p->activity.phase == GPUTAP_ACTIVITY_PHASE_ENTER) {
		for (uint32_t i = p->entering; i < p->count; i++)
			p->subscribers[i].how &= ~(uint32_t)GT_TOOL_CALLED;
		p->entered = gt_ticks_boottime();
	}
	before = atomic_fetch_or_explicit(&p->state, EXITED, memory_order_acq_rel);
	if (before)
		settle(p, before);
}

void gt_tool_activity_abandon(void)
{
	atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

void gt_tool_activity_drop(struct gt_tool_activity *p, bool counted)
{
	if (counted)
		atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
	if (atomic_fetch_or_explicit(&p->state, DROPPED, memory_order_acq_rel) & EXITED)
		gt_tool_activity_give(p);
}

/* Clamp times that lie before the submission or in the future. Such times result from small errors
 * in the runtime's conversion of its clock. */
static void clamp_times(const struct gt_tool_activity *p, uint64_t *start, uint64_t *end)
{
	uint64_t now = gt_ticks_boottime();

	if (!*start && !*end)
		return;
	if (*end > now) {
		*start -= *end - now < *start ? *end - now : *start;
		*end = now;
	}
	if (*start < p->entered) {
		*end += p->entered - *start;
		*start = p->entered;
		*end = *end < now ? *end : now;
	}
	if (*end <= *start)
		*end = *start + 1;
}

void gt_tool_activity_done(struct gt_tool_activity *p, int32_t status, uint64_t start, uint64_t end)
{
	clamp_times(p, &start, &end);
	p->done_status = status;
	p->done_start = start;
	p->done_end = end;
	if (atomic_fetch_or_explicit(&p->state, DONE, memory_order_acq_rel) & EXITED)
		gt_tool_activity_is_done(p);
}

static void notify_loss(uint64_t n)
{
	uint64_t is_notified = atomic_exchange_explicit(&lost_notified, n, memory_order_relaxed);

	if (n > is_notified)
		gt_subscribers_event(GT_EVENT_LOSS, GT_DOMAIN_NONE, n - is_notified,
				     "GPU activities not delivered to tools, or without their end");
}

void gt_tool_notify_loss(void)
{
	uint64_t n = atomic_load_explicit(&lost, memory_order_relaxed);

	if (gt_unlikely(n != atomic_load_explicit(&lost_notified, memory_order_relaxed)))
		notify_loss(n);
}

uint64_t gt_tool_activity_lost(void)
{
	return atomic_load_explicit(&lost, memory_order_relaxed);
}
