/* SPDX-License-Identifier: MIT */
/* Retires the correlation id of a call once the call and its activities have ended.
 *
 * A call that causes activities has a gt_correlation. The open call and each activity hold a
 * reference to the correlation, which retires when the last reference is put. Meanwhile the
 * correlation collects the contexts to notify, one bit for each slot: contexts that were notified
 * of the call, and contexts that were notified of its activities. A call without activities needs
 * no correlation object: its id retires when the call returns.
 *
 * Locking: none. */
#include "tool/tool_activity_item.h"

#include <errno.h>

#include "tool/tool_reader.h"

struct gt_correlation {
	struct gt_tool_entry entry;
	_Atomic uint32_t references;
	_Atomic uint32_t retired;
	/* process that created the correlation; 0 before the fields are written */
	uint32_t epoch;
	uint64_t id;
	_Atomic uint64_t last; /* latest end of a step that contexts were notified of, ns */
	uint32_t call_domain;
	_Atomic uint32_t activity_domain;
	_Atomic uint64_t called; /* slots notified with a callback */
	/* slots whose buffer for the call's domain gets a record */
	_Atomic uint64_t call_recorded;
	/* slots whose buffer for the activities' domain gets a record */
	_Atomic uint64_t activity_recorded;
	_Atomic uint32_t generation[GT_TOOL_POOL];
};

static struct gt_tool_stock correlations = {.entry_bytes = sizeof(struct gt_correlation)};

/* Slots to notify of a retirement, by callback and by record. */
struct retiring {
	uint64_t id, time;
	uint64_t called, call_recorded, activity_recorded;
	uint32_t call_domain, activity_domain;
};

static bool wants_retirement(const struct gt_tool_context *c)
{
	if (c->retired)
		return true;
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		if (c->buffered[d].retirement)
			return true;
	return false;
}

static bool is_retirement_wanted(void)
{
	uint8_t places[GT_TOOL_POOL];
	bool wanted = false;
	unsigned count;

	if (!gt_tool_look())
		return false;
	count = gt_tool_order(places);
	for (unsigned i = 0; i < count && !wanted; i++)
		wanted = wants_retirement(&gt_tool_pool[places[i]]);
	gt_tool_look_done();
	return wanted;
}

static void call_retired(const struct retiring *r, const struct gt_tool_context *c)
{
	bool before = gt_tool_calling(true);

	c->retired(r->id, r->time, c->retired_user);
	gt_tool_calling(before);
}

static void retire_for(const struct retiring *r, uint32_t place, uint32_t generation)
{
	const struct gputap_record_retired record = {r->id, r->time};
	const struct gt_tool_context *c = &gt_tool_pool[place];
	struct gputap_buffer *of_call = NULL, *of_activity = NULL;

	if (!gt_tool_lock_in(place, generation, true))
		return;
	if (r->call_recorded >> place & 1 && c->buffered[r->call_domain].retirement)
		of_call = c->buffered[r->call_domain].buffer;
	if (r->activity_recorded >> place & 1 && c->buffered[r->activity_domain].retirement)
		of_activity = c->buffered[r->activity_domain].buffer;
	if (of_call)
		gt_tool_buffer_write_ticks(of_call, GPUTAP_RECORD_RETIRED, &record, sizeof record,
					   0, 0, true);
	if (of_activity && of_activity != of_call)
		gt_tool_buffer_write_ticks(of_activity, GPUTAP_RECORD_RETIRED, &record,
					   sizeof record, 0, 0, true);
	if (r->called >> place & 1 && c->retired)
		call_retired(r, c);
	gt_tool_lock_out();
}

/* Notify contexts last to first, then contexts that are only finishing. */
static void retire(const struct retiring *r, const _Atomic uint32_t *generations)
{
	uint64_t left = r->called | r->call_recorded | r->activity_recorded;
	uint8_t places[GT_TOOL_POOL];
	int saved = errno;

	for (unsigned i = left ? gt_tool_order(places) : 0; i-- > 0;)
		if (left >> places[i] & 1) {
			left &= ~(UINT64_C(1) << places[i]);
			retire_for(r, places[i],
				   atomic_load_explicit(&generations[places[i]],
							memory_order_relaxed));
		}
	for (; left; left &= left - 1) {
		uint32_t place = (uint32_t)__builtin_ctzll(left);

		retire_for(r, place,
			   atomic_load_explicit(&generations[place], memory_order_relaxed));
	}
	errno = saved;
}

/* Retire a correlation that has no references, or any correlation at the end of the process. */
static void retire_shared(struct gt_correlation *c)
{
	struct retiring r = {.id = c->id,
			     .time = gt_ticks_boottime(),
			     .call_domain = c->call_domain};
	uint64_t last = atomic_load_explicit(&c->last, memory_order_relaxed);

	if (atomic_exchange_explicit(&c->retired, 1, memory_order_relaxed))
		return;
	r.time = r.time > last ? r.time : last + 1;
	r.called = atomic_load_explicit(&c->called, memory_order_acquire);
	r.call_recorded = atomic_load_explicit(&c->call_recorded, memory_order_acquire);
	r.activity_recorded = atomic_load_explicit(&c->activity_recorded, memory_order_acquire);
	r.activity_domain = atomic_load_explicit(&c->activity_domain, memory_order_relaxed);
	retire(&r, c->generation);
}

