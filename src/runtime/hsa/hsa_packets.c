/* SPDX-License-Identifier: MIT */
/* The packet handler. Runs in the thread that rings a queue's doorbell, between the program's ring
 * and the device's ring (hsa_ring.h).
 *
 * For each packet, in order of the packet numbers:
 *   1. The packet's submitter is looked up (hsa_submitters.h). A packet whose node reference is
 *      being created ends the loop, because the thread that creates the reference rings the
 *      doorbell afterwards.
 *   2. Tools get ENTER (hsa_callbacks.h). The queue does not advance until the tools' functions
 *      return, so packets that these functions submit come after this packet. Other threads that
 *      ring the doorbell wait at most ENTER_NS, then leave their packets to the helper.
 *   3. A kernel, and a barrier in `--mode hsa`, gets a slot with its activity in flight
 *      (hsa_fill.h) and a signal for its completion, and is handed on (hsa_completion.h). Every
 *      other packet is handed on unchanged.
 *   4. Tools get EXIT.
 * One ring of the doorbell hands up to GT_HSA_PACKETS_AT_ONCE packets to the device.
 *
 * Activities that cannot be followed (no free slot, recording is off) run as they would without
 * gputap, and are counted.
 *
 * Never here: allocation, locks, creation of signals, system calls except gt_hsa_wake_helper(). */
#include "runtime/hsa/hsa_packets.h"

#include <sched.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_completion.h"
#include "runtime/hsa/hsa_fill.h"
#include "runtime/hsa/hsa_tool_activities.h"

#define ROOM_NS  (1000 * GT_HSA_MS)
#define ENTER_NS (20 * GT_HSA_MS)

/* Find the call for a packet that a thread of the runtime reserved. */
static void match_submitter(struct gt_hsa_submitter *o, const struct gt_hsa_kernel *k,
			    const struct gt_hsa_kernel_packet *p)
{
	struct gt_submitted_activity activity = {.part = k ? (enum gt_graph_part)k->info.part
							   : GT_GRAPH_KERNEL,
						 .name = k ? k->info.name : 0};
	struct gt_submit_order *order = o->order;

	o->order = NULL;
	/* HIP stores the arguments of such kernels in host-readable memory. */
	if (activity.part != GT_GRAPH_KERNEL) {
		activity.words = (const uint64_t *)(uintptr_t)p->kernarg;
		activity.word_count = k->kernarg_bytes / 8;
	}
	gt_submit_order_match(order, k && k->internal ? NULL : &activity, o->sequence, &o->by);
}

/* Return true if the kernel is recorded. If false, the kernel is at most reported to tools. */
static bool is_recorded(const struct gt_hsa_kernel *k, const struct gt_hsa_submitter *o)
{
	bool graph = o && o->by.node.replay;

	if (gt_unlikely(!gt_hsa_is_recording() || gt_hsa_submitter_is_paused(o)) ||
	    (gt_unlikely(graph) && o->by.node.unobserved >> (k ? k->info.part : 0) & 1))
		return false;
	return gt_likely(!k || !(k->info.unwanted || k->info.part)) || (graph && o->by.node.span) ||
	       (!k->info.unwanted && gt_session_wants_copies(gt_recording.session));
}

static void leave_to_helper(struct gt_hsa_queue *q)
{
	atomic_store_explicit(&q->attention.unhandled, 1, memory_order_relaxed);
	gt_hsa_wake_helper(q->agent);
}

/* Submit a kernel. Return false if the kernel is not followed until it completes. */
static bool submit_kernel(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			  const struct gt_hsa_submitter *o, const struct gt_hsa_kernel *k,
			  struct gt_tool_activity *tool_activity, struct gt_thread *t)
{
	bool recorded = is_recorded(k, o),
	     in_span = gt_unlikely(o && o->by.node.replay) && o->by.node.span;
	struct gt_hsa_slot *s;

	if (gt_unlikely(!recorded && !tool_activity)) {
		gt_hsa_hand_on_unfollowed(q, from);
		return false;
	}
	if (gt_likely(recorded && !in_span))
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	s = gt_hsa_slots_take(&q->slots, &q->ring, q->agent);
	if (gt_unlikely(!s)) {
		if (recorded && in_span)
			gt_graph_span_lose_part(o->by.node.span, t);
		else if (recorded)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
		gt_hsa_hand_on_unfollowed(q, from);
		return false;
	}
	gt_hsa_fill_kernel(q, &s->activity, &from->kernel, o, k, t);
	s->activity.flags = recorded ? GT_HSA_ACTIVITY_RECORDED : 0;
	s->activity.tool_activity = tool_activity;
	gt_hsa_hand_on_followed(q, s, from);
	return true;
}

