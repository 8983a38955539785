/* SPDX-License-Identifier: MIT */
/* Writes calls, external ids and GPU activities as rows of a rocpd file. rocpd.c describes the
 * rules. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/passes.h"
#include "analysis/symbols/pushes.h"
#include "export/rocpd.h"
#include "util/error.h"

enum { MESSAGE_BYTES = 1024 };

/* Data that the exporter keeps per thread, in gt_view_thread.own. */
struct rocpd_thread {
	int64_t node, id;
	struct gt_pushes external;
	uint64_t last_ns, last_external;
};

struct rocpd_operation {
	int64_t name;
	/* index, type and name of each argument; NULL: not generated yet */
	struct gt_bulk_piece *args[];
};

static const char nothing[] = "{}";

/* Start a row with its id, which is the rowid, and the guid, as every row does. */
static struct gt_bulk_row *begin_row_of(struct rocpd *r)
{
	gt_bulk_begin(&r->row);
	gt_bulk_null(&r->row);
	gt_bulk_text(&r->row, r->guid, ROCPD_GUID_BYTES);
	return &r->row;
}

static void put_json(struct gt_bulk_row *row)
{
	gt_bulk_text(row, nothing, sizeof nothing - 1);
}

struct rocpd_event {
	int64_t category;
	uint64_t stack, parent, external;
	const char *extra; /* JSON; NULL: none */
};

static int64_t add_event(struct rocpd *r, const struct rocpd_event *e)
{
	struct gt_bulk_row *row = begin_row_of(r);

	gt_bulk_int(row, e->category);
	gt_bulk_int(row, (int64_t)e->stack);
	gt_bulk_int(row, (int64_t)e->parent);
	gt_bulk_int(row, (int64_t)e->external);
	put_json(row); /* call_stack */
	put_json(row); /* line_info */
	if (e->extra)
		gt_bulk_text(row, e->extra, strlen(e->extra));
	else
		put_json(row);
	gt_bulk_add(r->event, r->next_event, row);
	return r->next_event++;
}

static struct rocpd_thread *thread_own(struct rocpd *r, struct gt_view_thread *thread)
{
	struct rocpd_thread *own = thread->own;

	if (own)
		return own;
	thread->own = own = calloc(1, sizeof *own);
	if (!own) {
		gt_rocpd_no_memory(r);
		return NULL;
	}
	own->node = gt_rocpd_node_id(r, thread->process);
	own->id = gt_rocpd_thread_id(thread);
	return own;
}

static void put_owner(struct gt_bulk_row *row, const struct gt_view_thread *thread)
{
	const struct rocpd_thread *own = thread->own;

	gt_bulk_int(row, own->node);
	gt_bulk_int(row, (int64_t)thread->pid);
	gt_bulk_int(row, own->id);
}

static void put_span(struct gt_bulk_row *row, uint64_t start_ns, uint64_t end_ns)
{
	gt_bulk_int(row, (int64_t)start_ns);
	gt_bulk_int(row, (int64_t)(end_ns > start_ns ? end_ns : start_ns));
}

/* Calls ---------------------------------------------------------------------- */

static int64_t category_of(struct rocpd *r, uint32_t domain)
{
	const char *known;
	char name[64];

	domain = domain < GT_DOMAIN_COUNT ? domain : GT_DOMAIN_NONE;
	if (r->category[domain])
		return r->category[domain];
	known = gt_domain_traits[domain].rocpd;
	snprintf(name, sizeof name, "%s_API", gt_domain_name((enum gt_domain)domain));
	for (char *p = name; *p; p++)
		*p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	return r->category[domain] = gt_rocpd_name(r, known[0] ? known : name);
}

static struct rocpd_operation *operation_own(struct rocpd *r, struct gt_view_operation *operation)
{
	struct rocpd_operation *own = operation->own;

	if (own)
		return own;
	operation->own = own = calloc(1, sizeof *own + operation->nargs * sizeof own->args[0]);
	if (!own)
		gt_rocpd_no_memory(r);
	else
		own->name = gt_rocpd_name(r, operation->name);
	return own;
}

