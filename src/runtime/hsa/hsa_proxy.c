/* SPDX-License-Identifier: MIT */
/* The proxy queue that the program gets: a copy of the real queue with separate indices, packets
 * and doorbell (hsa_ring.h).
 *
 *   page 0   a copy of amd_queue_t and of the bytes after it, by which the runtime finds its own
 *            object; a function that takes a queue and is not wrapped therefore finds the real one
 *   after    the program's packets
 *
 * This file wraps the functions that take a queue. Functions for indices are answered here; other
 * functions get the runtime's queue. For a store to a signal, the signal is looked up in a table of
 * doorbells.
 *
 * The proxy is in memory that devices can access. A kernel that enqueues packets adds to the write
 * index, writes its packet, and stores to the doorbell, which is an HSA signal of gputap. A store
 * from the host never reaches that signal, because the function is wrapped. A store from a device
 * does. The helper checks for such a store; this is the only case in which a packet waits for the
 * helper. */
#include <dlfcn.h>
#include <string.h>

#include "runtime/hsa/hsa_graph_batch.h"
#include "runtime/hsa/hsa_packets.h"
#include "runtime/hsa/hsa_proxy.h"

enum { PAGE = 4096, BELLS_BITS = 8 };
#define REST INT64_MAX /* value of the doorbell until it is rung */

static _Atomic(struct gt_hsa_queue *) bells[1 << BELLS_BITS];

_Atomic(gt_hsa_adopt_fn *) gt_hsa_adopt_queue;

#define NO_QUEUE ((const void *)UINTPTR_MAX)

/* State of this thread for the queue that it used last. */
static _Thread_local struct {
	struct gt_hsa_queue *q;
	/* The thread has reserved a packet of queue `asks` and has not rung for it. Its next
	 * `answers` queries of the read index only check for room, and `gone` is accurate enough
	 * for that check. */
	const void *asks;
	uint64_t gone;
	uint32_t answers;
} last_used __attribute__((tls_model("initial-exec"))) = {.asks = NO_QUEUE};

/* Memory ---------------------------------------------------------------------- */

struct pool_search {
	struct gt_hsa_runtime *runtime;
	uint64_t pool; /* 0: none found yet */
};

static int look_at_pool(uint64_t pool, void *data)
{
	struct pool_search *s = data;
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
	struct pool_search *s = data;
	uint32_t device = GT_HSA_DEVICE_GPU;

	if (GT_HSA_CORE(s->runtime, hsa_agent_get_info)(agent, GT_HSA_AGENT_DEVICE, &device) !=
		    GT_HSA_SUCCESS ||
	    device != GT_HSA_DEVICE_CPU)
		return GT_HSA_SUCCESS;
	GT_HSA_AMD(s->runtime, hsa_amd_agent_iterate_memory_pools)
	(agent, (void *)(uintptr_t)look_at_pool, s);
	return s->pool ? GT_HSA_INFO_BREAK : GT_HSA_SUCCESS;
}

