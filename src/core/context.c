/* SPDX-License-Identifier: MIT */
/* See context.h. GT_SERVICE_WRAP is never removed once a table has it: changes made by a wrap (such
 * as enabling profiling in a queue) must stay hidden from the program for its whole life, even
 * while nothing is recorded. */
#include "core/context.h"

#include <string.h>

#include "core/range_window.h"
#include "core/recording.h"
#include "core/stacks.h"

/* Services that end with recording. */
enum {
	RECORDING_SERVICES = GT_SERVICE_STREAM | GT_SERVICE_ACTIVITY | GT_SERVICE_ORDER |
			     GT_SERVICE_STACK | GT_SERVICE_SLOW
};

_Atomic(struct gt_table *) gt_tables[GT_TABLES_MAX];

GT_AT_START _Atomic uint64_t gt_stream_activity, gt_stream_launches;

static struct gt_context session_context;
static GT_AT_START struct gt_context *contexts;

static bool in_set(const uint64_t set[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64], uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op), number = GT_OP_NUMBER(op);

	return number < GT_OPS_PER_DOMAIN && (set[domain][number / 64] >> (number % 64) & 1);
}

static bool context_asks(const struct gt_context *c, uint32_t op)
{
	return c->ops && c->domains >> GT_OP_DOMAIN(op) & 1 && in_set(c->ops, op);
}

static bool asks_activity(const struct gt_context *c, uint32_t op)
{
	return c->device_activity && c->activity && c->domains >> GT_OP_DOMAIN(op) & 1 &&
	       in_set(c->activity, op);
}

/* Return true if a call of the domain, or the GPU activities of one, are to be recorded. */
static bool records_domain(const struct gt_context *c, unsigned domain)
{
	for (size_t i = 0; c->domains >> domain & 1 && i < GT_OPS_PER_DOMAIN / 64; i++)
		if ((c->ops && c->ops[domain][i]) || (c->activity && c->activity[domain][i]))
			return true;
	return false;
}

static bool asks_domain(const struct gt_context *c, unsigned domain)
{
	return records_domain(c, domain) || c->notify_activity >> domain & 1;
}

static bool notifies_of_domain(const struct gt_context *c, unsigned domain)
{
	for (size_t i = 0; i < GT_OPS_PER_DOMAIN / 64; i++)
		if (c->notify[domain][i])
			return true;
	return false;
}

/* Return true if the context requests a domain whose GPU activities are recorded together with the
 * activities of @domain. gputap notices such activities through the functions of all these domains
 * (HIP's activities through HSA's functions), even if no call of these domains is recorded. */
static bool asks_activity_of(const struct gt_context *c, unsigned domain)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		if (gt_domain_traits[d].activity == gt_domain_traits[domain].activity &&
		    asks_domain(c, d))
			return true;
	return false;
}

/* Return true if the context notifies tools of calls of a domain whose GPU activities are recorded
 * together with the activities of @domain. */
static bool notifies_of_activity_of(const struct gt_context *c, unsigned domain)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		if (gt_domain_traits[d].activity == gt_domain_traits[domain].activity &&
		    notifies_of_domain(c, d))
			return true;
	return false;
}

/* Return true if this operation's wrap is needed, for GPU activities or because a tool observes all
 * calls. */
static bool needs_wrap(const struct gt_context *c, const struct gt_operation *operation)
{
	unsigned domain = GT_OP_DOMAIN(operation->op);

	if (!operation->wrap)
		return false;
	/* ranges are counted even if they are not recorded */
	if (operation->wrap_always && gt_domain_traits[domain].marks && gt_range_window_is_asked())
		return true;
	if (operation->wrap_always && notifies_of_activity_of(c, domain))
		return true;
	return (operation->wrap_always || c->device_activity || c->notify_activity) &&
	       asks_activity_of(c, domain);
}

/* Return true if activities that this operation waits for must be harvested when it returns.
 * Applies even during pauses, because the activities may have been launched before the pause. */
static bool needs_harvest(const struct gt_operation *operation)
{
	for (const struct gt_context *c = operation->also & GT_ALSO_WAITS ? contexts : NULL; c;
	     c = c->next)
		if ((c->device_activity || c->notify_activity) &&
		    asks_activity_of(c, GT_OP_DOMAIN(operation->op)))
			return true;
	return false;
}

/* Return true if the tap must not call straight through even if the call is not recorded. */
static bool goes_another_way(const struct gt_operation *operation)
{
	return (operation->also & GT_ALSO_ORDER && gt_tap_options.submit_orders) ||
	       needs_harvest(operation);
}

bool gt_contexts_ask(const struct gt_operation *operation)
{
	for (const struct gt_context *c = contexts; c; c = c->next)
		if (context_asks(c, operation->op) || in_set(c->notify, operation->op) ||
		    needs_wrap(c, operation))
			return true;
	return goes_another_way(operation);
}

/* Return true if a tool requests notification of a call that bypasses its tap. */
static bool misses_calls(const struct gt_table *table)
{
	for (uint32_t i = 0; i < table->operation_count; i++)
		for (const struct gt_context *c = table->taps[i].left_out ? contexts : NULL; c;
		     c = c->next)
			if (in_set(c->notify, table->operations[i].op))
				return true;
	return false;
}

uint64_t gt_contexts_find_missed(void)
{
	uint64_t domains = 0;

	gt_core_lock();
	for (int i = 0; i < GT_TABLES_MAX; i++) {
		const struct gt_table *t =
			atomic_load_explicit(&gt_tables[i], memory_order_relaxed);

		if (t && misses_calls(t))
			domains |= GT_DOMAIN_BIT(t->domain);
	}
	gt_core_unlock();
	return domains;
}

