/* SPDX-License-Identifier: MIT */
/* Parts of a submit order, for hip_order.c, which has the picture, hip_order_match.c, and
 * hip_order_calls.c, on which both build and whose functions are declared below. A thread that
 * reads or writes a member holds the order's lock, unless the member's comment gives another
 * rule. */
#ifndef GPUTAP_RUNTIME_HIP_ORDER_PARTS_H
#define GPUTAP_RUNTIME_HIP_ORDER_PARTS_H

#include <pthread.h>
#include <sched.h>

#include "runtime/hip/hip_order.h"

enum { GT_ORDER_OPEN_MAX = 16, GT_ORDER_WAITING_MAX = 1 << 16 };
enum { GT_HIP_DEVICE_TO_HOST = 2, GT_HIP_DEVICE_TO_DEVICE = 3 };
#define GT_ORDER_NO_STREAM UINTPTR_MAX /* handle of an order whose stream is not known */

enum gt_ordered_call_state {
	GT_CALL_PENDING,
	GT_CALL_MATCHED /* its kernel has come, or never will */
};

/* A call that waits for its activities. */
struct gt_ordered_call {
	struct gt_ordered_call *next;
	enum gt_submit_kind kind;
	enum gt_ordered_call_state state;
	bool open;  /* the call has not returned */
	bool plain; /* as in struct gt_submit_call */
	/* another thread's call was open at the same time: their order is not known */
	bool overlapped;
	bool doubtful; /* an activity may have been this call's, or another's */
	bool popped;   /* out of the order: free it when the call returns */
	bool begun;    /* GRAPH: some of its activities have come */
	bool paused;   /* the call was made in a pause: its activities are not recorded */
	const struct gt_thread *thread; /* calls of one thread have an order */
	uint32_t name, direction;
	uint64_t id, start, bytes, source, destination;
	uint64_t moved; /* COPY, FILL: how many of the bytes were copied or filled so far */
	/* GRAPH: */
	struct gt_hip_shared_nodes *nodes; /* NULL: on several streams */
	uint32_t graph, replay, at, last_part, last_place;
	/* set in the launching thread (release): place after the last node that the launching
	 * thread has itself submitted */
	_Atomic uint32_t issued;
	/* also set there: those include copies or fills, so it is not known which of these the
	 * stream's thread submits */
	_Atomic bool mixed;
	bool apart;      /* as in struct gt_hip_nodes */
	bool no_kernels; /* the launching thread has submitted all of them */
	uint64_t handle;
	/* one record for the whole launch, from its first packet on; NULL: none, or it is closed */
	struct gt_graph_span *span;
};

/* A thread that HIP has made. */
struct gt_stream_thread {
	struct gt_stream_thread *next; /* made earlier in the same call */
	void *(*begin)(void *);
	void *argument;
	struct gt_submit_order *order;
	_Atomic uint32_t ended;
};

struct gt_submit_order {
	struct gt_submit_order *next;  /* of the bucket, or of the unused ones */
	struct gt_stream_thread birth; /* of its thread */
	/* calls that are on it, plus its thread until that has ended */
	uint32_t users;
	_Atomic uintptr_t handle;
	uintptr_t whose; /* of default streams: device, or thread */
	_Atomic uint32_t lock;
	bool bound; /* has its thread */
	/* its stream is being destroyed; packets submitted to it may still come */
	bool gone;
	bool broken; /* until the program has waited */
	bool lost;   /* forever */
	struct gt_ordered_call *first, **last;
	uint32_t waiting; /* entries */
	struct gt_ordered_call *open[GT_ORDER_OPEN_MAX];
	uint32_t open_count;
	uint32_t calls_open; /* including those without an entry */
	uint64_t pushes;
	uint32_t reserved; /* packets reserved in its thread */
	_Atomic uint32_t handled;
};

/* true if calls were made that are in no order, or activities go to unknown streams: nothing is
 * linked from then on. */
extern _Atomic uint32_t gt_submit_order_given_up __attribute__((visibility("hidden")));

static inline void gt_submit_order_lock(_Atomic uint32_t *lock)
{
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		sched_yield();
}

static inline void gt_submit_order_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

/* Return a zeroed entry, or NULL if out of memory. */
struct gt_ordered_call *gt_ordered_call_take(void);
void gt_ordered_call_free(struct gt_ordered_call *e);

/* The functions below are called with the order's lock held. */

/* Append @e. If another call on this stream is open, neither has a place in the order: both are
 * overlapped. Return false if the order was broken instead. */
bool gt_submit_order_append(struct gt_submit_order *l, struct gt_ordered_call *e);
void gt_submit_order_remove_open(struct gt_submit_order *l, const struct gt_ordered_call *e);
/* Call when the call has returned. */
void gt_ordered_call_close(struct gt_ordered_call *e);
/* Write an event, only the first time in a process. */
void gt_submit_order_report_unlinked(struct gt_thread *t, const char *text);
/* Return the place of the next kernel that the stream's thread may submit. Kernels that the
 * launching thread submits itself do not pass through here, but are noted before any later packet
 * comes. */
uint32_t gt_ordered_call_next_kernel(const struct gt_ordered_call *e);
/* Return true if no node with an activity is left. */
bool gt_ordered_call_is_whole(const struct gt_ordered_call *e);
/* Drop the oldest entries until @e is the oldest; NULL: all. All their activities have come. */
void gt_submit_order_drop_before(struct gt_submit_order *l, const struct gt_ordered_call *e);
/* Mark the order as unreliable: nothing is linked until the program has waited. */
void gt_submit_order_break(struct gt_submit_order *l, const char *why);
/* Close the launch's single record: no more of its packets will come. @whole: true if all packets
 * seen came in order. */
void gt_ordered_call_end_span(struct gt_ordered_call *e, bool whole);

#endif
