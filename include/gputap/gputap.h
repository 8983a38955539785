/* SPDX-License-Identifier: MIT */
/* gputap's C API for code inside a traced program: describe what the program is doing, pause and
 * resume recording, wrap functions of a runtime, receive reports of trouble.
 *
 * Link with libgputap (pkg-config gputap). All functions may be called without `gputap run`.
 * Nothing is recorded then, and functions that need a session return -ENOTCONN. The functions of
 * gputap/tool.h, tables and events need no session.
 *
 * Functions return 0 or a negative errno unless their comment differs. Options and descriptions
 * start with their size: set it with sizeof. Fields that a newer gputap appends are then zero, and
 * zero means default. */
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
 * Return: major << 16 | minor; compare the major with GPUTAP_VERSION_MAJOR.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API uint32_t gputap_version(void);

/* External correlation ------------------------------------------------------- */

/* The two stacks of each thread: for a framework's operations and for the user's annotations. */
enum gputap_stack { GPUTAP_STACK_OPERATION = 0, GPUTAP_STACK_USER = 1 };

/**
 * gputap_external_push() - attach @id to the calls that this thread makes next
 * @stack: which of the thread's two stacks
 * @id:    the caller's own number; 0 means none
 * Return: 0, -EINVAL (no such stack), -ENOMEM; -ENOSPC: the stack has 250 ids. The last accepted id
 *         stays in effect, and the matching pop removes this push.
 * Thread: the one that makes the calls.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_external_push(enum gputap_stack stack, uint64_t id);

/**
 * gputap_external_pop() - remove the id that this thread pushed last
 * @id:    receives the removed id, or 0 if its push was refused; may be NULL
 * Return: 0, -EINVAL, -ENODATA (the stack is empty).
 * Thread: the one that pushed.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_external_pop(enum gputap_stack stack, uint64_t *id);

/* Ranges ---------------------------------------------------------------------- */

/**
 * gputap_range_push() - open a range that contains the calls this thread makes next
 * @name: must stay valid until the range ends; bytes after the first 1,024 are dropped
 * Return: 0; -EINVAL (NULL); -ENOSPC: the thread has 250 open ranges, so this one is counted, not
 *         recorded, and gputap_range_pop() ends it; -ENOMEM; -ENOTCONN: this process is not
 *         recorded.
 * Ranges of a thread nest. A range is recorded when it ends. A range that is still open when the
 * process ends is counted as open. The child of a fork inherits the open ranges of the forking
 * thread and ends them too; only the parent records them.
 * Takes no lock and makes no system call, except for the first range of a thread.
 * Thread: the one that the range belongs to.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_push(const char *name);

/**
 * gputap_range_pop() - end the range that this thread pushed last
 * Ranges inside it that gputap_range_begin() opened, and that are still open, end as well.
 * Return: 0; -ENODATA: this thread has pushed no range that is still open, and nothing changes;
 *         -ENOTCONN: this process is not recorded.
 * Thread: the one that pushed it.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_pop(void);

/* The kind of a range. */
enum gputap_range_kind {
	GPUTAP_RANGE_USER = 0,     /* a name that the program chose */
	GPUTAP_RANGE_OPERATOR = 1, /* an operator of a framework */
	GPUTAP_RANGE_BACKWARD = 2  /* a node of its automatic differentiation */
};

/* Options of gputap_range_begin(). */
struct gputap_range_opts {
	size_t size;                 /* sizeof(struct gputap_range_opts) */
	enum gputap_range_kind kind; /* 0: GPUTAP_RANGE_USER */
	/* length of shapes. A range gets no shapes if all open ranges have more than 2,048 */
	uint32_t shape_count;
	/* shapes of the operator's inputs: for each input its number of dimensions, then the
	 * dimensions; -1 for an input that is not a tensor. Copied. NULL: not known */
	const int64_t *shapes;
	/* number that an operator shares with its backward node; negative: none */
	int64_t sequence;
	uint32_t has_sequence; /* 1: sequence is set; 0: none */
	uint32_t reserved;     /* 0 */
};

/**
 * gputap_range_begin() - open a range that gputap_range_end() identifies with a key
 * For frameworks. Programs use gputap_range_push(), whose nesting and limits apply here as well.
 * @name: must stay valid until the range ends; bytes after the first 1,024 are dropped
 * @key:  identifies the range for gputap_range_end(), for example an address
 * @opts: NULL: defaults, a range of the kind GPUTAP_RANGE_USER
 * Return: 0; -EINVAL (NULL, size, kind, shapes); -ENOSPC: the thread has 250 open ranges, so this
 *         one is counted, not recorded; -ENOMEM; -ENOTCONN: this process is not recorded.
 * Thread: the one that the range belongs to.   Signal: not safe.   Since: 0.1
 * Owner:  @opts stays the caller's.
 */
