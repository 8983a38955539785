/* SPDX-License-Identifier: MIT */
/* Follows the program's asynchronous copies. A copy keeps the program's completion signal, unless
 * that signal is also used for other activities (hsa_copy.h). The harvester gets the signal's times
 * from the runtime, at the latest when the signal is reused or destroyed (hsa_signal.c).
 *
 * The runtime stores times only after hsa_amd_profiling_async_copy_enable(). gputap calls it once,
 * and keeps the times enabled if the program disables them.
 *
 * HIP's copies within a device, and its small copies, are kernels: see hsa_packets.c.
 * hsa_memory_copy() and hsa_amd_memory_fill() have no signal and no times, so they are recorded
 * only as calls. */
#include "core/recording.h"
#include "runtime/hsa/hsa_copy.h"
#include "runtime/hsa/hsa_graph_batch.h"
#include "runtime/hsa/hsa_helper.h"
#include "runtime/hsa/hsa_tool_activities.h"
#include "runtime/submit_order.h"

static void enable_times(struct gt_hsa_runtime *r)
{
	static _Atomic uint32_t loads[GT_INSTANCES];
	gt_hsa_amd_ext_hsa_amd_profiling_async_copy_enable_fn *enable =
		GT_HSA_AMD(r, hsa_amd_profiling_async_copy_enable);

	if (gt_likely(atomic_load_explicit(&loads[r->instance], memory_order_acquire) == r->loads))
		return;
	if (enable)
		/* Several threads may call this function. None of them may continue before times
		 * are enabled. */
		enable(true);
	atomic_store_explicit(&loads[r->instance], r->loads, memory_order_release);
}

/* Return the number of the queue object for a device's copy engines. */
static uint64_t get_engines(struct gt_hsa_agent *a, struct gt_thread *t)
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
	gt_hsa_notify_queue(a, fresh, a->handle);
	return fresh;
}

struct copy_request {
	const void *destination, *source;
	uint64_t bytes;
	uint64_t destination_agent, source_agent; /* 0: not known */
	uint64_t signal;
};

/* A copy while its call is in progress. */
struct copy_call {
	struct gt_hsa_copy *copy; /* NULL: not followed */
	/* true if counted as seen, which is undone if the runtime refuses the copy */
	bool counted;
	uint64_t signal; /* signal for the submission */
	struct gt_tool_activity *tool_activity;
};

/* Leave the copy unfollowed. If it is a part of a launch's span, the span has no end. */
static struct copy_call leave_unfollowed(const struct copy_request *x,
					 const struct gt_node_ref *node, struct gt_thread *t)
{
	if (node->replay && node->span && !(node->unobserved >> GT_GRAPH_COPY & 1))
		gt_graph_span_lose_part(node->span, t);
	return (struct copy_call){.signal = x->signal};
}

/* Describe a copy except its submitter. */
static struct gt_hsa_activity describe_copy(const struct copy_request *x, enum gt_device_op op,
					    const struct gt_hsa_agent *from,
					    const struct gt_hsa_agent *to)
{
	struct gt_hsa_activity activity = {
		.bytes = x->bytes,
		.object = {(uintptr_t)x->source, (uintptr_t)x->destination},
		.source_device = from ? (uint32_t)from->number : 0,
		.destination_device = to ? (uint32_t)to->number : 0,
	};

	if (op != GT_DEVICE_OTHER)
		activity.op = (uint8_t)op;
	else if (!from || !from->gpu)
		activity.op = GT_DEVICE_WRITE;
	else
		activity.op = !to || !to->gpu ? GT_DEVICE_READ : GT_DEVICE_COPY;
	return activity;
}

/* Take an entry for a copy and watch it. Return NULL if the copy cannot be watched. */
static struct gt_hsa_copy *watch_copy(const struct copy_request *x,
				      const struct gt_hsa_activity *activity,
				      const struct gt_node_ref *node, struct gt_hsa_agent *device,
				      struct gt_tool_activity *tool_activity, uint64_t *signal)
{
	struct gt_hsa_copy *c = gt_hsa_copy_take();

