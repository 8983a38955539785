/* SPDX-License-Identifier: MIT */
/* gputap's tool API: callbacks in the traced process, before and after each call of an
 * accelerator's runtime and at each step of a GPU activity.
 *
 *   context ─┬─► calls       a callback before and after each call     gputap_context_calls()
 *            ├─► activities  on submission and on completion           gputap_context_activities()
 *            ├─► objects     code objects, kernel symbols, streams     gputap_context_objects()
 *            └─► buffer      calls and activities as records           gputap_context_buffer()
 *
 * A tool does not need `gputap run`. A tool is code that links or preloads libgputap, or a library
 * that GPUTAP_TOOLS names.
 *
 * Rules for all functions, unless a function's comment says otherwise:
 *   - Functions return 0 or a negative errno. A function that fails has no effect.
 *   - Any function may be called from any thread and inside any callback.
 *   - Only functions with "Signal: safe" may be called in a signal handler.
 *   - Structs start with their size. A newer gputap may append fields after those that this header
 *     declares.
 *   - A callback runs in the thread in which its event happens. Contexts are ordered by the
 *     priority of their tools, then by age. Callbacks before a call run in this order, callbacks
 *     after a call in reverse order.
 *   - A callback may call the runtime. Tools are notified of such calls as of the program's calls.
 *     Callbacks nest at most 8 deep in a thread; tools are not notified of deeper calls.
 *   - If a callback never returns, throws or jumps out, the program's call does not complete
 *     either, as with any other function of the program. gputap stays usable. If a callback ends a
 *     thread that gputap created (pthread_exit()), another thread takes over.
 *   - Times are CLOCK_BOOTTIME in ns. Numbers of calls, activities and objects start with 1 and are
 *     never reused.
 *   - The child of a fork gets copies of its parent's objects, contexts and open calls. Its
 *     contexts are started or stopped as in the parent. Open calls end in both processes. The
 *     child's buffers are empty. Numbers continue from the parent's, so a number that a tool noted
 *     before the fork is valid in both processes; the pid distinguishes later numbers. Activities
 *     in flight complete only in the parent. Calls that depend on these activities retire only in
 *     the parent. */
#ifndef GPUTAP_TOOL_H
#define GPUTAP_TOOL_H

#include <gputap/gputap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tools ---------------------------------------------------------------------- */

#define GPUTAP_TOOL_ABI 1 /* gputap refuses a tool with another value and prints a message */

/* Flags of a tool. */
enum gputap_tool_flags {
	/* Treat the tool as AMD's rocprofiler-sdk treats its clients. The first call of a runtime
	 * (or gputap_tool_add()) calls start(), so the tool does not start in a program that makes
	 * no such call. finish() runs as an exit() handler that is registered just before start().
	 * It runs after the handlers that start() registers and after handlers that are registered
	 * later. */
	GPUTAP_TOOL_ON_FIRST_CALL = 1
};

/* Description of a tool. */
struct gputap_tool {
	size_t size;  /* sizeof(struct gputap_tool) */
	uint32_t abi; /* GPUTAP_TOOL_ABI */
	/* Tools with lower values come first; their callbacks run closer to the program. Tools with
	 * equal values keep the order in which gputap found them */
	int32_t priority;
	const char *name; /* name of the tool in messages */
	/* creates contexts and starts them, before the first call of any runtime. If start() does
	 * not return 0, gputap removes the tool and its contexts. May be NULL */
	int (*start)(void *user);
	/* called once, when the process ends or in gputap_tool_remove(). May be NULL */
	void (*finish)(void *user);
	void *user;                   /* passed to start() and finish() */
	enum gputap_tool_flags flags; /* taken as 0 if the description ends before this field */
};

