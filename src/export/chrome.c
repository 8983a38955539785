/* SPDX-License-Identifier: MIT */
/* Chrome JSON as torch.profiler writes it, for the programs that read those files: Holistic
 * Trace Analysis, TraceLens, scripts; docs/export-formats.md has the rules. What they insist on:
 *
 *   calls        cat cuda_runtime (whatever the runtime: they know no other), pid and tid of the
 *                system
 *   device work  cat kernel, gpu_memcpy or gpu_memset; pid: number of the device; args.stream:
 *                number of the queue from 1 (0 counts as none); tid: the same, but work that
 *                overlaps other work of its queue gets a row of its own, 100000 x lane + stream,
 *                because Perfetto drops overlapping slices of a row
 *   link         args.correlation on both, and an ac2g flow whose ends have the same pid, tid and
 *                ts
 *   times        us with three decimals since baseTimeNanoseconds, a multiple of some ten days:
 *                readers compute in doubles, see choose_base(); ranks of a job agree
 *   rank         `"rank": 3` with the blank, near the head
 *
 * Some statistics (HTA's launches and queue lengths) know calls by CUDA's names only: the
 * variant for .hta.json.gz gives launching calls those, and their own as args.api. What the
 * program says of itself (ROCTx) is cat user_annotation, from push to pop; the calls that say it
 * are not written. A graph's launch is cat gpu_graph, from its first node's start to its last
 * one's end, in a row of its own beside the stream; it has no stream, and no args.correlation,
 * which is the call's and the nodes'. Recorded as one piece it is a kernel that lasts so long.
 * Markers and barriers are cat gpu_marker without stream: nobody counts them as device time.
 * Arguments of calls are not written: these readers keep everything in memory. See .pftrace and
 * .csv. What repeats is made into text once: by operation, by thread, by lane, by name. */
#include <stdio.h>
#include <stdlib.h>

#include "export/formats.h"
#include "export/number.h"
#include "export/out.h"
#include "export/ranges.h"
#include "export/records.h"
#include "export/replays.h"
#include "export/text.h"
#include "export/view.h"
#include "util/error.h"

enum {
	LANE_TID = 100000,      /* rows of lanes, see above */
	GRAPH_TID = 1000000000, /* rows of graphs' launches: as those of lanes, behind them */
	DEVICE_SORT = 5000000,  /* processes of devices come behind those of the system */
	PIECE_STEP = 32,
	TEXT_MAX = 4096, /* bytes of a name, before it is escaped */
};

#define BASE_STEP_NS   (UINT64_C(876582) * 1000000000) /* a ninth of kineto's 7,889,238 s */
/* a device's clock may say that work began before the session */
#define BASE_MARGIN_NS (UINT64_C(3600) * 1000000000)

/* A piece of text that is made once. Copied in steps, so there are PIECE_STEP bytes more of it. */
struct piece {
	uint32_t bytes;
	char text[];
};

/* Of a queue: "pid,"tid":row,"ts":" by lane */
struct rows {
	unsigned count;
	struct piece *lane[];
};

/* Of an operation: all before the thread's row, and what goes behind the correlation. */
struct call_text {
	struct piece *begin, *api;
	bool by_return; /* the status is what it returns */
};

struct chrome {
	struct gt_out out;
	bool cuda_names;
	struct gt_view view;
	struct gt_ranges ranges;
	struct gt_replays replays;
	const struct gt_view_queue *replay_queue; /* whose launches are written .. */
	unsigned replay_rows;                     /* .. in so many rows until now */
	uint64_t shift_ns;                        /* added to BOOTTIME gives ns since base */
	uint64_t base_ns;
	bool *device_named;                      /* by device, the last one for "not known" */
	struct piece *works[GT_DEVICE_OP_COUNT]; /* beginning of work without a name */
};

static struct piece *make_piece(const char *text, size_t bytes)
{
	struct piece *piece = calloc(1, sizeof *piece + bytes + PIECE_STEP);

	if (!piece) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	piece->bytes = (uint32_t)bytes;
	memcpy(piece->text, text, bytes);
	return piece;
}

