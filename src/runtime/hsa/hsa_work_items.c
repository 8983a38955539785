/* SPDX-License-Identifier: MIT */
/* Notifying tools of ROCm's activities and queues: see tool/tool_work.h for the mechanism.
 *
 * The thread that reserves a packet's number takes the item: the call that causes the activity is
 * open there, and memory may be allocated. The handler finds the item in the packet's submitter.
 * Not every activity that tools are notified of is recorded (no session, or one that does not want
 * it), and vice versa: see the flags of struct gt_hsa_work.
 *
 * Dispatches share one numbering, including those that copy or fill memory, which have a kernel.
 * Copies with engines and barriers are numbered separately. */
#include "runtime/hsa/hsa_work_items.h"

#include <errno.h>

static uint32_t get_type(const struct gt_hsa_kernel *k, const struct gt_hsa_submitter *o)
{
	static const uint8_t copies[] = {GPUTAP_WORK_COPY, GPUTAP_WORK_WRITE, GPUTAP_WORK_READ,
					 GPUTAP_WORK_COPY, GPUTAP_WORK_COPY};
	uint32_t direction = o && o->by.bytes ? o->by.direction : 0;

	if (!k || k->info.part == GT_GRAPH_KERNEL)
		return GPUTAP_WORK_KERNEL;
	return k->info.part == GT_GRAPH_FILL ? GPUTAP_WORK_FILL
					     : copies[direction < sizeof copies ? direction : 0];
}

static void set_node(struct gputap_work *w, const struct gt_node_ref *s, enum gt_graph_part part)
{
	w->graph = s->graph;
	w->replay = s->replay;
	w->ordinal = s->ordinal[part];
}

/* Return the packet's item, or a new one. Return NULL if it is not wanted. */
static struct gt_work_item *take_item(struct gt_hsa_queue *q, struct gt_hsa_submitter *o,
				      uint32_t type)
{
	struct gt_work_item *p =
		o ? atomic_exchange_explicit(&o->item, NULL, memory_order_acq_rel) : NULL;

	if (!(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_WORK_BIT(type))) {
		if (p)
			gt_work_item_give(p);
		return NULL;
	}
	if (!p && !(p = gt_work_item_take(GT_DOMAIN_HSA_CORE, false)))
		return NULL;
	gt_work_item_submitting(p);
	p->dispatch = false;
	p->work.type = type;
	p->work.device = q->agent->number;
	p->work.device_handle = q->agent->handle;
	p->work.queue = q->number;
	p->work.queue_handle = (uintptr_t)q->handle;
	return p;
}

struct gt_work_item *gt_hsa_item_of_barrier(struct gt_hsa_queue *q, struct gt_hsa_submitter *o)
{
	struct gt_work_item *p = take_item(q, o, GPUTAP_WORK_BARRIER);

	if (p && o && o->by.node.replay) {
		p->work.graph = o->by.node.graph;
		p->work.replay = o->by.node.replay;
		p->work.ordinal = GT_GRAPH_NO_NODE;
	}
	return p;
}

struct gt_work_item *gt_hsa_item_of_kernel(struct gt_hsa_queue *q, struct gt_hsa_submitter *o,
					   const struct gt_hsa_kernel *k,
					   const struct gt_hsa_kernel_packet *p)
{
	uint32_t type = get_type(k, o);
	struct gt_work_item *item = take_item(q, o, type);
	struct gputap_work *w;

	if (!item)
		return NULL;
	item->dispatch = true;
	w = &item->work;
	w->kernel = k ? k->symbol : 0;
	w->name = k ? k->text : NULL;
	for (int i = 0; i < 3; i++) {
		w->grid[i] = p->grid[i];
		w->group[i] = p->local[i];
	}
	w->group_bytes = p->group_bytes;
	w->private_bytes = p->private_bytes;
	if (type != GPUTAP_WORK_KERNEL && o && o->by.bytes) {
		uint64_t *moved = &q->moved.notified[w->correlation % GT_HSA_MOVERS];

		/* only with its first kernel */
		w->bytes = w->correlation && *moved == w->correlation ? 0 : o->by.bytes;
		*moved = w->correlation;
		w->source = o->by.source;
		w->destination = o->by.destination;
	}
	if (o && o->by.node.replay)
		set_node(w, &o->by.node, k ? (enum gt_graph_part)k->info.part : GT_GRAPH_KERNEL);
	return item;
}

struct gt_work_item *gt_hsa_item_of_copy(const struct gt_hsa_agent *device,
					 const struct gt_hsa_agent *from,
					 const struct gt_hsa_agent *to,
					 const struct gt_hsa_work *work,
					 const struct gt_node_ref *node)
{
	struct gt_work_item *item;
	struct gputap_work *w;

	if (!(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_WORK_BIT(work->op)) ||
	    !(item = gt_work_item_take(GT_DOMAIN_HSA_CORE, true)))
		return NULL;
	w = &item->work;
	w->type = work->op;
	w->device = device->number;
	w->device_handle = to ? to->handle : 0;
	w->source_device_handle = from ? from->handle : 0;
	w->queue = work->queue & UINT32_MAX;
	w->queue_handle = device->handle;
	w->bytes = work->bytes;
	w->source = work->object[0];
	w->destination = work->object[1];
	if (node->replay)
		set_node(w, node, GT_GRAPH_COPY);
	item->dispatch = false;
	return gt_work_item_enter(item) ? item : NULL;
}

struct gt_work_item *gt_hsa_item_of_scratch(const struct gt_hsa_queue *q, const char *name)
{
	struct gt_work_item *item;
	struct gputap_work *w;

	if (!(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_WORK_BIT(GPUTAP_WORK_SCRATCH)) ||
	    !(item = gt_work_item_take(GT_DOMAIN_HSA_CORE, true)))
		return NULL;
	w = &item->work;
	w->type = GPUTAP_WORK_SCRATCH;
	w->device = q->agent->number;
	w->device_handle = q->agent->handle;
	w->queue = q->number;
	w->queue_handle = (uintptr_t)q->handle;
	w->name = name;
	item->dispatch = false;
	return gt_work_item_enter(item) ? item : NULL;
}

void gt_hsa_complete_item(struct gt_work_item *p, const struct gt_hsa_agent *a,
			  const struct gt_hsa_times *times)
{
	if (times)
		gt_work_item_done(p, 0, gt_hsa_agent_to_boottime(a, times->start),
				  gt_hsa_agent_to_boottime(a, times->end));
	else
		gt_work_item_done(p, -ENODATA, 0, 0);
}

struct gt_tool_object *gt_hsa_notify_queue(const struct gt_hsa_agent *a, uint64_t number,
					   uint64_t handle)
{
	const struct gputap_object o = {
		.domain = GT_DOMAIN_HSA_CORE,
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
