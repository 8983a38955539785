/* SPDX-License-Identifier: MIT */
/* Writes calls, external ids and GPU activities as rows of an RPD file, and the links between them.
 * See rpd.h. */
#include "export/rpd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/symbols/pushes.h"
#include "util/demangle.h"
#include "util/error.h"

/* Data that the exporter keeps per thread, in gt_view_thread.own: pushed external ids. */
struct rpd_thread {
	struct gt_pushes external;
	uint64_t last_ns;
};

struct rpd_operation {
	int64_t name, category;
	bool copies;           /* true if the call copies and describes the copy */
	bool names_a_function; /* true if the call maps a host function to a kernel */
};

enum { RANGE_BYTES = 1000 }; /* maximum bytes of a range's name */

/* Calls ---------------------------------------------------------------------- */

static int64_t take_row(struct rpd *r, const struct gt_item *call)
{
	int64_t row = gt_rowmap_take(&r->calls, call);

	if (!row)
		gt_rpd_no_memory(r);
	return row;
}

void gt_rpd_settle_calls(struct rpd *r)
{
	gt_rowmap_settle(&r->calls);
	r->first_unseen = r->calls.next_row;
}

struct api_row {
	int64_t id, pid, tid;
	uint64_t start_ns, end_ns;
	int64_t name, category, domain, args;
};

static void add_api(struct rpd *r, const struct api_row *api)
{
	struct gt_bulk_row *row = &r->row;

	gt_bulk_begin(row);
	gt_bulk_null(row);
	gt_bulk_int(row, api->pid);
	gt_bulk_int(row, api->tid);
	gt_bulk_int(row, (int64_t)api->start_ns);
	gt_bulk_int(row, (int64_t)(api->end_ns > api->start_ns ? api->end_ns : api->start_ns));
	gt_bulk_int(row, api->name);
	gt_bulk_int(row, api->category);
	gt_bulk_int(row, api->domain);
	gt_bulk_int(row, api->args);
	gt_bulk_add(r->api, api->id, row);
}

/* Return the index of the operation's first argument with a role; -1: none. */
static int argument_of_role(const struct gt_view_operation *operation, enum gt_role role)
{
	for (int i = 0; i < operation->nargs; i++)
		if (operation->info->args[i].role == role)
			return i;
	return -1;
}

static struct rpd_operation *operation_own(struct rpd *r, struct gt_view_operation *operation)
{
	struct rpd_operation *own = operation->own;

	if (own)
		return own;
	operation->own = own = malloc(sizeof *own);
	if (!own) {
		gt_rpd_no_memory(r);
		return NULL;
	}
	own->name = gt_rpd_name(r, operation->name);
	own->category =
		gt_rpd_name(r,
			    operation->info ? gt_operation_kind_name(operation->info->kind) : "");
	own->copies = operation->info && gt_view_delegates(operation->info->op) &&
		      operation->info->kind == GT_KIND_COPY;
	own->names_a_function = argument_of_role(operation, GT_ROLE_FUNCTION) >= 0 &&
				argument_of_role(operation, GT_ROLE_SYMBOL) >= 0;
	return own;
}

static struct rpd_thread *thread_own(struct rpd *r, struct gt_view_thread *thread)
{
	if (!thread->own && !(thread->own = calloc(1, sizeof(struct rpd_thread))))
		gt_rpd_no_memory(r);
	return thread->own;
}

static int64_t domain_id(struct rpd *r, uint32_t domain)
{
	if (domain >= GT_DOMAIN_COUNT)
		domain = GT_DOMAIN_NONE;
	if (!r->domain_ids[domain])
		r->domain_ids[domain] = gt_rpd_name(r, gt_domain_name(domain));
	return r->domain_ids[domain];
}

/* A row of rocpd_kernelapi. Each launching call has one. */
struct kernel_row {
	int64_t api, name;
	const char *stream;
	uint64_t grid[3], block[3], group_bytes, private_bytes;
};

