/* SPDX-License-Identifier: MIT */
/* Queues: the program gets a face (hsa_face.c) of one that was made with its own arguments, but
 * larger; or the plain one where that cannot be; then an event says so.
 *
 * Work in flight of a queue has positions in the order of submission, [head, tail), and each a
 * slot (order[]). There are twice as many as the queue has packets, so that what is done and not
 * yet harvested has room too. Slots are used again as soon as they are free (freed[]), before
 * others are touched: new memory for each packet would cost more than all else that is done for
 * it. Each slot has a signal of its own, made in advance: some when the queue is, others by the
 * helper when they are about to be needed.
 *
 * Who submits. The thread that reserves a packet's number writes its HIP call's id beside it
 * (owners[number]), by way of the functions that every producer goes through (hsa_face.c). Twice
 * the size here too: a thread may reserve before there is room. But most packets are handled at
 * once: those have their owner in a few entries that stay in the cache (near[]).
 *
 * Entries are found by the program's pointer, and never freed: what may still be looked at stays
 * readable. */
#include <sched.h>

#include "core/recording.h"
#include "runtime/stream.h"
#include "runtime/hsa/hsa_activity.h"

enum {
	CAPACITY_MIN = 1024,
	CAPACITY_MAX = 1 << 17,
	RESERVE = 2048, /* signals that are there before they are needed */
};

_Atomic(struct gt_hsa_queue *) gt_hsa_queue_buckets[1 << GT_HSA_BUCKET_BITS];

/* Signals -------------------------------------------------------------------- */

/* Without interrupt where possible: we look at it, nobody waits. */
static struct gt_hsa_signal *make_signal(struct gt_hsa_runtime *r)
{
	gt_hsa_amd_ext_hsa_amd_signal_create_fn *gpu_only = GT_HSA_AMD(r, hsa_amd_signal_create);
	uint64_t handle = 0;

	if (!gpu_only || gpu_only(1, 0, NULL, GT_HSA_SIGNAL_GPU_ONLY, &handle) != GT_HSA_SUCCESS)
		if (GT_HSA_CORE(r, hsa_signal_create)(1, 0, NULL, &handle) != GT_HSA_SUCCESS)
			return NULL;
	return (struct gt_hsa_signal *)(uintptr_t)handle;
}

bool gt_hsa_queue_arm(struct gt_hsa_queue *q, uint32_t most)
{
	uint32_t armed = atomic_load_explicit(&q->armed, memory_order_relaxed);
	uint32_t wanted = atomic_load_explicit(&q->fresh, memory_order_relaxed) + RESERVE;

	if (wanted > q->capacity)
		wanted = q->capacity;
	for (; most && armed < wanted; most--) {
		struct gt_hsa_slot *s = &q->slots[armed];
		struct gt_hsa_signal *ours = make_signal(q->agent->runtime);

		if (!ours)
			return false;
		s->watch.signal = ours;
		s->ours = ours;
		atomic_store_explicit(&q->armed, ++armed, memory_order_release);
	}
	return armed < wanted;
}

/* All but the entry itself. */
static void free_memory(struct gt_hsa_queue *q)
{
	gt_hsa_free(q->ring.origin, 2 * q->ring.device_size * sizeof *q->ring.origin);
	gt_hsa_free(q->slots, q->capacity * sizeof *q->slots);
	gt_hsa_free(q->order, q->capacity * sizeof *q->order);
	gt_hsa_free(q->freed, q->capacity * sizeof *q->freed);
	gt_hsa_free(q->owners, (q->capacity + GT_HSA_NEAR) * sizeof *q->owners);
	q->ring.origin = NULL;
	q->slots = NULL;
	q->order = q->freed = NULL;
	q->owners = q->near = NULL;
}

