/* SPDX-License-Identifier: MIT */
/* GPU activities of OpenCL: declarations shared between the files of this folder.
 *
 * Each file calls only files listed before it:
 *   activity_map.c        handle -> object, memory, locks that survive a fork
 *   activity_table.c      the runtime's own functions
 *   activity_callback.c   the program's callbacks, kept out of threads and locks of gputap
 *   activity_shown.c      events that the program sees before the call returns
 *   activity_device.c     devices as records identify them, and their clocks
 *   activity_object.c     contexts and kernels as records identify them
 *   activity_pending.c    activities in flight: a list per queue
 *   activity_queue.c      queues as records identify them
 *   activity_notify.c     notification of tools
 *   activity_harvest.c    the harvest of completed activities
 *   activity_profiling.c  queues: profiling is forced on, and hidden from the program
 *   activity_event.c      events: hides gputap's references and the forced profiling
 *   activity_wait.c       calls that wait or end objects, which harvest before they return
 *   activity_helper.c     the thread that harvests what no call harvests; the end of the process
 *   activity_follow.c     conversion of a command to an activity in flight
 *   activity_buffer.c _image.c _kernel.c _svm.c _other.c    wraps of the enqueue functions, three
 *                         lines each
 *   activity_commands.c   command buffers
 *   activity_extension.c  functions that a program looks up
 *
 * Completion is detected as follows. Every command gets an event; gputap provides one if the
 * program does not want any. The command stays in its queue's list until it is found completed: in
 * a later enqueue (in batches), in clFinish and similar calls, or in the helper thread.
 * clSetEventCallback() is not used, for four reasons. PoCL never calls the callback of a command
 * that failed. Callbacks run in the driver's threads, within the driver's lock order. On NVIDIA
 * each callback costs a thread switch. The program's own callbacks would be interleaved with
 * gputap's.
 *
 * Locks are held for a few instructions, and during calls of the runtime that gputap itself makes.
 * If such a call triggers callbacks of the program, the callbacks run later
 * (activity_callback.c). */
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
#include "core/late.h"
#include "core/tap.h"
#include "generated/opencl_ops.h"
#include "generated/opencl_wraps.h"
#include "tool/tool_activity.h"

/* A core function of the runtime, below the taps. */
#define GT_CL(table, f)     ((__typeof__(&f))(table)->taps[GT_OPENCL_INDEX_##f].real)
/* The wrapped function. */
#define GT_CL_REAL(call, f) ((gt_opencl_##f##_fn *)(call)->tap->real)

/* Return the thread, even if the call is not recorded, because the call's command may still have to
 * be followed. */
static inline struct gt_thread *gt_cl_thread_find(const struct gt_call *call)
{
	return call->thread ? call->thread : gt_thread_call(GT_DOMAIN_OPENCL);
}

/* Locks, memory, maps (activity_map.c) -------------------------------------- */

/* A lock that stores the epoch of the owning process. After a fork, a lock that a thread of the
 * parent held is recognised as stale. */
struct gt_cl_lock {
	_Atomic uint32_t owner;
};

