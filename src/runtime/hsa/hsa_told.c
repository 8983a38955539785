/* SPDX-License-Identifier: MIT */
/* What tools are told of ROCm's work and objects, from what the activity's other files know of
 * it: see tool/tool_work.h for how.
 *
 * Who reserves a packet's number takes the piece: the call that causes the work is open there,
 * and memory may be had. The handler finds it with the packet's owner. What is told is not
 * always recorded (no session, or one that does not ask), and the other way round: the slot's
 * record says whether it is (kind).
 *
 * Dispatches are numbered together, also those that copy or fill memory; they have a kernel.
 * Copies by engines and barriers are numbered on their own. */
#include <errno.h>
#include <string.h>

#include "runtime/hsa/hsa_activity.h"

#define SAME_NS UINT64_C(100000) /* the runtime's clock and ours, read one after the other */

/* Times --------------------------------------------------------------------- */

void gt_hsa_told_clock(struct gt_hsa_agent *a)
{
	gt_hsa_core_hsa_system_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_system_get_info);
	uint64_t stamp = 0, hz = 0, before, after, ns;

	if (info(GT_HSA_SYSTEM_TIMESTAMP_FREQUENCY, &hz) != GT_HSA_SUCCESS || !hz)
		return;
	before = gt_hsa_boottime_ns();
	if (info(GT_HSA_SYSTEM_TIMESTAMP, &stamp) != GT_HSA_SUCCESS)
		return;
	after = gt_hsa_boottime_ns();
	ns = hz == UINT64_C(1000000000) ? stamp
					: (uint64_t)((unsigned __int128)stamp * 1000000000u / hz);
	if (ns + SAME_NS >= before && ns <= after + SAME_NS)
		atomic_store_explicit(&a->to_boottime, 0, memory_order_relaxed);
	else
		atomic_store_explicit(&a->to_boottime,
				      (int64_t)(before + (after - before) / 2 - ns),
				      memory_order_relaxed);
	atomic_store_explicit(&a->clock_hz, hz, memory_order_relaxed);
}

/* A stamp of the runtime's system clock; 0: not known. */
static uint64_t boottime(const struct gt_hsa_agent *a, uint64_t stamp)
{
	uint64_t hz = atomic_load_explicit(&a->clock_hz, memory_order_relaxed);

	if (!stamp)
		return 0;
	if (gt_unlikely(hz && hz != UINT64_C(1000000000)))
		stamp = (uint64_t)((unsigned __int128)stamp * 1000000000u / hz);
	return stamp + (uint64_t)atomic_load_explicit(&a->to_boottime, memory_order_relaxed);
}

/* Work ------------------------------------------------------------------------ */

void gt_hsa_told_reserve(struct gt_hsa_queue *q, struct gt_hsa_owner *o, bool wanted)
{
	struct gt_work_item *p = wanted ? gt_work_item_take(GT_DOMAIN_HSA_CORE, true) : NULL;

	p = atomic_exchange_explicit(&o->piece, p, memory_order_acq_rel);
	if (p) /* of a packet that never came by */
		gt_work_item_give(p);
	atomic_store_explicit(&q->has_pieces, true, memory_order_relaxed);
}

static uint32_t type_of(const struct gt_hsa_kernel *k, const struct gt_hsa_owner *o)
{
	static const uint8_t copies[] = {GPUTAP_WORK_COPY, GPUTAP_WORK_WRITE, GPUTAP_WORK_READ,
					 GPUTAP_WORK_COPY, GPUTAP_WORK_COPY};
	uint32_t direction = o && o->bytes ? o->direction : 0;

	if (!k || k->class == GT_HSA_KERNEL_USER)
		return GPUTAP_WORK_KERNEL;
	return k->class == GT_HSA_KERNEL_FILL ? GPUTAP_WORK_FILL
					      : copies[direction < sizeof copies ? direction : 0];
}

static void set_graph(struct gputap_work *w, const struct gt_node_ref *s, enum gt_graph_part part)
{
	w->graph = s->graph;
	w->replay = s->replay;
	w->ordinal = s->ordinal[part];
}

/* The packet's piece, or a new one. NULL: nobody asks. */
static struct gt_work_item *piece_of(struct gt_hsa_queue *q, struct gt_hsa_owner *o, uint32_t type)
{
	struct gt_work_item *p =
		o ? atomic_exchange_explicit(&o->piece, NULL, memory_order_acq_rel) : NULL;

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

struct gt_work_item *gt_hsa_told_barrier(struct gt_hsa_queue *q, struct gt_hsa_owner *o)
{
	struct gt_work_item *p = piece_of(q, o, GPUTAP_WORK_BARRIER);