static inline char *put_piece(char *p, const struct piece *piece)
{
	for (uint32_t i = 0; i < piece->bytes; i += PIECE_STEP)
		memcpy(p + i, piece->text + i, PIECE_STEP);
	return p + piece->bytes;
}

static char *put_quoted(char *p, const char *text)
{
	size_t length = strlen(text);

	*p++ = '"';
	p = gt_put_json(p, text, length < TEXT_MAX ? length : TEXT_MAX);
	*p++ = '"';
	return p;
}

static inline uint64_t shifted(const struct chrome *x, uint64_t ns)
{
	return ns + x->shift_ns;
}

/* Metadata events ------------------------------------------------------------- */

static char *put_metadata(char *p, const char *kind, uint64_t pid, uint64_t tid)
{
	p = GT_PUT(p, "{\"ph\":\"M\",\"name\":");
	p = put_quoted(p, kind);
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	return GT_PUT(p, ",\"args\":{");
}

static void write_label(struct chrome *x, const char *kind, uint64_t pid, uint64_t tid,
			const char *key, const char *text)
{
	char *p = put_metadata(gt_out_room(&x->out), kind, pid, tid);

	p = put_quoted(p, key);
	*p++ = ':';
	p = put_quoted(p, text);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

static void write_sort(struct chrome *x, const char *kind, uint64_t pid, uint64_t tid,
		       uint64_t index)
{
	char *p = put_metadata(gt_out_room(&x->out), kind, pid, tid);

	p = GT_PUT(p, "\"sort_index\":");
	p = gt_put_u64(p, index);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

static uint64_t device_pid(const struct chrome *x, uint32_t device)
{
	return device == UINT32_MAX ? gt_capture_device_count(x->view.capture) : device;
}

static void name_device(struct chrome *x, uint32_t device)
{
	uint64_t pid = device_pid(x, device);
	char label[256];

	if (x->device_named[pid])
		return;
	x->device_named[pid] = true;
	write_label(x, "process_name", pid, 0, "name",
		    gt_view_device_label(&x->view, device, label, sizeof label));
	snprintf(label, sizeof label, "GPU %u", (unsigned)pid);
	write_label(x, "process_labels", pid, 0, "labels", label);
	write_sort(x, "process_sort_index", pid, 0, DEVICE_SORT + pid);
}

static void write_processes(struct chrome *x)
{
	const struct gt_capture *c = x->view.capture;

	for (uint32_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_process_info *process = gt_capture_process(c, i);
		uint64_t pid = gt_view_pid(&x->view, i);
		char label[256];

		write_label(x, "process_name", pid, 0, "name",
			    gt_view_process_title(&x->view, process, label, sizeof label));
		write_label(x, "process_labels", pid, 0, "labels", "CPU");
		write_sort(x, "process_sort_index", pid, 0, i);
	}
}

/* Calls ----------------------------------------------------------------------- */

static const char *call_category(uint32_t op)
{
	unsigned domain = GT_OP_DOMAIN(op);

	if (domain < GT_DOMAIN_COUNT && gt_domain_traits[domain].category[0])
		return gt_domain_traits[domain].category;
	return "cuda_runtime";
}

/* What CUDA calls such a call; NULL: nothing that readers look for. */
static const char *cuda_name(const struct gt_view_operation *o)
{
	switch (o->info ? o->info->kind : GT_KIND_OTHER) {
	case GT_KIND_LAUNCH: return "cudaLaunchKernel";
	case GT_KIND_COPY: return "cudaMemcpyAsync";
	case GT_KIND_SET: return "cudaMemsetAsync";
	default: return NULL;
	}
}

/* begin: {"ph":"X","cat":"cuda_runtime","name":"clFinish","pid": */
static struct call_text *operation_begin(struct chrome *x, struct gt_view_operation *o, uint32_t op)
{
	const char *other = x->cuda_names ? cuda_name(o) : NULL;
	struct call_text *call = calloc(1, sizeof *call);
	char text[1024], *p = text;

	if (!call) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	o->own = call;
	p = GT_PUT(p, "{\"ph\":\"X\",\"cat\":");
	p = put_quoted(p, call_category(op));
	p = GT_PUT(p, ",\"name\":");
	p = put_quoted(p, other ? other : o->name); /* ours: short */
	p = GT_PUT(p, ",\"pid\":");
	call->begin = make_piece(text, (size_t)(p - text));
	p = text;
	if (other) {
		p = GT_PUT(p, ",\"api\":");
		p = put_quoted(p, o->name);
	}
	call->api = make_piece(text, (size_t)(p - text));
	call->by_return = o->info && o->info->status_arg == -1;
	return call;
}

/* 4711,"tid":4712,"ts": */
static struct piece *thread_begin(struct chrome *x, struct gt_view_thread *t)
{
	char text[128], name[64], *p = text;

	/* a thread that damage left without its number still needs a row */
	uint64_t tid = t->tid ? t->tid : (UINT64_C(1) << 32) + t->index;

	snprintf(name, sizeof name, "thread %u", (unsigned)tid);
	write_label(x, "thread_name", t->pid, tid, "name", *t->name ? t->name : name);
	write_sort(x, "thread_sort_index", t->pid, tid, t->ordinal);
	p = gt_put_u64(p, t->pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	p = GT_PUT(p, ",\"ts\":");
	return t->own = make_piece(text, (size_t)(p - text));
}

static char *put_error(char *p, uint32_t domain, int32_t status)
{
	const char *name = gt_status_name((enum gt_domain)domain, status);
	char text[128];

	snprintf(text, sizeof text, "%s (%d)", name ? name : "unknown error", status);
	p = GT_PUT(p, ",\"error\":");
	return put_quoted(p, text);
}

/* {"ph":"s","id":17,"pid":4711,"tid":4712,"ts":1.000,"cat":"ac2g","name":"ac2g"},
 * @place: from the pid to the ts, as it stands in the event already */
static inline char *put_flow(char *p, char phase, uint64_t id, const char *place,
			     const char *place_end)
{
	p = GT_PUT(p, "{\"ph\":\"");
	*p++ = phase;
	p = GT_PUT(p, "\",\"id\":");
	p = gt_put_u64(p, id);
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put(p, place, (size_t)(place_end - place));
	if (phase == 's')
		return GT_PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n");
	return GT_PUT(p, ",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"},\n");
}

static int write_call(void *exporter, const struct gt_item *call)
{
	struct chrome *x = exporter;
	struct gt_view_thread *t = gt_view_thread(&x->view, call->process, call->ordinal);
	struct gt_view_operation *o = gt_view_operation(&x->view, call->op);
	const struct call_text *text;
	const struct piece *row;
	uint64_t correlation;
	int32_t status = 0;
	bool failed;
	char *p, *place, *place_end;

	if (!t || !o)
		return -ENOMEM;
	text = o->own ? o->own : operation_begin(x, o, call->op);
	row = t->own ? t->own : thread_begin(x, t);
	if (!text || !text->begin || !text->api || !row)
		return -ENOMEM;
	correlation = gt_view_correlation(&x->view, t, call->id);
	/* what has no result mostly did not fail: a look at the description only for the others */
	failed = (call->ret || !text->by_return) &&
		 gt_call_status(call->op, call->ret, call->args, &status) &&
		 gt_status_failed((enum gt_domain)GT_OP_DOMAIN(call->op), status);

	p = gt_out_room(&x->out);
	place = p = put_piece(p, text->begin);
	p = put_piece(p, row);
	place_end = p = gt_put_us(p, shifted(x, call->start_ns));
	p = GT_PUT(p, ",\"dur\":");
	p = gt_put_us(p, call->end_ns - call->start_ns);
	p = GT_PUT(p, ",\"args\":{");
	if (call->external[GT_EXTERNAL_OPERATION]) {
		p = GT_PUT(p, "\"External id\":");
		p = gt_put_u64(p, call->external[GT_EXTERNAL_OPERATION]);
		*p++ = ',';
	}
	p = GT_PUT(p, "\"cbid\":");
	p = gt_put_u64(p, GT_OP_NUMBER(call->op));
	p = GT_PUT(p, ",\"correlation\":");
	p = gt_put_u64(p, correlation);
	p = put_piece(p, text->api);
	if (failed)
		p = put_error(p, GT_OP_DOMAIN(call->op), status);
	p = GT_PUT(p, "}},\n");
	if (o->submits && !failed)
		p = put_flow(p, 's', correlation, place, place_end);
	gt_out_end(&x->out, p);
	return 0;
}

/* Ranges ----------------------------------------------------------------------- */

static int write_range(struct chrome *x, const struct gt_range *range)
{
	struct gt_view_thread *t = gt_view_thread(&x->view, range->process, range->ordinal);
	const struct piece *row = !t ? NULL : t->own ? t->own : thread_begin(x, t);
	char *p;

	if (!row)
		return -ENOMEM;
	p = gt_out_room(&x->out);
	p = GT_PUT(p, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":");
	p = put_quoted(p, range->name);
	p = GT_PUT(p, ",\"pid\":");
	p = put_piece(p, row);
	p = gt_put_us(p, shifted(x, range->start_ns));
	p = GT_PUT(p, ",\"dur\":");
	p = gt_put_us(p, range->end_ns - range->start_ns);
	p = GT_PUT(p, ",\"args\":{}},\n");
	gt_out_end(&x->out, p);
	return 0;
}

static int write_call_or_mark(void *exporter, const struct gt_item *call)
{
	struct chrome *x = exporter;
	struct gt_range range;
	int status;

	if (__builtin_expect(gt_mark_of(call->op) == GT_MARK_NONE, 1))
		return write_call(x, call);
	status = gt_ranges_step(&x->ranges, call, &range);
	return status > 0 ? write_range(x, &range) : status;
}

static int write_open_ranges(struct chrome *x)
{
	struct gt_range range;
	int status = 0;

	while (!status && gt_ranges_rest(&x->ranges, &range))
		status = write_range(x, &range);
	return status;
}

/* Device work ----------------------------------------------------------------- */

static const char *const class_categories[] = {
	[GT_WORK_KERNEL] = "kernel",
	[GT_WORK_COPY] = "gpu_memcpy",
	[GT_WORK_SET] = "gpu_memset",
	[GT_WORK_MARK] = "gpu_marker",
};

/* Readers tell the direction of a copy by the first 11 letters. */
static const char *work_text(enum gt_device_op op)
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

/* "cat":"kernel","name":"saxpy","pid": */
static struct piece *work_begin(enum gt_device_op op, const char *name, size_t bytes)
{
	char text[6 * TEXT_MAX + 64], *p = text;

	if (bytes > TEXT_MAX)
		bytes = TEXT_MAX;
	p = GT_PUT(p, "\"cat\":");
	p = put_quoted(p, class_categories[gt_view_work_class(op)]);
	p = GT_PUT(p, ",\"name\":\"");
	p = gt_put_json(p, name, bytes);
	p = GT_PUT(p, "\",\"pid\":");
	return make_piece(text, (size_t)(p - text));
}

static const struct piece *work_name(struct chrome *x, const struct gt_item *work)
{
	struct gt_view_text *name;
	unsigned op =
		work->device_op < GT_DEVICE_OP_COUNT ? (unsigned)work->device_op : GT_DEVICE_OTHER;

	if (!work->name) {
		const char *text = work_text((enum gt_device_op)op);

		if (!x->works[op])
			x->works[op] = work_begin((enum gt_device_op)op, text, strlen(text));
		return x->works[op];
	}
	name = gt_view_name(&x->view, work->process, work->name);
	if (name && !name->own)
		name->own = work_begin((enum gt_device_op)op, name->text, name->bytes);
	return name ? name->own : NULL;
}

/* 0,"tid":1,"ts": */
static struct piece *lane_row(struct chrome *x, struct gt_view_queue *q, unsigned lane)
{
	uint64_t pid = device_pid(x, q->device), tid = (uint64_t)LANE_TID * lane + q->stream;
	char text[128], label[64], *p = text;

	name_device(x, q->device);
	snprintf(label, sizeof label, lane ? "stream %u (overlap %u)" : "stream %u", q->stream,
		 lane);
	write_label(x, "thread_name", pid, tid, "name", label);
	write_sort(x, "thread_sort_index", pid, tid, (uint64_t)q->stream * 1000 + lane);
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	p = GT_PUT(p, ",\"ts\":");
	return make_piece(text, (size_t)(p - text));
}

static const struct piece *find_row(struct chrome *x, struct gt_view_queue *q, unsigned lane)
{
	struct rows *rows = q->own;
	unsigned count = rows ? rows->count : 0;

	if (lane < count)
		return rows->lane[lane];
	rows = realloc(rows, sizeof *rows + (lane + 1) * sizeof rows->lane[0]);
	if (!rows) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	q->own = rows;
	rows->count = count;
	for (; rows->count <= lane; rows->count++) {
		rows->lane[rows->count] = lane_row(x, q, rows->count);
		if (!rows->lane[rows->count])
			return NULL;
	}
	return rows->lane[lane];
}

static char *put_triple(char *p, const uint32_t size[3])
{
	for (int i = 0; i < 3; i++) {
		*p++ = i ? ',' : '[';
		p = gt_put_u64(p, size[i] ? size[i] : 1);
	}
	*p++ = ']';
	return p;
}

static char *put_kernel_sizes(char *p, const struct gt_item *work)
{
	uint32_t groups[3];

	if (!work->global[0])
		return p;
	p = GT_PUT(p, ",\"global size\":");
	p = put_triple(p, work->global);
	if (!work->local[0]) /* the runtime chose and did not tell */
		return p;
	for (int i = 0; i < 3; i++)
		groups[i] = work->local[i]
				    ? (uint32_t)(((uint64_t)work->global[i] + work->local[i] - 1) /
						 work->local[i])
				    : 1;
	p = GT_PUT(p, ",\"grid\":");
	p = put_triple(p, groups);
	p = GT_PUT(p, ",\"block\":");
	return put_triple(p, work->local);
}

static char *put_bytes(char *p, const struct gt_item *work, uint64_t duration_ns)
{
	p = GT_PUT(p, ",\"bytes\":");
	p = gt_put_u64(p, work->bytes);
	if (duration_ns) {
		/* bytes in a ns are GB/s; three decimals */
		uint64_t milli = (uint64_t)((unsigned __int128)work->bytes * 1000 / duration_ns);

		p = GT_PUT(p, ",\"memory bandwidth (GB/s)\":");
		p = gt_put_us(p, milli);
	}
	return p;
}

static char *put_nodes(char *p, const struct chrome *x, uint32_t process, uint32_t graph)
{
	uint64_t nodes = gt_replay_nodes(&x->view, process, graph);

	if (!nodes)
		return p;
	p = GT_PUT(p, ",\"graph nodes\":");
	return gt_put_u64(p, nodes);
}

static char *put_work_args(char *p, const struct chrome *x, const struct gt_view_queue *q,
			   const struct gt_item *work, uint64_t device, uint64_t correlation,
			   uint64_t duration_ns)
{
	enum gt_work_class class = gt_view_work_class(work->device_op);

	p = GT_PUT(p, ",\"args\":{\"device\":");
	p = gt_put_u64(p, device);
	p = GT_PUT(p, ",\"context\":");
	p = gt_put_u64(p, q->process + 1);
	if (class == GT_WORK_MARK)
		p = GT_PUT(p, ",\"queue\":");
	else
		p = GT_PUT(p, ",\"stream\":");
	p = gt_put_u64(p, q->stream);
	if (correlation) {
		p = GT_PUT(p, ",\"correlation\":");
		p = gt_put_u64(p, correlation);
	}
	if (class == GT_WORK_KERNEL)
		p = put_kernel_sizes(p, work);
	else if (class != GT_WORK_MARK)
		p = put_bytes(p, work, duration_ns);
	if (work->replay) {
		p = GT_PUT(p, ",\"graph id\":");
		p = gt_put_u64(p, work->graph ? work->graph : work->replay);
		if (work->ordinal_in_graph != UINT32_MAX && work->device_op != GT_DEVICE_GRAPH) {
			p = GT_PUT(p, ",\"graph node id\":");
			p = gt_put_u64(p, work->ordinal_in_graph);
		}
		p = GT_PUT(p, ",\"graph replay\":");
		p = gt_put_u64(p, work->replay);
		if (gt_replay_is_whole(work))
			p = put_nodes(p, x, work->process, work->graph);
	}
	if (work->status < 0)
		p = put_error(p, GT_OP_DOMAIN(work->op), work->status);
	return GT_PUT(p, "}},\n");
}

static int write_work(void *exporter, const struct gt_item *work)
{
	struct chrome *x = exporter;
	struct gt_view_queue *q = gt_view_queue(&x->view, work);
	struct gt_view_thread *caller =
		work->id ? gt_view_caller(&x->view, work->process, GT_ID_ORDINAL(work->id)) : NULL;
	uint64_t correlation = gt_view_correlation(&x->view, caller, work->id),
		 start_ns = work->start_ns;
	bool timed = work->start_ns && work->end_ns >= work->start_ns;
	const struct piece *row, *begin;
	char *p, *place, *place_end;
	int lane = 0;

	if (!q)
		return -ENOMEM;
	if (timed)
		lane = gt_lanes_place(&q->lanes, work->start_ns, work->end_ns);
	else
		start_ns = gt_view_work_time(work);
	if (lane < 0)
		return gt_error(lane, "export");
	row = find_row(x, q, (unsigned)lane);
	begin = work_name(x, work);
	if (!row || !begin || gt_replays_add(&x->replays, q, work, correlation))
		return -ENOMEM;
	p = gt_out_room(&x->out);
	p = timed ? GT_PUT(p, "{\"ph\":\"X\",") : GT_PUT(p, "{\"ph\":\"i\",\"s\":\"t\",");
	place = p = put_piece(p, begin);
	p = put_piece(p, row);
	place_end = p = gt_put_us(p, shifted(x, start_ns));
	if (timed) {
		p = GT_PUT(p, ",\"dur\":");
		p = gt_put_us(p, work->end_ns - work->start_ns);
	}
	p = put_work_args(p, x, q, work, device_pid(x, q->device), correlation,
			  timed ? work->end_ns - work->start_ns : 0);
	if (correlation)
		p = put_flow(p, 'f', correlation, place, place_end);
	gt_out_end(&x->out, p);
	return 0;
}

/* Launches of graphs whose nodes were recorded --------------------------------- */

static int write_replay(void *exporter, const struct gt_replay *replay, unsigned lane)
{
	struct chrome *x = exporter;
	const struct gt_view_queue *q = replay->queue;
	uint64_t pid = device_pid(x, q->device),
		 tid = GRAPH_TID + (uint64_t)LANE_TID * lane + q->stream;
	char name[GT_REPLAY_NAME], *p;

	if (q != x->replay_queue) {
		x->replay_queue = q;
		x->replay_rows = 0;
	}
	if (lane == x->replay_rows) { /* rows are made one after the other */
		char label[64];

		x->replay_rows++;
		snprintf(label, sizeof label,
			 lane ? "stream %u graphs (overlap %u)" : "stream %u graphs", q->stream,
			 lane);
		write_label(x, "thread_name", pid, tid, "name", label);
		write_sort(x, "thread_sort_index", pid, tid,
			   (uint64_t)q->stream * 1000 - 500 + lane);
	}
	p = gt_out_room(&x->out);
	p = GT_PUT(p, "{\"ph\":\"X\",\"cat\":\"gpu_graph\",\"name\":");
	p = put_quoted(p, gt_replay_name(replay->graph, replay->replay, name));
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, tid);
	p = GT_PUT(p, ",\"ts\":");
	p = gt_put_us(p, shifted(x, replay->start_ns));
	p = GT_PUT(p, ",\"dur\":");
	p = gt_put_us(p, replay->end_ns - replay->start_ns);
	p = GT_PUT(p, ",\"args\":{\"device\":");
	p = gt_put_u64(p, pid);
	p = GT_PUT(p, ",\"context\":");
	p = gt_put_u64(p, q->process + 1);
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
	p = gt_put_u64(p, replay->work);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
	return 0;
}

/* Head and foot ---------------------------------------------------------------- */

static char *put_pair(char *p, const char *key, const char *text)
{
	if (!text)
		return p;
	*p++ = ',';
	p = put_quoted(p, key);
	*p++ = ':';
	return put_quoted(p, text);
}

static void write_devices(struct chrome *x)
{
	static const char *const keys[] = {"vendor", "version", "driver", "uuid",
					   "pci",    "type",    NULL};
	const struct gt_capture *c = x->view.capture;

	gt_out_text(&x->out, "\"deviceProperties\": [");
	for (uint32_t i = 0; i < gt_capture_device_count(c); i++) {
		const struct gt_object_info *device = gt_capture_device(c, i);
		char *p = gt_out_room(&x->out);

		p = i ? GT_PUT(p, ",\n{\"id\":") : GT_PUT(p, "\n{\"id\":");
		p = gt_put_u64(p, i);
		p = put_pair(p, "name", gt_object_value(device, "name"));
		for (const char *const *key = keys; *key; key++)
			p = put_pair(p, *key, gt_object_value(device, *key));
		*p++ = '}';
		gt_out_end(&x->out, p);
	}
	gt_out_text(&x->out, "],\n");
}

static char *put_count(char *p, const char *key, struct gt_view_counts counts)
{
	*p++ = ',';
	p = put_quoted(p, key);
	p = GT_PUT(p, ":{\"seen\":");
	p = gt_put_u64(p, counts.seen);
	p = GT_PUT(p, ",\"recorded\":");
	p = gt_put_u64(p, counts.recorded);
	p = GT_PUT(p, ",\"dropped\":");
	p = gt_put_u64(p, counts.dropped);
	*p++ = '}';
	return p;
}

static void write_head(struct chrome *x, const struct gt_export_options *options)
{
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	bool complete = gt_capture_health(x->view.capture)->end == GT_CAPTURE_COMPLETE;
	char command[TEXT_MAX], *p;

	gt_out_text(&x->out, "{\n\"schemaVersion\": 1,\n");
	write_devices(x);
	p = gt_out_room(&x->out);
	/* readers take it for the whole file's */
	if (session->rank >= 0 && gt_capture_session_count(x->view.capture) == 1) {
		p = GT_PUT(p, "\"distributedInfo\": {\"rank\": "); /* the blank is looked for */
		p = gt_put_u64(p, (uint64_t)session->rank);
		p = GT_PUT(p, "},\n");
	}
	p = GT_PUT(p, "\"gputap\": {\"version\":");
	p = put_quoted(p, session->gputap_version ? session->gputap_version : "");
	p = put_pair(p, "command", gt_view_command(session->command, command, sizeof command));
	p = put_pair(p, "options", session->options);
	p = put_pair(p, "host", session->hostname);
	p = put_pair(p, "kernel", session->kernel);
	p = put_pair(p, "cpu", session->cpu);
	p = put_pair(p, "exported_by", options->command_line);
	p = complete ? GT_PUT(p, ",\"complete\":true") : GT_PUT(p, ",\"complete\":false");
	p = put_count(p, "calls", gt_view_counts(&x->view, GT_CLASS_CALL));
	p = put_count(p, "device_work", gt_view_counts(&x->view, GT_CLASS_DEVICE));
	p = GT_PUT(p, "},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": ");
	p = gt_put_u64(p, x->base_ns);
	p = GT_PUT(p, ",\n\"traceEvents\": [\n");
	gt_out_end(&x->out, p);
}

static void write_event(struct chrome *x, const struct gt_event_info *e)
{
	char *p = gt_out_room(&x->out);

	p = GT_PUT(p, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"gputap\",\"name\":");
	p = put_quoted(p, gt_event_code_name(e->code));
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, e->process));
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, e->process));
	p = GT_PUT(p, ",\"ts\":");
	p = gt_put_us(p, shifted(x, e->time_ns));
	p = GT_PUT(p, ",\"args\":{\"value\":");
	p = gt_put_u64(p, e->value);
	p = put_pair(p, "domain", e->domain ? gt_domain_name(e->domain) : NULL);
	p = put_pair(p, "text", e->text);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

