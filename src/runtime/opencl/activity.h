/* SPDX-License-Identifier: MIT */
/* Device activity of OpenCL: what its files share.
 *
 * Each file calls only those that stand before it:
 *   activity_map.c        handle -> object, memory, locks that survive a fork
 *   activity_table.c      the runtime's own functions
 *   activity_callback.c   the program's callbacks, kept out of gputap's threads and locks
 *   activity_shown.c      events that a call shows to the program before it returns
 *   activity_device.c     devices as records name them, and their clocks
 *   activity_object.c     contexts and kernels as records name them
 *   activity_pending.c    work in flight: a list per queue
 *   activity_queue.c      queues as records name them
 *   activity_notify.c     what tools are notified of
 *   activity_harvest.c    the harvest of what has completed
 *   activity_profiling.c  queues: profiling forced on, and hidden from the program
 *   activity_event.c      events: our references and the forced profiling hidden from the program
 *   activity_wait.c       waits and ends: the harvest before they return
 *   activity_helper.c     the thread that harvests what nobody asks about; the end of the process
 *   activity_follow.c     a command becomes work in flight
 *   activity_buffer.c _image.c _kernel.c _svm.c _other.c    wraps of the enqueue functions, three
 *                         lines each
 *   activity_commands.c   command buffers
 *   activity_extension.c  functions that a program asks for by name
 *
 * How completion is noticed: every command gets an event, ours when the program wants none, and
 * stands in its queue's list until somebody finds it completed: a later enqueue (in batches),
 * clFinish and its like, or the helper thread. Not by clSetEventCallback(): PoCL never calls it
 * for a command that failed, the callbacks run in the driver's threads and with its locks'
 * order, on NVIDIA they cost a thread switch each, and the program's own callbacks would be
 * called among ours.
 *
 * Locks are held for a few instructions, and for calls of the runtime that gputap itself makes.
 * The program's callbacks that come in such a call run later (activity_callback.c). */
#ifndef GPUTAP_RUNTIME_OPENCL_ACTIVITY_H
#define GPUTAP_RUNTIME_OPENCL_ACTIVITY_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/tap.h"
#include "generated/opencl_ops.h"
#include "generated/opencl_wraps.h"
#include "tool/tool_work.h"

/* A core function of the runtime below us. */
#define GT_CL(table, f)     ((__typeof__(&f))(table)->taps[GT_OPENCL_INDEX_##f].real)
/* The function that is being wrapped. */
#define GT_CL_REAL(call, f) ((gt_opencl_##f##_fn *)(call)->tap->real)

/* A call that nobody asked to record may still have to be looked at. */
static inline struct gt_thread *gt_cl_thread_find(const struct gt_call *call)
{
	return call->thread ? call->thread : gt_thread_call(GT_DOMAIN_OPENCL);
}

/* Locks, memory, maps (activity_map.c) -------------------------------------- */

/* Holds the epoch of the process that took it, so that one that a fork left taken is seen to be
 * stale. */
struct gt_cl_lock {
	_Atomic uint32_t owner;
};

enum gt_cl_lock_result {
	/* a signal handler in the holder, or a stopped holder: go on without */
	GT_CL_LOCK_FAILED = 0,
	GT_CL_LOCK_TAKEN,
	/* taken, but what it guards was left half done by another process: reset it */
	GT_CL_LOCK_STALE,
};

enum gt_cl_lock_result gt_cl_lock_wait(struct gt_cl_lock *lock, uint32_t epoch);

static inline bool gt_cl_lock_try(struct gt_cl_lock *lock, uint32_t epoch)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(&lock->owner, &nobody, epoch,
						       memory_order_acquire, memory_order_relaxed);
}

static inline enum gt_cl_lock_result gt_cl_lock_take(struct gt_cl_lock *lock, uint32_t epoch)
{
	return gt_likely(gt_cl_lock_try(lock, epoch)) ? GT_CL_LOCK_TAKEN
						      : gt_cl_lock_wait(lock, epoch);
}

static inline void gt_cl_lock_release(struct gt_cl_lock *lock)
{
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
}

/* Zeroed memory that is never given back. NULL: none. Preserves errno. */
void *gt_cl_memory_take(uint32_t epoch, size_t bytes);

