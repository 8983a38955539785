/* SPDX-License-Identifier: MIT */
/* gputap's C API for code inside a traced program. The code can describe the program's activity,
 * pause and resume recording, wrap functions of a runtime, and receive reports of errors.
 *
 * Link with libgputap (pkg-config gputap). All functions may be called without `gputap run`.
 * Nothing is recorded then, and functions that need a session return -ENOTCONN. The functions of
 * gputap/tool.h and the functions for tables and events need no session.
 *
 * Functions return 0 or a negative errno unless their comment says otherwise. Structs with options
 * or descriptions start with their size: set it with sizeof. gputap treats fields beyond this size
 * as zero, and zero means default. */
#ifndef GPUTAP_GPUTAP_H
#define GPUTAP_GPUTAP_H

#include <stddef.h>
#include <stdint.h>

#include <gputap/domains.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that libgputap exports. */
#define GPUTAP_API __attribute__((visibility("default")))

/* Version of this header. */
#define GPUTAP_VERSION_MAJOR 0
#define GPUTAP_VERSION_MINOR 1

/**
 * gputap_version() - return the version of the loaded library
 * Return: major << 16 | minor; compare the major number with GPUTAP_VERSION_MAJOR.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API uint32_t gputap_version(void);

/* External correlation ------------------------------------------------------- */

/* The two stacks of each thread: one for a framework's operations, one for the user's
 * annotations. */
enum gputap_stack { GPUTAP_STACK_OPERATION = 0, GPUTAP_STACK_USER = 1 };

/**
 * gputap_external_push() - attach @id to the calls that this thread makes next
 * @stack: stack to push to
 * @id:    the caller's own number; 0 means none
 * Return: 0, -EINVAL (no such stack), -ENOMEM; -ENOSPC: the stack has 250 ids. The last accepted id
 *         stays in effect, and the matching pop removes this push.
 * Thread: the thread that makes the calls.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_external_push(enum gputap_stack stack, uint64_t id);

/**
 * gputap_external_pop() - remove the id that this thread pushed last
 * @stack: stack to pop from
 * @id:    receives the removed id, or 0 if its push was refused; may be NULL
 * Return: 0, -EINVAL, -ENODATA (the stack is empty).
 * Thread: the thread that pushed the id.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_external_pop(enum gputap_stack stack, uint64_t *id);

/* Ranges ---------------------------------------------------------------------- */

/**
 * gputap_range_push() - open a range that contains the calls this thread makes next
 * @name: must stay valid until the range ends; bytes after the first 1,024 are dropped
 * Return: 0; -EINVAL (NULL); -ENOSPC: the thread has 250 open ranges, so this range is counted but
 *         not recorded, and gputap_range_pop() ends it; -ENOMEM; -ENOTCONN: this process is not
 *         recorded.
 * Ranges of a thread nest. A range is recorded when it ends. A range that is still open when the
 * process ends is not recorded, but counted as open. The child of a fork inherits the open ranges
 * of the forking thread and ends them too; only the parent records them.
 * Takes no lock and makes no system call, except for the first range of a thread.
 * Thread: the thread that the range belongs to.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_push(const char *name);

/**
 * gputap_range_pop() - end the range that this thread pushed last
 * Also ends the ranges inside it that gputap_range_begin() opened and that are still open.
 * Return: 0; -ENODATA: this thread has pushed no range that is still open, and nothing changes;
 *         -ENOTCONN: this process is not recorded.
 * Thread: the thread that pushed the range.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_pop(void);

/* The kind of a range. */
enum gputap_range_kind {
	GPUTAP_RANGE_USER = 0,     /* a name that the program chose */
	GPUTAP_RANGE_OPERATOR = 1, /* an operator of a framework */
	GPUTAP_RANGE_BACKWARD = 2  /* a node of the framework's automatic differentiation */
};

/* Options of gputap_range_begin(). */
struct gputap_range_opts {
	size_t size;                 /* sizeof(struct gputap_range_opts) */
	enum gputap_range_kind kind; /* 0: GPUTAP_RANGE_USER */
	/* length of `shapes`. If the shapes of all open ranges of the thread would exceed 2,048
	 * numbers in total, this range gets no shapes */
	uint32_t shape_count;
	/* shapes of the operator's inputs. Each input has its number of dimensions, followed by the
	 * dimensions, or -1 if the input is not a tensor. gputap copies the array. NULL: not
	 * known */
	const int64_t *shapes;
	/* number that an operator shares with its backward node; a negative number means none */
	int64_t sequence;
	uint32_t has_sequence; /* 1: `sequence` is set; 0: no sequence */
	uint32_t reserved;     /* must be 0 */
};