/* Allocate host memory that the agent can access. Return NULL on failure. */
static void *allocate_for_agent(const struct gt_hsa_agent *a, size_t bytes)
{
	struct pool_search s = {a->runtime, 0};
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

/* Return true if ROCr 7 has loaded a thunk that must be called on each ring. */
static bool thunk_rings(void)
{
	void *thunk = dlopen("libdtif.so", RTLD_LAZY | RTLD_NOLOAD);

	if (thunk)
		dlclose(thunk);
	return thunk != NULL;
}

/* Return the address of the doorbell. NULL: only the runtime can ring the doorbell (older devices,
 * another tool's queue in place of the real one, or thunk_rings()). */
static _Atomic uint64_t *cell_of(const struct gt_hsa_queue_abi *real)
{
	struct gt_hsa_signal *bell = (struct gt_hsa_signal *)(uintptr_t)real->doorbell_signal;

	if (bell->kind != GT_HSA_SIGNAL_DOORBELL || bell->queue != (uintptr_t)real || thunk_rings())
		return NULL;
	return (_Atomic uint64_t *)(uintptr_t)atomic_load_explicit(&bell->value,
								   memory_order_relaxed);
}

bool gt_hsa_proxy_make(struct gt_hsa_queue *q, void *real, uint32_t size)
{
	struct gt_hsa_runtime *r = q->agent->runtime;
	struct gt_hsa_queue_abi *theirs = real, *proxy;
	struct gt_hsa_ring *ring = &q->ring;
	size_t known = PAGE - (uintptr_t)real % PAGE;
	uint64_t bell;

	if (GT_HSA_CORE(r, hsa_signal_create)(REST, 0, NULL, &bell) != GT_HSA_SUCCESS)
		return false;
	proxy = allocate_for_agent(q->agent, PAGE + size * sizeof(union gt_hsa_packet));
	ring->device_size = theirs->size;
	ring->origin = gt_hsa_alloc(2 * theirs->size * sizeof *ring->origin);
	if (!proxy || !ring->origin) {
		GT_HSA_CORE(r, hsa_signal_destroy)(bell);
		if (proxy)
			GT_HSA_AMD(r, hsa_amd_memory_pool_free)(proxy);
		return false;
	}
	memcpy(proxy, theirs, known < sizeof *proxy ? sizeof *proxy : known);
	proxy->base_address = (char *)proxy + PAGE;
	proxy->doorbell_signal = bell;
	proxy->size = size;
	atomic_store_explicit(&proxy->write_dispatch_id, 0, memory_order_relaxed);
	atomic_store_explicit(&proxy->read_dispatch_id, 0, memory_order_relaxed);
	ring->theirs = proxy->base_address;
	ring->theirs_size = size;
	ring->theirs_write = &proxy->write_dispatch_id;
	ring->theirs_read = &proxy->read_dispatch_id;
	ring->device = theirs->base_address;
	ring->write = &theirs->write_dispatch_id;
	ring->read = &theirs->read_dispatch_id;
	ring->cell = cell_of(theirs);
	ring->store = GT_HSA_CORE(r, hsa_signal_store_screlease);
	ring->doorbell = theirs->doorbell_signal;
	gt_hsa_ring_begin(ring);
	q->real = real;
	q->proxy = proxy;
	q->bell = (struct gt_hsa_signal *)(uintptr_t)bell;
	return true;
}

void gt_hsa_proxy_free(struct gt_hsa_queue *q)
{
	GT_HSA_CORE(q->agent->runtime, hsa_signal_destroy)((uintptr_t)q->bell);
	GT_HSA_AMD(q->agent->runtime, hsa_amd_memory_pool_free)(q->proxy);
}

/* Doorbells ------------------------------------------------------------------------ */

static _Atomic(struct gt_hsa_queue *) *bell_bucket(uint64_t bell)
{
	return &bells[bell * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BELLS_BITS)];
}

void gt_hsa_proxy_publish(struct gt_hsa_queue *q)
{
	_Atomic(struct gt_hsa_queue *) *bucket = bell_bucket((uintptr_t)q->bell);
	struct gt_hsa_queue *first = atomic_load_explicit(bucket, memory_order_relaxed);

	do
		q->bell_next = first;
	while (!atomic_compare_exchange_weak_explicit(bucket, &first, q, memory_order_release,
						      memory_order_relaxed));
}

/* Wait while the queue is given back to the program. Return true if it is followed nevertheless. */
static __attribute__((noinline)) bool waits_for_leave(struct gt_hsa_queue *q)
{
	while (atomic_load_explicit(&q->state, memory_order_acquire) == GT_HSA_QUEUE_LEAVING)
		gt_hsa_sleep_ns(GT_HSA_MS / 20);
	return gt_hsa_queue_is_live(q);
}

/* Return the queue that has this doorbell; NULL for any other signal. */
static inline GT_IN_LINE struct gt_hsa_queue *find_bell(uint64_t bell)
{
	struct gt_hsa_queue *q = last_used.q;

	if (gt_likely(q && (uintptr_t)q->bell == bell &&
		      atomic_load_explicit(&q->state, memory_order_relaxed) == GT_HSA_QUEUE_LIVE))
		return q;
	q = atomic_load_explicit(bell_bucket(bell), memory_order_acquire);
	while (q && ((uintptr_t)q->bell != bell ||
		     (atomic_load_explicit(&q->state, memory_order_relaxed) != GT_HSA_QUEUE_LIVE &&
		      !waits_for_leave(q))))
		q = q->bell_next;
	return q;
}