/**
 * gputap_tool_describe() - describe a tool to gputap; a tool's library exports this function
 * @version: gputap_version() of the calling library
 * Return: the description; NULL: gputap does not start the tool.
 * gputap looks for this function in the libraries that GPUTAP_TOOLS names, then in the program and
 * in all libraries that are mapped when gputap starts. GPUTAP_TOOLS contains paths, separated by
 * ':'. Each path may be followed by '=' and arguments, in which %3a means ':' and %25 means '%'.
 * `gputap run --tool LIBRARY[:ARGUMENTS]` sets the variable.
 * gputap first describes all tools, then starts them in the order of their priorities: after the
 * constructors of libraries, and before main() and the program's constructors. If a running program
 * opens libgputap, the first call of a runtime starts the tools, after the constructors of their
 * libraries.
 * If a tool fails, gputap reports the event GPUTAP_EVENT_TOOL, and prints a line on stderr unless
 * GPUTAP_QUIET is set. The program continues.
 * Owner:  the tool; the description stays valid until the process ends or the tool is removed.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const struct gputap_tool *gputap_tool_describe(uint32_t version);

/**
 * gputap_tool_arguments() - return the arguments of the calling tool
 * Call it in gputap_tool_describe(), start() or finish(). The arguments are those of
 * GPUTAP_TOOLS or of `gputap run --tool LIBRARY:ARGUMENTS`.
 * Return: text that stays valid; "": no arguments.
 * Owner:  gputap.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_tool_arguments(void);

/**
 * gputap_tool_add() - add a tool and start it, at any time
 * @tool: description; the tool's library stays mapped until gputap_tool_remove()
 * Return: 0; -EINVAL (size, GPUTAP_TOOL_ABI), -EALREADY (this description was already added),
 *         -ENOSPC (32 tools), -ESHUTDOWN (the process is ending and its tools have been finished),
 *         or the result of start().
 * When contexts start, they are notified of existing objects (code objects, kernel symbols), but
 * not of earlier calls. Interposed runtimes, Level Zero and the tables of ROCm accept requests at
 * any time. If OpenCL's layer has already registered its table, a tool is notified only of
 * operations that some context had requested before the registration.
 * Owner:  caller; release with gputap_tool_remove().
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_tool_add(const struct gputap_tool *tool);

/**
 * gputap_tool_opened() - announce a library that describes a tool
 * Call it in a constructor of a library with gputap_tool_describe(), if a program may open the
 * library while libgputap is already mapped. gputap cannot notice that otherwise, unless the
 * program runs under `gputap run` or has another tool. The next call of a runtime starts the tool.
 * Has no effect during the start-up of a program, because gputap looks for tools afterwards.
 * Return: 0.
 * Owner:  nothing is passed.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_tool_opened(void);

/**
 * gputap_tool_remove() - finish a tool now
 * Stops and destroys the contexts that the tool created in start(), and ends its subscriptions to
 * tables and events. None of the tool's callbacks runs afterwards (exceptions:
 * gputap_context_stop()). The program may then unload the tool's library, unless a callback was
 * abandoned. A library that calls this function itself stays mapped.
 * Return: 0, -ENOENT.
 * Owner:  returns @tool to the caller.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_tool_remove(const struct gputap_tool *tool);

/* Contexts (continued from gputap.h) ----------------------------------------- */

/**
 * gputap_context_is_active() - return whether a context is started
 * Return: 1: started; 0: stopped; -EINVAL (NULL).
 * Owner:  @ctx stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_is_active(const struct gputap_context *ctx);

/* Calls ---------------------------------------------------------------------- */

/* The step of a call at which a callback runs. */
enum gputap_call_phase { GPUTAP_CALL_PHASE_ENTER = 1, GPUTAP_CALL_PHASE_EXIT = 2 };

/* A call of a runtime. Valid during the callback. */
struct gputap_call {
	size_t size;                  /* size of this struct */
	enum gputap_domain domain;    /* API of the call */
	uint32_t operation;           /* operation number in the domain */
	enum gputap_call_phase phase; /* before or after the call */
	uint32_t instance;            /* number of the runtime's copy in this process, from 0 */
	uint64_t thread;              /* gettid() */
	/* shared with the activities that the call causes; ascending within a thread */
	uint64_t correlation;
	uint64_t parent; /* correlation of the enclosing call; 0: none */
	/* arguments as members of a C struct, with the types of the prototype; NULL: none. With
	 * GPUTAP_CALLS_WRITE, a callback at ENTER may change them */
	void *args;
	uint32_t args_bytes;  /* size of the argument struct */
	uint32_t ret_bytes;   /* size of the returned value; 0: none */
	void *ret;            /* EXIT: returned value, read-only */
	uint64_t external[2]; /* tops of the thread's stacks (enum gputap_stack); 0: empty */
	/* EXIT, with GPUTAP_CALLS_TIMED: start time in ns, read after all ENTER callbacks */
	uint64_t start;
};

/**
 * typedef gputap_call_fn - receive the start or the end of a call
 * @data: eight bytes that belong to this context and this call: 0 at ENTER, retained until EXIT
 * @user: as passed to gputap_context_calls()
 */
typedef void (*gputap_call_fn)(const struct gputap_call *call, uint64_t *data, void *user);

/* Flags of gputap_context_calls(). */
enum gputap_calls_flags {
	GPUTAP_CALLS_DEFAULT = 0,
	GPUTAP_CALLS_WRITE = 1, /* the callback may change arguments at ENTER */
	GPUTAP_CALLS_TIMED = 2  /* fill in gputap_call.start */
};

