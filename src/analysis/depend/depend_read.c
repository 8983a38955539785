/* SPDX-License-Identifier: MIT */
/* See depend.h. Reads the records of each thread into nodes, and sorts the nodes by time. */
#include "analysis/depend/depend_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "util/demangle.h"
#include "util/error.h"

enum { OPEN_MOST = 64 }; /* depth of calls; deeper ones are part of the innermost of these */

/* The thread that is being read: calls that were open at time `at`. */
struct open_calls {
	uint64_t at; /* end of the thread's last node; 0: no node yet */
	unsigned depth;
	struct open_call {
		uint64_t end;
		uint32_t call;
		float factor;
		bool waits;
	} list[OPEN_MOST];
};

struct reading_state {
	struct depend *d;
	struct open_calls open;
	uint64_t thread; /* (process << 32 | ordinal) + 1 of the thread being read; 0: none */
};

/* Classes ---------------------------------------------------------------------------- */

static uint32_t add_class(struct depend *d, const char *name, enum depend_type type, unsigned kind)
{
	GROW_LIST(d->classes, d->class_count, d->reading->class_room);
	d->classes[d->class_count] = (struct depend_class){.name = texts_put(&d->names, name),
							   .type = (uint8_t)type,
							   .kind = (uint8_t)kind};
	return (uint32_t)d->class_count++;
}

static uint32_t class_of_call(struct depend *d, uint32_t op)
{
	struct depend_reading *r = d->reading;
	uint32_t class = idmap_get(&r->operations, op);

	if (class == LOOKUP_NONE) {
		const struct gt_operation_info *info = gt_operation(op);

		class = add_class(d, gt_operation_name(op), DEPEND_IS_CALL,
				  info ? info->kind : GT_KIND_OTHER);
		idmap_put(&r->operations, op, class);
	}
	return class;
}

/* Activities of one name have one class, in all processes. */
static uint32_t class_of_text(struct depend *d, const char *name, unsigned kind)
{
	struct depend_reading *r = d->reading;
	const uint32_t text = texts_put(&r->activities, name);

	while (text >= r->activity_class_room)
		GROW_LIST(r->activity_classes, r->activity_class_room, r->activity_class_room);
	if (!r->activity_classes[text])
		r->activity_classes[text] = add_class(d, name, DEPEND_IS_ACTIVITY, kind);
	return r->activity_classes[text];
}

static uint32_t class_of_activity(struct depend *d, const struct gt_item *item)
{
	const uint64_t key = (uint64_t)item->process << 32 | item->name;
	struct cleanup cleanup;
	const char *text;
	char *readable;
	uint32_t class;

	if (!item->name)
		return class_of_text(d, gt_device_op_name(item->device_op), item->device_op);
	class = idmap_get(&d->reading->strings, key);
	if (class != LOOKUP_NONE)
		return class;
	text = gt_capture_string(d->capture, item->process, item->name);
	readable = d->mangled ? NULL : gt_demangle(text);
	cleanup_push(&cleanup, free, readable);
	class = class_of_text(d, readable ? readable : text, item->device_op);
	cleanup_pop(&cleanup);
	idmap_put(&d->reading->strings, key, class);
	return class;
}

/* Threads ---------------------------------------------------------------------------- */

static struct depend_node *add_node(struct depend *d, const struct depend_node *node)
{
	GROW_LIST(d->nodes, d->node_count, d->reading->node_room);
	d->nodes[d->node_count] = *node;
	return &d->nodes[d->node_count++];
}