GPUTAP_API int gputap_range_begin(const char *name, uint64_t key,
				  const struct gputap_range_opts *opts);

/**
 * gputap_range_end() - end this thread's innermost range with @key and all ranges inside it
 * @key: as passed to gputap_range_begin()
 * Return: 0; -ENODATA: this thread has no such open range; -ENOTCONN: this process is not recorded.
 * Thread: the one that opened it.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_range_end(uint64_t key);

/**
 * gputap_range_source() - name the framework that the ranges come from, before its first range
 * @function: a function of the framework's library. The library is listed as a runtime of the
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
 * neither has paused it.
 * Thread: any. Calls that other threads are executing may or may not be recorded.
 * Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_pause(void);

/**
 * gputap_resume() - continue recording after gputap_pause()
 * Return: 0, even without a pause; -ENOTCONN: this process is not recorded.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  nothing is kept.
 */
GPUTAP_API int gputap_resume(void);

/* Contexts ------------------------------------------------------------------- */

struct gputap_context;

/* Flags of a context. They concern the services of gputap/tool.h. */
enum gputap_context_flags {
	/* after gputap_context_stop(), notify the end of what has begun. Without this flag, no
	 * callback runs after stop has returned (exceptions: gputap_context_stop()) */
	GPUTAP_CONTEXT_FINISH_CALLS = 1,
	/* from the context's first service to its end, assign correlations without gaps. Slows
	 * down threads that make calls at the same time, by much more than a call costs */
	GPUTAP_CONTEXT_DENSE = 2,
	/* adjacent contexts with this flag are notified of EXIT of calls first to last */
	GPUTAP_CONTEXT_EXIT_FORWARD = 4,
	/* from the context's first service to its end, the innermost subscribed call is the cause
	 * of an activity. Without this flag, the cause is the enclosing HIP call, or else the
	 * innermost one */
	GPUTAP_CONTEXT_INNERMOST = 8,
	/* gputap_context_retirement() applies to all calls and activities that any context is
	 * notified of while this one is started */
	GPUTAP_CONTEXT_ALL_RETIRED = 16
};

/* The records that a context requests from the trace stream. */
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
 * @opts:  what to record
 * @out:   receives the context, stopped; NULL on failure
 * Return: 0, -EINVAL (domain, operation number, flags, size), -ENOMEM, -ENOTCONN (it requests the
 *         stream, but the program does not run under `gputap run`).
 * Owner:  caller; release with gputap_context_destroy().
 * Create contexts before the first call of the runtime. When a runtime starts, taps are installed
 * for the operations that contexts have requested so far. If `gputap run` selects no operations,
 * only those of contexts are recorded.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_create(const struct gputap_context_opts *opts,
				     struct gputap_context **out);

/**
 * gputap_context_start() - start the services of a context
 * Return: 0, also if it was started already; -EINVAL (NULL).
 * Thread: any. Calls that other threads are executing may or may not be recorded.
 * Signal: not safe.   Since: 0.1
 * Owner:  @ctx stays the caller's.
 */
GPUTAP_API int gputap_context_start(struct gputap_context *ctx);

/**
 * gputap_context_stop() - stop the services of a context
 * @ctx: stays configured; may be started again
 * Return: 0, also if it was stopped already; -EINVAL (NULL).
 * Other contexts and the session continue. When this function returns, no callback of the context
 * is running: it waits for other threads to leave them. Two exceptions:
 *   - It does not wait for a thread that is waiting for the calling thread in the same way.
 *   - It waits at most five seconds for each thread, then abandons that thread's callback. The
 *     callback may take longer, or may never return because longjmp() left it. It may still run
 *     after stop has returned, so the objects that it uses must outlive it.
 * A call that was notified of ENTER before stop gets no EXIT after it, unless the context has
 * GPUTAP_CONTEXT_FINISH_CALLS.
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

/* A runtime's table while it is being registered. */
struct gputap_table {
	size_t size;               /* of this description */
	enum gputap_domain domain; /* GPUTAP_DOMAIN_NONE: of gputap_table_offer() */
	/* each copy of a runtime in the process is an instance, from 0 */
	uint32_t instance;
	void **entries;   /* the table, in the runtime's own layout */
	size_t bytes;     /* of the table */
	const char *name; /* of the runtime */
	/* that the runtime passed to rocprofiler-register, 10000 * major + 100 * minor + patch;
	 * 0: none */
	uint64_t version;
};

/**
 * typedef gputap_table_fn - inspect a runtime's table and replace entries
 * @table: valid during the call. Entries already contain gputap's taps and the functions of
 *         earlier subscribers: save the value of each entry that you replace, and call it. Do not
 *         call the runtime from here: it is still starting.
 * @user:  as given to gputap_table_subscribe()
 */
