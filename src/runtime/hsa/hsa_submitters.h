/* SPDX-License-Identifier: MIT */
/* Maps a queue's packet numbers to the calls that reserved them.
 *
 *   all[number & mask]       a submitter for each packet that may be in flight; twice as many
 *                            entries, because a thread may reserve a number before there is room
 *   cached[number % 16]      submitters of packets that are handled immediately, as most are:
 *                            few entries that stay in the cache
 *   unobserved[number % 64]  number + 1 of a packet that is not wanted and is handled soon
 *
 * Steps:
 *   1. The thread that reserves a number writes its entry, then the packet.
 *   2. The thread stores the packet's header (release) and rings the doorbell.
 *   3. The thread that handles the packet has read its header (acquire), so it sees the entry.
 * An entry in `cached` or `unobserved` is reused only after its previous packet has been handled,
 * which the program's read index (acquire) shows. `packet` distinguishes entries of different
 * rounds. */
#ifndef GPUTAP_RUNTIME_HSA_SUBMITTERS_H
#define GPUTAP_RUNTIME_HSA_SUBMITTERS_H

#include "runtime/hsa/hsa_ring.h"
#include "runtime/hsa/hsa_runtime.h"
#include "runtime/submit_order.h"
#include "tool/tool_activity.h"

/* Mark in `packet`: the packet is not wanted, and the rest of the entry is not set. */
#define GT_HSA_UNOBSERVED (UINT64_C(1) << 63)
/* Mark in `packet`: the packet must not be handled yet, because its node reference is being
 * created. */
#define GT_HSA_DEFERRED   (UINT64_C(1) << 62)
#define GT_HSA_MARKS      (GT_HSA_UNOBSERVED | GT_HSA_DEFERRED)

/* The call that reserved a packet. Most packets need only the first cache line. */
struct gt_hsa_submitter {
	_Alignas(64) uint64_t packet; /* number + 1, combined with GT_HSA_MARKS */
	_Atomic(struct gt_tool_activity *)
		tool_activity; /* for tools; NULL: no tool wants the packet */
	/* For a packet of a runtime thread, until its call is known. */
	struct gt_submit_order *order;
	struct gt_submitter by;
	uint32_t sequence; /* position in `order` */
};
static_assert(offsetof(struct gt_hsa_submitter, by.node.replay) < 64,
	      "for a packet outside graphs, only this cache line is read");

enum { GT_HSA_CACHED = 16, GT_HSA_UNOBSERVED_CACHED = 64 };

struct gt_hsa_submitters {
	/* constant */
	struct gt_hsa_submitter *all, *cached;
	uint64_t mask; /* mask for `all` */
	/* Written by reserving threads. */
	uint64_t unobserved[GT_HSA_UNOBSERVED_CACHED];
	_Atomic bool has_items; /* true if any entry has, or had, a tool activity */
};

/* Return the entry for a packet that is being reserved: a cached entry, if its previous packet has
 * been handled. */
static inline struct gt_hsa_submitter *gt_hsa_submitter_new(struct gt_hsa_submitters *s,
							    const struct gt_hsa_ring *ring,
							    uint64_t number)
{
	if (gt_likely(number - atomic_load_explicit(ring->theirs_read, memory_order_acquire) <
		      GT_HSA_CACHED))
		return &s->cached[number % GT_HSA_CACHED];
	return &s->all[number & s->mask];
}

/* Return the submitter of the next packet, or NULL if not known. *marks: GT_HSA_UNOBSERVED,
 * GT_HSA_DEFERRED, or 0 */
static inline struct gt_hsa_submitter *gt_hsa_submitter_find(struct gt_hsa_submitters *s,
							     uint64_t number, uint64_t *marks)
{
	struct gt_hsa_submitter *o = &s->cached[number % GT_HSA_CACHED];

	*marks = __atomic_load_n(&o->packet, __ATOMIC_ACQUIRE) ^ (number + 1);
	if (gt_likely(!(*marks & ~GT_HSA_MARKS)))
		return o;
	if (__atomic_load_n(&s->unobserved[number % GT_HSA_UNOBSERVED_CACHED], __ATOMIC_RELAXED) ==
	    number + 1) {
		*marks = GT_HSA_UNOBSERVED;
		return NULL;
	}
	o = &s->all[number & s->mask]; /* not in `cached` */
	*marks = __atomic_load_n(&o->packet, __ATOMIC_ACQUIRE) ^ (number + 1);
	if (!(*marks & ~GT_HSA_MARKS))
		return o;
	*marks = 0;
	return NULL;
}