static void put_kernel_row(struct rpd *r, const struct kernel_row *k)
{
	struct gt_bulk_row *row = &r->row;
	int64_t id = (int64_t)gt_bulk_count(r->kernelapi) + 1;

	gt_rpd_set_flags(r, k->api, RPD_CALL_HAS_KERNEL);
	gt_bulk_begin(row);
	gt_bulk_int(row, k->api);
	gt_bulk_text(row, k->stream, strlen(k->stream));
	for (unsigned i = 0; i < 3; i++)
		gt_bulk_int(row, (int64_t)k->grid[i]);
	for (unsigned i = 0; i < 3; i++)
		gt_bulk_int(row, (int64_t)k->block[i]);
	gt_bulk_int(row, (int64_t)k->group_bytes);
	gt_bulk_int(row, (int64_t)k->private_bytes);
	gt_bulk_int(row, k->name);
	gt_bulk_add(r->kernelapi, id, row);
	gt_rpd_add_link(r, &r->kernels_sorted, k->api, id);
}

static int64_t graph_name(struct rpd *r, uint64_t handle)
{
	char name[64];

	snprintf(name, sizeof name, "Graph Kernel (0x%llx)", (unsigned long long)handle);
	return gt_rpd_name(r, name);
}

static void note_function(struct rpd *r, const struct gt_item *call,
			  const struct gt_view_operation *operation)
{
	uint64_t host = call->args[argument_of_role(operation, GT_ROLE_FUNCTION)];
	unsigned symbol = (unsigned)argument_of_role(operation, GT_ROLE_SYMBOL);
	char text[1024], *readable;
	size_t n = gt_format_arg(text, sizeof text, call->op, symbol, call->args, call->payload,
				 call->payload_bytes);

	if (!host || n < 3 || n >= sizeof text || *text != '"' ||
	    gt_map_find(&r->functions, call->process, host) >= 0)
		return;
	text[n - 1] = '\0'; /* removes the closing quote */
	readable = r->view.mangled ? NULL : gt_demangle(text + 1);
	if (gt_map_add(&r->functions, call->process, host,
		       (uint32_t)gt_rpd_name(r, readable ? readable : text + 1)) < 0)
		gt_rpd_no_memory(r);
	free(readable);
}

/* Add a launch in a domain whose activities come from a lower-level domain. The call contains all
 * data. This includes launches that a graph captures and that have no activity. A launch of a graph
 * uses the graph's name. */
static void add_upper_launch(struct rpd *r, const struct gt_item *item, int64_t api)
{
	struct gt_call_view call = {item->op, item->args, item->payload, item->payload_bytes};
	uint64_t stream = 0, function = 0, graph;
	struct kernel_row k = {.api = api};
	char handle[RPD_HEX_BYTES];
	int64_t known;

	gt_call_role(&call, GT_ROLE_STREAM, 0, &stream);
	*gt_put_hex(GT_PUT(handle, "0x"), stream) = '\0';
	k.stream = handle;
	if (gt_call_role(&call, GT_ROLE_GRAPHEXEC, 0, &graph)) {
		k.name = graph_name(r, graph);
		put_kernel_row(r, &k);
		return;
	}
	known = gt_call_role(&call, GT_ROLE_FUNCTION, 0, &function)
			? gt_map_find(&r->functions, item->process, function)
			: -1;
	if (known < 0)
		return; /* the activity will provide the name */
	k.name = known;
	for (unsigned i = 0; i < 3; i++) {
		gt_call_role(&call, GT_ROLE_GRID, i, &k.grid[i]);
		gt_call_role(&call, GT_ROLE_BLOCK, i, &k.block[i]);
	}
	put_kernel_row(r, &k);
}