	if (!c)
		return NULL;
	c->epoch = gt_thread_own()->epoch;
	c->activity = *activity;
	if (node->replay)
		gt_hsa_activity_set_node(&c->activity, node, GT_GRAPH_COPY);
	atomic_store_explicit(&c->tool_activity, tool_activity, memory_order_relaxed);
	c->watch.agent = device;
	c->activity.queued = c->watch.queued = gt_hsa_boottime_ns();
	*signal = gt_hsa_copy_watch(c, device->runtime, x->signal);
	if (*signal)
		return c;
	*signal = x->signal;
	return NULL;
}

/* Process a copy before the real call. */
static struct copy_call begin_copy(const struct gt_call *call, const struct copy_request *x,
				   enum gt_device_op op)
{
	struct gt_hsa_runtime *r = gt_hsa_runtime_of(call);
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_agent *to, *from, *device;
	struct gt_node_ref node = {.replay = 0};
	struct gt_hsa_activity activity;
	struct gt_tool_activity *tool_activity;
	struct copy_call c;
	bool recorded;
	struct gt_submitter by = {.id = t ? t->api_id : 0,
				  .start = t ? t->api_start : 0,
				  .node.graph =
					  gt_hsa_records_launches() ? 0 : GT_NODE_NOT_RECORDED};

	if (gt_unlikely(!t))
		return (struct copy_call){.signal = x->signal};
	if (t->graph)
		gt_hsa_flush_held(t->graph);
	/* Unrecorded copies must also be matched with their calls. */
	if (gt_unlikely(t->submit_order && !t->api_id)) {
		gt_submit_order_match(
			t->submit_order,
			&(struct gt_submitted_activity){.part = GT_GRAPH_COPY,
							.destination = (uintptr_t)x->destination,
							.source = (uintptr_t)x->source,
							.bytes = x->bytes},
			0, &by);
		node = by.node;
	}
	if (!x->signal || !x->bytes) /* the runtime does not change the signal of an empty copy */
		return leave_unfollowed(x, &node, t);
	recorded = gt_hsa_is_recording() && !gt_node_ref_is_paused(&by.node) &&
		   (t->graph || node.replay || gt_session_wants_copies(gt_recording.session));
	if (!recorded && !gt_tool_activity_asked(GT_DOMAIN_HSA_CORE))
		return leave_unfollowed(x, &node, t);
	enable_times(r);
	to = x->destination_agent ? gt_hsa_agent_get(r, t, x->destination_agent) : NULL;
	from = x->source_agent ? gt_hsa_agent_get(r, t, x->source_agent) : NULL;
	device = to && to->gpu ? to : from && from->gpu ? from : NULL;
	if (!device)
		/* A copy between host memories is not executed by a device. */
		return leave_unfollowed(x, &node, t);
	if (t->graph)
		gt_graph_assign_copy(t->graph, x->destination, x->source, x->bytes, &node);
	if (node.replay && node.unobserved >> GT_GRAPH_COPY & 1)
		recorded = false;
	gt_hsa_notify_agents();
	activity = describe_copy(x, op, from, to);
	activity.flags = GT_HSA_ACTIVITY_BY_ENGINE | (recorded ? GT_HSA_ACTIVITY_RECORDED : 0);
	activity.id = by.id ? by.id : call->id;
	activity.call_start = by.id ? by.start : call->start;
	activity.queue = get_engines(device, t);
	tool_activity = gt_hsa_tool_activity_of_copy(device, from, to, &activity, &node);
	if (!recorded && !tool_activity)
		return leave_unfollowed(x, &node, t);
	c = (struct copy_call){.tool_activity = tool_activity, .signal = x->signal};
	c.counted = recorded && (!node.replay || !node.span);
	c.copy = watch_copy(x, &activity, &node, device, tool_activity, &c.signal);
	if (c.copy) {
		gt_hsa_helper_start(device, t);
		gt_hsa_wake_long_sleeper(device);
	} else if (c.counted) {
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
	} else if (recorded) {
		leave_unfollowed(x, &node, t);
	}
	return c;
}

