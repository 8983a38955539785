/* SPDX-License-Identifier: MIT */
/* See depend_parts.h. Streams and events are shared by the threads of a process, so their calls are
 * followed in order of time: to which calls' activities an event refers, and which calls, or whose
 * activities, wait for them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/depend/depend_parts.h"
#include "analysis/idle/idle_steps.h"

enum { EVENTS_MOST = 256 };

/* Calls ----------------------------------------------------------------------------- */

static bool find_role(const struct gt_call_view *view, enum gt_role role, uint64_t *value)
{
	return view->args && gt_call_role(view, role, 0, value);
}

/* Add the events that the call waits for. */
static void add_events(struct depend_reading *r, const struct gt_call_view *view,
		       struct depend_action *a)
{
	uint64_t events[EVENTS_MOST];
	size_t count = 0;

	if (!view->args || !gt_call_elements(view, GT_ROLE_EVENT, events, EVENTS_MOST, &count) ||
	    !count)
		count = find_role(view, GT_ROLE_EVENT, &events[0]);
	a->event = (uint32_t)r->event_count;
	a->event_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		GROW_LIST(r->events, r->event_count, r->event_room);
		r->events[r->event_count++] = events[i];
	}
}

static bool gives_activity(const struct gt_operation_info *info)
{
	return info->kind == GT_KIND_LAUNCH || info->kind == GT_KIND_COPY ||
	       info->kind == GT_KIND_SET;
}

static uint32_t find_waits(const struct gt_item *call, const struct gt_operation_info *info,
			   const struct depend_action *a)
{
	if (gives_activity(info))
		return gt_call_blocking(call->op, call->args) == GT_BLOCKING_YES ? DEPEND_WAITS_OWN
										 : 0;
	switch ((enum gt_finished)info->finished) {
	case GT_FINISHED_QUEUE:
	case GT_FINISHED_STREAM: return a->has_stream ? DEPEND_WAITS_STREAM : DEPEND_WAITS_ALL;
	case GT_FINISHED_ALL: return DEPEND_WAITS_ALL;
	case GT_FINISHED_EVENTS: return a->event_count ? DEPEND_WAITS_EVENTS : 0;
	case GT_FINISHED_NOTHING: break;
	}
	if (!info->waits)
		return 0;
	return a->event_count  ? DEPEND_WAITS_EVENTS
	       : a->has_stream ? DEPEND_WAITS_STREAM
			       : DEPEND_WAITS_ALL;
}

bool depend_describe_call(struct depend_reading *r, const struct gt_item *call,
			  struct depend_action *a)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	enum idle_hold how = IDLE_HOLDS_NOT;

	*a = (struct depend_action){.role = 0};
	if (!info)
		return false;
	a->has_stream = find_role(&view, GT_ROLE_STREAM, &a->stream);
	if (gives_activity(info))
		a->role |= DEPEND_LAUNCHES;
	if (info->signals_arg >= 0 && call->args &&
	    (unsigned)info->signals_arg < GT_OP_NARGS(call->op) && call->args[info->signals_arg]) {
		a->role |= DEPEND_SIGNALS;
		a->signal = call->args[info->signals_arg];
	} else if (info->kind == GT_KIND_MARKER && a->has_stream &&
		   find_role(&view, GT_ROLE_EVENT, &a->signal)) {
		a->role |= DEPEND_RECORDS;
	}
	if (!(a->role & DEPEND_RECORDS) && idle_call_holds(call, &how))
		a->role |= how == IDLE_HOLDS_STREAM ? DEPEND_HOLDS : DEPEND_NEEDS;
	if (a->role & (DEPEND_HOLDS | DEPEND_NEEDS) || info->waits ||
	    info->finished == GT_FINISHED_EVENTS)
		add_events(r, &view, a);
	a->role |= find_waits(call, info, a);
	return a->role;
}

/* Order ----------------------------------------------------------------------------- */

