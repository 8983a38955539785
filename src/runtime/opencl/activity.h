/* SPDX-License-Identifier: MIT */
/* Device activity of OpenCL: parts shared between its files.
 *
 * Each file calls only files listed before it:
 *   activity_map.c        handle -> object, memory, locks that survive a fork
 *   activity_table.c      the runtime's own functions
 *   activity_callback.c   the program's callbacks, kept out of threads and locks of gputap
 *   activity_shown.c      events that a call shows to the program before it returns
 *   activity_device.c     devices as records identify them, and their clocks
 *   activity_object.c     contexts and kernels as records identify them
 *   activity_pending.c    activities in flight: a list per queue
 *   activity_queue.c      queues as records identify them
 *   activity_notify.c     notification of tools
 *   activity_harvest.c    the harvest of completed activities
 *   activity_profiling.c  queues: profiling forced on, and hidden from the program
 *   activity_event.c      events: our references and the forced profiling hidden from the program
 *   activity_wait.c       waits and ends: the harvest before they return
 *   activity_helper.c     the thread that harvests when no call does; the end of the process
 *   activity_follow.c     from a command to an activity in flight
 *   activity_buffer.c _image.c _kernel.c _svm.c _other.c    wraps of the enqueue functions, three
 *                         lines each
 *   activity_commands.c   command buffers
 *   activity_extension.c  functions that a program looks up
 *
 * Completion is detected as follows: every command gets an event, gputap's if the program does not
 * want one, and stays in its queue's list until it is found completed: in a later enqueue (in
 * batches), in clFinish and similar calls, or in the helper thread. clSetEventCallback() is not
 * used: PoCL never calls it for a command that failed, the callbacks run in the driver's threads
 * and with its locks' order, on NVIDIA they cost a thread switch each, and the program's own
 * callbacks would be called among ours.
 *
 * Locks are held for a few instructions, and for calls of the runtime that gputap itself makes. If
 * such a call triggers the program's callbacks, they run later (activity_callback.c). */
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
#include "tool/tool_activity.h"

/* A core function of the runtime below the taps. */
#define GT_CL(table, f)     ((__typeof__(&f))(table)->taps[GT_OPENCL_INDEX_##f].real)
/* The function that is being wrapped. */
#define GT_CL_REAL(call, f) ((gt_opencl_##f##_fn *)(call)->tap->real)

/* Return the thread even if the call is not recorded: it may still have to be followed. */
static inline struct gt_thread *gt_cl_thread_find(const struct gt_call *call)
{
	return call->thread ? call->thread : gt_thread_call(GT_DOMAIN_OPENCL);
}

/* Locks, memory, maps (activity_map.c) -------------------------------------- */

/* Holds the epoch of the process that took it, so that a lock left taken in a fork is recognised as
 * stale. */
struct gt_cl_lock {
	_Atomic uint32_t owner;
};

