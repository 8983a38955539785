/* SPDX-License-Identifier: MIT */
/* The queue that the program has: a copy of the runtime's, with indices, packets and a doorbell
 * of its own (hsa_ring.h).
 *
 *   page 0   amd_queue_t, a copy; and what lies behind the runtime's, by which it finds its own
 *            object: a function that takes a queue and that nobody here knows finds the real one
 *   behind   the program's packets
 *
 * It lies where devices reach it, too: a kernel that enqueues adds to the write index, writes
 * its packet and stores to the doorbell, an HSA signal of its own. The host's stores to it never
 * arrive there, they come through us. The helper looks whether a device's did, which is the one
 * case where a packet waits for us: until it looks.
 *
 * All functions that take a queue come through here: those of its indices are answered, the
 * others get the runtime's queue. A store to any other signal costs a look into a table. */
#include <dlfcn.h>
#include <string.h>

#include "runtime/hsa/hsa_activity.h"

enum { PAGE = 4096, BELLS_BITS = 8 };
#define REST INT64_MAX /* of the doorbell's value: nobody has rung */

static _Atomic(struct gt_hsa_queue *) bells[1 << BELLS_BITS];
_Thread_local struct gt_hsa_turn gt_hsa_turn = {.asks = GT_HSA_NOTHING};

/* Memory ---------------------------------------------------------------------- */

struct search {
	struct gt_hsa_runtime *runtime;
	uint64_t pool; /* 0: none found yet */
};

static int look_at_pool(uint64_t pool, void *data)
{
	struct search *s = data;
	gt_hsa_amd_ext_hsa_amd_memory_pool_get_info_fn *info =
		GT_HSA_AMD(s->runtime, hsa_amd_memory_pool_get_info);
	uint32_t segment = UINT32_MAX, flags = 0;

	if (info(pool, GT_HSA_POOL_SEGMENT, &segment) != GT_HSA_SUCCESS ||
	    segment != GT_HSA_SEGMENT_GLOBAL ||
	    info(pool, GT_HSA_POOL_FLAGS, &flags) != GT_HSA_SUCCESS ||
	    !(flags & GT_HSA_POOL_FINE_GRAINED))
		return GT_HSA_SUCCESS;
	s->pool = pool;
	return GT_HSA_INFO_BREAK;
}

static int look_at_agent(uint64_t agent, void *data)
{
	struct search *s = data;
	uint32_t device = GT_HSA_DEVICE_GPU;

	if (GT_HSA_CORE(s->runtime, hsa_agent_get_info)(agent, GT_HSA_AGENT_DEVICE, &device) !=
		    GT_HSA_SUCCESS ||
	    device != GT_HSA_DEVICE_CPU)
		return GT_HSA_SUCCESS;
	GT_HSA_AMD(s->runtime, hsa_amd_agent_iterate_memory_pools)
	(agent, (void *)(uintptr_t)look_at_pool, s);
	return s->pool ? GT_HSA_INFO_BREAK : GT_HSA_SUCCESS;
}

/* Host memory that the agent reaches. NULL: none. */
static void *allocate(const struct gt_hsa_agent *a, size_t bytes)
{
	struct search s = {a->runtime, 0};
	void *p = NULL;

	GT_HSA_CORE(a->runtime, hsa_iterate_agents)((void *)(uintptr_t)look_at_agent, &s);
	if (!s.pool || GT_HSA_AMD(a->runtime, hsa_amd_memory_pool_allocate)(s.pool, bytes, 0, &p) !=
			       GT_HSA_SUCCESS)
		return NULL;
	if (GT_HSA_AMD(a->runtime, hsa_amd_agents_allow_access)(1, &a->handle, NULL, p) !=
	    GT_HSA_SUCCESS) {
		GT_HSA_AMD(a->runtime, hsa_amd_memory_pool_free)(p);
		return NULL;
	}
	return p;
}

/* ROCr 7 has loaded a thunk that is called for each ring. */
static bool thunk_rings(void)
{
	void *thunk = dlopen("libdtif.so", RTLD_LAZY | RTLD_NOLOAD);

	if (thunk)
		dlclose(thunk);
	return thunk != NULL;
}

/* NULL: only the runtime knows how to ring it (older devices, a tool's queue in the place of the
 * runtime's, or thunk_rings()). */
static _Atomic uint64_t *cell_of(const struct gt_hsa_queue_abi *real)
{
	struct gt_hsa_signal *bell = (struct gt_hsa_signal *)(uintptr_t)real->doorbell_signal;

	if (bell->kind != GT_HSA_SIGNAL_DOORBELL || bell->queue != (uintptr_t)real || thunk_rings())
		return NULL;
	return (_Atomic uint64_t *)(uintptr_t)atomic_load_explicit(&bell->value,
								   memory_order_relaxed);
}