static uint32_t services_of(const struct gt_operation *operation, uint32_t before)
{
	uint32_t services = before & GT_SERVICE_WRAP, notify = 0;

	for (const struct gt_context *c = contexts; c; c = c->next) {
		if ((c->started || (c == &session_context && operation->also & GT_ALSO_PAUSED)) &&
		    context_asks(c, operation->op))
			services |= GT_SERVICE_STREAM;
		if (c->started && in_set(c->notify, operation->op))
			notify = GT_SERVICE_NOTIFY;
		if (needs_wrap(c, operation))
			services |= GT_SERVICE_WRAP;
		if (c->started && (services & GT_SERVICE_WRAP) && asks_activity(c, operation->op))
			services |= GT_SERVICE_ACTIVITY;
	}
	if (!(services & GT_SERVICE_STREAM) && goes_another_way(operation))
		services |= GT_SERVICE_ORDER;
	if (session_context.started && context_asks(&session_context, operation->op))
		services |= gt_stacks_services(operation->op);
	if (atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		services &= ~(uint32_t)RECORDING_SERVICES;
	if (services & (GT_SERVICE_STACK | GT_SERVICE_SLOW))
		notify = GT_SERVICE_NOTIFY;
	/* the first call starts the tools, or the thread that follows the session's control */
	if (atomic_load_explicit(&gt_recording.pending, memory_order_relaxed) ||
	    atomic_load_explicit(&gt_control_pending, memory_order_relaxed))
		notify = GT_SERVICE_NOTIFY;
	return services | notify;
}

void gt_contexts_apply(struct gt_table *table)
{
	for (uint32_t i = 0; i < table->operation_count; i++) {
		_Atomic uint32_t *word = &table->taps[i].services;
		uint32_t before = atomic_load_explicit(word, memory_order_relaxed);

		atomic_store_explicit(word, services_of(&table->operations[i], before),
				      memory_order_relaxed);
	}
}

static void apply_all(void)
{
	for (int i = 0; i < GT_TABLES_MAX; i++) {
		struct gt_table *table = atomic_load_explicit(&gt_tables[i], memory_order_acquire);

		if (table)
			gt_contexts_apply(table);
	}
	/* recording may have ended between the loads and the stores above */
	if (atomic_load_explicit(&gt_recording.off, memory_order_seq_cst))
		gt_contexts_off();
}

void gt_contexts_off(void)
{
	for (int i = 0; i < GT_TABLES_MAX; i++) {
		struct gt_table *table = atomic_load_explicit(&gt_tables[i], memory_order_acquire);

		for (uint32_t n = 0; table && n < table->operation_count; n++)
			atomic_fetch_and_explicit(&table->taps[n].services,
						  ~(uint32_t)RECORDING_SERVICES,
						  memory_order_relaxed);
	}
}

/* Return the domains whose GPU activities a context requests. */
static uint64_t activity_domains(const struct gt_context *c)
{
	uint64_t domains = 0;

	for (unsigned d = 0; c->device_activity && d < GT_DOMAIN_COUNT; d++)
		if (records_domain(c, d))
			domains |= GT_DOMAIN_BIT(gt_domain_traits[d].activity);
	return domains;
}

/* Sets two words, because activities launched before a pause are recorded even if they complete
 * during the pause. */
static void note_stream_activity(void)
{
	uint64_t domains = 0, launches = 0;

	for (const struct gt_context *c = contexts; c; c = c->next) {
		uint64_t asked = activity_domains(c);

		domains |= asked;
		launches |= c->started ? asked : 0;
	}
	atomic_store_explicit(&gt_stream_activity, domains, memory_order_relaxed);
	atomic_store_explicit(&gt_stream_launches, launches, memory_order_relaxed);
}

void gt_contexts_refresh_locked(void)
{
	apply_all();
}

void gt_contexts_refresh(void)
{
	gt_core_lock();
	apply_all();
	gt_core_unlock();
}

static bool is_linked(const struct gt_context *c)
{
	const struct gt_context *k = contexts;

	while (k && k != c)
		k = k->next;
	return k;
}

static void link_context(struct gt_context *c)
{
	if (!is_linked(c)) {
		c->next = contexts;
		contexts = c;
	}
	note_stream_activity();
}

void gt_contexts_init(const struct gt_session *session)
{
	struct gt_context *c = &session_context;

	c->domains = session->domains;
	c->ops = session->ops;
	c->activity = session->activity;
	c->device_activity = session->device_activity != 0;
	gt_core_lock();
	c->started = !atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed);
	atomic_store_explicit(&gt_control_pending, !c->started, memory_order_relaxed);
	link_context(c);
	apply_all();
	gt_core_unlock();
}

void gt_context_add(struct gt_context *c)
{
	gt_core_lock();
	link_context(c);
	gt_core_unlock();
}

void gt_context_remove(struct gt_context *c)
{
	gt_core_lock();
	for (struct gt_context **at = &contexts; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	note_stream_activity();
	apply_all();
	gt_core_unlock();
}

void gt_context_set_started(struct gt_context *c, bool started)
{
	c->started = started;
	note_stream_activity();
	apply_all();
}

GT_AT_START void (*gt_contexts_changed_hook)(void);

void gt_session_set_started(bool started)
{
	gt_context_set_started(&session_context, started);
}

bool gt_session_asks(uint32_t op)
{
	return context_asks(&session_context, op);
}

bool gt_session_asks_activity(uint32_t op)
{
	return session_context.device_activity &&
	       (context_asks(&session_context, op) || asks_activity(&session_context, op));
}