enum gt_cl_lock_result {
	/* held in this thread below a signal handler, or in a stopped thread: continue without the
	 * lock */
	GT_CL_LOCK_FAILED = 0,
	GT_CL_LOCK_TAKEN,
	/* taken, but the protected data was left half changed in another process: reset it */
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

/* Return zeroed memory that is never freed, or NULL. Preserves errno. */
void *gt_cl_memory_take(uint32_t epoch, size_t bytes);

/* First member of every object that is found from a handle. Never freed: a reused handle finds its
 * old node again. */
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

/* Find a node, lock-free. */
static inline void *gt_cl_map_find(const struct gt_cl_map *map, const void *handle)
{
	size_t bucket = (uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - map->bits);
	struct gt_cl_node *n = atomic_load_explicit(&map->buckets[bucket], memory_order_acquire);

	while (n && n->handle != handle)
		n = n->next;
	return n;
}

/* Add a node, lock-free; of two for one handle the later one is found. */
void gt_cl_map_add(struct gt_cl_map *map, struct gt_cl_node *node, const void *handle);

/* Devices (activity_device.c) ------------------------------------------------ */

struct gt_cl_device {
	struct gt_cl_node node;
	uint64_t number;
	_Atomic uint32_t epoch; /* process that has its object record; 0: none */
	/* not 0: its properties must be queried (the handle was created, or created again) */
	_Atomic uint32_t fresh;
	unsigned version;                 /* 102 for OpenCL 1.2 */
	_Atomic bool timer;               /* clGetDeviceAndHostTimer() works */
	bool host;                        /* it computes on the host's processors: a CPU device */
	_Atomic uint64_t clock_read;      /* ticks of the last reading */
	_Atomic int notified_clock;       /* host clock of its timestamps, + 1; 0: not known */
	_Atomic uint64_t notified_number; /* number under which tools were last notified of it */
	struct gt_tool_object *object;
	const struct gt_table *table;
	struct gt_cl_device *next; /* list of all */
};

/* Return the table with the core functions: extension functions' calls may come with another one.
 * Return NULL if no table has them all. */
const struct gt_table *gt_cl_table_find(const struct gt_call *call);

/* Return the device's entry, with its record written unless devices are being created at this
 * moment. Return NULL if out of memory, or @device is NULL. */
struct gt_cl_device *gt_cl_device_get(const struct gt_table *table, struct gt_thread *t,
				      cl_device_id device);
/* Return false if the device may be half created and must not be queried. */
bool gt_cl_device_is_asked(const struct gt_cl_device *d);
/* Notify tools of a device, once for each number. The caller holds no lock. */
void gt_cl_notify_device(struct gt_cl_device *d);
/* Read a device's clock once. */
void gt_cl_device_clock(struct gt_cl_device *d, struct gt_thread *t);
struct gt_cl_device *gt_cl_device_first(void);
/* Enclose each call that queries the runtime for its devices, because it may create them then. */
void gt_cl_devices_begin_making(uint32_t epoch);
void gt_cl_devices_end_making(uint32_t epoch);

/* Contexts, kernels (activity_object.c) --------------------------------------- */

/* Return the context's number, with its record written. 0: none. */
uint64_t gt_cl_context_number(const struct gt_table *table, struct gt_thread *t,
			      cl_context context);

/* Return the number of a kernel, after notifying tools of it. 0: out of memory. The caller holds no
 * lock. */
uint64_t gt_cl_notify_kernel(const struct gt_table *table, struct gt_thread *t, cl_kernel kernel);

/* Return the string id of the kernel's name; 0: not known. */
uint32_t gt_cl_kernel_name(const struct gt_table *table, struct gt_thread *t, cl_kernel kernel);

/* Return false if `gputap run --kernels` does not select it: its dispatches are not followed. */
bool gt_cl_kernel_chosen(const struct gt_call *call, cl_kernel kernel);
static inline bool gt_cl_kernel_wanted(const struct gt_call *call, cl_kernel kernel)
{
	return gt_likely(!gt_tap_options.choose_kernels) || !call->thread ||
	       gt_cl_kernel_chosen(call, kernel);
}

/* Queues (activity_queue.c) ------------------------------------------------- */

enum { GT_CL_PROPERTIES_MAX = 32 };

/* Command-specific part of struct gt_record_device, as an enqueue function knows it. */
struct gt_cl_what {
	uint64_t bytes;
	uint64_t object[2];
	uint32_t global[3];
	uint32_t local[3];
	uint32_t name;
	uint32_t replay;
};

struct gt_cl_chunk; /* part of a queue's list of activities in flight (activity_pending.h) */

struct gt_cl_queue {
	struct gt_cl_node node;
	const struct gt_table *table;
	struct gt_cl_queue *next; /* list of all; never shrinks */
	struct gt_cl_device *device;
	_Atomic(cl_context) context;
	uint64_t number;
	_Atomic uint32_t written;         /* process that has its object record */
	_Atomic uint32_t epoch;           /* process whose activities are in the list */
	_Atomic uint64_t notified_number; /* number under which tools were last notified of it */
	struct gt_tool_object *object;
	bool forced; /* profiling is on, and the program did not request it */
	bool out_of_order;
	bool untimed;        /* its events have no times */
	_Atomic bool helped; /* the helper harvests it, also while the program enqueues to it */
	/* list that the program passed to ..WithProperties; 0: NULL, or another function */
	uint8_t list_count;
	cl_command_queue_properties asked; /* as the program expects to read them */
	cl_queue_properties list[GT_CL_PROPERTIES_MAX];

