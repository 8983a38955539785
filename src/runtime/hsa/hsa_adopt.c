/* SPDX-License-Identifier: MIT */
/* Follows queues that the program created before gputap was there. The program keeps its queue and
 * its ring of packets, so nothing that it has stored changes its meaning. gputap delays the two
 * numbers that make the device look at packets, the write index and the doorbell, which the program
 * passes through functions that are tapped.
 *
 *   program: reserve, write packet, ring ─► the queue's ring ─ packet loop ─► ring in between
 *               │                              ▲                                  │ signals set
 *               └ adopted.write                └──────────── hand_over() ◄────────┘
 *                                    then the queue's write index, then its doorbell
 *
 * The device processes packets below its write index. The index stays at the number of packets
 * that were handed over, and the program counts in adopted.write. The packet loop therefore has the
 * time to put gputap's signals into packets, as for a proxy queue (hsa_proxy.c). The loop copies
 * packets to the ring in between, and makes the program's slots INVALID. hand_over() writes the
 * signals and heads back. Indices of all rings are equal; the read index is the device's.
 *
 * A queue is adopted by the thread that reserves a packet in it next. Packets that were reserved
 * before belong to the device: their doorbell is passed on (gt_hsa_ring_notify()).
 *
 * At the end of the session the queues are given back: the device's write index becomes the
 * program's. Threads of the program wait meanwhile, in find_bell() and wait_for_end().
 *
 * A program or a kernel may also change the device's write index, or its doorbell, in memory. Such
 * packets are the device's at once, and not recorded. gputap finds that the write index is not the
 * one that it has stored, or that the read index is larger (look_at_queue()). It continues after
 * those packets, names the queue, and gives it back soon. Packets of both kinds that are reserved
 * at the same time may get the same place; one of them is lost then. If a device ignores the
 * doorbell because of the write index, the helper hands the packets over after a while.
 *
 * Not followed: a queue whose packets are all submitted in memory; a queue of another tool. No
 * packet is inserted (a ring has no room for one), so times of packets that share a signal are not
 * known, as in a small proxy queue (GT_DROP_SIGNAL).
 *
 * Locking: gt_wiped.adopt_lock, taken with signals blocked, by a thread that adopts. */
#include "runtime/hsa/hsa_adopt.h"

#include <stdio.h>

#include "core/late.h"
#include "core/recording.h"
#include "core/recording_state.h"
#include "runtime/hsa/hsa_fault.h"
#include "runtime/hsa/hsa_proxy.h"
#include "runtime/hsa/hsa_queue_calls.h"

#define LEAVE_NS    (50 * GT_HSA_MS)
#define PAUSE_NS    (100 * GT_HSA_MS)
#define RING_NS     (1000 * GT_HSA_MS)
#define CATCH_UP_NS (5 * GT_HSA_MS)
#define STUCK_NS    (20 * GT_HSA_MS)

enum { LEAVE_TRIES = 3, REFUSED_MOST = 64, BELL_PAGE = 8192 };

/* Queues that cannot be adopted, and are reported. The runtime does not use a queue's id again. */
static struct {
	const void *_Atomic queue;
	uint64_t id;
} refused[REFUSED_MOST];
static uint32_t refused_count;

static void look_at_queue(struct gt_hsa_queue *q, enum gt_hsa_adopt_look when);

/* Device ------------------------------------------------------------------------------- */

struct agent_search {
	struct gt_hsa_runtime *runtime;
	const struct gt_hsa_queue_abi *queue;
	uint64_t last, found;
	uint32_t count;
};

static uintptr_t bell_page(const struct gt_hsa_queue_abi *queue)
{
	struct gt_hsa_signal *bell = (struct gt_hsa_signal *)(uintptr_t)queue->doorbell_signal;

	return (uintptr_t)atomic_load_explicit(&bell->value, memory_order_relaxed) / BELL_PAGE;
}

static int count_gpu(uint64_t agent, void *data)
{
	struct agent_search *s = data;
	uint32_t device = GT_HSA_DEVICE_CPU;

	if (GT_HSA_CORE(s->runtime, hsa_agent_get_info)(agent, GT_HSA_AGENT_DEVICE, &device) ==
		    GT_HSA_SUCCESS &&
	    device == GT_HSA_DEVICE_GPU) {
		s->count++;
		s->last = agent;
	}
	return GT_HSA_SUCCESS;
}