/**
 * gputap_range_begin() - open a range that gputap_range_end() identifies by a key
 * Intended for frameworks. Programs use gputap_range_push(). The nesting rules and limits of that
 * function apply here as well.
 * @name: must stay valid until the range ends; bytes after the first 1,024 are dropped
 * @key:  identifies the range for gputap_range_end(), for example an address
 * @opts: NULL: defaults, a range of the kind GPUTAP_RANGE_USER
 * Return: 0; -EINVAL (NULL, size, kind, shapes); -ENOSPC: the thread has 250 open ranges, so this
 *         range is counted but not recorded; -ENOMEM; -ENOTCONN: this process is not recorded.
 * Thread: the thread that the range belongs to.   Signal: not safe.   Since: 0.1
 * Owner:  @opts stays the caller's.
 */
GPUTAP_API int gputap_range_begin(const char *name, uint64_t key,
				  const struct gputap_range_opts *opts);

/**
 * gputap_range_end() - end this thread's innermost range with @key and all ranges inside it
 * @key: as passed to gputap_range_begin()
 * Return: 0; -ENODATA: this thread has no such open range; -ENOTCONN: this process is not recorded.
 * Thread: the thread that opened the range.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_end(uint64_t key);

/**
 * gputap_range_source() - name the framework that opens the ranges; call before the first range
 * @function: a function of the framework's library, which is then listed as a runtime of the
 *            process. May be NULL
 * @version:  version of the library, 10000 * major + 100 * minor + patch
 * Return: 0; -ENOTCONN: this process is not recorded, so ranges have no effect.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_source(const void *function, uint32_t version);

/* Windows --------------------------------------------------------------------- */

/**
 * gputap_pause() - stop recording this process's calls and GPU activities
 * Return: 0; -ENOTCONN: this process is not recorded.
 * Applies to all threads of the process. Pauses do not nest. A GPU activity that was launched
 * before the pause is recorded when it completes. Other contexts and tools continue. The session
 * can pause recording as well (`gputap stop`, `gputap run --paused`): calls are recorded only while
 * neither the process nor the session has paused recording.
 * Thread: any. Calls that other threads are executing may or may not be recorded.
 * Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_pause(void);

/**
 * gputap_resume() - continue recording after gputap_pause()
 * Return: 0, even if recording is not paused; -ENOTCONN: this process is not recorded.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_resume(void);

/* Contexts ------------------------------------------------------------------- */

struct gputap_context;

/* Flags of a context. All flags apply to the services of gputap/tool.h. */
enum gputap_context_flags {
	/* After gputap_context_stop(), still notify the context of the end of calls and activities
	 * that have begun. Without this flag, no callback runs after gputap_context_stop() has
	 * returned (that function lists two exceptions) */
	GPUTAP_CONTEXT_FINISH_CALLS = 1,
	/* From the context's first service until the context is destroyed, assign correlations
	 * without gaps. This slows down threads that make calls at the same time, by much more than
	 * the cost of a call */
	GPUTAP_CONTEXT_DENSE = 2,
	/* Adjacent contexts with this flag are notified of EXIT in forward order, first to last,
	 * instead of in reverse order */
	GPUTAP_CONTEXT_EXIT_FORWARD = 4,
	/* From the context's first service until the context is destroyed, the innermost subscribed
	 * call is the cause of an activity. Without this flag, the cause is the enclosing HIP call,
	 * or the innermost call if there is no HIP call */
	GPUTAP_CONTEXT_INNERMOST = 8,
	/* gputap_context_retirement() applies to the calls and activities of all contexts, as long
	 * as this context is started */
	GPUTAP_CONTEXT_ALL_RETIRED = 16
};