/**
 * gputap_context_calls() - subscribe to calls of a domain
 * @ctx:        a stopped context
 * @operations: operation numbers, copied; NULL with @count 0: all operations of the domain
 * @flags:      0, or flags of enum gputap_calls_flags
 * @fn:         called before and after each call
 * Return: 0; -EINVAL; -EEXIST (the context already has a function for the domain), -EBUSY (the
 *         context is started), -ENOSPC (64 contexts have subscriptions).
 * Owner:  @ctx and @user stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_calls(struct gputap_context *ctx, enum gputap_domain domain,
				    const uint32_t *operations, size_t count,
				    enum gputap_calls_flags flags, gputap_call_fn fn, void *user);

/**
 * gputap_context_select() - add operations to a context's subscription or remove operations from it
 * @ctx:        has a function for the domain (gputap_context_calls()); started or stopped
 * @operations: operation numbers; NULL with @count 0: all operations of the domain
 * @selected:   1: add; 0: remove
 * Return: 0; -EINVAL; -ENOENT (the context has no function for the domain).
 * The context is notified of the EXIT of a call in progress if and only if it was notified of its
 * ENTER.
 * Owner:  @ctx and @operations stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_select(struct gputap_context *ctx, enum gputap_domain domain,
				     const uint32_t *operations, size_t count, int selected);

/* Flags of gputap_context_uncorrelated(). */
enum gputap_uncorrelated_flags {
	GPUTAP_UNCORRELATED_DEFAULT = 0,
	/* A call that has no enclosing numbered call still gets a number */
	GPUTAP_UNCORRELATED_ALONE = 1
};

/**
 * gputap_context_uncorrelated() - exclude some subscribed operations from numbering
 * @operations: some of the operations passed to gputap_context_calls(); call that function first
 * @flags:      0 or GPUTAP_UNCORRELATED_ALONE
 * Return: 0; -EINVAL; -ENOENT (the context has no function for the domain), -EBUSY (the context is
 *         started).
 * Intended for tools that report such calls in another form, for example as allocations: the
 * correlations of all other calls then have no gaps. If no subscriber needs a number for a call,
 * the call shares the number of the enclosing call (0: none), and is not the cause of activities.
 * Owner:  @ctx and @operations stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_uncorrelated(struct gputap_context *ctx, enum gputap_domain domain,
					   const uint32_t *operations, size_t count,
					   enum gputap_uncorrelated_flags flags);

/* Names and arguments -------------------------------------------------------- */

/**
 * gputap_domain_name() - return a domain's name, for example "hip"
 * Return: text; NULL: no such number.
 * Owner:  gputap; the text stays valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_domain_name(enum gputap_domain domain);

/**
 * gputap_operation_name() - return an operation's name, for example "hipMalloc"
 * @operation: operation number in the domain
 * Return: text; NULL: no such number.
 * Owner:  gputap; the text stays valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_operation_name(enum gputap_domain domain, uint32_t operation);

/**
 * gputap_status_name() - return a status's name, for example "hipErrorOutOfMemory"
 * @status: as returned by calls of the domain
 * Return: text; NULL: no such number.
 * Owner:  gputap; the text stays valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_status_name(enum gputap_domain domain, int32_t status);

/**
 * gputap_event_name() - return an event's name
 * Return: text; NULL: no such number.
 * Owner:  gputap; the text stays valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_event_name(enum gputap_event_code code);

/**
 * gputap_domain_find() - return the number of the domain with the given name
 * @name: as returned by gputap_domain_name()
 * Return: the domain's number, or -ENOENT.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_domain_find(const char *name);

/**
 * gputap_operation_find() - return the number of the operation with the given name
 * @name:   as returned by gputap_operation_name()
 * Return: the operation's number, or -ENOENT.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_operation_find(enum gputap_domain domain, const char *name);

/**
 * gputap_domains_iterate() - call a function for each domain, in ascending order
 * @fn:   called for each domain; a result other than 0 stops the iteration
 * @user: passed to @fn
 * Return: 0, -EINVAL, or the last result of @fn.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_domains_iterate(int (*fn)(enum gputap_domain domain, const char *name,
						void *user),
				      void *user);

/**
 * gputap_operations_iterate() - call a function for each operation of a domain, in ascending order
 * @fn:     called for each operation; a result other than 0 stops the iteration
 * @user:   passed to @fn
 * Return: 0, -EINVAL, or the last result of @fn.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_operations_iterate(enum gputap_domain domain,
					 int (*fn)(uint32_t operation, const char *name,
						   void *user),
					 void *user);

/* One argument of a call. */
struct gputap_argument {
	size_t size;           /* size of this struct */
	uint32_t number;       /* number of the argument, from 0 */
	uint32_t indirection;  /* number of '*' in the type */
	uint32_t dereferenced; /* number of pointers followed to form `text` */
	uint32_t bytes;        /* size of the value */
	const void *value;     /* address of the value */
	const char *type;      /* type in the prototype, for example "void *" */
	const char *name;      /* name in the prototype */
	const char *text;      /* the value as text; valid during the callback */
};

