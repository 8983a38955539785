/* SPDX-License-Identifier: MIT */
/* Shared by the files of librocprofiler-sdk.so.1, a layer over gputap's tool API
 * (include/gputap/tool.h).
 *
 * The lowest layer: sdk_progress.c (state of initialisation, who may configure, messages on
 * stderr), sdk_context_table.c (contexts by handle, the lock), sdk_thread.c (the calling thread's
 * id, the time), sdk_stream.c (numbers of streams). Above this layer:
 *
 *   sdk_tool.c      finds, configures, initialises and finalises tools ("clients")
 *   sdk_context.c   configuration of contexts; creates gputap's contexts
 *   sdk_call.c      calls of the APIs            sdk_activity.c      dispatches, copies
 *   sdk_inner.c     allocations, streams         sdk_range.c     ROCTx ranges
 *   sdk_scratch.c   scratch memory               sdk_object.c    code objects
 *   sdk_watch.c     host functions and streams, which must be known before they are requested
 *   sdk_table.c     runtimes' tables, and their initialisation
 *   sdk_buffer.c    buffers, their threads       sdk_external.c  external correlation ids
 *   sdk_names.c     statuses, kinds, operations  sdk_args.c      arguments as text
 *   sdk_agent.c     agents                       sdk_node.c      memory, caches, links of agents
 *   sdk_absent.c    functions that report that a feature is missing
 *
 * Each context of a client has one gputap context; all contexts share one gputap tool. Handles are
 * numbers that are looked up in tables, so an invalid handle is never dereferenced.
 *
 * Locking: sdk_lock() for tables and configuration. No thread holds the lock while a client's
 * function runs, or while gputap runs clients' functions. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_INTERNAL_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arguments from clients are checked for NULL, so the compiler must not assume non-NULL
 * arguments. */
#define ROCPROFILER_NONNULL(...)

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/spm.h>
#include <rocprofiler-sdk/deprecated/counters.h>
#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>

#include "gputap/tool.h"

#define SDK_EXPORT __attribute__((visibility("default")))

enum {
	SDK_CLIENTS = 64,
	SDK_CONTEXTS = 64,
	SDK_BUFFERS = 256,
	SDK_OPERATIONS = 512, /* maximum number of operations in one kind */
	/* first handle: 0 means none, and a small number is usually a client's mistake */
	SDK_FIRST_HANDLE = 256,
};

/* Called by librocprofiler-register (sdk_tool.c). Return: rocprofiler_status_t. */
SDK_EXPORT int rocprofiler_attach(void);
SDK_EXPORT int rocprofiler_detach(void);

/* Progress (sdk_progress.c) ------------------------------------------------------ */

/* State of initialisation and of finalisation, with the values of rocprofiler_is_initialized(). */
enum { SDK_NOT_YET = 0, SDK_IN_IT = -1, SDK_DONE = 1 };
extern _Atomic int sdk_initialized, sdk_finalized;

/* Print a message on stderr: "rocprofiler-sdk (gputap): ...". */
__attribute__((format(printf, 1, 2))) void sdk_report(const char *format, ...);

/* Return SUCCESS if services may be configured now, otherwise CONFIGURATION_LOCKED. */
rocprofiler_status_t sdk_may_configure(void);
/* Return the client whose configure() or initialize() is running; 0: none. */
uint32_t sdk_current_client(void);
/* Note that a client's configure() or initialize() starts to run in this thread, or has
 * returned. */
void sdk_enter_client(uint32_t client);
void sdk_leave_client(void);

/* Contexts (sdk_context_table.c) -------------------------------------------------- */

/* Protects tables and configuration. */
void sdk_lock(void);
void sdk_unlock(void);

struct sdk_buffer;

struct sdk_operations {
	bool configured;
	uint64_t set[SDK_OPERATIONS / 64];
};

struct sdk_service {
	struct sdk_operations ops;
	rocprofiler_callback_tracing_cb_t fn;
	void *user;
};

struct sdk_recorded {
	struct sdk_operations ops;
	struct sdk_buffer *buffer;
};

struct sdk_external; /* external ids that each thread has pushed */
/* code objects and symbols that were reported to the client and are still loaded */
struct sdk_objects;