void gt_hsa_queue_bury(struct gt_hsa_queue *q)
{
	gt_hsa_core_hsa_signal_destroy_fn *destroy =
		GT_HSA_CORE(q->agent->runtime, hsa_signal_destroy);

	for (uint32_t i = 0; i < q->armed; i++)
		destroy((uintptr_t)q->slots[i].ours);
	q->armed = 0;
	for (uint64_t i = 0; q->has_pieces && i <= q->owner_mask; i++)
		gt_hsa_told_reserve(q, &q->owners[i], false);
	for (uint64_t i = 0; q->has_pieces && i < GT_HSA_NEAR; i++)
		gt_hsa_told_reserve(q, &q->near[i], false);
	free_memory(q);
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_GONE, memory_order_release);
}

/* Creation -------------------------------------------------------------------- */

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

static void *sized(size_t count, size_t bytes)
{
	return gt_hsa_alloc(count * bytes);
}

static void free_entry(struct gt_hsa_queue *q)
{
	free_memory(q);
	gt_hsa_free(q, (sizeof *q + 4095) & ~(size_t)4095);
}

static struct gt_hsa_queue *make_entry(struct gt_hsa_agent *a, uint32_t size, struct gt_thread *t)
{
	struct gt_hsa_queue *q = gt_hsa_alloc((sizeof *q + 4095) & ~(size_t)4095);
	uint32_t capacity = CAPACITY_MIN;

	while (capacity < 2 * size && capacity < CAPACITY_MAX)
		capacity *= 2;
	if (!q)
		return NULL;
	q->agent = a;
	q->epoch = t->epoch;
	q->capacity = capacity;
	q->stuck = UINT64_MAX;
	q->owner_mask = capacity - 1;
	q->barriers = gt_recording.session->mode == GT_MODE_HSA;
	if (q->barriers) {
		q->barrier_names[0] = gt_string_id(t, "barrier-and", 11);
		q->barrier_names[1] = gt_string_id(t, "barrier-or", 10);
	}
	q->slots = sized(capacity, sizeof *q->slots);
	q->order = sized(capacity, sizeof *q->order);
	q->freed = sized(capacity, sizeof *q->freed);
	q->owners = sized(capacity + GT_HSA_NEAR, sizeof *q->owners);
	if (!q->slots || !q->order || !q->freed || !q->owners) {
		free_entry(q);
		return NULL;
	}
	q->near = q->owners + capacity;
	return q;
}

static void publish(struct gt_hsa_queue *q, void *handle)
{
	_Atomic(struct gt_hsa_queue *) *bucket = gt_hsa_queue_bucket(handle);
	struct gt_hsa_queue *first = atomic_load_explicit(&q->agent->queues, memory_order_relaxed);

	q->handle = handle;
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_LIVE, memory_order_relaxed);
	gt_hsa_face_publish(q);
	do
		q->agent_next = first;
	while (!atomic_compare_exchange_weak_explicit(&q->agent->queues, &first, q,
						      memory_order_release, memory_order_relaxed));
	first = atomic_load_explicit(bucket, memory_order_relaxed);
	do
		q->hash_next = first;
	while (!atomic_compare_exchange_weak_explicit(bucket, &first, q, memory_order_release,
						      memory_order_relaxed));
}

struct creation {
	uint64_t agent;
	uint32_t size;
	unsigned int type;
	void *callback, *data;
	uint32_t private_bytes, group_bytes;
};

/* With room for packets of ours, where the agent's queues may be that large. As it is: the
 * runtime will refuse it. */
static uint32_t larger(const struct gt_hsa_agent *a, uint32_t size)
{
	gt_hsa_core_hsa_agent_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_agent_get_info);
	uint32_t least = 0, most = 0;

	info(a->handle, GT_HSA_AGENT_QUEUE_MIN_SIZE, &least);
	info(a->handle, GT_HSA_AGENT_QUEUE_MAX_SIZE, &most);
	return size >= least && size <= most / 2 ? 2 * size : size;
}

/* Are all functions ours that a program uses a queue by? Not while contexts are being changed. */
static bool all_wrapped(const struct gt_hsa_runtime *r)
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

/* The runtime has only one queue of a kind (cooperative ones), and hands it out again: so do we. */
static struct gt_hsa_queue *find_shared(const struct gt_hsa_agent *a, const void *real)
{
	struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire);

	while (q && (q->real != real ||
		     atomic_load_explicit(&q->state, memory_order_acquire) != GT_HSA_QUEUE_LIVE))
		q = q->agent_next;
	return q;
}

