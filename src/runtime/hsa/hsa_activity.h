/* SPDX-License-Identifier: MIT */
/* Device activity of HSA, and so of HIP: what its files share.
 *
 *   hsa_agent.c     agents as devices; clock readings
 *   hsa_queue.c     queues: a face instead of the plain one; owners of packet numbers
 *   hsa_face.c      the queue that the program has, and the functions that it is used by
 *   hsa_ring.c      from its ring into the device's
 *   hsa_dispatch.c  the packet handler, in the submitting thread
 *   hsa_signal.c    the program's own completion signals that we read the times from
 *   hsa_code.c      code objects, kernel symbols, names by kernel_object
 *   hsa_copy.c      asynchronous copies
 *   hsa_scratch.c   memory for spilled registers, as the runtime tells of it
 *   hsa_told.c      what tools are told of all this
 *   hsa_fault.c     the runtime tells that a device or queue has failed
 *   hsa_handlers.c  handlers of the program's that the runtime still calls when the process ends
 *   hsa_helper.c    a thread per agent: harvests what has completed; the end of the process
 *
 *   reserve a number ─► write packet ─► ring doorbell ─► handler ─► slot, our signal ─► device
 *      owner[number] := HIP call                            │ number                       │
 *                                                           ▼                              │
 *      slot is free ◄─ helper writes the record ◄─── record, prefilled;  times, signal ◄───┘
 *
 * Completion. A packet without a completion signal gets one of ours. A packet that has one keeps
 * it: its times lie in the signal until it is used again or destroyed, and both come through us,
 * in the thread that does it; so the program's waits end when they ended before, no packet is
 * added, and what it reads from its signal is true. Only where one signal stands for several
 * packets at once the kernel gets ours and the program's is served by a barrier packet behind
 * it, before we look.
 *
 * Correlation. A queue has several producers (HIP's streams share queues), and who rings the
 * doorbell brings all packets that are valid by then, others' too: a packet's owner is who
 * reserved its number, not who runs the handler.
 *
 * Locks: none on the way of a packet; of several threads that ring, one handles what all have
 * brought (hsa_ring.h).
 * Never there: allocation, system calls (but one, to wake the helper: of a queue that is half
 * full, or from its sleep after a quiet second), creation of signals. */
#ifndef GPUTAP_RUNTIME_HSA_ACTIVITY_H
#define GPUTAP_RUNTIME_HSA_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/context.h"
#include "core/emit.h"
#include "record/record.h"
#include "runtime/graph_nodes.h"
#include "runtime/hsa/hsa_door.h"
#include "runtime/hsa/hsa_abi.h"
#include "runtime/hsa/hsa_ring.h"
#include "tool/tool_work.h"
#include "runtime/submit_order.h"

#define GT_HSA_CORE(r, f) gt_hsa_core_real(r, f)
#define GT_HSA_AMD(r, f)  gt_hsa_amd_ext_real(r, f)
#define GT_HSA_MS         UINT64_C(1000000)

/* This thread's state in this process; NULL: it can record nothing. */
static inline struct gt_thread *gt_hsa_thread(void)
{
	return gt_thread_own();
}

/* Zeroed memory; NULL: none. Preserves errno. */
void *gt_hsa_alloc(size_t bytes);
void gt_hsa_free(void *p, size_t bytes);
uint64_t gt_hsa_boottime_ns(void);

/* Is device work of ROCm recorded, and not only told? */
static inline bool gt_hsa_recorded(void)
{
	return atomic_load_explicit(&gt_stream_work, memory_order_relaxed) >> GT_DOMAIN_HSA_CORE &
	       1;
}

/* And what is launched now? */
static inline bool gt_hsa_launch_recorded(void)
{
	return atomic_load_explicit(&gt_stream_launches, memory_order_relaxed) >>
		       GT_DOMAIN_HSA_CORE &
	       1;
}

/* Agents (hsa_agent.c) --------------------------------------------------- */

struct gt_hsa_helper;
struct gt_hsa_kernel;

/* The host's clocks, read at a time. */
struct gt_hsa_clock_pair {
	uint64_t ticks, ns;
};

