/* SPDX-License-Identifier: MIT */
/* A followed queue of the program. Each of its parts has separate writers:
 *
 *   constant            set before the queue can be found
 *   submitters          threads that reserve packet numbers    (hsa_submitters.h)
 *   ring                the ring's worker                      (hsa_ring.h)
 *   slots               the ring's worker, and the harvester   (hsa_slots.h)
 *   callbacks           the ring's worker, and the helper      (hsa_callbacks.h)
 *   moved               the ring's worker                      (hsa_fill.h)
 *   attention           any thread, and the helper             (hsa_proxy.c)
 *   adopted             reserving threads, the ring's worker   (hsa_adopt.c)
 *   scratch             threads of the runtime                 (hsa_scratch.c)
 *
 * Entries are found from the program's pointer and never freed, because a thread may read an entry
 * at any time. The memory of the parts is freed once the queue is destroyed and harvested. */
#ifndef GPUTAP_RUNTIME_HSA_QUEUE_H
#define GPUTAP_RUNTIME_HSA_QUEUE_H

#include "runtime/hsa/hsa_callbacks.h"
#include "runtime/hsa/hsa_slots.h"
#include "runtime/hsa/hsa_submitters.h"

enum gt_hsa_queue_state {
	GT_HSA_QUEUE_LIVE = 1,
	/* An adopted queue is given back to the program, which waits before it uses the queue. */
	GT_HSA_QUEUE_LEAVING,
	/* The program uses the queue without gputap: harvest its activities in flight. */
	GT_HSA_QUEUE_LEFT,
	/* The program is destroying the queue: its memory, including the runtime's, must not be
	 * accessed. */
	GT_HSA_QUEUE_CLOSING,
	/* The program has destroyed the queue: harvest completed activities, count the others. */
	GT_HSA_QUEUE_DESTROYED,
	GT_HSA_QUEUE_ENDING, /* completed activities are harvested: the helper frees the parts */
	GT_HSA_QUEUE_GONE,   /* freed; no longer found */
};

enum { GT_HSA_MOVERS = 64 }; /* threads beyond this number share an entry */

/* For each thread, the id of the last call whose bytes have been assigned to a kernel: in records,
 * and in notifications of tools. */
struct gt_hsa_moved {
	uint64_t recorded[GT_HSA_MOVERS], notified[GT_HSA_MOVERS];
};

/* Tasks for the helper. */
struct gt_hsa_attention {
	_Atomic uint32_t unhandled; /* true if packets were left in the program's ring */
	_Atomic uint32_t holders;   /* number of launches that may be holding packets back */
	/* Used by the helper: number of packets that had been handed on when the helper last found
	 * packets held back. */
	uint64_t gone_seen;
};

/* When to look at an adopted queue: before the program uses an index or the doorbell; in the
 * helper; before the queue or the session ends. */
enum gt_hsa_adopt_look { GT_HSA_LOOK_AT_USE, GT_HSA_LOOK_IN_HELPER, GT_HSA_LOOK_AT_END };

/* State of a queue that the program created before gputap was there (hsa_adopt.c). */
struct gt_hsa_adopted {
	_Atomic uint64_t write;  /* the program's write index */
	_Atomic uint64_t taken;  /* number of packets copied to the ring in between */
	_Atomic uint64_t next;   /* write index of the ring in between */
	_Atomic uint64_t handed; /* number of packets that the device may process */
	/* true once the program was found to submit by changing the write index in memory */
	_Atomic uint32_t in_memory;
	_Atomic uint32_t names_memory; /* true once that was reported */
	/* Used by the helper: number of packets copied at its last look; since when there have been
	 * further ones without a doorbell (0: there are none); when to give the queue back */
	uint64_t taken_seen, stuck_ns, leave_ns;
	bool was_profiled; /* true if the program had enabled profiling */
	bool names_shared; /* true once activities that share a signal were reported */
	void (*look)(struct gt_hsa_queue *q, enum gt_hsa_adopt_look when);
};

/* Current or latest change of a queue's scratch memory. */
struct gt_hsa_scratch {
	uint64_t start;      /* system time; 0: not started */
	uint64_t id, called; /* id and start of the call that caused the change; 0: not known */
	uint64_t address;
	struct gt_tool_activity *tool_activity;
};

struct gt_hsa_queue {
	/* constant */
	struct gt_hsa_queue *hash_next, *bell_next;
	/* queues of an agent, newest first; the list never shrinks */
	_Atomic(struct gt_hsa_queue *) agent_next;
	void *handle; /* hsa_queue_t that the program uses: the proxy, or the adopted queue */
	struct gt_hsa_queue_abi *proxy; /* NULL: an adopted queue */
	void *real;                     /* the runtime's queue */
	struct gt_hsa_signal *bell;     /* doorbell that the program rings */
	struct gt_hsa_agent *agent;
	uint64_t number;
	unsigned int type; /* hsa_queue_type_t */
	uint64_t born_ns;
	gt_hsa_queue_callback *callback; /* the program's callback and its data */
	void *callback_data;
	/* barriers: true if barrier packets are recorded; barrier_names: string ids for barrier-and
	 * and barrier-or */
	bool barriers;
	uint32_t barrier_names[2];
	uint32_t epoch; /* process that created the queue; a forked child has no such queue */
	struct gt_tool_object *object;
	/* Written by the thread that creates or destroys the queue. */
	/* number of times that the program has obtained the queue, minus the number of times that
	 * it has destroyed it */
	_Atomic uint32_t users;
	_Atomic uint32_t state;

	struct gt_hsa_submitters submitters;
	struct gt_hsa_ring ring;
	struct gt_hsa_callbacks callbacks;
	struct gt_hsa_moved moved;
	struct gt_hsa_attention attention;
	struct gt_hsa_adopted adopted;
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

/* Find a queue, lock-free. Return NULL if the queue is not followed. */
static inline struct gt_hsa_queue *gt_hsa_queue_find(const void *handle)
{
	struct gt_hsa_queue *q =
		atomic_load_explicit(gt_hsa_queue_bucket(handle), memory_order_acquire);

	while (q && gt_unlikely(q->handle != handle || !gt_hsa_queue_is_live(q)))
		q = q->hash_next;
	return q;
}

/* Wait while the queue is given back to the program. */
void gt_hsa_queue_wait_for_leave(const void *handle);
/* End the queue's entry if the queue was given back to the program, which has destroyed it now. */
void gt_hsa_queue_forget(const void *handle);

/* Follow the queue on behalf of another session of this process: activities in flight are not
 * recorded. Call while no thread harvests. */
void gt_hsa_queue_renew(struct gt_hsa_queue *q, struct gt_thread *t);

/* Allocate an entry and its parts for a queue of @size packets. Return NULL if out of memory. */
struct gt_hsa_queue *gt_hsa_queue_make(struct gt_hsa_agent *a, uint32_t size, struct gt_thread *t);
/* Free a queue that was never published. */
void gt_hsa_queue_free(struct gt_hsa_queue *q);
/* Publish a queue, so that it can be found by q->handle. */
void gt_hsa_queue_publish(struct gt_hsa_queue *q);
/* Create signals for at most @most slots that have none and will be used soon. Return false if
 * there are enough signals. */
bool gt_hsa_queue_arm(struct gt_hsa_queue *q, uint32_t most);
/* Free the signals and memory of a queue. Runs in the helper, after the program destroyed the queue
 * and its activities are harvested. */
void gt_hsa_queue_end(struct gt_hsa_queue *q);

#endif
