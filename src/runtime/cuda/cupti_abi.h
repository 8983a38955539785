/* SPDX-License-Identifier: MIT */
/* Declares the parts of the records, callbacks, numbers and functions of CUPTI 11.8 to 13.5 that
 * gputap uses, so that no CUPTI header is needed.
 *
 * A record grows at its end from release to release, and existing members keep their offsets. A
 * struct here is therefore the part common to all of these releases. Its size is never used,
 * because records are walked with cuptiActivityGetNextRecord(). Sizes in bytes: kernels 200 in
 * 11.8, 208 in 12, 216 in 13.0 and 248 in 13.5; copies 88, 96 from 12.9 on and 112; sets 88 and
 * 104; graph launches 48, and 56 from 12.9 on. */
#ifndef GPUTAP_RUNTIME_CUPTI_ABI_H
#define GPUTAP_RUNTIME_CUPTI_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* cuptiGetVersion() of the oldest supported release, 11.8. The version is a counter until 12.9
 * (28), and 10000 * major + 100 * minor + patch from 13.0 on (130000). */
#define CUPTI_VERSION_OLDEST 18

enum cupti_status {
	CUPTI_SUCCESS = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_INVALID_OPERATION = 7,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_HARDWARE = 9,
	CUPTI_API_NOT_IMPLEMENTED = 11,
	CUPTI_MAX_LIMIT_REACHED = 12, /* the buffer contains no more records */
	CUPTI_NOT_READY = 13,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_QUEUE_EMPTY = 18,
	CUPTI_INVALID_KIND = 21,
	CUPTI_DISABLED = 23,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED_DEVICE = 33,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_OLD_PROFILER_API = 36,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_CMP_DEVICE = 42,
	CUPTI_UNKNOWN = 999,
};

/* Record kinds. */
enum cupti_kind {
	CUPTI_KIND_COPY = 1,
	CUPTI_KIND_SET = 2,
	CUPTI_KIND_KERNEL_SERIAL = 3, /* serialises kernels; replaces CUPTI_KIND_KERNEL */
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONTEXT = 9,
	CUPTI_KIND_KERNEL = 10,
	CUPTI_KIND_NAME = 11,
	CUPTI_KIND_MARKER = 12,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_COPY_PEER = 22,
	CUPTI_KIND_EVENT = 36,
	CUPTI_KIND_STREAM = 37,
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_EXTERNAL = 39,
	CUPTI_KIND_MEMORY = 49,
	CUPTI_KIND_POOL = 50,
	/* one record for a whole graph launch; suppresses the records of the graph's nodes */
	CUPTI_KIND_GRAPH = 51,
	CUPTI_KIND_COUNT = 64, /* greater than the highest kind of all releases that gputap knows */
};

enum cupti_domain {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
	CUPTI_DOMAIN_RESOURCE = 3,
	CUPTI_DOMAIN_SYNCHRONIZE = 4,
	CUPTI_DOMAIN_NVTX = 5,
	CUPTI_DOMAIN_STATE = 6,
	CUPTI_DOMAIN_COUNT = 16,
};

/* Upper bound of the driver functions' callback ids: 806 ids in 13.0, 876 in 13.5. */
enum { CUPTI_CALLBACK_IDS = 1200 };

enum cupti_resource {
	CUPTI_RESOURCE_CONTEXT_CREATED = 1,
	CUPTI_RESOURCE_CONTEXT_DESTROY = 2,
	CUPTI_RESOURCE_STREAM_CREATED = 3,
	CUPTI_RESOURCE_STREAM_DESTROY = 4,
	CUPTI_RESOURCE_INITIALIZED = 5,
	CUPTI_RESOURCE_MODULE_LOADED = 6,
	CUPTI_RESOURCE_GRAPH_CREATED = 9,
	CUPTI_RESOURCE_NODE_CREATED = 13,
	CUPTI_RESOURCE_EXEC_CREATED = 18,
	CUPTI_RESOURCE_EXEC_DESTROY = 19,
	CUPTI_RESOURCE_NODE_CLONED = 20,
};

enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };

enum cupti_attribute {
	CUPTI_ATTRIBUTE_DEVICE_BUFFER_BYTES = 0,
	CUPTI_ATTRIBUTE_DEVICE_BUFFERS = 2,
	CUPTI_ATTRIBUTE_ZEROED_BUFFERS = 5,
	/* selects one buffer per thread or one for all threads; from 12.3 on */
	CUPTI_ATTRIBUTE_THREAD_BUFFERS = 9,
};

/* FORCED also flushes buffers that are not full */
enum { CUPTI_FLUSH_COMPLETED = 0, CUPTI_FLUSH_FORCED = 1 };