/**
 * gputap_call_arguments() - call a function for each argument of a call
 * @call:        as passed to a callback
 * @dereference: largest number of pointers to follow. Pointers to outputs are followed only at EXIT
 *               of a successful call, and only for the part of an array that the call filled. An
 *               unreadable value is shown as its address
 * @fn:          a result other than 0 stops the iteration
 * @user:        passed to @fn
 * Return: 0, -EINVAL, or the last result of @fn.
 * Owner:  gputap; the values are valid during the callback.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_call_arguments(const struct gputap_call *call, uint32_t dereference,
				     int (*fn)(const struct gputap_argument *argument, void *user),
				     void *user);

/**
 * gputap_call_has_failed() - return whether a call failed, and its status
 * @call:   as passed to a callback
 * @status: receives the status
 * Return: 1: the call failed; 0: the call succeeded; -ENODATA (the operation has no status, or the
 *         phase is ENTER), -EINVAL.
 * Owner:  @call is valid during the callback.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_call_has_failed(const struct gputap_call *call, int32_t *status);

/* GPU activities ------------------------------------------------------------- */

/* Types of GPU activities. Numbers never change. Captures use the same numbers. */
enum gputap_activity_type {
	GPUTAP_ACTIVITY_KERNEL = 1,
	GPUTAP_ACTIVITY_READ,  /* memcpy D2H */
	GPUTAP_ACTIVITY_WRITE, /* memcpy H2D */
	GPUTAP_ACTIVITY_COPY,  /* memcpy D2D */
	GPUTAP_ACTIVITY_FILL,  /* memset */
	GPUTAP_ACTIVITY_MAP,
	GPUTAP_ACTIVITY_UNMAP,
	GPUTAP_ACTIVITY_MIGRATE,
	GPUTAP_ACTIVITY_MARKER,
	GPUTAP_ACTIVITY_BARRIER,
	GPUTAP_ACTIVITY_COMMAND_BUFFER,
	GPUTAP_ACTIVITY_NATIVE,
	GPUTAP_ACTIVITY_OTHER,
	GPUTAP_ACTIVITY_GRAPH,
	/* ROCm 6.1 and later: while the device waits, the runtime gives a queue memory for
	 * registers that do not fit, or takes this memory away. `name`: "scratch alloc", "scratch
	 * free", "scratch reclaim"; at EXIT: bytes, private_bytes, destination. The callback runs
	 * in a thread of the runtime and must not call the runtime */
	GPUTAP_ACTIVITY_SCRATCH
};
#define GPUTAP_ACTIVITY_ALL       UINT64_MAX
#define GPUTAP_ACTIVITY_BIT(type) (UINT64_C(1) << (type))

/**
 * gputap_activity_name() - return the name of a type of GPU activity
 * Return: text; NULL: no such number.
 * Owner:  gputap; the text stays valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_activity_name(enum gputap_activity_type type);

/* The step of a GPU activity at which a callback runs. */
enum gputap_activity_phase {
	GPUTAP_ACTIVITY_PHASE_ENTER = 1, /* about to be submitted */
	GPUTAP_ACTIVITY_PHASE_EXIT = 2,  /* submitted */
	/* completed; the callback runs in a thread of gputap, or in the thread that ends the
	 * process */
	GPUTAP_ACTIVITY_PHASE_COMPLETE = 3
};

