/* SPDX-License-Identifier: MIT */
/* Inside of the software driver.
 *
 *   context ─► streams ─► tasks, in their order; a thread for each stream that has had one
 *           ─► allocations
 *   event: a number that a stream's thread raises when it comes by
 *
 * Order: each task has a number of its context's. A task of the legacy default stream begins when
 * no blocking stream has an unfinished task with a smaller number; a task of a blocking stream,
 * when the legacy default stream has none.
 *
 * Locking: one lock and one condition for all of it. Work itself is done without the lock.
 * After a fork the child's driver answers CUDA_ERROR_NOT_INITIALIZED, as NVIDIA's does. */
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
	SOFT_CU_TASK_HOST,     /* a function of the program's */
	SOFT_CU_TASK_CALLBACK, /* one that is given the stream and its status */
	SOFT_CU_TASK_RECORD,
	SOFT_CU_TASK_WAIT,
	SOFT_CU_TASK_GRAPH, /* tasks of a graph's nodes, one after the other */
};

struct soft_cu_task {
	enum soft_cu_kind kind;
	struct soft_cu_task *next;
	uint64_t number;
	void *to, *from;
	void *staged; /* what is copied, if it may change: owned */
	size_t bytes; /* of a row of a copy; of a set: how many elements */
	size_t rows, slices, to_pitch, from_pitch, to_slice, from_slice; /* 0: one row */
	unsigned value, width;
	struct soft_cu_task *graph; /* owned; of a graph */
	CUhostFn *host;
	CUstreamCallback *callback;
	CUstream stream; /* as the program names it */
	void *data;
	CUevent event;
	uint64_t event_number;
	CUfunction function;
	bool is_traced; /* a tool wants to know of its end; then: */
	struct soft_cu_work work;
	struct soft_cuda_position position;
	unsigned shared;
	void **arguments; /* owned, with what they point to */
};

/* Nodes of a graph, as an array of its own. */
struct soft_cu_nodes {
	CUgraphNode *at;
	size_t count;
};

struct soft_cu_stream {
	CUcontext context;
	struct soft_cu_stream *next;
	struct soft_cu_task *first, *last; /* the first one may be running */
	unsigned flags, id;                /* ids are unique, and never used again */
	int priority;
	uint64_t owner; /* of a thread's default stream: that thread; 0: it is none */
	uint64_t done;  /* the last number that is finished */
	bool has_thread, is_closing;
	unsigned waiters; /* calls that wait for its work: it is not freed before they left */
	struct soft_cu_capture *capture; /* what is submitted becomes nodes of it */
	struct soft_cu_nodes last_nodes; /* of the capture: what the next node depends on */
};

struct soft_cu_event {
	unsigned flags, uses; /* tasks, and the handle */
	uint64_t recorded, done, host_ns;
	int status;
	struct soft_cu_capture *capture; /* it was recorded in; compared alone */
	struct soft_cu_nodes nodes;
};

struct soft_cu_node {
	struct soft_cu_node *next;
	CUgraph graph;
	int type;                  /* CU_GRAPH_NODE_TYPE_.. */
	uint32_t number;           /* in its graph; of an executable one: in all of it */
	struct soft_cu_task *task; /* owned; what is launched is a copy of it */
	CUgraph child;             /* owned */
	CUgraphNode original;      /* of a clone; compared alone */
	struct soft_cu_nodes from; /* each is of the same graph */
	bool is_disabled, is_done;
};

struct soft_cu_graph {
	struct soft_cu_graph *next; /* of all */
	uint32_t id, numbers;
	struct soft_cu_node *first, **last;
	bool is_child; /* a node has it, or an executable graph */
};

struct soft_cu_exec {
	struct soft_cu_exec *next; /* of all */
	CUgraph graph;             /* a clone, with the exec's id */
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
	bool is_host, is_managed, is_registered; /* registered: the program's own */
	unsigned flags;                          /* of host memory */
	CUmemoryPool pool;
};

