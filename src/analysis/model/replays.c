/* SPDX-License-Identifier: MIT */
/* Collects launches of graphs as slices, see replays.h. The records of a launch come in any order,
 * from several threads. */
#include "analysis/model/replays.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/model/passes.h"
#include "util/error.h"

static bool is_last(const struct gt_replays *r, const struct gt_item *activity)
{
	const struct gt_replay *l = r->count ? &r->list[r->last] : NULL;

	return l && l->process == activity->process && l->graph == activity->graph &&
	       l->replay == activity->replay;
}

static struct gt_replay *replay_of(struct gt_replays *r, const struct gt_item *activity)
{
	uint64_t graph = (uint64_t)activity->process << 32 | activity->graph;
	struct gt_replay *list;
	int64_t at;

	if (is_last(r, activity))
		return &r->list[r->last];
	at = gt_map_find(&r->map, graph, activity->replay);
	if (at >= 0) {
		r->last = (size_t)at;
		return &r->list[at];
	}
	list = r->count < UINT32_MAX - 1 ? gt_grow(r->list, r->count, &r->capacity, sizeof *list)
					 : NULL;
	if (!list)
		return NULL;
	r->list = list;
	if (gt_map_add(&r->map, graph, activity->replay, (uint32_t)r->count))
		return NULL;
	r->last = r->count++;
	list[r->last] = (struct gt_replay){.process = activity->process,
					   .graph = activity->graph,
					   .replay = activity->replay,
					   .start_ns = UINT64_MAX};
	return &list[r->last];
}

int gt_replays_add_node(struct gt_replays *r, const struct gt_view_queue *q,
			const struct gt_item *activity, uint64_t correlation)
{
	struct gt_replay *replay;

	if (!activity->replay || activity->device_op == GT_DEVICE_GRAPH || !activity->start_ns ||
	    activity->end_ns < activity->start_ns)
		return 0;
	replay = replay_of(r, activity);
	if (!replay)
		return gt_error(-ENOMEM, "cannot export");
	replay->activity++;
	/* Tests the queue too, because the first node may start at UINT64_MAX. */
	if (!replay->queue || activity->start_ns < replay->start_ns) {
		replay->start_ns = activity->start_ns;
		replay->queue = q;
	}
	if (activity->end_ns > replay->end_ns)
		replay->end_ns = activity->end_ns;
	if (correlation)
		replay->correlation = correlation;
	return 0;
}

static int compare_replays(const void *one, const void *other)
{
	const struct gt_replay *a = one, *b = other;

	if (a->queue->index != b->queue->index)
		return a->queue->index < b->queue->index ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

int gt_replays_each(struct gt_replays *r, struct gt_view *v, uint64_t earliest_ns,
		    gt_replay_fn *write, void *exporter)
{
	struct gt_track_rows rows = {.budget = &v->rows_budget};
	int status = 0;

	if (r->count)
		qsort(r->list, r->count, sizeof *r->list, compare_replays);
	for (size_t i = 0; i < r->count && !status; i++) {
		struct gt_replay *replay = &r->list[i];
		int row;

		if (replay->start_ns < earliest_ns)
			replay->start_ns = earliest_ns;
		if (replay->end_ns < replay->start_ns)
			replay->end_ns = replay->start_ns;
		if (i && replay->queue != replay[-1].queue) {
			gt_track_rows_fini(&rows);
			rows.budget = &v->rows_budget;
		}
		row = gt_track_rows_place(&rows, replay->start_ns, replay->end_ns);
		status = row < 0 ? gt_error(row, "export") : write(exporter, replay, (unsigned)row);
	}
	gt_track_rows_fini(&rows);
	return status;
}

void gt_replays_fini(struct gt_replays *r)
{
	gt_map_fini(&r->map);
	free(r->list);
	*r = (struct gt_replays){.count = 0};
}

const char *gt_replay_name(uint32_t graph, uint32_t replay, char name[GT_REPLAY_NAME])
{
	snprintf(name, GT_REPLAY_NAME, "graph %u, replay %u", graph, replay);
	return name;
}

uint64_t gt_replay_nodes(const struct gt_view *v, uint32_t process, uint32_t graph)
{
	const struct gt_object_info *object =
		gt_capture_object_find(v->capture, process, GT_OBJECT_GRAPH, graph);
	const char *nodes = object ? gt_object_value(object, "nodes") : NULL;

	return nodes ? strtoull(nodes, NULL, 10) : 0;
}
