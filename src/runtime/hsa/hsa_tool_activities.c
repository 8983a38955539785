/* SPDX-License-Identifier: MIT */
/* Notifies tools of ROCm's activities and queues: tool/tool_activity.h describes the mechanism.
 *
 * The thread that reserves a packet's number takes the tool activity, because the call that causes
 * the activity is open in that thread and allocation is permitted there. The handler finds the tool
 * activity in the packet's submitter. Some activities that tools are notified of are not recorded
 * (no session, or a session that does not select them), and vice versa: see the flags of struct
 * gt_hsa_activity.
 *
 * All dispatches share one numbering, including dispatches that copy or fill memory with a kernel.
 * Copies made by copy engines are numbered separately, and so are barriers. */
#include "runtime/hsa/hsa_tool_activities.h"

#include <errno.h>

static uint32_t get_type(const struct gt_hsa_kernel *k, const struct gt_hsa_submitter *o)
{
	static const uint8_t copies[] = {GPUTAP_ACTIVITY_COPY, GPUTAP_ACTIVITY_WRITE,
					 GPUTAP_ACTIVITY_READ, GPUTAP_ACTIVITY_COPY,
					 GPUTAP_ACTIVITY_COPY};
	uint32_t direction = o && o->by.bytes ? o->by.direction : 0;

	if (!k || k->info.part == GT_GRAPH_KERNEL)
		return GPUTAP_ACTIVITY_KERNEL;
	return k->info.part == GT_GRAPH_FILL ? GPUTAP_ACTIVITY_FILL
					     : copies[direction < sizeof copies ? direction : 0];
}

static void set_node(struct gputap_activity *w, const struct gt_node_ref *s,
		     enum gt_graph_part part)
{
	w->graph = s->graph;
	w->replay = s->replay;
	w->ordinal = s->ordinal[part];
}

/* Return the packet's tool activity, or a new tool activity. Return NULL if no tool wants the
 * activity. */
static struct gt_tool_activity *take_tool_activity(struct gt_hsa_queue *q,
						   struct gt_hsa_submitter *o, uint32_t type)
{
	struct gt_tool_activity *p =
		o ? atomic_exchange_explicit(&o->tool_activity, NULL, memory_order_acq_rel) : NULL;

	if (!(gt_tool_activity_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_ACTIVITY_BIT(type))) {
		if (p)
			gt_tool_activity_give(p);
		return NULL;
	}
	if (!p && !(p = gt_tool_activity_take(GT_DOMAIN_HSA_CORE, false)))
		return NULL;
	gt_tool_activity_submitting(p);
	p->dispatch = false;
	p->activity.type = type;
	p->activity.device = q->agent->number;
	p->activity.device_handle = q->agent->handle;
	p->activity.queue = q->number;
	p->activity.queue_handle = (uintptr_t)q->handle;
	return p;
}

struct gt_tool_activity *gt_hsa_tool_activity_of_barrier(struct gt_hsa_queue *q,
							 struct gt_hsa_submitter *o)
{
	struct gt_tool_activity *p = take_tool_activity(q, o, GPUTAP_ACTIVITY_BARRIER);

	if (p && o && o->by.node.replay) {
		p->activity.graph = o->by.node.graph;
		p->activity.replay = o->by.node.replay;
		p->activity.ordinal = GT_GRAPH_NO_NODE;
	}
	return p;
}

