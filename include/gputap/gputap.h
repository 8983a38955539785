/* SPDX-License-Identifier: MIT */
/* gputap's C API for code inside a traced program: say what the program is doing, switch
 * recording on and off, put functions in front of a runtime's, be notified of trouble.
 *
 * Link with libgputap (pkg-config gputap). Without `gputap run` around the program everything is
 * legal, and nothing is recorded: functions that would need a session return -ENOTCONN. What
 * gputap/tool.h has, tables and events need none.
 *
 * Functions return 0 or a negative errno. Options and descriptions begin with their size: set it
 * with sizeof; what a newer gputap adds behind is zero then, and zero means default. */
#ifndef GPUTAP_GPUTAP_H
#define GPUTAP_GPUTAP_H

#include <stddef.h>
#include <stdint.h>

#include <gputap/domains.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What libgputap exports. */
#define GPUTAP_API __attribute__((visibility("default")))

/* Of the header. */
#define GPUTAP_VERSION_MAJOR 0
#define GPUTAP_VERSION_MINOR 1

/**
 * gputap_version() - version of the library that is loaded
 * Return: major << 16 | minor; compare the major with GPUTAP_VERSION_MAJOR.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Owner:  nothing is kept.
 * Source: gputap.
 */
GPUTAP_API uint32_t gputap_version(void);

/* External correlation ------------------------------------------------------- */

/* Two stacks a thread: what a framework is executing, and what the user annotated. */
enum gputap_stack { GPUTAP_STACK_OPERATION = 0, GPUTAP_STACK_USER = 1 };

/**
 * gputap_external_push() - from now on, calls of this thread belong to @id
 * @stack: which of the thread's two stacks
 * @id:    the caller's own number; 0 stands for none
 * Return: 0, -EINVAL (no such stack), -ENOMEM; -ENOSPC: 250 deep, the last id that was kept goes
 *         on, and the pop that belongs to this push undoes it.
 * Thread: the one whose calls are meant.   Signal: not safe.   Since: 0.1
 * Source: CUPTI external correlation; rocprofiler-sdk external correlation; torch.profiler.
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_external_push(enum gputap_stack stack, uint64_t id);

/**
 * gputap_external_pop() - undo the last push of this thread and stack
 * @id:    receives the id that was on top, 0 of a push that was refused; may be NULL
 * Return: 0, -EINVAL, -ENODATA (the stack is empty).
 * Thread: the one that pushed.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 * Source: external correlation ids of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_external_pop(enum gputap_stack stack, uint64_t *id);

/* Ranges ---------------------------------------------------------------------- */

/* What a range is; their numbers in captures. */
enum gputap_range_kind {
	GPUTAP_RANGE_OPERATOR = 0, /* of a framework */
	GPUTAP_RANGE_BACKWARD = 1, /* a node of its automatic differentiation */
	GPUTAP_RANGE_USER = 2      /* the program's own */
};

/**
 * gputap_range_begin() - from now on, this thread's calls are inside the range @name
 * @kind:     enum gputap_range_kind
 * @name:     stays until the range ends; text beyond 1 KiB is cut
 * @key:      the caller's word for it, as its address; gputap_range_end() names it
 * @sequence: number that an operator and its node have in common; negative: none
 * @shapes:   of the operator's inputs: for each, the number of its dimensions and then these; -1
 *            for what is no tensor. Copied. NULL: not known
 * @words:    at @shapes; where 2,048 of all open ranges are exceeded, the range has none
 * Return: 0; -EINVAL; -ENOSPC: 250 are open in this thread: it is counted, not recorded; -ENOMEM;
 *         -ENOTCONN: nothing is recorded in this process.
 * Ranges of a thread nest. A range is recorded when it ends; one that never ends is not.
 * Thread: the one that the range is of.   Signal: not safe.   Since: 0.1
 * Source: torch's RecordFunction; NVTX and ROCTx ranges.
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_begin(uint32_t kind, const char *name, uint64_t key, int64_t sequence,
				  const int64_t *shapes, uint32_t words);

/**
 * gputap_range_end() - end this thread's innermost range with that key, and all that are in it
 * Return: 0; -ENODATA: none is open in this thread.
 * Thread: the one that began it.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 * Source: annotations of ROCTx.
 */
GPUTAP_API int gputap_range_end(uint64_t key);

/**
 * gputap_range_source() - whose ranges these are: before the first of a framework's
 * @function: any of its library, which is then named as a runtime of the process; may be NULL
 * @version:  of it, 10000 * major + 100 * minor + patch
 * Return: 0; -ENOTCONN: nothing is recorded in this process, ranges are of no use.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 * Source: gputap.
 */