void gt_rpd_add_call(struct rpd *r, const struct gt_item *item)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, item->process, item->ordinal);
	struct gt_view_operation *operation = gt_view_operation(&r->view, item->op);
	struct rpd_operation *own;
	struct rpd_thread *mine;
	struct api_row api;
	int64_t args;

	if (!thread || !operation || !(own = operation_own(r, operation)) ||
	    !(mine = thread_own(r, thread))) {
		gt_rpd_note(r, -ENOMEM); /* the cause has been set */
		return;
	}
	args = gt_rpd_args(r, item, operation);
	api = (struct api_row){take_row(r, item),
			       thread->pid,
			       thread->tid,
			       item->start_ns,
			       item->end_ns,
			       own->name,
			       own->category,
			       domain_id(r, GT_OP_DOMAIN(item->op)),
			       args};
	add_api(r, &api);
	gt_rpd_set_flags(r, api.id, RPD_CALL_THERE);
	if (own->copies && item->args)
		gt_rpd_set_flags(r, api.id, RPD_CALL_TELLS_COPY);
	else if (!gt_view_is_beneath(item->op) && /* in such domains the bit means TELLS_COPY */
		 gt_call_blocking(item->op, item->args) == GT_BLOCKING_YES)
		gt_rpd_set_flags(r, api.id, RPD_CALL_BLOCKS);
	if (item->args && own->names_a_function && item->payload_bytes &&
	    GT_OP_NARGS(item->op) == operation->nargs)
		note_function(r, item, operation);
	if (item->args && gt_view_delegates(item->op) && operation->info &&
	    operation->info->kind == GT_KIND_LAUNCH)
		add_upper_launch(r, item, api.id);
	if (item->end_ns > mine->last_ns)
		mine->last_ns = item->end_ns;
}

/* External ids ---------------------------------------------------------------- */

/* Add a range that the user or the framework pushed, in RPD's form: an api row named UserMarker. */
static void add_marker(struct rpd *r, const struct gt_view_thread *thread,
		       enum gt_external_stack stack, struct gt_pushed_range m, uint64_t end_ns)
{
	struct api_row api = {gt_rowmap_next(&r->calls),
			      thread->pid,
			      thread->tid,
			      m.start_ns,
			      end_ns,
			      r->marker_id,
			      RPD_EMPTY_TEXT,
			      r->marker_id,
			      r->next_string++};
	char *text = r->text, *p = text;

	p = stack == GT_EXTERNAL_USER ? GT_PUT(p, "user ") : GT_PUT(p, "operation ");
	p = gt_put_u64(p, m.value);
	gt_rpd_add_text(r, api.args, text, (size_t)(p - text), true);
	add_api(r, &api);
}

void gt_rpd_add_external(struct rpd *r, const struct gt_item *item)
{
	struct gt_view_thread *thread = gt_view_thread(&r->view, item->process, item->ordinal);
	struct rpd_thread *own = thread ? thread_own(r, thread) : NULL;
	struct gt_pushed_range range;
	int status;

	if (!own) {
		gt_rpd_note(r, -ENOMEM);
		return;
	}
	if (item->op < GT_EXTERNAL_STACK_COUNT && item->start_ns > own->last_ns)
		own->last_ns = item->start_ns;
	status = gt_pushes_step(&own->external, item, &range);
	if (status < 0)
		gt_rpd_no_memory(r);
	else if (status)
		add_marker(r, thread, item->op, range, item->start_ns);
}

static void add_program_range(struct rpd *r, const struct gt_range *range)
{
	const struct gt_view_thread *thread =
		gt_view_thread(&r->view, range->process, range->ordinal);
	struct api_row api = {gt_rowmap_next(&r->calls),
			      thread ? thread->pid : 0,
			      thread ? thread->tid : 0,
			      range->start_ns,
			      range->end_ns,
			      r->marker_id,
			      RPD_EMPTY_TEXT,
			      r->marker_id,
			      r->next_string++};

	size_t bytes = strlen(range->name);

	bytes = (size_t)(gt_put_harmless(r->text, range->name,
					 bytes < RANGE_BYTES ? bytes : RANGE_BYTES) -
			 r->text);
	gt_rpd_add_text(r, api.args, r->text, bytes, true);
	add_api(r, &api);
}

void gt_rpd_add_mark(struct rpd *r, const struct gt_item *call)
{
	struct gt_range range;
	int status = gt_ranges_step(&r->ranges, call, &range);

	if (status < 0)
		gt_rpd_note(r, status);
	else if (status)
		add_program_range(r, &range);
}