struct gt_hsa_agent {
	struct gt_hsa_runtime *runtime;
	uint64_t handle;
	uint64_t number; /* of its device object; 0: a CPU */
	bool gpu;
	_Atomic uint32_t written; /* process that has its object record */
	struct gt_fork_replay *kept;
	_Atomic uint32_t used; /* has had a queue */
	/* nothing has happened for a while, and its helper sleeps longer: to be woken */
	_Atomic uint32_t deep;
	char pci[13]; /* "0000:03:00.0"; "": not known */
	uint64_t clock_read_ns;
	_Atomic uint64_t clock_hz;     /* of the runtime's system clock, */
	_Atomic int64_t to_boottime;   /* and what makes its ns ours */
	struct gt_tool_object *object; /* for tools */
	_Atomic uint32_t untold;
	/* who looks reads them; `before` is seconds older than `now`, once there are seconds */
	struct gt_hsa_clock_pair before, middle, now;
	/* number of the queue object that stands for its copy engines; 0: not made yet */
	_Atomic uint64_t copies;
	_Atomic(struct gt_hsa_queue *) queues;
	/* process in which somebody harvests this agent's work just now; 0: nobody */
	_Atomic uint32_t harvester;
};

enum { GT_HSA_AGENTS_MAX = 64 };
/* The agent's entry with its record written. NULL: too many. */
struct gt_hsa_agent *gt_hsa_agent_get(struct gt_hsa_runtime *runtime, struct gt_thread *t,
				      uint64_t handle);
/* By position, NULL behind the last. */
struct gt_hsa_agent *gt_hsa_agent_at(uint32_t i);
/* One reading of the clock that its stamps are in. */
void gt_hsa_agent_clock(struct gt_hsa_agent *a, struct gt_thread *t);

/* Work in flight --------------------------------------------------------------- */

enum gt_hsa_slot_state {
	GT_HSA_SLOT_FREE = 0,
	GT_HSA_SLOT_PENDING, /* submitted */
	GT_HSA_SLOT_CLAIMED, /* somebody reads the times from the program's signal */
	GT_HSA_SLOT_SAVED,   /* they are in raw[] */
	GT_HSA_SLOT_LOST,    /* done, but nobody could tell its times */
};

/* What is known of a piece of work until it is done. */
struct gt_hsa_watch {
	struct gt_hsa_signal *signal; /* where the times will be: ours, or the program's */
	_Atomic uint32_t state;       /* enum gt_hsa_slot_state */
	/* of the program's signal in the table of signals, + 1; 0: none */
	uint32_t entry;
	/* SAVED: start, end: raw for kernels, system time for copies */
	uint64_t times[2];
	struct gt_hsa_agent *agent; /* copies; NULL: a kernel */
	int64_t value;              /* copies: of the signal before */
	uint64_t queued;            /* copies: when it was submitted, system time */
};

struct gt_hsa_slot {
	struct gt_hsa_watch watch;
	struct gt_hsa_signal *ours; /* NULL: not armed yet */
	/* all but the times; `queued`: host ticks; `submitted`: struct gt_graph_span *, or
	 * 0; `end`: struct gt_work_item * that is to be told, or 0 */
	struct gt_record_device record;
};
static_assert(sizeof(struct gt_hsa_slot) == 3 * 64, "three cache lines");

/* Who reserved a packet's number, and so submits it. Most packets need the first cache line
 * only. */
struct gt_hsa_owner {
	/* number + 1: tells entries of a former round apart; | GT_HSA_QUIET: nothing else of it
	 * is set; | GT_HSA_LATER */
	_Alignas(64) uint64_t packet;
	uint64_t id, start;
	/* what the call moves; 0: it does not say. Else also `source`, `destination`,
	 * `direction` */
	uint64_t bytes;
	_Atomic(struct gt_work_item *) piece; /* for tools; NULL: none asks */
	/* of a runtime's own thread, when it is asked whose the packet is: then NULL */
	struct gt_submit_order *order;
	/* `replay` 0: of no graph; then `graph` may be GT_HSA_UNRECORDED */
	struct gt_node_ref stamp;
	uint64_t source, destination;
	uint32_t direction; /* hipMemcpyKind */
	uint32_t turn;      /* of `order` */
};
static_assert(offsetof(struct gt_hsa_owner, stamp.replay) < 64,
	      "of a packet that is no graph's only that is read");

