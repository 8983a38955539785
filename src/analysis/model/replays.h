/* SPDX-License-Identifier: MIT */
/* Launches of graphs as slices, for formats that draw. A slice lasts from the start of the launch's
 * first node to the end of its last node. If each launch was recorded as one item (`--mode lite`),
 * that item is the slice. Nodes run on several queues, and launches of one queue may overlap.
 * Slices therefore have separate tracks next to the queue of the node that started first, in rows
 * without overlap.
 * Memory: a few words per launch, none per node. */
#ifndef GPUTAP_ANALYSIS_MODEL_REPLAYS_H
#define GPUTAP_ANALYSIS_MODEL_REPLAYS_H

#include "analysis/base/map.h"
#include "analysis/model/view.h"

struct gt_replay {
	const struct gt_view_queue *queue; /* queue of the node that started first */
	uint32_t process, graph, replay;
	uint32_t activity; /* number of recorded nodes */
	uint64_t start_ns, end_ns;
	uint64_t correlation; /* correlation number of the launching call; 0: not known */
};

/* Empty if zero-initialised. */
struct gt_replays {
	struct gt_map map; /* process << 32 | graph, replay -> index in the list */
	struct gt_replay *list;
	size_t count, capacity;
	size_t last; /* index of the last launch: nodes of a launch are usually consecutive */
};

int gt_replays_add_node(struct gt_replays *r, const struct gt_view_queue *q,
			const struct gt_item *activity, uint64_t correlation);

/* Add a GPU activity. Call for every activity. Return 0 or -ENOMEM with a cause. */
static inline int gt_replays_add(struct gt_replays *r, const struct gt_view_queue *q,
				 const struct gt_item *activity, uint64_t correlation)
{
	if (__builtin_expect(!activity->graph, 1))
		return 0;
	return gt_replays_add_node(r, q, activity, correlation);
}

/* Call @write for each launch, queue by queue, in order of start. @row: passed to @write, from 0.
 * @earliest_ns: replaces earlier start times.
 * Return 0, the error of @write, or -ENOMEM with a cause. */
typedef int gt_replay_fn(void *exporter, const struct gt_replay *replay, unsigned row);
int gt_replays_each(struct gt_replays *r, struct gt_view *v, uint64_t earliest_ns,
		    gt_replay_fn *write, void *exporter);
void gt_replays_fini(struct gt_replays *r);

/* Write the name of a launch, such as "graph 3, replay 17". Return @name. */
enum { GT_REPLAY_NAME = 48 };
const char *gt_replay_name(uint32_t graph, uint32_t replay, char name[GT_REPLAY_NAME]);
/* Return the number of nodes in the definition of the launched graph; 0: not known. */
uint64_t gt_replay_nodes(const struct gt_view *v, uint32_t process, uint32_t graph);

/* Return true if @work is a launch that was recorded as one item. */
static inline bool gt_replay_is_whole(const struct gt_item *activity)
{
	return activity->device_op == GT_DEVICE_GRAPH && activity->graph && activity->replay;
}

#endif