struct sdk_context {
	uint64_t handle; /* 0: free */
	uint32_t client;
	/* a bit for each domain whose calls are reported as other kinds (sdk_inner.c) */
	uint64_t inner;
	bool dirty; /* true if the configuration differs from the configuration of `tap` */
	/* true if dispatch counters were requested; the context cannot be started then */
	bool counts;
	_Atomic bool active;
	struct gputap_context *tap;
	struct sdk_service called[ROCPROFILER_CALLBACK_TRACING_LAST];
	struct sdk_recorded recorded[ROCPROFILER_BUFFER_TRACING_LAST];
	/* kinds for which external ids are requested */
	bool requests[ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST];
	bool requests_configured;
	rocprofiler_external_correlation_id_request_cb_t request_fn;
	void *request_user;
	struct sdk_external *external;
	struct sdk_objects *objects;
	/* number of GPU activities that were reported to the client and have not completed */
	_Atomic int64_t in_flight;
};
extern struct sdk_context sdk_contexts[SDK_CONTEXTS];

static inline bool sdk_asks(const struct sdk_operations *o, uint32_t operation)
{
	return operation < SDK_OPERATIONS && o->set[operation / 64] >> (operation % 64) & 1;
}

struct sdk_context *sdk_context_of(rocprofiler_context_id_t id);

/* Operations on contexts (sdk_context.c) ------------------------------------------ */

/* These functions apply to all contexts of a client. commit() creates the gputap contexts, so that
 * runtimes' tables get the required taps; stop() stops the contexts; drop() drops them. */
void sdk_contexts_commit(uint32_t client);
void sdk_contexts_stop(uint32_t client);
void sdk_contexts_drop(uint32_t client);
/* Wait until the GPU activities of the client's contexts have completed, or some seconds have
 * passed. Then unload the contexts' loaded objects. */
void sdk_contexts_settle(uint32_t client);

/* Callbacks from gputap ---------------------------------------------------------- */

/* @user: the context */
void sdk_on_call(const struct gputap_call *call, uint64_t *data, void *user);
void sdk_on_activity(const struct gputap_activity *activity, uint64_t *data, void *user);
void sdk_on_object(const struct gputap_object *object, uint64_t *data, void *user);
void sdk_on_retired(uint64_t correlation, uint64_t time, void *user);
void sdk_on_device(const struct gputap_object *object);
/* Report that a runtime has been initialised. */
void sdk_on_runtime(rocprofiler_runtime_initialization_operation_t operation, uint64_t version,
		    uint64_t instance);

/* Data kept from ENTER to EXIT for each call and context, for the additional events that the call
 * reports. */
struct sdk_inner {
	rocprofiler_user_data_t user;
	uint64_t external;
	uint64_t which; /* number of the agent, stream or range */
	bool asked;     /* true if the client provided the external id on request */
};
bool sdk_inner_asks(const struct sdk_context *c, uint32_t domain, uint32_t number);
void sdk_inner_enter(struct sdk_context *c, const struct gputap_call *call,
		     struct sdk_inner *inner);
void sdk_inner_exit(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner,
		    uint64_t end);
bool sdk_range_asks(const struct sdk_context *c, uint32_t number);
bool sdk_range_begins(uint32_t number); /* true if the range has a correlation */
void sdk_range_enter(struct sdk_context *c, const struct gputap_call *call,
		     struct sdk_inner *inner);
void sdk_range_exit(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner,
		    uint64_t end);

/* Return the effect of a HIP operation on streams, and output the stream argument and the created
 * stream or 0. */
uint32_t sdk_stream_operation(uint32_t number);
uint64_t sdk_stream_argument(const struct gputap_call *call);
uint64_t sdk_stream_created(const struct gputap_call *call);

/* Return the number of the stream at @address (sdk_stream.c). Numbers start at 1 and are never
 * reused. 0: the default stream. */
uint64_t sdk_stream_id(uint64_t address);
/* Forget a stream, because its address may belong to another stream from now on. */
void sdk_forget_stream(uint64_t address);
/* Find the host function for a kernel symbol. Return false if none is known. */
bool sdk_host_function(
	const char *symbol,
	rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t *out);
/* Start to collect the data that this context will need. */
void sdk_watch_for(const struct sdk_context *c);

/* Install the scratch functions. Called when HSA registers its table for tools. */
void sdk_scratch_table(void *tools);

