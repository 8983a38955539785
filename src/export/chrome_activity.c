/* SPDX-License-Identifier: MIT */
/* Writes GPU activities and launches of graphs for the Chrome exporter: see chrome.h. */
#include "export/chrome_notes.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/error.h"

/* Prefixes of a queue's rows: pid,"tid":row,"ts": */
struct chrome_rows {
	uint64_t context;
	unsigned count;
	struct gt_snippet *row[];
};

static void name_device(struct gt_chrome *x, uint32_t device)
{
	uint64_t pid = gt_chrome_device_pid(x, device);
	char label[256];

	if (x->device_named[pid])
		return;
	x->device_named[pid] = true;
	gt_chrome_write_label(x, "process_name", pid, 0, "name",
			      gt_view_device_label(&x->view, device, label, sizeof label));
	snprintf(label, sizeof label, "GPU %u", (unsigned)pid);
	gt_chrome_write_label(x, "process_labels", pid, 0, "labels", label);
	gt_chrome_write_sort(x, "process_sort_index", pid, 0, DEVICE_SORT + pid);
}

/* GPU activities -------------------------------------------------------------- */

static const char *const class_categories[] = {
	[GT_ACTIVITY_KERNEL] = "kernel",
	[GT_ACTIVITY_COPY] = "gpu_memcpy",
	[GT_ACTIVITY_SET] = "gpu_memset",
	[GT_ACTIVITY_MARK] = "gpu_marker",
};

/* Return the start of a name. Readers recognise the direction of a memcpy by the first 11
 * letters. */
static const char *activity_text(enum gt_device_op op)
{
	switch (op) {
	case GT_DEVICE_READ: return "Memcpy DtoH (Device -> Host)";
	case GT_DEVICE_WRITE: return "Memcpy HtoD (Host -> Device)";
	case GT_DEVICE_COPY: return "Memcpy DtoD (Device -> Device)";
	case GT_DEVICE_FILL: return "Memset (Device)";
	case GT_DEVICE_MAP: return "Memcpy DtoH (map)";
	case GT_DEVICE_UNMAP: return "Memcpy HtoD (unmap)";
	case GT_DEVICE_MIGRATE: return "Memcpy HtoD (migrate)";
	default: return gt_device_op_name(op);
	}
}

/* Generate "cat":"kernel","name":"saxpy","pid": */
static struct gt_snippet *activity_begin(enum gt_device_op op, const char *name, size_t bytes)
{
	char text[6 * TEXT_MAX + 64], *p = text;

	if (bytes > TEXT_MAX)
		bytes = TEXT_MAX;
	p = GT_PUT(p, "\"cat\":");
	p = gt_chrome_put_quoted(p, class_categories[gt_view_activity_class(op)]);
	p = GT_PUT(p, ",\"name\":\"");
	p = gt_put_json(p, name, bytes);
	p = GT_PUT(p, "\",\"pid\":");
	return gt_snippet_create(text, (size_t)(p - text));
}

static const struct gt_snippet *activity_name(struct gt_chrome *x, const struct gt_item *activity)
{
	struct gt_view_text *name;
	unsigned op = activity->device_op < GT_DEVICE_OP_COUNT ? (unsigned)activity->device_op
							       : GT_DEVICE_OTHER;

	if (!activity->name) {
		const char *text = activity_text((enum gt_device_op)op);

		if (!x->activities[op])
			x->activities[op] =
				activity_begin((enum gt_device_op)op, text, strlen(text));
		return x->activities[op];
	}
	name = gt_view_name(&x->view, activity->process, activity->name);
	if (name && !name->own)
		name->own = activity_begin((enum gt_device_op)op, name->text, name->bytes);
	return name ? name->own : NULL;
}

/* Generate 0,"tid":1,"ts": */
static struct gt_snippet *make_row(struct gt_chrome *x, struct gt_view_queue *q, unsigned row)
{
	uint64_t pid = gt_chrome_device_pid(x, q->device),
		 tid = (uint64_t)ROW_TID * row + q->stream;
	const char *called = q->object ? gt_object_called(q->object) : NULL;
	char text[128], overlap[32] = "", label[192], *p = text;

	name_device(x, q->device);
	if (row)
		snprintf(overlap, sizeof overlap, " (overlap %u)", row);
	snprintf(label, sizeof label, "stream %u%s%.128s%s", q->stream, called ? ": " : "",
		 called ? called : "", overlap);
	gt_chrome_write_label(x, "thread_name", pid, tid, "name", label);
	gt_chrome_write_sort(x, "thread_sort_index", pid, tid, (uint64_t)q->stream * 1000 + row);
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	p = GT_PUT(p, ",\"ts\":");
	return gt_snippet_create(text, (size_t)(p - text));
}

/* Return the runtime's number for the context or, if it is not known, a number for the process. */
static uint64_t context_of(const struct gt_view_queue *q)
{
	const char *text = q->object ? gt_object_value(q->object, "context") : NULL;

	return text ? strtoull(text, NULL, 10) : q->process + 1;
}