GPUTAP_API int gputap_range_source(const void *function, uint32_t version);

/* Windows --------------------------------------------------------------------- */

/**
 * gputap_pause() - the program's calls and device work are not recorded from now on
 * Return: 0; -ENOTCONN: nothing is recorded in this process.
 * In all threads of this process. Two pauses are one. Work that was launched before is recorded
 * when it completes. Other contexts and tools go on. The session may pause recording, too (`gputap
 * stop`, `gputap run --paused`): it is recorded while neither does.
 * Thread: any. Calls that other threads are in the middle of may be recorded or not.
 * Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 * Source: roctxProfilerPause(), cudaProfilerStop().
 */
GPUTAP_API int gputap_pause(void);

/**
 * gputap_resume() - go on recording after gputap_pause()
 * Return: 0, also where there was no pause; -ENOTCONN: nothing is recorded in this process.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 * Source: roctxProfilerResume(), cudaProfilerStart().
 */
GPUTAP_API int gputap_resume(void);

/* Contexts ------------------------------------------------------------------- */

struct gputap_context;

/* What a context asks of the trace stream. */
struct gputap_context_opts {
	size_t size; /* sizeof(struct gputap_context_opts) */
	/* enum gputap_domain; 0: no records; for what gputap/tool.h adds */
	uint32_t domain;
	uint32_t operation_count; /* 0: all of the domain */
	/* their numbers, as `gputap list operations` shows them; copied */
	const uint32_t *operations;
	/* not 0: also kernels, copies, .. that the domain's calls cause */
	uint32_t device_activity;
	uint32_t flags; /* GPUTAP_CONTEXT_*: gputap/tool.h */
};

/**
 * gputap_context_create() - a set of services that are switched on and off together
 * @opts:  what to record
 * @out:   receives the context, stopped; NULL on failure
 * Return: 0, -EINVAL (domain, operation number, flags, size), -ENOMEM, -ENOTCONN (it asks for the
 *         stream, and there is none: the program does not run under `gputap run`).
 * Owner:  caller; release with gputap_context_destroy().
 * Create contexts before the first call of the runtime: taps are put into its table when it starts,
 * for what contexts ask for by then. Where `gputap run` selects no operations, all is left to
 * contexts.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: rocprofiler-sdk contexts.
 */
GPUTAP_API int gputap_context_create(const struct gputap_context_opts *opts,
				     struct gputap_context **out);

/**
 * gputap_context_start() - from now on, do what the context asks for
 * Return: 0, -EINVAL (NULL). To start a started context is no error.
 * Thread: any. Calls that other threads are in the middle of may be recorded or not.
 * Signal: not safe.   Since: 0.1
 * Owner:  @ctx stays the caller's.
 * Source: contexts of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_start(struct gputap_context *ctx);

/**
 * gputap_context_stop() - do it no longer; other contexts and the session's own go on
 * @ctx: stays configured; may be started again
 * Return: 0, -EINVAL (NULL). To stop a stopped context is no error.
 * When it returns, none of the context's callbacks runs: it waits for those that other threads are
 * in. Two exceptions:
 *   - A thread that waits for this one in the same way is not waited for.
 *   - Each thread is waited for five seconds at most, then its callback is abandoned, whatever
 *     keeps it: it may take longer, or have been left by longjmp() and never end. It may still run
 *     when stop has returned, so what it uses must outlive it.
 * A call whose ENTER came before stop gets no EXIT after it, unless the context has
 * GPUTAP_CONTEXT_FINISH_CALLS.
 * Owner:  @ctx stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: contexts of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_stop(struct gputap_context *ctx);

/**
 * gputap_context_destroy() - stop it and give its memory back
 * @ctx:   may be NULL. It is stopped as gputap_context_stop() does it
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Return: nothing.
 * Owner:  takes @ctx back.
 * Source: contexts of ROCprofiler-SDK.
 */
GPUTAP_API void gputap_context_destroy(struct gputap_context *ctx);

/* Raw tables ----------------------------------------------------------------- */

/* A runtime's table while it is being registered. */
struct gputap_table {
	size_t size;     /* of this description */
	uint32_t domain; /* enum gputap_domain; 0: gputap_table_offer() */
	/* several copies of a runtime in one process are several instances, from 0 */
	uint32_t instance;
	void **entries;   /* the table, in the runtime's own layout */
	size_t bytes;     /* of the table */
	const char *name; /* of the runtime */
	/* as the runtime gave it to rocprofiler-register, 10000 * major + 100 * minor + patch;
	 * 0: it did not */
	uint64_t version;
};