/* Format an argument's value in r->text. Return the length. */
static size_t put_value(struct rocpd *r, const struct gt_item *call,
			const struct gt_view_operation *operation, unsigned arg)
{
	char raw[ROCPD_VALUE_BYTES], *p = r->text;
	struct gt_view_text *word;
	size_t n;

	switch (operation->info->args[arg].form) {
	case GT_FORM_UNSIGNED: return (size_t)(gt_put_u64(p, call->args[arg]) - p);
	case GT_FORM_SIGNED: return (size_t)(gt_put_i64(p, (int64_t)call->args[arg]) - p);
	case GT_FORM_ADDRESS: return (size_t)(gt_put_hex(GT_PUT(p, "0x"), call->args[arg]) - p);
	case GT_FORM_NAMED:
		word = gt_view_word(&r->view, call->op, arg, call->args);
		if (word && word->bytes <= ROCPD_VALUE_BYTES) {
			memcpy(p, word->text, word->bytes);
			return word->bytes;
		}
		break;
	default: break;
	}
	n = gt_format_arg(raw, sizeof raw, call->op, arg, call->args, call->payload,
			  call->payload_bytes);
	n = (size_t)(gt_put_utf8(p, raw, n < sizeof raw ? n : sizeof raw - 1) - p);
	return gt_cut_utf8(p, n, ROCPD_VALUE_BYTES);
}

static const struct gt_bulk_piece *get_argument(struct rocpd *r,
						const struct gt_view_operation *operation,
						unsigned i)
{
	struct rocpd_operation *own = operation->own;
	const struct gt_argument_info *arg = &operation->info->args[i];
	struct gt_bulk_row *row = &r->row;

	if (own->args[i])
		return own->args[i];
	gt_bulk_begin(row);
	gt_bulk_int(row, i);
	gt_bulk_text(row, arg->type, strnlen(arg->type, 128));
	gt_bulk_text(row, arg->name, strnlen(arg->name, 128));
	own->args[i] = gt_bulk_piece_create(row, 0, 0);
	if (!own->args[i])
		gt_rocpd_no_memory(r);
	return own->args[i];
}

void gt_rocpd_free_arguments(struct rocpd *r)
{
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		for (uint32_t o = 0; o < r->view.operation_limit[d]; o++) {
			struct gt_view_operation *operation = r->view.operations[d][o];
			struct rocpd_operation *own = operation ? operation->own : NULL;

			for (unsigned i = 0; own && i < operation->nargs; i++)
				free(own->args[i]);
		}
}

static void add_args(struct rocpd *r, const struct gt_item *call,
		     const struct gt_view_operation *operation, int64_t event)
{
	for (unsigned i = 0; call->args && i < operation->nargs; i++) {
		const struct gt_bulk_piece *argument = get_argument(r, operation, i);
		size_t bytes = put_value(r, call, operation, i);
		struct gt_bulk_row *row = begin_row_of(r);

		if (!argument)
			return;
		gt_bulk_int(row, event);
		gt_bulk_put_piece(row, argument);
		gt_bulk_text(row, r->text, bytes);
		put_json(row);
		gt_bulk_add(r->arg, r->next_arg++, row);
	}
}

static void add_region(struct rocpd *r, const struct gt_view_thread *thread, uint64_t start_ns,
		       uint64_t end_ns, int64_t name, int64_t event)
{
	struct gt_bulk_row *row = begin_row_of(r);

	put_owner(row, thread);
	put_span(row, start_ns, end_ns);
	gt_bulk_int(row, name);
	gt_bulk_int(row, event);
	put_json(row);
	gt_bulk_add(r->region, r->next_region++, row);
}

static void add_sample(struct rocpd *r, const struct gt_view_thread *thread, int64_t name,
		       uint64_t ns, int64_t event)
{
	int64_t track = gt_map_find(&r->track_map, thread->index, (uint64_t)name);
	struct gt_bulk_row *row;

	if (track < 0) {
		struct rocpd_track *moved =
			gt_grow(r->tracks, r->track_count, &r->track_capacity, sizeof *moved);

		r->tracks = moved ? moved : r->tracks;
		if (!moved || gt_map_add(&r->track_map, thread->index, (uint64_t)name,
					 (uint32_t)r->track_count) < 0) {
			gt_rocpd_no_memory(r);
			return;
		}
		track = (int64_t)r->track_count;
		r->tracks[r->track_count++] = (struct rocpd_track){thread->index, name};
	}
	row = begin_row_of(r);
	gt_bulk_int(row, track + 1);
	gt_bulk_int(row, (int64_t)ns);
	gt_bulk_int(row, event);
	put_json(row);
	gt_bulk_add(r->sample, r->next_sample++, row);
}