/* Return the submitter of a packet that must not be handled yet, or NULL if the packet may be
 * handled. */
static inline struct gt_hsa_submitter *gt_hsa_submitter_find_deferred(struct gt_hsa_submitters *s,
								      uint64_t number)
{
	struct gt_hsa_submitter *o = &s->cached[number % GT_HSA_CACHED];
	uint64_t packet = __atomic_load_n(&o->packet, __ATOMIC_RELAXED);

	if (gt_likely((packet & ~GT_HSA_MARKS) == number + 1))
		return gt_unlikely(packet & GT_HSA_DEFERRED) ? o : NULL;
	o = &s->all[number & s->mask]; /* not in `cached` */
	return __atomic_load_n(&o->packet, __ATOMIC_RELAXED) == ((number + 1) | GT_HSA_DEFERRED)
		       ? o
		       : NULL;
}

/* Note that the packet being reserved is not wanted. */
static inline GT_IN_LINE void gt_hsa_submitter_skip(struct gt_hsa_submitters *s,
						    const struct gt_hsa_ring *ring, uint64_t number)
{
	if (gt_likely(number - atomic_load_explicit(ring->theirs_read, memory_order_acquire) <
		      GT_HSA_UNOBSERVED_CACHED))
		__atomic_store_n(&s->unobserved[number % GT_HSA_UNOBSERVED_CACHED], number + 1,
				 __ATOMIC_RELAXED);
	else
		__atomic_store_n(&s->all[number & s->mask].packet, (number + 1) | GT_HSA_UNOBSERVED,
				 __ATOMIC_RELAXED);
}

/* Return true if a packet is not wanted. Used for packets that are not handled soon. */
static inline bool gt_hsa_submitter_is_skipped(const struct gt_hsa_submitters *s, uint64_t number)
{
	uint64_t packet = (number + 1) | GT_HSA_UNOBSERVED;

	return __atomic_load_n(&s->cached[number % GT_HSA_CACHED].packet, __ATOMIC_ACQUIRE) ==
		       packet ||
	       __atomic_load_n(&s->all[number & s->mask].packet, __ATOMIC_ACQUIRE) == packet;
}

/* Return true if an activity was launched while the program paused recording. @o: its submitter;
 * NULL: not known, the activity then counts as launched now */
static inline bool gt_hsa_submitter_is_paused(const struct gt_hsa_submitter *o)
{
	return o ? gt_node_ref_is_paused(&o->by.node) : !gt_hsa_records_launches();
}

/* Note that this thread has reserved packets [from, from + count) of a queue. @handle: the
 * program's handle for the queue */
void gt_hsa_submitters_note(struct gt_hsa_submitters *s, const struct gt_hsa_ring *ring,
			    const void *handle, uint64_t from, uint64_t count);

/* Do the work of gt_hsa_submitters_note() quickly for most packets. Return false if the packets
 * need that function. */
static inline GT_IN_LINE bool gt_hsa_submitters_note_plain(struct gt_hsa_submitters *s,
							   const struct gt_hsa_ring *ring,
							   const void *handle, uint64_t from,
							   uint64_t count)
{
	struct gt_graph_launch *graph = gt_thread.graph;

	if (gt_unlikely(graph != NULL)) {
		if (graph->unobserved_left && count == 1 && graph->queue == handle &&
		    !graph->deferred_in &&
		    gt_likely(!atomic_load_explicit(&s->has_items, memory_order_relaxed))) {
			graph->unobserved_left--;
			gt_hsa_submitter_skip(s, ring, from);
			return true;
		}
	} else if (gt_likely(count == 1 &&
			     !((uintptr_t)gt_thread.submit_order | gt_thread.api_bytes) &&
			     !gt_tool_activity_asked(GT_DOMAIN_HSA_CORE) &&
			     gt_hsa_records_launches())) {
		struct gt_hsa_submitter *o = gt_hsa_submitter_new(s, ring, from);

		if (gt_likely(!atomic_load_explicit(&o->tool_activity, memory_order_relaxed))) {
			o->packet = from + 1;
			o->by.id = gt_thread.api_id;
			o->by.start = gt_thread.api_start;
			o->by.bytes = 0;
			o->order = NULL;
			o->by.node.graph = o->by.node.replay = 0;
			return true;
		}
	}
	return false;
}

/* Create or clear the packet's tool activity. If an earlier packet was never handled, return its
 * leftover tool activity to the pool. */
void gt_hsa_submitter_set_tool_activity(struct gt_hsa_submitters *s, struct gt_hsa_submitter *o,
					bool wanted);

#endif
