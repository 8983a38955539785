/* SPDX-License-Identifier: MIT */
/* Internals of the software driver.
 *
 *   context ─► streams ─► tasks, in order; one thread for each stream that has had a task
 *           ─► allocations
 *   event: a number that the stream's thread raises when it reaches the event
 *
 * Order: each context numbers its tasks. A task of the legacy default stream starts when no
 * blocking stream has an unfinished task with a smaller number. A task of a blocking stream starts
 * when the legacy default stream has no unfinished task with a smaller number.
 *
 * Locking: one lock and one condition for the whole driver. Tasks run without the lock. After a
 * fork the child's driver returns CUDA_ERROR_NOT_INITIALIZED, as NVIDIA's does. */
#ifndef SOFT_CUDA_PARTS_H
#define SOFT_CUDA_PARTS_H

#include <pthread.h>
#include <stdbool.h>

#include "soft/cuda/config.h"
#include "soft/cuda/cuda_api.h"
#include "soft/cuda/tools.h"

enum soft_cu_kind {
	SOFT_CU_TASK_NOTHING,
	SOFT_CU_TASK_COPY,
	SOFT_CU_TASK_SET,
	SOFT_CU_TASK_KERNEL,
	SOFT_CU_TASK_FREE,
	SOFT_CU_TASK_HOST,     /* a function in the program */
	SOFT_CU_TASK_CALLBACK, /* a callback that takes the stream and its status */
	SOFT_CU_TASK_RECORD,
	SOFT_CU_TASK_WAIT,
	SOFT_CU_TASK_GRAPH, /* all tasks of a graph's nodes, one after the other */
};

struct soft_cu_task {
	enum soft_cu_kind kind;
	struct soft_cu_task *next;
	uint64_t number;
	void *to, *from;
	void *staged; /* copy of the source, if the source may change; owned */
	size_t bytes; /* copy: bytes per row; set: number of elements */
	size_t rows, slices, to_pitch, from_pitch, to_slice, from_slice; /* 0: one row */
	unsigned value, width;
	struct soft_cu_task *graph; /* tasks of a graph; owned */
	CUhostFn *host;
	CUstreamCallback *callback;
	CUstream stream; /* the program's handle */
	void *data;
	CUevent event;
	uint64_t event_number;
	CUfunction function;
	/* true if a tool requested a notification of the task's end; the next fields are then
	 * set */
	bool is_traced;
	struct soft_cu_activity activity;
	struct soft_cuda_position position;
	unsigned shared;
	void **arguments; /* owned, including the values of the arguments */
};

/* Nodes of a graph, in a separate array. */
struct soft_cu_nodes {
	CUgraphNode *at;
	size_t count;
};

struct soft_cu_stream {
	CUcontext context;
	struct soft_cu_stream *next;
	struct soft_cu_task *first, *last; /* the first task may be running */
	unsigned flags, id;                /* ids are unique and never reused */
	int priority;
	uint64_t owner; /* thread whose default stream this is, or 0 */
	uint64_t done;  /* number of the last finished task */
	bool has_thread, is_closing;
	/* number of calls that wait for its tasks; the stream is freed after they return */
	unsigned waiters;
	struct soft_cu_capture *capture; /* the capture in which tasks become nodes; NULL: none */
	struct soft_cu_nodes last_nodes; /* in a capture: dependencies of the next node */
};

struct soft_cu_event {
	unsigned flags, uses; /* uses: number of references, from tasks and the handle */
	uint64_t recorded, done, host_ns;
	int status;
	struct soft_cu_capture *capture; /* capture that recorded the event; only compared */
	struct soft_cu_nodes nodes;
};

struct soft_cu_node {
	struct soft_cu_node *next;
	CUgraph graph;
	int type; /* CU_GRAPH_NODE_TYPE_... */
	/* number in its graph; in an executable graph: unique across child graphs */
	uint32_t number;
	struct soft_cu_task *task; /* owned; a launch uses a copy */
	CUgraph child;             /* owned */
	CUgraphNode original;      /* in a clone: the node that was cloned; only compared */
	struct soft_cu_nodes from; /* dependencies, all in the same graph */
	bool is_disabled, is_done;
};

struct soft_cu_graph {
	struct soft_cu_graph *next; /* list of all graphs */
	uint32_t id, numbers;
	struct soft_cu_node *first, **last;
	bool is_child; /* true if a node or an executable graph owns the graph */
};

struct soft_cu_exec {
	struct soft_cu_exec *next; /* list of all executable graphs */
	CUgraph graph;             /* a clone with the executable graph's id */
};

struct soft_cu_capture {
	CUgraph graph;
	struct soft_cu_stream *origin;
	uint64_t id;
	bool is_invalid;
};