static void put_allocation(struct rocpd *r, const struct rocpd_allocation *a)
{
	const char *type = a->is_free ? "FREE" : "ALLOC",
		   *level = a->is_virtual ? "VIRTUAL" : "REAL";
	struct gt_bulk_row *row = begin_row_of(r);

	put_owner(row, a->thread);
	gt_bulk_null(row); /* NEEDSWORK: the device from struct gt_facts */
	gt_bulk_text(row, type, strlen(type));
	gt_bulk_text(row, level, strlen(level));
	put_span(row, a->start_ns, a->end_ns);
	gt_bulk_int(row, (int64_t)a->address);
	gt_bulk_int(row, (int64_t)a->bytes);
	gt_bulk_null(row);
	gt_bulk_null(row);
	gt_bulk_int(row, a->event);
	put_json(row);
	gt_bulk_add(r->allocate, r->next_allocate++, row);
}

static void add_allocation(struct rocpd *r, const struct gt_item *call,
			   const struct gt_view_thread *thread,
			   const struct gt_operation_info *info, const struct rocpd_event *of_call)
{
	struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	struct rocpd_event e = {r->allocation_category, of_call->stack, of_call->parent,
				of_call->external, NULL};
	struct rocpd_allocation a = {.thread = thread,
				     .start_ns = call->start_ns,
				     .end_ns = call->end_ns,
				     .is_free = info->kind == GT_KIND_FREE,
				     .is_virtual = info->memory == GT_MEMORY_VIRTUAL};
	struct rocpd_allocation *moved;

	/* The program registered this memory but did not allocate it. */
	if (info->memory == GT_MEMORY_REGISTERED)
		return;
	if (!call->args || (!gt_call_address(&view, call->ret, &a.address) &&
			    !gt_call_role(&view, GT_ROLE_ADDRESS, 0, &a.address)))
		return;
	gt_call_bytes(&view, &a.bytes);
	a.event = add_event(r, &e);
	moved = r->memory.is_full ? NULL
				  : gt_grow(r->allocations, r->allocation_count,
					    &r->allocation_capacity, sizeof *moved);
	if (!moved) {
		put_allocation(r, &a);
		return;
	}
	r->allocations = moved;
	gt_memory_use_note(&r->memory, call, (uint32_t)r->allocation_count);
	moved[r->allocation_count++] = a;
}

static void note_freed_bytes(void *data, const struct gt_memory_change *change, uint64_t in_use)
{
	struct rocpd *r = data;
	struct rocpd_allocation *a = &r->allocations[change->tag];

	(void)in_use;
	a->bytes = change->bytes;
	a->is_virtual = change->memory == GT_MEMORY_VIRTUAL;
}

static void settle_allocations(struct rocpd *r)
{
	int status = gt_memory_use_settle(&r->memory, note_freed_bytes, r);

	if (status)
		gt_rocpd_note(r, status);
	for (size_t i = 0; r->db && i < r->allocation_count; i++)
		put_allocation(r, &r->allocations[i]);
	gt_memory_use_fini(&r->memory);
	free(r->allocations);
	r->allocations = NULL;
	r->allocation_count = 0;
}

static void note_external(struct rocpd *r, struct rocpd_thread *own, const struct gt_item *call,
			  uint64_t value)
{
	struct rocpd_external *moved;

	if (value == own->last_external)
		return;
	own->last_external = value;
	moved = gt_grow(r->externals, r->external_count, &r->external_capacity, sizeof *moved);
	if (!moved) {
		gt_rocpd_no_memory(r);
		return;
	}
	r->externals = moved;
	moved[r->external_count++] =
		(struct rocpd_external){call->process, call->ordinal, GT_ID_SEQ(call->id), value};
}

/* Markers --------------------------------------------------------------------- */

/* Add an annotation of the program, from any API, under the names that ROCm's tools use. Instants
 * are written as samples. */
static void add_marker(struct rocpd *r, const struct gt_range *range)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, range->process, range->ordinal);
	struct rocpd_event e = {.category = r->marker_category};
	char message[MESSAGE_BYTES], *p = message;
	int64_t event, name = gt_rocpd_name(r, range->start_ns == range->end_ns ? "roctxMark"
										: "roctxRange");

	if (!thread || !thread_own(r, thread)) {
		gt_rocpd_note(r, -ENOMEM); /* the cause has been set */
		return;
	}
	p = GT_PUT(p, "{\"message\":\"");
	p = gt_put_json(p, range->name,
			gt_cut_utf8(range->name, strlen(range->name), MESSAGE_BYTES / 8));
	strcpy(p, "\"}");
	e.extra = message;
	event = add_event(r, &e);
	if (range->start_ns == range->end_ns)
		add_sample(r, thread, name, range->start_ns, event);
	else
		add_region(r, thread, range->start_ns, range->end_ns, name, event);
}

