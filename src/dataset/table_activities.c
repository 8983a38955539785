/* SPDX-License-Identifier: MIT */
/* Table `activities`: a row for each GPU activity, in the order in which they were written. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "analysis/model/view.h"
#include "dataset/activity_values.h"
#include "dataset/fill_column.h"
#include "dataset/table_items.h"
#include "record/operation.h"

struct activities {
	struct items items;
	struct activity_values values;
	int32_t domains[GT_DOMAIN_COUNT], kinds[GT_DEVICE_OP_COUNT]; /* texts */
	/* values of each row that take a look-up, if a column needs them */
	int32_t thread[ROWS_MOST]; /* -1: not known */
	int64_t call[ROWS_MOST];
	struct activity_place place[ROWS_MOST];
	bool needs_caller, needs_place;
	struct gt_item items_of_rows[ROWS_MOST];
};

#define OWN   ((struct activities *)r->own)
#define PLACE (&OWN->place[i])

static inline bool is_timed(const struct gt_item *k)
{
	return k->start_ns && k->end_ns >= k->start_ns;
}

static inline int32_t clip(uint32_t value)
{
	return value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

static inline int64_t clip_long(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

#define SINCE_1970(ns) dataset_since_1970(r->dataset, ns)

FILL(session, int32_t, rows->thread->session)
FILL(process, int32_t, (int32_t)k->process)
FILL_IF(thread, int32_t, OWN->thread[i] >= 0, OWN->thread[i])
FILL_IF(call, int64_t, OWN->call[i] != GPUTAP_UNKNOWN, OWN->call[i])
FILL(domain, int32_t, OWN->domains[GT_OP_DOMAIN(k->op) % GT_DOMAIN_COUNT])
FILL(kind, int32_t, OWN->kinds[k->device_op % GT_DEVICE_OP_COUNT])
FILL_TEXT(name, activity_name(&OWN->values, r, k))
FILL_IF(device, int32_t, PLACE->device >= 0, PLACE->device)
FILL_IF(queue, int32_t, PLACE->queue >= 0, PLACE->queue)
FILL_IF(start_ns, int64_t, is_timed(k), SINCE_1970(k->start_ns))
FILL_IF(duration_ns, int64_t, is_timed(k), k->end_ns - k->start_ns)
FILL_IF(queued_ns, int64_t, k->queued_ns, SINCE_1970(k->queued_ns))
FILL_IF(submitted_ns, int64_t, k->submitted_ns, SINCE_1970(k->submitted_ns))
FILL_IF(call_start_ns, int64_t, k->call_start_ns, SINCE_1970(k->call_start_ns))
FILL_IF(bytes, int64_t, k->bytes, clip_long(k->bytes))
FILL(global_x, int64_t, k->global[0])
FILL(global_y, int64_t, k->global[1])
FILL(global_z, int64_t, k->global[2])
FILL(local_x, int32_t, gt_item_endpoints(k) ? 0 : clip(k->local[0]))
FILL(local_y, int32_t, gt_item_endpoints(k) ? 0 : clip(k->local[1]))
FILL(local_z, int32_t, gt_item_endpoints(k) ? 0 : clip(k->local[2]))
FILL_IF(source_device, int32_t, PLACE->source >= 0, PLACE->source)
FILL_IF(target_device, int32_t, PLACE->target >= 0, PLACE->target)
FILL(status, int32_t, k->status)
FILL_IF(graph, int32_t, k->graph, clip(k->graph))
FILL_IF(graph_node, int32_t, k->replay && k->ordinal_in_graph != UINT32_MAX,
	clip(k->ordinal_in_graph))
FILL_IF(graph_replay, int32_t, k->replay, clip(k->replay))

enum {
	COLUMN_THREAD = 2,
	COLUMN_CALL,
	COLUMN_DEVICE = 7,
	COLUMN_QUEUE,
	COLUMN_SOURCE = 21,
	COLUMN_TARGET
};

static const struct column columns[] = {
	FILLED_COLUMN(session, COLUMN_I32, "", false, "number of the session"),
	FILLED_COLUMN(process, COLUMN_I32, "", false, "number of the process"),
	[COLUMN_THREAD] = FILLED_COLUMN(thread, COLUMN_I32, "", true,
					"number of the thread that made the launching call"),
	[COLUMN_CALL] = FILLED_COLUMN(call, COLUMN_I64, "", true, "id of the launching call"),
	FILLED_TEXTS(domain, DICTIONARY_DOMAIN, false, "API that executed the activity"),
	FILLED_TEXTS(kind, DICTIONARY_KIND, false, "such as kernel, memcpy H2D, memset, graph"),
	FILLED_TEXTS(name, DICTIONARY_NAME, true, "name of the kernel, demangled"),
	[COLUMN_DEVICE] = FILLED_COLUMN(device, COLUMN_I32, "", true, "number of the device"),
	[COLUMN_QUEUE] =
		FILLED_COLUMN(queue, COLUMN_I32, "", true, "number of the queue or stream"),
	FILLED_COLUMN(start_ns, COLUMN_I64, "ns", true, "start on the device, since 1970"),
	FILLED_COLUMN(duration_ns, COLUMN_I64, "ns", true, "duration on the device"),
	FILLED_COLUMN(queued_ns, COLUMN_I64, "ns", true, "time at which the runtime queued it"),
	FILLED_COLUMN(submitted_ns, COLUMN_I64, "ns", true,
		      "time at which the runtime submitted it"),
	FILLED_COLUMN(call_start_ns, COLUMN_I64, "ns", true, "start of the launching call"),
	FILLED_COLUMN(bytes, COLUMN_I64, "bytes", true, "bytes moved or set"),
	FILLED_COLUMN(global_x, COLUMN_I64, "", false, "work-items (threads) in x"),
	FILLED_COLUMN(global_y, COLUMN_I64, "", false, "work-items in y"),
	FILLED_COLUMN(global_z, COLUMN_I64, "", false, "work-items in z"),
	FILLED_COLUMN(local_x, COLUMN_I32, "", false, "work-items of a work-group (block) in x"),
	FILLED_COLUMN(local_y, COLUMN_I32, "", false, "work-items of a work-group in y"),
	FILLED_COLUMN(local_z, COLUMN_I32, "", false, "work-items of a work-group in z"),
	[COLUMN_SOURCE] =
		FILLED_COLUMN(source_device, COLUMN_I32, "", true, "copy between devices: source"),
	[COLUMN_TARGET] =
		FILLED_COLUMN(target_device, COLUMN_I32, "", true, "copy between devices: target"),
	FILLED_COLUMN(status, COLUMN_I32, "", false, "0: completed; below 0: error of the runtime"),
	FILLED_COLUMN(graph, COLUMN_I32, "", true,
		      "number of the graph that contains the activity"),
	FILLED_COLUMN(graph_node, COLUMN_I32, "", true, "ordinal of its node in the graph"),
	FILLED_COLUMN(graph_replay, COLUMN_I32, "", true, "number of the graph's launch"),
};

static int open_activities(struct reader *r)
{
	struct activities *a = r->own;
	int status = activity_values_init(&a->values, r);

	a->items.copies = a->items_of_rows;
	a->needs_caller = r->wants[COLUMN_THREAD] || r->wants[COLUMN_CALL];
	a->needs_place = r->wants[COLUMN_DEVICE] || r->wants[COLUMN_QUEUE] ||
			 r->wants[COLUMN_SOURCE] || r->wants[COLUMN_TARGET];
	if (status)
		return status;
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		a->domains[d] =
			reader_text(r, DICTIONARY_DOMAIN, gt_domain_name((enum gt_domain)d));
	for (unsigned k = 0; k < GT_DEVICE_OP_COUNT; k++)
		a->kinds[k] =
			reader_text(r, DICTIONARY_KIND, gt_device_op_name((enum gt_device_op)k));
	return items_open(r, &a->items, GT_RECORD_DEVICE);
}

static int next_activities(struct reader *r, struct rows *rows, size_t most)
{
	struct activities *a = r->own;
	int status = items_next(r, &a->items, rows, most);

	for (size_t i = 0; a->needs_caller && i < rows->count; i++) {
		const struct gt_item *k = rows->row[i];
		const struct thread_number *caller =
			activity_caller(&a->values, r, rows->thread, k);

		a->thread[i] = caller->number;
		a->call[i] = k->id ? dataset_id(caller, k->id) : GPUTAP_UNKNOWN;
	}
	for (size_t i = 0; a->needs_place && i < rows->count; i++)
		a->place[i] = activity_place(&a->values, r, rows->row[i]);
	return status;
}

static void close_activities(struct reader *r)
{
	struct activities *a = r->own;

	items_close(&a->items);
	activity_values_fini(&a->values);
}

const struct table table_activities = {
	.name = "activities",
	.text = "GPU activities: kernels, copies, memsets and others",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.own_bytes = sizeof(struct activities),
	.open = open_activities,
	.next = next_activities,
	.close = close_activities,
	.is_partitioned = true,
};
