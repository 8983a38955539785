/* SPDX-License-Identifier: MIT */
/* Table `dependencies`: which call or GPU activity had to end before another could start or return.
 * analysis/depend/ finds them. Time outside any call is part of the length of a row. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/depend/depend.h"
#include "analysis/tables/retained.h"
#include "dataset/table_reader.h"
#include "util/error.h"

struct dependency_row {
	int64_t earlier_start_ns, earlier_end_ns, later_start_ns, later_end_ns;
	int64_t earlier_call, later_call, length_ns, estimate_ns;
	int32_t session, process, earlier_thread, later_thread, earlier_device, later_device;
	int32_t kind, earlier, later; /* texts */
	bool earlier_is_activity, later_is_activity, is_last;
	uint8_t pad[1];
};

struct dependencies {
	struct depend depend;
	size_t node, edge; /* next edge, and the node to which it leads */
	uint32_t *next;    /* for each part of a thread's time: the next one; 0: none */
};

static int32_t thread_of(struct reader *r, const struct depend_node *n)
{
	const struct dependencies *own = r->own;
	const struct depend_thread *t;

	if (n->type == DEPEND_IS_ACTIVITY)
		return INT32_MIN;
	t = &own->depend.threads[n->owner];
	return dataset_find_thread(r->dataset, t->process, t->ordinal).number;
}

static int32_t device_of(const struct dependencies *own, const struct depend_node *n)
{
	const uint32_t device =
		n->type == DEPEND_IS_ACTIVITY ? own->depend.queues[n->owner].device : UINT32_MAX;

	return device == UINT32_MAX ? INT32_MIN : (int32_t)device;
}

static int64_t call_of(struct reader *r, const struct depend_node *n)
{
	struct thread_number t;

	if (!n->id)
		return INT64_MIN;
	t = dataset_find_thread(r->dataset, n->process, GT_ID_ORDINAL(n->id));
	return t.number < 0 ? INT64_MIN : dataset_id(&t, n->id);
}

/* Return the edge over which a part of a thread's time follows the part before; NULL: none. */
static const struct depend_edge *edge_before(const struct depend *d, uint32_t node)
{
	size_t count;
	const struct depend_edge *edges = depend_edges(d, node, &count);

	return count && edges->kind == DEPEND_HOST ? edges : NULL;
}

static void fill_row(struct reader *r, struct dependency_row *row, uint32_t from, uint32_t to,
		     const struct depend_edge *e)
{
	struct dependencies *own = r->own;
	const struct depend *d = &own->depend;
	const struct depend_node *a = &d->nodes[from], *b = &d->nodes[to];
	/* the start or the end of the call or activity that waited */
	const bool starts =
		b->type == DEPEND_IS_ACTIVITY || e->kind == DEPEND_HOST || e->kind == DEPEND_THREAD;
	const uint64_t at = starts && !b->is_marker ? b->start : b->end;
	const bool in_call = e->kind == DEPEND_LAUNCH;
	const uint64_t since = in_call ? a->start : a->end;

	*row = (struct dependency_row){
		.session = reader_session_of(r, b->process),
		.process = (int32_t)b->process,
		.kind = reader_text(r, DICTIONARY_KIND, depend_kind_key(e->kind)),
		.earlier = reader_text(r, DICTIONARY_NAME, depend_name(d, a->class)),
		.later = reader_text(r, DICTIONARY_NAME, depend_name(d, b->class)),
		.earlier_is_activity = a->type == DEPEND_IS_ACTIVITY,
		.later_is_activity = b->type == DEPEND_IS_ACTIVITY,
		.earlier_call = call_of(r, a),
		.later_call = call_of(r, b),
		.earlier_thread = thread_of(r, a),
		.later_thread = thread_of(r, b),
		.earlier_device = device_of(own, a),
		.later_device = device_of(own, b),
		.earlier_start_ns = dataset_time(r->dataset, a->start),
		.earlier_end_ns = dataset_time(r->dataset, a->end),
		.later_start_ns = dataset_time(r->dataset, b->start),
		.later_end_ns = dataset_time(r->dataset, b->end),
		.length_ns = at > since ? (int64_t)(at - since) : 0,
		.estimate_ns = e->kind == DEPEND_HOST ? INT64_MIN : (int64_t)(e->inside + e->lag),
		.is_last = e->binds,
	};
}

/* Fill the row of an edge. Return false if it has none: parts of one call, and time outside any
 * call, which is a part of the length of the next row. */