/**
 * typedef gputap_table_fn - look at a runtime's table, keep entries, put own functions in front
 * @table: valid during the call. Entries already lead through gputap's taps and earlier
 *         subscribers' functions: keep the old value of what you replace, and call it. Do not call
 *         into the runtime from here: it is starting.
 * @user:  as given to gputap_table_subscribe()
 */
typedef void (*gputap_table_fn)(const struct gputap_table *table, void *user);

/**
 * gputap_table_subscribe() - be called when a runtime's table is registered
 * @fn:    called in the thread in which the runtime starts
 * Return: 0, -EINVAL, -ENOSPC (64 subscribers).
 * The last subscriber is outermost: application -> last -> .. -> first -> gputap -> runtime.
 * Subscribe before the first call of the runtime: @fn is not called for tables that are registered
 * already.
 *   - OpenCL that is interposed by name has no table.
 *   - HIP before ROCm 6, which is interposed by name, gets a table laid out as ROCm 7.2's. If a
 *     running program opens it, the first thread that then asks for an address finds it, and @fn is
 *     called there; calls that other threads make until @fn has returned pass by what it puts in
 *     front. Callbacks around calls (gputap/tool.h) get them all.
 *   - HSA's tables come in gputap's order, and once more as the runtime has them, when everybody's
 *     functions are in them: domain 0, name "HsaApiTable".
 *   - Of a runtime that offers its tables, no call comes before the subscribers were asked.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: rocprofiler_at_intercept_table_registration().
 * Owner:  the subscription lasts until the process ends, or the tool that made it.
 */
GPUTAP_API int gputap_table_subscribe(gputap_table_fn fn, void *user);

/**
 * gputap_table_offer() - let subscribers stand in front of a library's own functions
 * @name:    of the table; what else it is, its users know from the library's header
 * @entries: the table that the library calls its functions through; may begin with its size
 * @bytes:   of the table
 * Return: 0, -EINVAL.
 * For libraries of which gputap knows nothing: domain and instance are 0, no taps are put in. Once
 * a table, before its first use. Without subscribers nothing happens.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: the library foo of rocprofiler-sdk's "Runtime intercept tables".
 * Owner:  @entries stays the library's; subscribers may write to it.
 */
GPUTAP_API int gputap_table_offer(const char *name, void **entries, size_t bytes);

/* Events --------------------------------------------------------------------- */

/* What an event is about. */
enum gputap_event_code {
	/* records were dropped, or work is not notified to its end; value: how many since the
	 * last time */
	GPUTAP_EVENT_LOSS = 1,
	/* the program asked for an entry point that has no tap; text: its name */
	GPUTAP_EVENT_UNKNOWN_ENTRY = 2,
	GPUTAP_EVENT_CLOCK = 3, /* device time stamps that cannot be right; value: how many */
	/* a program, or a copy of a runtime, cannot be traced; text: which, and why */
	GPUTAP_EVENT_NOT_TRACED = 4,
	/* a runtime's table is shorter or longer than known; value: its entries */
	GPUTAP_EVENT_TABLE = 5,
	/* the runtime refused profiling: work of a queue has no times; value: number of the
	 * queue object */
	GPUTAP_EVENT_PROFILING = 6,
	/* a tool could not be loaded, or said no; text: its name, and why */
	GPUTAP_EVENT_TOOL = 7,
	/* a device or queue has failed; value: the address, or the runtime's status */
	GPUTAP_EVENT_FAULT = 8,
	/* a graph's work came otherwise than its nodes say; value: number of the graph object;
	 * text: how */
	GPUTAP_EVENT_GRAPH = 9,
	/* device work that cannot be linked to its call from now on; text: why */
	GPUTAP_EVENT_UNLINKED = 10
};

/* An event that gputap reports. Valid during the callback. */
struct gputap_event {
	size_t size;      /* of this description */
	uint32_t code;    /* enum gputap_event_code */
	uint32_t domain;  /* enum gputap_domain; 0: none */
	uint64_t value;   /* as the code says: how many, how long */
	const char *text; /* may be NULL */
};

/**
 * typedef gputap_event_fn - be notified of an event
 * @event: valid during the call, which is made in the thread where it happened, maybe inside a call
 *         of the runtime
 */
typedef void (*gputap_event_fn)(const struct gputap_event *event, void *user);

/**
 * gputap_event_subscribe() - be called for every event of this process from now on
 * Return: 0, -EINVAL, -ENOSPC (64 subscribers).
 * A subscription that a tool makes in its start() ends when the tool is removed.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  the subscription lasts until the process ends, or the tool that made it.
 * Source: gputap.
 */
GPUTAP_API int gputap_event_subscribe(gputap_event_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