/* Add the time from s->open.at to @until, which belongs to the innermost open call. */
static void add_part(struct reading_state *s, uint64_t until, bool ends_call)
{
	struct depend *d = s->d;
	struct open_calls *o = &s->open;
	const struct open_call *in = o->depth ? &o->list[o->depth - 1] : NULL;
	struct depend_call *call = in ? &d->reading->calls[in->call] : NULL;
	struct depend_thread *t = &d->threads[d->thread_count - 1];
	const uint32_t index = (uint32_t)d->node_count;
	struct depend_node node = {.start = o->at,
				   .end = until,
				   .id = call ? call->id : 0,
				   .process = t->process,
				   .owner = (uint32_t)d->thread_count - 1,
				   .class = call ? call->class : 0,
				   .call = in ? in->call : LOOKUP_NONE,
				   .factor = in ? in->factor : 1,
				   .launcher = LOOKUP_NONE,
				   .launches = LOOKUP_NONE,
				   .type = call ? DEPEND_IS_CALL : DEPEND_IS_HOST,
				   .ends_call = ends_call};

	if (until <= o->at && !ends_call)
		return;
	add_node(d, &node);
	if (t->first == LOOKUP_NONE)
		t->first = index;
	t->last = index;
	if (call && call->first == LOOKUP_NONE)
		call->first = index;
	if (call)
		call->last = index;
	o->at = until;
}

static void close_calls(struct reading_state *s, uint64_t until)
{
	struct open_calls *o = &s->open;

	while (o->depth && o->list[o->depth - 1].end <= until) {
		const uint64_t end = o->list[o->depth - 1].end;

		add_part(s, end > o->at ? end : o->at, true);
		o->depth--;
	}
}

static void end_thread(struct reading_state *s)
{
	if (s->thread)
		close_calls(s, UINT64_MAX);
	s->open = (struct open_calls){.at = 0};
	s->thread = 0;
}

static void begin_thread(struct reading_state *s, const struct gt_item *item)
{
	struct depend *d = s->d;
	struct depend_reading *r = d->reading;
	const struct gt_thread_info *info =
		gt_capture_thread_find(d->capture, item->process, item->ordinal);
	const struct gt_host_clock_map *clock = gt_capture_process_clock(d->capture, item->process);

	end_thread(s);
	s->thread = ((uint64_t)item->process << 32 | item->ordinal) + 1;
	GROW_LIST(d->threads, d->thread_count, r->thread_room);
	d->threads[d->thread_count] =
		(struct depend_thread){.process = item->process,
				       .ordinal = item->ordinal,
				       .start = clock && info && info->start_ticks
							? gt_host_clock_to_ns(clock,
									      info->start_ticks)
							: 0,
				       .end = clock && info && info->end_ticks
						      ? gt_host_clock_to_ns(clock, info->end_ticks)
						      : 0,
				       .first = LOOKUP_NONE,
				       .last = LOOKUP_NONE};
	GROW_LIST(r->thread_calls, d->thread_count + 1, r->thread_calls_room);
	r->thread_calls[d->thread_count++] = (uint32_t)r->call_count;
}

/* Items ------------------------------------------------------------------------------ */

static float scale_of(struct depend *d, const struct gt_item *item, bool *frees)
{
	*frees = false;
	return d->scale ? d->scale(d->scale_data, item, frees) : 1;
}

static void note_time(struct depend *d, uint64_t start, uint64_t end)
{
	if (!d->start || start < d->start)
		d->start = start;
	if (end > d->end)
		d->end = end;
}