static void step_markers(struct rocpd *r, const struct gt_item *call)
{
	struct gt_range range;
	int status = gt_ranges_step(&r->ranges, call, &range);

	if (status < 0)
		gt_rocpd_note(r, status);
	else if (status)
		add_marker(r, &range);
}

/* All calls ------------------------------------------------------------------- */

void gt_rocpd_add_call(struct rocpd *r, const struct gt_item *call)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, call->process, call->ordinal);
	struct gt_view_operation *operation = gt_view_operation(&r->view, call->op);
	struct rocpd_thread *own = thread ? thread_own(r, thread) : NULL;
	struct rocpd_operation *name = operation ? operation_own(r, operation) : NULL;
	uint64_t external = call->external[GT_EXTERNAL_USER]
				    ? call->external[GT_EXTERNAL_USER]
				    : call->external[GT_EXTERNAL_OPERATION];
	struct rocpd_event e;
	int64_t event;

	if (!own || !name) {
		gt_rocpd_note(r, -ENOMEM); /* the cause has been set */
		return;
	}
	e = (struct rocpd_event){category_of(r, GT_OP_DOMAIN(call->op)),
				 gt_view_correlation(&r->view, thread, call->id),
				 gt_view_correlation(&r->view, thread, call->parent), external,
				 NULL};
	event = add_event(r, &e);
	add_region(r, thread, call->start_ns, call->end_ns, name->name, event);
	if (operation->info)
		add_args(r, call, operation, event);
	if (operation->info &&
	    (operation->info->kind == GT_KIND_ALLOCATION || operation->info->kind == GT_KIND_FREE))
		add_allocation(r, call, thread, operation->info, &e);
	else if (operation->info && operation->info->kind == GT_KIND_RETAIN)
		gt_memory_use_note(&r->memory, call,
				   0); /* retaining calls have no allocation row */
	if (gt_mark_of(call->op))
		step_markers(r, call);
	note_external(r, own, call, external);
	if (call->end_ns > own->last_ns)
		own->last_ns = call->end_ns;
}

/* External ids ---------------------------------------------------------------- */

/* Add a range that the user or the framework pushed. */
static void add_pushed_range(struct rocpd *r, const struct gt_view_thread *thread,
			     enum gt_external_stack stack, struct gt_pushed_range range,
			     uint64_t end_ns)
{
	struct rocpd_event e = {.category = r->marker_category, .external = range.value};
	char message[64];

	snprintf(message, sizeof message, "{\"message\":\"%s %llu\"}",
		 stack == GT_EXTERNAL_USER ? "user" : "operation", (unsigned long long)range.value);
	e.extra = message;
	add_region(r, thread, range.start_ns, end_ns, gt_rocpd_name(r, "external id"),
		   add_event(r, &e));
}

void gt_rocpd_add_external(struct rocpd *r, const struct gt_item *item)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, item->process, item->ordinal);
	struct rocpd_thread *own = thread ? thread_own(r, thread) : NULL;
	struct gt_pushed_range range;
	int status;

	if (!own) {
		gt_rocpd_note(r, -ENOMEM);
		return;
	}
	if (item->op < GT_EXTERNAL_STACK_COUNT && item->start_ns > own->last_ns)
		own->last_ns = item->start_ns;
	status = gt_pushes_step(&own->external, item, &range);
	if (status < 0)
		gt_rocpd_no_memory(r);
	else if (status)
		add_pushed_range(r, thread, item->op, range, item->start_ns);
}