bool gt_hsa_face_make(struct gt_hsa_queue *q, void *real, uint32_t size)
{
	struct gt_hsa_runtime *r = q->agent->runtime;
	struct gt_hsa_queue_abi *theirs = real, *face;
	struct gt_hsa_ring *ring = &q->ring;
	size_t known = PAGE - (uintptr_t)real % PAGE;
	uint64_t bell;

	if (GT_HSA_CORE(r, hsa_signal_create)(REST, 0, NULL, &bell) != GT_HSA_SUCCESS)
		return false;
	face = allocate(q->agent, PAGE + size * sizeof(union gt_hsa_packet));
	ring->device_size = theirs->size;
	ring->origin = gt_hsa_alloc(2 * theirs->size * sizeof *ring->origin);
	if (!face || !ring->origin) {
		GT_HSA_CORE(r, hsa_signal_destroy)(bell);
		if (face)
			GT_HSA_AMD(r, hsa_amd_memory_pool_free)(face);
		return false;
	}
	memcpy(face, theirs, known < sizeof *face ? sizeof *face : known);
	face->base_address = (char *)face + PAGE;
	face->doorbell_signal = bell;
	face->size = size;
	atomic_store_explicit(&face->write_dispatch_id, 0, memory_order_relaxed);
	atomic_store_explicit(&face->read_dispatch_id, 0, memory_order_relaxed);
	ring->theirs = face->base_address;
	ring->theirs_size = size;
	ring->theirs_write = &face->write_dispatch_id;
	ring->theirs_read = &face->read_dispatch_id;
	ring->device = theirs->base_address;
	ring->write = &theirs->write_dispatch_id;
	ring->read = &theirs->read_dispatch_id;
	ring->cell = cell_of(theirs);
	ring->store = GT_HSA_CORE(r, hsa_signal_store_screlease);
	ring->doorbell = theirs->doorbell_signal;
	gt_hsa_ring_begin(ring);
	q->real = real;
	q->face = face;
	q->bell = (struct gt_hsa_signal *)(uintptr_t)bell;
	return true;
}

void gt_hsa_face_free(struct gt_hsa_queue *q)
{
	GT_HSA_CORE(q->agent->runtime, hsa_signal_destroy)((uintptr_t)q->bell);
	GT_HSA_AMD(q->agent->runtime, hsa_amd_memory_pool_free)(q->face);
}

/* Doorbells ------------------------------------------------------------------------ */

static _Atomic(struct gt_hsa_queue *) *bucket_of(uint64_t bell)
{
	return &bells[bell * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BELLS_BITS)];
}

void gt_hsa_face_publish(struct gt_hsa_queue *q)
{
	_Atomic(struct gt_hsa_queue *) *bucket = bucket_of((uintptr_t)q->bell);
	struct gt_hsa_queue *first = atomic_load_explicit(bucket, memory_order_relaxed);

	do
		q->bell_next = first;
	while (!atomic_compare_exchange_weak_explicit(bucket, &first, q, memory_order_release,
						      memory_order_relaxed));
}

/* NULL: another signal. */
static inline GT_IN_LINE struct gt_hsa_queue *find_bell(uint64_t bell)
{
	struct gt_hsa_queue *q = gt_hsa_turn.q;

	if (gt_likely(q && (uintptr_t)q->bell == bell &&
		      atomic_load_explicit(&q->state, memory_order_relaxed) == GT_HSA_QUEUE_LIVE))
		return q;
	q = atomic_load_explicit(bucket_of(bell), memory_order_acquire);
	while (q && ((uintptr_t)q->bell != bell ||
		     atomic_load_explicit(&q->state, memory_order_relaxed) != GT_HSA_QUEUE_LIVE))
		q = q->bell_next;
	return q;
}

/* Does a launch hold packets back? If none has gone on since the last look, its thread waits for
 * something that nobody knows of: they go now. */
static bool is_held(struct gt_hsa_queue *q)
{
	uint64_t gone = atomic_load_explicit(q->ring.theirs_read, memory_order_relaxed);

	if (gt_likely(!atomic_load_explicit(&q->holders, memory_order_relaxed)))
		return false;
	if (gone == q->held_seen &&
	    gone != atomic_load_explicit(q->ring.theirs_write, memory_order_relaxed))
		atomic_store_explicit(&q->behind, 1, memory_order_relaxed);
	q->held_seen = gone;
	return true;
}

