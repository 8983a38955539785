/* SPDX-License-Identifier: MIT */
/* Handles launches of graphs. A launch (runtime/graph_nodes.h) rings the doorbell for each packet.
 * Packets that are not observed are held back and handed on in runs.
 *
 * Steps, in the launching thread:
 *   1. The thread rings for a packet that is not observed. If the run is shorter than `held_max`,
 *      the packet is only counted (`held`), and the launch is counted in the queue's `holders`.
 *   2. The thread rings for the packet that ends the run. The whole run goes to the device at once.
 *   3. The launch returns, or the thread reads the queue's read index and thus may wait for the
 *      device. In both cases the thread calls gt_hsa_flush_held().
 * Any other thread that rings, or that handles packets for another reason, also hands on held
 * packets, because packets are handed on in order. A packet that completes a signal is not held, so
 * no thread can wait for a held packet. The helper covers the remaining case: if no packet was
 * handed on between two of its looks, it hands on the held packets (hsa_proxy.c).
 *
 * So that the device always has enough packets, the length of a run is at most an eighth of the
 * packets already handed on, and at most an eighth of the packets left in the launch. */
#include "runtime/hsa/hsa_graph_batch.h"

#include "runtime/hsa/hsa_code.h"
#include "runtime/hsa/hsa_completion.h"
#include "runtime/hsa/hsa_fill.h"
#include "runtime/hsa/hsa_packets.h"

static __attribute__((noinline)) void notify_and_leave(struct gt_hsa_queue *q, uint64_t index,
						       bool wait)
{
	gt_hsa_ring_notify(&q->ring);
	if (gt_unlikely(!gt_hsa_ring_leave(&q->ring)))
		gt_hsa_handle_written(q, index, wait,
				      gt_hsa_ring_enter(&q->ring, (uintptr_t)&gt_thread));
}

static __attribute__((noinline)) bool is_skipped(const struct gt_hsa_queue *q, uint64_t number)
{
	return gt_hsa_submitter_is_skipped(&q->submitters, number);
}

/* Return how many of the next packets, at most @most, are written, not wanted, and complete no
 * signal. */
static inline GT_IN_LINE uint64_t count_skipped(const struct gt_hsa_queue *q, uint64_t most)
{
	const struct gt_hsa_ring *ring = &q->ring;
	const uint64_t *unobserved = q->submitters.unobserved;
	uint64_t from = ring->taken, end = ring->limit - from < most ? ring->limit : from + most, i;

	for (i = from; i < end; i++) {
		const struct gt_hsa_kernel_packet *p = &ring->theirs[i & ring->theirs_mask].kernel;

		if (gt_unlikely(GT_HSA_PACKET_TYPE(__atomic_load_n(&p->header, __ATOMIC_ACQUIRE)) ==
				GT_HSA_PACKET_INVALID) ||
		    (gt_unlikely(__atomic_load_n(&unobserved[i % GT_HSA_UNOBSERVED_CACHED],
						 __ATOMIC_RELAXED) != i + 1) &&
		     !is_skipped(q, i)) ||
		    gt_unlikely(p->completion_signal))
			break;
	}
	return i - from;
}

/* Handle packets in a thread that launches a graph. A run of unobserved packets is handed on as in
 * the packet loop, but without the checks needed for other packets. The loop handles all other
 * packets and rare cases, so the only calls here are tail calls. */
static __attribute__((noinline)) void handle_for_graph(struct gt_hsa_queue *q, uint64_t index,
						       bool wait,
						       const struct gt_graph_launch *graph)
{
	struct gt_hsa_ring *ring = &q->ring;
	enum gt_hsa_ring_entry how = gt_hsa_ring_enter(ring, (uintptr_t)&gt_thread);
	uint64_t room, run;

	if (gt_unlikely(how != GT_HSA_RING_ENTERED) || graph->queue != q->handle ||
	    gt_unlikely(q->callbacks.interrupted.tool_activity != NULL)) {
		gt_hsa_handle_written(q, index, wait, how);
		return;
	}
	gt_hsa_ring_look(ring, index);
	room = gt_hsa_ring_had_room(ring, GT_HSA_PACKETS_AT_ONCE);
	run = count_skipped(q, room);
	if (gt_likely(run))
		gt_hsa_ring_pass(ring, run);
	if (gt_unlikely(gt_hsa_ring_next(ring) != NULL)) {
		gt_hsa_handle_written(q, index, wait, how);
		return;
	}
	notify_and_leave(q, index, wait);
}

/* Handle packets that were reserved together. The packets must have been written. */
static __attribute__((noinline)) void handle_deferred(struct gt_hsa_queue *q, uint64_t index,
						      bool wait)
{
	gt_hsa_assign_deferred(gt_thread.graph, false);
	handle_for_graph(q, index, wait, gt_thread.graph);
}

void gt_hsa_handle_packets(struct gt_hsa_queue *q, uint64_t index, bool wait)
{
	const struct gt_graph_launch *graph = gt_thread.graph;

	if (gt_likely(!graph))
		gt_hsa_handle_written(q, index, wait,
				      gt_hsa_ring_enter(&q->ring, (uintptr_t)&gt_thread));
	else if (gt_likely(!graph->deferred_in))
		handle_for_graph(q, index, wait, graph);
	else
		handle_deferred(q, index, wait);
}

/* Do step 1: hold the packet if possible. A packet cannot be held if a thread may wait for this
 * packet or for a later one. If a later packet has been reserved, the thread that reserved it may
 * already have rung the doorbell; its packet then waits for this run. */
static inline GT_IN_LINE bool hold_packet(struct gt_hsa_queue *q, uint64_t index,
					  struct gt_graph_launch *graph)
{
	struct gt_hsa_ring *ring = &q->ring;
	uint64_t left = graph->unobserved_left, runs;