/* Records that a context requests from the trace stream. */
struct gputap_context_opts {
	size_t size; /* sizeof(struct gputap_context_opts) */
	/* GPUTAP_DOMAIN_NONE: no records, for contexts that only use gputap/tool.h */
	enum gputap_domain domain;
	uint32_t operation_count; /* 0: all operations of the domain */
	/* operation numbers as `gputap list operations` prints them; copied */
	const uint32_t *operations;
	/* not 0: also record the GPU activities that the domain's calls cause */
	uint32_t activities;
	enum gputap_context_flags flags; /* 0: none */
};

/**
 * gputap_context_create() - create a set of services that start and stop together
 * @opts:  records to request
 * @out:   receives the context, stopped; NULL on failure
 * Return: 0, -EINVAL (domain, operation number, flags, size), -ENOMEM, -ENOTCONN (the context
 *         requests records, but the program does not run under `gputap run`).
 * Owner:  caller; release with gputap_context_destroy().
 * Create contexts before the first call of the runtime. When a runtime starts, gputap installs taps
 * for the operations that contexts have requested so far. If `gputap run` selects no operations,
 * only the operations of contexts are recorded.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_create(const struct gputap_context_opts *opts,
				     struct gputap_context **out);

/**
 * gputap_context_start() - start the services of a context
 * Return: 0, even if the context was already started; -EINVAL (NULL).
 * Thread: any. Calls that other threads are executing may or may not be recorded.
 * Signal: not safe.   Since: 0.1
 * Owner:  @ctx stays the caller's.
 */
GPUTAP_API int gputap_context_start(struct gputap_context *ctx);

/**
 * gputap_context_stop() - stop the services of a context
 * @ctx: stays configured; may be started again
 * Return: 0, even if the context was already stopped; -EINVAL (NULL).
 * Other contexts and the session continue. This function waits until other threads have left the
 * context's callbacks, so none of them is running when it returns. Two exceptions:
 *   - It does not wait for a thread that is itself waiting, in this function, for the calling
 *     thread.
 *   - It waits at most five seconds for each thread, then abandons that thread's callback. The
 *     callback may take longer, or may never return because longjmp() left it. The callback may
 *     still run after this function has returned, so the objects that it uses must outlive it.
 * If the context was notified of a call's ENTER before the stop, it is not notified of the EXIT
 * afterwards, unless it has GPUTAP_CONTEXT_FINISH_CALLS.
 * Owner:  @ctx stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_stop(struct gputap_context *ctx);

/**
 * gputap_context_destroy() - stop a context and free it
 * @ctx:   may be NULL; stopped as by gputap_context_stop()
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Return: nothing.
 * Owner:  takes @ctx.
 */
GPUTAP_API void gputap_context_destroy(struct gputap_context *ctx);

/* Raw tables ----------------------------------------------------------------- */

/* A runtime's function table while the runtime registers it. */
struct gputap_table {
	size_t size; /* size of this struct */
	/* domain of the runtime; GPUTAP_DOMAIN_NONE: offered by gputap_table_offer() */
	enum gputap_domain domain;
	/* number of the runtime's copy in this process, from 0 */
	uint32_t instance;
	void **entries;   /* the table, in the runtime's own layout */
	size_t bytes;     /* size of the table */
	const char *name; /* name of the runtime */
	/* version that the runtime passed to rocprofiler-register, 10000 * major + 100 * minor +
	 * patch; 0: none */
	uint64_t version;
};

/**
 * typedef gputap_table_fn - inspect a runtime's table and replace entries
 * @table: valid during the callback. Entries already contain gputap's taps and the functions of
 *         earlier subscribers: save the value of each entry that you replace, and call it. Do not
 *         call the runtime in this callback, because the runtime is still starting.
 * @user:  as passed to gputap_table_subscribe()
 */
typedef void (*gputap_table_fn)(const struct gputap_table *table, void *user);

/**
 * gputap_table_subscribe() - request a call when a runtime registers its table
 * @fn:    called in the thread in which the runtime starts
 * @user:  passed to @fn
 * Return: 0, -EINVAL, -ENOSPC (64 subscribers).
 * The last subscriber is outermost: application -> last -> ... -> first -> gputap -> runtime.
 * Subscribe before the first call of the runtime: @fn is not called for tables that are already
 * registered.
 *   - OpenCL has no table if gputap interposes its symbols.
 *   - HIP before ROCm 6 is interposed and gets a table with the layout of ROCm 7.2. If a running
 *     program opens HIP, @fn runs in the first thread that looks up an address afterwards. Calls
 *     that other threads make before @fn has returned bypass the functions that @fn installs.
 *     Callbacks around calls (gputap/tool.h) receive all calls.
 *   - @fn receives HSA's tables in gputap's layout. After all subscribers have changed them, @fn
 *     receives them once more in the runtime's layout, with domain 0 and the name "HsaApiTable".
 *   - A runtime that offers its tables calls no function of the tables before @fn has returned.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  the subscription lasts until the process ends or, if made in a tool's start(), until the
 *         tool is removed.
 */