/* The clocks' difference at the session's start is used for all: durations stay what they are.
 * Readers multiply the us, a double, by 1000 and round. From 2^42 us (51 days) on the double and
 * that product are both off by nearly half a ns, together by a whole one, and Perfetto drops
 * slices that seem to overlap. kineto's step is 91 days; with this one a session lasts 40 days
 * before it comes there. Sessions of one job have one base unless a multiple of the step lies
 * between their begins; those of kineto's are multiples of this one, too. */
static void choose_base(struct chrome *x)
{
	const struct gt_host_clock_map *map = gt_capture_host_clock(x->view.capture);
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	uint64_t real =
		map ? session->start_ns +
				(uint64_t)gt_host_clock_realtime_offset_ns(map, session->start_ns)
		    : session->start_realtime_ns;

	x->base_ns = real > BASE_MARGIN_NS ? real - BASE_MARGIN_NS : 0;
	x->base_ns -= x->base_ns % BASE_STEP_NS;
	x->shift_ns = real - session->start_ns - x->base_ns;
}

static void fini(struct chrome *x)
{
	for (uint32_t i = 0; i < x->view.queue_count; i++) {
		struct rows *rows = x->view.queues[i]->own;

		for (unsigned lane = 0; rows && lane < rows->count; lane++)
			free(rows->lane[lane]);
	}
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		for (uint32_t i = 0; i < x->view.operation_limit[d]; i++) {
			struct call_text *call =
				x->view.operations[d][i] ? x->view.operations[d][i]->own : NULL;

			free(call ? call->begin : NULL);
			free(call ? call->api : NULL);
		}
	for (int i = 0; i < GT_DEVICE_OP_COUNT; i++)
		free(x->works[i]);
	free(x->device_named);
	gt_ranges_fini(&x->ranges);
	gt_replays_fini(&x->replays);
	gt_view_fini(&x->view);
}