/* On the stack of who is at work in a ring while a tool's functions are told of a packet. */
struct gt_hsa_guard {
	struct gt_hsa_queue *q; /* NULL: they have come back */
	uint64_t number;
};

/* What they are told of. */
struct gt_hsa_telling {
	struct gt_work_item *piece;
	const volatile struct gt_hsa_guard *guard;
	bool enter;    /* its packet has not been handed on; else it has: */
	bool followed; /* to its end */
	bool left;     /* it is known that they will not come back */
};

/* Queues (hsa_queue.c) ------------------------------------------------------ */

enum gt_hsa_queue_state {
	GT_HSA_QUEUE_LIVE = 1,
	/* the program destroys it just now: its memory and the runtime's is not touched any more */
	GT_HSA_QUEUE_CLOSING,
	GT_HSA_QUEUE_DESTROYED, /* by the program: harvest what is done, count the rest */
	GT_HSA_QUEUE_ENDING,    /* what was done is harvested: the helper ends it */
	GT_HSA_QUEUE_GONE,      /* nothing of it is left; found no more */
};

/* A piece of scratch memory's history that has begun, or the one before. */
struct gt_hsa_scratch {
	uint64_t start;      /* system time; 0: not begun */
	uint64_t id, called; /* the call that caused it, and its begin; 0: not known */
	uint64_t address;
	struct gt_work_item *piece;
};

enum { GT_HSA_MOVERS = 64 }; /* threads beyond that share an entry */
enum { GT_HSA_NEAR = 16, GT_HSA_QUIETS = 64 };
#define GT_HSA_NO_SLOT UINT32_MAX

struct gt_hsa_queue {
	struct gt_hsa_queue *hash_next;
	_Atomic(struct gt_hsa_queue *) agent_next; /* of an agent, newest first; never shorter */
	struct gt_hsa_queue *bell_next;
	void *handle; /* hsa_queue_t as the program has it: the face */
	struct gt_hsa_queue_abi *face;
	void *real;                 /* the runtime's */
	struct gt_hsa_signal *bell; /* the face's doorbell */
	/* how often the program was given it, and has not destroyed it */
	_Atomic uint32_t users;
	struct gt_hsa_agent *agent;
	uint64_t number;
	uint64_t born_ns;
	_Atomic uint32_t state;
	gt_hsa_queue_callback *callback; /* the program's, and its data */
	void *callback_data;
	/* are recorded, with these names: string ids of barrier-and, barrier-or */
	bool barriers;
	uint32_t barrier_names[2];
	uint32_t epoch;    /* process that it was made in: a fork's child has no such queue */
	uint32_t capacity; /* slots, power of two */
	uint32_t owner_mask;
	struct gt_hsa_slot *slots;
	/* by position: the slot; GT_HSA_NO_SLOT: it is done, and recorded */
	uint32_t *order;
	uint32_t *freed;             /* slots that were used and are free, a ring */
	struct gt_hsa_owner *owners; /* by number */
	struct gt_hsa_owner *near;   /* [GT_HSA_NEAR]: of packets that are handled soon */
	/* packets that nobody asks for and are handled soon: number + 1 */
	uint64_t quiet[GT_HSA_QUIETS];
	_Atomic bool has_pieces; /* among the owners */
	struct gt_tool_object *object;

