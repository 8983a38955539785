/* SPDX-License-Identifier: MIT */
/* Converts a plug-in's records to gputap's records, in rounds:
 *
 *   1. All completed records of the plug-in are read. Calls and GPU activities arrive in any order,
 *      so a call's record may arrive after the record of its activity.
 *   2. Calls are sorted by thread and end, as threads write them (a call after the calls nested in
 *      it), and written into the ring of a state that represents the calling thread.
 *   3. Activities are written afterwards, with the number of their call. An activity whose call has
 *      not arrived waits for the call, for at most ROUNDS_WAITED rounds.
 *
 * Counting: every record that is read counts as seen. Invalid records, and records that the plug-in
 * reports as dropped, count as seen and lost, and an event names the plug-in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/kernels.h"
#include "core/recording.h"
#include "core/stacks.h"
#include "generated/privateuse1_taps.h"
#include "generated/privateuse1_wraps.h"
#include "runtime/gpu_activity.h"
#include "runtime/privateuse1/pu1_parts.h"

enum { ROUNDS_WAITED = 3, ARGUMENTS = 3, NAMES_MOST = 256 };

static bool is_call_record_kind(uint32_t kind)
{
	return kind == PU1_KIND_PRIVATEUSE1_RUNTIME || kind == PU1_KIND_PRIVATEUSE1_DRIVER;
}

static bool wants_calls(uint32_t number)
{
	return gt_tap_services(&gt_privateuse1_taps[0][number]) & GT_SERVICE_STREAM;
}

uint64_t gt_pu1_kinds(void)
{
	const struct gt_session *s = gt_recording.session;
	uint64_t kinds = 0;

	if (wants_calls(GT_PRIVATEUSE1_INDEX_pu1_runtime_call))
		kinds |= 1u << PU1_KIND_PRIVATEUSE1_RUNTIME;
	if (wants_calls(GT_PRIVATEUSE1_INDEX_pu1_driver_call))
		kinds |= 1u << PU1_KIND_PRIVATEUSE1_DRIVER;
	if (!gt_activity_is_recorded(GT_DOMAIN_PRIVATEUSE1))
		return kinds;
	kinds |= 1u << PU1_KIND_CONCURRENT_KERNEL;
	if (gt_session_wants_copies(s))
		kinds |= 1u << PU1_KIND_GPU_MEMCPY | 1u << PU1_KIND_GPU_MEMSET |
			 1u << PU1_KIND_SYNCHRONIZATION;
	return kinds;
}

/* Reading ---------------------------------------------------------------------------- */

static struct gt_pu1_record *add_record(struct gt_pu1_records *list)
{
	struct gt_pu1_record *more;

	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 256;

		more = realloc(list->records, room * sizeof *more);
		if (!more)
			return NULL;
		list->records = more;
		list->room = room;
	}
	return &list->records[list->count++];
}

static void count_lost(struct gt_pu1 *p, uint32_t kind, enum gt_drop_reason why)
{
	enum gt_class class = is_call_record_kind(kind) ? GT_CLASS_CALL : GT_CLASS_DEVICE;

	if (!p->thread)
		return;
	if (class == GT_CLASS_CALL)
		gt_count(&p->thread->slot->domains[GT_DOMAIN_PRIVATEUSE1].seen[class]);
	else
		gt_pu1_arrives(p, kind);
	gt_drop(p->thread, class, GT_DOMAIN_PRIVATEUSE1, why);
}

static void keep_record(struct gt_pu1 *p, const struct gputap_plugin_record *r)
{
	size_t bytes = strlen(r->name);
	struct gt_pu1_record *record;

	if (r->kind == PU1_KIND_CONCURRENT_KERNEL && gt_tap_options.choose_kernels &&
	    !gt_kernel_wanted(r->name, bytes))
		return;
	record = add_record(is_call_record_kind(r->kind) ? &p->calls : &p->activity);
	if (!record) {
		count_lost(p, r->kind, GT_DROP_POOL);
		return;
	}
	*record = (struct gt_pu1_record){.r = *r};
	record->name = gt_string_id(p->thread, r->name, bytes);
	record->r.name = record->r.metadata = NULL;
}

static void read_records(struct gt_pu1 *p)
{
	struct gputap_plugin_record r;

	atomic_store(&p->in, "pu1GetNextRecord()");
	while (p->f->gputap_plugins_stream_read(p->index, &r) > 0)
		keep_record(p, &r);
	atomic_store(&p->in, NULL);
}

