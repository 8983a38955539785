/* SPDX-License-Identifier: MIT */
/* Asynchronous copies: their completion signal stays the program's, and the runtime is asked for
 * the times that lie in it, by the helper or, at the latest, when the signal is used again or
 * destroyed (hsa_signal.c).
 *
 *   free ─► slot ─► PENDING ─ helper ─► record ─► free
 *   slots are taken from the low end: the helper looks no further than the highest one that was
 *   ever in use
 *
 * Times are kept by the runtime only after hsa_amd_profiling_async_copy_enable(), which is
 * called once for all; a program that switches it off has it on all the same.
 *
 * HIP's copies inside the device, and small ones, are kernels: hsa_dispatch.c has them.
 * hsa_memory_copy() and hsa_amd_memory_fill() have no signal and no times: they are calls. A
 * signal that several copies in flight share has the times of the one that ended last, whichever
 * that is: they are counted as work whose times the runtime refused. */
#include "core/recording.h"
#include "runtime/hsa/hsa_activity.h"

enum { SLOTS = 4096 };

struct copy {
	struct gt_hsa_watch watch;
	struct gt_record_device record;
	_Atomic uint32_t taken;
	uint32_t epoch;
	_Atomic(struct gt_work_item *) piece; /* for tools; NULL: none asks */
};

static struct copy copies[SLOTS];
static _Atomic uint32_t used;  /* slots below have been in use */
static _Atomic uint32_t first; /* where to look for a free one */
static _Atomic uint32_t taken; /* so many are in use */

bool gt_hsa_copies_there(void)
{
	return atomic_load_explicit(&taken, memory_order_relaxed);
}

/* Taken; NULL: none free. */
static struct copy *take(void)
{
	uint32_t from = atomic_load_explicit(&first, memory_order_relaxed), limit;