	/* Activities in flight: positions count all commands ever; [harvested, pushed) are in the
	 * list. */
	_Alignas(64) struct gt_cl_lock push; /* protects tail, pushed */
	/* an enqueue that reaches this number of waiting commands harvests */
	_Atomic uint32_t look;
	struct gt_cl_chunk *tail;
	_Atomic uint64_t pushed;
	/* protects head, harvested, and the references in the list */
	_Alignas(64) struct gt_cl_lock harvest;
	struct gt_cl_chunk *head;
	uint64_t head_at; /* position of its first entry */
	_Atomic uint64_t harvested;
	/* the helper's: `harvested` at its last look, and the time since when it has had that
	 * value */
	uint64_t harvested_known, unharvested_since_ns;
	/* number of threads in clFinish(): they harvest when it returns */
	_Atomic uint32_t waiting;
};

/* Return the queue's entry unchanged, or NULL if it was created while nothing was recorded. */
struct gt_cl_queue *gt_cl_queue_find(cl_command_queue queue);
/* Return a queue's entry, after creating it if necessary. */
struct gt_cl_queue *gt_cl_queue_get(const struct gt_table *table, struct gt_thread *t,
				    cl_command_queue queue);
/* Create an entry for a handle that has none. Return NULL if out of memory. */
struct gt_cl_queue *gt_cl_queue_add(struct gt_thread *t, cl_command_queue queue);
/* Write a queue's object record, with properties as text; only once its device has been queried. */
void gt_cl_queue_write(struct gt_cl_queue *q, struct gt_thread *t);
/* Register a queue. Once its device has been queried, notify tools of both, once for each number.
 * The caller holds no lock. */
void gt_cl_notify_queue(struct gt_cl_queue *q);
/* Return the head of the list of all queues, the newest one. */
struct gt_cl_queue *gt_cl_queue_first(void);
/* Return the queue of a command's event, or NULL if it is not followed, or in a call made by
 * gputap. */
struct gt_cl_queue *gt_cl_queue_of_event(const struct gt_table *table, cl_event event);

/* Profiling forced on (activity_profiling.c) -------------------------------- */

/* Create a queue with the properties that the program requested, and no profiling. Return NULL on
 * failure. Call inside gt_internal_enter(). The caller releases the queue. */
cl_command_queue gt_cl_queue_alike(const struct gt_cl_queue *q);

/* Work (activity_follow.c, activity_harvest.c) ------------------------------ */

/* A command that is being enqueued. */
struct gt_cl_work {
	struct gt_cl_what what;
	/* the runtime writes to `wanted` itself; NULL: to a variable of gputap */
	struct gt_cl_shown *shown;
	const struct gt_table *table; /* NULL: not followed */
	cl_event event;               /* event that the runtime returned */
	cl_event *wanted;             /* where the program wants it; NULL: it does not want it */
	/* gputap already holds a reference of an event that the program wants */
	bool retained;
	struct gt_thread *thread; /* NULL: also not followed */
	struct gt_activity *item; /* for tools; NULL: none wants it */
	/* with an item: the enclosing one in this thread that tools were notified of */
	struct gt_cl_work *outer;
	bool unwanted; /* not selected by `gputap run --kernels`: not recorded */
	bool recorded;
};

/* Return true if this call's activity is recorded. If false, at most tools are notified. */
static inline bool gt_cl_is_recorded(const struct gt_call *call)
{
	return call->thread &&
	       (atomic_load_explicit(&gt_stream_work, memory_order_relaxed) >> GT_DOMAIN_OPENCL &
		1);
}

/* Tools (activity_notify.c): call ENTER, before the real call. Sets w->item, w->thread. */
void gt_cl_item_enter(const struct gt_call *call, cl_command_queue queue, enum gt_device_op op,
		      struct gt_cl_work *w);
/* Call after the real call, before EXIT: later enqueues of this thread are not nested in it. */
void gt_cl_item_leave(const struct gt_cl_work *w);
/* Add the data known after the real call, before EXIT. */
void gt_cl_item_describe(struct gt_cl_work *w, const struct gt_cl_queue *q, enum gt_device_op op);
/* @times: QUEUED, SUBMIT, START, END as the driver reports them; 0: not reported. */
void gt_cl_item_complete(struct gt_activity *p, struct gt_cl_device *d, cl_int status,
			 const uint64_t times[4]);

#define GT_CL_NO_EVENT ((cl_event)(uintptr_t)&gt_cl_no_event)
extern const char gt_cl_no_event;

/* Return the value to pass to the runtime as `event`. Sets all of @w except the members that the
 * wrap sets: `what`, `unwanted`. */
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
	if (gt_unlikely(gt_tool_activity_asked(GT_DOMAIN_OPENCL)))
		gt_cl_item_enter(call, queue, op, w);
	if (gt_unlikely(!w->thread) || gt_unlikely(!(w->table = gt_cl_table_find(call))))
		return event;
	/* the program's variable changes only if the runtime sets the event */
	w->event = GT_CL_NO_EVENT;
	w->wanted = event;
	return &w->event;
}