/* A GPU activity. Valid during the callback; `name` stays valid until the process ends. */
struct gputap_activity {
	size_t size;               /* size of this struct */
	enum gputap_domain domain; /* domain of the reporting runtime: HSA's for HIP's activities */
	enum gputap_activity_type type; /* kernel, memcpy and others */
	/* ENTER and EXIT in the submitting thread, if the runtime allows that; then COMPLETE */
	enum gputap_activity_phase phase;
	/* COMPLETE: 0, or the runtime's error; -ENODATA: completed, but the times are not known */
	int32_t status;
	uint64_t thread; /* id of the submitting thread */
	/* correlation of the call that caused the activity; if there is no such call, a new
	 * number */
	uint64_t correlation;
	/* sequence number from 1 without gaps. Each domain has two sequences: dispatches (including
	 * those that copy or set memory), and all other activities */
	uint64_t number;
	/* number of the device object; memcpy: of the destination device */
	uint64_t device;
	uint64_t device_handle;        /* the runtime's handle of the device */
	uint64_t source_device_handle; /* memcpy: handle of the source device; 0: not known */
	uint64_t queue;                /* number of the queue object */
	uint64_t queue_handle;         /* the runtime's handle of the queue */
	/* number of the kernel symbol, even for kernels that copy or set memory; 0: none */
	uint64_t kernel;
	/* name of the kernel, mangled, without ".kd"; NULL: none */
	const char *name;
	uint32_t grid[3];                    /* work-items */
	uint32_t group[3];                   /* work-items per group */
	uint32_t group_bytes, private_bytes; /* memory per group and per work-item */
	uint64_t bytes;                      /* number of bytes copied or set */
	uint64_t source, destination;        /* addresses; 0: not known */
	uint64_t graph;                      /* number of the graph object; 0: not from a graph */
	uint32_t replay;                     /* number of the graph launch, from 1 */
	uint32_t ordinal;                    /* ordinal of the graph node */
	uint64_t start, end;                 /* COMPLETE: ns; 0: not known */
	uint64_t external[2];                /* tops of the submitting thread's stacks */
};

/**
 * typedef gputap_activity_fn - receive a step of a GPU activity
 * @data: eight bytes that belong to this context and this activity: initially 0, retained until
 *        COMPLETE
 */
typedef void (*gputap_activity_fn)(const struct gputap_activity *activity, uint64_t *data,
				   void *user);

/**
 * gputap_context_activities() - subscribe to GPU activities of a domain
 * @types: GPUTAP_ACTIVITY_BIT() of each requested type, combined with |, or GPUTAP_ACTIVITY_ALL
 * Return: 0; -EINVAL, -EEXIST, -EBUSY, -ENOSPC as for gputap_context_calls().
 * A context that gets ENTER of an activity also gets EXIT and COMPLETE, with these exceptions:
 *   - An activity that never completes gets no COMPLETE. If gputap has no room for an activity, the
 *     activity gets no COMPLETE either (event GPUTAP_EVENT_LOSS).
 *   - At most 16 contexts are notified of an activity.
 *   - An HSA activity is submitted even if a function leaves ENTER or EXIT through an exception or
 *     a jump. Such an activity gets COMPLETE, but possibly no EXIT.
 *   - An HSA activity waits at most five seconds for a function to return from ENTER. The activity
 *     is then submitted and gets no COMPLETE (GPUTAP_EVENT_LOSS).
 * ENTER and EXIT are called in the thread that hands the activity to the device. If threads share a
 * queue, this thread may differ from `thread`. For OpenCL, only the type and the queue are known at
 * ENTER; all other fields are filled in at EXIT.
 * Owner:  @ctx and @user stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_activities(struct gputap_context *ctx, enum gputap_domain domain,
					 uint64_t types, gputap_activity_fn fn, void *user);

/* Objects -------------------------------------------------------------------- */

/* Types of objects. Numbers never change. Captures use the same numbers. */
enum gputap_object_type {
	GPUTAP_OBJECT_DEVICE = 1,
	GPUTAP_OBJECT_QUEUE = 2,
	GPUTAP_OBJECT_CONTEXT = 3, /* OpenCL */
	GPUTAP_OBJECT_CODE_OBJECT = 5,
	GPUTAP_OBJECT_KERNEL_SYMBOL = 6,
	GPUTAP_OBJECT_STREAM = 7, /* HIP; handle 0: the device's default stream */
	GPUTAP_OBJECT_GRAPH = 8   /* HIP: executable graph; a new object when its nodes change */
};

/**
 * gputap_object_name() - return the name of a type of object
 * Return: text; NULL: no such number.
 * Owner:  gputap; the text stays valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_object_name(enum gputap_object_type type);

/* The step of an object at which a callback runs. */
enum gputap_object_phase { GPUTAP_OBJECT_PHASE_LOAD = 1, GPUTAP_OBJECT_PHASE_UNLOAD = 2 };

/* An object of a runtime. Texts stay valid until the process ends. All other fields are valid
 * during the callback.
 *   HIP     streams and graphs. HSA reports HIP's devices, queues, code objects and kernel symbols
 *   CUDA    devices
 *   refdev  devices, and streams as queues; unloaded when the process ends
 *   OpenCL  contexts, queues, and kernels (as kernel symbols without a code object; the handle is
 *           the cl_kernel). OpenCL does not report the end of an object. Its objects are unloaded
 *           when a new object has the same handle, or when the process ends */