	struct gt_hsa_ring ring;
	_Atomic uint32_t behind;  /* packets were left in the program's ring: for the helper */
	_Atomic uint32_t holders; /* launches that may hold packets back just now */
	/* who handles packets, one thread at a time */
	uint64_t tail_known_head;
	uint64_t freed_taken, freed_known;
	_Atomic uint32_t fresh;       /* slots below have been used */
	uint32_t tries;               /* of the helper, that found no slot */
	uint64_t stuck;               /* `head` when it did not move for long */
	struct gt_hsa_telling at;     /* while `telling`; constant then */
	struct gt_hsa_telling resume; /* taken over: to be gone on with. piece NULL: nothing */
	uint64_t tellings;
	/* by thread: its last call whose bytes a kernel has already */
	uint64_t moved[GT_HSA_MOVERS];
	uint64_t told_moved[GT_HSA_MOVERS]; /* the same as tools are told */
	_Atomic uint64_t tail;
	/* its number; 0: none. Whoever exchanges it for 0 is at work in the ring from then on */
	_Atomic uint64_t telling;
	/* the helper's */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t freed_put;
	_Atomic uint32_t armed;               /* slots below have a signal */
	uint64_t telling_seen, telling_since; /* `telling`, and when the helper saw it first */
	uint64_t held_seen; /* so many had gone on when packets were held back at its last look */
	/* whoever gives or takes it, one thread of the runtime's at a time */
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

/* Lock-free; NULL: a queue without a face. */
static inline struct gt_hsa_queue *gt_hsa_queue_find(const void *handle)
{
	struct gt_hsa_queue *q =
		atomic_load_explicit(gt_hsa_queue_bucket(handle), memory_order_acquire);

	while (q && gt_unlikely(q->handle != handle ||
				atomic_load_explicit(&q->state, memory_order_relaxed) !=
					GT_HSA_QUEUE_LIVE))
		q = q->hash_next;
	return q;
}

#define GT_HSA_NOTHING ((const void *)UINTPTR_MAX) /* no queue */

/* What this thread has to do with the queue that it used last. */
struct gt_hsa_turn {
	struct gt_hsa_queue *q;
	/* It has reserved a packet of @asks and not rung for it: the next @answers times that it
	 * asks what the device has taken, it asks for room, and @gone is good enough. */
	const void *asks;
	uint64_t gone;
	uint32_t answers;
};
extern _Thread_local struct gt_hsa_turn gt_hsa_turn
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* This thread has used that queue before. */
static inline bool gt_hsa_is_live(const struct gt_hsa_queue *q, const void *handle)
{
	return q && q->handle == handle &&
	       atomic_load_explicit(&q->state, memory_order_relaxed) == GT_HSA_QUEUE_LIVE;
}

/* Signals for slots that have none yet and are about to be used, @most of them. Return: false:
 * there are enough. */
bool gt_hsa_queue_arm(struct gt_hsa_queue *q, uint32_t most);
/* Its signals and memory, by the helper, when the queue is destroyed and harvested. */
void gt_hsa_queue_bury(struct gt_hsa_queue *q);

/* In a gt_hsa_owner's `packet`: nobody asks for it. */
#define GT_HSA_QUIET      (UINT64_C(1) << 63)
/* launched while the program pauses its recording: it may be told, not recorded */
#define GT_HSA_UNRECORDED UINT32_MAX
/* not to be handled: its stamp is not made yet, or is being made */
#define GT_HSA_LATER      (UINT64_C(1) << 62)

/* Where a packet's owner is written that is reserved now: near, if the packet that was there
 * before has been handled. */
static inline struct gt_hsa_owner *gt_hsa_owner_of_new(struct gt_hsa_queue *q, uint64_t number)
{
	if (gt_likely(number - atomic_load_explicit(q->ring.theirs_read, memory_order_acquire) <
		      GT_HSA_NEAR))
		return &q->near[number % GT_HSA_NEAR];
	return &q->owners[number & q->owner_mask];
}

/* Of a packet that comes next. NULL: nobody has told. *marks: GT_HSA_QUIET, GT_HSA_LATER, or 0. */
static inline struct gt_hsa_owner *gt_hsa_owner_of(struct gt_hsa_queue *q, uint64_t number,
						   uint64_t *marks)
{
	struct gt_hsa_owner *o = &q->near[number % GT_HSA_NEAR];

	*marks = __atomic_load_n(&o->packet, __ATOMIC_ACQUIRE) ^ (number + 1);
	if (gt_likely(!(*marks & ~(GT_HSA_QUIET | GT_HSA_LATER))))
		return o;
	if (__atomic_load_n(&q->quiet[number % GT_HSA_QUIETS], __ATOMIC_RELAXED) == number + 1) {
		*marks = GT_HSA_QUIET;
		return NULL;
	}
	o = &q->owners[number & q->owner_mask]; /* cold */
	*marks = __atomic_load_n(&o->packet, __ATOMIC_ACQUIRE) ^ (number + 1);
	if (!(*marks & ~(GT_HSA_QUIET | GT_HSA_LATER)))
		return o;
	*marks = 0;
	return NULL;
}

/* Of a packet that is not to be handled yet; NULL: it may be. */
static inline struct gt_hsa_owner *gt_hsa_owner_of_later(struct gt_hsa_queue *q, uint64_t number)
{
	struct gt_hsa_owner *o = &q->near[number % GT_HSA_NEAR];
	uint64_t packet = __atomic_load_n(&o->packet, __ATOMIC_RELAXED);

	/* owners[] are cold */
	if (gt_likely((packet & ~(GT_HSA_QUIET | GT_HSA_LATER)) == number + 1))
		return gt_unlikely(packet & GT_HSA_LATER) ? o : NULL;
	o = &q->owners[number & q->owner_mask];
	return __atomic_load_n(&o->packet, __ATOMIC_RELAXED) == ((number + 1) | GT_HSA_LATER)
		       ? o
		       : NULL;
}

/* The packet that is reserved now is one that nobody asks for. */
static inline GT_IN_LINE void gt_hsa_owner_is_quiet(struct gt_hsa_queue *q, uint64_t number)
{
	if (gt_likely(number - atomic_load_explicit(q->ring.theirs_read, memory_order_acquire) <
		      GT_HSA_QUIETS))
		__atomic_store_n(&q->quiet[number % GT_HSA_QUIETS], number + 1, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&q->owners[number & q->owner_mask].packet,
				 (number + 1) | GT_HSA_QUIET, __ATOMIC_RELAXED);
}

/* This thread has reserved packets [from, from + count). */
void gt_hsa_queue_own_all(struct gt_hsa_queue *q, uint64_t from, uint64_t count);
/* The same, for most packets. False: they are gt_hsa_queue_own_all()'s. */
static inline GT_IN_LINE bool gt_hsa_queue_owns(struct gt_hsa_queue *q, uint64_t from,
						uint64_t count)
{
	struct gt_graph_quiet *quiet = (struct gt_graph_quiet *)gt_thread.graph;

	if (gt_unlikely(quiet != NULL)) {
		if (quiet->left && count == 1 && quiet->queue == q->handle && !quiet->later &&
		    gt_likely(!atomic_load_explicit(&q->has_pieces, memory_order_relaxed))) {
			quiet->left--;
			gt_hsa_owner_is_quiet(q, from);
			return true;
		}
	} else if (gt_likely(count == 1 &&
			     !((uintptr_t)gt_thread.submit_order | gt_thread.api_bytes) &&
			     !gt_tool_work_asked(GT_DOMAIN_HSA_CORE) && gt_hsa_launch_recorded())) {
		struct gt_hsa_owner *o = gt_hsa_owner_of_new(q, from);

		if (gt_likely(!atomic_load_explicit(&o->piece, memory_order_relaxed))) {
			o->packet = from + 1;
			o->id = gt_thread.api_id;
			o->start = gt_thread.api_start;
			o->bytes = 0;
			o->order = NULL;
			o->stamp.graph = o->stamp.replay = 0;
			return true;
		}
	}
	return false;
}

static inline void gt_hsa_queue_own(struct gt_hsa_queue *q, uint64_t from, uint64_t count)
{
	if (gt_unlikely(!gt_hsa_queue_owns(q, from, count)))
		gt_hsa_queue_own_all(q, from, count);
}

/* Faces (hsa_face.c) --------------------------------------------------------- */

/* Of @real, which nobody uses yet, with @size packets. False: no memory. */
bool gt_hsa_face_make(struct gt_hsa_queue *q, void *real, uint32_t size);
void gt_hsa_face_free(struct gt_hsa_queue *q);
/* Its doorbell is found from now on. */
void gt_hsa_face_publish(struct gt_hsa_queue *q);
/* By the helper: has a device rung, or was something left to do? Return: it still is. */
bool gt_hsa_face_look(struct gt_hsa_queue *q);

/* Of work that was submitted; NULL: it is done. */
static inline struct gt_hsa_slot *gt_hsa_slot(const struct gt_hsa_queue *q, uint64_t position)
{
	uint32_t slot = q->order[position & (q->capacity - 1)];

	return slot == GT_HSA_NO_SLOT ? NULL : &q->slots[slot];
}

/* Faults (hsa_fault.c) ------------------------------------------------------------ */

/* Be told when memory is accessed that is not there; once for each load of the runtime. */
void gt_hsa_fault_listen(struct gt_hsa_runtime *r);
/* Instead of the program's callback of a queue; @data: struct gt_hsa_queue. */
gt_hsa_queue_callback gt_hsa_fault_of_queue;

/* Handlers (hsa_handlers.c) ---------------------------------------------------------- */

/* The process ends, and nobody holds a lock of the runtime's: handlers of signals that have
 * completed are over, or take too long. */
void gt_hsa_handlers_pass(void);

/* Dispatch (hsa_dispatch.c) -------------------------------------------------- */

/* The doorbell was rung with @index: what the program has written by now goes to the device.
 * @wait: for room; else the helper does the rest. */
void gt_hsa_handle_packets(struct gt_hsa_queue *q, uint64_t index, bool wait);
/* The same by a thread that rings; it may be left for later what a graph's launch rings for in
 * its middle. */
void gt_hsa_rung(struct gt_hsa_queue *q, uint64_t index);
/* By the helper: does a tool's function not come back that was told of a packet? */
void gt_hsa_look_at_telling(struct gt_hsa_queue *q);

/* A packet that a graph's launch made: what it is in the graph. */
static inline void gt_hsa_stamp(struct gt_record_device *r, const struct gt_node_ref *s,
				enum gt_graph_part part)
{
	r->replay = s->replay;
	r->ordinal = s->ordinal[part];
	r->queue |= (uint64_t)s->graph << 32;
	r->submitted = (uintptr_t)s->span;
}

/* The program's signals (hsa_signal.c) ----------------------------------------- */

/* Read the times of this work from the program's signal when it has them. False: that signal
 * stands for other work that is in flight, or the table is full: not watched. */
bool gt_hsa_signal_watch(struct gt_hsa_watch *w, struct gt_hsa_signal *signal);
/* The signal is about to be used again, or to go: what it has of earlier work is saved now.
 * False: that was not done yet. */
bool gt_hsa_signal_release(uint64_t signal);
/* The helper's look: true: the times are in w->times, or lost. */
bool gt_hsa_signal_harvest(struct gt_hsa_watch *w);
void gt_hsa_signal_forget(struct gt_hsa_watch *w);

/* Scratch (hsa_scratch.c) ----------------------------------------------------------- */

/* A slot's packet in the device's ring, as far as it fits: that is how the runtime names what
 * needs scratch. */
static inline void gt_hsa_slot_index(struct gt_hsa_slot *s, uint64_t index)
{
	__atomic_store_n(&s->record.head.op, (uint32_t)index, __ATOMIC_RELAXED);
}

/* Tools (hsa_told.c) --------------------------------------------------------------- */

/* Was it launched while the program paused its recording? @o: NULL: who reserved it is not
 * known, it is launched now. */
static inline bool gt_hsa_is_unrecorded(const struct gt_hsa_owner *o)
{
	return o ? !o->stamp.replay && o->stamp.graph == GT_HSA_UNRECORDED
		 : !gt_hsa_launch_recorded();
}

/* This thread has reserved the packet. */
void gt_hsa_told_reserve(struct gt_hsa_queue *q, struct gt_hsa_owner *o, bool wanted);
/* The piece of a dispatch, filled in, before gt_work_item_enter(). NULL: nobody asks. */
struct gt_work_item *gt_hsa_told_kernel(struct gt_hsa_queue *q, struct gt_hsa_owner *o,
					const struct gt_hsa_kernel *k,
					const struct gt_hsa_kernel_packet *p);
struct gt_work_item *gt_hsa_told_barrier(struct gt_hsa_queue *q, struct gt_hsa_owner *o);
/* A copy is about to be submitted: after ENTER. NULL: nobody asks. */
struct gt_work_item *gt_hsa_told_copy(const struct gt_hsa_agent *device,
				      const struct gt_hsa_agent *from,
				      const struct gt_hsa_agent *to,
				      const struct gt_record_device *r,
				      const struct gt_node_ref *stamp);
/* @times: NULL: nobody can tell them. */
/* A queue is given scratch memory, or loses it: after ENTER. NULL: nobody asks. @q: NULL: not
 * known; @handle: then the runtime's */
struct gt_work_item *gt_hsa_told_scratch(const struct gt_hsa_queue *q, uint64_t handle,
					 const char *name);
void gt_hsa_told_done(struct gt_work_item *p, const struct gt_hsa_agent *a,
		      const struct gt_hsa_times *times);
/* How the runtime's clock and CLOCK_BOOTTIME go together now. */
void gt_hsa_told_clock(struct gt_hsa_agent *a);
/* An agent is known; told with the next gt_hsa_told_agents(), where callbacks may run. */
void gt_hsa_told_agent(struct gt_hsa_agent *a, const char *name, uint64_t node);
void gt_hsa_told_agents(void);
struct gt_tool_object *gt_hsa_told_queue(const struct gt_hsa_agent *a, uint64_t number,
					 uint64_t handle);

/* Kernels (hsa_code.c) ----------------------------------------------------------- */

enum gt_hsa_kernel_class { /* numbers as in enum gt_graph_part */
			   GT_HSA_KERNEL_USER = GT_GRAPH_KERNEL,
			   GT_HSA_KERNEL_COPY =
				   GT_GRAPH_COPY, /* HIP's own, that copy or fill memory */
			   GT_HSA_KERNEL_FILL = GT_GRAPH_FILL,
};

struct gt_hsa_kernel {
	struct gt_hsa_kernel *next;
	_Atomic uint64_t object; /* address of the kernel's descriptor; 0: unloaded */
	uint64_t executable;
	uint64_t symbol;   /* number of its object */
	uint32_t name;     /* string id */
	uint16_t class;    /* enum gt_hsa_kernel_class */
	uint16_t unwanted; /* not among `gputap run --kernels` */
	const char *text;  /* its name, for tools; NULL: none */
	uint32_t kernarg_bytes;
	bool internal; /* the runtime's own that is neither copy nor fill */
	struct gt_fork_replay *kept;
};

/* Lock-free; NULL: no code object that we saw being loaded has it. */
const struct gt_hsa_kernel *gt_hsa_kernel_find(uint64_t object);

/* Copies (hsa_copy.c) -------------------------------------------------------------- */

/* Are any in flight? Of all devices. */
bool gt_hsa_copies_there(void);
/* Harvest this device's copies. Return: how many are in flight. */
uint32_t gt_hsa_copies_look(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done);
/* The runtime goes: what is in flight is counted as unfinished. */
void gt_hsa_copies_end(const struct gt_hsa_runtime *runtime, struct gt_thread *t);

/* The helper (hsa_helper.c) ----------------------------------------------------------- */

/* A piece of work has completed, or will never; @times: NULL: nobody can tell its times. */
void gt_hsa_write_work(const struct gt_record_device *work, const struct gt_hsa_agent *a,
		       const struct gt_hsa_times *times, struct gt_thread *t);
void gt_hsa_count_unfinished(const struct gt_record_device *work, struct gt_thread *t);

/* An agent is new: no work of it is older than now. */
void gt_hsa_helper_clock(struct gt_hsa_agent *agent);
/* Work was submitted, or will be: have somebody look after it. Starts the agent's helper. */
void gt_hsa_helper_want(struct gt_hsa_agent *agent, struct gt_thread *t);
/* From the packet handler: the queue is half full, and the helper may be asleep. */
void gt_hsa_helper_hurry(struct gt_hsa_agent *agent);
/* There is work in flight: it is not slept through. */
static inline void gt_hsa_helper_rouse(struct gt_hsa_agent *agent)
{
	if (gt_unlikely(atomic_load_explicit(&agent->deep, memory_order_relaxed)))
		gt_hsa_helper_hurry(agent);
}
/* The device has failed, and the process may end right now: harvest what is done. @text: for the
 * capture. In the runtime's thread. */
void gt_hsa_helper_fault(uint64_t value, const char *text);
/* The runtime goes: harvest, and touch it no more. */
void gt_hsa_helper_leave(struct gt_hsa_runtime *runtime);

#endif