const struct gt_snippet *gt_chrome_find_row(struct gt_chrome *x, struct gt_view_queue *q,
					    unsigned row)
{
	struct chrome_rows *rows = q->own;
	unsigned count = rows ? rows->count : 0;

	if (row < count)
		return rows->row[row];
	rows = realloc(rows, sizeof *rows + (row + 1) * sizeof rows->row[0]);
	if (!rows) {
		gt_error(-ENOMEM, "cannot export");
		return NULL;
	}
	if (!q->own)
		rows->context = context_of(q);
	q->own = rows;
	rows->count = count;
	for (; rows->count <= row; rows->count++) {
		rows->row[rows->count] = make_row(x, q, rows->count);
		if (!rows->row[rows->count])
			return NULL;
	}
	return rows->row[row];
}

static char *put_bytes(char *p, const struct gt_item *activity, uint64_t duration_ns)
{
	p = GT_PUT(p, ",\"bytes\":");
	p = gt_put_u64(p, activity->bytes);
	if (duration_ns) {
		/* Bytes per ns equal GB/s; written with three decimals. */
		uint64_t milli = activity->bytes < UINT64_MAX / 1000
					 ? activity->bytes * 1000 / duration_ns
					 : (uint64_t)((unsigned __int128)activity->bytes * 1000 /
						      duration_ns);

		p = GT_PUT(p, ",\"memory bandwidth (GB/s)\":");
		p = gt_put_us(p, milli);
	}
	return p;
}

static char *put_nodes(char *p, const struct gt_chrome *x, uint32_t process, uint32_t graph)
{
	uint64_t nodes = gt_replay_nodes(&x->view, process, graph);

	if (!nodes)
		return p;
	p = GT_PUT(p, ",\"graph nodes\":");
	return gt_put_u64(p, nodes);
}

static char *put_activity_args(char *p, struct gt_chrome *x, const struct gt_view_queue *q,
			       const struct gt_item *activity, uint64_t device,
			       uint64_t correlation, uint64_t duration_ns)
{
	enum gt_activity_class class = gt_view_activity_class(activity->device_op);

	p = GT_PUT(p, "\"device\":");
	p = gt_put_u64(p, device);
	p = GT_PUT(p, ",\"context\":");
	p = gt_put_u64(p, ((const struct chrome_rows *)q->own)->context);
	if (class == GT_ACTIVITY_MARK)
		p = GT_PUT(p, ",\"queue\":");
	else
		p = GT_PUT(p, ",\"stream\":");
	p = gt_put_u64(p, q->stream);
	if (correlation) {
		p = GT_PUT(p, ",\"correlation\":");
		p = gt_put_u64(p, correlation);
	}
	if (class == GT_ACTIVITY_KERNEL)
		p = gt_chrome_put_kernel(x, p, q, activity);
	else if (class != GT_ACTIVITY_MARK)
		p = put_bytes(p, activity, duration_ns);
	if (activity->replay) {
		p = GT_PUT(p, ",\"graph id\":");
		p = gt_put_u64(p, activity->graph ? activity->graph : activity->replay);
		if (activity->ordinal_in_graph != UINT32_MAX &&
		    activity->device_op != GT_DEVICE_GRAPH) {
			p = GT_PUT(p, ",\"graph node id\":");
			p = gt_put_u64(p, activity->ordinal_in_graph);
		}
		p = GT_PUT(p, ",\"graph replay\":");
		p = gt_put_u64(p, activity->replay);
		if (gt_replay_is_whole(activity))
			p = put_nodes(p, x, activity->process, activity->graph);
	}
	if (activity->status < 0)
		p = gt_chrome_put_error(p, GT_OP_DOMAIN(activity->op), activity->status);
	return GT_PUT(p, "}},\n");
}

static inline int add_replay(struct gt_chrome *x, const struct gt_view_queue *q,
			     const struct gt_item *activity, uint64_t correlation)
{
	if (!x->part)
		return gt_replays_add(&x->replays, q, activity, correlation);
	if (activity->graph)
		gt_chrome_note_replay(x, activity, correlation);
	return 0;
}

/* Places of an activity in the buffer. */
struct written {
	const char *begin, *place, *place_end;
	const char *flow_end; /* NULL: no flow */
};

static void note_place(struct gt_chrome *x, const struct gt_item *activity, bool timed,
		       const struct written *w)
{
	const char *base = x->out.base;
	struct gt_chrome_place place = {.at = (uint32_t)(w->begin - base),
					.row_at = (uint32_t)(w->place - base)};

	if (w->flow_end)
		place.flow_at = (uint32_t)(w->flow_end - (sizeof GT_CHROME_FLOW_END - 1) -
					   (w->place_end - w->place) - base);
	gt_chrome_note_activity(x, activity, timed, &place);
}