struct gputap_object {
	size_t size;                    /* size of this struct */
	enum gputap_domain domain;      /* domain of the runtime */
	enum gputap_object_type type;   /* device, queue and others */
	enum gputap_object_phase phase; /* created or destroyed */
	uint32_t replayed;              /* 1: the object existed before the context was started */
	uint64_t number;                /* number among objects of the type */
	/* number of the parent: a device (for a queue, stream or code object) or a code object (for
	 * a kernel symbol) */
	uint64_t parent;
	/* the program's handle; kernel symbol: address of the kernel descriptor */
	uint64_t handle;
	uint64_t device_handle; /* handle of the object's device; 0: not known */
	/* kernel symbol: mangled name as in the code object (".kd"); OpenCL: name as in the source.
	 * Device: name of the device. Other types: NULL */
	const char *name;
	const char *uri;                /* code object */
	uint64_t load_base, load_bytes; /* code object */
	int64_t load_delta; /* code object: address in memory minus address in its file */
	uint64_t storage_base, storage_bytes; /* code object: its memory image; 0, 0: in a file */
	int32_t storage_file;                 /* file descriptor; -1: none */
	uint32_t kernarg_bytes, kernarg_align, group_bytes, private_bytes; /* kernel symbol */
	uint32_t sgprs, vgprs, accum_vgprs; /* kernel symbol: registers */
	int64_t code_offset;                /* offset of the code from the descriptor */
	uint64_t code_address;              /* address of the code; 0: not known */
	uint64_t node; /* device: the kernel driver's number + 1; 0: not known */
};

/**
 * typedef gputap_object_fn - receive the start or the end of an object
 * @data: eight bytes that belong to this context and this object, retained until UNLOAD
 */
typedef void (*gputap_object_fn)(const struct gputap_object *object, uint64_t *data, void *user);

/* Flags of gputap_context_objects(). */
enum gputap_objects_flags {
	GPUTAP_OBJECTS_DEFAULT = 0,
	/* notify only of objects that are loaded while the context is started */
	GPUTAP_OBJECTS_NO_REPLAY = 1,
	/* also unload parents before their children; without this flag, kernel symbols are unloaded
	 * before their code object */
	GPUTAP_OBJECTS_PARENT_FIRST = 2
};

/**
 * gputap_context_objects() - subscribe to the objects of a domain
 * @types: 1 << enum gputap_object_type for each requested type, combined with |
 * @flags: 0, or flags of enum gputap_objects_flags
 * Return: as for gputap_context_calls().
 * Objects that still exist when the process ends are unloaded then.
 * Owner:  @ctx and @user stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_objects(struct gputap_context *ctx, enum gputap_domain domain,
				      uint64_t types, enum gputap_objects_flags flags,
				      gputap_object_fn fn, void *user);

/* Correlation ---------------------------------------------------------------- */

/**
 * typedef gputap_retired_fn - receive the retirement of a call
 * @correlation: correlation of the call. Contexts have been notified of the call's EXIT, and its
 *               activities have completed
 * @time:        ns, later than all times that contexts were notified of for this call
 */
typedef void (*gputap_retired_fn)(uint64_t correlation, uint64_t time, void *user);

/**
 * gputap_context_retirement() - subscribe to the retirement of calls
 * @ctx:  a stopped context. Subscribes to the calls that the context is notified of, and to calls
 *        that caused activities that the context is notified of; with GPUTAP_CONTEXT_ALL_RETIRED,
 *        to such calls of all contexts
 * @fn:   called for each retired call
 * @user: passed to @fn
 * Return: as for gputap_context_calls().
 * Owner:  @ctx stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_retirement(struct gputap_context *ctx, gputap_retired_fn fn,
					 void *user);

/**
 * gputap_correlation_hold() - delay the retirement of the current call
 * Intended for a callback that starts an operation which ends after the call. Call this function in
 * a callback of a call that has a correlation. Calls that are still held when the process ends
 * retire then.
 * Return: argument for one gputap_correlation_release(), in any thread; NULL: no such call is open,
 *         or no context needs its retirement.
 * Owner:  caller; release with gputap_correlation_release().
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API struct gputap_hold *gputap_correlation_hold(void);

/**
 * gputap_correlation_release() - allow a held call to retire
 * @hold: returned by gputap_correlation_hold(); may be NULL
 * Return: nothing.
 * Owner:  takes @hold.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API void gputap_correlation_release(struct gputap_hold *hold);

/**
 * gputap_suppress_begin() - exclude this thread's runtime calls from notifications and recording
 * Suppressions nest. A callback must call gputap_suppress_end() once for each call of this function
 * before it returns.
 * Return: nothing.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API void gputap_suppress_begin(void);

/**
 * gputap_suppress_end() - end this thread's last gputap_suppress_begin()
 * Has no effect without an open gputap_suppress_begin().
 * Return: nothing.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API void gputap_suppress_end(void);

/**
 * gputap_correlation() - return the correlation of this thread's current call
 * Return: correlation of the innermost open call that contexts were notified of; 0: none. A signal
 *         handler that runs on an alternate stack may get 0 inside a call.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_correlation(void);

/**
 * gputap_now() - read the clock used for all times in this API
 * Return: CLOCK_BOOTTIME in ns.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_now(void);

/* Linux clocks at one moment, in ns. */
struct gputap_clock_pair {
	size_t size;            /* sizeof(struct gputap_clock_pair) */
	uint64_t boottime;      /* CLOCK_BOOTTIME: used for all times in this API */
	uint64_t realtime;      /* CLOCK_REALTIME: time since 1970; used by torch.profiler */
	uint64_t monotonic;     /* CLOCK_MONOTONIC: used by CUPTI and most programs */
	uint64_t monotonic_raw; /* CLOCK_MONOTONIC_RAW: used by ROCm */
	uint64_t width; /* longest time that reading a pair of clocks took: twice the error */
};