/* End ranges that were never closed. They end with the last call of their thread. */
void gt_rpd_close_markers(struct rpd *r)
{
	struct gt_range range;

	while (gt_ranges_rest(&r->ranges, &range))
		add_program_range(r, &range);
	gt_ranges_fini(&r->ranges);
	for (uint32_t i = 0; i < r->view.thread_count; i++) {
		struct gt_view_thread *thread = r->view.threads[i];
		struct rpd_thread *own = thread->own;

		for (unsigned stack = 0; own && stack < GT_EXTERNAL_STACK_COUNT; stack++) {
			struct gt_pushed_range open;

			while (gt_pushes_pop(&own->external, stack, &open))
				add_marker(r, thread, stack, open, own->last_ns);
		}
		if (own)
			gt_pushes_fini(&own->external);
	}
}

/* GPU activities --------------------------------------------------------------- */

const char *gt_rpd_type_name(enum gt_device_op op)
{
	static const char *const names[GT_DEVICE_OP_COUNT] = {
		[GT_DEVICE_KERNEL] = "KernelExecution",
		[GT_DEVICE_READ] = "CopyDeviceToHost",
		[GT_DEVICE_WRITE] = "CopyHostToDevice",
		[GT_DEVICE_COPY] = "CopyDeviceToDevice",
		[GT_DEVICE_FILL] = "FillBuffer",
		[GT_DEVICE_MAP] = "MapBuffer",
		[GT_DEVICE_UNMAP] = "UnmapBuffer",
		[GT_DEVICE_MIGRATE] = "MigrateBuffer",
		[GT_DEVICE_MARKER] = "Marker",
		[GT_DEVICE_BARRIER] = "Barrier",
		[GT_DEVICE_COMMAND_BUFFER] = "Task",
		[GT_DEVICE_NATIVE] = "NativeKernel",
		[GT_DEVICE_OTHER] = "Other",
		[GT_DEVICE_GRAPH] = "Task",
		[GT_DEVICE_SCRATCH] = "Scratch",
	};

	return op < GT_DEVICE_OP_COUNT && names[op] ? names[op] : "Other";
}

static struct rpd_queue *queue_own(struct rpd *r, struct gt_view_queue *queue)
{
	struct rpd_queue *own = queue->own;

	if (own)
		return own;
	queue->own = own = malloc(sizeof *own);
	if (!own) {
		gt_rpd_no_memory(r);
		return NULL;
	}
	*gt_put_hex(GT_PUT(own->handle, "0x"), queue->object ? queue->object->handle : 0) = '\0';
	return own;
}

/* Add a row for a call that is not in the capture, so that its activity can refer to it. The row's
 * duration is 0, so that it nests. */
static int64_t add_unseen_call(struct rpd *r, const struct gt_item *activity)
{
	uint32_t ordinal = activity->id ? GT_ID_ORDINAL(activity->id) : activity->ordinal;
	struct gt_view_thread *thread = gt_view_thread(&r->view, activity->process, ordinal);
	uint64_t at = activity->call_start_ns ? activity->call_start_ns
		      : activity->queued_ns   ? activity->queued_ns
					      : activity->start_ns;
	int64_t known =
		activity->id ? gt_map_find(&r->unseen, activity->process, activity->id) : -1;
	struct api_row api;

	if (known >= 0)
		return r->first_unseen + known;
	if (!thread) {
		gt_rpd_note(r, -ENOMEM); /* the cause has been set */
		return 0;
	}
	api = (struct api_row){gt_rowmap_next(&r->calls),
			       thread->pid,
			       thread->tid,
			       at,
			       at,
			       r->unseen_id,
			       RPD_EMPTY_TEXT,
			       domain_id(r, GT_OP_DOMAIN(activity->op)),
			       RPD_EMPTY_TEXT};
	add_api(r, &api);
	gt_rpd_set_flags(r, api.id, RPD_CALL_THERE);
	if (activity->id && gt_map_add(&r->unseen, activity->process, activity->id,
				       (uint32_t)(api.id - r->first_unseen)) < 0)
		gt_rpd_no_memory(r);
	return api.id;
}