struct soft_cu_allocation {
	struct soft_cu_allocation *next;
	CUcontext context;
	char *address;
	size_t bytes;
	bool is_host, is_managed, is_registered; /* is_registered: memory of the program itself */
	unsigned flags; /* flags of host memory, as the program passed them */
	CUmemoryPool pool;
};

struct soft_cu_context {
	struct soft_cu_context *next;
	CUdevice device;
	unsigned id;
	unsigned flags, retained; /* retained: reference count of a primary context; others: 0 */
	bool is_primary;
	int failed; /* error that the device returns from now on */
	int cache_config;
	uint32_t peers; /* one bit for each device whose memory the context may access */
	size_t limits[8];
	uint64_t numbers;
	struct soft_cu_stream legacy, *streams;
};

struct soft_cu_function {
	struct soft_cu_function *next;
	CUmodule module;
	const struct soft_cuda_parameters *parameters;
	void (*call)(const struct soft_cuda_position *at, void **arguments);
	int dynamic_shared; /* maximum dynamic shared memory of a block, in bytes */
	char name[];
};

struct soft_cu_pool {
	struct soft_cu_pool *next;
	CUdevice device;
	bool is_default;
	uint64_t threshold, reserved, reserved_high, used, used_high;
	int reuse[3];
};

struct soft_cu_library {
	CUmodule module;
};

struct soft_cu_module {
	void *library;
	CUlibrary owner; /* library that loaded the module; NULL: the program loaded it */
	struct soft_cu_function *functions;
};

extern pthread_mutex_t soft_cu_lock;
extern pthread_cond_t soft_cu_changed; /* signals changes of tasks, streams, events */
extern struct soft_cu_config soft_cu_config;
extern bool soft_cu_is_initialized, soft_cu_is_forked;
extern struct soft_cu_context *soft_cu_contexts;

/* Size of a thread's stack of contexts; the current context is the last. */
enum { SOFT_CU_STACK = 32 };
enum {
	SOFT_CU_THREADS_OF_BLOCK = 1024,
	SOFT_CU_REGISTERS_OF_THREAD = 32,
	SOFT_CU_MULTIPROCESSORS = 4,
	SOFT_CU_THREADS_OF_MULTIPROCESSOR = 2048
};
extern _Thread_local struct soft_cu_stack {
	unsigned depth;
	CUcontext at[SOFT_CU_STACK];
} soft_cu_stack;
CUcontext soft_cu_current(void);

/* Return 0, or the status with which every call must fail. */
int soft_cu_check_driver(void);
bool soft_cu_fails(enum soft_cu_fault fault);

/* Get the current context of the thread and check that it is usable. On success, return with the
 * lock held. */
int soft_cu_enter(CUcontext *context);
static inline int soft_cu_leave(int status)
{
	pthread_mutex_unlock(&soft_cu_lock);
	return status;
}

/* Call the following functions with the lock held. */
/* Return true if the context exists. */
bool soft_cu_knows_context(CUcontext context);
/* Return the stream of a handle, or NULL. Handle 0 may mean the thread's default stream. */
struct soft_cu_stream *soft_cu_find_stream(CUcontext context, CUstream handle, bool per_thread);
/* Create a stream. Return NULL if out of memory. */
struct soft_cu_stream *soft_cu_make_stream(CUcontext context, unsigned flags, int priority,
					   uint64_t owner);
/* Let the stream's thread end after it has finished its tasks. */
void soft_cu_close_stream(struct soft_cu_stream *stream);
void soft_cu_free_stream(struct soft_cu_stream *stream);
/* Append @task to the stream, taking ownership. @waits: return only when the task is done. */
int soft_cu_submit(struct soft_cu_stream *stream, struct soft_cu_task *task, bool waits);
/* Wait until the context or the stream has no unfinished task. */
void soft_cu_drain_context(CUcontext context);
void soft_cu_drain_stream(struct soft_cu_stream *stream);
/* End threads and free streams. */
void soft_cu_close_streams(CUcontext context);
void soft_cu_release_event(CUevent event);
/* Return the allocation that contains the whole address range, or NULL. */
struct soft_cu_allocation *soft_cu_find_allocation(const void *address, size_t bytes);
void soft_cu_free_allocations(CUcontext context);
/* Request for an allocation in a context, with or without a pool. The functions below return a
 * status. */
struct soft_cu_request {
	size_t bytes;
	bool is_host, is_managed;
	unsigned flags;
	CUmemoryPool pool;
};
int soft_cu_allocate(CUcontext context, const struct soft_cu_request *request, void **memory);
int soft_cu_register_memory(CUcontext context, void *address, size_t bytes, unsigned flags);
bool soft_cu_unregister_memory(void *address);
/* Return the device's default pool, or NULL for an invalid device. */
CUmemoryPool soft_cu_get_pool(CUdevice device);
bool soft_cu_knows_pool(CUmemoryPool pool);
void soft_cu_change_pool(CUmemoryPool pool, int64_t bytes);
/* Run a task. Call without the lock. Return a status. */
int soft_cu_run_kernel(const struct soft_cu_task *task);