static void add_call(struct reading_state *s, const struct gt_item *item)
{
	struct depend *d = s->d;
	struct depend_reading *r = d->reading;
	struct open_calls *o = &s->open;
	struct depend_action action;
	struct depend_call *call;
	bool frees, is_inside;
	float factor = scale_of(d, item, &frees);

	if (gt_mark_of(item->op) || item->end_ns < item->start_ns)
		return;
	close_calls(s, item->start_ns);
	if (!o->at) {
		const struct depend_thread *t = &d->threads[d->thread_count - 1];

		o->at = t->start && t->start < item->start_ns ? t->start : item->start_ns;
	}
	/* a call that waits is one node, because the calls inside it wait for the same */
	is_inside = o->depth == OPEN_MOST || (o->depth && o->list[o->depth - 1].waits);
	if (!is_inside)
		add_part(s, item->start_ns, false);
	note_time(d, item->start_ns, item->end_ns);
	GROW_LIST(r->calls, r->call_count, r->call_room);
	r->calls[r->call_count] = (struct depend_call){.id = item->id,
						       .start = item->start_ns,
						       .process = item->process,
						       .class = class_of_call(d, item->op),
						       .first = LOOKUP_NONE,
						       .last = LOOKUP_NONE,
						       .activity = LOOKUP_NONE,
						       .launches = LOOKUP_NONE,
						       .inside = LOOKUP_NONE,
						       .before = LOOKUP_NONE};
	call = &r->calls[r->call_count];
	if (depend_describe_call(r, item, &action)) {
		action.call = (uint32_t)r->call_count;
		GROW_LIST(r->actions, r->action_count, r->action_room);
		r->actions[r->action_count++] = action;
		call->action = (uint32_t)r->action_count;
	}
	if (is_inside) {
		call->inside = o->list[o->depth - 1].call;
	} else {
		/* a factor also applies to the calls inside the call */
		if (o->depth && factor == 1)
			factor = o->list[o->depth - 1].factor;
		o->list[o->depth++] =
			(struct open_call){.end = item->end_ns,
					   .call = (uint32_t)r->call_count,
					   .factor = factor,
					   .waits = call->action && action.role & DEPEND_WAITS};
	}
	r->call_count++;
	d->call_count++;
}

static uint32_t queue_of(struct depend *d, const struct gt_item *item)
{
	struct depend_reading *r = d->reading;
	const uint64_t device = GT_DEVICE_REF_NUMBER(item->op);
	const struct gt_object_info *object =
		gt_capture_object_find(d->capture, item->process, GT_OBJECT_DEVICE, device);
	/* without a queue, the activities of each device have one */
	const uint64_t key = item->queue ? (uint64_t)(uintptr_t)item->queue : device;
	int64_t found = gt_map_find(&r->queue_map, item->process, key);

	if (found >= 0)
		return (uint32_t)found;
	GROW_LIST(d->queues, d->queue_count, r->queue_room);
	d->queues[d->queue_count] =
		(struct depend_queue){.object = item->queue,
				      .process = item->process,
				      .device = object ? object->device_index : UINT32_MAX};
	if (gt_map_add(&r->queue_map, item->process, key, (uint32_t)d->queue_count))
		memory_ran_out();
	return (uint32_t)d->queue_count++;
}

static bool is_marker(enum gt_device_op op)
{
	return op == GT_DEVICE_MARKER || op == GT_DEVICE_BARRIER;
}

static void add_activity(struct reading_state *s, const struct gt_item *item)
{
	struct depend *d = s->d;
	struct depend_node node = {.start = item->start_ns,
				   .end = item->end_ns,
				   .id = item->id,
				   .process = item->process,
				   .call = LOOKUP_NONE,
				   .launcher = LOOKUP_NONE,
				   .launches = LOOKUP_NONE,
				   .type = DEPEND_IS_ACTIVITY,
				   .is_marker = is_marker(item->device_op)};

	if (item->device_op == GT_DEVICE_SCRATCH)
		return;
	if (!item->start_ns || item->end_ns < item->start_ns) {
		d->untimed++;
		return;
	}
	node.factor = scale_of(d, item, &node.frees);
	node.class = class_of_activity(d, item);
	node.owner = queue_of(d, item);
	note_time(d, node.start, node.end);
	add_node(d, &node);
	d->activity_count++;
}

static void destroy_cursor(void *data)
{
	gt_cursor_destroy(data);
}