/* Compare the queue with a new queue of the agent: all doorbells of a device are in one page. */
static int compare_gpu(uint64_t agent, void *data)
{
	struct agent_search *s = data;
	uint32_t device = GT_HSA_DEVICE_CPU, size = 0;
	void *probe = NULL;

	GT_HSA_CORE(s->runtime, hsa_agent_get_info)(agent, GT_HSA_AGENT_DEVICE, &device);
	GT_HSA_CORE(s->runtime, hsa_agent_get_info)(agent, GT_HSA_AGENT_QUEUE_MIN_SIZE, &size);
	if (device != GT_HSA_DEVICE_GPU ||
	    GT_HSA_CORE(s->runtime, hsa_queue_create)(agent, size, 0, NULL, NULL, UINT32_MAX,
						      UINT32_MAX, &probe) != GT_HSA_SUCCESS)
		return GT_HSA_SUCCESS;
	if (bell_page(probe) == bell_page(s->queue))
		s->found = agent;
	GT_HSA_CORE(s->runtime, hsa_queue_destroy)(probe);
	return s->found ? GT_HSA_INFO_BREAK : GT_HSA_SUCCESS;
}

/* Return the agent of a queue; 0: not known. */
static uint64_t find_agent(struct gt_hsa_runtime *r, struct gt_hsa_queue_abi *queue)
{
	gt_hsa_amd_ext_hsa_amd_queue_get_info_fn *info = GT_HSA_AMD(r, hsa_amd_queue_get_info);
	struct agent_search s = {.runtime = r, .queue = queue};

	if (info && info(queue, 0 /* HSA_AMD_QUEUE_INFO_AGENT */, &s.found) == GT_HSA_SUCCESS)
		return s.found;
	GT_HSA_CORE(r, hsa_iterate_agents)((void *)(uintptr_t)count_gpu, &s);
	if (s.count == 1)
		return s.last;
	GT_HSA_CORE(r, hsa_iterate_agents)((void *)(uintptr_t)compare_gpu, &s);
	return s.found;
}

/* Packets ------------------------------------------------------------------------------ */

/* Let the device process the packets up to @index. Runs in the ring's worker. */
static void hand_over(uint64_t queue, int64_t index)
{
	struct gt_hsa_queue *q = (struct gt_hsa_queue *)(uintptr_t)queue;
	struct gt_hsa_queue_abi *real = q->real;
	const struct gt_hsa_ring *ring = &q->ring;
	struct gt_hsa_adopted *a = &q->adopted;

	const uint64_t end = (uint64_t)index + 1;
	uint64_t before = atomic_load_explicit(&a->handed, memory_order_relaxed);

	for (uint64_t i = before; i != end; i++) {
		const union gt_hsa_packet *from = &ring->device[i & ring->device_mask];
		union gt_hsa_packet *to = &ring->theirs[i & ring->theirs_mask];
		uint32_t head;

		memcpy(&head, from, sizeof head);
		__atomic_store_n(&to->kernel.completion_signal, from->kernel.completion_signal,
				 __ATOMIC_RELAXED);
		__atomic_store_n((gt_hsa_packet_head *)(void *)to, head, __ATOMIC_RELEASE);
	}
	atomic_store_explicit(&a->handed, end, memory_order_relaxed);
	/* if the program has changed the index meanwhile, two packets may have had the same place;
	 * the index must not go back, because the device would then wait for ever */
	while (!atomic_compare_exchange_strong_explicit(&real->write_dispatch_id, &before,
							before > end ? before : end,
							memory_order_release, memory_order_relaxed))
		atomic_store_explicit(&a->in_memory, 1, memory_order_relaxed);
	GT_HSA_CORE(q->agent->runtime, hsa_signal_store_screlease)(real->doorbell_signal, index);
}

/* Packets in memory -------------------------------------------------------------------- */

