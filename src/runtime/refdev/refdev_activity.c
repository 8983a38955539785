/* SPDX-License-Identifier: MIT */
/* Records the reference accelerator's GPU activities. The runtime notifies its subscribers of each
 * activity twice: in the submitting thread, inside the call, and after the activity has completed.
 *
 *   wrap            the thread's open call                   open_call
 *     └─ the runtime's function ─ on_submitted()   gt_activity_begin(): the runtime keeps the token
 *   a stream's thread             on_completed()   gt_activity_completed()
 *
 * A graph's launch submits each of its nodes this way. */
#include <string.h>

#include "generated/refdev_taps.h"
#include "generated/refdev_wraps.h"
#include "runtime/refdev/refdev_objects.h"
#include "runtime/activity_token.h"

static _Thread_local const struct gt_call *open_call;
/* table of the library copy that notifies gputap */
static const struct gt_table *_Atomic subscribed;

static enum gt_device_op device_op_of(const refdevActivity *a)
{
	static const enum gt_device_op copies[] = {GT_DEVICE_COPY, GT_DEVICE_WRITE, GT_DEVICE_READ,
						   GT_DEVICE_COPY};

	switch (a->kind) {
	case refdevActivityKernel: return GT_DEVICE_KERNEL;
	case refdevActivityMemcpy: return copies[a->copy_kind & 3];
	case refdevActivityMemset: return GT_DEVICE_FILL;
	default: return GT_DEVICE_BARRIER;
	}
}

static void *on_submitted(const refdevActivity *a, void *user)
{
	const struct gt_call *call = open_call;
	const struct gt_table *table = user;
	struct gt_thread *t;
	struct gt_activity *w;

	if (!call)
		return NULL;
	t = call->thread ? call->thread : gt_thread_own();
	gt_refdev_read_clock(table, t, a->device);
	w = gt_activity_begin(call,
			      &(struct gt_activity_info){
				      .domain = GT_DOMAIN_REFDEV,
				      .op = device_op_of(a),
				      .name = a->name ? gt_string_id(t, a->name, strlen(a->name))
						      : 0,
				      .device = gt_refdev_device(table, t, a->device),
				      .queue = gt_refdev_stream(table, t, a),
				      .device_handle = (uint64_t)a->device,
				      .queue_handle = (uintptr_t)a->stream,
				      .bytes = a->bytes,
				      .source = (uintptr_t)a->source,
				      .destination = (uintptr_t)a->destination,
				      .grid = {gt_saturate_u32((uint64_t)a->grid.x * a->block.x),
					       gt_saturate_u32((uint64_t)a->grid.y * a->block.y),
					       gt_saturate_u32((uint64_t)a->grid.z * a->block.z)},
				      .block = {a->block.x, a->block.y, a->block.z},
				      .graph = a->graph ? gt_refdev_graph(table, t, a->graph) : 0,
				      .replay = a->replay,
				      .ordinal = a->node,
			      });
	gt_activity_submitted(
		w); /* accepted: the runtime notifies when the activity can no longer fail */
	return w;
}

static void on_completed(const refdevActivity *a, void *token, void *user)
{
	const struct gt_activity_times times = {a->queued, a->submitted, a->start, a->end};
	const struct gt_table *table = user;

	if (!token)
		return;
	gt_activity_completed(token, -a->status, &times,
			      GT_REFDEV_REAL(table, refdevTicksToBoottime)(a->device, a->start),
			      GT_REFDEV_REAL(table, refdevTicksToBoottime)(a->device, a->end));
	gt_refdev_read_clock(table, gt_thread_own(), a->device);
}

/* Subscribe to one copy of the library. If the process has a second copy, only the calls of that
 * copy are recorded. */
static void subscribe_to_activity(const struct gt_table *table)
{
	static refdevSubscriber subscriber = {sizeof subscriber, NULL, on_submitted, on_completed,
					      NULL};
	const struct gt_table *none = NULL;

	if (!atomic_compare_exchange_strong(&subscribed, &none, table))
		return;
	subscriber.user = (void *)(uintptr_t)table;
	GT_REFDEV_REAL(table, refdevSubscribe)(&subscriber);
}

static const struct gt_call *enter_call(const struct gt_call *call)
{
	const struct gt_call *before = open_call;

	if (!atomic_load_explicit(&subscribed, memory_order_relaxed))
		subscribe_to_activity(call->table);
	open_call = call;
	return before;
}

static int leave_call(const struct gt_call *before, int status)
{
	open_call = before;
	return status;
}

#define WRAP(name, parameters, arguments)                                                       \
	int gt_refdev_wrap_##name parameters                                                    \
	{                                                                                       \
		const struct gt_call *before = enter_call(call);                                \
                                                                                                \
		return leave_call(before, ((gt_refdev_##name##_fn *)call->tap->real)arguments); \
	}

WRAP(refdevMemcpy,
     (const struct gt_call *call, void *to, const void *from, size_t bytes, unsigned int kind),
     (to, from, bytes, kind))
WRAP(refdevMemcpyAsync,
     (const struct gt_call *call, void *to, const void *from, size_t bytes, unsigned int kind,
      void *stream),
     (to, from, bytes, kind, stream))
WRAP(refdevMemcpy2D,
     (const struct gt_call *call, void *to, size_t to_pitch, const void *from, size_t from_pitch,
      size_t width, size_t height, unsigned int kind),
     (to, to_pitch, from, from_pitch, width, height, kind))
WRAP(refdevMemcpy2DAsync,
     (const struct gt_call *call, void *to, size_t to_pitch, const void *from, size_t from_pitch,
      size_t width, size_t height, unsigned int kind, void *stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))
WRAP(refdevMemset, (const struct gt_call *call, void *to, int value, size_t bytes),
     (to, value, bytes))
WRAP(refdevMemsetAsync,
     (const struct gt_call *call, void *to, int value, size_t bytes, void *stream),
     (to, value, bytes, stream))
WRAP(refdevMemset2D,
     (const struct gt_call *call, void *to, size_t pitch, int value, size_t width, size_t height),
     (to, pitch, value, width, height))
WRAP(refdevMemset2DAsync,
     (const struct gt_call *call, void *to, size_t pitch, int value, size_t width, size_t height,
      void *stream),
     (to, pitch, value, width, height, stream))
WRAP(refdevStreamWaitEvent, (const struct gt_call *call, void *stream, void *event),
     (stream, event))
WRAP(refdevLaunchKernel,
     (const struct gt_call *call, void *kernel, struct gt_refdev_dim3 grid,
      struct gt_refdev_dim3 block, const void *arguments, size_t bytes, void *stream),
     (kernel, grid, block, arguments, bytes, stream))
WRAP(refdevGraphLaunch, (const struct gt_call *call, void *exec, void *stream), (exec, stream))
WRAP(refdevDrvMemcpy2D,
     (const struct gt_call *call, void *to, size_t to_pitch, const void *from, size_t from_pitch,
      size_t width, size_t height, unsigned int kind, void *stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))
WRAP(refdevDrvMemset2D,
     (const struct gt_call *call, void *to, size_t pitch, int value, size_t width, size_t height,
      void *stream),
     (to, pitch, value, width, height, stream))
WRAP(refdevDrvLaunchKernel,
     (const struct gt_call *call, void *kernel, struct gt_refdev_dim3 grid,
      struct gt_refdev_dim3 block, const void *arguments, size_t bytes, void *stream),
     (kernel, grid, block, arguments, bytes, stream))
WRAP(refdevDrvGraphLaunch, (const struct gt_call *call, void *exec, void *stream), (exec, stream))
