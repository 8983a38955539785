/* SPDX-License-Identifier: MIT */
/* Wraps the calls with which the program creates and destroys queues. The program gets a proxy
 * (hsa_proxy.c) of a queue that was created with the program's arguments, but larger. If that is
 * not possible, the program gets the runtime's queue, and an event states the reason. While queues
 * are adopted (hsa_adopt.h), the program gets the runtime's queue as well. */
#include <sched.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_fault.h"
#include "runtime/hsa/hsa_helper.h"
#include "runtime/hsa/hsa_proxy.h"
#include "runtime/hsa/hsa_queue_calls.h"
#include "runtime/hsa/hsa_tool_activities.h"
#include "runtime/rocm.h"

static void write_queue(const struct gt_hsa_queue *q, const struct gt_hsa_agent *a,
			struct gt_thread *t, uint64_t number, const void *handle, uint32_t size,
			uint32_t type, const char *profiling)
{
	static const char *const types[] = {"multi", "single", "cooperative"};
	struct gt_text text = {0};

	gt_text_add(&text, "properties", type < 3 ? types[type] : "");
	gt_text_add_number(&text, "size", size);
	gt_text_add(&text, "profiling", q ? "intercepted" : profiling);
	gt_object_write(t, GT_OBJECT_QUEUE, GT_DOMAIN_HSA_CORE, number, (uintptr_t)handle,
			a->number, &text);
}

struct queue_request {
	uint64_t agent;
	uint32_t size;
	unsigned int type;
	void *callback, *data;
	uint32_t private_bytes, group_bytes;
};

/* Return a size with room for gputap's packets, if the agent permits queues of that size. Otherwise
 * return @size unchanged, because the runtime itself must refuse invalid sizes. */
static uint32_t double_size(const struct gt_hsa_agent *a, uint32_t size)
{
	gt_hsa_core_hsa_agent_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_agent_get_info);
	uint32_t least = 0, most = 0;

	info(a->handle, GT_HSA_AGENT_QUEUE_MIN_SIZE, &least);
	info(a->handle, GT_HSA_AGENT_QUEUE_MAX_SIZE, &most);
	return size >= least && size <= most / 2 ? 2 * size : size;
}

/* Return true if all functions with which a program uses a queue are wrapped. Returns false while
 * contexts are being changed. */
static bool are_all_wrapped(const struct gt_hsa_runtime *r)
{
	static const uint16_t needed[] = {
		GT_HSA_CORE_INDEX_hsa_queue_destroy,
		GT_HSA_CORE_INDEX_hsa_queue_load_read_index_scacquire,
		GT_HSA_CORE_INDEX_hsa_queue_add_write_index_screlease,
		GT_HSA_CORE_INDEX_hsa_signal_store_relaxed,
		GT_HSA_CORE_INDEX_hsa_signal_silent_store_screlease,
	};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!(gt_tap_services(&gt_hsa_core_taps[r->instance][needed[i]]) & GT_SERVICE_WRAP))
			return false;
	return true;
}

/* Find a queue that the runtime shares. For some kinds of queues (cooperative queues), the runtime
 * has only one queue and returns it repeatedly, so its proxy is shared too. */
static struct gt_hsa_queue *find_shared_queue(const struct gt_hsa_agent *a, const void *real)
{
	struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire);

	while (q && (q->real != real ||
		     atomic_load_explicit(&q->state, memory_order_acquire) != GT_HSA_QUEUE_LIVE))
		q = q->agent_next;
	return q;
}

/* Create a queue with a proxy. Return NULL if that is not possible, and set *why to the reason. */
static struct gt_hsa_queue *make_with_proxy(struct gt_hsa_runtime *r, struct gt_thread *t,
					    struct gt_hsa_agent *a, const struct queue_request *c,
					    const char **why)
{
	gt_hsa_amd_ext_hsa_amd_profiling_set_profiler_enabled_fn *profile =
		GT_HSA_AMD(r, hsa_amd_profiling_set_profiler_enabled);
	uint32_t size = c->size;
	const struct gt_hsa_queue_abi *real;
	struct gt_hsa_queue *q, *shared;
	void *handle = NULL;

	*why = "some functions of the runtime are not intercepted";
	if (!profile || !are_all_wrapped(r))
		return NULL;
	q = gt_hsa_queue_make(a, size, t);
	*why = "no memory for a queue's activities in flight";
	if (!q)
		return NULL;
	*why = "the runtime refused a queue";
	*(void **)&q->callback = c->callback;
	q->callback_data = c->data;
	if (GT_HSA_CORE(r, hsa_queue_create)(
		    c->agent, double_size(a, size), c->type,
		    c->callback ? (void *)(uintptr_t)gt_hsa_report_queue_fault : NULL, q,
		    c->private_bytes, c->group_bytes, &handle) != GT_HSA_SUCCESS)
		goto no_queue;
	shared = find_shared_queue(a, handle);
	if (shared) {
		gt_hsa_queue_free(q);
		shared->users++;
		return shared;
	}
	real = handle;
	*why = "the runtime refused a queue with profiling";
	if (profile(handle, 1) != GT_HSA_SUCCESS)
		goto no_profiling;
	*why = "no memory for a queue's packets";
	if (!gt_hsa_proxy_make(q, handle, real->size < size ? real->size : size))
		goto no_profiling;
	gt_hsa_fault_subscribe(r);
	gt_hsa_queue_arm(q, UINT32_MAX);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
	q->born_ns = gt_hsa_boottime_ns();
	q->users = 1;
	q->handle = q->proxy;
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_LIVE, memory_order_relaxed);
	gt_hsa_proxy_publish(q);
	gt_hsa_queue_publish(q);
	return q;