/* Graphs. Call the following functions with the lock held. */
CUgraph soft_cu_make_graph(void);
void soft_cu_free_graph(CUgraph graph);
/* Add a node, taking ownership of @task. Return NULL if out of memory. */
CUgraphNode soft_cu_add_node(CUgraph graph, int type, struct soft_cu_task *task,
			     const CUgraphNode *from, size_t count);
CUgraph soft_cu_clone_graph(CUgraph graph);
bool soft_cu_append_nodes(struct soft_cu_nodes *nodes, const CUgraphNode *from, size_t count);
bool soft_cu_knows_graph(CUgraph graph);
bool soft_cu_knows_exec(CUgraphExec exec);
bool soft_cu_knows_node(CUgraphNode node);
/* Copy a task for a launch. Return NULL if out of memory. */
struct soft_cu_task *soft_cu_copy_task(const struct soft_cu_task *task);
/* Make the task for cuGraphAddKernelNode() and similar calls. Return a status. */
int soft_cu_make_node_task(const CUDA_KERNEL_NODE_PARAMS *parameters, struct soft_cu_task **task);
/* Turn @task into a node of the stream's capture, taking ownership. */
int soft_cu_capture_task(struct soft_cu_stream *stream, struct soft_cu_task *task, bool waits);
bool soft_cu_knows_capture(const struct soft_cu_capture *capture);
bool soft_cu_is_waited_for(const struct soft_cu_capture *capture, CUgraphNode node);
/* End a capture, when it is complete or its stream is destroyed. */
void soft_cu_end_capture(struct soft_cu_capture *capture);

/* Make the task for a launch, without its stream. Return a status. */
int soft_cu_make_kernel_task(const CUlaunchConfig *config, CUfunction function, void **parameters,
			     void **extra, struct soft_cu_task **task);
void **soft_cu_copy_arguments(const struct soft_cuda_parameters *parameters, void **given);
/* Make the task for a CUDA_MEMCPY3D copy. Call with the lock held. Return a status. */
int soft_cu_make_copy_task(const CUDA_MEMCPY3D *copy, struct soft_cu_task **task);
int soft_cu_make_set_task(const CUDA_MEMSET_NODE_PARAMS *set, struct soft_cu_task **task);

/* Make a zeroed task. Return NULL if out of memory. */
struct soft_cu_task *soft_cu_make_task(enum soft_cu_kind kind);
void soft_cu_discard_task(struct soft_cu_task *task);

/* Tools: see tools.h --------------------------------------------------------------- */

extern _Thread_local struct soft_cu_call *soft_cu_call; /* the reported call, or NULL */
/* Return the attached tool. Return NULL without a tool, in a fork child, or if the tool itself is
 * the caller. */
const struct soft_cu_tool *soft_cu_get_tool(void);
/* Queue a notice of a created object, because the lock is held. soft_cu_send_notices() sends the
 * notices at the end of the call. */
void soft_cu_note_resource(const struct soft_cu_resource_notice *notice);
void soft_cu_send_notices(void);
/* Send a notice at once. Call without the lock. */
void soft_cu_notify_resource(const struct soft_cu_resource_notice *notice);
/* Assign @task to the thread's call, traced or not. Call with the lock held. */
void soft_cu_trace_task(struct soft_cu_stream *stream, struct soft_cu_task *task);
bool soft_cu_begin_call(struct soft_cu_call *call);
void soft_cu_end_call(struct soft_cu_call *call, const void *result);
/* Attach a tool. Return false if another tool is attached. */
bool soft_cu_attach_tool(const struct soft_cu_tool *tool);
void soft_cu_detach_tool(const struct soft_cu_tool *tool);
unsigned soft_cu_new_stream_id(void); /* call with the lock held */
unsigned soft_cu_new_graph_id(void);

/* Implementations of the exported functions. */
#define X(name, ...)         int soft_##name(SOFT_CUDA_LIST(DECLARE, __VA_ARGS__));
#define B(name, suffix, ...) X(name, __VA_ARGS__) X(name##suffix, __VA_ARGS__)
#define V(name)              int soft_##name(void);
SOFT_CUDA_CALLS(X, B, V)
#undef X
#undef B
#undef V

/* Define both forms of a function that takes a stream. @call uses the variable `per_thread`. */
#define SOFT_CU_BOTH(name, suffix, parameters, call) \
	int soft_##name parameters                   \
	{                                            \
		const bool per_thread = false;       \
		return call;                         \
	}                                            \
	int soft_##name##suffix parameters           \
	{                                            \
		const bool per_thread = true;        \
		return call;                         \
	}

#endif
