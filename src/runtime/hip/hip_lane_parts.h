/* SPDX-License-Identifier: MIT */
/* What a lane is made of (hip_lane.c has the picture): for hip_lane.c and hip_lane_take.c. Both
 * with the lane's lock held, where nothing else is said. */
#ifndef GPUTAP_RUNTIME_HIP_LANE_PARTS_H
#define GPUTAP_RUNTIME_HIP_LANE_PARTS_H

#include <pthread.h>
#include <sched.h>

#include "runtime/hip/hip_lane.h"

enum { GT_LANE_OPEN_MOST = 16, GT_LANE_WAITING_MOST = 1 << 16 };
enum { GT_LANE_DEVICE_TO_HOST = 2, GT_LANE_DEVICE_TO_DEVICE = 3 };
#define GT_LANE_NOBODY UINTPTR_MAX /* handle of a lane whose stream is not known */

enum gt_lane_state { GT_LANE_PENDING, GT_LANE_TAKEN /* its kernel has come, or never will */ };

/* A call that waits for its work. */
struct gt_lane_entry {
	struct gt_lane_entry *next;
	enum gt_lane_kind kind;
	enum gt_lane_state state;
	bool open;       /* the call has not returned */
	bool plain;      /* as in struct gt_lane_call */
	bool overlapped; /* another thread's call was open, too: their order is not known */
	bool doubtful;   /* something came that may have been its, or another's */
	bool popped;     /* out of the lane: to be freed when the call returns */
	bool begun;      /* GRAPH: something of it has come */
	bool paused;     /* the call was made in a pause: its work is not recorded */
	const struct gt_thread *thread; /* calls of one thread have an order */
	uint32_t name, direction;
	uint64_t id, start, bytes, source, destination;
	uint64_t moved; /* what lies before this has its work */
	/* GRAPH: */
	struct gt_hip_shared_nodes *nodes; /* NULL: on several streams */
	uint32_t graph, replay, at, last_part, last_place;
	/* place behind the last node whose work the launch has itself submitted */
	_Atomic uint32_t issued;
	_Atomic bool mixed; /* copies or fills among that: it is not known which come here */
	bool apart;         /* as in struct gt_hip_nodes */
	bool no_kernels;    /* the launch has submitted all of them */
	uint64_t handle;
	/* one record for all of it, from its first packet on; NULL: none, or it is closed */
	struct gt_graph_envelope *envelope;
};

/* A thread that HIP has made. */
struct gt_lane_birth {
	struct gt_lane_birth *next; /* before it, in the same call */
	void *(*begin)(void *);
	void *argument;
	struct gt_lane *lane;
	_Atomic uint32_t ended;
};

struct gt_lane {
	struct gt_lane *next;       /* of the bucket, or of those that nobody uses */
	struct gt_lane_birth birth; /* of its thread */
	uint32_t users;             /* calls that are on it; its thread, until that has ended */
	_Atomic uintptr_t handle;
	uintptr_t whose; /* of default streams: device, or thread */
	_Atomic uint32_t lock;
	bool bound; /* has its thread */
	/* its stream is being destroyed; what it has submitted may still come */
	bool gone;
	bool broken; /* until the program has waited */
	bool lost;   /* for ever */
	struct gt_lane_entry *first, **last;
	uint32_t waiting; /* entries */
	struct gt_lane_entry *open[GT_LANE_OPEN_MOST];
	uint32_t open_count;
	uint32_t calls_open; /* also those without an entry */
	uint64_t pushes;
	uint32_t reserved; /* packets, by its thread */
	_Atomic uint32_t handled;
};

/* Calls were made that no lane has, or work goes to streams that are not known: nothing is
 * linked any more. */
extern _Atomic uint32_t gt_lane_confused __attribute__((visibility("hidden")));

static inline void gt_lane_lock(_Atomic uint32_t *lock)
{
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		sched_yield();
}

static inline void gt_lane_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

/* The oldest ones go, until @e is the oldest; NULL: all. All their work has come. */
void gt_lane_pop_until(struct gt_lane *l, const struct gt_lane_entry *e);
/* The order is not what it seems: no work is linked until the program has waited. */
void gt_lane_break(struct gt_lane *l, const char *why);
/* A launch's one record: nothing of it will come any more. @whole: as far as it was seen to
 * come. */
void gt_lane_envelope_end(struct gt_lane_entry *e, bool whole);

#endif