/* Process a copy after the real call. A refused copy is not counted as seen. */
static int end_copy(const struct copy_call *x, int status)
{
	struct gt_tool_activity *tool_activity = x->tool_activity;
	bool refused = status != GT_HSA_SUCCESS;

	if (gt_unlikely(tool_activity != NULL))
		gt_tool_activity_exit(
			tool_activity); /* the tool activity may already belong to the helper */
	if (!x->copy) {
		if (tool_activity)
			gt_tool_activity_drop(tool_activity, !refused);
		return status;
	}
	if (!refused) {
		if (x->counted)
			gt_device_seen(gt_thread_own(), GT_DOMAIN_HSA_CORE);
		return status;
	}
	tool_activity =
		atomic_exchange_explicit(&x->copy->tool_activity, NULL, memory_order_acq_rel);
	if (tool_activity)
		gt_tool_activity_drop(tool_activity, false);
	if (x->counted)
		x->copy->activity.flags &= (uint8_t)~GT_HSA_ACTIVITY_RECORDED;
	gt_hsa_copy_refused(x->copy);
	return status;
}

int gt_hsa_amd_ext_wrap_hsa_amd_memory_async_copy(const struct gt_call *call, void *dst,
						  uint64_t dst_agent, const void *src,
						  uint64_t src_agent, size_t size,
						  uint32_t num_dep_signals,
						  const uint64_t *dep_signals,
						  uint64_t completion_signal)
{
	const struct copy_request x = {dst, src, size, dst_agent, src_agent, completion_signal};
	const struct copy_call c = begin_copy(call, &x, GT_DEVICE_OTHER);

	return end_copy(&c, ((gt_hsa_amd_ext_hsa_amd_memory_async_copy_fn *)call->tap->real)(
				    dst, dst_agent, src, src_agent, size, num_dep_signals,
				    dep_signals, c.signal));
}

int gt_hsa_amd_ext_wrap_hsa_amd_memory_async_copy_on_engine(
	const struct gt_call *call, void *dst, uint64_t dst_agent, const void *src,
	uint64_t src_agent, size_t size, uint32_t num_dep_signals, const uint64_t *dep_signals,
	uint64_t completion_signal, unsigned int engine_id, _Bool force_copy_on_sdma)
{
	const struct copy_request x = {dst, src, size, dst_agent, src_agent, completion_signal};
	const struct copy_call c = begin_copy(call, &x, GT_DEVICE_OTHER);

	return end_copy(&c, ((gt_hsa_amd_ext_hsa_amd_memory_async_copy_on_engine_fn *)call->tap
				     ->real)(dst, dst_agent, src, src_agent, size, num_dep_signals,
					     dep_signals, c.signal, engine_id, force_copy_on_sdma));
}

/* hsa_pitched_ptr_t */
struct pitched_memory {
	const void *base;
	size_t pitch, slice;
};

static const void *get_first_byte(const struct pitched_memory *p, const struct gt_hsa_dim3 *at)
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
	const struct pitched_memory *to = dst, *from = src;
	struct copy_request x = {NULL, NULL, 0, copy_agent, 0, completion_signal};
	struct copy_call c = {.signal = completion_signal};

	if (n && to && from) {
		x.destination = get_first_byte(to, dst_offset);
		x.source = get_first_byte(from, src_offset);
		x.bytes = (uint64_t)n->x * n->y * n->z;
		c = begin_copy(call, &x, dir < sizeof ops ? ops[dir] : GT_DEVICE_COPY);
	}
	if (c.copy)
		for (int i = 0; i < 3; i++)
			c.copy->activity.global[i] = i == 0 ? n->x : i == 1 ? n->y : n->z;
	return end_copy(&c, ((gt_hsa_amd_ext_hsa_amd_memory_async_copy_rect_fn *)call->tap->real)(
				    dst, dst_offset, src, src_offset, range, copy_agent, dir,
				    num_dep_signals, dep_signals, c.signal));
}

/* Call the real function, but keep the times enabled. */
int gt_hsa_amd_ext_wrap_hsa_amd_profiling_async_copy_enable(const struct gt_call *call,
							    _Bool enable)
{
	return ((gt_hsa_amd_ext_hsa_amd_profiling_async_copy_enable_fn *)call->tap->real)(
		enable || gt_thread_own());
}