	for (uint32_t i = from < SLOTS ? from : 0; i < SLOTS; i++) {
		uint32_t free = 0;

		if (atomic_load_explicit(&copies[i].taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong_explicit(&copies[i].taken, &free, 1,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		limit = atomic_load_explicit(&used, memory_order_relaxed);
		while (limit <= i && !atomic_compare_exchange_weak_explicit(&used, &limit, i + 1,
									    memory_order_release,
									    memory_order_relaxed))
			;
		atomic_store_explicit(&first, i + 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
		return &copies[i];
	}
	atomic_store_explicit(&first, 0, memory_order_relaxed);
	return NULL;
}

static void give(struct copy *c)
{
	uint32_t i = (uint32_t)(c - copies);

	atomic_store_explicit(&c->watch.state, GT_HSA_SLOT_FREE, memory_order_relaxed);
	atomic_store_explicit(&c->taken, 0, memory_order_release);
	atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
	if (i < atomic_load_explicit(&first, memory_order_relaxed))
		atomic_store_explicit(&first, i, memory_order_relaxed);
}

static void enable_times(struct gt_hsa_runtime *r)
{
	static _Atomic uint32_t loads[GT_INSTANCES];
	gt_hsa_amd_ext_hsa_amd_profiling_async_copy_enable_fn *enable =
		GT_HSA_AMD(r, hsa_amd_profiling_async_copy_enable);

	if (gt_likely(atomic_load_explicit(&loads[r->instance], memory_order_acquire) == r->loads))
		return;
	if (enable)
		enable(true); /* by several threads, perhaps: none may go on before it is on */
	atomic_store_explicit(&loads[r->instance], r->loads, memory_order_release);
}

/* The queue object that stands for a device's copy engines. */
static uint64_t engines(struct gt_hsa_agent *a, struct gt_thread *t)
{
	uint64_t number = atomic_load_explicit(&a->copies, memory_order_acquire), fresh;
	struct gt_text text = {0};

	if (gt_likely(number))
		return number;
	fresh = gt_object_number(GT_OBJECT_QUEUE);
	if (!atomic_compare_exchange_strong_explicit(&a->copies, &number, fresh,
						     memory_order_release, memory_order_acquire))
		return number;
	gt_text_add(&text, "properties", "copy engines");
	gt_object_write(t, GT_OBJECT_QUEUE, GT_DOMAIN_HSA_CORE, fresh, a->handle, a->number, &text);
	gt_hsa_told_queue(a, fresh, a->handle);
	return fresh;
}

struct transfer {
	const void *destination, *source;
	uint64_t bytes;
	uint64_t destination_agent, source_agent; /* 0: not known */
	uint64_t signal;
};

/* A copy during its call. */
struct submission {
	struct copy *copy; /* NULL: not followed */
	bool watched;      /* its times can be told: it is not let go before the call is over */
	struct gt_work_item *piece;
};

/* Not followed. If it is a part of a launch's record, that has no end. */
static struct submission unfollowed(const struct gt_node_ref *stamp, struct gt_thread *t)
{
	if (stamp->replay && stamp->span && !(stamp->unobserved >> GT_GRAPH_COPY & 1))
		gt_graph_span_lose_part(stamp->span, t);
	return (struct submission){0};
}

/* As a record, but for who asked for it. */
static struct gt_record_device described(const struct transfer *x, enum gt_device_op op,
					 const struct gt_hsa_agent *from,
					 const struct gt_hsa_agent *to)
{
	struct gt_record_device record = {
		.bytes = x->bytes,
		.object = {(uintptr_t)x->source, (uintptr_t)x->destination},
		.local = {from ? (uint32_t)from->number : 0, to ? (uint32_t)to->number : 0, 0},
	};

	if (op != GT_DEVICE_OTHER)
		record.head.depth = (uint8_t)op;
	else if (!from || !from->gpu)
		record.head.depth = GT_DEVICE_WRITE;
	else
		record.head.depth = !to || !to->gpu ? GT_DEVICE_READ : GT_DEVICE_COPY;
	return record;
}

/* It is in flight. Return: its times can be told. */
static bool watch(struct copy *c, const struct transfer *x, struct gt_hsa_agent *device)
{
	bool watched;

	c->watch.agent = device;
	c->record.queued = c->watch.queued = gt_hsa_boottime_ns();
	watched = gt_hsa_signal_watch(&c->watch, (struct gt_hsa_signal *)(uintptr_t)x->signal);
	atomic_store_explicit(&c->watch.state, watched ? GT_HSA_SLOT_PENDING : GT_HSA_SLOT_LOST,
			      memory_order_release);
	return watched;
}

/* Before the real call. */
static struct submission begin(const struct gt_call *call, const struct transfer *x,
			       enum gt_device_op op)
{
	struct gt_hsa_runtime *r = gt_hsa_runtime_of(call);
	struct gt_thread *t = gt_hsa_thread();
	struct gt_hsa_agent *to, *from, *device;
	struct gt_node_ref stamp = {.replay = 0};
	struct gt_record_device record;
	struct gt_work_item *piece;
	bool recorded, watched;
	struct gt_hsa_owner owner = {.id = t ? t->api_id : 0,
				     .start = t ? t->api_start : 0,
				     .stamp.graph =
					     gt_hsa_launch_recorded() ? 0 : GT_HSA_UNRECORDED};
	struct copy *c;

	if (gt_unlikely(!t))
		return (struct submission){0};
	if (t->graph)
		gt_graph_flush_held(t->graph);
	/* also of what is not recorded: it has its call */
	if (gt_unlikely(t->submit_order && !t->api_id)) {
		gt_submit_order_match(t->submit_order,
				      &(struct gt_submitted_work){.part = GT_GRAPH_COPY,
								  .destination =
									  (uintptr_t)x->destination,
								  .source = (uintptr_t)x->source,
								  .bytes = x->bytes},
				      0, &owner);
		stamp = owner.stamp;
	}
	if (!x->signal)
		return unfollowed(&stamp, t);
	recorded = gt_hsa_recorded() && !gt_hsa_is_unrecorded(&owner) &&
		   (t->graph || stamp.replay || gt_session_wants_copies(gt_recording.session));
	if (!recorded && !gt_tool_work_asked(GT_DOMAIN_HSA_CORE))
		return unfollowed(&stamp, t);
	enable_times(r);
	to = x->destination_agent ? gt_hsa_agent_get(r, t, x->destination_agent) : NULL;
	from = x->source_agent ? gt_hsa_agent_get(r, t, x->source_agent) : NULL;
	device = to && to->gpu ? to : from && from->gpu ? from : NULL;
	if (!device)
		return unfollowed(&stamp, t); /* between host memories: no device works */
	if (t->graph && gt_graph_assign_copy)
		gt_graph_assign_copy(t->graph, x->destination, x->source, x->bytes, &stamp);
	if (stamp.replay && stamp.unobserved >> GT_GRAPH_COPY & 1)
		recorded = false;
	gt_hsa_told_agents();
	record = described(x, op, from, to);
	record.head.kind = recorded ? GT_RECORD_DEVICE : GT_RECORD_PAD;
	record.id = owner.id ? owner.id : call->id;
	record.call_start = owner.id ? owner.start : call->start;
	record.queue = engines(device, t);
	piece = gt_hsa_told_copy(device, from, to, &record, &stamp);
	if (!recorded && !piece)
		return unfollowed(&stamp, t);
	if (recorded && (!stamp.replay || !stamp.span))
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	c = take();
	if (!c) {
		if (recorded && stamp.replay && stamp.span)
			unfollowed(&stamp, t);
		else if (recorded)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
		return (struct submission){NULL, false, piece};
	}
	c->epoch = t->epoch;
	c->record = record;
	atomic_store_explicit(&c->piece, piece, memory_order_relaxed);
	if (stamp.replay)
		gt_hsa_stamp(&c->record, &stamp, GT_GRAPH_COPY);
	watched = watch(c, x, device);
	gt_hsa_helper_want(device, t);
	gt_hsa_helper_rouse(device);
	return (struct submission){c, watched, piece};
}

/* After it. The runtime refused: nothing was seen. */
static int end(const struct submission *x, int status)
{
	struct gt_work_item *piece = x->piece;

	if (gt_unlikely(piece != NULL))
		gt_work_item_exit(piece); /* it may be the helper's by now */
	if (!x->copy) {
		if (piece)
			gt_work_item_drop(piece, status == GT_HSA_SUCCESS);
	} else if (status != GT_HSA_SUCCESS && x->watched) {
		piece = atomic_exchange_explicit(&x->copy->piece, NULL, memory_order_acq_rel);
		if (piece)
			gt_work_item_drop(piece, false);
		gt_hsa_signal_forget(&x->copy->watch);
		atomic_store_explicit(&x->copy->watch.state, GT_HSA_SLOT_LOST,
				      memory_order_release);
	}
	return status;
}

int gt_hsa_amd_ext_wrap_hsa_amd_memory_async_copy(const struct gt_call *call, void *dst,
						  uint64_t dst_agent, const void *src,
						  uint64_t src_agent, size_t size,
						  uint32_t num_dep_signals,
						  const uint64_t *dep_signals,
						  uint64_t completion_signal)
{
	const struct transfer x = {dst, src, size, dst_agent, src_agent, completion_signal};
	const struct submission c = begin(call, &x, GT_DEVICE_OTHER);

	return end(&c, ((gt_hsa_amd_ext_hsa_amd_memory_async_copy_fn *)call->tap->real)(
			       dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals,
			       completion_signal));
}

int gt_hsa_amd_ext_wrap_hsa_amd_memory_async_copy_on_engine(
	const struct gt_call *call, void *dst, uint64_t dst_agent, const void *src,
	uint64_t src_agent, size_t size, uint32_t num_dep_signals, const uint64_t *dep_signals,
	uint64_t completion_signal, unsigned int engine_id, _Bool force_copy_on_sdma)
{
	const struct transfer x = {dst, src, size, dst_agent, src_agent, completion_signal};
	const struct submission c = begin(call, &x, GT_DEVICE_OTHER);

	return end(&c, ((gt_hsa_amd_ext_hsa_amd_memory_async_copy_on_engine_fn *)call->tap->real)(
			       dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals,
			       completion_signal, engine_id, force_copy_on_sdma));
}

/* hsa_pitched_ptr_t */
struct pitched {
	const void *base;
	size_t pitch, slice;
};

static const void *first_of(const struct pitched *p, const struct gt_hsa_dim3 *at)
{
	return at ? (const char *)p->base + at->x + at->y * p->pitch + at->z * p->slice : p->base;
}

int gt_hsa_amd_ext_wrap_hsa_amd_memory_async_copy_rect(
	const struct gt_call *call, const void *dst, const void *dst_offset, const void *src,
	const void *src_offset, const void *range, uint64_t copy_agent, unsigned int dir,
	uint32_t num_dep_signals, const uint64_t *dep_signals, uint64_t completion_signal)
{
	static const uint8_t ops[] = {GT_DEVICE_COPY, GT_DEVICE_WRITE, GT_DEVICE_READ,
				      GT_DEVICE_COPY};
	const struct gt_hsa_dim3 *n = range;
	const struct pitched *to = dst, *from = src;
	struct transfer x = {NULL, NULL, 0, copy_agent, 0, completion_signal};
	struct submission c = {0};

	if (n && to && from) {
		x.destination = first_of(to, dst_offset);
		x.source = first_of(from, src_offset);
		x.bytes = (uint64_t)n->x * n->y * n->z;
		c = begin(call, &x, dir < sizeof ops ? ops[dir] : GT_DEVICE_COPY);
	}
	if (c.watched)
		for (int i = 0; i < 3; i++)
			c.copy->record.global[i] = i == 0 ? n->x : i == 1 ? n->y : n->z;
	return end(&c, ((gt_hsa_amd_ext_hsa_amd_memory_async_copy_rect_fn *)call->tap->real)(
			       dst, dst_offset, src, src_offset, range, copy_agent, dir,
			       num_dep_signals, dep_signals, completion_signal));
}

/* It stays on. */
int gt_hsa_amd_ext_wrap_hsa_amd_profiling_async_copy_enable(const struct gt_call *call,
							    _Bool enable)
{
	return ((gt_hsa_amd_ext_hsa_amd_profiling_async_copy_enable_fn *)call->tap->real)(
		enable || gt_hsa_thread());
}

uint32_t gt_hsa_copies_look(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire), left = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct copy *c = &copies[i];
		uint32_t state = atomic_load_explicit(&c->watch.state, memory_order_acquire);
		struct gt_work_item *piece;
		struct gt_hsa_times times;

		if (state == GT_HSA_SLOT_FREE || c->watch.agent != agent || c->epoch != t->epoch)
			continue;
		if (state < GT_HSA_SLOT_SAVED && !gt_hsa_signal_harvest(&c->watch)) {
			left++;
			continue;
		}
		times = (struct gt_hsa_times){c->watch.times[0], c->watch.times[1]};
		state = atomic_load_explicit(&c->watch.state, memory_order_acquire);
		gt_hsa_write_work(&c->record, agent, state == GT_HSA_SLOT_SAVED ? &times : NULL, t);
		piece = atomic_exchange_explicit(&c->piece, NULL, memory_order_acq_rel);
		if (gt_unlikely(piece != NULL))
			gt_hsa_told_done(piece, agent, state == GT_HSA_SLOT_SAVED ? &times : NULL);
		give(c);
		++*done;
	}
	return left;
}

void gt_hsa_copies_end(const struct gt_hsa_runtime *runtime, struct gt_thread *t)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct copy *c = &copies[i];
		struct gt_work_item *piece;

		if (atomic_load_explicit(&c->watch.state, memory_order_acquire) ==
			    GT_HSA_SLOT_FREE ||
		    c->watch.agent->runtime != runtime || c->epoch != t->epoch)
			continue;
		gt_hsa_signal_forget(&c->watch);
		gt_hsa_count_unfinished(&c->record, t);
		piece = atomic_exchange_explicit(&c->piece, NULL, memory_order_acq_rel);
		if (piece)
			gt_work_item_drop(piece, true);
		give(c);
	}
}

void gt_hsa_activity_unloading(struct gt_hsa_runtime *runtime)
{
	gt_hsa_helper_leave(runtime);
}