enum gt_cl_lock_result {
	/* held by this thread below a signal handler, or by a stopped thread: continue without the
	 * lock */
	GT_CL_LOCK_FAILED = 0,
	GT_CL_LOCK_TAKEN,
	/* taken, but another process left the protected data half changed: reset the data */
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

/* First member of every object that is looked up by its handle. Nodes are never freed: if a handle
 * is reused, the look-up finds the previous object's node. */
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

/* Add a node, lock-free. If a handle has two nodes, look-ups find the newer node. */
void gt_cl_map_add(struct gt_cl_map *map, struct gt_cl_node *node, const void *handle);

/* Devices (activity_device.c) ------------------------------------------------ */

struct gt_cl_device {
	struct gt_cl_node node;
	uint64_t number;
	_Atomic uint32_t epoch; /* process that has written the device's object record; 0: none */
	/* Not 0: the device's properties must be queried, because its handle is new or reused. */
	_Atomic uint32_t fresh;
	unsigned version;   /* 102 for OpenCL 1.2 */
	_Atomic bool timer; /* true if clGetDeviceAndHostTimer() works */
	/* true for a CPU device, which computes on the host's processors */
	bool host;
	_Atomic uint64_t clock_read; /* ticks of the last clock reading */
	/* one plus the index of the host clock that its time stamps use; 0: not known */
	_Atomic int notified_clock;
	/* number under which tools were last notified of the device */
	_Atomic uint64_t notified_number;
	struct gt_tool_object *object;
	const struct gt_table *table;
	struct gt_cl_device *next; /* next in the list of all devices */
};

/* Return the table with the core functions; calls of extension functions may use another table.
 * Return NULL if no table has all core functions. */
const struct gt_table *gt_cl_table_find(const struct gt_call *call);

/* Return the entry of a device, and write its record unless devices are being created at this
 * moment. Return NULL if out of memory, or if @device is NULL. */
struct gt_cl_device *gt_cl_device_get(const struct gt_table *table, struct gt_thread *t,
				      cl_device_id device);
/* Return false if the device may be half created, so that its properties must not be queried. */
bool gt_cl_device_is_asked(const struct gt_cl_device *d);
/* Notify tools of a device, once for each number. The caller must hold no lock. */
void gt_cl_notify_device(struct gt_cl_device *d);
/* Read a device's clock once. */
void gt_cl_device_clock(struct gt_cl_device *d, struct gt_thread *t);
struct gt_cl_device *gt_cl_device_first(void);
/* Enclose each call that queries the runtime for its devices, because the runtime may create them
 * during such a call. */
void gt_cl_devices_begin_making(uint32_t epoch);
void gt_cl_devices_end_making(uint32_t epoch);

/* Contexts, kernels (activity_object.c) --------------------------------------- */

/* Return the number of a context, and write its record on first use. 0: none. */
uint64_t gt_cl_context_number(const struct gt_table *table, struct gt_thread *t,
			      cl_context context);

/* Return the number of a kernel, after notifying tools of it. 0: out of memory. The caller must
 * hold no lock. */
uint64_t gt_cl_notify_kernel(const struct gt_table *table, struct gt_thread *t, cl_kernel kernel);

/* Return the string id of a kernel's name; 0: not known. */
uint32_t gt_cl_kernel_name(const struct gt_table *table, struct gt_thread *t, cl_kernel kernel);

/* Return false if `gputap run --kernels` does not select the kernel. Its dispatches are then not
 * followed. */
bool gt_cl_kernel_chosen(const struct gt_call *call, cl_kernel kernel);
static inline bool gt_cl_kernel_wanted(const struct gt_call *call, cl_kernel kernel)
{
	return gt_likely(!gt_tap_options.choose_kernels) || !call->thread ||
	       gt_cl_kernel_chosen(call, kernel);
}

/* Queues (activity_queue.c) ------------------------------------------------- */

enum { GT_CL_PROPERTIES_MAX = 32 };

/* Command-specific part of struct gt_record_device. The wrap of the enqueue function fills it
 * in. */
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
	struct gt_cl_queue *next; /* next in the list of all queues, which never shrinks */
	struct gt_cl_device *device;
	_Atomic(cl_context) context;
	uint64_t number;
	_Atomic uint32_t written; /* process that has written the queue's object record */
	_Atomic uint32_t epoch;   /* process whose activities are in the list */
	/* number under which tools were last notified of the queue */
	_Atomic uint64_t notified_number;
	struct gt_tool_object *object;
	bool forced; /* true if profiling is on although the program did not request it */
	bool out_of_order;
	bool untimed; /* true if the queue's events have no times */
	/* true if gputap enabled profiling after the queue was created */
	bool enabled_late;
	/* true if the helper harvests the queue even while the program enqueues to it */
	_Atomic bool helped;
	/* length of the list that the program passed to ..WithProperties; 0: NULL, or another
	 * function */
	uint8_t list_count;
	cl_command_queue_properties asked; /* properties that queries report to the program */
	cl_queue_properties list[GT_CL_PROPERTIES_MAX];