bool gt_hsa_face_look(struct gt_hsa_queue *q)
{
	bool rung = atomic_load_explicit(&q->bell->value, memory_order_relaxed) != REST,
	     holds = is_held(q);

	if (gt_unlikely(atomic_load_explicit(&q->telling, memory_order_relaxed)))
		gt_hsa_look_at_telling(q);
	if (gt_likely(!rung && !atomic_load_explicit(&q->behind, memory_order_relaxed)))
		return holds;
	atomic_store_explicit(&q->behind, 0, memory_order_seq_cst);
	if (rung)
		atomic_store_explicit(&q->bell->value, REST, memory_order_seq_cst);
	gt_hsa_handle_packets(q, 0, false);
	return holds || atomic_load_explicit(&q->behind, memory_order_relaxed);
}

#define RING(f)                                                                             \
	void gt_hsa_core_wrap_##f(const struct gt_tap *tap, uint64_t signal, int64_t value) \
	{                                                                                   \
		struct gt_hsa_queue *q = find_bell(signal);                                 \
                                                                                            \
		if (gt_likely(q != NULL))                                                   \
			gt_hsa_rung(q, (uint64_t)value);                                    \
		else                                                                        \
			((gt_hsa_core_##f##_fn *)tap->real)(signal, value);                 \
	}
RING(hsa_signal_store_relaxed)
RING(hsa_signal_store_screlease)
RING(hsa_signal_silent_store_relaxed)
RING(hsa_signal_silent_store_screlease)

/* Indices ------------------------------------------------------------------------------ */

/* A packet is reserved, @reserved is the index behind it: HIP asks twice for each whether there
 * is room. */
static inline GT_IN_LINE void asks_for_room(struct gt_hsa_queue *q, uint64_t reserved)
{
	struct gt_hsa_turn *turn = &gt_hsa_turn;

	turn->answers = 2;
	turn->asks = gt_likely(gt_hsa_ring_is_roomy(&q->ring, reserved, &turn->gone))
			     ? q->handle
			     : GT_HSA_NOTHING;
}

/* What is held back is not waited for: this thread may be about to. */
static __attribute__((noinline)) uint64_t load_read(struct gt_hsa_queue *q)
{
	if (gt_unlikely(gt_thread.graph != NULL))
		gt_graph_flush_held(gt_thread.graph);
	return gt_hsa_ring_show(&q->ring);
}

#define LOAD_READ(f)                                                                      \
	uint64_t gt_hsa_core_wrap_##f(const struct gt_tap *tap, const void *queue)        \
	{                                                                                 \
		struct gt_hsa_turn *turn = &gt_hsa_turn;                                  \
		struct gt_hsa_queue *q;                                                   \
                                                                                          \
		if (gt_likely(turn->asks == queue)) {                                     \
			if (!--turn->answers)                                             \
				turn->asks = GT_HSA_NOTHING;                              \
			return turn->gone;                                                \
		}                                                                         \
		q = gt_hsa_queue_find(queue);                                             \
		return gt_likely(q != NULL) ? load_read(q)                                \
					    : ((gt_hsa_core_##f##_fn *)tap->real)(queue); \
	}
LOAD_READ(hsa_queue_load_read_index_scacquire)
LOAD_READ(hsa_queue_load_read_index_relaxed)

#define LOAD_WRITE(f)                                                                             \
	uint64_t gt_hsa_core_wrap_##f(const struct gt_tap *tap, const void *queue)                \
	{                                                                                         \
		const struct gt_hsa_queue *q = gt_hsa_queue_find(queue);                          \
                                                                                                  \
		return gt_likely(q != NULL)                                                       \
			       ? atomic_load_explicit(q->ring.theirs_write, memory_order_acquire) \
			       : ((gt_hsa_core_##f##_fn *)tap->real)(queue);                      \
	}
LOAD_WRITE(hsa_queue_load_write_index_scacquire)
LOAD_WRITE(hsa_queue_load_write_index_relaxed)

/* What ADD does not do at once, so that it needs no frame. */
static __attribute__((noinline)) uint64_t own_slowly(struct gt_hsa_queue *q, uint64_t from,
						     uint64_t value)
{
	gt_hsa_queue_own_all(q, from, value);
	asks_for_room(q, from + value);
	return from;
}

static __attribute__((noinline)) uint64_t add_slowly(const struct gt_tap *tap, const void *queue,
						     uint64_t value)
{
	struct gt_hsa_queue *q = gt_hsa_queue_find(queue);
	uint64_t from;

	if (gt_unlikely(!q))
		return ((gt_hsa_core_hsa_queue_add_write_index_relaxed_fn *)tap->real)(queue,
										       value);
	gt_hsa_turn.q = q;
	from = atomic_fetch_add_explicit(q->ring.theirs_write, value, memory_order_acq_rel);
	if (gt_unlikely(!gt_hsa_queue_owns(q, from, value)))
		return own_slowly(q, from, value);
	asks_for_room(q, from + value);
	return from;
}

#define ADD(f)                                                                                     \
	uint64_t gt_hsa_core_wrap_##f(const struct gt_tap *tap, const void *queue, uint64_t value) \
	{                                                                                          \
		struct gt_hsa_queue *q = gt_hsa_turn.q;                                            \
		uint64_t from;                                                                     \
                                                                                                   \
		if (gt_unlikely(!gt_hsa_is_live(q, queue)))                                        \
			return add_slowly(tap, queue, value);                                      \
		from = atomic_fetch_add_explicit(q->ring.theirs_write, value,                      \
						 memory_order_acq_rel);                            \
		if (gt_unlikely(!gt_hsa_queue_owns(q, from, value)))                               \
			return own_slowly(q, from, value);                                         \
		asks_for_room(q, from + value);                                                    \
		return from;                                                                       \
	}
ADD(hsa_queue_add_write_index_scacq_screl)
ADD(hsa_queue_add_write_index_scacquire)
ADD(hsa_queue_add_write_index_relaxed)
ADD(hsa_queue_add_write_index_screlease)

#define CAS(f)                                                                                   \
	uint64_t gt_hsa_core_wrap_##f(const struct gt_tap *tap, const void *queue,               \
				      uint64_t expected, uint64_t value)                         \
	{                                                                                        \
		struct gt_hsa_queue *q = gt_hsa_queue_find(queue);                               \
		uint64_t found = expected;                                                       \
                                                                                                 \
		if (gt_unlikely(!q))                                                             \
			return ((gt_hsa_core_##f##_fn *)tap->real)(queue, expected, value);      \
		if (atomic_compare_exchange_strong_explicit(q->ring.theirs_write, &found, value, \
							    memory_order_acq_rel,                \
							    memory_order_acquire) &&             \
		    value > expected)                                                            \
			gt_hsa_queue_own(q, expected, value - expected);                         \
		return found;                                                                    \
	}
CAS(hsa_queue_cas_write_index_scacq_screl)
CAS(hsa_queue_cas_write_index_scacquire)
CAS(hsa_queue_cas_write_index_relaxed)
CAS(hsa_queue_cas_write_index_screlease)

/* Queues with one producer: what is new is its own. */
#define STORE(f)                                                                               \
	void gt_hsa_core_wrap_##f(const struct gt_tap *tap, const void *queue, uint64_t value) \
	{                                                                                      \
		struct gt_hsa_queue *q = gt_hsa_queue_find(queue);                             \
		uint64_t from;                                                                 \
                                                                                               \
		if (gt_unlikely(!q)) {                                                         \
			((gt_hsa_core_##f##_fn *)tap->real)(queue, value);                     \
			return;                                                                \
		}                                                                              \
		from = atomic_load_explicit(q->ring.theirs_write, memory_order_relaxed);       \
		if (gt_likely(value > from))                                                   \
			gt_hsa_queue_own(q, from, value - from);                               \
		atomic_store_explicit(q->ring.theirs_write, value, memory_order_release);      \
	}
STORE(hsa_queue_store_write_index_relaxed)
STORE(hsa_queue_store_write_index_screlease)

/* Functions of the runtime's queue --------------------------------------------------------- */

static void *real_of(const void *queue)
{
	const struct gt_hsa_queue *q = gt_hsa_queue_find(queue);

	return q ? q->real : (void *)(uintptr_t)queue;
}

int gt_hsa_core_wrap_hsa_queue_inactivate(const struct gt_call *call, void *queue)
{
	return ((gt_hsa_core_hsa_queue_inactivate_fn *)call->tap->real)(real_of(queue));
}

/* It stays on. */
int gt_hsa_amd_ext_wrap_hsa_amd_profiling_set_profiler_enabled(const struct gt_call *call,
							       void *queue, int enable)
{
	const struct gt_hsa_queue *q = gt_hsa_queue_find(queue);

	return ((gt_hsa_amd_ext_hsa_amd_profiling_set_profiler_enabled_fn *)call->tap->real)(
		q ? q->real : queue, q || enable);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_cu_set_mask(const struct gt_call *call, const void *queue,
						  uint32_t count, const uint32_t *mask)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_cu_set_mask_fn *)call->tap->real)(real_of(queue),
										count, mask);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_cu_get_mask(const struct gt_call *call, const void *queue,
						  uint32_t count, uint32_t *mask)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_cu_get_mask_fn *)call->tap->real)(real_of(queue),
										count, mask);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_set_priority(const struct gt_call *call, void *queue,
						   unsigned int priority)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_set_priority_fn *)call->tap->real)(real_of(queue),
										 priority);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_get_info(const struct gt_call *call, void *queue,
					       unsigned int attribute, void *value)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_get_info_fn *)call->tap->real)(real_of(queue),
									     attribute, value);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_intercept_register(const struct gt_call *call, void *queue,
							 void *callback, void *data)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_intercept_register_fn *)call->tap->real)(
		real_of(queue), callback, data);
}