static int read_items(struct reading_state *s)
{
	struct depend *d = s->d;
	const uint64_t total = gt_capture_health(d->capture)->bytes;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	struct cleanup cleanup;
	uint64_t n = 0;
	int status = gt_cursor_create(d->capture, &cursor);

	if (status)
		return status;
	cleanup_push(&cleanup, destroy_cursor, cursor);
	gt_cursor_take_all(cursor);
	gt_cursor_take_host(cursor);
	while ((status = gt_cursor_next(cursor, &item)) == 1) {
		if (!(++n & 0xffff))
			progress_report(&d->progress, "reading", gt_cursor_position(cursor), total);
		if (d->node_count > DEPEND_NODES_MOST) {
			status = gt_error(-E2BIG,
					  "the capture has more than %u million records; cut out "
					  "a part with 'gputap export FILE --where ... -o "
					  "PART.gputap'",
					  DEPEND_NODES_MOST >> 20);
			break;
		}
		if (item->kind == GT_RECORD_DEVICE) {
			add_activity(s, item);
		} else if (item->kind == GT_RECORD_HOST) {
			depend_note_lock(d, item);
		} else if (item->kind == GT_RECORD_CALL) {
			depend_note_joint(d, item);
			if (gt_mark_of(item->op) && (status = depend_note_mark(d, item)) < 0)
				break;
			if (((uint64_t)item->process << 32 | item->ordinal) + 1 != s->thread)
				begin_thread(s, item);
			add_call(s, item);
		}
	}
	cleanup_pop(&cleanup);
	end_thread(s);
	progress_report(&d->progress, "reading", total, total);
	return status;
}

/* Order ------------------------------------------------------------------------------ */

struct sorted_node {
	uint64_t key;
	uint32_t index;
	uint32_t type; /* at the same time, parts of threads come first */
};