/* NULL: the runtime refused; *why then. */
static struct gt_hsa_queue *faced(struct gt_hsa_runtime *r, struct gt_thread *t,
				  struct gt_hsa_agent *a, const struct creation *c,
				  const char **why)
{
	gt_hsa_amd_ext_hsa_amd_profiling_set_profiler_enabled_fn *profile =
		GT_HSA_AMD(r, hsa_amd_profiling_set_profiler_enabled);
	uint32_t size = c->size;
	const struct gt_hsa_queue_abi *real;
	struct gt_hsa_queue *q, *shared;
	void *handle = NULL;

	*why = "the runtime's functions are not all ours";
	if (!profile || !all_wrapped(r))
		return NULL;
	q = make_entry(a, size, t);
	*why = "no memory for a queue's work in flight";
	if (!q)
		return NULL;
	*why = "the runtime refused a queue";
	*(void **)&q->callback = c->callback;
	q->callback_data = c->data;
	if (GT_HSA_CORE(r, hsa_queue_create)(c->agent, larger(a, size), c->type,
					     c->callback ? (void *)(uintptr_t)gt_hsa_fault_of_queue
							 : NULL,
					     q, c->private_bytes, c->group_bytes,
					     &handle) != GT_HSA_SUCCESS)
		goto no_queue;
	shared = find_shared(a, handle);
	if (shared) {
		free_entry(q);
		shared->users++;
		return shared;
	}
	real = handle;
	*why = "the runtime refused a queue with profiling";
	if (profile(handle, 1) != GT_HSA_SUCCESS)
		goto no_profiling;
	*why = "no memory for a queue's packets";
	if (!gt_hsa_face_make(q, handle, real->size < size ? real->size : size))
		goto no_profiling;
	gt_hsa_fault_listen(r);
	gt_hsa_queue_arm(q, RESERVE);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
	q->born_ns = gt_hsa_boottime_ns();
	q->users = 1;
	publish(q, q->face);
	return q;
no_profiling:
	GT_HSA_CORE(r, hsa_queue_destroy)(handle);
no_queue:
	free_entry(q);
	return NULL;
}

static void note(struct gt_hsa_queue *q, struct gt_thread *t, unsigned int type)
{
	write_queue(q, q->agent, t, q->number, q->handle, q->face->size, type, NULL);
	if (gt_hip_default_stream &&
	    !atomic_exchange_explicit(&q->agent->used, 1, memory_order_relaxed))
		gt_hip_default_stream(t, q->agent->number);
	q->object = gt_hsa_told_queue(q->agent, q->number, (uintptr_t)q->handle);
	gt_hsa_helper_want(q->agent, t);
}

int gt_hsa_core_wrap_hsa_queue_create(const struct gt_call *call, uint64_t agent, uint32_t size,
				      unsigned int type, void *callback, void *data,
				      uint32_t private_segment_size, uint32_t group_segment_size,
				      void **queue)
{
	struct creation c = {
		agent, size, type, callback, data, private_segment_size, group_segment_size};
	struct gt_hsa_runtime *r = gt_hsa_runtime_of(call);
	gt_hsa_core_hsa_queue_create_fn *real = (gt_hsa_core_hsa_queue_create_fn *)call->tap->real;
	struct gt_thread *t = gt_hsa_thread();
	struct gt_hsa_agent *a = t ? gt_hsa_agent_get(r, t, agent) : NULL;
	struct gt_hsa_queue *q;
	const char *why;
	int status;

	if (!a || !a->gpu || !queue || !size || size & (size - 1))
		return real(agent, size, type, callback, data, private_segment_size,
			    group_segment_size, queue);
	q = faced(r, t, a, &c, &why);
	if (q) {
		if (!q->object)
			note(q, t, type);
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

/* Whoever is at work in it finishes, and nobody begins any more. Not for ever: it may be a
 * tool's function, which waits for us. */
static void shut(struct gt_hsa_queue *q)
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
	struct gt_hsa_queue *q = gt_hsa_queue_find(queue);
	int status;

	if (!q || --q->users)
		return real(q ? q->real : queue);
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_CLOSING, memory_order_seq_cst);
	shut(q);
	status = real(q->real);
	if (status == GT_HSA_SUCCESS) {
		struct gt_tool_object *object = q->object;

		gt_hsa_face_free(q);
		atomic_store_explicit(&q->state, GT_HSA_QUEUE_DESTROYED, memory_order_release);
		gt_tool_object_unload(object);
	} else {
		q->users = 1;
		atomic_store_explicit(&q->state, GT_HSA_QUEUE_LIVE, memory_order_release);
		gt_hsa_ring_leave(&q->ring);
	}
	return status;
}