/* Roles of calls ---------------------------------------------------------------------- */

static bool has_name(const struct gt_pu1_names *n, uint32_t name)
{
	for (size_t i = n->count; i--;)
		if (n->list[i] == name)
			return true;
	return false;
}

static void learn_name(struct gt_pu1_names *n, uint32_t name)
{
	uint32_t *more;

	if (has_name(n, name) || n->count == NAMES_MOST)
		return;
	more = n->list ? n->list : calloc(NAMES_MOST, sizeof *more);
	if (!more)
		return;
	n->list = more;
	n->list[n->count++] = name;
}

static void learn_role(struct gt_pu1 *p, uint32_t name, uint32_t kind)
{
	struct gt_pu1_names *n = kind == PU1_KIND_CONCURRENT_KERNEL ? &p->launching
				 : kind == PU1_KIND_GPU_MEMCPY      ? &p->copying
				 : kind == PU1_KIND_GPU_MEMSET      ? &p->setting
								    : NULL;

	if (n)
		learn_name(n, name);
}

/* Learn the roles of calls if the plug-in lacks pu1.submits. When an activity arrives, the name of
 * the call with the activity's correlation is stored as the name of a call that launches, copies,
 * or sets. Call before the calls of this round are written. */
static void learn_roles(struct gt_pu1 *p)
{
	struct gt_pu1_links by_correlation = {0};

	if (!p->activity.count || !p->calls.count)
		return;
	for (size_t i = 0; i < p->calls.count; i++) {
		const struct gputap_plugin_record *r = &p->calls.records[i].r;

		gt_pu1_link_call(&by_correlation,
				 &(struct gt_pu1_link){r->correlation, p->calls.records[i].name, 0,
						       r->kind == PU1_KIND_PRIVATEUSE1_DRIVER});
	}
	for (size_t i = 0; i < p->activity.count; i++) {
		const struct gputap_plugin_record *r = &p->activity.records[i].r;
		const struct gt_pu1_link *call =
			r->graph ? NULL : gt_pu1_find_call(&by_correlation, r->correlation);

		if (call)
			learn_role(p, (uint32_t)call->id, r->kind);
	}
	free(by_correlation.now);
	free(by_correlation.before);
}

/* Return the operation as which a call is recorded, and output the number of the call's stack.
 * Driver calls are recorded as launches only if the program itself makes them. */
static uint32_t operation_of(struct gt_pu1 *p, const struct gt_pu1_record *c, uint32_t *stack)
{
	const bool driver = c->r.kind == PU1_KIND_PRIVATEUSE1_DRIVER;
	uint32_t kind = 0;

	*stack = 0;
	if (driver && c->depth)
		return GT_PRIVATEUSE1_pu1_driver_call;
	if (gt_pu1_take_call(p, c->r.correlation, &kind, stack))
		learn_role(p, c->name, kind);
	if (kind == PU1_KIND_CONCURRENT_KERNEL || (!kind && has_name(&p->launching, c->name)))
		return driver ? GT_PRIVATEUSE1_pu1_driver_launch
			      : GT_PRIVATEUSE1_pu1_runtime_launch;
	if (kind == PU1_KIND_GPU_MEMCPY || (!kind && has_name(&p->copying, c->name)))
		return driver ? GT_PRIVATEUSE1_pu1_driver_copy : GT_PRIVATEUSE1_pu1_runtime_copy;
	if (kind == PU1_KIND_GPU_MEMSET || (!kind && has_name(&p->setting, c->name)))
		return driver ? GT_PRIVATEUSE1_pu1_driver_set : GT_PRIVATEUSE1_pu1_runtime_set;
	return driver ? GT_PRIVATEUSE1_pu1_driver_call : GT_PRIVATEUSE1_pu1_runtime_call;
}

/* Calls ------------------------------------------------------------------------------ */

/* Compare two calls by the order in which threads write records, in which a call follows the calls
 * nested in it. */
static int compare_calls(const void *a, const void *b)
{
	const struct gputap_plugin_record *x = &((const struct gt_pu1_record *)a)->r,
					  *y = &((const struct gt_pu1_record *)b)->r;

	if (x->thread_id != y->thread_id)
		return x->thread_id < y->thread_id ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->start != y->start)
		return x->start > y->start ? -1 : 1;
	/* driver calls are nested in runtime calls */
	return (int)x->kind < (int)y->kind ? 1 : -1;
}

/* Compute the depth of each call, from the last call to the first, because an enclosing call
 * follows the calls nested in it. */
