/* SPDX-License-Identifier: MIT */
/* See hsa_queue.h. */
#include "runtime/hsa/hsa_queue.h"

#include "core/recording.h"

enum {
	CAPACITY_MIN = 1024,
	CAPACITY_MAX = 1 << 17,
	SPARE_SIGNALS = 2048, /* number of signals created in advance */
};

_Atomic(struct gt_hsa_queue *) gt_hsa_queue_buckets[1 << GT_HSA_BUCKET_BITS];

/* Create a signal, without an interrupt if possible, because the signal is polled and no thread
 * waits for it. */
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
	struct gt_hsa_slots *s = &q->slots;
	uint32_t armed = atomic_load_explicit(&s->armed, memory_order_relaxed);
	uint32_t wanted = atomic_load_explicit(&s->fresh, memory_order_relaxed) + SPARE_SIGNALS;

	if (wanted > s->capacity)
		wanted = s->capacity;
	for (; most && armed < wanted; most--) {
		struct gt_hsa_slot *slot = &s->slot[armed];
		struct gt_hsa_signal *ours = make_signal(q->agent->runtime);

		if (!ours)
			return false;
		slot->watch.signal = ours;
		slot->ours = ours;
		atomic_store_explicit(&s->armed, ++armed, memory_order_release);
	}
	return armed < wanted;
}

static size_t submitters_bytes(const struct gt_hsa_queue *q)
{
	return (q->slots.capacity + GT_HSA_CACHED) * sizeof *q->submitters.all;
}

static size_t entry_bytes(void)
{
	return (sizeof(struct gt_hsa_queue) + 4095) & ~(size_t)4095;
}

/* Free everything except the entry. */
static void free_parts(struct gt_hsa_queue *q)
{
	struct gt_hsa_slots *s = &q->slots;

	gt_hsa_free(q->ring.origin, 2 * q->ring.device_size * sizeof *q->ring.origin);
	if (q->ring.in_place)
		gt_hsa_free(q->ring.device, q->ring.device_size * sizeof *q->ring.device);
	q->ring.device = NULL;
	gt_hsa_free(s->slot, s->capacity * sizeof *s->slot);
	gt_hsa_free(s->order, s->capacity * sizeof *s->order);
	gt_hsa_free(s->freed, s->capacity * sizeof *s->freed);
	gt_hsa_free(q->submitters.all, submitters_bytes(q));
	q->ring.origin = NULL;
	s->slot = NULL;
	s->order = s->freed = NULL;
	q->submitters.all = q->submitters.cached = NULL;
}

void gt_hsa_queue_end(struct gt_hsa_queue *q)
{
	gt_hsa_core_hsa_signal_destroy_fn *destroy =
		GT_HSA_CORE(q->agent->runtime, hsa_signal_destroy);
	struct gt_hsa_submitters *s = &q->submitters;

	for (uint32_t i = 0; i < q->slots.armed; i++)
		destroy((uintptr_t)q->slots.slot[i].ours);
	q->slots.armed = 0;
	for (uint64_t i = 0; s->has_items && i <= s->mask; i++)
		gt_hsa_submitter_set_tool_activity(s, &s->all[i], false);
	for (uint64_t i = 0; s->has_items && i < GT_HSA_CACHED; i++)
		gt_hsa_submitter_set_tool_activity(s, &s->cached[i], false);
	free_parts(q);
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_GONE, memory_order_release);
}

void gt_hsa_queue_free(struct gt_hsa_queue *q)
{
	free_parts(q);
	gt_hsa_free(q, entry_bytes());
}

static void set_session(struct gt_hsa_queue *q, struct gt_thread *t)
{
	q->barriers = gt_recording.session->mode == GT_MODE_LOWER;
	if (q->barriers) {
		q->barrier_names[0] = gt_string_id(t, "barrier-and", 11);
		q->barrier_names[1] = gt_string_id(t, "barrier-or", 10);
	}
	__atomic_store_n(&q->epoch, t->epoch, __ATOMIC_RELEASE);
}

void gt_hsa_queue_renew(struct gt_hsa_queue *q, struct gt_thread *t)
{
	uint64_t tail = atomic_load_explicit(&q->slots.tail, memory_order_acquire);

	for (uint64_t i = atomic_load_explicit(&q->slots.head, memory_order_relaxed); i < tail;
	     i++) {
		struct gt_hsa_slot *s = gt_hsa_slots_at(&q->slots, i);

		if (s)
			s->activity.flags &= (uint8_t)~GT_HSA_ACTIVITY_RECORDED;
	}
	set_session(q, t);
}

void gt_hsa_queue_wait_for_leave(const void *handle)
{
	struct gt_hsa_queue *q =
		atomic_load_explicit(gt_hsa_queue_bucket(handle), memory_order_acquire);

	for (; q; q = q->hash_next)
		while (q->handle == handle &&
		       atomic_load_explicit(&q->state, memory_order_acquire) ==
			       GT_HSA_QUEUE_LEAVING)
			gt_hsa_sleep_ns(GT_HSA_MS / 20);
}

void gt_hsa_queue_forget(const void *handle)
{
	struct gt_hsa_queue *q =
		atomic_load_explicit(gt_hsa_queue_bucket(handle), memory_order_acquire);

	for (; q; q = q->hash_next) {
		uint32_t left = GT_HSA_QUEUE_LEFT;

		if (q->handle == handle)
			atomic_compare_exchange_strong(&q->state, &left, GT_HSA_QUEUE_DESTROYED);
	}
}

struct gt_hsa_queue *gt_hsa_queue_make(struct gt_hsa_agent *a, uint32_t size, struct gt_thread *t)
{
	struct gt_hsa_queue *q = gt_hsa_alloc(entry_bytes());
	uint32_t capacity = CAPACITY_MIN;
	struct gt_hsa_slots *s;

	while (capacity < 2 * size && capacity < CAPACITY_MAX)
		capacity *= 2;
	if (!q)
		return NULL;
	s = &q->slots;
	q->agent = a;
	set_session(q, t);
	s->capacity = capacity;
	s->stuck_head = UINT64_MAX;
	s->slot = gt_hsa_alloc(capacity * sizeof *s->slot);
	s->order = gt_hsa_alloc(capacity * sizeof *s->order);
	s->freed = gt_hsa_alloc(capacity * sizeof *s->freed);
	q->submitters.mask = capacity - 1;
	q->submitters.all = gt_hsa_alloc(submitters_bytes(q));
	if (!s->slot || !s->order || !s->freed || !q->submitters.all) {
		gt_hsa_queue_free(q);
		return NULL;
	}
	q->submitters.cached = q->submitters.all + capacity;
	return q;
}

void gt_hsa_queue_publish(struct gt_hsa_queue *q)
{
	_Atomic(struct gt_hsa_queue *) *bucket = gt_hsa_queue_bucket(q->handle);
	struct gt_hsa_queue *first = atomic_load_explicit(&q->agent->queues, memory_order_relaxed);

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