	/* Activities in flight. Positions count all commands ever enqueued; [harvested, pushed) are
	 * in the list. */
	_Alignas(64) struct gt_cl_lock push; /* protects tail and pushed */
	/* An enqueue harvests when the number of waiting commands reaches this value. */
	_Atomic uint32_t look;
	struct gt_cl_chunk *tail;
	_Atomic uint64_t pushed;
	/* protects head, harvested, and gputap's references in the list */
	_Alignas(64) struct gt_cl_lock harvest;
	struct gt_cl_chunk *head;
	uint64_t head_at; /* position of the first entry of `head` */
	_Atomic uint64_t harvested;
	/* Used by the helper: value of `harvested` at its last look, and the time since when
	 * `harvested` has had that value. */
	uint64_t harvested_known, unharvested_since_ns;
	/* number of threads in clFinish(), which harvest when it returns */
	_Atomic uint32_t waiting;
};

/* Return a queue's entry unchanged. Return NULL if the queue was created while nothing was
 * recorded. */
struct gt_cl_queue *gt_cl_queue_find(cl_command_queue queue);
/* Return a queue's entry, and create it if necessary. */
struct gt_cl_queue *gt_cl_queue_get(const struct gt_table *table, struct gt_thread *t,
				    cl_command_queue queue);
/* Create an entry for a handle that has none. Return NULL if out of memory. */
struct gt_cl_queue *gt_cl_queue_add(struct gt_thread *t, cl_command_queue queue);
/* Write a queue's object record, with properties as text. Does nothing until its device has been
 * queried. */
void gt_cl_queue_write(struct gt_cl_queue *q, struct gt_thread *t);
/* Name a queue in the capture whose activities have no times because gputap came late. */
void gt_cl_queue_name_untimed(const struct gt_cl_queue *q);
/* Register a queue. Once its device has been queried, notify tools of the queue and the device,
 * once for each number. The caller must hold no lock. */
void gt_cl_notify_queue(struct gt_cl_queue *q);
/* Return the newest queue, which is the head of the list of all queues. */
struct gt_cl_queue *gt_cl_queue_first(void);
/* Return the queue of a command's event. Return NULL if the queue is not followed, or if gputap
 * itself makes the call. */
struct gt_cl_queue *gt_cl_queue_of_event(const struct gt_table *table, cl_event event);

/* Profiling forced on (activity_profiling.c) -------------------------------- */

/* Create a queue with the properties that the program requested, without forced profiling. Return
 * NULL on failure. Call inside gt_internal_enter(). The caller releases the queue. */
cl_command_queue gt_cl_queue_alike(const struct gt_cl_queue *q);

/* GPU activities (activity_follow.c, activity_harvest.c) -------------------- */

/* A command that is being enqueued. */
struct gt_cl_activity {
	struct gt_cl_what what;
	/* set if the runtime writes the event directly to `wanted`; NULL: to a variable of
	 * gputap */
	struct gt_cl_shown *shown;
	const struct gt_table *table; /* NULL: not followed */
	cl_event event;               /* returned by the runtime */
	cl_event *wanted;             /* where the program wants the event; NULL: nowhere */
	/* true if gputap already holds a reference to an event that the program wants */
	bool retained;
	struct gt_thread *thread;               /* NULL: not followed */
	struct gt_tool_activity *tool_activity; /* for tools; NULL: no tool wants the command */
	/* if `tool_activity` is set: enclosing command of this thread that tools were notified
	 * of */
	struct gt_cl_activity *outer;
	/* true if `gputap run --kernels` does not select the command's kernel, so the command is
	 * not recorded */
	bool unwanted;
	bool recorded;
};

/* Return true if this call's activity is recorded. If false, the activity is at most reported to
 * tools. */