static void find_depths(struct gt_pu1_records *calls)
{
	enum { MOST = 64 };
	const struct gputap_plugin_record *open[MOST];
	uint32_t depth = 0;

	for (size_t i = calls->count; i--;) {
		struct gt_pu1_record *c = &calls->records[i];

		while (depth && (open[depth - 1]->thread_id != c->r.thread_id ||
				 open[depth - 1]->start > c->r.start))
			depth--;
		c->depth = depth;
		if (depth < MOST)
			open[depth++] = &c->r;
	}
}

/* Return the state that represents a thread. Return NULL if nothing is recorded, or if there are
 * too many threads. In the latter case the plug-in's own thread represents the thread. */
static struct gt_pu1_standing *stand_for(struct gt_pu1 *p, uint32_t tid)
{
	struct gt_pu1_standing *s;

	for (uint32_t i = p->standing_count; i--;)
		if (p->standing[i].tid == tid)
			return &p->standing[i];
	if (!p->standing)
		p->standing = calloc(GT_PU1_STANDING, sizeof *p->standing);
	if (!p->standing || p->standing_count == GT_PU1_STANDING)
		return NULL;
	s = &p->standing[p->standing_count];
	if (!gt_thread_stand_for(&s->thread, tid ? tid : p->thread->slot->tid, p->name))
		return NULL;
	s->tid = tid;
	p->standing_count++;
	return s;
}

/* If changed, write the external ids on top of the thread's stacks, in the ring that represents the
 * calling thread. */
static void write_external(struct gt_thread *t, enum gt_external_stack stack, uint64_t id,
			   uint64_t start, uint64_t *top)
{
	enum gt_drop_reason why;

	for (int push = 0; push <= 1 && id != *top; push++) {
		struct gt_record_external *e =
			(push ? id : *top) ? gt_ring_try(t, sizeof *e, &why) : NULL;

		if (!e)
			continue;
		e->head =
			(struct gt_record){sizeof *e / 8, GT_RECORD_EXTERNAL, (uint8_t)push, stack};
		e->time = start;
		e->value = push ? id : *top;
		gt_ring_commit(t, sizeof *e);
	}
	*top = id;
}

static uint64_t take_id(struct gt_thread *t, uint32_t number)
{
	struct gt_slot_domain *mine = &t->slot->domains[GT_DOMAIN_PRIVATEUSE1];
	uint64_t id = t->next_id++;

	gt_count(&mine->seen[GT_CLASS_CALL]);
	atomic_store_explicit(&mine->newest, GT_CALL_WORD(id, number), memory_order_relaxed);
	return id;
}

static void write_plugin_call(struct gt_pu1 *p, const struct gt_pu1_record *c)
{
	uint32_t stack, number = operation_of(p, c, &stack);
	struct gt_pu1_standing *s = stand_for(p, c->r.thread_id);
	struct gt_thread *t = s ? &s->thread : p->thread;
	const char *name = gt_string_text(c->name);
	uint64_t start = gt_pu1_ticks(&p->host, c->r.start), id;
	size_t name_bytes = name ? strlen(name) : 0,
	       payload = sizeof(struct gt_payload) + ((name_bytes + 7) & ~UINT64_C(7)),
	       bytes = sizeof(struct gt_record_call) + ARGUMENTS * sizeof(uint64_t) + payload;
	struct gt_record_call *w;

	if (s) {
		write_external(t, GT_EXTERNAL_OPERATION, gt_pu1_external_of(c->r.external), start,
			       &s->tops[GT_EXTERNAL_OPERATION]);
		write_external(t, GT_EXTERNAL_USER, gt_pu1_external_of(c->r.user_range), start,
			       &s->tops[GT_EXTERNAL_USER]);
	}
	id = take_id(t, number);
	if (stack)
		gt_stacks_write(t, GT_OP(GT_DOMAIN_PRIVATEUSE1, number, 0), id, stack);
	gt_pu1_link_call(&p->links,
			 &(struct gt_pu1_link){c->r.correlation, id, start,
					       c->r.kind == PU1_KIND_PRIVATEUSE1_DRIVER});
	w = gt_ring_reserve(t, bytes, GT_CLASS_CALL, GT_DOMAIN_PRIVATEUSE1);
	if (!w)
		return;
	w->head = (struct gt_record){(uint16_t)(bytes / 8), GT_RECORD_CALL, (uint8_t)c->depth,
				     GT_OP(GT_DOMAIN_PRIVATEUSE1, number, ARGUMENTS)};
	w->start = start;
	w->end = gt_pu1_ticks(&p->host, c->r.end);
	w->id = id;
	w->ret = c->r.status;
	w->args[0] = (uintptr_t)name;
	w->args[1] = c->r.correlation;
	w->args[2] = gt_pu1_range_of(c->r.external);
	gt_value_put(w->args + ARGUMENTS, 0, name, name_bytes);
	gt_ring_commit(t, bytes);
}