/* Return true if a launch holds packets back. If no packet was handed on since the last look, the
 * launching thread is waiting for a reason unknown to gputap, so the held packets are handed on. */
static bool holds_packets(struct gt_hsa_queue *q)
{
	uint64_t gone = atomic_load_explicit(q->ring.theirs_read, memory_order_relaxed);

	if (gt_likely(!atomic_load_explicit(&q->attention.holders, memory_order_relaxed)))
		return false;
	if (gone == q->attention.gone_seen &&
	    gone != atomic_load_explicit(q->ring.theirs_write, memory_order_relaxed))
		atomic_store_explicit(&q->attention.unhandled, 1, memory_order_relaxed);
	q->attention.gone_seen = gone;
	return true;
}

bool gt_hsa_proxy_look(struct gt_hsa_queue *q)
{
	/* the value of an adopted queue's doorbell is the address of the device's doorbell */
	bool rung = q->proxy && atomic_load_explicit(&q->bell->value, memory_order_relaxed) != REST,
	     holds = holds_packets(q);

	if (gt_unlikely(q->ring.in_place))
		q->adopted.look(q, GT_HSA_LOOK_IN_HELPER);
	if (gt_unlikely(atomic_load_explicit(&q->callbacks.running, memory_order_relaxed)))
		gt_hsa_check_callback(q);
	if (gt_likely(!rung &&
		      !atomic_load_explicit(&q->attention.unhandled, memory_order_relaxed)))
		return holds;
	atomic_store_explicit(&q->attention.unhandled, 0, memory_order_seq_cst);
	if (rung)
		atomic_store_explicit(&q->bell->value, REST, memory_order_seq_cst);
	gt_hsa_handle_packets(q, 0, false);
	return holds || atomic_load_explicit(&q->attention.unhandled, memory_order_relaxed);
}

/* Ring the doorbell in this thread. Later queries of the index do not check for room. */
static inline GT_IN_LINE void ring_doorbell(struct gt_hsa_queue *q, uint64_t index)
{
	last_used.asks = NO_QUEUE;
	if (gt_unlikely(q->ring.in_place))
		q->adopted.look(q, GT_HSA_LOOK_AT_USE);
	gt_hsa_on_doorbell(q, index);
}

