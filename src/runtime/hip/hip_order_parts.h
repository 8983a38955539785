/* SPDX-License-Identifier: MIT */
/* Parts of a submit order, shared by hip_order.c (which contains the picture), hip_order_match.c,
 * and hip_order_calls.c (whose functions are declared below). A thread that reads or writes a
 * member holds the order's lock, unless the member's comment gives another rule. */
#ifndef GPUTAP_RUNTIME_HIP_ORDER_PARTS_H
#define GPUTAP_RUNTIME_HIP_ORDER_PARTS_H

#include <pthread.h>
#include <sched.h>

#include "runtime/hip/hip_order.h"

enum { GT_ORDER_OPEN_MAX = 16, GT_ORDER_WAITING_MAX = 1 << 16 };
enum { GT_HIP_DEVICE_TO_HOST = 2, GT_HIP_DEVICE_TO_DEVICE = 3 };
#define GT_ORDER_NO_STREAM UINTPTR_MAX /* handle of an order whose stream is unknown */

enum gt_ordered_call_state {
	GT_CALL_PENDING,
	GT_CALL_MATCHED /* the call's kernel has arrived or can no longer arrive */
};

/* A call that waits for its activities. */
struct gt_ordered_call {
	struct gt_ordered_call *next;
	enum gt_submit_kind kind;
	enum gt_ordered_call_state state;
	bool open;  /* true until the call returns */
	bool plain; /* as in struct gt_submit_call */
	/* true if another thread's call was open at the same time: the order of the two is
	 * unknown */
	bool overlapped;
	bool doubtful; /* true if an activity may belong either to this call or to another call */
	/* true if the entry was removed from the order and must be freed when the call returns */
	bool popped;
	bool begun;  /* GRAPH: true once some of the launch's activities have arrived */
	bool paused; /* true if made in a pause: the call's activities are not recorded */
	/* calling thread; the order of one thread's calls is known */
	const struct gt_thread *thread;
	uint32_t name, direction;
	uint64_t id, start, bytes, source, destination;
	uint64_t moved; /* COPY, FILL: number of bytes copied or filled so far */
	/* GRAPH: */
	struct gt_hip_shared_nodes *nodes; /* NULL if the launch uses several streams */
	uint32_t graph, replay, at, last_part, last_place;
	/* place after the last node that the launching thread has submitted itself; set in that
	 * thread (release) */
	_Atomic uint32_t issued;
	/* true if those nodes include copies or fills, so that it is unknown which copies and fills
	 * the stream's thread submits; also set in the launching thread */
	_Atomic bool mixed;
	bool apart;      /* as in struct gt_hip_nodes */
	bool no_kernels; /* true if the launching thread has submitted all kernels */
	uint64_t handle;
	/* single record of the whole launch, from its first packet on; NULL if none is open */
	struct gt_graph_span *span;
};

/* A thread that HIP has created. */
struct gt_stream_thread {
	struct gt_stream_thread *next; /* thread created earlier in the same call */
	void *(*begin)(void *);
	void *argument;
	struct gt_submit_order *order;
	_Atomic uint32_t ended;
};

struct gt_submit_order {
	struct gt_submit_order *next;  /* next order of the bucket, or next unused order */
	struct gt_stream_thread birth; /* the order's thread */
	/* number of calls in the order, plus one until the order's thread has ended */
	uint32_t users;
	_Atomic uintptr_t handle;
	uintptr_t whose; /* device or thread of a default stream */
	_Atomic uint32_t lock;
	bool bound; /* true once the order has its thread */
	/* true if the stream is being destroyed; packets submitted to it may still arrive */
	bool gone;
	bool broken; /* true if the order is unreliable until the program has waited */
	bool lost;   /* true if the order is permanently unreliable */
	struct gt_ordered_call *first, **last;
	uint32_t waiting; /* number of entries in the order */
	struct gt_ordered_call *open[GT_ORDER_OPEN_MAX];
	uint32_t open_count;
	uint32_t calls_open; /* number of open calls, including calls without an entry */
	uint64_t pushes;
	uint32_t reserved; /* number of packets reserved in the order's thread */
	_Atomic uint32_t handled;
};

/* Nonzero once a call could not be added to an order, or once activities go to unknown streams.
 * From then on, no activity is linked. */
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

/* Append @e. If another call on this stream is open, both calls are marked as overlapped, since
 * their order is unknown. Return false if the order was broken instead. */
bool gt_submit_order_append(struct gt_submit_order *l, struct gt_ordered_call *e);
void gt_submit_order_remove_open(struct gt_submit_order *l, const struct gt_ordered_call *e);
/* Mark a call as returned, and free its entry if it is out of the order. */
void gt_ordered_call_close(struct gt_ordered_call *e);
/* Write an event, at most once per process. */
void gt_submit_order_report_unlinked(struct gt_thread *t, const char *text);
/* Return the place of the next kernel that the stream's thread may submit. Kernels that the
 * launching thread submits itself do not pass through the match, but are noted before any later
 * packet arrives. */
uint32_t gt_ordered_call_next_kernel(const struct gt_ordered_call *e);
/* Return true if no node with an activity remains. */
bool gt_ordered_call_is_whole(const struct gt_ordered_call *e);
/* Drop the oldest entries until @e is the oldest, or all entries if @e is NULL. Call when all
 * activities of these entries have arrived. */
void gt_submit_order_drop_before(struct gt_submit_order *l, const struct gt_ordered_call *e);
/* Mark the order as unreliable: no activity is linked until the program has waited. */
void gt_submit_order_break(struct gt_submit_order *l, const char *why);
/* Close the launch's single record: no more packets of the launch will arrive. @whole: true if all
 * observed packets arrived in order. */
void gt_ordered_call_end_span(struct gt_ordered_call *e, bool whole);

#endif