	if (p && o && o->stamp.replay) {
		p->work.graph = o->stamp.graph;
		p->work.replay = o->stamp.replay;
		p->work.ordinal = GT_GRAPH_NO_NODE;
	}
	return p;
}

struct gt_work_item *gt_hsa_told_kernel(struct gt_hsa_queue *q, struct gt_hsa_owner *o,
					const struct gt_hsa_kernel *k,
					const struct gt_hsa_kernel_packet *p)
{
	uint32_t type = type_of(k, o);
	struct gt_work_item *piece = piece_of(q, o, type);
	struct gputap_work *w;

	if (!piece)
		return NULL;
	piece->dispatch = true;
	w = &piece->work;
	w->kernel = k ? k->symbol : 0;
	w->name = k ? k->text : NULL;
	for (int i = 0; i < 3; i++) {
		w->grid[i] = p->grid[i];
		w->group[i] = p->local[i];
	}
	w->group_bytes = p->group_bytes;
	w->private_bytes = p->private_bytes;
	if (type != GPUTAP_WORK_KERNEL && o && o->bytes) {
		uint64_t *moved = &q->told_moved[w->correlation % GT_HSA_MOVERS];

		/* with its first kernel */
		w->bytes = w->correlation && *moved == w->correlation ? 0 : o->bytes;
		*moved = w->correlation;
		w->source = o->source;
		w->destination = o->destination;
	}
	if (o && o->stamp.replay)
		set_graph(w, &o->stamp, k ? (enum gt_graph_part)k->class : GT_GRAPH_KERNEL);
	return piece;
}

struct gt_work_item *gt_hsa_told_copy(const struct gt_hsa_agent *device,
				      const struct gt_hsa_agent *from,
				      const struct gt_hsa_agent *to,
				      const struct gt_record_device *r,
				      const struct gt_node_ref *stamp)
{
	struct gt_work_item *piece;
	struct gputap_work *w;

	if (!(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_WORK_BIT(r->head.depth)) ||
	    !(piece = gt_work_item_take(GT_DOMAIN_HSA_CORE, true)))
		return NULL;
	w = &piece->work;
	w->type = r->head.depth;
	w->device = device->number;
	w->device_handle = to ? to->handle : 0;
	w->source_device_handle = from ? from->handle : 0;
	w->queue = r->queue & UINT32_MAX;
	w->queue_handle = device->handle;
	w->bytes = r->bytes;
	w->source = r->object[0];
	w->destination = r->object[1];
	if (stamp->replay)
		set_graph(w, stamp, GT_GRAPH_COPY);
	piece->dispatch = false;
	return gt_work_item_enter(piece) ? piece : NULL;
}

struct gt_work_item *gt_hsa_told_scratch(const struct gt_hsa_queue *q, uint64_t handle,
					 const char *name)
{
	struct gt_work_item *piece;
	struct gputap_work *w;

	if (!(gt_tool_work_asked(GT_DOMAIN_HSA_CORE) & GPUTAP_WORK_BIT(GPUTAP_WORK_SCRATCH)) ||
	    !(piece = gt_work_item_take(GT_DOMAIN_HSA_CORE, true)))
		return NULL;
	w = &piece->work;
	w->type = GPUTAP_WORK_SCRATCH;
	w->device = q ? q->agent->number : 0;
	w->device_handle = q ? q->agent->handle : 0;
	w->queue = q ? q->number : 0;
	w->queue_handle = q ? (uintptr_t)q->handle : handle;
	w->name = name;
	piece->dispatch = false;
	return gt_work_item_enter(piece) ? piece : NULL;
}

void gt_hsa_told_done(struct gt_work_item *p, const struct gt_hsa_agent *a,
		      const struct gt_hsa_times *times)
{
	if (times)
		gt_work_item_done(p, 0, boottime(a, times->start), boottime(a, times->end));
	else
		gt_work_item_done(p, -ENODATA, 0, 0);
}

/* Objects ------------------------------------------------------------------------ */

void gt_hsa_told_agent(struct gt_hsa_agent *a, const char *name, uint64_t node)
{
	const struct gputap_object o = {
		.domain = GT_DOMAIN_HSA_CORE,
		.type = GPUTAP_OBJECT_DEVICE,
		.number = a->number,
		.handle = a->handle,
		.device_handle = a->handle,
		.name = gt_tool_text(name, strlen(name)),
		.storage_file = -1,
		.node = node,
	};

	a->object = gt_tool_object_add(&o, NULL);
	atomic_store_explicit(&a->untold, 1, memory_order_release);
}

void gt_hsa_told_agents(void)
{
	struct gt_hsa_agent *a;

	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		if (gt_unlikely(atomic_load_explicit(&a->untold, memory_order_relaxed)) &&
		    atomic_exchange_explicit(&a->untold, 0, memory_order_acquire))
			gt_tool_object_loaded(a->object);
}

struct gt_tool_object *gt_hsa_told_queue(const struct gt_hsa_agent *a, uint64_t number,
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

	gt_hsa_told_agents();
	x = gt_tool_object_add(&o, NULL);
	gt_tool_object_loaded(x);
	return x;
}
