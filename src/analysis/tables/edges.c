/* SPDX-License-Identifier: MIT */
#include "analysis/tables/edges.h"

#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/lookup.h"
#include "analysis/model/ranges.h"
#include "record/operation.h"

/* Time of one operation in an edge, in one thread. */
struct edge_sum {
	uint32_t edge, process, ordinal, op;
	uint64_t ns;
};

/* An edge while it is being read. */
struct edge_search {
	uint64_t from_ns, to_ns;
	uint64_t activity_ns; /* start of the first activity, or end of the last activity */
	uint32_t device;      /* number of the device in the summary */
	uint32_t process, ordinal;
	bool is_found, is_after;
};

struct edges_reading {
	const struct summary *s;
	struct gt_capture *capture;
	struct edge_search *edges; /* two edges for each device: before and after */
	uint32_t edge_count;
	struct edge_sum *sums;
	uint32_t sum_count, sum_room;
	struct idmap by_hash;
	uint64_t thread, outer_end_ns; /* current thread, and end of its current outermost call */
};

static struct edge_sum *find_sum(struct edges_reading *r, uint32_t edge, const struct gt_item *call)
{
	uint64_t key = lookup_mix((uint64_t)call->process << 32 | call->ordinal);
	uint32_t row;

	for (key = lookup_mix(key ^ ((uint64_t)edge << 32 | call->op));; key++) {
		struct edge_sum *sum;

		row = idmap_get(&r->by_hash, key);
		if (row == LOOKUP_NONE)
			break;
		sum = &r->sums[row];
		if (sum->edge == edge && sum->process == call->process &&
		    sum->ordinal == call->ordinal && sum->op == call->op)
			return sum;
	}
	GROW_LIST(r->sums, r->sum_count, r->sum_room);
	row = r->sum_count++;
	r->sums[row] = (struct edge_sum){edge, call->process, call->ordinal, call->op, 0};
	idmap_put(&r->by_hash, key, row);
	return &r->sums[row];
}

/* Add the time of a call. Calls inside another call are ignored, so that no time is counted
 * twice. */
static void add_call(struct edges_reading *r, const struct gt_item *call)
{
	const uint64_t thread = (uint64_t)call->process << 32 | call->ordinal;

	if (call->context || gt_mark_of(call->op))
		return;
	if (thread != r->thread)
		r->outer_end_ns = 0;
	r->thread = thread;
	if (call->end_ns <= r->outer_end_ns)
		return;
	r->outer_end_ns = call->end_ns;
	for (uint32_t e = 0; e < r->edge_count; e++) {
		const struct edge_search *edge = &r->edges[e];
		uint64_t from = call->start_ns > edge->from_ns ? call->start_ns : edge->from_ns;
		uint64_t to = call->end_ns < edge->to_ns ? call->end_ns : edge->to_ns;

		if (from < to)
			find_sum(r, e, call)->ns += to - from;
	}
}

/* Return the device's number in the summary; LOOKUP_NONE: the capture does not contain the
 * device. */
static uint32_t find_device(const struct edges_reading *r, const struct gt_item *activity)
{
	const struct gt_object_info *object =
		gt_capture_object_find(r->capture, activity->process, GT_OBJECT_DEVICE,
				       GT_DEVICE_REF_NUMBER(activity->op));

	return object ? object->device_index : LOOKUP_NONE;
}

static void add_activity(struct edges_reading *r, const struct gt_item *activity)
{
	uint32_t device = LOOKUP_NONE;

	for (uint32_t e = 0; e < r->edge_count; e++) {
		struct edge_search *edge = &r->edges[e];
		uint64_t ns = edge->is_after ? activity->end_ns : activity->start_ns;

		if (edge->is_found || ns != edge->activity_ns)
			continue;
		if (device == LOOKUP_NONE)
			device = find_device(r, activity);
		if (device != edge->device)
			continue;
		edge->process = activity->process;
		edge->ordinal = GT_ID_ORDINAL(activity->id);
		edge->is_found = true;
	}
}

static int read_edges(struct edges_reading *r)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int rc = gt_cursor_create(r->capture, &cursor);

	if (rc)
		return rc;
	while ((rc = gt_cursor_next(cursor, &item)) > 0) {
		if (item->kind == GT_RECORD_CALL)
			add_call(r, item);
		else if (item->kind == GT_RECORD_DEVICE && item->start_ns && !item->context)
			add_activity(r, item);
	}
	gt_cursor_destroy(cursor);
	return rc;
}

