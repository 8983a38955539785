/* SPDX-License-Identifier: MIT */
/* See hsa_submitters.h. */
#include "runtime/hsa/hsa_submitters.h"

void gt_hsa_submitter_set_tool_activity(struct gt_hsa_submitters *s, struct gt_hsa_submitter *o,
					bool wanted)
{
	struct gt_tool_activity *tool_activity =
		wanted ? gt_tool_activity_take(GT_DOMAIN_HSA_CORE, true) : NULL;

	tool_activity =
		atomic_exchange_explicit(&o->tool_activity, tool_activity, memory_order_acq_rel);
	if (tool_activity)
		gt_tool_activity_give(tool_activity);
	atomic_store_explicit(&s->has_items, true, memory_order_relaxed);
}

void gt_hsa_submitters_note(struct gt_hsa_submitters *s, const struct gt_hsa_ring *ring,
			    const void *handle, uint64_t from, uint64_t count)
{
	const struct gt_thread *t = &gt_thread;
	bool notified = gt_tool_activity_asked(GT_DOMAIN_HSA_CORE) != 0;
	struct gt_graph_launch *graph = t->graph;
	bool deferred = gt_unlikely(graph != NULL) && count > 1,
	     recorded = gt_hsa_records_launches();

	if (gt_unlikely(count > s->mask))
		return;
	if (!recorded && !notified && !graph && !t->submit_order &&
	    !atomic_load_explicit(&s->has_items, memory_order_relaxed)) {
		for (uint64_t i = from; i < from + count; i++)
			gt_hsa_submitter_skip(s, ring, i);
		return;
	}
	for (uint64_t i = from; i < from + count; i++) {
		struct gt_hsa_submitter *o = gt_hsa_submitter_new(s, ring, i);

		if (gt_unlikely(notified || atomic_load_explicit(&o->tool_activity,
								 memory_order_relaxed) != NULL))
			gt_hsa_submitter_set_tool_activity(s, o, notified);
		o->packet = (i + 1) | (deferred ? GT_HSA_DEFERRED : 0);
		o->by.id = t->api_id;
		o->by.start = t->api_start;
		o->by.bytes = t->api_bytes;
		o->by.node.graph = recorded ? 0 : GT_NODE_NOT_RECORDED;
		o->by.node.replay = 0;
		o->order = t->api_id ? NULL : t->submit_order;
		if (gt_unlikely(o->order != NULL))
			o->sequence = gt_submit_order_reserve_packet(o->order);
		if (gt_unlikely(graph != NULL) && !deferred)
			gt_graph_assign_node(graph, handle, i, &o->by.node);
		if (gt_unlikely(t->api_bytes)) {
			o->by.source = t->api_source;
			o->by.destination = t->api_destination;
			o->by.direction = t->api_direction;
		}
	}
}