/* Who submits what --------------------------------------------------------------- */

void gt_graph_assign_deferred(struct gt_graph_launch *launch, bool handle)
{
	struct gt_graph_quiet *g = (struct gt_graph_quiet *)launch;
	struct gt_hsa_queue *q = g->later;

	g->later = NULL;
	for (uint64_t i = g->later_from; i < g->later_from + g->later_count; i++) {
		struct gt_hsa_owner *o = gt_hsa_owner_of_later(q, i);
		uint64_t packet = i + 1;

		if (!o)
			continue;
		if (g->left && g->queue == q->handle &&
		    !atomic_load_explicit(&q->has_pieces, memory_order_relaxed)) {
			g->left--;
			packet |= GT_HSA_QUIET;
		} else {
			gt_graph_assign_node(launch, q->handle, i, &o->stamp);
		}
		__atomic_store_n(&o->packet, packet, __ATOMIC_RELEASE);
	}
	if (handle)
		gt_hsa_handle_packets(q, 0, true);
}

void gt_hsa_queue_own_all(struct gt_hsa_queue *q, uint64_t from, uint64_t count)
{
	const struct gt_thread *t = &gt_thread;
	bool told = gt_tool_work_asked(GT_DOMAIN_HSA_CORE) != 0;
	struct gt_graph_quiet *graph =
		gt_graph_assign_node ? (struct gt_graph_quiet *)t->graph : NULL;
	bool later = gt_unlikely(graph != NULL) && count > 1, recorded = gt_hsa_launch_recorded();

	if (gt_unlikely(graph != NULL) && graph->later)
		gt_graph_assign_deferred(t->graph, false);
	if (gt_unlikely(count > q->owner_mask))
		return;
	if (later) {
		graph->later = q;
		graph->later_from = from;
		graph->later_count = count;
	}
	if (!recorded && !told && !graph && !t->submit_order &&
	    !atomic_load_explicit(&q->has_pieces, memory_order_relaxed)) {
		for (uint64_t i = from; i < from + count; i++)
			gt_hsa_owner_is_quiet(q, i);
		return;
	}
	for (uint64_t i = from; i < from + count; i++) {
		struct gt_hsa_owner *o = gt_hsa_owner_of_new(q, i);

		if (gt_unlikely(told ||
				atomic_load_explicit(&o->piece, memory_order_relaxed) != NULL))
			gt_hsa_told_reserve(q, o, told);
		o->packet = (i + 1) | (later ? GT_HSA_LATER : 0);
		o->id = t->api_id;
		o->start = t->api_start;
		o->bytes = t->api_bytes;
		o->stamp.graph = recorded ? 0 : GT_HSA_UNRECORDED;
		o->stamp.replay = 0;
		o->order = t->api_id ? NULL : t->submit_order;
		if (gt_unlikely(o->order != NULL))
			o->turn = gt_submit_order_reserve_packet(o->order);
		if (gt_unlikely(graph != NULL) && !later)
			gt_graph_assign_node(t->graph, q->handle, i, &o->stamp);
		if (gt_unlikely(t->api_bytes)) {
			o->source = t->api_source;
			o->destination = t->api_destination;
			o->direction = t->api_direction;
		}
	}
}