static int compare_externals(const void *a, const void *b)
{
	const struct rocpd_external *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* End ranges that were never closed. They end with the last call of their thread. */
void gt_rocpd_settle_calls(struct rocpd *r)
{
	struct gt_range marker;

	while (gt_ranges_rest(&r->ranges, &marker))
		if (r->db)
			add_marker(r, &marker);
	gt_ranges_fini(&r->ranges);
	settle_allocations(r);
	for (uint32_t i = 0; i < r->view.thread_count; i++) {
		struct rocpd_thread *own = r->view.threads[i]->own;
		struct gt_pushed_range range;

		for (unsigned stack = 0; own && stack < GT_EXTERNAL_STACK_COUNT; stack++)
			while (gt_pushes_pop(&own->external, stack, &range))
				if (r->db)
					add_pushed_range(r, r->view.threads[i], stack, range,
							 own->last_ns);
		if (own)
			gt_pushes_fini(&own->external);
	}
	if (r->external_count)
		qsort(r->externals, r->external_count, sizeof *r->externals, compare_externals);
}

/* Return the external id that the user had pushed when a call started. */
static uint64_t external_of(const struct rocpd *r, uint32_t process, uint64_t id)
{
	struct rocpd_external key = {process, GT_ID_ORDINAL(id), GT_ID_SEQ(id), 0};
	size_t low = 0, high = r->external_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_externals(&r->externals[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && r->externals[low - 1].process == process &&
			       r->externals[low - 1].ordinal == key.ordinal
		       ? r->externals[low - 1].value
		       : 0;
}

/* GPU activities --------------------------------------------------------------- */

static bool has_symbol(const struct gt_item *activity)
{
	return GT_OP_DOMAIN(activity->op) < GT_DOMAIN_COUNT &&
	       gt_domain_traits[GT_OP_DOMAIN(activity->op)].symbols;
}

/* Return the id of a kernel's row in rocpd_info_kernel_symbol. */
static int64_t kernel_id(struct rocpd *r, const struct gt_item *activity)
{
	bool kernel = activity->device_op == GT_DEVICE_KERNEL;
	uint32_t symbol =
		kernel && has_symbol(activity) ? GT_KERNEL_SYMBOL(activity->object[1]) : 0;
	uint64_t key = !kernel  ? UINT64_C(1) << 33 | (uint64_t)activity->device_op
		       : symbol ? UINT64_C(1) << 32 | symbol
				: activity->name;
	int64_t found = gt_map_find(&r->kernel_map, activity->process, key);
	struct rocpd_kernel *moved;

	if (found >= 0)
		return found + 1;
	moved = gt_grow(r->kernels, r->kernel_count, &r->kernel_capacity, sizeof *moved);
	r->kernels = moved ? moved : r->kernels;
	if (!moved ||
	    gt_map_add(&r->kernel_map, activity->process, key, (uint32_t)r->kernel_count) < 0) {
		gt_rocpd_no_memory(r);
		return 1;
	}
	moved[r->kernel_count++] =
		(struct rocpd_kernel){activity->process, activity->name, symbol,
				      kernel ? NULL : gt_device_op_name(activity->device_op)};
	return (int64_t)r->kernel_count;
}

static void add_dispatch(struct rocpd *r, const struct gt_item *activity,
			 const struct gt_view_thread *thread, const struct gt_view_queue *queue,
			 int64_t event)
{
	bool detail = activity->device_op == GT_DEVICE_KERNEL && has_symbol(activity);
	int64_t kernel = kernel_id(r, activity);
	struct gt_bulk_row *row = begin_row_of(r);

	put_owner(row, thread);
	gt_bulk_int(row, gt_rocpd_agent(r, queue->device));
	gt_bulk_int(row, kernel);
	gt_bulk_int(row, r->next_dispatch);
	gt_bulk_int(row, (int64_t)queue->index + 1);
	gt_bulk_int(row, (int64_t)queue->index + 1);
	put_span(row, activity->start_ns, activity->end_ns);
	gt_bulk_int(row, detail ? GT_KERNEL_PRIVATE_BYTES(activity->object[1]) : 0);
	gt_bulk_int(row, detail ? GT_KERNEL_GROUP_BYTES(activity->object[1]) : 0);
	for (unsigned i = 0; i < 3; i++)
		gt_bulk_int(row, activity->local[i]);
	for (unsigned i = 0; i < 3; i++)
		gt_bulk_int(row, activity->global[i]);
	gt_bulk_int(row, ROCPD_EMPTY_TEXT);
	gt_bulk_int(row, event);
	put_json(row);
	gt_bulk_add(r->dispatch, r->next_dispatch++, row);
}

static void add_copy(struct rocpd *r, const struct gt_item *activity,
		     const struct gt_view_thread *thread, const struct gt_view_queue *queue,
		     int64_t event)
{
	struct gt_view_ends ends = gt_view_ends(&r->view, activity, queue);
	int64_t host = gt_rocpd_host_agent(r, activity->process);
	bool reads = activity->device_op == GT_DEVICE_READ || activity->device_op == GT_DEVICE_MAP;
	bool writes =
		activity->device_op == GT_DEVICE_WRITE || activity->device_op == GT_DEVICE_UNMAP;
	struct gt_bulk_row *row = begin_row_of(r);

	put_owner(row, thread);
	put_span(row, activity->start_ns, activity->end_ns);
	gt_bulk_int(row, r->copy_names[activity->device_op]);
	gt_bulk_int(row, reads ? host : gt_rocpd_agent(r, ends.to));
	gt_bulk_int(row, (int64_t)activity->object[1]);
	gt_bulk_int(row, writes ? host : gt_rocpd_agent(r, ends.from));
	gt_bulk_int(row, (int64_t)activity->object[0]);
	gt_bulk_int(row, (int64_t)activity->bytes);
	gt_bulk_int(row, (int64_t)queue->index + 1);
	gt_bulk_int(row, (int64_t)queue->index + 1);
	gt_bulk_int(row, ROCPD_EMPTY_TEXT);
	gt_bulk_int(row, event);
	put_json(row);
	gt_bulk_add(r->copy, r->next_copy++, row);
}

static void add_scratch(struct rocpd *r, const struct gt_item *activity,
			const struct gt_view_thread *thread, const struct gt_view_queue *queue,
			int64_t event)
{
	static const char *const types[] = {[GT_SCRATCH_ALLOC] = "ALLOC",
					    [GT_SCRATCH_FREE] = "FREE",
					    [GT_SCRATCH_RECLAIM] = "RECLAIM"};
	const uint32_t operation = GT_SCRATCH_OPERATION(activity->object[1]);
	const char *type =
		types[operation && operation <= GT_SCRATCH_RECLAIM ? operation : GT_SCRATCH_ALLOC];
	struct gt_bulk_row *row = begin_row_of(r);

	put_owner(row, thread);
	gt_bulk_int(row, gt_rocpd_agent(r, queue->device));
	gt_bulk_text(row, type, strlen(type));
	gt_bulk_text(row, "SCRATCH", 7);
	put_span(row, activity->start_ns, activity->end_ns);
	gt_bulk_int(row, (int64_t)activity->object[0]);
	gt_bulk_int(row, (int64_t)activity->bytes);
	gt_bulk_int(row, (int64_t)queue->index + 1);
	gt_bulk_int(row, (int64_t)queue->index + 1);
	gt_bulk_int(row, event);
	put_json(row);
	gt_bulk_add(r->allocate, r->next_allocate++, row);
}

void gt_rocpd_add_activity(struct rocpd *r, const struct gt_item *activity)
{
	struct gt_view_queue *queue = gt_view_queue(&r->view, activity);
	struct gt_view_thread *thread =
		gt_view_caller(&r->view, activity->process,
			       activity->id ? GT_ID_ORDINAL(activity->id) : activity->ordinal);
	uint64_t stack;
	struct rocpd_event e;

	if (!queue || !thread || !thread_own(r, thread)) {
		gt_rocpd_note(r, -ENOMEM); /* the cause has been set */
		return;
	}
	if (!activity->start_ns) {
		r->untimed++;
		return;
	}
	stack = gt_view_correlation(&r->view, thread, activity->id);
	e = (struct rocpd_event){r->dispatch_category, stack, stack,
				 activity->id && r->external_count
					 ? external_of(r, activity->process, activity->id)
					 : 0,
				 NULL};
	if (activity->device_op < GT_DEVICE_OP_COUNT &&
	    r->copy_names[activity->device_op] != ROCPD_EMPTY_TEXT) {
		e.category = r->copy_category;
		add_copy(r, activity, thread, queue, add_event(r, &e));
	} else if (activity->device_op == GT_DEVICE_SCRATCH) {
		e.category = r->scratch_category;
		add_scratch(r, activity, thread, queue, add_event(r, &e));
	} else if (activity->device_op == GT_DEVICE_MARKER ||
		   activity->device_op == GT_DEVICE_BARRIER) {
		e.category =
			gt_rocpd_name(r, activity->device_op == GT_DEVICE_MARKER ? "QUEUE_MARKER"
										 : "QUEUE_BARRIER");
		add_sample(r, thread, e.category, activity->start_ns, add_event(r, &e));
	} else {
		add_dispatch(r, activity, thread, queue, add_event(r, &e));
	}
}