	if (graph->queue != q->handle)
		return false;
	if (graph->held < graph->held_max && left && !graph->deferred_in &&
	    gt_likely(atomic_load_explicit(ring->theirs_write, memory_order_relaxed) ==
		      index + 1) &&
	    gt_likely(!ring->theirs[index & ring->theirs_mask].kernel.completion_signal)) {
		gt_hsa_fetch(&ring->theirs[(index + 1) & ring->theirs_mask]);
		gt_hsa_fetch(
			&ring->device[(atomic_load_explicit(ring->write, memory_order_relaxed) +
				       graph->held) &
				      ring->device_mask]);
		graph->held++;
		if (gt_unlikely(!graph->held_in)) {
			graph->held_in = q;
			atomic_fetch_add_explicit(&q->attention.holders, 1, memory_order_relaxed);
		}
		return true;
	}
	graph->held = 0;
	runs = graph->unobserved_all - left < left ? graph->unobserved_all - left : left;
	graph->held_max = runs / 8 < GT_HSA_PACKETS_AT_ONCE - 1 ? (uint32_t)(runs / 8)
								: GT_HSA_PACKETS_AT_ONCE - 1;
	return false;
}

void gt_hsa_on_doorbell(struct gt_hsa_queue *q, uint64_t index)
{
	struct gt_graph_launch *graph = gt_thread.graph;

	if (gt_unlikely(graph != NULL) && hold_packet(q, index, graph))
		return;
	gt_hsa_handle_packets(q, index, true);
}

void gt_hsa_flush_held(struct gt_graph_launch *graph)
{
	struct gt_hsa_queue *q = graph->held_in;

	if (!q)
		return;
	graph->held_in = NULL;
	if (graph->held && gt_hsa_queue_is_live(q)) {
		graph->held = 0;
		gt_hsa_handle_packets(q, 0, true);
	}
	atomic_fetch_sub_explicit(&q->attention.holders, 1, memory_order_relaxed);
}

void gt_hsa_assign_deferred(struct gt_graph_launch *graph, bool handle)
{
	struct gt_hsa_queue *q = graph->deferred_in;

	graph->deferred_in = NULL;
	for (uint64_t i = graph->deferred_from; i < graph->deferred_from + graph->deferred_count;
	     i++) {
		struct gt_hsa_submitter *o = gt_hsa_submitter_find_deferred(&q->submitters, i);
		uint64_t packet = i + 1;

		if (!o)
			continue;
		if (graph->unobserved_left && graph->queue == q->handle &&
		    !atomic_load_explicit(&q->submitters.has_items, memory_order_relaxed)) {
			graph->unobserved_left--;
			packet |= GT_HSA_UNOBSERVED;
		} else {
			gt_graph_assign_node(graph, q->handle, i, &o->by.node);
		}
		__atomic_store_n(&o->packet, packet, __ATOMIC_RELEASE);
	}
	if (handle)
		gt_hsa_handle_packets(q, 0, true);
}

static const struct gt_kernel_info *get_kernel(const void *queue, uint64_t number,
					       const uint32_t **grid)
{
	const struct gt_hsa_queue_abi *abi = queue;
	const union gt_hsa_packet *packets = abi->base_address,
				  *p = &packets[number & (abi->size - 1)];
	/* in a barrier packet, the last dependency is here */
	uint64_t object = p->kernel.kernel_object;
	const struct gt_hsa_kernel *k = object ? gt_hsa_kernel_find(object) : NULL;

	/* The header is meaningless once the packet has been handled. */
	*grid = k || GT_HSA_PACKET_TYPE(p->kernel.header) == GT_HSA_PACKET_KERNEL ? p->kernel.grid
										  : NULL;
	return k ? &k->info : NULL;
}

static void mark_end(const void *queue, const struct gt_node_ref *ref)
{
	struct gt_hsa_queue *q = gt_hsa_queue_find(queue);
	struct gt_thread *t = gt_thread_own();
	union gt_hsa_packet p = {.barrier.header =
					 GT_HSA_PACKET_BARRIER_AND | GT_HSA_PACKET_BARRIER_BIT};
	struct gt_hsa_slot *s = NULL;

	if (q && t && gt_hsa_ring_is_large(&q->ring) &&
	    gt_hsa_wait_to_enter(q) == GT_HSA_RING_ENTERED) {
		if (gt_hsa_ring_has_room(&q->ring))
			s = gt_hsa_slots_take(&q->slots, &q->ring, q->agent);
		if (s) {
			gt_hsa_fill_barrier(q, &s->activity, &p.barrier,
					    &(struct gt_submitter){.id = t->api_id,
								   .start = t->api_start,
								   .node = *ref},
					    t);
			s->activity.span = ref->span;
			s->activity.flags = GT_HSA_ACTIVITY_RECORDED;
			s->activity.tool_activity = NULL;
			s->watch.signal = s->ours;
			p.barrier.completion_signal = (uintptr_t)s->ours;
			gt_hsa_slots_submit(&q->slots, s, GT_HSA_ACTIVITY_PENDING);
			gt_hsa_ring_insert(&q->ring, &p);
			gt_hsa_ring_notify(&q->ring);
			gt_hsa_wake_long_sleeper(q->agent);
		}
		if (!gt_hsa_ring_leave(&q->ring))
			gt_hsa_handle_packets(q, 0, true);
	}
	if (!s)
		gt_graph_span_lose_part(ref->span, t);
}

GT_PROVIDE(gt_graph_packets) = {
	.get_kernel = get_kernel,
	.assign_deferred = gt_hsa_assign_deferred,
	.flush_held = gt_hsa_flush_held,
	.mark_end = mark_end,
};
