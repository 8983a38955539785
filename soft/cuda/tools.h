/* SPDX-License-Identifier: MIT */
/* The interface between the driver and a tool's library (cupti/). As in NVIDIA's stack, driver and
 * tool are separate libraries. With a private id, the tool's library gets a table from
 * cuGetExportTable(), through which it passes the driver the functions to call.
 *
 *   program ─► cuLaunchKernel() ─► begin_call() ─► the call itself ─► end_call()
 *                                      │ sets the call's correlation id, if the call is observed
 *                                      ▼
 *              task ── on the stream's thread ──► now() ─ run ─ now() ─► end_activity()
 *
 * One library at a time is attached, and that library is never unloaded. The driver calls none of
 * these functions while it holds its lock, and none in a fork child. */
#ifndef SOFT_CUDA_TOOLS_H
#define SOFT_CUDA_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/cuda/cuda_api.h"

/* Id of the table: 16 bytes. */
#define SOFT_CU_TOOLS_ID "gputap soft tool"

enum soft_cu_domain { SOFT_CU_DRIVER_CALLS = 1, SOFT_CU_RUNTIME_CALLS = 2 };

/* A call, from its start to its end. */
struct soft_cu_call {
	enum soft_cu_domain domain;
	uint32_t number;        /* GT_CUDA_DRIVER_...: CUPTI's callback id */
	const char *name;       /* exported name */
	const void *parameters; /* a struct of all parameters, in order */
	const char *symbol;     /* name of the launched kernel; NULL for other calls */
	CUcontext context; /* context of the thread when the call starts and ends; may be NULL */
	uint32_t context_id;
	const void *result; /* set when the call ends; points to the status of the function */
	/* written by the tool: */
	uint32_t correlation; /* id of the call, for the tasks that the call submits; 0: no id */
	bool is_seen, is_traced;
	uint64_t kinds; /* kinds of activity enabled at the start */
	uint64_t start, data;
	struct soft_cu_call *outer; /* the runtime call that made this call, or NULL */
};

enum soft_cu_activity_kind {
	SOFT_CU_ACTIVITY_KERNEL,
	SOFT_CU_ACTIVITY_COPY,
	SOFT_CU_ACTIVITY_SET,
	SOFT_CU_ACTIVITY_GRAPH
};

/* A completed GPU activity. */
struct soft_cu_activity {
	enum soft_cu_activity_kind kind;
	uint32_t correlation, device, context_id, stream_id;
	uint64_t kinds;      /* kinds of activity enabled when the call started */
	uint64_t start, end; /* from the tool's clock */
	uint64_t bytes;      /* bytes of a memcpy or memset */
	uint32_t value;
	uint8_t copy_kind, from_kind, to_kind; /* numbered as in CUPTI */
	bool is_async, is_cooperative;
	uint32_t from_device, from_context_id, to_device, to_context_id; /* between devices */
	const char *name;
	uint32_t grid[3], block[3], static_shared, dynamic_shared, registers;
	int32_t priority;
	uint32_t graph_id; /* id of the executable graph; 0: none */
	uint64_t graph_node_id;
};

/* Creation and destruction of contexts and streams. */
enum soft_cu_resource {
	SOFT_CU_CONTEXT_CREATED = 1, /* numbered as CUPTI's resource callbacks */
	SOFT_CU_CONTEXT_DESTROYED = 2,
	SOFT_CU_STREAM_CREATED = 3,
	SOFT_CU_STREAM_DESTROYED = 4,
	SOFT_CU_INIT_FINISHED = 5,
	SOFT_CU_MODULE_LOADED = 6,
	SOFT_CU_MODULE_UNLOADED = 7,
	SOFT_CU_GRAPH_CREATED = 9,
	SOFT_CU_GRAPH_DESTROYED = 10,
	SOFT_CU_GRAPH_CLONED = 11,
	SOFT_CU_NODE_CREATED = 13,
	SOFT_CU_EXEC_CREATED = 18,
	SOFT_CU_EXEC_DESTROYED = 19,
	SOFT_CU_NODE_CLONED = 20,
};

struct soft_cu_resource_notice {
	enum soft_cu_resource what;
	CUcontext context;
	uint32_t context_id;
	int device;
	void *handle; /* a stream */
	uint32_t stream_id;
	CUgraph graph, original;
	CUgraphNode node, original_node;
	int node_type;
	CUgraphExec exec;
};

struct soft_cu_tool {
	void (*begin_call)(struct soft_cu_call *call);
	void (*end_call)(struct soft_cu_call *call);
	uint64_t (*now)(void);
	void (*end_activity)(const struct soft_cu_activity *activity);
	void (*notify_resource)(const struct soft_cu_resource_notice *notice);
};

struct soft_cu_tools_table {
	size_t size;
	/* Return false if another library is attached. */
	bool (*attach)(const struct soft_cu_tool *tool);
	void (*detach)(const struct soft_cu_tool *tool);
	/* Return false if the object does not exist. */
	bool (*find_context)(CUcontext context, uint32_t *id, uint32_t *device);
	bool (*find_stream)(CUcontext context, CUstream stream, bool per_thread, uint32_t *id);
	/* Get the context at @index, counted from 0. */
	bool (*get_context)(unsigned index, CUcontext *context, uint32_t *id, uint32_t *device,
			    uint32_t *null_stream);
	bool (*find_graph)(void *graph, bool is_executable, uint32_t *id);
	bool (*find_node)(void *node, uint64_t *id);
	unsigned (*count_devices)(void);
	/* For a runtime on top of the driver, which reports its own calls through these functions
	 * and sets the domain. */
	bool (*begin_call)(struct soft_cu_call *call);
	void (*end_call)(struct soft_cu_call *call, const void *result);
};

#endif