struct soft_cu_context {
	struct soft_cu_context *next;
	CUdevice device;
	unsigned id;
	unsigned flags, retained; /* of a primary one: by whom; others: 0 */
	bool is_primary;
	int failed; /* what its device answers from now on */
	int cache_config;
	uint32_t peers; /* a bit for each device whose memory it may reach */
	size_t limits[8];
	uint64_t numbers;
	struct soft_cu_stream legacy, *streams;
};

struct soft_cu_function {
	struct soft_cu_function *next;
	CUmodule module;
	const struct soft_cuda_parameters *parameters;
	void (*call)(const struct soft_cuda_position *at, void **arguments);
	int dynamic_shared; /* at most, in a block */
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
	CUlibrary owner; /* NULL: the program loaded it */
	struct soft_cu_function *functions;
};

extern pthread_mutex_t soft_cu_lock;
extern pthread_cond_t soft_cu_changed; /* tasks, streams, events */
extern struct soft_cu_config soft_cu_config;
extern bool soft_cu_is_initialized, soft_cu_is_forked;
extern struct soft_cu_context *soft_cu_contexts;

/* The thread's contexts, the current one last. */
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

/* 0, or why no call is possible. */
int soft_cu_check_driver(void);
bool soft_cu_fails(enum soft_cu_fault fault);

/* The thread's current context, and whether it may be used. Takes the lock if so. */
int soft_cu_enter(CUcontext *context);
static inline int soft_cu_leave(int status)
{
	pthread_mutex_unlock(&soft_cu_lock);
	return status;
}

/* With the lock held, all of these. */
/* The context is there. */
bool soft_cu_knows_context(CUcontext context);
/* The stream that a handle names; 0 may stand for the thread's. Return: NULL: none. */
struct soft_cu_stream *soft_cu_find_stream(CUcontext context, CUstream handle, bool per_thread);
/* NULL: no memory. */
struct soft_cu_stream *soft_cu_make_stream(CUcontext context, unsigned flags, int priority,
					   uint64_t owner);
/* Ends its thread, which does the rest of its tasks first. */
void soft_cu_close_stream(struct soft_cu_stream *stream);
void soft_cu_free_stream(struct soft_cu_stream *stream);
/* Takes @task over; it is behind all that the stream has. @waits: until it is done. */
int soft_cu_submit(struct soft_cu_stream *stream, struct soft_cu_task *task, bool waits);
/* Until the context has no unfinished task, or the stream has none. */
void soft_cu_drain_context(CUcontext context);
void soft_cu_drain_stream(struct soft_cu_stream *stream);
/* Ends threads and frees streams. */
void soft_cu_close_streams(CUcontext context);
void soft_cu_release_event(CUevent event);
/* The allocation that has all of it; NULL: there is none. */
struct soft_cu_allocation *soft_cu_find_allocation(const void *address, size_t bytes);
void soft_cu_free_allocations(CUcontext context);
/* An allocation of a context, by a pool or none. Return: a status. */
struct soft_cu_request {
	size_t bytes;
	bool is_host, is_managed;
	unsigned flags;
	CUmemoryPool pool;
};
int soft_cu_allocate(CUcontext context, const struct soft_cu_request *request, void **memory);
int soft_cu_register_memory(CUcontext context, void *address, size_t bytes, unsigned flags);
bool soft_cu_unregister_memory(void *address);
/* NULL: it is none. */
CUmemoryPool soft_cu_get_pool(CUdevice device);
bool soft_cu_knows_pool(CUmemoryPool pool);
void soft_cu_change_pool(CUmemoryPool pool, int64_t bytes);
/* Does what a task says; without the lock. Return: a status. */
int soft_cu_run_kernel(const struct soft_cu_task *task);

