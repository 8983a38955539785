/* SPDX-License-Identifier: MIT */
/* librocprofiler-sdk.so.1, a layer over gputap's tool API (include/gputap/tool.h): what its
 * files share.
 *
 * Below all others: sdk_progress.c (how far initialisation is, who may configure, what is said on
 * stderr), sdk_context_table.c (contexts by handle, the lock), sdk_thread.c (the calling thread's
 * id, the time), sdk_stream.c (numbers of streams). On top of them:
 *
 *   sdk_tool.c      tools ("clients"): found, configured, initialised, finalised
 *   sdk_context.c   what is configured for contexts; made into gputap's contexts
 *   sdk_call.c      calls of the APIs            sdk_work.c      dispatches, copies
 *   sdk_inner.c     allocations, streams         sdk_range.c     ranges of ROCTx
 *   sdk_scratch.c   scratch memory               sdk_object.c    code objects
 *   sdk_watch.c     host functions, streams: what has to be known before they are asked for
 *   sdk_table.c     runtimes' tables, that they have been initialised
 *   sdk_buffer.c    buffers, their threads       sdk_external.c  external correlation ids
 *   sdk_names.c     statuses, kinds, operations  sdk_args.c      arguments as text
 *   sdk_agent.c     agents                       sdk_node.c      their memory, caches, links
 *   sdk_absent.c    what answers that it is not there
 *
 * One gputap context for each of a client's, one gputap tool for all. Handles are numbers that
 * are looked up in tables: nothing that a client passes is followed before it is known.
 *
 * Locking: sdk_lock() for tables and configuration; never held while a client's function or
 * gputap runs clients' functions. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_INTERNAL_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a client passes is looked at, whatever its compiler assumes. */
#define ROCPROFILER_NONNULL(...)

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/spm.h>
#include <rocprofiler-sdk/deprecated/counters.h>
#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>

#include "gputap/tool.h"

#define SDK_EXPORT __attribute__((visibility("default")))

enum {
	SDK_CLIENTS = 64,
	SDK_CONTEXTS = 64,
	SDK_BUFFERS = 256,
	SDK_OPERATIONS = 512,   /* of a kind, at most */
	SDK_FIRST_HANDLE = 256, /* 0 is none, and small numbers are mostly mistakes */
};

/* Progress (sdk_progress.c) ------------------------------------------------------ */

/* Of initialisation and of finalisation, as rocprofiler_is_initialized() says it. */
enum { SDK_NOT_YET = 0, SDK_IN_IT = -1, SDK_DONE = 1 };
extern _Atomic int sdk_initialized, sdk_finalized;

/* On stderr: "rocprofiler-sdk (gputap): ..". */
__attribute__((format(printf, 1, 2))) void sdk_report(const char *format, ...);

/* May services be configured now? SUCCESS, or CONFIGURATION_LOCKED. */
rocprofiler_status_t sdk_may_configure(void);
/* Of the client whose functions run just now; 0: none. */
uint32_t sdk_current_client(void);
/* A client's functions run in this thread; they have returned. */
void sdk_enter_client(uint32_t client);
void sdk_leave_client(void);

/* Contexts (sdk_context_table.c) -------------------------------------------------- */

/* For tables and configuration. */
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

struct sdk_external; /* ids pushed, by thread */
struct sdk_objects;  /* code objects and symbols that clients got and that are still there */

struct sdk_context {
	uint64_t handle; /* 0: free */
	uint32_t client;
	uint32_t inner; /* bit per domain whose calls report something else (sdk_inner.c) */
	bool dirty;     /* configured differently from what `tap` has */
	bool counts;    /* counters of dispatches were asked for: it cannot be started */
	_Atomic bool active;
	struct gputap_context *tap;
	struct sdk_service called[ROCPROFILER_CALLBACK_TRACING_LAST];
	struct sdk_recorded recorded[ROCPROFILER_BUFFER_TRACING_LAST];
	/* external ids are asked for */
	bool requests[ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST];
	bool requests_configured;
	rocprofiler_external_correlation_id_request_cb_t request_fn;
	void *request_user;
	struct sdk_external *external;
	struct sdk_objects *objects;
	_Atomic int64_t in_flight; /* device work that clients got and that has not completed */
};
extern struct sdk_context sdk_contexts[SDK_CONTEXTS];

static inline bool sdk_asks(const struct sdk_operations *o, uint32_t operation)
{
	return operation < SDK_OPERATIONS && o->set[operation / 64] >> (operation % 64) & 1;
}

struct sdk_context *sdk_context_of(rocprofiler_context_id_t id);

/* What is done with them (sdk_context.c) ------------------------------------------ */

/* All of a client's: make them so that runtimes' tables get what they ask; stop; forget. */
void sdk_contexts_commit(uint32_t client);
void sdk_contexts_stop(uint32_t client);
void sdk_contexts_drop(uint32_t client);
/* Until their device work has completed, or some seconds have passed; then what is loaded is
 * unloaded. */
void sdk_contexts_settle(uint32_t client);

/* What gputap calls -------------------------------------------------------------- */