static bool enter_ring(struct gt_hsa_queue *q, uint64_t most_ns)
{
	const uint64_t until = gt_hsa_boottime_ns() + most_ns;

	while (gt_hsa_ring_enter(&q->ring, (uintptr_t)refused) == GT_HSA_RING_BUSY) {
		if (gt_hsa_boottime_ns() >= until)
			return false;
		gt_hsa_sleep_ns(GT_HSA_MS / 20);
	}
	return true;
}

static void raise_index(_Atomic uint64_t *index, uint64_t least)
{
	uint64_t now = atomic_load_explicit(index, memory_order_relaxed);

	while (now < least &&
	       !atomic_compare_exchange_weak_explicit(index, &now, least, memory_order_release,
						      memory_order_relaxed))
		;
}

/* Continue after the packets that the program has submitted in memory: those below the device's
 * write index, or those that the device has taken because the doorbell was rung. The former have
 * the numbers of packets that the program has reserved through functions meanwhile, if there are
 * any; nothing can be done for these. */
static void skip_packets(struct gt_hsa_queue *q, uint64_t handed, uint64_t write, uint64_t read)
{
	struct gt_hsa_queue_abi *real = q->real;
	struct gt_hsa_adopted *a = &q->adopted;
	uint64_t next = read, none = handed;

	if (write > handed && atomic_compare_exchange_strong(&a->write, &none, write))
		next = write > read ? write : read;
	if (next <= handed)
		return;
	raise_index(&a->write, next);
	atomic_store_explicit(&a->handed, next, memory_order_relaxed);
	gt_hsa_ring_skip(&q->ring, next);
	raise_index(&real->write_dispatch_id, next);
}

/* Find packets that the program has submitted in memory. The queue exists while it is live and this
 * thread is in its ring. */
static void catch_up(struct gt_hsa_queue *q, uint64_t most_ns)
{
	const struct gt_hsa_queue_abi *real = q->real;
	uint64_t handed, write, read = 0;

	if (!enter_ring(q, most_ns))
		return;
	handed = write = atomic_load_explicit(&q->adopted.handed, memory_order_relaxed);
	if (gt_hsa_queue_is_live(q)) {
		write = atomic_load_explicit(&real->write_dispatch_id, memory_order_acquire);
		read = atomic_load_explicit(&real->read_dispatch_id, memory_order_acquire);
	}
	if (write != handed || read > handed) {
		atomic_store_explicit(&q->adopted.in_memory, 1, memory_order_relaxed);
		skip_packets(q, handed, write, read);
	}
	gt_hsa_ring_leave(&q->ring);
}

/* Return true if the program, which is using the queue, has submitted packets in memory, or another
 * thread is just handing packets over. */
static bool is_index_changed(const struct gt_hsa_queue *q)
{
	const struct gt_hsa_queue_abi *real = q->real;
	const uint64_t handed = atomic_load_explicit(&q->adopted.handed, memory_order_relaxed);

	return atomic_load_explicit(&real->write_dispatch_id, memory_order_acquire) != handed ||
	       atomic_load_explicit(&real->read_dispatch_id, memory_order_relaxed) > handed;
}

static void name_packets_in_memory(struct gt_hsa_queue *q)
{
	char text[160];

	if (atomic_exchange_explicit(&q->adopted.names_memory, 1, memory_order_relaxed))
		return;
	snprintf(
		text, sizeof text,
		"kernels on queue %p that are submitted by changing its write index or doorbell in "
		"memory",
		q->handle);
	gt_late_missing(GT_DOMAIN_HSA_CORE, text);
}

static bool begin_ring(struct gt_hsa_queue *q, struct gt_hsa_queue_abi *real)
{
	struct gt_hsa_ring *ring = &q->ring;
	const uint64_t next = atomic_load_explicit(&real->write_dispatch_id, memory_order_acquire);

	ring->theirs = real->base_address;
	ring->theirs_size = ring->device_size = real->size;
	ring->in_place = true;
	ring->device = gt_hsa_alloc(real->size * sizeof *ring->device);
	ring->origin = gt_hsa_alloc(2 * ring->device_size * sizeof *ring->origin);
	if (!ring->device || !ring->origin)
		return false;
	q->adopted.write = q->adopted.taken = q->adopted.next = q->adopted.handed = next;
	q->adopted.look = look_at_queue;
	ring->theirs_write = &q->adopted.write;
	ring->theirs_read = &q->adopted.taken;
	ring->write = &q->adopted.next;
	ring->read = &real->read_dispatch_id;
	ring->store = hand_over;
	ring->doorbell = (uintptr_t)q;
	gt_hsa_ring_begin_in_place(ring);
	return true;
}