typedef void (*gputap_table_fn)(const struct gputap_table *table, void *user);

/**
 * gputap_table_subscribe() - request a call when a runtime registers its table
 * @fn:    called in the thread in which the runtime starts
 * Return: 0, -EINVAL, -ENOSPC (64 subscribers).
 * The last subscriber is outermost: application -> last -> ... -> first -> gputap -> runtime.
 * Subscribe before the first call of the runtime: @fn is not called for tables that are already
 * registered.
 *   - OpenCL has no table where its symbols are interposed.
 *   - HIP before ROCm 6 is interposed and gets a table with the layout of ROCm 7.2. If a running
 *     program opens HIP, @fn runs in the first thread that looks up an address afterwards. Calls
 *     that other threads make before @fn has returned bypass the functions that it installs.
 *     Callbacks around calls (gputap/tool.h) receive all of them.
 *   - HSA's tables arrive in gputap's order, and once more in the runtime's layout after all
 *     subscribers have changed them: domain 0, name "HsaApiTable".
 *   - A runtime that offers its tables makes no call before @fn has returned.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  the subscription lasts until the process ends, or the tool that made it.
 */
GPUTAP_API int gputap_table_subscribe(gputap_table_fn fn, void *user);

/**
 * gputap_table_offer() - let subscribers wrap the functions of a library
 * @name:    name of the table, which the library's header describes to subscribers
 * @entries: the table through which the library calls its functions; may start with its size
 * @bytes:   size of the table
 * Return: 0, -EINVAL.
 * For libraries that gputap does not know: domain and instance are 0, and no taps are installed.
 * Call it once for each table, before the table is used. Without subscribers it has no effect.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  @entries stays the library's; subscribers may write to it.
 */
GPUTAP_API int gputap_table_offer(const char *name, void **entries, size_t bytes);

/* Events --------------------------------------------------------------------- */

/* The subject of an event. */
enum gputap_event_code {
	/* records were dropped, or tools are not notified of the end of GPU activities; value: how
	 * many since the last event */
	GPUTAP_EVENT_LOSS = 1,
	/* the program looked up an entry point that has no tap; text: its name */
	GPUTAP_EVENT_UNKNOWN_ENTRY = 2,
	GPUTAP_EVENT_CLOCK = 3, /* device time stamps that cannot be right; value: how many */
	/* a program, or a copy of a runtime, cannot be traced; text: which, and why */
	GPUTAP_EVENT_NOT_TRACED = 4,
	/* a runtime's table is shorter or longer than expected; value: its number of entries */
	GPUTAP_EVENT_TABLE = 5,
	/* the runtime refused profiling, so activities of a queue have no times; value: number
	 * of the queue object */
	GPUTAP_EVENT_PROFILING = 6,
	/* a tool could not be loaded, or refused to start; text: its name, and why */
	GPUTAP_EVENT_TOOL = 7,
	/* a device or queue has failed; value: the address, or the runtime's status */
	GPUTAP_EVENT_FAULT = 8,
	/* a graph's activities do not match its nodes; value: number of the graph object; text:
	 * how */
	GPUTAP_EVENT_GRAPH = 9,
	/* GPU activities can no longer be linked to their calls; text: why */
	GPUTAP_EVENT_UNLINKED = 10
};

/* An event. Valid during the callback. */
struct gputap_event {
	size_t size;                 /* of this description */
	enum gputap_event_code code; /* the subject */
	enum gputap_domain domain;   /* GPUTAP_DOMAIN_NONE: none */
	uint64_t value;              /* depends on the code: a count or a duration */
	const char *text;            /* may be NULL */
};

/**
 * typedef gputap_event_fn - receive an event
 * @event: valid during the call. The function runs in the thread in which the event occurred,
 *         possibly inside a call of the runtime
 * @user:  as given to gputap_event_subscribe()
 */
typedef void (*gputap_event_fn)(const struct gputap_event *event, void *user);

/**
 * gputap_event_subscribe() - request a call for each event of this process from now on
 * Return: 0, -EINVAL, -ENOSPC (64 subscribers).
 * A subscription made in a tool's start() ends when the tool is removed.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Owner:  the subscription lasts until the process ends, or the tool that made it.
 */
GPUTAP_API int gputap_event_subscribe(gputap_event_fn fn, void *user);

#ifdef __cplusplus
}

/* Combines flags in C++, where | of two enumerators is an int. */
#define GPUTAP_FLAGS(type)                                                                     \
	inline type operator|(type a, type b)                                                  \
	{                                                                                      \
		return static_cast<type>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); \
	}
GPUTAP_FLAGS(gputap_context_flags)
#endif

#endif