static inline bool gt_cl_is_recorded(const struct gt_call *call)
{
	return call->thread && (atomic_load_explicit(&gt_stream_activity, memory_order_relaxed) >>
					GT_DOMAIN_OPENCL &
				1);
}

/* Call the tools' ENTER callback before the real call. Sets w->tool_activity and w->thread
 * (activity_notify.c). */
void gt_cl_item_enter(const struct gt_call *call, cl_command_queue queue, enum gt_device_op op,
		      struct gt_cl_activity *w);
/* Mark the end of the real call, so that later enqueues of this thread are not nested in it. Call
 * before EXIT. */
void gt_cl_item_leave(const struct gt_cl_activity *w);
/* Add the data known after the real call. Call before EXIT. */
void gt_cl_item_describe(struct gt_cl_activity *w, const struct gt_cl_queue *q,
			 enum gt_device_op op);
/* Call the tools' COMPLETE callback. @times: QUEUED, SUBMIT, START, END as the driver reports them;
 * 0: not reported */
void gt_cl_complete_tool_activity(struct gt_tool_activity *p, struct gt_cl_device *d, cl_int status,
				  const uint64_t times[4]);

#define GT_CL_NO_EVENT ((cl_event)(uintptr_t)&gt_cl_no_event)
extern const char gt_cl_no_event;

/* Meet a queue that may be older than gputap before its first command, so that the command has
 * times if gputap can enable profiling. Does nothing if the runtime does not know the queue. */
void gt_cl_queue_meet_old(const struct gt_table *table, struct gt_thread *t,
			  cl_command_queue queue);

/* Start to follow a command. Return the `event` argument for the runtime. Sets all members of @w
 * except `what` and `unwanted`, which the wrap sets. */
static inline cl_event *gt_cl_activity_begin(const struct gt_call *call, cl_command_queue queue,
					     enum gt_device_op op, struct gt_cl_activity *w,
					     cl_event *event)
{
	w->table = NULL;
	w->event = NULL;
	w->wanted = NULL;
	w->shown = NULL;
	w->retained = false;
	w->tool_activity = NULL;
	w->recorded = gt_cl_is_recorded(call) && !w->unwanted;
	w->thread = w->recorded ? call->thread : NULL;
	if (gt_unlikely(gt_tool_activity_asked(GT_DOMAIN_OPENCL)))
		gt_cl_item_enter(call, queue, op, w);
	if (gt_unlikely(!w->thread) || gt_unlikely(!(w->table = gt_cl_table_find(call))))
		return event;
	if (gt_unlikely(gt_is_late()))
		gt_cl_queue_meet_old(w->table, w->thread, queue);
	/* The program's variable changes only if the runtime sets the event. */
	w->event = GT_CL_NO_EVENT;
	w->wanted = event;
	return &w->event;
}

/* Begin a call whose event the program sees before the call returns (activity_shown.c). */
void gt_cl_shown_begin(struct gt_cl_activity *w);
/* End a call whose event the program may already see. Sets w->event and w->retained. */
void gt_cl_shown_end(struct gt_cl_activity *w, cl_int ret);

/* Start to follow a command whose call may take long, or may run code of the program. Other
 * threads, and that code, see the event in the program's variable as soon as the runtime has
 * written it. */
static inline cl_event *gt_cl_activity_begin_early(const struct gt_call *call,
						   cl_command_queue queue, enum gt_device_op op,
						   struct gt_cl_activity *w, cl_event *event,
						   bool early)
{
	cl_event *where = gt_cl_activity_begin(call, queue, op, w, event);

	if (!early || !w->wanted)
		return where;
	gt_cl_shown_begin(w);
	return w->shown ? event : where;
}

/* Prefetch @bytes of the thread's ring for writing, @ahead bytes after the start of the next
 * record, because the collector's core used this memory last. The memory then arrives in time,
 * instead of delaying a store while a lock of the runtime is held. The address may lie beyond the
 * block. */
static inline void gt_cl_fetch_ring(const struct gt_thread *t, size_t ahead, size_t bytes)
{
	for (size_t i = ahead; i < ahead + bytes; i += 64)
		__builtin_prefetch(t->cur + i, 1);
}