/* Add data about a kernel that its launching call did not contain. */
static void add_kernelapi(struct rpd *r, const struct gt_item *activity, int64_t api,
			  const char *stream, int64_t kernel, bool graph)
{
	struct kernel_row k = {.api = api, .name = kernel, .stream = stream};

	if (gt_rowmap_flags(&r->calls, api) & RPD_CALL_HAS_KERNEL)
		return;
	if (graph)
		k.name = graph_name(r, activity->object[0]);
	for (unsigned i = 0; i < 3 && !graph; i++) {
		k.grid[i] = activity->global[i];
		k.block[i] = activity->local[i];
	}
	put_kernel_row(r, &k);
}

void gt_rpd_step_copy(struct rpd *r, const struct gt_item *call)
{
	struct gt_view_operation *operation = call->args && gt_view_delegates(call->op)
						      ? gt_view_operation(&r->view, call->op)
						      : NULL;
	struct rpd_operation *own = operation ? operation_own(r, operation) : NULL;
	int64_t api;

	if (!own || !own->copies)
		return;
	api = gt_rowmap_find(&r->calls, call->process, call->id);
	if (api)
		gt_rpd_copy_called(r, call, api,
				   gt_call_blocking(call->op, call->args) == GT_BLOCKING_YES);
}

void gt_rpd_add_activity(struct rpd *r, const struct gt_item *activity)
{
	struct gt_view_queue *queue = gt_view_queue(&r->view, activity);
	struct rpd_queue *own = queue ? queue_own(r, queue) : NULL;
	bool graph = activity->device_op == GT_DEVICE_COMMAND_BUFFER || activity->replay;
	struct gt_bulk_row *row = &r->row;
	int64_t api, op, name = RPD_EMPTY_TEXT, type, device;

	if (!own) {
		gt_rpd_note(r, -ENOMEM); /* the cause has been set */
		return;
	}
	if (!activity->start_ns) {
		r->untimed++;
		return;
	}
	api = activity->id ? gt_rowmap_find(&r->calls, activity->process, activity->id) : 0;
	if (!api)
		api = add_unseen_call(r, activity);
	if (activity->name) {
		struct gt_view_text *text =
			gt_view_name(&r->view, activity->process, activity->name);

		name = text ? gt_rpd_name(r, text->text) : RPD_EMPTY_TEXT;
	}
	type = r->type_ids[activity->device_op < GT_DEVICE_OP_COUNT ? activity->device_op
								    : GT_DEVICE_OTHER];
	device = queue->device == UINT32_MAX ? -1 : (int64_t)queue->device;
	op = r->next_op++;
	gt_bulk_begin(row);
	gt_bulk_null(row);
	gt_bulk_int(row, device);
	gt_bulk_int(row, queue->stream);
	gt_bulk_int(row, activity->ordinal_in_graph);
	gt_bulk_int(row, (int64_t)activity->start_ns);
	gt_bulk_int(row, (int64_t)(activity->end_ns > activity->start_ns ? activity->end_ns
									 : activity->start_ns));
	gt_bulk_int(row, name);
	gt_bulk_int(row, type);
	gt_bulk_add(r->op, op, row);
	gt_bulk_begin(row);
	gt_bulk_null(row);
	gt_bulk_int(row, api);
	gt_bulk_int(row, op);
	gt_bulk_add(r->api_ops, op, row);
	gt_rpd_add_link(r, &r->links_sorted, api, op);
	gt_bulk_begin(row);
	gt_bulk_int(row, op);
	gt_bulk_int(row, op); /* both ids increase together */
	gt_bulk_add(r->ops_by_op, 0, row);
	if (graph || activity->device_op == GT_DEVICE_KERNEL)
		add_kernelapi(r, activity, api, own->handle, name, graph);
	else if (activity->device_op == GT_DEVICE_READ || activity->device_op == GT_DEVICE_WRITE ||
		 activity->device_op == GT_DEVICE_COPY)
		gt_rpd_count_copy(r, activity, api, queue->object ? queue->object->handle : 0,
				  queue);
}