/* user: the context */
void sdk_on_call(const struct gputap_call *call, uint64_t *data, void *user);
void sdk_on_work(const struct gputap_work *work, uint64_t *data, void *user);
void sdk_on_object(const struct gputap_object *object, uint64_t *data, void *user);
void sdk_on_retired(uint64_t correlation, uint64_t time, void *user);
void sdk_on_device(const struct gputap_object *object);
/* A runtime has been initialised. */
void sdk_on_runtime(rocprofiler_runtime_initialization_operation_t operation, uint64_t version,
		    uint64_t instance);

/* Of a call and context, from ENTER to EXIT: what else it reports. */
struct sdk_inner {
	rocprofiler_user_data_t user;
	uint64_t external;
	uint64_t which; /* agent, stream, range */
	bool asked;     /* the external id is what the client answered */
};
bool sdk_inner_asks(const struct sdk_context *c, uint32_t domain, uint32_t number);
void sdk_inner_enter(struct sdk_context *c, const struct gputap_call *call,
		     struct sdk_inner *inner);
void sdk_inner_exit(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner,
		    uint64_t end);
bool sdk_range_asks(const struct sdk_context *c, uint32_t number);
bool sdk_range_begins(uint32_t number); /* .. something that has a correlation */
void sdk_range_enter(struct sdk_context *c, const struct gputap_call *call,
		     struct sdk_inner *inner);
void sdk_range_exit(struct sdk_context *c, const struct gputap_call *call, struct sdk_inner *inner,
		    uint64_t end);

/* What one of HIP's operations does with streams; its argument; the new stream, 0: there is
 * none. */
uint32_t sdk_stream_operation(uint32_t number);
uint64_t sdk_stream_argument(const struct gputap_call *call);
uint64_t sdk_stream_created(const struct gputap_call *call);

/* Number of the stream at @address (sdk_stream.c): from 1, never used again. 0: the default
 * stream. */
uint64_t sdk_stream_id(uint64_t address);
/* Its address may be another stream's from now on. */
void sdk_forget_stream(uint64_t address);
/* The host's function for a kernel symbol. False: there is none. */
bool sdk_host_function(
	const char *symbol,
	rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t *out);
/* What this context will have to know. */
void sdk_watch_for(const struct sdk_context *c);

/* HSA's table for tools is being registered. */
void sdk_scratch_table(void *tools);

/* Kinds and operations (sdk_names.c) ------------------------------------------------ */

/* A kind that is calls of an API: which domain of gputap's, and where its operations begin
 * there. 0: it is none, or not recorded. */
struct sdk_api {
	uint32_t domain, from, count;
};
struct sdk_api sdk_api_of(rocprofiler_callback_tracing_kind_t kind);
/* gputap's number of HIP 5's hipGetDeviceProperties(), which ROCm 6 calls
 * hipGetDevicePropertiesR0000(): clients get it as that. */
uint32_t sdk_old_properties(void);
/* The other way round; false: no kind has that operation. */
bool sdk_kind_of(uint32_t domain, uint32_t number, rocprofiler_callback_tracing_kind_t *kind,
		 uint32_t *operation);

/* How many operations a kind has; -1: there is no such kind. */
int sdk_callback_operations(int kind);
int sdk_buffer_operations(int kind);
rocprofiler_external_correlation_id_request_kind_t sdk_request_of(
	rocprofiler_callback_tracing_kind_t kind);

/* External ids (sdk_external.c) ------------------------------------------------------- */

/* Top of the thread's stack, or what stands for it; asked for, when that is configured. @asked:
 * receives whether the tool gave it. */
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
/* Have subscribers of threads notified (once). */
void sdk_threads_init(void);

/* Call @fn. Return: false: it threw, which ends here. */
bool sdk_guarded(void (*fn)(void *), void *data);

/* Objects (sdk_object.c) ------------------------------------------------------------------ */

/* What is still loaded goes: symbols, then their code object. */
void sdk_objects_unload(struct sdk_context *c);
void sdk_objects_drop(struct sdk_context *c);

/* Tables (sdk_table.c) ---------------------------------------------------------------------- */

void sdk_tables_init(void);
/* Of a table that a library of its own offered; NULL: there is none of that type. */
const char *sdk_offered_name(uint32_t type);

/* Agents (sdk_agent.c) ------------------------------------------------------------------------ */

/* Look which there are: before HSA does. */
void sdk_agents_init(void);
/* Of HSA's handle; 0: not known. */
rocprofiler_agent_id_t sdk_agent_of(uint64_t hsa_handle);
rocprofiler_agent_id_t sdk_agent_of_pool(uint64_t pool); /* or region */
void sdk_on_queue(const struct gputap_object *object);
/* @own_id: HSA's, for one that no object stands for. */
void sdk_queue_of(uint64_t handle, uint64_t own_id, rocprofiler_queue_id_t *id,
		  rocprofiler_agent_id_t *agent);

/* Fill in what the counts say (sdk_node.c). */
void sdk_node_files(const char *node, rocprofiler_agent_v0_t *i);
void sdk_node_thunk(void *library, uint32_t node, uint32_t processor, rocprofiler_agent_v0_t *i);

#endif