static inline int write_item(struct gt_chrome *x, const struct gt_item *activity)
{
	struct gt_view_queue *q = gt_view_queue(&x->view, activity);
	struct gt_view_thread *caller = activity->id ? gt_view_caller(&x->view, activity->process,
								      GT_ID_ORDINAL(activity->id))
						     : NULL;
	uint64_t correlation = gt_view_correlation(&x->view, caller, activity->id),
		 start_ns = activity->start_ns;
	bool timed = activity->start_ns && activity->end_ns >= activity->start_ns;
	const struct gt_snippet *text, *begin;
	char *p, *begin_at, *place, *place_end;
	int row = 0;

	if (!q)
		return -ENOMEM;
	if (timed && !x->part)
		row = gt_track_rows_place(&q->rows, activity->start_ns, activity->end_ns);
	else if (!timed)
		start_ns = gt_view_activity_time(activity);
	if (row < 0)
		return gt_error(row, "export");
	text = gt_chrome_find_row(x, q, (unsigned)row);
	begin = activity_name(x, activity);
	if (!text || !begin || add_replay(x, q, activity, correlation))
		return -ENOMEM;
	begin_at = p = gt_out_room(&x->out);
	p = timed ? GT_PUT(p, "{\"ph\":\"X\",") : GT_PUT(p, "{\"ph\":\"i\",\"s\":\"t\",");
	place = p = gt_put_snippet(p, begin);
	p = gt_put_snippet(p, text);
	place_end = p = gt_put_clock_us(&x->clock, p, gt_chrome_shift(x, start_ns));
	if (timed) {
		p = GT_PUT(p, ",\"dur\":");
		p = gt_put_us(p, activity->end_ns - activity->start_ns);
	}
	p = GT_PUT(p, ",\"args\":{");
	p = gt_chrome_put_external(x, p, activity);
	p = put_activity_args(p, x, q, activity, gt_chrome_device_pid(x, q->device), correlation,
			      timed ? activity->end_ns - activity->start_ns : 0);
	if (correlation)
		p = gt_chrome_put_flow(p, 'f', correlation, place, place_end);
	if (x->part)
		note_place(x, activity, timed,
			   &(struct written){begin_at, place, place_end, correlation ? p : NULL});
	gt_out_end(&x->out, p);
	return 0;
}

int gt_chrome_write_activity(struct gt_chrome *x, const struct gt_item **item,
			     const struct gt_item *end)
{
	int status = 0;

	for (; !status && *item < end && (*item)->kind == GT_RECORD_DEVICE; ++*item)
		status = write_item(x, *item);
	return status;
}

/* Launches of graphs whose nodes were recorded --------------------------------- */

int gt_chrome_write_replay(void *exporter, const struct gt_replay *replay, unsigned row)
{
	struct gt_chrome *x = exporter;
	const struct gt_view_queue *q = replay->queue;
	uint64_t pid = gt_chrome_device_pid(x, q->device),
		 tid = GRAPH_TID + (uint64_t)ROW_TID * row + q->stream;
	char name[GT_REPLAY_NAME], *p;

	if (q != x->replay_queue) {
		x->replay_queue = q;
		x->replay_rows = 0;
	}
	if (row == x->replay_rows) { /* rows are created in order */
		char label[64];

		x->replay_rows++;
		snprintf(label, sizeof label,
			 row ? "stream %u graphs (overlap %u)" : "stream %u graphs", q->stream,
			 row);
		gt_chrome_write_label(x, "thread_name", pid, tid, "name", label);
		gt_chrome_write_sort(x, "thread_sort_index", pid, tid,
				     (uint64_t)q->stream * 1000 - 500 + row);
	}
	p = gt_out_room(&x->out);
	p = GT_PUT(p, "{\"ph\":\"X\",\"cat\":\"gpu_graph\",\"name\":");
	p = gt_chrome_put_quoted(p, gt_replay_name(replay->graph, replay->replay, name));
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	p = GT_PUT(p, ",\"ts\":");
	p = gt_put_us(p, gt_chrome_shift(x, replay->start_ns));
	p = GT_PUT(p, ",\"dur\":");
	p = gt_put_us(p, replay->end_ns - replay->start_ns);
	p = GT_PUT(p, ",\"args\":{\"device\":");
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"context\":");
	p = gt_put_u64(p, context_of(q));
	p = GT_PUT(p, ",\"queue\":");
	p = gt_put_u64(p, q->stream);
	if (replay->correlation) {
		p = GT_PUT(p, ",\"graph launch\":");
		p = gt_put_u64(p, replay->correlation);
	}
	p = GT_PUT(p, ",\"graph id\":");
	p = gt_put_u64(p, replay->graph);
	p = GT_PUT(p, ",\"graph replay\":");
	p = gt_put_u64(p, replay->replay);
	p = put_nodes(p, x, replay->process, replay->graph);
	p = GT_PUT(p, ",\"graph recorded\":");
	p = gt_put_u64(p, replay->activity);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
	return 0;
}

void gt_chrome_activity_fini(struct gt_chrome *x)
{
	for (uint32_t i = 0; i < x->view.queue_count; i++) {
		struct chrome_rows *rows = x->view.queues[i]->own;

		for (unsigned row = 0; rows && row < rows->count; row++)
			free(rows->row[row]);
	}
	for (int i = 0; i < GT_DEVICE_OP_COUNT; i++)
		free(x->activities[i]);
}