static bool build_row(struct reader *r, struct dependency_row *row, uint32_t to,
		      const struct depend_edge *e)
{
	struct dependencies *own = r->own;
	const struct depend *d = &own->depend;
	const struct depend_node *b;
	uint32_t from = e->from;

	/* time outside any call waited for a thread: so did the call after it */
	if (e->kind == DEPEND_THREAD && d->nodes[to].type == DEPEND_IS_HOST)
		to = own->next[to] ? own->next[to] : to;
	b = &d->nodes[to];
	if (b->type == DEPEND_IS_HOST || !reader_has_process(r, b->process))
		return false;
	if (e->kind == DEPEND_LAUNCH) {
		if (b->launcher == LOOKUP_NONE)
			return false;
		from = b->launcher;
	}
	if (from != LOOKUP_NONE && d->nodes[from].type == DEPEND_IS_HOST) {
		const struct depend_edge *before = edge_before(d, from);

		from = before ? before->from : LOOKUP_NONE;
	}
	if (from == LOOKUP_NONE)
		return false;
	if (e->kind == DEPEND_HOST && d->nodes[from].call == b->call)
		return false;
	fill_row(r, row, from, to, e);
	return true;
}

static int open_dependencies(struct reader *r)
{
	struct dependencies *own = r->own;
	int status;

	own->depend = (struct depend){.capture = r->dataset->capture};
	if (retained_is_part(r->dataset->capture))
		return 0; /* the records before and between are missing */
	status = depend_read(&own->depend);
	if (status == -ENODATA) {
		gt_error_clear();
		own->depend.node_count = 0;
		return 0;
	}
	own->next = allocate_list(own->depend.node_count + 1, sizeof *own->next);
	for (size_t i = 0; i < own->depend.node_count; i++) {
		const struct depend_edge *e = edge_before(&own->depend, (uint32_t)i);

		if (e)
			own->next[e->from] = (uint32_t)i;
	}
	return status;
}

static int next_dependencies(struct reader *r, struct rows *rows, size_t most)
{
	struct dependencies *own = r->own;
	const struct depend *d = &own->depend;
	struct dependency_row *out = (struct dependency_row *)r->rows;

	while (rows->count < most && own->node < d->node_count) {
		size_t count;
		const struct depend_edge *edges = depend_edges(d, own->node, &count);

		if (own->edge == count) {
			own->node++;
			own->edge = 0;
			continue;
		}
		if (build_row(r, &out[rows->count], (uint32_t)own->node, &edges[own->edge++])) {
			rows->row[rows->count] = &out[rows->count];
			rows->count++;
		}
	}
	return rows->count > 0;
}

static void close_dependencies(struct reader *r)
{
	struct dependencies *own = r->own;

	free(own->next);
	depend_fini(&own->depend);
}

#define D(field, type, unit, null, text) \
	COLUMN_MEMBER(struct dependency_row, field, type, unit, null, text)
#define TEXTS(field, kind, null, text) COLUMN_TEXTS(struct dependency_row, field, kind, null, text)

static const struct column columns[] = {
	D(session, COLUMN_I32, "", false, "session of the call or activity that depends"),
	D(process, COLUMN_I32, "", false, "its process"),
	TEXTS(kind, DICTIONARY_KIND, false, "such as host, launch, stream, event, wait"),
	D(is_last, COLUMN_BOOL, "", false, "true: no other dependency was met later"),
	TEXTS(earlier, DICTIONARY_NAME, false, "operation or activity that comes first"),
	D(earlier_is_activity, COLUMN_BOOL, "", false, "true: a GPU activity; false: a call"),
	D(earlier_call, COLUMN_I64, "", true, "the call, or the call that launched the activity"),
	D(earlier_thread, COLUMN_I32, "", true, "thread of the call"),
	D(earlier_device, COLUMN_I32, "", true, "device of the activity"),
	D(earlier_start_ns, COLUMN_I64, "ns", false, "its start, since 1970"),
	D(earlier_end_ns, COLUMN_I64, "ns", false, "its end, since 1970"),
	TEXTS(later, DICTIONARY_NAME, false, "operation or activity that depends on it"),
	D(later_is_activity, COLUMN_BOOL, "", false, "true: a GPU activity; false: a call"),
	D(later_call, COLUMN_I64, "", true, "the call, or the call that launched the activity"),
	D(later_thread, COLUMN_I32, "", true, "thread of the call"),
	D(later_device, COLUMN_I32, "", true, "device of the activity"),
	D(later_start_ns, COLUMN_I64, "ns", false, "its start, since 1970"),
	D(later_end_ns, COLUMN_I64, "ns", false, "its end, since 1970"),
	D(length_ns, COLUMN_I64, "ns", false,
	  "time from the end of the first to the dependent start "
	  "or return; kind launch: from its start"),
	D(estimate_ns, COLUMN_I64, "ns", true, "shortest length, estimated unless is_last"),
};

const struct table table_dependencies = {
	.name = "dependencies",
	.text = "calls and GPU activities that had to end before others could start or return",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.row_bytes = sizeof(struct dependency_row),
	.own_bytes = sizeof(struct dependencies),
	.open = open_dependencies,
	.next = next_dependencies,
	.close = close_dependencies,
};