/* Kinds and operations (sdk_names.c) ------------------------------------------------ */

/* The API of a kind that reports calls: its gputap domain, and its first operation in the domain.
 * `domain` is 0 if the kind has no API, or the API is not recorded. */
struct sdk_api {
	uint32_t domain, from, count;
};
struct sdk_api sdk_api_of(rocprofiler_callback_tracing_kind_t kind);
/* Return gputap's number for HIP 5's hipGetDeviceProperties(). ROCm 6 calls this function
 * hipGetDevicePropertiesR0000(), and it is reported to clients under that name. */
uint32_t sdk_old_properties(void);
/* Find the kind and its operation from a gputap operation. This is the reverse of sdk_api_of().
 * Return false if no kind has that operation. */
bool sdk_kind_of(uint32_t domain, uint32_t number, rocprofiler_callback_tracing_kind_t *kind,
		 uint32_t *operation);

/* Return the number of operations of a kind, or -1 if the kind does not exist. */
int sdk_callback_operations(int kind);
int sdk_buffer_operations(int kind);
rocprofiler_external_correlation_id_request_kind_t sdk_request_of(
	rocprofiler_callback_tracing_kind_t kind);

/* External ids (sdk_external.c) ------------------------------------------------------- */

/* If the client is configured to provide the id, request it from the client. Otherwise return the
 * top of the thread's stack, or the substitute for an empty stack. *asked: set to true if the
 * client provided the id. */
uint64_t sdk_external_id(struct sdk_context *c, uint64_t thread,
			 rocprofiler_external_correlation_id_request_kind_t kind, int32_t operation,
			 uint64_t correlation, bool *asked);
uint64_t sdk_external_top(struct sdk_context *c, uint64_t thread);
void sdk_external_drop(struct sdk_context *c);

/* Buffers (sdk_buffer.c) ---------------------------------------------------------------- */

struct sdk_buffer *sdk_buffer_of(rocprofiler_buffer_id_t id);
bool sdk_buffer_is_of(const struct sdk_buffer *b, const struct sdk_context *c);
void sdk_buffer_write(struct sdk_buffer *b, rocprofiler_buffer_tracing_kind_t kind,
		      const void *record, size_t bytes, bool last);
void sdk_buffers_drop(const struct sdk_context *c);
/* Start to notify the subscribers to thread creation. Later calls do nothing. */
void sdk_threads_init(void);

/* Call @fn. Return false if @fn threw an exception, which is caught here. */
bool sdk_guarded(void (*fn)(void *), void *data);

/* Objects (sdk_object.c) ------------------------------------------------------------------ */

/* Report the objects that are still loaded as unloaded: first the symbols, then their code
 * object. */
void sdk_objects_unload(struct sdk_context *c);
void sdk_objects_drop(struct sdk_context *c);

/* Tables (sdk_table.c) ---------------------------------------------------------------------- */

void sdk_tables_init(void);
/* Return the number of clients' functions that request tables. */
int sdk_tables_subscribers(void);
/* Notify a client that was forced later of the runtimes that were initialised before. Pass their
 * tables to its functions, which start at @first. */
void sdk_tables_replay(uint32_t client, int first);
/* Return the name of a table that a separate library offered, or NULL if no such table has that
 * type. */
const char *sdk_offered_name(uint32_t type);

/* Agents (sdk_agent.c) ------------------------------------------------------------------------ */

/* Find the agents. Call before HSA finds them. */
void sdk_agents_init(void);
/* Return the agent of an HSA handle; 0: unknown. */
rocprofiler_agent_id_t sdk_agent_of(uint64_t hsa_handle);
rocprofiler_agent_id_t sdk_agent_of_pool(uint64_t pool); /* @pool: a pool or a region */
void sdk_on_queue(const struct gputap_object *object);
/* @own_id: HSA's id, for a queue that has no object. */
void sdk_queue_of(uint64_t handle, uint64_t own_id, rocprofiler_queue_id_t *id,
		  rocprofiler_agent_id_t *agent);

/* Fill in as many memory banks, caches and links as the node's counts say (sdk_node.c). */
void sdk_node_files(const char *node, rocprofiler_agent_v0_t *i);
void sdk_node_thunk(void *library, uint32_t node, uint32_t processor, rocprofiler_agent_v0_t *i);

#endif