/* Adoption ----------------------------------------------------------------------------- */

static bool is_refused(const struct gt_hsa_queue_abi *queue)
{
	for (uint32_t i = 0; i < REFUSED_MOST; i++)
		if (atomic_load_explicit(&refused[i].queue, memory_order_acquire) == queue &&
		    refused[i].id == queue->id)
			return true;
	return false;
}

static void refuse(const struct gt_hsa_queue_abi *queue, const char *why)
{
	char text[160];

	refused[refused_count % REFUSED_MOST].id = queue->id;
	atomic_store_explicit(&refused[refused_count++ % REFUSED_MOST].queue, queue,
			      memory_order_release);
	if (!why)
		return;
	snprintf(text, sizeof text, "kernels on queue %p: %s", queue, why);
	gt_late_missing(GT_DOMAIN_HSA_CORE, text);
}

/* Make a followed queue. Return NULL on failure, and set *why; NULL: there is nothing to follow. */
static struct gt_hsa_queue *make_queue(struct gt_hsa_runtime *r, struct gt_hsa_queue_abi *real,
				       struct gt_thread *t, const char **why)
{
	gt_hsa_amd_ext_hsa_amd_profiling_set_profiler_enabled_fn *profile =
		GT_HSA_AMD(r, hsa_amd_profiling_set_profiler_enabled);
	const struct gt_hsa_signal *bell =
		(const struct gt_hsa_signal *)(uintptr_t)real->doorbell_signal;
	uint64_t handle;
	struct gt_hsa_agent *a;
	struct gt_hsa_queue *q;
	bool was_profiled;

	*why = NULL;
	if (!(real->features & GT_HSA_FEATURE_KERNELS) || !bell)
		return NULL;
	*why = "the queue belongs to another tool";
	if (bell->kind != GT_HSA_SIGNAL_DOORBELL || bell->queue != (uintptr_t)real)
		return NULL;
	*why = "the device of the queue is not known";
	handle = find_agent(r, real);
	a = handle ? gt_hsa_agent_get(r, t, handle) : NULL;
	if (!a || !a->gpu)
		return NULL;
	was_profiled = real->properties & GT_HSA_QUEUE_PROFILED;
	*why = "the runtime refused to profile the queue";
	if (!profile || profile(real, 1) != GT_HSA_SUCCESS)
		return NULL;
	*why = "no memory for the activities of the queue";
	q = gt_hsa_queue_make(a, real->size, t);
	if (!q)
		return NULL;
	q->handle = q->real = real;
	q->adopted.was_profiled = was_profiled;
	q->bell = (struct gt_hsa_signal *)(uintptr_t)real->doorbell_signal;
	if (!begin_ring(q, real)) {
		gt_hsa_queue_free(q);
		return NULL;
	}
	return q;
}

static struct gt_hsa_queue *adopt(struct gt_hsa_runtime *r, struct gt_hsa_queue_abi *real,
				  struct gt_thread *t)
{
	const char *why;
	struct gt_hsa_queue *q = make_queue(r, real, t, &why);

	if (!q) {
		refuse(real, why);
		return NULL;
	}
	gt_hsa_fault_subscribe(r);
	gt_hsa_queue_arm(q, UINT32_MAX);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
	q->type = real->type;
	q->born_ns = gt_hsa_boottime_ns();
	q->users = 1;
	atomic_store_explicit(&q->state, GT_HSA_QUEUE_LIVE, memory_order_relaxed);
	gt_hsa_proxy_publish(q);
	gt_hsa_queue_publish(q);
	gt_hsa_queue_announce(q, t);
	return q;
}