/* Submit a barrier packet of the program, or of HIP on its behalf. Return false if the barrier is
 * not followed. */
static bool submit_barrier(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			   const struct gt_hsa_submitter *o, bool recorded,
			   struct gt_tool_activity *tool_activity, struct gt_thread *t)
{
	struct gt_hsa_slot *s;

	if (recorded)
		gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	s = gt_hsa_slots_take(&q->slots, &q->ring, q->agent);
	if (gt_unlikely(!s)) {
		if (recorded)
			gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_POOL);
		gt_hsa_hand_on_unfollowed(q, from);
		return false;
	}
	gt_hsa_fill_barrier(q, &s->activity, &from->barrier, o ? &o->by : NULL, t);
	s->activity.flags = recorded ? GT_HSA_ACTIVITY_RECORDED : 0;
	s->activity.tool_activity = tool_activity;
	gt_hsa_hand_on_followed(q, s, from);
	return true;
}

/* The next four functions return false when this thread is no longer the ring's worker. */

/* Call EXIT after the packet has been handed on. @resumed: true if the tool's functions have
 * already received EXIT */
static bool notify_submitted(struct gt_hsa_queue *q, struct gt_tool_activity *tool_activity,
			     bool resumed, bool followed)
{
	if (!resumed)
		return gt_hsa_callbacks_exit(&q->callbacks, &q->ring, tool_activity, followed);
	if (!followed)
		gt_tool_activity_drop(tool_activity, true);
	return true;
}

/* Handle the most frequent packet: a kernel of the program in a call of HIP, without a completion
 * signal, that is only recorded. Like handle_kernel(), but without its other checks. Return false
 * if the packet is different, or no slot is ready. */
static inline GT_IN_LINE bool handle_plain_kernel(struct gt_hsa_queue *q,
						  const union gt_hsa_packet *from,
						  const struct gt_hsa_submitter *o,
						  const struct gt_hsa_kernel *k,
						  struct gt_thread *t)
{
	union gt_hsa_packet *p;
	struct gt_hsa_slot *s;

	if (gt_unlikely(!o || !k || k->info.part | k->info.unwanted || (!o->by.id && t->depth) ||
			(uintptr_t)o->order | o->by.node.replay | o->by.node.graph |
				from->kernel.completion_signal |
				(uintptr_t)q->callbacks.interrupted.tool_activity) ||
	    gt_unlikely(!gt_hsa_is_recording() || gt_tool_activity_asked(GT_DOMAIN_HSA_CORE)) ||
	    gt_unlikely(!gt_hsa_slots_are_half_free(&q->slots)))
		return false;
	s = gt_hsa_slots_take_used(&q->slots);
	if (gt_unlikely(!s))
		return false;
	gt_device_seen(t, GT_DOMAIN_HSA_CORE);
	gt_hsa_fill_common(q, &s->activity, GT_DEVICE_KERNEL, o->by.id, o->by.id ? o->by.start : 0);
	gt_hsa_fill_dispatch(&s->activity, &from->kernel, k->info.name, k->symbol);
	s->activity.flags = GT_HSA_ACTIVITY_RECORDED;
	s->activity.tool_activity = NULL;
	s->watch.signal = s->ours;
	p = gt_hsa_ring_copy(&q->ring, from);
	p->kernel.completion_signal = (uintptr_t)s->ours;
	s->activity.queued = gt_ticks();
	gt_hsa_hand_on(q, s, p, from, GT_HSA_BY_ITS_SIGNAL);
	return true;
}

static bool handle_kernel(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			  struct gt_hsa_submitter *o, const struct gt_hsa_kernel *k,
			  struct gt_thread *t)
{
	struct gt_tool_activity *tool_activity = NULL;
	bool resumed = gt_unlikely(q->callbacks.interrupted.tool_activity != NULL), followed;

