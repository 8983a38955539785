/* SPDX-License-Identifier: MIT */
/* A followed queue of the program, made of parts. Each part has its own writers:
 *
 *   constant            set before the queue can be found
 *   submitters          threads that reserve packet numbers    (hsa_submitters.h)
 *   ring                the thread at work in the ring         (hsa_ring.h)
 *   slots               the same, and the harvester            (hsa_slots.h)
 *   callbacks           the same, and the helper               (hsa_callbacks.h)
 *   moved               the thread at work in the ring         (hsa_fill.h)
 *   attention           any thread, and the helper             (hsa_proxy.c)
 *   scratch             threads of the runtime                 (hsa_scratch.c)
 *
 * Entries are found from the program's pointer and never freed: a thread may look at one at any
 * time. The memory of its parts is freed when it is destroyed and harvested. */
#ifndef GPUTAP_RUNTIME_HSA_QUEUE_H
#define GPUTAP_RUNTIME_HSA_QUEUE_H

#include "runtime/hsa/hsa_callbacks.h"
#include "runtime/hsa/hsa_slots.h"
#include "runtime/hsa/hsa_submitters.h"

enum gt_hsa_queue_state {
	GT_HSA_QUEUE_LIVE = 1,
	/* the program is destroying it: its memory and the runtime's must not be accessed any
	 * more */
	GT_HSA_QUEUE_CLOSING,
	/* destroyed in the program: harvest completed activities, count the others */
	GT_HSA_QUEUE_DESTROYED,
	GT_HSA_QUEUE_ENDING, /* completed activities are harvested: the helper ends it */
	GT_HSA_QUEUE_GONE,   /* ended; no longer found */
};

enum { GT_HSA_MOVERS = 64 }; /* threads beyond that share an entry */

/* Last call of each thread whose bytes a kernel has already been given, in the record and for
 * tools. */
struct gt_hsa_moved {
	uint64_t recorded[GT_HSA_MOVERS], notified[GT_HSA_MOVERS];
};

/* Tasks for the helper. */
struct gt_hsa_attention {
	_Atomic uint32_t unhandled; /* packets were left in the program's ring */
	_Atomic uint32_t holders;   /* launches that may be holding packets back */
	/* the helper's: number of packets that had gone on at its last look, if some were held
	 * back */
	uint64_t gone_seen;
};

/* Current or last change of a queue's scratch memory. */
struct gt_hsa_scratch {
	uint64_t start;      /* system time; 0: not started */
	uint64_t id, called; /* call that caused it, and that call's start; 0: not known */
	uint64_t address;
	struct gt_activity *item;
};

struct gt_hsa_queue {
	/* constant */
	struct gt_hsa_queue *hash_next, *bell_next;
	_Atomic(struct gt_hsa_queue *) agent_next; /* of an agent, newest first; never shrinks */
	void *handle; /* hsa_queue_t as the program has it: the proxy */
	struct gt_hsa_queue_abi *proxy;
	void *real;                 /* the runtime's */
	struct gt_hsa_signal *bell; /* the proxy's doorbell */
	struct gt_hsa_agent *agent;
	uint64_t number;
	uint64_t born_ns;
	gt_hsa_queue_callback *callback; /* the program's callback, and its data */
	void *callback_data;
	/* true if recorded, with these names: string ids of barrier-and, barrier-or */
	bool barriers;
	uint32_t barrier_names[2];
	uint32_t epoch; /* process in which it was made: a fork's child has no such queue */
	struct gt_tool_object *object;
	/* written in the thread that creates or destroys it */
	_Atomic uint32_t users; /* how often the program has obtained it and not yet destroyed it */
	_Atomic uint32_t state;

	struct gt_hsa_submitters submitters;
	struct gt_hsa_ring ring;
	struct gt_hsa_callbacks callbacks;
	struct gt_hsa_moved moved;
	struct gt_hsa_attention attention;
	struct gt_hsa_slots slots;
	struct gt_hsa_scratch scratch[GT_HSA_SCRATCH_OPERATIONS];
};

enum { GT_HSA_BUCKET_BITS = 8 };
extern _Atomic(struct gt_hsa_queue *) gt_hsa_queue_buckets[1 << GT_HSA_BUCKET_BITS]
	__attribute__((visibility("hidden")));
static inline _Atomic(struct gt_hsa_queue *) *gt_hsa_queue_bucket(const void *handle)
{
	return &gt_hsa_queue_buckets[(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >>
				     (64 - GT_HSA_BUCKET_BITS)];
}

static inline bool gt_hsa_queue_is_live(const struct gt_hsa_queue *q)
{
	return atomic_load_explicit(&q->state, memory_order_relaxed) == GT_HSA_QUEUE_LIVE;
}

/* Find a queue, lock-free. Return NULL if it is not followed. */
static inline struct gt_hsa_queue *gt_hsa_queue_find(const void *handle)
{
	struct gt_hsa_queue *q =
		atomic_load_explicit(gt_hsa_queue_bucket(handle), memory_order_acquire);

	while (q && gt_unlikely(q->handle != handle || !gt_hsa_queue_is_live(q)))
		q = q->hash_next;
	return q;
}

/* Allocate an entry and the memory of its parts, for a queue of @size packets. Return NULL if out
 * of memory. */
struct gt_hsa_queue *gt_hsa_queue_make(struct gt_hsa_agent *a, uint32_t size, struct gt_thread *t);
/* Free a queue that was never published. */
void gt_hsa_queue_free(struct gt_hsa_queue *q);
/* Make the queue findable from q->handle. */
void gt_hsa_queue_publish(struct gt_hsa_queue *q);
/* Create signals for slots that have none yet and will be used soon, at most @most of them. Return
 * false if there are enough. */
bool gt_hsa_queue_arm(struct gt_hsa_queue *q, uint32_t most);
/* Free a queue's signals and memory, in the helper, when the program has destroyed the queue and
 * its activities are harvested. */
void gt_hsa_queue_end(struct gt_hsa_queue *q);

#endif