/* First member of everything that a handle leads to. Never freed: a handle that is used again
 * finds it again. */
struct gt_cl_node {
	struct gt_cl_node *next;
	const void *handle;
};

struct gt_cl_map {
	unsigned bits;
	_Atomic(struct gt_cl_node *) *buckets; /* 1 << bits */
};

#define GT_CL_MAP(map, log2)                                             \
	static _Atomic(struct gt_cl_node *) map##_buckets[1u << (log2)]; \
	static struct gt_cl_map map = {(log2), map##_buckets}

/* Lock-free. */
static inline void *gt_cl_map_find(const struct gt_cl_map *map, const void *handle)
{
	size_t bucket = (uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - map->bits);
	struct gt_cl_node *n = atomic_load_explicit(&map->buckets[bucket], memory_order_acquire);

	while (n && n->handle != handle)
		n = n->next;
	return n;
}

/* Lock-free; of two for one handle the later one is found. */
void gt_cl_map_add(struct gt_cl_map *map, struct gt_cl_node *node, const void *handle);

/* Devices (activity_device.c) ------------------------------------------------ */

struct gt_cl_device {
	struct gt_cl_node node;
	uint64_t number;
	_Atomic uint32_t epoch; /* process that has its object record; 0: none */
	/* not 0: its properties are to be asked for (the handle was created, or created again) */
	_Atomic uint32_t fresh;
	unsigned version;            /* 102 for OpenCL 1.2 */
	_Atomic bool timer;          /* clGetDeviceAndHostTimer() works */
	bool host;                   /* it computes on the host's processors */
	_Atomic uint64_t clock_read; /* ticks of the last reading */
	_Atomic int notified_clock;  /* which host clock its stamps are of, + 1; 0: not known */
	_Atomic uint64_t notified_number; /* that tools were notified of, as this object */
	struct gt_tool_object *object;
	const struct gt_table *table;
	struct gt_cl_device *next; /* list of all */
};

/* The table with the core functions: extension functions' calls may come with another one. NULL:
 * none has them all. */
const struct gt_table *gt_cl_table_find(const struct gt_call *call);

/* The device's entry, with its record written unless devices are being made just now. NULL: no
 * memory, or @device is none. */
struct gt_cl_device *gt_cl_device_get(const struct gt_table *table, struct gt_thread *t,
				      cl_device_id device);
/* False: it may be half made, and is not to be asked anything. */
bool gt_cl_device_is_asked(const struct gt_cl_device *d);
/* Notify tools of it, once for each number. No lock is held. */
void gt_cl_notify_device(struct gt_cl_device *d);
/* One reading of its clock. */
void gt_cl_device_clock(struct gt_cl_device *d, struct gt_thread *t);
struct gt_cl_device *gt_cl_device_first(void);
/* Around each call that asks the runtime for its devices, which it may make only then. */
void gt_cl_devices_begin_making(uint32_t epoch);
void gt_cl_devices_end_making(uint32_t epoch);

/* Contexts, kernels (activity_object.c) --------------------------------------- */

/* The context's number, its record written. 0: none. */
uint64_t gt_cl_context_number(const struct gt_table *table, struct gt_thread *t,
			      cl_context context);

/* A kernel's number, which tools were notified of. 0: no memory. No lock is held. */
uint64_t gt_cl_notify_kernel(const struct gt_table *table, struct gt_thread *t, cl_kernel kernel);

/* String id of the kernel's name; 0: not known. */
uint32_t gt_cl_kernel_name(const struct gt_table *table, struct gt_thread *t, cl_kernel kernel);

/* Of `gputap run --kernels`: false: its dispatches are not followed. */
bool gt_cl_kernel_chosen(const struct gt_call *call, cl_kernel kernel);
static inline bool gt_cl_kernel_wanted(const struct gt_call *call, cl_kernel kernel)
{
	return gt_likely(!gt_tap_options.choose_kernels) || !call->thread ||
	       gt_cl_kernel_chosen(call, kernel);
}

/* Queues (activity_queue.c) ------------------------------------------------- */

enum { GT_CL_PROPERTIES_MAX = 32 };

/* What an enqueue function knows of its command: the part of struct gt_record_device that is not
 * the same for all. */
struct gt_cl_what {
	uint64_t bytes;
	uint64_t object[2];
	uint32_t global[3];
	uint32_t local[3];
	uint32_t name;
	uint32_t replay;
};

struct gt_cl_chunk; /* of a queue's list of work in flight (activity_pending.h) */

struct gt_cl_queue {
	struct gt_cl_node node;
	const struct gt_table *table;
	struct gt_cl_queue *next; /* list of all, never shorter */
	struct gt_cl_device *device;
	_Atomic(cl_context) context;
	uint64_t number;
	_Atomic uint32_t written;         /* process that has its object record */
	_Atomic uint32_t epoch;           /* process whose work is in the lists */
	_Atomic uint64_t notified_number; /* that tools were notified of, as this object */
	struct gt_tool_object *object;
	bool forced; /* profiling is on, and the program did not ask for it */
	bool out_of_order;
	bool untimed;        /* its events have no times */
	_Atomic bool helped; /* the helper harvests it, also while the program feeds it */
	/* what the program gave to ..WithProperties; 0: NULL, or another function */
	uint8_t list_count;
	cl_command_queue_properties asked; /* as the program wants to see them */
	cl_queue_properties list[GT_CL_PROPERTIES_MAX];

	/* Work in flight: positions count all commands ever; [harvested, pushed) are in the
	 * list. */
	_Alignas(64) struct gt_cl_lock push; /* tail, pushed */
	_Atomic uint32_t look;               /* an enqueue that makes so many wait harvests */
	struct gt_cl_chunk *tail;
	_Atomic uint64_t pushed;
	/* head, harvested, and the references in the list */
	_Alignas(64) struct gt_cl_lock harvest;
	struct gt_cl_chunk *head;
	uint64_t head_at; /* position of its first entry */
	_Atomic uint64_t harvested;
	/* the helper's: `harvested` at its last look, and since when it has that value */
	uint64_t harvested_known, unharvested_since_ns;
	/* threads in clFinish(): they harvest when it returns */
	_Atomic uint32_t waiting;
};

/* The queue's entry as it is; NULL: created while nothing was recorded. */
struct gt_cl_queue *gt_cl_queue_find(cl_command_queue queue);
/* The same, made when it is not there yet. */
struct gt_cl_queue *gt_cl_queue_get(const struct gt_table *table, struct gt_thread *t,
				    cl_command_queue queue);
/* An entry for a handle that has none. NULL: no memory. */
struct gt_cl_queue *gt_cl_queue_add(struct gt_thread *t, cl_command_queue queue);
/* Its object record, in words; once its device has been asked. */
void gt_cl_queue_write(struct gt_cl_queue *q, struct gt_thread *t);
/* The queue is there. Once its device has been asked, notify tools of both, once for each number.
 * No lock is held. */
void gt_cl_notify_queue(struct gt_cl_queue *q);
/* Of all, the one that was added last. */
struct gt_cl_queue *gt_cl_queue_first(void);
/* The queue of a command's event. NULL: none of ours, or inside of a call of gputap's own. */
struct gt_cl_queue *gt_cl_queue_of_event(const struct gt_table *table, cl_event event);

/* Profiling forced on (activity_profiling.c) -------------------------------- */

/* A queue of the runtime's with what the program asked for, and no profiling; NULL: there is none.
 * Inside a call of gputap's own. The caller releases it. */
cl_command_queue gt_cl_queue_alike(const struct gt_cl_queue *q);

/* Work (activity_follow.c, activity_harvest.c) ------------------------------ */

/* A command on its way into a queue. */
struct gt_cl_work {
	struct gt_cl_what what;
	/* the runtime writes to `wanted` itself; NULL: it gets a variable of ours */
	struct gt_cl_shown *shown;
	const struct gt_table *table; /* NULL: not followed */
	cl_event event;               /* what the runtime gave */
	cl_event *wanted;             /* where the program wants it; NULL: it does not */
	/* of an event that the program wants, one reference is ours already */
	bool retained;
	struct gt_thread *thread;  /* NULL: not followed either */
	struct gt_work_item *item; /* for tools; NULL: none asks */
	/* with a work item: notified, and open around this one in this thread */
	struct gt_cl_work *outer;
	bool unwanted; /* of `gputap run --kernels`: not recorded */
	bool recorded;
};

/* Is this call's device work recorded, and not only notified? */
static inline bool gt_cl_is_recorded(const struct gt_call *call)
{
	return call->thread &&
	       (atomic_load_explicit(&gt_stream_work, memory_order_relaxed) >> GT_DOMAIN_OPENCL &
		1);
}

/* Tools (activity_notify.c): ENTER, before the real call. w->item, w->thread then. */
void gt_cl_item_enter(const struct gt_call *call, cl_command_queue queue, enum gt_device_op op,
		      struct gt_cl_work *w);
/* After it, before EXIT: what this thread enqueues from now on is not inside of it. */
void gt_cl_item_leave(const struct gt_cl_work *w);
/* What is known after it, before EXIT. */
void gt_cl_item_describe(struct gt_cl_work *w, const struct gt_cl_queue *q, enum gt_device_op op);
/* @times: QUEUED, SUBMIT, START, END as the driver says them; 0: it does not. */
void gt_cl_item_complete(struct gt_work_item *p, struct gt_cl_device *d, cl_int status,
			 const uint64_t times[4]);

#define GT_CL_NO_EVENT ((cl_event)(uintptr_t)&gt_cl_no_event)
extern const char gt_cl_no_event;

/* What to give to the runtime as `event`. Sets all of @w but what the wrap knows: `what`,
 * `unwanted`. */
static inline cl_event *gt_cl_work_begin(const struct gt_call *call, cl_command_queue queue,
					 enum gt_device_op op, struct gt_cl_work *w,
					 cl_event *event)
{
	w->table = NULL;
	w->event = NULL;
	w->wanted = NULL;
	w->shown = NULL;
	w->retained = false;
	w->item = NULL;
	w->recorded = gt_cl_is_recorded(call) && !w->unwanted;
	w->thread = w->recorded ? call->thread : NULL;
	if (gt_unlikely(gt_tool_work_asked(GT_DOMAIN_OPENCL)))
		gt_cl_item_enter(call, queue, op, w);
	if (gt_unlikely(!w->thread) || gt_unlikely(!(w->table = gt_cl_table_find(call))))
		return event;
	/* what the runtime leaves untouched stays untouched for the program */
	w->event = GT_CL_NO_EVENT;
	w->wanted = event;
	return &w->event;
}

/* Events that a call shows to the program before it returns (activity_shown.c) */
void gt_cl_shown_begin(struct gt_cl_work *w);
/* w->event, w->retained then. */
void gt_cl_shown_end(struct gt_cl_work *w, cl_int ret);

/* gt_cl_work_begin() for a call that may take long, or run the program's code: other threads, and
 * that code, see the event where the program wants it as soon as the runtime has written it. */
static inline cl_event *gt_cl_work_begin_early(const struct gt_call *call, cl_command_queue queue,
					       enum gt_device_op op, struct gt_cl_work *w,
					       cl_event *event, bool early)
{
	cl_event *where = gt_cl_work_begin(call, queue, op, w, event);

	if (!early || !w->wanted)
		return where;
	gt_cl_shown_begin(w);
	return w->shown ? event : where;
}

/* What lies @ahead of the next record in the thread's ring will be written before long, though
 * the collector's core had it last: so that it comes meanwhile, not when one of the runtime's
 * locks waits for what is stored. It may be beyond the block. */
static inline void gt_cl_fetch_ring(const struct gt_thread *t, size_t ahead, size_t bytes)
{
	for (size_t i = ahead; i < ahead + bytes; i += 64)
		__builtin_prefetch(t->cur + i, 1);
}

static inline uint32_t gt_cl_saturate_size(size_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* A region of @element bytes each; only after the runtime found it to be right. */
static inline void gt_cl_set_region(struct gt_cl_work *w, const size_t *region, size_t element)
{
	if (!region)
		return;
	w->what.bytes = (uint64_t)region[0] * region[1] * region[2] * element;
	for (unsigned i = 0; i < 3; i++)
		w->what.global[i] = gt_cl_saturate_size(region[i]);
}

/**
 * gt_cl_work_follow() - the other half of gt_cl_work_begin(), after the real call
 * @blocking: the call has waited for the command
 * Return: @ret
 */
cl_int gt_cl_work_follow(const struct gt_call *call, cl_command_queue queue, enum gt_device_op op,
			 bool blocking, struct gt_cl_work *w, cl_int ret);

/**
 * gt_cl_queue_harvest() - record and let go what has completed, of one queue
 * @limit: look at so many at most
 * Return: how many were done. Does nothing inside gputap's own calls.
 */
uint32_t gt_cl_queue_harvest(struct gt_cl_queue *q, uint32_t limit);
/* All of a queue, also when another thread is at it: after the program has waited for its
 * commands, their records are there, whatever happens to it next. */
void gt_cl_queue_harvest_all(struct gt_cl_queue *q);
/* The same after a wait for some of them, @events. Of a queue out of order: these wherever they
 * stand, and others as long as half of those that are asked about are done. To ask about all
 * that is in flight at each of many waits would be quadratic. */
void gt_cl_queue_harvest_waited(struct gt_cl_queue *q, const cl_event *events, uint32_t count);

/* By an enqueue: what is done, but not what has just been done. A worker of the runtime is
 * there: who asks about that command or lets it go waits for a lock that the worker holds, and
 * the worker for the one who asks. */
void gt_cl_queue_harvest_behind(struct gt_cl_queue *q);

/* The program's callbacks (activity_callback.c) ------------------------------ */

struct callback;
extern _Thread_local struct callback *gt_cl_callbacks_waiting
	__attribute__((tls_model("initial-exec")));
void gt_cl_callbacks_run_waiting(void);

/* The program's callbacks that came inside gputap's own calls in this thread run now. No lock is
 * held. */
static inline void gt_cl_callbacks_run(void)
{
	if (gt_unlikely(gt_cl_callbacks_waiting != NULL))
		gt_cl_callbacks_run_waiting();
}

/* A reference of ours comes and goes. No lock is held: what the program has registered for the
 * event may run now. */
static inline bool gt_cl_event_retain(const struct gt_table *table, cl_event event)
{
	cl_int ret;

	gt_internal_enter();
	ret = GT_CL(table, clRetainEvent)(event);
	gt_internal_leave();
	return ret == CL_SUCCESS;
}

static inline void gt_cl_event_release(const struct gt_table *table, cl_event event)
{
	gt_internal_enter();
	GT_CL(table, clReleaseEvent)(event);
	gt_internal_leave();
	gt_cl_callbacks_run();
}

/* What the runtime is given in the place of the program's function. _drop(): it refused. */
struct gt_cl_context_callback {
	gt_cl_context_notify function;
	void *user;
};
struct gt_cl_context_callback gt_cl_context_callback_make(const struct gt_call *call,
							  gt_cl_context_notify function,
							  void *user);
void gt_cl_context_callback_drop(const struct gt_cl_context_callback *n);
struct gt_cl_svm_callback {
	gt_cl_svm_free function;
	void *user;
};
struct gt_cl_svm_callback gt_cl_svm_callback_make(const struct gt_call *call,
						  gt_cl_svm_free function, void *user);
void gt_cl_svm_callback_drop(const struct gt_cl_svm_callback *f);

/* Callbacks that came in the helper: is there none to run them? The helper, outside of the
 * runtime, starts a thread then. */
bool gt_cl_callback_thread_wanted(uint32_t epoch);
void gt_cl_callback_thread_start(uint32_t epoch);
/* The process is ending: that thread begins no more. @run_them: this one does. */
void gt_cl_callbacks_end(bool run_them);

/* Work was put into an empty queue: have somebody look after it. */
void gt_cl_helper_want(const struct gt_thread *t);
extern _Atomic uint32_t gt_cl_helper_alive; /* process whose helper runs */
static inline bool gt_cl_helper_lives(void)
{
	return atomic_load_explicit(&gt_cl_helper_alive, memory_order_relaxed) ==
	       atomic_load_explicit(gt_epoch, memory_order_relaxed);
}

#endif