/* Events that a call shows to the program before it returns (activity_shown.c) */
void gt_cl_shown_begin(struct gt_cl_work *w);
/* Sets w->event, w->retained. */
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

/* Prefetch the memory @ahead of the next record in the thread's ring: it will be written soon, and
 * the collector's core had it last. So it arrives meanwhile, not while a lock of the runtime waits
 * for the store. It may be beyond the block. */
static inline void gt_cl_fetch_ring(const struct gt_thread *t, size_t ahead, size_t bytes)
{
	for (size_t i = ahead; i < ahead + bytes; i += 64)
		__builtin_prefetch(t->cur + i, 1);
}

static inline uint32_t gt_cl_saturate_size(size_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Set a region with elements of @element bytes; call only after the runtime has accepted it. */
static inline void gt_cl_set_region(struct gt_cl_work *w, const size_t *region, size_t element)
{
	if (!region)
		return;
	w->what.bytes = (uint64_t)region[0] * region[1] * region[2] * element;
	for (unsigned i = 0; i < 3; i++)
		w->what.global[i] = gt_cl_saturate_size(region[i]);
}

/**
 * gt_cl_work_follow() - second half of gt_cl_work_begin(), after the real call
 * @blocking: the call has waited for the command
 * Return: @ret
 */
cl_int gt_cl_work_follow(const struct gt_call *call, cl_command_queue queue, enum gt_device_op op,
			 bool blocking, struct gt_cl_work *w, cl_int ret);

/**
 * gt_cl_queue_harvest() - record and release completed commands of one queue
 * @limit: maximum number of commands to look at
 * Return: number of completed ones. Does nothing inside gputap's own calls.
 */
uint32_t gt_cl_queue_harvest(struct gt_cl_queue *q, uint32_t limit);
/* Harvest all of a queue, waiting if another thread is harvesting it: after the program has waited
 * for its commands, their records exist, even if the process ends right after that. */
void gt_cl_queue_harvest_all(struct gt_cl_queue *q);
/* The same after a wait for some of them, @events. In an out-of-order queue: these at any position,
 * and others as long as half of the examined ones are done. Querying everything in flight at each
 * of many waits would be quadratic. */
void gt_cl_queue_harvest_waited(struct gt_cl_queue *q, const cl_event *events, uint32_t count);

/* Harvest in an enqueue: completed commands, but not the most recent ones. A worker of the runtime
 * is still using those: a thread that queries or releases such a command waits for a lock that the
 * worker holds, and the worker then waits for that thread. */
void gt_cl_queue_harvest_behind(struct gt_cl_queue *q);

/* The program's callbacks (activity_callback.c) ------------------------------ */

struct callback;
extern _Thread_local struct callback *gt_cl_callbacks_waiting
	__attribute__((tls_model("initial-exec")));
void gt_cl_callbacks_run_waiting(void);

/* Run the program's callbacks that were triggered in gputap's own calls in this thread. The caller
 * holds no lock. */
static inline void gt_cl_callbacks_run(void)
{
	if (gt_unlikely(gt_cl_callbacks_waiting != NULL))
		gt_cl_callbacks_run_waiting();
}

/* Take and release gputap's references. The caller holds no lock: the program's callbacks for the
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

/* Passed to the runtime instead of the program function. Call _drop() if the runtime refused it. */
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

/* Return true if callbacks were handed over in the helper, and no thread exists to run them. The
 * helper then starts a thread, outside of the runtime. */
bool gt_cl_callback_thread_wanted(uint32_t epoch);
void gt_cl_callback_thread_start(uint32_t epoch);
/* The process is ending: stop that thread from starting more. @run_them: run them in this
 * thread. */
void gt_cl_callbacks_end(bool run_them);

/* Make sure that the helper looks after a queue that was empty until now. */
void gt_cl_helper_want(const struct gt_thread *t);
extern _Atomic uint32_t gt_cl_helper_alive; /* process whose helper runs */
static inline bool gt_cl_helper_lives(void)
{
	return atomic_load_explicit(&gt_cl_helper_alive, memory_order_relaxed) ==
	       atomic_load_explicit(gt_epoch, memory_order_relaxed);
}

#endif