GPUTAP_API int gputap_table_subscribe(gputap_table_fn fn, void *user);

/**
 * gputap_table_offer() - let subscribers wrap the functions of a library
 * @name:    name of the table, as documented in the library's header
 * @entries: the table through which the library calls its functions; may start with the table's
 *           size
 * @bytes:   size of the table
 * Return: 0, -EINVAL.
 * Intended for libraries that gputap does not know: domain and instance are 0, and no taps are
 * installed.
 * Call this function once for each table, before the table is used. It has no effect without
 * subscribers.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  @entries stays the library's; subscribers may write to it.
 */
GPUTAP_API int gputap_table_offer(const char *name, void **entries, size_t bytes);

/* Events --------------------------------------------------------------------- */

/* The subject of an event. */
enum gputap_event_code {
	/* records were dropped, or tools are not notified of the end of GPU activities; value:
	 * number of records or activities since the last event */
	GPUTAP_EVENT_LOSS = 1,
	/* the program looked up an entry point that has no tap; text: name of the entry point */
	GPUTAP_EVENT_UNKNOWN_ENTRY = 2,
	/* device time stamps are invalid; value: number of these time stamps */
	GPUTAP_EVENT_CLOCK = 3,
	/* a program, or a copy of a runtime, cannot be traced; text: the name and the reason */
	GPUTAP_EVENT_NOT_TRACED = 4,
	/* a runtime's table is shorter or longer than expected; value: number of entries in the
	 * table */
	GPUTAP_EVENT_TABLE = 5,
	/* the runtime refused profiling, so activities of a queue have no times; value: number of
	 * the queue object */
	GPUTAP_EVENT_PROFILING = 6,
	/* a tool could not be loaded, or refused to start; text: the tool's name and the reason */
	GPUTAP_EVENT_TOOL = 7,
	/* a device or queue failed; value: the address, or the runtime's status */
	GPUTAP_EVENT_FAULT = 8,
	/* a graph's activities do not match its nodes; value: number of the graph object; text: the
	 * difference */
	GPUTAP_EVENT_GRAPH = 9,
	/* GPU activities can no longer be linked to their calls; text: the reason */
	GPUTAP_EVENT_UNLINKED = 10
};

/* An event. Valid during the callback. */
struct gputap_event {
	size_t size;                 /* size of this struct */
	enum gputap_event_code code; /* the subject */
	enum gputap_domain domain;   /* domain concerned, or GPUTAP_DOMAIN_NONE */
	uint64_t value;              /* meaning depends on `code`, see enum gputap_event_code */
	const char *text;            /* may be NULL */
};

/**
 * typedef gputap_event_fn - receive an event
 * @event: valid during the callback, which runs in the thread in which the event occurred, possibly
 *         inside a call of the runtime
 * @user:  as passed to gputap_event_subscribe()
 */
typedef void (*gputap_event_fn)(const struct gputap_event *event, void *user);

/**
 * gputap_event_subscribe() - subscribe to future events of this process
 * @fn:   called for each event
 * @user: passed to @fn
 * Return: 0, -EINVAL, -ENOSPC (64 subscribers).
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  the subscription lasts until the process ends or, if made in a tool's start(), until the
 *         tool is removed.
 */
GPUTAP_API int gputap_event_subscribe(gputap_event_fn fn, void *user);

#ifdef __cplusplus
}

/* Lets C++ combine flags with |. Without this operator, | yields an int for two enumerators. */
#define GPUTAP_FLAGS(type)                                                                     \
	inline type operator|(type a, type b)                                                  \
	{                                                                                      \
		return static_cast<type>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); \
	}
GPUTAP_FLAGS(gputap_context_flags)
#endif

#endif