/* Source and destination of a copy. A: array, D: device, H: host, P: another device. */
enum cupti_copy_kind {
	CUPTI_COPY_UNKNOWN = 0,
	CUPTI_COPY_HTOD = 1,
	CUPTI_COPY_DTOH = 2,
	CUPTI_COPY_HTOA = 3,
	CUPTI_COPY_ATOH = 4,
	CUPTI_COPY_ATOA = 5,
	CUPTI_COPY_ATOD = 6,
	CUPTI_COPY_DTOA = 7,
	CUPTI_COPY_DTOD = 8,
	CUPTI_COPY_HTOH = 9,
	CUPTI_COPY_PTOP = 10,
};

enum cupti_memory_kind {
	CUPTI_MEMORY_UNKNOWN = 0,
	CUPTI_MEMORY_PAGEABLE = 1,
	CUPTI_MEMORY_PINNED = 2,
	CUPTI_MEMORY_DEVICE = 3,
	CUPTI_MEMORY_ARRAY = 4,
	CUPTI_MEMORY_MANAGED = 5,
};

/* Records ---------------------------------------------------------------------------------- */

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel { /* CUPTI_KIND_KERNEL, _SERIAL */
	uint32_t kind;
	uint8_t cache_configuration, shared_configuration;
	uint16_t registers;
	uint32_t cache_requested, cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3]; /* blocks of the grid; threads of a block */
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name; /* mangled; in CUPTI's memory */
	void *reserved;
	uint64_t queued, submitted; /* 0 unless latency time stamps are enabled */
	uint8_t launch_type, shared_requested, shared_carveout, padding[5];
	uint64_t graph_node; /* 0 if not part of a graph */
	uint32_t shared_limit;
	uint32_t graph; /* id of the executable graph */
};

struct cupti_copy { /* CUPTI_KIND_COPY */
	uint32_t kind;
	uint8_t copy_kind, source_kind, destination_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel;
};

struct cupti_copy_peer { /* CUPTI_KIND_COPY_PEER */
	uint32_t kind;
	uint8_t copy_kind, source_kind, destination_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, destination_device, destination_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel;
};

struct cupti_set { /* CUPTI_KIND_SET */
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel;
};

struct cupti_graph { /* CUPTI_KIND_GRAPH */
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
};

struct cupti_api { /* CUPTI_KIND_DRIVER, _RUNTIME */
	uint32_t kind;
	uint32_t callback_id;
	uint64_t start, end;
	uint32_t process, thread;
	uint32_t correlation, status;
};

struct cupti_external { /* CUPTI_KIND_EXTERNAL */
	uint32_t kind;
	uint32_t external_kind;
	uint64_t external;
	uint32_t correlation, reserved;
};

#define CUPTI_AT(record, field, offset) \
	static_assert(offsetof(struct record, field) == (offset), "the field has CUPTI's offset")
CUPTI_AT(cupti_kernel, registers, 6);
CUPTI_AT(cupti_kernel, start, 16);
CUPTI_AT(cupti_kernel, device, 40);
CUPTI_AT(cupti_kernel, grid, 52);
CUPTI_AT(cupti_kernel, static_shared, 76);
CUPTI_AT(cupti_kernel, local_per_thread, 84);
CUPTI_AT(cupti_kernel, correlation, 92);
CUPTI_AT(cupti_kernel, name, 104);
CUPTI_AT(cupti_kernel, queued, 120);
CUPTI_AT(cupti_kernel, launch_type, 136);
CUPTI_AT(cupti_kernel, graph_node, 144);
CUPTI_AT(cupti_kernel, graph, 156);
CUPTI_AT(cupti_copy, bytes, 8);
CUPTI_AT(cupti_copy, device, 32);
CUPTI_AT(cupti_copy, correlation, 44);
CUPTI_AT(cupti_copy, graph_node, 64);
CUPTI_AT(cupti_copy, graph, 72);
CUPTI_AT(cupti_copy_peer, source_device, 44);
CUPTI_AT(cupti_copy_peer, correlation, 60);
CUPTI_AT(cupti_copy_peer, graph_node, 72);
CUPTI_AT(cupti_copy_peer, graph, 80);
CUPTI_AT(cupti_set, value, 4);
CUPTI_AT(cupti_set, device, 32);
CUPTI_AT(cupti_set, correlation, 44);
CUPTI_AT(cupti_set, memory_kind, 50);
CUPTI_AT(cupti_set, graph_node, 64);
CUPTI_AT(cupti_set, graph, 72);
CUPTI_AT(cupti_graph, correlation, 4);
CUPTI_AT(cupti_graph, start, 8);
CUPTI_AT(cupti_graph, device, 24);
CUPTI_AT(cupti_graph, graph, 28);
CUPTI_AT(cupti_graph, stream, 36);
CUPTI_AT(cupti_api, callback_id, 4);
CUPTI_AT(cupti_api, start, 8);
CUPTI_AT(cupti_api, correlation, 32);
CUPTI_AT(cupti_api, status, 36);
CUPTI_AT(cupti_external, external, 8);
CUPTI_AT(cupti_external, correlation, 16);