/**
 * gputap_clock_read() - read CLOCK_BOOTTIME and other clocks at one moment
 * @pair: set its size; the function fills in the rest
 * Return: 0; -EINVAL (NULL, size).
 * The administrator and NTP adjust CLOCK_REALTIME. To convert times, call this function once before
 * and once after them, and interpolate linearly.
 * Owner:  @pair stays the caller's.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API int gputap_clock_read(struct gputap_clock_pair *pair);

/* Buffers -------------------------------------------------------------------- */

struct gputap_buffer;

/* Treatment of records when the buffer is full. */
enum gputap_buffer_policy {
	/* The writer waits until the buffer has been delivered. In a delivery thread, the buffer
	 * grows instead */
	GPUTAP_BUFFER_LOSSLESS = 0,
	GPUTAP_BUFFER_DISCARD = 1 /* The record is dropped and counted */
};

/* One record of a batch. */
struct gputap_record {
	uint64_t kind;       /* as passed to gputap_buffer_write(), or enum gputap_record_kind */
	const void *payload; /* aligned to 8; valid during the callback */
	size_t bytes;        /* size of the payload */
};

/**
 * typedef gputap_buffer_fn - receive a batch of records
 * @lost: number of records dropped since the buffer was created
 */
typedef void (*gputap_buffer_fn)(struct gputap_buffer *buffer, const struct gputap_record *records,
				 size_t count, uint64_t lost, void *user);

/* Options of a buffer. */
struct gputap_buffer_opts {
	size_t size;  /* sizeof(struct gputap_buffer_opts) */
	size_t bytes; /* capacity, rounded up to whole chunks; 0: 1 MiB */
	/* number of bytes at which the buffer is delivered; 0: half */
	size_t watermark;
	enum gputap_buffer_policy policy; /* 0: lossless */
	uint32_t reserved;                /* 0 */
	gputap_buffer_fn fn;              /* called with each batch */
	void *user;                       /* passed to fn */
	struct gputap_delivery *delivery; /* thread that calls fn; NULL: the shared thread */
};

/**
 * gputap_delivery_create() - create a thread that delivers buffers
 * @out: receives the thread. This call starts it, and calls the callbacks of
 *       gputap_thread_subscribe() before and after that
 * Return: 0; -EINVAL, -ENOMEM, -EAGAIN (the thread could not be created).
 * Owner:  gputap; the thread exists until the process ends.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_delivery_create(struct gputap_delivery **out);

/**
 * gputap_buffer_create() - create a buffer that delivers records in batches
 * @opts: options
 * @out:  receives the buffer; NULL on failure
 * Return: 0; -EINVAL, -ENOMEM, -EAGAIN (the delivery thread could not be created).
 * The child of a fork inherits the buffer, without its records.
 * Owner:  caller; release with gputap_buffer_destroy().
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_buffer_create(const struct gputap_buffer_opts *opts,
				    struct gputap_buffer **out);

/**
 * gputap_buffer_destroy() - deliver a buffer's records and free it
 * @buffer: may be NULL. First stop the contexts that record into the buffer and all other writers
 * Return: 0; -EDEADLK (called in the buffer's own callback, or the delivery thread waits for the
 *         calling thread).
 * Owner:  takes @buffer.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_buffer_destroy(struct gputap_buffer *buffer);

/**
 * gputap_buffer_flush() - deliver all records that were written before this call
 * @buffer: all its earlier records have been delivered when this function returns. In a delivery
 *          thread, the function delivers only the records that can be delivered immediately
 * Return: 0, -EINVAL.
 * Owner:  @buffer stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_buffer_flush(struct gputap_buffer *buffer);

/**
 * gputap_buffer_assign() - let another thread deliver a buffer
 * @buffer:   created by gputap_buffer_create()
 * @delivery: the thread, created by gputap_delivery_create()
 * Return: 0, -EINVAL.
 * Owner:  @buffer and @delivery stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_buffer_assign(struct gputap_buffer *buffer, struct gputap_delivery *delivery);

/**
 * gputap_buffer_write() - write a record into a buffer
 * @kind:    the caller's number for the kind of record
 * @payload: copied
 * @last:    1: deliver the record after all records that any thread wrote before this call (for
 *           records that mark an end, such as the retirement of an id); 0: no order between threads
 * Return: 0; -EINVAL; -ENOSPC: the record was dropped and counted; -EMSGSIZE: the record is larger
 *         than the buffer.
 * The records of a thread stay in order. Takes no lock, except when the buffer is full or when the
 * thread writes into it for the first time.
 * Owner:  @buffer and @payload stay the caller's.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API int gputap_buffer_write(struct gputap_buffer *buffer, uint64_t kind, const void *payload,
				   size_t bytes, int last);

/* Records that gputap writes for gputap_context_buffer(). */
enum gputap_record_kind {
	GPUTAP_RECORD_CALL = 1,     /* struct gputap_record_call */
	GPUTAP_RECORD_ACTIVITY = 2, /* struct gputap_activity, phase COMPLETE */
	GPUTAP_RECORD_RETIRED = 3   /* struct gputap_record_retired */
};