no_profiling:
	GT_HSA_CORE(r, hsa_queue_destroy)(handle);
no_queue:
	gt_hsa_queue_free(q);
	return NULL;
}

void gt_hsa_queue_describe(const struct gt_hsa_queue *q, struct gt_thread *t)
{
	write_queue(q, q->agent, t, q->number, q->handle, (uint32_t)q->ring.theirs_size, q->type,
		    NULL);
}

void gt_hsa_queue_announce(struct gt_hsa_queue *q, struct gt_thread *t)
{
	gt_hsa_queue_describe(q, t);
	if (!atomic_exchange_explicit(&q->agent->used, 1, memory_order_relaxed))
		gt_rocm_stream_write_default(t, q->agent->number);
	q->object = gt_hsa_notify_queue(q->agent, q->number, (uintptr_t)q->handle);
	gt_hsa_helper_start(q->agent, t);
}

int gt_hsa_core_wrap_hsa_queue_create(const struct gt_call *call, uint64_t agent, uint32_t size,
				      unsigned int type, void *callback, void *data,
				      uint32_t private_segment_size, uint32_t group_segment_size,
				      void **queue)
{
	struct queue_request c = {
		agent, size, type, callback, data, private_segment_size, group_segment_size};
	struct gt_hsa_runtime *r = gt_hsa_runtime_of(call);
	gt_hsa_core_hsa_queue_create_fn *real = (gt_hsa_core_hsa_queue_create_fn *)call->tap->real;
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_agent *a = t ? gt_hsa_agent_get(r, t, agent) : NULL;
	struct gt_hsa_queue *q;
	const char *why;
	int status;

	/* in a program that gputap was attached to, a queue is adopted when it is used, because an
	 * adopted queue can be given back, and a proxy cannot */
	if (!a || !a->gpu || !queue || !size || size & (size - 1) ||
	    gt_unlikely(atomic_load_explicit(&gt_hsa_adopt_queue, memory_order_relaxed) != NULL))
		return real(agent, size, type, callback, data, private_segment_size,
			    group_segment_size, queue);
	q = make_with_proxy(r, t, a, &c, &why);
	if (q) {
		if (!q->object) {
			q->type = type;
			gt_hsa_queue_announce(q, t);
		}
		*queue = q->handle;
		return GT_HSA_SUCCESS;
	}
	status = real(agent, size, type, callback, data, private_segment_size, group_segment_size,
		      queue);
	if (status == GT_HSA_SUCCESS) {
		uint64_t number = gt_object_number(GT_OBJECT_QUEUE);

		write_queue(NULL, a, t, number, *queue, size, type, why);
		gt_event_write(t, GT_EVENT_PROFILING, GT_DOMAIN_HSA_CORE, number, why);
	}
	return status;
}

/* Wait until the ring's worker leaves the ring, and keep other threads out. The wait is limited,
 * because the worker may be in a tool's function that waits for this thread. */
static void wait_for_worker(struct gt_hsa_queue *q)
{
	uint64_t since = gt_hsa_boottime_ns();

	while (gt_hsa_ring_enter(&q->ring, (uintptr_t)&gt_thread) == GT_HSA_RING_BUSY &&
	       gt_hsa_boottime_ns() - since < 1000 * GT_HSA_MS)
		sched_yield();
}

int gt_hsa_core_wrap_hsa_queue_destroy(const struct gt_call *call, void *queue)
{
	gt_hsa_core_hsa_queue_destroy_fn *real =
		(gt_hsa_core_hsa_queue_destroy_fn *)call->tap->real;
	struct gt_hsa_queue *q;
	int status;

	gt_hsa_queue_wait_for_leave(queue);
	q = gt_hsa_queue_find(queue);
	if (!q) {
		status = real(queue);
		if (status == GT_HSA_SUCCESS)
			gt_hsa_queue_forget(queue);
		return status;
	}
	if (--q->users)
		return real(q->real);
	if (gt_unlikely(q->ring.in_place))
		q->adopted.look(q, GT_HSA_LOOK_AT_END);
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_CLOSING, memory_order_seq_cst);
	wait_for_worker(q);
	status = real(q->real);
	if (status == GT_HSA_SUCCESS) {
		struct gt_tool_object *object = q->object;

		if (q->proxy)
			gt_hsa_proxy_free(q);
		atomic_store_explicit(&q->state, GT_HSA_QUEUE_DESTROYED, memory_order_release);
		gt_tool_object_unload(object);
	} else {
		q->users = 1;
		atomic_store_explicit(&q->state, GT_HSA_QUEUE_LIVE, memory_order_release);
		gt_hsa_ring_leave(&q->ring);
	}
	return status;
}
