/* SPDX-License-Identifier: MIT */
/* Launches of graphs, see graphs.h. The records of a launch come in any order, from several
 * threads, so each launch keeps a row until the end. */
#include "analysis/tables/graphs.h"

#include <stdlib.h>

static uint64_t read_number(const struct gt_object_info *graph, const char *key)
{
	const char *text = graph ? gt_object_value(graph, key) : NULL;

	return text ? strtoull(text, NULL, 10) : 0;
}

static uint32_t row_of(struct graphs *g, const struct gt_capture *capture,
		       const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->graph;
	uint32_t row = idmap_get(&g->ids, key);
	const struct gt_object_info *graph;

	if (row != LOOKUP_NONE)
		return row;
	GROW_LIST(g->rows, g->count, g->room);
	graph = gt_capture_object_find(capture, item->process, GT_OBJECT_GRAPH, item->graph);
	row = g->count++;
	g->rows[row].process = item->process;
	g->rows[row].number = item->graph;
	g->rows[row].nodes = read_number(graph, "nodes");
	g->rows[row].kernels = read_number(graph, "kernels");
	idmap_put(&g->ids, key, row);
	return row;
}

static struct graphs_launch *launch_of(struct graphs *g, uint32_t row, uint32_t replay)
{
	uint64_t key = (uint64_t)row << 32 | replay;
	uint32_t launch = idmap_get(&g->launch_ids, key);

	if (launch != LOOKUP_NONE)
		return &g->launches[launch];
	GROW_LIST(g->launches, g->launch_count, g->launch_room);
	idmap_put(&g->launch_ids, key, g->launch_count);
	g->launches[g->launch_count].row = row;
	g->rows[row].launches++;
	return &g->launches[g->launch_count++];
}

void graphs_add(struct graphs *g, const struct gt_capture *capture, const struct gt_item *item)
{
	struct timeline_span span = {.start = item->start_ns, .end = item->end_ns};
	struct graphs_launch *launch;
	struct graphs_row *row;
	uint32_t at;

	if (!item->graph || !item->replay)
		return;
	at = row_of(g, capture, item); /* row_of() may move the rows */
	row = &g->rows[at];
	launch = launch_of(g, at, item->replay);
	row->activity++;
	row->whole |= item->device_op == GT_DEVICE_GRAPH;
	if (!item->start_ns || item->end_ns < item->start_ns)
		return;
	if (!launch->start_ns || item->start_ns < launch->start_ns)
		launch->start_ns = item->start_ns;
	if (item->end_ns > launch->end_ns)
		launch->end_ns = item->end_ns;
	if (item->device_op != GT_DEVICE_GRAPH && item->device_op != GT_DEVICE_MARKER &&
	    item->device_op != GT_DEVICE_BARRIER)
		timeline_add(&row->busy, &span);
}

int graphs_finish(struct graphs *g)
{
	int rc = 0;

	for (uint32_t i = 0; i < g->launch_count; i++)
		if (g->launches[i].start_ns)
			histogram_add(&g->rows[g->launches[i].row].times,
				      g->launches[i].end_ns - g->launches[i].start_ns);
	for (uint32_t i = 0; i < g->count && !rc; i++)
		rc = timeline_finish(&g->rows[i].busy);
	return rc;
}

void graphs_fini(struct graphs *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		histogram_fini(&g->rows[i].times);
		timeline_fini(&g->rows[i].busy);
	}
	free(g->rows);
	free(g->launches);
	idmap_fini(&g->ids);
	idmap_fini(&g->launch_ids);
	*g = (struct graphs){0};
}