#define RING(f)                                                                             \
	void gt_hsa_core_wrap_##f(uint64_t signal, int64_t value, const struct gt_tap *tap) \
	{                                                                                   \
		struct gt_hsa_queue *q = find_bell(signal);                                 \
                                                                                            \
		if (gt_likely(q != NULL))                                                   \
			ring_doorbell(q, (uint64_t)value);                                  \
		else                                                                        \
			((gt_hsa_core_##f##_fn *)tap->real)(signal, value);                 \
	}
RING(hsa_signal_store_relaxed)
RING(hsa_signal_store_screlease)
RING(hsa_signal_silent_store_relaxed)
RING(hsa_signal_silent_store_screlease)

/* Indices ------------------------------------------------------------------------------ */

/* Store the available room when a packet is reserved, because HIP checks for room twice per packet.
 * @reserved: index after the packet */
static inline GT_IN_LINE void remember_room(struct gt_hsa_queue *q, uint64_t reserved)
{
	last_used.answers = 2;
	last_used.asks = gt_likely(gt_hsa_ring_is_roomy(&q->ring, reserved, &last_used.gone))
				 ? q->handle
				 : NO_QUEUE;
}

/* Hand on held packets, because this thread may be about to wait for them. Return the read
 * index. */
static __attribute__((noinline)) uint64_t load_read_index(struct gt_hsa_queue *q)
{
	if (gt_unlikely(gt_thread.graph != NULL))
		gt_hsa_flush_held(gt_thread.graph);
	return gt_hsa_ring_show(&q->ring);
}

#define LOAD_READ(f)                                                                      \
	uint64_t gt_hsa_core_wrap_##f(const void *queue, const struct gt_tap *tap)        \
	{                                                                                 \
		struct gt_hsa_queue *q;                                                   \
                                                                                          \
		if (gt_likely(last_used.asks == queue)) {                                 \
			if (!--last_used.answers)                                         \
				last_used.asks = NO_QUEUE;                                \
			return last_used.gone;                                            \
		}                                                                         \
		q = gt_hsa_queue_find(queue);                                             \
		return gt_likely(q != NULL) ? load_read_index(q)                          \
					    : ((gt_hsa_core_##f##_fn *)tap->real)(queue); \
	}
LOAD_READ(hsa_queue_load_read_index_scacquire)
LOAD_READ(hsa_queue_load_read_index_relaxed)

static struct gt_hsa_runtime *runtime_of(const struct gt_tap *tap)
{
	uint32_t i = 0;

	while (i < GT_INSTANCES - 1 &&
	       !(tap >= gt_hsa_core_taps[i] && tap < gt_hsa_core_taps[i + 1]))
		i++;
	return &gt_hsa_runtimes[i];
}

/* Find the queue whose write index is used. */
static struct gt_hsa_queue *find_or_adopt(const struct gt_tap *tap, const void *queue)
{
	struct gt_hsa_queue *q = gt_hsa_queue_find(queue);
	gt_hsa_adopt_fn *adopt;

	if (gt_likely(q && !q->ring.in_place))
		return q;
	if (q) {
		q->adopted.look(q, GT_HSA_LOOK_AT_USE);
		return q;
	}
	adopt = atomic_load_explicit(&gt_hsa_adopt_queue, memory_order_acquire);
	return gt_unlikely(adopt != NULL) ? adopt(runtime_of(tap), (void *)(uintptr_t)queue) : NULL;
}

#define LOAD_WRITE(f)                                                                             \
	uint64_t gt_hsa_core_wrap_##f(const void *queue, const struct gt_tap *tap)                \
	{                                                                                         \
		const struct gt_hsa_queue *q = find_or_adopt(tap, queue);                         \
                                                                                                  \
		return gt_likely(q != NULL)                                                       \
			       ? atomic_load_explicit(q->ring.theirs_write, memory_order_acquire) \
			       : ((gt_hsa_core_##f##_fn *)tap->real)(queue);                      \
	}
LOAD_WRITE(hsa_queue_load_write_index_scacquire)
LOAD_WRITE(hsa_queue_load_write_index_relaxed)

/* Return true if this thread used queue @q last. */
static inline GT_IN_LINE bool is_last_used(const struct gt_hsa_queue *q, const void *handle)
{
	return q && q->handle == handle && gt_hsa_queue_is_live(q);
}

/* Note that this thread has reserved packets, most likely one. Return false if the caller must use
 * gt_hsa_note_reserved(). */
static inline GT_IN_LINE bool note_plain(struct gt_hsa_queue *q, uint64_t from, uint64_t count)
{
	return gt_hsa_submitters_note_plain(&q->submitters, &q->ring, q->handle, from, count);
}

static inline void note_reserved(struct gt_hsa_queue *q, uint64_t from, uint64_t count)
{
	if (gt_unlikely(!note_plain(q, from, count)))
		gt_hsa_note_reserved(q, from, count);
}

/* Do the slow path of ADD, which is a separate function so that ADD needs no stack frame. */
static __attribute__((noinline)) uint64_t note_slowly(struct gt_hsa_queue *q, uint64_t from,
						      uint64_t value)
{
	gt_hsa_note_reserved(q, from, value);
	remember_room(q, from + value);
	return from;
}

static __attribute__((noinline)) uint64_t add_slowly(const struct gt_tap *tap, const void *queue,
						     uint64_t value)
{
	struct gt_hsa_queue *q = find_or_adopt(tap, queue);
	uint64_t from;

	if (gt_unlikely(!q))
		return ((gt_hsa_core_hsa_queue_add_write_index_relaxed_fn *)tap->real)(queue,
										       value);
	if (gt_likely(!q->ring.in_place)) /* otherwise find_or_adopt() must look each time */
		last_used.q = q;
	from = atomic_fetch_add_explicit(q->ring.theirs_write, value, memory_order_acq_rel);
	if (gt_unlikely(!note_plain(q, from, value)))
		return note_slowly(q, from, value);
	remember_room(q, from + value);
	return from;
}

#define ADD(f)                                                                                     \
	uint64_t gt_hsa_core_wrap_##f(const void *queue, uint64_t value, const struct gt_tap *tap) \
	{                                                                                          \
		struct gt_hsa_queue *q = last_used.q;                                              \
		uint64_t from;                                                                     \
                                                                                                   \
		if (gt_unlikely(!is_last_used(q, queue)))                                          \
			return add_slowly(tap, queue, value);                                      \
		from = atomic_fetch_add_explicit(q->ring.theirs_write, value,                      \
						 memory_order_acq_rel);                            \
		if (gt_unlikely(!note_plain(q, from, value)))                                      \
			return note_slowly(q, from, value);                                        \
		remember_room(q, from + value);                                                    \
		return from;                                                                       \
	}
ADD(hsa_queue_add_write_index_scacq_screl)
ADD(hsa_queue_add_write_index_scacquire)
ADD(hsa_queue_add_write_index_relaxed)
ADD(hsa_queue_add_write_index_screlease)

#define CAS(f)                                                                                   \
	uint64_t gt_hsa_core_wrap_##f(const void *queue, uint64_t expected, uint64_t value,      \
				      const struct gt_tap *tap)                                  \
	{                                                                                        \
		struct gt_hsa_queue *q = find_or_adopt(tap, queue);                              \
		uint64_t found = expected;                                                       \
                                                                                                 \
		if (gt_unlikely(!q))                                                             \
			return ((gt_hsa_core_##f##_fn *)tap->real)(queue, expected, value);      \
		if (atomic_compare_exchange_strong_explicit(q->ring.theirs_write, &found, value, \
							    memory_order_acq_rel,                \
							    memory_order_acquire) &&             \
		    value > expected)                                                            \
			note_reserved(q, expected, value - expected);                            \
		return found;                                                                    \
	}
CAS(hsa_queue_cas_write_index_scacq_screl)
CAS(hsa_queue_cas_write_index_scacquire)
CAS(hsa_queue_cas_write_index_relaxed)
CAS(hsa_queue_cas_write_index_screlease)

/* Store the write index of a queue with a single producer, which thereby reserves the packets
 * before the new index. */
#define STORE(f)                                                                               \
	void gt_hsa_core_wrap_##f(const void *queue, uint64_t value, const struct gt_tap *tap) \
	{                                                                                      \
		struct gt_hsa_queue *q = find_or_adopt(tap, queue);                            \
		uint64_t from;                                                                 \
                                                                                               \
		if (gt_unlikely(!q)) {                                                         \
			((gt_hsa_core_##f##_fn *)tap->real)(queue, value);                     \
			return;                                                                \
		}                                                                              \
		from = atomic_load_explicit(q->ring.theirs_write, memory_order_relaxed);       \
		if (gt_likely(value > from))                                                   \
			note_reserved(q, from, value - from);                                  \
		atomic_store_explicit(q->ring.theirs_write, value, memory_order_release);      \
	}
STORE(hsa_queue_store_write_index_relaxed)
STORE(hsa_queue_store_write_index_screlease)

/* Functions that act on the real queue ------------------------------------------------------ */

static void *get_real_queue(const void *queue)
{
	const struct gt_hsa_queue *q = gt_hsa_queue_find(queue);

	return q ? q->real : (void *)(uintptr_t)queue;
}

int gt_hsa_core_wrap_hsa_queue_inactivate(const struct gt_call *call, void *queue)
{
	return ((gt_hsa_core_hsa_queue_inactivate_fn *)call->tap->real)(get_real_queue(queue));
}

/* Call the real function, but keep the profiler enabled. */
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
	return ((gt_hsa_amd_ext_hsa_amd_queue_cu_set_mask_fn *)call->tap->real)(get_real_queue(
											queue),
										count, mask);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_cu_get_mask(const struct gt_call *call, const void *queue,
						  uint32_t count, uint32_t *mask)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_cu_get_mask_fn *)call->tap->real)(get_real_queue(
											queue),
										count, mask);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_set_priority(const struct gt_call *call, void *queue,
						   unsigned int priority)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_set_priority_fn *)call->tap->real)(get_real_queue(
											 queue),
										 priority);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_get_info(const struct gt_call *call, void *queue,
					       unsigned int attribute, void *value)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_get_info_fn *)call->tap->real)(get_real_queue(queue),
									     attribute, value);
}

int gt_hsa_amd_ext_wrap_hsa_amd_queue_intercept_register(const struct gt_call *call, void *queue,
							 void *callback, void *data)
{
	return ((gt_hsa_amd_ext_hsa_amd_queue_intercept_register_fn *)call->tap->real)(
		get_real_queue(queue), callback, data);
}