static struct gt_hsa_queue *find_or_adopt(struct gt_hsa_runtime *r, void *queue)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_queue *q;
	uint64_t before;

	if (!t || is_refused(queue))
		return NULL;
	gt_signals_block(&before);
	gt_word_take(&gt_wiped.adopt_lock);
	q = gt_hsa_queue_find(queue);
	if (!q && !is_refused(queue))
		q = adopt(r, queue, t);
	atomic_store_explicit(&gt_wiped.adopt_lock, 0, memory_order_release);
	gt_signals_restore(&before);
	return q;
}

void gt_hsa_adopt_begin(void)
{
	for (uint32_t i = 0; i < REFUSED_MOST; i++)
		atomic_store_explicit(&refused[i].queue, NULL, memory_order_relaxed);
	atomic_store_explicit(&gt_hsa_adopt_queue, find_or_adopt, memory_order_release);
}

bool gt_hsa_adopts(void)
{
	return atomic_load_explicit(&gt_hsa_adopt_queue, memory_order_relaxed) == find_or_adopt;
}

/* Giving back -------------------------------------------------------------------------- */

/* Wait until the adopted queues have been given back. */
static struct gt_hsa_queue *wait_for_end(struct gt_hsa_runtime *r, void *queue)
{
	(void)r;
	while (atomic_load_explicit(&gt_hsa_adopt_queue, memory_order_acquire) == wait_for_end)
		gt_hsa_sleep_ns(GT_HSA_MS / 20);
	return gt_hsa_queue_find(queue);
}

/* Change the state of all adopted queues of this process from @from to @to. @then: called for each
 * before, unless NULL; if it returns false, the queue becomes LIVE instead */
static void change_all(enum gt_hsa_queue_state from, enum gt_hsa_queue_state to, uint32_t epoch,
		       bool (*then)(struct gt_hsa_queue *))
{
	const struct gt_hsa_agent *a;

	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		for (struct gt_hsa_queue *q =
			     atomic_load_explicit(&a->queues, memory_order_acquire);
		     q; q = q->agent_next) {
			uint32_t state = from;
			bool done;

			if (!q->ring.in_place || q->epoch != epoch ||
			    atomic_load_explicit(&q->state, memory_order_acquire) != from)
				continue;
			done = !then || then(q);
			atomic_compare_exchange_strong(&q->state, &state,
						       done ? to : GT_HSA_QUEUE_LIVE);
		}
}

/* Let the device process all packets that the program has reserved. Packets that were not handled
 * yet are in the queue's ring, unchanged. The ring is never left, so no thread handles packets
 * afterwards; a thread that waits for it leaves its packet, which the doorbell below includes.
 * Return false if another thread does not leave the ring, as in a tool's function. */
static bool give_back(struct gt_hsa_queue *q)
{
	struct gt_hsa_queue_abi *real = q->real;
	const struct gt_hsa_runtime *r = q->agent->runtime;
	uint64_t write;

	if (!enter_ring(q, RING_NS))
		return false;
	/* the program may change the index in memory at any time */
	raise_index(&real->write_dispatch_id,
		    atomic_load_explicit(&q->adopted.write, memory_order_acquire));
	write = atomic_load_explicit(&real->write_dispatch_id, memory_order_relaxed);
	if (write)
		GT_HSA_CORE(r, hsa_signal_store_screlease)
	(real->doorbell_signal, (int64_t)(write - 1));
	if (!q->adopted.was_profiled)
		GT_HSA_AMD(r, hsa_amd_profiling_set_profiler_enabled)(real, 0);
	return true;
}

/* Give one queue back because the program also submits by changing its write index in memory, and
 * packets of both kinds could get the same place. Threads that would adopt the queue again wait for
 * the lock. Runs in the helper, which tries again later. */
static void give_queue_back(struct gt_hsa_queue *q)
{
	uint32_t state = GT_HSA_QUEUE_LIVE, leaving = GT_HSA_QUEUE_LEAVING;
	bool is_back = false;

	gt_word_take(&gt_wiped.adopt_lock);
	if (atomic_compare_exchange_strong(&q->state, &state, GT_HSA_QUEUE_LEAVING)) {
		is_back = gt_late_wait_for_threads(LEAVE_NS) && give_back(q);
		if (is_back)
			refuse(q->handle, NULL);
		atomic_compare_exchange_strong(&q->state, &leaving,
					       is_back ? GT_HSA_QUEUE_LEFT : GT_HSA_QUEUE_LIVE);
	}
	atomic_store_explicit(&gt_wiped.adopt_lock, 0, memory_order_release);
}