/* Set the global sizes and the bytes of a command that works on a region with elements of @element
 * bytes. Call only after the runtime has accepted the command. */
static inline void gt_cl_set_region(struct gt_cl_activity *w, const size_t *region, size_t element)
{
	if (!region)
		return;
	w->what.bytes = (uint64_t)region[0] * region[1] * region[2] * element;
	for (unsigned i = 0; i < 3; i++)
		w->what.global[i] = gt_saturate_u32(region[i]);
}

/**
 * gt_cl_activity_follow() - follow a command that gt_cl_activity_begin() started, after the real
 * call
 * @blocking: true if the call has waited for the command
 * Return: @ret
 */
cl_int gt_cl_activity_follow(const struct gt_call *call, cl_command_queue queue,
			     enum gt_device_op op, bool blocking, struct gt_cl_activity *w,
			     cl_int ret);

/**
 * gt_cl_queue_harvest() - record and release completed commands of one queue
 * @limit: maximum number of commands to examine
 * Return: number of completed commands. Does nothing inside gputap's own calls.
 */
uint32_t gt_cl_queue_harvest(struct gt_cl_queue *q, uint32_t limit);
/* Harvest all commands of a queue, and wait if another thread is harvesting it. Commands for which
 * the program has waited thus have records, even if the process ends immediately afterwards. */
void gt_cl_queue_harvest_all(struct gt_cl_queue *q);
/* Harvest a queue after a wait for @events. In an out-of-order queue, harvest these events at any
 * position, and other commands as long as half of the examined commands are done. Querying
 * everything in flight at each of many waits would take quadratic time. */
void gt_cl_queue_harvest_waited(struct gt_cl_queue *q, const cl_event *events, uint32_t count);

/* Harvest completed commands in an enqueue, except the most recent commands, which a worker of the
 * runtime is still using. A thread that queries or releases such a command waits for a lock that
 * the worker holds, and the worker then waits for that thread. */
void gt_cl_queue_harvest_behind(struct gt_cl_queue *q);

/* The program's callbacks (activity_callback.c) ------------------------------ */

struct callback;
extern _Thread_local struct callback *gt_cl_callbacks_waiting
	__attribute__((tls_model("initial-exec")));
void gt_cl_callbacks_run_waiting(void);

/* Run the program's callbacks that gputap's own calls in this thread triggered. The caller must
 * hold no lock. */
static inline void gt_cl_callbacks_run(void)
{
	if (gt_unlikely(gt_cl_callbacks_waiting != NULL))
		gt_cl_callbacks_run_waiting();
}

/* Take or release a reference for gputap. The caller must hold no lock, because the program's
 * callbacks for the event may run now. */
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

/* Passed to the runtime in place of the program's function. If the runtime refuses the call, call
 * the matching _drop() function. */
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

/* Return true if callbacks were deferred in the helper, and no thread exists to run them. The
 * helper then starts a thread while it is outside the runtime. */
bool gt_cl_callback_thread_wanted(void);
void gt_cl_callback_thread_start(void);
/* Stop the thread for callbacks from starting more, because the process is ending. @run_them: true
 * to run the remaining ones in this thread */
void gt_cl_callbacks_end(bool run_them);

/* Called when a session has attached to this running process, and when it has ended: former
 * sessions of this process leave a helper, and commands in flight. The caller must hold no lock. */
void gt_cl_session_begin(void);
void gt_cl_session_end(void);

/* Ensure that the helper harvests a queue that was empty until now. */
void gt_cl_helper_want(const struct gt_thread *t);
extern _Atomic uint32_t gt_cl_helper_alive; /* process whose helper runs */
static inline bool gt_cl_helper_lives(void)
{
	return atomic_load_explicit(&gt_cl_helper_alive, memory_order_relaxed) ==
	       atomic_load_explicit(gt_epoch, memory_order_relaxed);
}

#endif