/* GPUTAP_RECORD_CALL: a completed call. Members are as in struct gputap_call. */
struct gputap_record_call {
	enum gputap_domain domain;    /* API of the call */
	uint32_t operation;           /* operation number in the domain */
	uint64_t correlation, parent; /* correlation of the call and of the enclosing call */
	uint64_t start, end;          /* ns */
	uint64_t thread;              /* id of the calling thread */
	uint64_t external[2];         /* tops of the thread's stacks */
	uint64_t ret;                 /* first eight bytes of the returned value */
};

/* GPUTAP_RECORD_RETIRED: a call retired. */
struct gputap_record_retired {
	uint64_t correlation, time; /* as in gputap_retired_fn */
};

/**
 * gputap_context_buffer() - record calls and GPU activities into a buffer
 * @operations: as for gputap_context_calls(). The context may use that function for the same domain
 *              as well
 * @activity_types: as for gputap_context_activities(); 0: no activities
 * @retirement: not 0: also write GPUTAP_RECORD_RETIRED for each call that is recorded in the buffer
 * @buffer:     receives the records; stop the context before you destroy the buffer
 * Return: as for gputap_context_calls().
 * Owner:  @ctx and @buffer stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_buffer(struct gputap_context *ctx, enum gputap_domain domain,
				     const uint32_t *operations, size_t count,
				     uint64_t activity_types, int retirement,
				     struct gputap_buffer *buffer);

/**
 * gputap_context_drain() - wait until a context has been notified of all its GPU activities
 * @ctx:        usually stopped, with GPUTAP_CONTEXT_FINISH_CALLS. If the context is started,
 *              activities that are submitted during the wait are included
 * @timeout_ns: longest wait for activities to complete, and then, separately, for the context's
 *              buffers to be delivered; 0: do not wait
 * @unfinished: receives the number of activities that have not completed; may be NULL
 * Return: 0: all activities have completed and all their records were delivered; -ETIMEDOUT;
 *         -EINVAL (NULL).
 * This function does not call the runtime and does not synchronize the device. In a callback of an
 * activity or a buffer, it does not wait. An activity that never completes causes -ETIMEDOUT. In
 * the child of a fork, the function ignores the parent's activities.
 * Owner:  @ctx stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_drain(struct gputap_context *ctx, uint64_t timeout_ns,
				    uint64_t *unfinished);

/* gputap's own threads ------------------------------------------------------- */

/* Called before and after gputap starts a thread, in the starting thread. */
typedef void (*gputap_thread_fn)(void *user);

/**
 * gputap_thread_subscribe() - request a call before and after gputap starts each of its threads
 * @before: called before a thread is created; may be NULL
 * @after:  called after the thread was created; may be NULL
 * @user:   passed to @before and @after
 * Return: 0, -EINVAL (@before and @after are NULL), -ENOSPC (16 subscribers).
 * Owner:  the subscription lasts until the process ends.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_thread_subscribe(gputap_thread_fn before, gputap_thread_fn after, void *user);

#ifdef __cplusplus
}

GPUTAP_FLAGS(gputap_tool_flags)
GPUTAP_FLAGS(gputap_calls_flags)
GPUTAP_FLAGS(gputap_uncorrelated_flags)
GPUTAP_FLAGS(gputap_objects_flags)
#endif

#endif