/* Add the call's subscribers. */
static void add_frame(const struct gt_tool_frame *f, struct retiring *r,
		      _Atomic uint32_t generations[GT_TOOL_POOL])
{
	r->id = f->call.correlation;
	r->call_domain = f->call.domain;
	for (uint32_t i = 0; i < f->count; i++) {
		const struct gt_tool_subscriber *h = &f->subscribers[i];
		uint64_t bit = UINT64_C(1) << h->place;

		r->called |= bit;
		r->call_recorded |= h->how & GT_TOOL_BUFFERED ? bit : 0;
		atomic_store_explicit(&generations[h->place], h->generation, memory_order_relaxed);
	}
}

struct gt_correlation *gt_correlation_new(uint64_t id, bool may_grow)
{
	struct gt_correlation *c =
		is_retirement_wanted() ? gt_tool_stock_take(&correlations, may_grow) : NULL;

	if (!c)
		return NULL;
	c->epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	c->id = id;
	c->call_domain = 0;
	atomic_store_explicit(&c->retired, 0, memory_order_relaxed);
	atomic_store_explicit(&c->last, 0, memory_order_relaxed);
	atomic_store_explicit(&c->activity_domain, 0, memory_order_relaxed);
	atomic_store_explicit(&c->called, 0, memory_order_relaxed);
	atomic_store_explicit(&c->call_recorded, 0, memory_order_relaxed);
	atomic_store_explicit(&c->activity_recorded, 0, memory_order_relaxed);
	atomic_store_explicit(&c->references, 1, memory_order_release);
	return c;
}

void gt_correlation_number(struct gt_correlation *c, uint64_t id)
{
	c->id = id;
}

void gt_correlation_subscribe(struct gt_correlation *c, uint32_t domain,
			      const struct gt_tool_subscriber *subscribers, uint32_t count)
{
	uint64_t called = 0, recorded = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct gt_tool_subscriber *h = &subscribers[i];

		atomic_store_explicit(&c->generation[h->place], h->generation,
				      memory_order_relaxed);
		called |= UINT64_C(1) << h->place;
		if (h->how & GT_TOOL_BUFFERED)
			recorded |= UINT64_C(1) << h->place;
	}
	atomic_store_explicit(&c->activity_domain, domain, memory_order_relaxed);
	atomic_fetch_or_explicit(&c->called, called, memory_order_release);
	if (recorded)
		atomic_fetch_or_explicit(&c->activity_recorded, recorded, memory_order_release);
}

void gt_correlation_reaches(struct gt_correlation *c, uint64_t time)
{
	uint64_t old = atomic_load_explicit(&c->last, memory_order_relaxed);

	while (old < time &&
	       !atomic_compare_exchange_weak_explicit(&c->last, &old, time, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

struct gt_correlation *gt_correlation_get(struct gt_tool_frame *f)
{
	struct retiring r = {0};

	if (!f->shared) {
		f->shared = gt_correlation_new(f->call.correlation, true);
		if (!f->shared)
			return NULL;
		add_frame(f, &r, f->shared->generation);
		f->shared->call_domain = r.call_domain;
		atomic_store_explicit(&f->shared->called, r.called, memory_order_relaxed);
		atomic_store_explicit(&f->shared->call_recorded, r.call_recorded,
				      memory_order_relaxed);
	}
	atomic_fetch_add_explicit(&f->shared->references, 1, memory_order_relaxed);
	return f->shared;
}

void gt_correlation_put(struct gt_correlation *c)
{
	if (atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
		return;
	retire_shared(c);
	gt_tool_stock_give(&correlations, &c->entry);
}

struct gputap_hold *gputap_correlation_hold(void)
{
	struct gt_tool_frame *f = gt_tool_open_call();

	while (f && !f->numbered)
		f = gt_tool_frame_live(f->outer, f->at);
	return (struct gputap_hold *)(f ? gt_correlation_get(f) : NULL);
}

void gputap_correlation_release(struct gputap_hold *hold)
{
	struct gt_correlation *c = (struct gt_correlation *)hold;

	if (!c)
		return;
	gt_correlation_reaches(c, gt_ticks_boottime());
	gt_correlation_put(c);
}

void gt_correlation_leave(struct gt_tool_frame *f)
{
	_Atomic uint32_t generations[GT_TOOL_POOL];
	struct gt_correlation *shared = f->shared;
	struct retiring r = {0};

	if (shared) {
		f->shared = NULL;
		gt_correlation_reaches(shared, gt_ticks_boottime());
		gt_correlation_put(shared);
		return;
	}
	add_frame(f, &r, generations);
	r.time = gt_ticks_boottime();
	retire(&r, generations);
}

static void retire_open_calls(void)
{
	for (struct gt_tool_frame *f = gt_tool_open_call(); f;
	     f = gt_tool_frame_live(f->outer, f->at)) {
		_Atomic uint32_t generations[GT_TOOL_POOL];
		struct retiring r = {.time = gt_ticks_boottime()};

		if (f->shared || !f->numbered)
			/* the id retires with the call's correlation, or with the outer call */
			continue;
		add_frame(f, &r, generations);
		f->count = 0;
		retire(&r, generations);
	}
}

void gt_correlations_end(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	for (uint32_t i = 0;
	     i <
	     atomic_load_explicit(&correlations.chunk_count, memory_order_acquire) * GT_TOOL_CHUNK;
	     i++) {
		struct gt_correlation *c;

		if (!atomic_load_explicit(&correlations.chunks[i / GT_TOOL_CHUNK],
					  memory_order_acquire))
			continue;
		c = (struct gt_correlation *)(void *)gt_tool_stock_at(&correlations, i);
		if (atomic_load_explicit(&c->references, memory_order_acquire) &&
		    (!c->epoch || c->epoch == epoch))
			/* otherwise the correlation depends on activities of a fork's parent */
			retire_shared(c);
	}
	retire_open_calls();
}