static int compare_sorted(const void *a, const void *b)
{
	const struct sorted_node *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

uint32_t depend_find_call(const struct depend *d, uint32_t process, uint64_t id)
{
	const struct depend_reading *r = d->reading;
	const uint32_t ordinal = GT_ID_ORDINAL(id);
	size_t low = 0, high = d->thread_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct depend_thread *t = &d->threads[middle];

		if (t->process < process || (t->process == process && t->ordinal < ordinal))
			low = middle + 1;
		else
			high = middle;
	}
	if (!id || low == d->thread_count || d->threads[low].process != process ||
	    d->threads[low].ordinal != ordinal)
		return LOOKUP_NONE;
	high = r->thread_calls[low + 1];
	low = r->thread_calls[low];
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (r->calls[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->call_count && r->calls[low].id == id && r->calls[low].process == process
		       ? (uint32_t)low
		       : LOOKUP_NONE;
}

/* Find the launching calls. An activity never starts before its call, whatever its clock says. */
static void link_activities(struct depend *d)
{
	struct depend_reading *r = d->reading;

	for (size_t i = 0; i < d->node_count; i++) {
		struct depend_node *n = &d->nodes[i];
		struct depend_call *call;

		if (n->type != DEPEND_IS_ACTIVITY) {
			/* a thread may be older than the first call */
			n->start = n->start < d->start ? d->start : n->start;
			n->end = n->end < n->start ? n->start : n->end;
			continue;
		}
		n->call = depend_find_call(d, n->process, n->id);
		if (n->call != LOOKUP_NONE && r->calls[n->call].inside != LOOKUP_NONE)
			n->call = r->calls[n->call].inside;
		if (n->call == LOOKUP_NONE || r->calls[n->call].first == LOOKUP_NONE) {
			n->call = LOOKUP_NONE;
			d->unlinked++;
			continue;
		}
		call = &r->calls[n->call];
		if (n->start < call->start)
			n->start = call->start;
		if (n->end < n->start)
			n->end = n->start;
		call->launches = call->activity_count++ && call->launches != n->class ? LOOKUP_NONE
										      : n->class;
		call->keeps_activity |= n->factor > 0;
	}
	/* a call is gone if all its activities are gone */
	for (size_t i = 0; i < d->node_count; i++) {
		struct depend_node *n = &d->nodes[i];
		const struct depend_call *call =
			n->type == DEPEND_IS_CALL ? &r->calls[n->call] : NULL;

		if (!call || !call->activity_count)
			continue;
		n->launches = call->launches;
		if (!call->keeps_activity)
			n->factor = 0;
	}
}

static void renumber(const uint32_t *to, uint32_t *node)
{
	if (*node != LOOKUP_NONE)
		*node = to[*node];
}

static void sort_nodes(struct depend *d)
{
	struct depend_reading *r = d->reading;
	struct sorted_node *order = allocate_scratch(d->node_count + 1, sizeof *order);
	uint32_t *to = allocate_scratch(d->node_count + 1, sizeof *to);
	struct depend_node *nodes = allocate_list(d->node_count + 1, sizeof *nodes);

	for (size_t i = 0; i < d->node_count; i++) {
		const struct depend_node *n = &d->nodes[i];

		order[i] = (struct sorted_node){depend_ready(n), (uint32_t)i,
						n->type == DEPEND_IS_ACTIVITY};
	}
	qsort(order, d->node_count, sizeof *order, compare_sorted);
	for (size_t i = 0; i < d->node_count; i++) {
		nodes[i] = d->nodes[order[i].index];
		to[order[i].index] = (uint32_t)i;
	}
	for (size_t i = 0; i < d->thread_count; i++) {
		renumber(to, &d->threads[i].first);
		renumber(to, &d->threads[i].last);
	}
	for (size_t i = 0; i < r->call_count; i++) {
		renumber(to, &r->calls[i].first);
		renumber(to, &r->calls[i].last);
	}
	for (size_t i = 0; i < d->node_count; i++)
		if (nodes[i].type == DEPEND_IS_ACTIVITY && nodes[i].call != LOOKUP_NONE)
			nodes[i].launcher = r->calls[nodes[i].call].first;
	free(d->nodes);
	d->nodes = nodes;
	free_scratch(order);
	free_scratch(to);
}

int depend_read(struct depend *d)
{
	struct reading_state s = {.d = d};
	struct depend_reading *r;
	int status;

	d->reading = r = allocate_list(1, sizeof *r);
	GROW_LIST(r->thread_calls, 1, r->thread_calls_room);
	add_class(d, "host, outside any call", DEPEND_IS_HOST, 0);
	depend_begin_ranks(d);
	status = read_items(&s);
	if (status < 0)
		return status;
	if (!d->node_count)
		return gt_error(-ENODATA, "the capture contains neither calls nor GPU activities "
					  "with known times");
	r->thread_calls[d->thread_count] = (uint32_t)r->call_count;
	link_activities(d);
	sort_nodes(d);
	depend_order_calls(d);
	depend_place_locks(d);
	status = depend_find_joints(d);
	if (status)
		return status;
	depend_find_edges(d);
	depend_find_lags(d);
	depend_place_ranges(d);
	return 0;
}

void depend_fini(struct depend *d)
{
	struct depend_reading *r = d->reading;

	if (r) {
		free(r->calls);
		free(r->actions);
		free(r->events);
		free(r->needs);
		free(r->joints);
		free(r->locks);
		depend_end_ranks(d);
		idmap_fini(&r->operations);
		idmap_fini(&r->strings);
		texts_fini(&r->activities);
		free(r->activity_classes);
		gt_map_fini(&r->queue_map);
		free(r->thread_calls);
		gt_ranges_fini(&r->ranges);
		free(r);
	}
	free(d->nodes);
	free(d->edges);
	free(d->classes);
	free(d->threads);
	free(d->queues);
	free(d->ranges);
	texts_fini(&d->names);
	d->reading = NULL;
}

const char *depend_kind_key(enum depend_kind kind)
{
	static const char *const keys[] = {
#define DEPEND_ONE(name, key, text) [DEPEND_##name] = key,
		DEPEND_KINDS(DEPEND_ONE)
#undef DEPEND_ONE
	};

	return kind < DEPEND_KIND_COUNT ? keys[kind] : "";
}