/* A stream or an event of a process. */
struct handle {
	uint32_t call;    /* the last call that added activities; LOOKUP_NONE: none */
	uint32_t pending; /* streams: calls that the next activity waits for, as in depend_action */
};

struct ordering {
	struct depend_reading *r;
	struct gt_map map;
	struct handle *handles;
	size_t count, room;
};

static struct handle *find_handle(struct ordering *o, uint32_t process, uint64_t handle,
				  bool is_stream)
{
	const uint64_t owner = (uint64_t)process << 1 | is_stream;
	int64_t found = gt_map_find(&o->map, owner, handle);

	if (found >= 0)
		return &o->handles[found];
	GROW_LIST(o->handles, o->count, o->room);
	o->handles[o->count] = (struct handle){.call = LOOKUP_NONE};
	if (gt_map_add(&o->map, owner, handle, (uint32_t)o->count))
		memory_ran_out();
	return &o->handles[o->count++];
}

static void add_need(struct depend_reading *r, uint32_t *list, uint32_t call)
{
	if (call == LOOKUP_NONE)
		return;
	GROW_LIST(r->needs, r->need_count, r->need_room);
	r->needs[r->need_count] = (struct depend_need){call, *list};
	*list = (uint32_t)++r->need_count;
}

/* The call whose nodes contain the time of @call. */
static uint32_t whole_call(const struct depend_reading *r, uint32_t call)
{
	return r->calls[call].inside != LOOKUP_NONE ? r->calls[call].inside : call;
}

static void step(struct ordering *o, struct depend_action *a)
{
	struct depend_reading *r = o->r;
	const uint32_t call = whole_call(r, a->call), process = r->calls[call].process;
	struct handle *stream = a->has_stream ? find_handle(o, process, a->stream, true) : NULL;

	for (uint32_t i = 0; i < a->event_count; i++) {
		const uint32_t of = find_handle(o, process, r->events[a->event + i], false)->call;

		/* handles may have moved */
		stream = a->has_stream ? find_handle(o, process, a->stream, true) : NULL;
		if (of == call)
			continue;
		if (a->role & (DEPEND_NEEDS | DEPEND_HOLDS | DEPEND_WAITS_EVENTS))
			add_need(r, &a->need, of);
		if (a->role & DEPEND_HOLDS && stream)
			add_need(r, &stream->pending, of);
	}
	if (a->role & DEPEND_WAITS_STREAM && stream)
		add_need(r, &a->need, stream->call);
	if (a->role & DEPEND_LAUNCHES && stream && stream->call != call) {
		for (uint32_t n = stream->pending; n; n = r->needs[n - 1].next)
			add_need(r, &a->need, r->needs[n - 1].call);
		stream->pending = 0;
		r->calls[call].before = stream->call;
		stream->call = call;
	}
	if (a->role & DEPEND_SIGNALS)
		find_handle(o, process, a->signal, false)->call = call;
	if (a->role & DEPEND_RECORDS) {
		const uint32_t of = stream->call;

		find_handle(o, process, a->signal, false)->call = of;
	}
}

struct action_at {
	uint64_t start;
	size_t index;
};

static int compare_actions(const void *x, const void *y)
{
	const struct action_at *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void fini_ordering(void *data)
{
	struct ordering *o = data;

	free(o->handles);
	gt_map_fini(&o->map);
}

void depend_order_calls(struct depend *d)
{
	struct depend_reading *r = d->reading;
	struct ordering o = {.r = r};
	struct action_at *order = allocate_scratch(r->action_count + 1, sizeof *order);
	struct cleanup cleanup;

	cleanup_push(&cleanup, fini_ordering, &o);
	for (size_t i = 0; i < r->action_count; i++)
		order[i] = (struct action_at){r->calls[r->actions[i].call].start, i};
	qsort(order, r->action_count, sizeof *order, compare_actions);
	for (size_t i = 0; i < r->action_count; i++)
		step(&o, &r->actions[order[i].index]);
	cleanup_pop(&cleanup);
	free_scratch(order);
}