	if (gt_unlikely(o && o->order))
		match_submitter(o, k, &from->kernel);
	if (resumed) {
		tool_activity = gt_hsa_callbacks_resume_enter(&q->callbacks);
	} else if (gt_unlikely(gt_tool_activity_asked(GT_DOMAIN_HSA_CORE))) {
		tool_activity = gt_hsa_tool_activity_of_kernel(q, o, k, &from->kernel);
		if (tool_activity &&
		    !gt_hsa_callbacks_enter(&q->callbacks, &q->ring, &tool_activity))
			return false;
	}
	followed = submit_kernel(q, from, o, k, tool_activity, t);
	if (gt_likely(!tool_activity))
		return true;
	return notify_submitted(q, tool_activity, resumed, followed);
}

/* Handle a barrier packet. *handed_on: false if barriers are not wanted */
static bool handle_barrier(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			   struct gt_hsa_submitter *o, struct gt_thread *t, bool *handed_on)
{
	bool recorded =
		gt_unlikely(q->barriers) && gt_hsa_is_recording() && !gt_hsa_submitter_is_paused(o);
	bool resumed = gt_unlikely(q->callbacks.interrupted.tool_activity != NULL), followed;
	struct gt_tool_activity *tool_activity = NULL;

	if (resumed) {
		tool_activity = gt_hsa_callbacks_resume_enter(&q->callbacks);
	} else if (gt_unlikely(gt_tool_activity_asked(GT_DOMAIN_HSA_CORE) &
			       GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_BARRIER))) {
		tool_activity = gt_hsa_tool_activity_of_barrier(q, o);
		if (tool_activity &&
		    !gt_hsa_callbacks_enter(&q->callbacks, &q->ring, &tool_activity))
			return false;
	}
	*handed_on = recorded || tool_activity;
	if (gt_likely(!*handed_on))
		return true;
	followed = submit_barrier(q, from, o, recorded, tool_activity, t);
	if (!tool_activity)
		return true;
	return notify_submitted(q, tool_activity, resumed, followed);
}

static bool handle_packet(struct gt_hsa_queue *q, const union gt_hsa_packet *from,
			  struct gt_hsa_submitter *o, struct gt_thread *t)
{
	uint32_t type = GT_HSA_PACKET_TYPE(from->kernel.header);
	bool handed_on = false;

	if (gt_likely(type == GT_HSA_PACKET_KERNEL)) {
		const struct gt_hsa_kernel *k = gt_hsa_kernel_find(from->kernel.kernel_object);

		return gt_likely(handle_plain_kernel(q, from, o, k, t)) ||
		       handle_kernel(q, from, o, k, t);
	}
	if (gt_unlikely(o && o->order)) {
		gt_submit_order_match(o->order, NULL, o->sequence, NULL);
		o->order = NULL;
	}
	if (type == GT_HSA_PACKET_BARRIER_AND || type == GT_HSA_PACKET_BARRIER_OR)
		if (!handle_barrier(q, from, o, t, &handed_on))
			return false;
	if (handed_on)
		return true;
	if (gt_unlikely(atomic_load_explicit(&q->submitters.has_items, memory_order_relaxed)) && o)
		gt_hsa_submitter_set_tool_activity(&q->submitters, o, false);
	gt_hsa_hand_on_unfollowed(q, from);
	return true;
}

/* Wait for room, because more packets are in flight than the program's ring holds. A program that
 * releases its first packet only when its queue is full would block forever here, so the wait ends
 * after ROOM_NS without progress. Return false if the helper must do the rest. */
static bool wait_for_room(struct gt_hsa_queue *q, bool wait)
{
	struct gt_hsa_ring *ring = &q->ring;
	uint64_t known = ring->read_known, since = gt_hsa_boottime_ns();

	if (!wait || atomic_load_explicit(&q->attention.unhandled, memory_order_relaxed))
		return false;
	gt_hsa_ring_notify(ring);
	for (uint32_t n = 0; !gt_hsa_ring_has_room(ring); n++) {
		if (n < GT_HSA_SPINS)
			continue;
		if (ring->read_known != known) {
			known = ring->read_known;
			since = gt_hsa_boottime_ns();
		} else if (gt_hsa_boottime_ns() - since > ROOM_NS) {
			return false;
		}
		sched_yield();
	}
	return true;
}

/* Hand on a packet without recording it or notifying tools: in a forked child, or at the end of the
 * process. */