static void write_calls(struct gt_pu1 *p)
{
	learn_roles(p);
	qsort(p->calls.records, p->calls.count, sizeof *p->calls.records, compare_calls);
	find_depths(&p->calls);
	for (size_t i = 0; i < p->calls.count; i++)
		write_plugin_call(p, &p->calls.records[i]);
	p->calls.count = 0;
}

/* Activities --------------------------------------------------------------------------- */

static enum gt_device_op device_op_of(const struct gputap_plugin_record *r)
{
	switch (r->kind) {
	case PU1_KIND_CONCURRENT_KERNEL: return GT_DEVICE_KERNEL;
	case PU1_KIND_GPU_MEMSET: return GT_DEVICE_FILL;
	case PU1_KIND_GPU_MEMCPY:
		return r->copy_direction == PU1_COPY_HTOD   ? GT_DEVICE_WRITE
		       : r->copy_direction == PU1_COPY_DTOH ? GT_DEVICE_READ
							    : GT_DEVICE_COPY;
	default: return GT_DEVICE_BARRIER;
	}
}

static void write_plugin_activity(struct gt_pu1 *p, const struct gt_pu1_record *record,
				  const struct gt_pu1_link *call)
{
	const struct gputap_plugin_record *r = &record->r;
	uint64_t device = gt_pu1_device(p, r->device),
		 queue = gt_pu1_queue(p, r->device, r->stream);
	uint32_t graph = r->graph ? gt_pu1_graph(p, r->graph) : 0;
	struct gt_record_device *w;

	gt_pu1_arrives(p, r->kind);
	w = gt_ring_reserve(p->thread, sizeof *w, GT_CLASS_DEVICE, GT_DOMAIN_PRIVATEUSE1);
	if (!w)
		return;
	*w = (struct gt_record_device){
		.head = {sizeof *w / 8, GT_RECORD_DEVICE, (uint8_t)device_op_of(r),
			 GT_DEVICE_REF(GT_DOMAIN_PRIVATEUSE1, device)},
		.id = call ? call->id : 0,
		.call_start = call ? call->start : 0,
		.queue = queue | (uint64_t)graph << 32,
		.name = record->name,
		.status = r->status ? -(int32_t)(r->status & INT32_MAX) : 0,
		.start = r->start,
		.end = r->end,
		.bytes = r->bytes,
		.object = {gt_pu1_range_of(r->external), 0},
		.global = {gt_saturate_u32((uint64_t)r->grid[0] * r->block[0]),
			   gt_saturate_u32((uint64_t)r->grid[1] * r->block[1]),
			   gt_saturate_u32((uint64_t)r->grid[2] * r->block[2])},
		.local = {r->block[0], r->block[1], r->block[2]},
		.ordinal = r->graph ? r->node : 0,
		.replay = r->replay,
	};
	gt_ring_commit(p->thread, sizeof *w);
}

/* Write the activities whose calls are known or no longer expected. @last: true if no more calls
 * will come. */
static void write_all_activity(struct gt_pu1 *p, bool last)
{
	size_t waiting = 0;
	bool calls = gt_pu1_kinds() & 1u << PU1_KIND_PRIVATEUSE1_RUNTIME;

	for (size_t i = 0; i < p->activity.count; i++) {
		struct gt_pu1_record *record = &p->activity.records[i];
		const struct gt_pu1_link *call = gt_pu1_find_call(&p->links, record->r.correlation);

		if (!call && calls && record->r.correlation && !last &&
		    record->waited++ < ROUNDS_WAITED) {
			p->activity.records[waiting++] = *record;
			continue;
		}
		gt_pu1_read_clock(p, record->r.device, false);
		if (gt_pu1_is_in_life(p, record->r.device, record->r.start, record->r.end)) {
			write_plugin_activity(p, record, call);
			continue;
		}
		p->outside++;
		count_lost(p, record->r.kind, GT_DROP_TOOL);
	}
	p->activity.count = waiting;
}

/* Counts ----------------------------------------------------------------------------- */

