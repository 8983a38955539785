/* SPDX-License-Identifier: MIT */
/* What a submit order is made of, for hip_order.c, which has the picture, hip_order_match.c, and
 * hip_order_calls.c, on which both stand and whose functions are below. A
 * thread that reads or writes a member holds the order's lock, but where another rule stands
 * beside it. */
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

/* A call that waits for its work. */
struct gt_ordered_call {
	struct gt_ordered_call *next;
	enum gt_submit_kind kind;
	enum gt_ordered_call_state state;
	bool open;       /* the call has not returned */
	bool plain;      /* as in struct gt_submit_call */
	bool overlapped; /* another thread's call was open, too: their order is not known */
	bool doubtful;   /* work came that may have been this call's, or another's */
	bool popped;     /* out of the order: to be freed when the call returns */
	bool begun;      /* GRAPH: some of its work has come */
	bool paused;     /* the call was made in a pause: its work is not recorded */
	const struct gt_thread *thread; /* calls of one thread have an order */
	uint32_t name, direction;
	uint64_t id, start, bytes, source, destination;
	uint64_t moved; /* COPY, FILL: work for so many of the bytes has come */
	/* GRAPH: */
	struct gt_hip_shared_nodes *nodes; /* NULL: on several streams */
	uint32_t graph, replay, at, last_part, last_place;
	/* the launching thread (release): place behind the last node whose work it has itself
	 * submitted */
	_Atomic uint32_t issued;
	_Atomic bool mixed; /* the same: copies or fills among that, so it is not known which of
			     * them the stream's thread submits */
	bool apart;         /* as in struct gt_hip_nodes */
	bool no_kernels;    /* the launch has submitted all of them */
	uint64_t handle;
	/* one record for all of it, from its first packet on; NULL: none, or it is closed */
	struct gt_graph_span *span;
};

/* A thread that HIP has made. */
struct gt_stream_thread {
	struct gt_stream_thread *next; /* before it, in the same call */
	void *(*begin)(void *);
	void *argument;
	struct gt_submit_order *order;
	_Atomic uint32_t ended;
};

struct gt_submit_order {
	struct gt_submit_order *next;  /* of the bucket, or of those that nobody uses */
	struct gt_stream_thread birth; /* of its thread */
	uint32_t users;                /* calls that are on it; its thread, until that has ended */
	_Atomic uintptr_t handle;
	uintptr_t whose; /* of default streams: device, or thread */
	_Atomic uint32_t lock;
	bool bound; /* has its thread */
	/* its stream is being destroyed; what it has submitted may still come */
	bool gone;
	bool broken; /* until the program has waited */
	bool lost;   /* for ever */
	struct gt_ordered_call *first, **last;
	uint32_t waiting; /* entries */
	struct gt_ordered_call *open[GT_ORDER_OPEN_MAX];
	uint32_t open_count;
	uint32_t calls_open; /* also those without an entry */
	uint64_t pushes;
	uint32_t reserved; /* packets, by its thread */
	_Atomic uint32_t handled;
};

/* Calls were made that no order has, or work goes to streams that are not known: nothing is
 * linked any more. */
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

/* A zeroed one; NULL: no memory. */
struct gt_ordered_call *gt_ordered_call_take(void);
void gt_ordered_call_free(struct gt_ordered_call *e);

/* The functions below are called with the order's lock held. */

/* Puts @e behind the others. If another call on this stream is open, neither has a place in the
 * order: both are overlapped. Return: false: the order is broken instead. */
bool gt_submit_order_append(struct gt_submit_order *l, struct gt_ordered_call *e);
void gt_submit_order_remove_open(struct gt_submit_order *l, const struct gt_ordered_call *e);
/* The call has returned. */
void gt_ordered_call_close(struct gt_ordered_call *e);
/* An event, for the first time in a process. */
void gt_submit_order_report_unlinked(struct gt_thread *t, const char *text);
/* Place of the next kernel that the stream's thread may submit. Kernels that the launch itself
 * submits are not seen here, but it is known of them before any work behind them comes. */
uint32_t gt_ordered_call_next_kernel(const struct gt_ordered_call *e);
/* No node that works is behind those that came. */
bool gt_ordered_call_is_whole(const struct gt_ordered_call *e);
/* The oldest ones go, until @e is the oldest; NULL: all. All their work has come. */
void gt_submit_order_drop_before(struct gt_submit_order *l, const struct gt_ordered_call *e);
/* The order is not what it seems: no work is linked until the program has waited. */
void gt_submit_order_break(struct gt_submit_order *l, const char *why);
/* A launch's one record: nothing of it will come any more. @whole: as far as it was seen to
 * come. */
void gt_ordered_call_end_span(struct gt_ordered_call *e, bool whole);

#endif