static void pass_silently(struct gt_hsa_queue *q, const union gt_hsa_packet *from)
{
	struct gt_tool_activity *tool_activity =
		q->callbacks.interrupted.tool_activity
			? gt_hsa_callbacks_resume_enter(&q->callbacks)
			: NULL;

	if (tool_activity)
		gt_tool_activity_drop(tool_activity, true);
	gt_hsa_hand_on_unfollowed(q, from);
}

/* Handle all written packets for which there is room. Return false if this thread is no longer the
 * ring's worker. */
static bool handle_packets(struct gt_hsa_queue *q, uint64_t index, bool wait, struct gt_thread *t)
{
	struct gt_hsa_ring *ring = &q->ring;
	const union gt_hsa_packet *from;
	struct gt_hsa_submitter *o;
	uint64_t marks;

	if (gt_unlikely(q->callbacks.interrupted.tool_activity && !q->callbacks.interrupted.enter))
		gt_hsa_callbacks_resume_exit(&q->callbacks);
	gt_hsa_ring_look(ring, index);
	while ((from = gt_hsa_ring_next(ring)) != NULL) {
		if (gt_unlikely(!gt_hsa_ring_has_room(ring)) && !wait_for_room(q, wait))
			break;
		if (gt_unlikely(!wait) && t && !gt_hsa_slots_can_take(&q->slots))
			break;
		o = gt_hsa_submitter_find(&q->submitters, ring->taken, &marks);
		if (gt_unlikely(!t)) {
			pass_silently(q, from);
		} else if (gt_likely(!marks)) {
			if (gt_unlikely(!handle_packet(q, from, o, t)))
				return false;
		} else if (marks & GT_HSA_DEFERRED) {
			from = NULL; /* the thread that creates the reference rings later */
			break;
		} else {
			gt_hsa_hand_on_unfollowed(q, from);
		}
		if (ring->last - ring->notified >= GT_HSA_PACKETS_AT_ONCE)
			gt_hsa_ring_notify(ring);
	}
	gt_hsa_ring_notify(ring);
	if (gt_unlikely(from != NULL))
		leave_to_helper(q);
	return true;
}

enum gt_hsa_ring_entry gt_hsa_wait_to_enter(struct gt_hsa_queue *q)
{
	uint64_t since = gt_hsa_boottime_ns();
	uintptr_t me = (uintptr_t)&gt_thread;
	enum gt_hsa_ring_entry how;

	for (uint32_t n = 0; (how = gt_hsa_ring_enter(&q->ring, me)) == GT_HSA_RING_BUSY; n++) {
		if (n < GT_HSA_SPINS)
			continue;
		if (gt_hsa_boottime_ns() - since > ENTER_NS)
			break;
		sched_yield();
	}
	return how;
}

void gt_hsa_handle_written(struct gt_hsa_queue *q, uint64_t index, bool wait,
			   enum gt_hsa_ring_entry how)
{
	struct gt_thread *t = gt_thread_own();
	uintptr_t me = (uintptr_t)&gt_thread;

	if (gt_unlikely(t && q->epoch != t->epoch))
		t = NULL;
	for (;; how = gt_hsa_ring_enter(&q->ring, me)) {
		if (gt_unlikely(how == GT_HSA_RING_BUSY) && wait)
			how = gt_hsa_wait_to_enter(q);
		if (gt_unlikely(how == GT_HSA_RING_NOTED) &&
		    gt_hsa_callbacks_were_left(&q->callbacks, __builtin_frame_address(0)))
			how = GT_HSA_RING_ENTERED;
		if (gt_unlikely(how != GT_HSA_RING_ENTERED)) {
			if (how == GT_HSA_RING_BUSY)
				leave_to_helper(q);
			return;
		}
		if (gt_unlikely(!handle_packets(q, index, wait, t)) ||
		    gt_likely(gt_hsa_ring_leave(&q->ring)))
			return;
	}
}

void gt_hsa_check_callback(struct gt_hsa_queue *q)
{
	if (!gt_hsa_callbacks_take_over(&q->callbacks))
		return;
	atomic_store_explicit(&q->ring.worker, (uintptr_t)&gt_thread, memory_order_relaxed);
	gt_hsa_handle_written(q, 0, false, GT_HSA_RING_ENTERED);
}