struct gt_tool_activity *gt_hsa_tool_activity_of_kernel(struct gt_hsa_queue *q,
							struct gt_hsa_submitter *o,
							const struct gt_hsa_kernel *k,
							const struct gt_hsa_kernel_packet *p)
{
	uint32_t type = get_type(k, o);
	struct gt_tool_activity *tool_activity = take_tool_activity(q, o, type);
	struct gputap_activity *w;

	if (!tool_activity)
		return NULL;
	tool_activity->dispatch = true;
	w = &tool_activity->activity;
	w->kernel = k ? k->symbol : 0;
	w->name = k ? k->text : NULL;
	for (int i = 0; i < 3; i++) {
		w->grid[i] = p->grid[i];
		w->group[i] = p->local[i];
	}
	w->group_bytes = p->group_bytes;
	w->private_bytes = p->private_bytes;
	if (type != GPUTAP_ACTIVITY_KERNEL && o && o->by.bytes) {
		uint64_t *moved = &q->moved.notified[w->correlation % GT_HSA_MOVERS];

		/* The bytes of a call are reported with its first kernel only. */
		w->bytes = w->correlation && *moved == w->correlation ? 0 : o->by.bytes;
		*moved = w->correlation;
		w->source = o->by.source;
		w->destination = o->by.destination;
	}
	if (o && o->by.node.replay)
		set_node(w, &o->by.node, k ? (enum gt_graph_part)k->info.part : GT_GRAPH_KERNEL);
	return tool_activity;
}

struct gt_tool_activity *gt_hsa_tool_activity_of_copy(const struct gt_hsa_agent *device,
						      const struct gt_hsa_agent *from,
						      const struct gt_hsa_agent *to,
						      const struct gt_hsa_activity *activity,
						      const struct gt_node_ref *node)
{
	struct gt_tool_activity *tool_activity;
	struct gputap_activity *w;

	if (!(gt_tool_activity_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_ACTIVITY_BIT(activity->op)) ||
	    !(tool_activity = gt_tool_activity_take(GT_DOMAIN_HSA_CORE, true)))
		return NULL;
	w = &tool_activity->activity;
	w->type = activity->op;
	w->device = device->number;
	w->device_handle = to ? to->handle : 0;
	w->source_device_handle = from ? from->handle : 0;
	w->queue = activity->queue & UINT32_MAX;
	w->queue_handle = device->handle;
	w->bytes = activity->bytes;
	w->source = activity->object[0];
	w->destination = activity->object[1];
	if (node->replay)
		set_node(w, node, GT_GRAPH_COPY);
	tool_activity->dispatch = false;
	return gt_tool_activity_enter(tool_activity) ? tool_activity : NULL;
}

struct gt_tool_activity *gt_hsa_tool_activity_of_scratch(const struct gt_hsa_queue *q,
							 const char *name)
{
	struct gt_tool_activity *tool_activity;
	struct gputap_activity *w;

	if (!(gt_tool_activity_asked(GT_DOMAIN_HSA_CORE) &
	      GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_SCRATCH)) ||
	    !(tool_activity = gt_tool_activity_take(GT_DOMAIN_HSA_CORE, true)))
		return NULL;
	w = &tool_activity->activity;
	w->type = GPUTAP_ACTIVITY_SCRATCH;
	w->device = q->agent->number;
	w->device_handle = q->agent->handle;
	w->queue = q->number;
	w->queue_handle = (uintptr_t)q->handle;
	w->name = name;
	tool_activity->dispatch = false;
	return gt_tool_activity_enter(tool_activity) ? tool_activity : NULL;
}

void gt_hsa_complete_tool_activity(struct gt_tool_activity *p, const struct gt_hsa_agent *a,
				   const struct gt_hsa_times *times)
{
	if (times)
		gt_tool_activity_done(p, 0, gt_hsa_agent_to_boottime(a, times->start),
				      gt_hsa_agent_to_boottime(a, times->end));
	else
		gt_tool_activity_done(p, -ENODATA, 0, 0);
}

struct gt_tool_object *gt_hsa_notify_queue(const struct gt_hsa_agent *a, uint64_t number,
					   uint64_t handle)
{
	const struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_HSA_CORE,
		.type = GPUTAP_OBJECT_QUEUE,
		.number = number,
		.parent = a->number,
		.handle = handle,
		.device_handle = a->handle,
		.storage_file = -1,
	};
	struct gt_tool_object *x;

	gt_hsa_notify_agents();
	x = gt_tool_object_add(&o, NULL);
	gt_tool_object_loaded(x);
	return x;
}