/* Number of a node, the lower half of its id. The number is the same in the original graph and in
 * all its executable graphs. The upper half is the graph's id. */
#define CUPTI_NODE_NUMBER(node) ((uint32_t)(node))

/* Callbacks -------------------------------------------------------------------------------- */

struct cupti_callback { /* domains 1 and 2 */
	uint32_t site;  /* enum cupti_site */
	const char *function;
	const void *parameters; /* struct of the function's arguments, in order */
	void *return_value;
	const char *symbol; /* for a launch, the kernel's name */
	void *context;
	uint32_t context_id;
	uint64_t *data; /* word for the subscriber, preserved from ENTER to EXIT */
	uint32_t correlation;
};

struct cupti_resource_callback { /* domain 3 */
	void *context;
	void *resource; /* the stream or other object */
	void *descriptor;
};

CUPTI_AT(cupti_callback, function, 8);
CUPTI_AT(cupti_callback, parameters, 16);
CUPTI_AT(cupti_callback, symbol, 32);
CUPTI_AT(cupti_callback, context_id, 48);
CUPTI_AT(cupti_callback, data, 56);
CUPTI_AT(cupti_callback, correlation, 64);
CUPTI_AT(cupti_resource_callback, resource, 8);

/* Functions -------------------------------------------------------------------------------- */

typedef void cupti_callback_fn(void *user, int domain, uint32_t id, const void *data);
typedef void cupti_request_fn(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			       size_t valid);
typedef uint64_t cupti_time_fn(void);

typedef int cuptiSubscribe_fn(void **subscriber, cupti_callback_fn *callback, void *user);
typedef int cuptiUnsubscribe_fn(void *subscriber);
typedef int cuptiEnableCallback_fn(uint32_t enable, void *subscriber, int domain, uint32_t id);
typedef int cuptiEnableDomain_fn(uint32_t enable, void *subscriber, int domain);
typedef int cuptiEnableAllDomains_fn(uint32_t enable, void *subscriber);
typedef int cuptiGetCallbackState_fn(uint32_t *enable, void *subscriber, int domain, uint32_t id);
typedef int cuptiGetCallbackName_fn(int domain, uint32_t id, const char **name);
typedef int cuptiGetVersion_fn(uint32_t *version);
typedef int cuptiGetTimestamp_fn(uint64_t *timestamp);
typedef int cuptiGetResultString_fn(int status, const char **text);
typedef int cuptiFinalize_fn(void);
typedef int cuptiActivityEnable_fn(int kind);
typedef int cuptiActivityDisable_fn(int kind);
typedef int cuptiActivityRegisterCallbacks_fn(cupti_request_fn *request,
					      cupti_complete_fn *complete);
typedef int cuptiActivityRegisterTimestampCallback_fn(cupti_time_fn *time);
typedef int cuptiActivityFlushAll_fn(uint32_t flag);
typedef int cuptiActivityFlushPeriod_fn(uint32_t milliseconds);
typedef int cuptiActivityGetNextRecord_fn(uint8_t *buffer, size_t valid,
					  struct cupti_record **record);
typedef int cuptiActivityGetNumDroppedRecords_fn(void *context, uint32_t stream, size_t *dropped);
typedef int cuptiActivitySetAttribute_fn(int attribute, size_t *bytes, void *value);
typedef int cuptiActivityGetAttribute_fn(int attribute, size_t *bytes, void *value);
typedef int cuptiActivityPushExternalCorrelationId_fn(int kind, uint64_t id);
typedef int cuptiActivityPopExternalCorrelationId_fn(int kind, uint64_t *last);
typedef int cuptiGetContextId_fn(void *context, uint32_t *id);
typedef int cuptiGetDeviceId_fn(void *context, uint32_t *id);
typedef int cuptiGetStreamIdEx_fn(void *context, void *stream, uint8_t of_thread, uint32_t *id);
typedef int cuptiGetGraphId_fn(void *graph, uint32_t *id);
typedef int cuptiGetGraphExecId_fn(void *exec, uint32_t *id);
typedef int cuptiGetGraphNodeId_fn(void *node, uint64_t *id);

#endif