static int write_items(void *exporter, const struct gt_item *item, const struct gt_item *end)
{
	GT_EXPORT_EACH(exporter, item, end, write_call_or_mark, write_work);
}

static int write_chrome(const struct gt_capture *c, const char *path,
			const struct gt_export_options *options, bool gzip, bool cuda_names)
{
	struct chrome x = {.cuda_names = cuda_names};
	int status = gt_view_init(&x.view, c, options);

	if (status)
		return status;
	x.device_named = calloc(gt_capture_device_count(c) + 1, sizeof *x.device_named);
	if (!x.device_named) {
		status = gt_error(-ENOMEM, "export");
		goto fini_view;
	}
	status = gt_out_open(&x.out, path, gzip);
	if (status)
		goto fini_view;
	choose_base(&x);
	write_head(&x, options);
	write_processes(&x);
	for (size_t i = 0; i < gt_capture_event_count(c); i++)
		write_event(&x, gt_capture_event(c, i));
	status = gt_export_records(&x.view, &x.out, options, &x, write_items);
	if (!status)
		status = write_open_ranges(&x);
	if (!status)
		status = gt_replays_each(&x.replays, &x.view, 0, write_replay, &x);
	/* an event that ends the list without a comma */
	gt_out_text(&x.out, "{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}"
			    "\n]\n}\n");
	status = gt_out_finish(&x.out, status);
fini_view:
	fini(&x);
	return status;
}

static int write_plain(const struct gt_capture *c, const char *path,
		       const struct gt_export_options *options)
{
	return write_chrome(c, path, options, false, false);
}

static int write_gzip(const struct gt_capture *c, const char *path,
		      const struct gt_export_options *options)
{
	return write_chrome(c, path, options, true, false);
}

static int write_cuda_names(const struct gt_capture *c, const char *path,
			    const struct gt_export_options *options)
{
	return write_chrome(c, path, options, true, true);
}

static const char *const plain_extensions[] = {".json", NULL};
static const char *const gzip_extensions[] = {".json.gz", NULL};
static const char *const cuda_extensions[] = {".hta.json.gz", NULL};

const struct gt_exporter gt_exporter_chrome = {
	.name = "chrome",
	.extensions = plain_extensions,
	.text = "Chrome JSON as torch.profiler writes it",
	.write = write_plain,
};

const struct gt_exporter gt_exporter_chrome_gz = {
	.name = "chrome-gz",
	.extensions = gzip_extensions,
	.text = "the same, compressed",
	.write = write_gzip,
};

const struct gt_exporter gt_exporter_hta = {
	.name = "hta",
	.extensions = cuda_extensions,
	.text = "the same with CUDA's names of calls",
	.write = write_cuda_names,
};