/* Graphs. With the lock, all of these. */
CUgraph soft_cu_make_graph(void);
void soft_cu_free_graph(CUgraph graph);
/* Takes @task over. NULL: no memory. */
CUgraphNode soft_cu_add_node(CUgraph graph, int type, struct soft_cu_task *task,
			     const CUgraphNode *from, size_t count);
CUgraph soft_cu_clone_graph(CUgraph graph);
bool soft_cu_append_nodes(struct soft_cu_nodes *nodes, const CUgraphNode *from, size_t count);
bool soft_cu_knows_graph(CUgraph graph);
bool soft_cu_knows_exec(CUgraphExec exec);
bool soft_cu_knows_node(CUgraphNode node);
/* A copy for a launch. NULL: no memory. */
struct soft_cu_task *soft_cu_copy_task(const struct soft_cu_task *task);
/* Of cuGraphAddKernelNode() and so on. Return: a status. */
int soft_cu_make_node_task(const CUDA_KERNEL_NODE_PARAMS *parameters, struct soft_cu_task **task);
/* The stream is being captured: @task becomes a node. Takes it over. */
int soft_cu_capture_task(struct soft_cu_stream *stream, struct soft_cu_task *task, bool waits);
bool soft_cu_knows_capture(const struct soft_cu_capture *capture);
bool soft_cu_is_waited_for(const struct soft_cu_capture *capture, CUgraphNode node);
/* It is over, or its stream goes. */
void soft_cu_end_capture(struct soft_cu_capture *capture);

/* A launch's task, without its stream. Return: a status. */
int soft_cu_make_kernel_task(const CUlaunchConfig *config, CUfunction function, void **parameters,
			     void **extra, struct soft_cu_task **task);
void **soft_cu_copy_arguments(const struct soft_cuda_parameters *parameters, void **given);
/* A copy's task, as CUDA_MEMCPY3D says it. With the lock. Return: a status. */
int soft_cu_make_copy_task(const CUDA_MEMCPY3D *copy, struct soft_cu_task **task);
int soft_cu_make_set_task(const CUDA_MEMSET_NODE_PARAMS *set, struct soft_cu_task **task);

/* A task, all zero. NULL: no memory. */
struct soft_cu_task *soft_cu_make_task(enum soft_cu_kind kind);
void soft_cu_discard_task(struct soft_cu_task *task);

/* Tools: see tools.h --------------------------------------------------------------- */

extern _Thread_local struct soft_cu_call *soft_cu_call; /* the one that is seen; or NULL */
/* NULL: none is attached. */
const struct soft_cu_tool *soft_cu_get_tool(void);
/* Notices of what was made wait until the lock is given back: soft_cu_send_notices(), at the end of
 * a call. */
void soft_cu_note_resource(const struct soft_cu_resource_notice *notice);
void soft_cu_send_notices(void);
/* At once; without the lock. */
void soft_cu_notify_resource(const struct soft_cu_resource_notice *notice);
/* With the lock: @task belongs to the thread's call, which is traced or not. */
void soft_cu_trace_task(struct soft_cu_stream *stream, struct soft_cu_task *task);
bool soft_cu_begin_call(struct soft_cu_call *call);
void soft_cu_end_call(struct soft_cu_call *call, const void *result);
/* Return: false if another one is. */
bool soft_cu_attach_tool(const struct soft_cu_tool *tool);
void soft_cu_detach_tool(const struct soft_cu_tool *tool);
unsigned soft_cu_new_stream_id(void); /* with the lock */
unsigned soft_cu_new_graph_id(void);

/* What the exported functions do. */
#define X(name, ...)         int soft_##name(SOFT_CUDA_LIST(DECLARE, __VA_ARGS__));
#define B(name, suffix, ...) X(name, __VA_ARGS__) X(name##suffix, __VA_ARGS__)
#define V(name)              int soft_##name(void);
SOFT_CUDA_CALLS(X, B, V)
#undef X
#undef B
#undef V

/* Both forms of a function that takes a stream: @call sees `per_thread`. */
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