/* Return true if packets have been reserved, and no doorbell rang for a while: the program
 * may ring the doorbell in memory. */
static bool is_stuck(struct gt_hsa_queue *q, uint64_t now)
{
	struct gt_hsa_adopted *a = &q->adopted;
	const uint64_t taken = atomic_load_explicit(&a->taken, memory_order_relaxed);

	if (taken != a->taken_seen ||
	    taken == atomic_load_explicit(&a->write, memory_order_relaxed)) {
		a->taken_seen = taken;
		a->stuck_ns = 0;
		return false;
	}
	if (!a->stuck_ns)
		a->stuck_ns = now;
	return now - a->stuck_ns > STUCK_NS;
}

static void look_in_helper(struct gt_hsa_queue *q)
{
	const uint64_t now = gt_hsa_boottime_ns();

	if (gt_unlikely(is_stuck(q, now)))
		atomic_store_explicit(&q->attention.unhandled, 1, memory_order_relaxed);
	if (gt_likely(!atomic_load_explicit(&q->adopted.in_memory, memory_order_relaxed)) ||
	    now < q->adopted.leave_ns)
		return;
	name_packets_in_memory(q);
	q->adopted.leave_ns = now + RING_NS;
	give_queue_back(q);
}

static void look_at_queue(struct gt_hsa_queue *q, enum gt_hsa_adopt_look when)
{
	switch (when) {
	case GT_HSA_LOOK_AT_USE:
		if (gt_unlikely(is_index_changed(q)))
			catch_up(q, CATCH_UP_NS);
		break;
	case GT_HSA_LOOK_IN_HELPER:
		catch_up(q, 0);
		look_in_helper(q);
		break;
	case GT_HSA_LOOK_AT_END:
		catch_up(q, CATCH_UP_NS);
		if (atomic_load_explicit(&q->adopted.in_memory, memory_order_relaxed))
			name_packets_in_memory(q);
	}
}

/* Return false if a thread of the program did not get a processor in time; nothing has changed
 * then. */
static bool give_all_back(uint32_t epoch, uint64_t most_ns)
{
	bool have_gone_on;

	atomic_store_explicit(&gt_hsa_adopt_queue, wait_for_end, memory_order_seq_cst);
	gt_word_take(&gt_wiped.adopt_lock); /* a helper may be giving a queue back */
	change_all(GT_HSA_QUEUE_LIVE, GT_HSA_QUEUE_LEAVING, epoch, NULL);
	have_gone_on = gt_late_wait_for_threads(most_ns);
	if (have_gone_on)
		change_all(GT_HSA_QUEUE_LEAVING, GT_HSA_QUEUE_LEFT, epoch, give_back);
	else
		change_all(GT_HSA_QUEUE_LEAVING, GT_HSA_QUEUE_LIVE, epoch, NULL);
	atomic_store_explicit(&gt_wiped.adopt_lock, 0, memory_order_release);
	atomic_store_explicit(&gt_hsa_adopt_queue, NULL, memory_order_release);
	return have_gone_on;
}

void gt_hsa_adopt_finish(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const struct gt_hsa_agent *a;

	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		for (struct gt_hsa_queue *q =
			     atomic_load_explicit(&a->queues, memory_order_acquire);
		     q; q = q->agent_next)
			if (q->ring.in_place && q->epoch == epoch && gt_hsa_queue_is_live(q))
				look_at_queue(q, GT_HSA_LOOK_AT_END);
}

void gt_hsa_adopt_end(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	uint64_t most_ns = LEAVE_NS;

	if (!atomic_load_explicit(&gt_hsa_adopt_queue, memory_order_relaxed))
		return;
	/* threads wait longer for a processor on an overloaded machine */
	for (int i = 0; i < LEAVE_TRIES && !give_all_back(epoch, most_ns); i++, most_ns *= 4)
		gt_hsa_sleep_ns(PAUSE_NS);
}