/* Effect on the capture of a count that libgputap-plugin reports. */
enum count_meaning {
	COUNT_NOTHING = 0, /* reported elsewhere */
	COUNT_LOST,        /* number of lost records */
	COUNT_MISSING,     /* an unknown number of records is lost */
	COUNT_REPAIRED,
};

static const enum count_meaning meanings[GPUTAP_PLUGIN_COUNT_COUNT] = {
	[GPUTAP_PLUGIN_NO_BUFFER] = COUNT_MISSING,  [GPUTAP_PLUGIN_BAD_SIZE] = COUNT_LOST,
	[GPUTAP_PLUGIN_BAD_PLACE] = COUNT_MISSING,  [GPUTAP_PLUGIN_BAD_KIND] = COUNT_LOST,
	[GPUTAP_PLUGIN_BAD_TIME] = COUNT_LOST,      [GPUTAP_PLUGIN_BAD_DEVICE] = COUNT_LOST,
	[GPUTAP_PLUGIN_BAD_STREAM] = COUNT_LOST,    [GPUTAP_PLUGIN_BAD_COUNTER] = COUNT_LOST,
	[GPUTAP_PLUGIN_NO_NAME] = COUNT_REPAIRED,   [GPUTAP_PLUGIN_BAD_NAME] = COUNT_REPAIRED,
	[GPUTAP_PLUGIN_BAD_GRAPH] = COUNT_REPAIRED, [GPUTAP_PLUGIN_OVERRUN] = COUNT_MISSING,
	[GPUTAP_PLUGIN_BAD_BUFFER] = COUNT_MISSING, [GPUTAP_PLUGIN_KEPT_BUFFER] = COUNT_MISSING,
	[GPUTAP_PLUGIN_BAD_WALK] = COUNT_MISSING,   [GPUTAP_PLUGIN_BAD_BYTES] = COUNT_REPAIRED,
};

static void report_count(struct gt_pu1 *p, enum count_meaning meaning, const char *what, uint64_t n)
{
	char text[160];

	snprintf(text, sizeof text, "%s: %llu", what, (unsigned long long)n);
	gt_pu1_event_of(p,
			meaning == COUNT_MISSING    ? GT_EVENT_MISSING
			: meaning == COUNT_REPAIRED ? GT_EVENT_REPAIRED
						    : GT_EVENT_TOOL,
			n, text);
}

/* Return true if the plug-in itself counts records that it drops for lack of a buffer. */
static bool is_counted_by_plugin(const struct gt_pu1 *p, uint32_t what)
{
	struct gputap_plugin about = {.size = sizeof about};

	return what == GPUTAP_PLUGIN_NO_BUFFER && !p->f->gputap_plugins_at(p->index, &about) &&
	       about.groups >> GPUTAP_PLUGIN_DROPS & 1;
}

/* Count dropped and invalid records as seen and lost. */
static void count_losses(struct gt_pu1 *p)
{
	uint64_t n, dropped = 0;

	for (uint32_t kind = 1; kind < PU1_KIND_COUNT; kind++) {
		n = p->f->gputap_plugins_stream_dropped(p->index, kind);
		for (; p->lost[kind] < n; p->lost[kind]++, dropped++)
			count_lost(p, kind, GT_DROP_TOOL);
	}
	if (dropped)
		report_count(p, COUNT_LOST, "dropped by the plug-in", dropped);
	for (uint32_t what = 0; what < GPUTAP_PLUGIN_COUNT_COUNT; what++) {
		n = p->f->gputap_plugins_stream_count(p->index, what) - p->reported[what];
		if (!n || meanings[what] == COUNT_NOTHING || is_counted_by_plugin(p, what))
			continue;
		p->reported[what] += n;
		report_count(p, meanings[what], p->f->gputap_plugins_count_name(what), n);
		for (uint64_t i = 0; i < n && meanings[what] == COUNT_LOST; i++)
			count_lost(p, PU1_KIND_COUNT, GT_DROP_TOOL);
	}
	if (p->outside)
		report_count(p, COUNT_LOST, "times outside the process's lifetime", p->outside);
	p->outside = 0;
}

void gt_pu1_write_records(struct gt_pu1 *p, bool last)
{
	int64_t set;

	read_records(p);
	set = gt_pu1_clock_step(&p->host);
	if (set)
		gt_pu1_event_of(
			p, GT_EVENT_CLOCK, (uint64_t)set,
			"CLOCK_REALTIME was set: calls around that time may have wrong times");
	write_calls(p);
	write_all_activity(p, last);
	count_losses(p);
}