static int compare_spans(const void *a, const void *b)
{
	const struct gt_time_range *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Sort spans and join adjacent ones. Return the number of remaining spans. */
static size_t join_spans(struct gt_time_range *spans, size_t count)
{
	size_t last = 0;

	qsort(spans, count, sizeof *spans, compare_spans);
	for (size_t i = 1; i < count; i++) {
		if (spans[i].from_ns > spans[last].to_ns)
			spans[++last] = spans[i];
		else if (spans[i].to_ns > spans[last].to_ns)
			spans[last].to_ns = spans[i].to_ns;
	}
	return count ? last + 1 : 0;
}

/* Read only the blocks that overlap an edge. */
static int read_scope(struct edges_reading *r)
{
	struct gt_time_range *spans =
		allocate_list(r->edge_count ? r->edge_count : 1, sizeof *spans);
	struct gt_scope scope = {.spans = spans};
	int rc;

	for (uint32_t e = 0; e < r->edge_count; e++)
		spans[e] = (struct gt_time_range){r->edges[e].from_ns, r->edges[e].to_ns};
	scope.count = join_spans(spans, r->edge_count);
	rc = gt_capture_set_scope(r->capture, &scope);
	rc = rc ? rc : read_edges(r);
	gt_capture_set_scope(r->capture, NULL);
	free(spans);
	return rc;
}

/* Return the part of the edge in which its process did not run. */
static uint64_t find_outside_ns(const struct edges_reading *r, const struct edge_search *edge)
{
	const struct gt_process_info *p = gt_capture_process(r->capture, edge->process);

	if (!edge->is_after)
		return p->start_ns > edge->from_ns && p->start_ns < edge->to_ns
			       ? p->start_ns - edge->from_ns
			       : 0;
	return p->end_ns > edge->from_ns && p->end_ns < edge->to_ns ? edge->to_ns - p->end_ns : 0;
}

static struct edge sum_edge(const struct edges_reading *r, uint32_t number)
{
	const struct edge_search *search = &r->edges[number];
	struct edge edge = {.ns = search->to_ns - search->from_ns};
	uint32_t op = 0;

	if (!search->is_found)
		return edge;
	edge.process = r->s->processes[search->process].name;
	edge.outside_ns = find_outside_ns(r, search);
	for (uint32_t i = 0; i < r->sum_count; i++) {
		const struct edge_sum *sum = &r->sums[i];

		if (sum->edge != number || sum->process != search->process ||
		    sum->ordinal != search->ordinal)
			continue;
		edge.calls_ns += sum->ns;
		if (sum->ns > edge.call_ns) {
			edge.call_ns = sum->ns;
			op = sum->op;
		}
	}
	edge.call = op ? gt_operation_name(op) : NULL;
	return edge;
}

static void find_run(const struct summary *s, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = UINT64_MAX;
	*end_ns = 0;
	for (uint32_t i = 0; i < s->file_count; i++) {
		if (s->files[i].start_ns < *start_ns)
			*start_ns = s->files[i].start_ns;
		if (s->files[i].end_ns > *end_ns)
			*end_ns = s->files[i].end_ns;
	}
}

int edges_read(const struct summary *s, struct gt_capture *capture, struct device_edges *out,
	       uint32_t count)
{
	struct edges_reading r = {.s = s, .capture = capture, .thread = UINT64_MAX};
	uint64_t start_ns, end_ns;
	int rc;

	find_run(s, &start_ns, &end_ns);
	r.edge_count = 2 * count;
	r.edges = allocate_list(r.edge_count ? r.edge_count : 1, sizeof *r.edges);
	for (uint32_t i = 0; i < count; i++) {
		const struct timeline *t = &s->tracks[i].all;
		uint64_t first = t->first_ns > start_ns ? t->first_ns : start_ns;
		uint64_t last = t->last_ns < end_ns ? t->last_ns : end_ns;

		if (!summary_track_has_times(&s->tracks[i])) /* no edge is known */
			first = start_ns, last = end_ns;

		r.edges[2 * i] = (struct edge_search){.from_ns = start_ns,
						      .to_ns = first,
						      .activity_ns = t->first_ns,
						      .device = s->tracks[i].device};
		r.edges[2 * i + 1] = (struct edge_search){.from_ns = last,
							  .to_ns = end_ns,
							  .activity_ns = t->last_ns,
							  .device = s->tracks[i].device,
							  .is_after = true};
	}
	rc = read_scope(&r);
	for (uint32_t i = 0; i < count && !rc; i++)
		out[i] = (struct device_edges){sum_edge(&r, 2 * i), sum_edge(&r, 2 * i + 1)};
	free(r.edges);
	free(r.sums);
	idmap_fini(&r.by_hash);
	return rc;
}

int edges_keep(struct summary *s, struct gt_capture *capture)
{
	int rc;

	if (s->edges || !s->track_count || !summary_has_whole_run(s))
		return 0;
	s->edges = allocate_list(s->track_count, sizeof *s->edges);
	rc = edges_read(s, capture, s->edges, s->track_count);
	if (rc) {
		free(s->edges);
		s->edges = NULL;
	}
	return rc;
}
