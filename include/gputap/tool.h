/* SPDX-License-Identifier: MIT */
/* gputap's tool API: be called in the traced process, before and after every call of an
 * accelerator's runtime and at every step of its device work.
 *
 *   context ── asks ──► calls      a callback before and after each        gputap_context_calls()
 *                  ├──► work       a callback when it is submitted, done   gputap_context_work()
 *                  ├──► objects    code objects, kernel symbols, ..        gputap_context_objects()
 *                  └──► buffer     the same as records, in batches         gputap_context_buffer()
 *
 * It needs no `gputap run` around the program: whoever links or preloads libgputap, or is named
 * in GPUTAP_TOOLS, is a tool.
 *
 * Rules for everything here, unless a function says otherwise:
 *   - Functions return 0 or a negative errno. Nothing is half done when they fail.
 *   - Any function may be called from any thread and inside any callback.
 *   - Descriptions begin with their size. What a newer gputap adds stands behind what this
 *     header knows.
 *   - Callbacks run in the thread in which the thing happens, for several contexts in the order
 *     of their tools' priorities, then of their creation: first to last before a call, last to
 *     first after it. They may make calls of the runtime, which are notified like the program's. A
 *     callback that never returns, throws or jumps out takes the program's call with it, as a
 *     function of the program's own would; gputap stays usable. One that ends a thread of
 *     gputap's (pthread_exit()) gets what comes next in another one.
 *   - Times are CLOCK_BOOTTIME in ns. Numbers of calls, work and objects begin with 1 and are
 *     never used again.
 *   - The child of a fork has all of its parent's: contexts, started as they were, open calls,
 *     which end in both, objects; its buffers are empty. Numbers go on from where the parent's
 *     were: what a tool has noted under a number stays true in its copy, and which process a
 *     number is of, its pid tells. Work that was in flight completes in the parent alone; calls
 *     that it hangs on retire there alone. */
#ifndef GPUTAP_TOOL_H
#define GPUTAP_TOOL_H

#include <gputap/gputap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tools ---------------------------------------------------------------------- */

#define GPUTAP_TOOL_ABI 1 /* a tool with another one is refused, with a sentence */

/* What a tool says of itself. */
struct gputap_tool {
	size_t size;  /* sizeof(struct gputap_tool) */
	uint32_t abi; /* GPUTAP_TOOL_ABI */
	/* lower ones come first: their callbacks are nearer to the program. Equal: order of
	 * finding */
	int32_t priority;
	const char *name; /* for messages */
	/* make contexts, start them: before the first call of any runtime. Not 0: the tool is
	 * dropped with what it made. May be NULL */
	int (*start)(void *user);
	/* the process ends, or gputap_tool_remove(): once. May be NULL */
	void (*finish)(void *user);
	void *user;     /* for start() and finish() */
	uint32_t flags; /* GPUTAP_TOOL_*. A description that ends before this one has none */
};

enum {
	/* As AMD's rocprofiler-sdk treats its clients: start() is called by the first call of a
	 * runtime, not before it (or by gputap_tool_add()), and never in a program that makes
	 * none. finish() is called where a handler of exit() is that start() has registered
	 * first: after those that start() registers, and those that are registered later. */
	GPUTAP_TOOL_ON_FIRST_CALL = 1,
};

/**
 * gputap_tool_describe() - what a tool's library exports, so that gputap finds it
 * @version: gputap_version() of the library that asks
 * Return: description that stays; NULL: the tool does not want to take part.
 * It is looked for in the libraries that GPUTAP_TOOLS names, then in the program and all libraries
 * that are mapped when gputap starts. GPUTAP_TOOLS has paths, separated by ':', each with its
 * arguments behind a '=' if it has any (%3a in them stands for ':', %25 for '%'); `gputap run
 * --tool LIBRARY[:ARGUMENTS]` sets it. All tools are asked first, then all are started, in the
 * order of priority: after the constructors of libraries, before the program's own and main(); in a
 * running program that opens libgputap, by the first call of a runtime, so that the tool's own
 * constructors have run.
 * Whatever is wrong with a tool is a GPUTAP_EVENT_TOOL, and a line on stderr unless GPUTAP_QUIET is
 * set; the program runs.
 * Source: rocprofiler_configure(), ompt_start_tool().
 * Owner:  the tool; the description stays for ever.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const struct gputap_tool *gputap_tool_describe(uint32_t version);

/**
 * gputap_tool_arguments() - the arguments of the tool whose gputap_tool_describe(), start() or
 * finish() runs in this thread
 * Those that stand behind its library's name in GPUTAP_TOOLS, or in `gputap run --tool LIBRARY:..`.
 * Return: text that stays; "": there are none.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API const char *gputap_tool_arguments(void);

/**
 * gputap_tool_add() - be a tool by a call, at any time
 * Return: 0; -EINVAL (size, another major), -EALREADY (this description is one), -ENOSPC (32
 * tools), -ESHUTDOWN (tools have been finished: the process ends), what start() returned. Its
 * library stays mapped until gputap_tool_remove().
 * Contexts are notified of objects that are there already (code objects, kernel symbols) when they
 * start; not of calls made before. Runtimes that are interposed, and Level Zero, can be asked for
 * everything at any time. Of a runtime that has offered its table already (ROCm 6 and later, HSA,
 * OpenCL's layer), a tool is notified of what contexts had asked for by then, and no more.
 * Owner:  caller; gputap_tool_remove().
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: tools of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_tool_add(const struct gputap_tool *tool);

/**
 * gputap_tool_remove() - finish a tool now
 * Contexts that it made in start() are stopped and destroyed, its subscriptions of tables and
 * events end, none of those callbacks runs afterwards (gputap_context_stop() has the exceptions).
 * Its library may be unloaded then, if no callback was abandoned; one that calls this itself stays
 * mapped.
 * Return: 0, -ENOENT.
 * Owner:  takes the tool back.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: tools of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_tool_remove(const struct gputap_tool *tool);

/* Contexts (more of gputap.h's) ---------------------------------------------- */

/* gputap_context_opts.flags */
enum {
	/* after gputap_context_stop(), what has begun is notified to its end. Without: no
	 * callback runs once stop has returned (gputap_context_stop() has the exceptions) */
	GPUTAP_CONTEXT_FINISH_CALLS = 1,
	/* from its first service to its end, correlations are given without gaps. Costs threads
	 * that make calls at the same time much more than a call does */
	GPUTAP_CONTEXT_DENSE = 2,
	/* neighbours in the order that have this get EXIT of calls first to last, too */
	GPUTAP_CONTEXT_EXIT_FORWARD = 4,
	/* from its first service to its end, work is caused by the innermost call that a context
	 * subscribed to. Without: by HIP's, if it is in the middle of one */
	GPUTAP_CONTEXT_INNERMOST = 8,
	/* gputap_context_retirement() is for every call and work that any context is
	 * notified of while this one is started */
	GPUTAP_CONTEXT_ALL_RETIRED = 16
};

/**
 * gputap_context_active() - is it started?
 * Return: 1, 0; -EINVAL (NULL).
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: contexts of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_active(const struct gputap_context *ctx);

/* Calls ---------------------------------------------------------------------- */

/* At which step of a call, of work, of an object a callback runs. */
enum gputap_phase {
	GPUTAP_PHASE_NONE = 0,
	GPUTAP_PHASE_ENTER = 1, /* calls: before; work: about to be submitted */
	GPUTAP_PHASE_EXIT = 2,  /* calls: after; work: submitted */
	GPUTAP_PHASE_LOAD = 1,  /* objects */
	GPUTAP_PHASE_UNLOAD = 2,
	/* work is done; in a thread of gputap's, or the one that ends the process */
	GPUTAP_PHASE_COMPLETE = 3
};

/* A call of a runtime. Valid during the callback. */
struct gputap_call {
	size_t size;          /* of this description */
	uint32_t domain;      /* enum gputap_domain */
	uint32_t operation;   /* number in the domain */
	uint32_t phase;       /* ENTER, EXIT */
	uint32_t instance;    /* of the runtime, from 0: two copies in one process are two */
	uint64_t thread;      /* as gettid() */
	uint64_t correlation; /* of the call: what it causes carries it. Rises within a thread */
	uint64_t parent;      /* of the call that it was made in; 0: the program itself made it */
	/* the arguments, each as in the prototype, as members of one C struct; NULL: there are
	 * none. ENTER: what is written there is passed on, if the context asked with
	 * GPUTAP_CALLS_WRITE */
	void *args;
	uint32_t args_bytes;  /* of that struct */
	uint32_t ret_bytes;   /* 0: returns nothing */
	void *ret;            /* EXIT: what it returned; read only */
	uint64_t external[2]; /* tops of the thread's stacks (enum gputap_stack); 0: empty */
	/* EXIT, if the context asked with GPUTAP_CALLS_TIMED: ns, after all ENTER callbacks */
	uint64_t start;
};

/**
 * typedef gputap_call_fn - a call begins or has ended
 * @data: eight bytes of this context's for this call, 0 at ENTER, kept until EXIT
 * @user: as given to gputap_context_calls()
 */
typedef void (*gputap_call_fn)(const struct gputap_call *call, uint64_t *data, void *user);

/* gputap_context_calls() flags */
enum {
	GPUTAP_CALLS_WRITE = 1, /* the callback may change arguments on ENTER */
	GPUTAP_CALLS_TIMED = 2, /* gputap_call.start */
};

/**
 * gputap_context_calls() - have a function called before and after calls
 * @ctx:        stopped
 * @domain:     enum gputap_domain
 * @operations: numbers; NULL with @count 0: all of the domain
 * @flags:      GPUTAP_CALLS_*
 * Return: 0; -EINVAL; -EEXIST (this context has a function for the domain already), -EBUSY (it is
 *         started), -ENOSPC (64 contexts have subscribed to something).
 * Source: rocprofiler_configure_callback_tracing_service(), ptiCallbackSubscribe().
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_context_calls(struct gputap_context *ctx, uint32_t domain,
				    const uint32_t *operations, size_t count, uint32_t flags,
				    gputap_call_fn fn, void *user);

/* gputap_context_uncorrelated() flags */
enum {
	GPUTAP_UNCORRELATED_ALONE =
		1, /* .. but a number of its own if no numbered call is around it */
};

/**
 * gputap_context_select() - of which of the domain's calls the function is called, from now on
 * @ctx:        has a function for the domain (gputap_context_calls()); started or not
 * @domain:     enum gputap_domain
 * @operations: numbers; NULL with @count 0: all of the domain
 * @selected:   1: of these, too; 0: of these no longer
 * Return: 0; -EINVAL; -ENOENT (the context has no function for the domain).
 * A call that has begun gets EXIT if it got ENTER, and no EXIT if it did not.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: ptiCallbackEnable().
 */
GPUTAP_API int gputap_context_select(struct gputap_context *ctx, uint32_t domain,
				     const uint32_t *operations, size_t count, int selected);

/**
 * gputap_context_uncorrelated() - some of the calls that a context subscribed to need no
 * correlation of their own
 * @operations: of those given to gputap_context_calls() for the domain, which comes first
 * @flags:      GPUTAP_UNCORRELATED_*
 * Return: 0; -EINVAL; -ENOENT (the context has no calls of the domain), -EBUSY (it is started).
 * For tools that report something else by the calls that make it, allocations for example: the
 * numbers of calls that they report as calls stay without gaps. A call that nobody wants a number
 * for has the number of the call it was made in (0: of none), and causes no work.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API int gputap_context_uncorrelated(struct gputap_context *ctx, uint32_t domain,
					   const uint32_t *operations, size_t count,
					   uint32_t flags);

/* Names and arguments -------------------------------------------------------- */

/**
 * gputap_domain_name() - a domain by its number: "hip"
 * @domain: enum gputap_domain
 * Return: text, or NULL: there is none of that number.
 * Owner:  gputap; the text stays.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: names of operations of ROCprofiler-SDK.
 */
GPUTAP_API const char *gputap_domain_name(uint32_t domain);

/**
 * gputap_operation_name() - an operation by its number: "hipMalloc"
 * @domain:    enum gputap_domain
 * @operation: its number in the domain
 * Return: text, or NULL: there is none of that number.
 * Owner:  gputap; the text stays.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: names of operations of ROCprofiler-SDK.
 */
GPUTAP_API const char *gputap_operation_name(uint32_t domain, uint32_t operation);

/**
 * gputap_status_name() - a status of a domain: "hipErrorOutOfMemory"
 * @domain: enum gputap_domain
 * @status: as its calls return it
 * Return: text, or NULL: there is none of that number.
 * Owner:  gputap; the text stays.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API const char *gputap_status_name(uint32_t domain, int32_t status);

/**
 * gputap_event_name() - an event by its code
 * @code: enum gputap_event_code
 * Return: text, or NULL: there is none of that number.
 * Owner:  gputap; the text stays.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API const char *gputap_event_name(uint32_t code);

/**
 * gputap_work_name() - a type of device work
 * @type: enum gputap_work_type
 * Return: text, or NULL: there is none of that number.
 * Owner:  gputap; the text stays.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API const char *gputap_work_name(uint32_t type);

/**
 * gputap_object_name() - a type of object
 * @type: enum gputap_object_type
 * Return: text, or NULL: there is none of that number.
 * Owner:  gputap; the text stays.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API const char *gputap_object_name(uint32_t type);

/**
 * gputap_domain_find() - a domain by its name
 * @name: as gputap_domain_name() gives it
 * Return: its number, or -ENOENT.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API int gputap_domain_find(const char *name);

/**
 * gputap_operation_find() - an operation by its name
 * @domain: enum gputap_domain
 * @name:   as gputap_operation_name() gives it
 * Return: its number, or -ENOENT.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API int gputap_operation_find(uint32_t domain, const char *name);

/**
 * gputap_domains_iterate() - all domains, in rising order
 * @fn:   called for each; not 0: no more
 * @user: for @fn
 * Return: 0, -EINVAL, or what @fn returned last.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: names of operations of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_domains_iterate(int (*fn)(uint32_t domain, const char *name, void *user),
				      void *user);

/**
 * gputap_operations_iterate() - all operations of a domain, in rising order
 * @domain: enum gputap_domain
 * @fn:     called for each; not 0: no more
 * @user:   for @fn
 * Return: 0, -EINVAL, or what @fn returned last.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: names of operations of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_operations_iterate(
	uint32_t domain, int (*fn)(uint32_t operation, const char *name, void *user), void *user);

/* One argument of a call. */
struct gputap_argument {
	size_t size;           /* of this description */
	uint32_t number;       /* from 0 */
	uint32_t indirection;  /* stars of its type */
	uint32_t dereferenced; /* so many of them were followed for `text` */
	uint32_t bytes;        /* of the value */
	const void *value;     /* where it lies */
	const char *type;      /* "void *", as in the prototype */
	const char *name;      /* as in the prototype */
	const char *text;      /* the value as people read it; valid during the callback */
};

/**
 * gputap_call_arguments() - the arguments of a call, one by one
 * @call:        as a callback got it
 * @dereference: how many pointers may be followed where they point to something. What the call
 *               writes is followed at EXIT alone, if it succeeded, an array as far as it was
 *               filled. What cannot be read is shown as an address
 * @fn:          not 0: no more
 * Return: 0, -EINVAL, or what @fn returned last.
 * Source: rocprofiler_iterate_callback_tracing_kind_operation_args().
 * Owner:  values are lent for the callback.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_call_arguments(const struct gputap_call *call, uint32_t dereference,
				     int (*fn)(const struct gputap_argument *argument, void *user),
				     void *user);

/**
 * gputap_call_status() - a call's status
 * @call:   of a callback
 * @status: receives it
 * Return: 1 it failed, 0 it succeeded, -ENODATA (the operation has none, or the phase is
 *         ENTER), -EINVAL.
 * Owner:  @call is lent for the callback.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API int gputap_call_status(const struct gputap_call *call, int32_t *status);

/* Device work ---------------------------------------------------------------- */

/* Numbers never change; equal to those in captures. */
enum gputap_work_type {
	GPUTAP_WORK_KERNEL = 1,
	GPUTAP_WORK_READ,  /* device to host */
	GPUTAP_WORK_WRITE, /* host to device */
	GPUTAP_WORK_COPY,  /* device to device */
	GPUTAP_WORK_FILL,
	GPUTAP_WORK_MAP,
	GPUTAP_WORK_UNMAP,
	GPUTAP_WORK_MIGRATE,
	GPUTAP_WORK_MARKER,
	GPUTAP_WORK_BARRIER,
	GPUTAP_WORK_COMMAND_BUFFER,
	GPUTAP_WORK_NATIVE,
	GPUTAP_WORK_OTHER,
	GPUTAP_WORK_GRAPH,
	/* ROCm 6.1 and later: a queue is given memory for registers that do not fit, or loses
	 * it, while the device waits. `name`: "scratch alloc", "scratch free", "scratch
	 * reclaim"; at EXIT: bytes, private_bytes, destination. In a thread of the runtime's, in
	 * the middle of it: it must not be called there */
	GPUTAP_WORK_SCRATCH
};
#define GPUTAP_WORK_ALL       UINT64_MAX
#define GPUTAP_WORK_BIT(type) (UINT64_C(1) << (type))

/* One item of device work. Valid during the callback; `name` stays until the process ends. */
struct gputap_work {
	size_t size;     /* of this description */
	uint32_t domain; /* of the runtime that it was seen in: HIP's is HSA's */
	uint32_t type;   /* enum gputap_work_type */
	/* ENTER and EXIT in the submitting thread (runtimes that let us stand there), then
	 * COMPLETE */
	uint32_t phase;
	/* COMPLETE: 0, or the runtime's error; -ENODATA: it is done, its times are not known */
	int32_t status;
	uint64_t thread;      /* that submitted it */
	uint64_t correlation; /* of the call that caused it; without one, its own */
	/* of this item, from 1 without gaps: dispatches (also those that copy or fill
	 * memory) are counted together, all other work of the domain on its own */
	uint64_t number;
	uint64_t device;               /* number of the device object; copies: of where to */
	uint64_t device_handle;        /* the same as the runtime knows it */
	uint64_t source_device_handle; /* copies: where from; 0: not known */
	uint64_t queue;                /* number of the queue object */
	uint64_t queue_handle;         /* the same as the runtime knows it */
	/* number of the kernel symbol, also of one that copies or fills memory; 0: none */
	uint64_t kernel;
	const char *name;                    /* of the kernel, mangled, without ".kd"; NULL: none */
	uint32_t grid[3];                    /* work-items */
	uint32_t group[3];                   /* of them in a group */
	uint32_t group_bytes, private_bytes; /* memory of a group; of a work-item */
	uint64_t bytes;                      /* moved or set */
	uint64_t source, destination;        /* addresses; 0: not known */
	uint64_t graph;                      /* number of the graph object; 0: not from a graph */
	uint32_t replay;                     /* which launch of it, from 1 */
	uint32_t ordinal;                    /* of the node */
	uint64_t start, end;                 /* COMPLETE: ns; 0: not known */
	uint64_t external[2];                /* tops of the submitting thread's stacks */
};

/**
 * typedef gputap_work_fn - device work is submitted, or done
 * @data: eight bytes of this context's for this item, 0 first, kept until COMPLETE
 */
typedef void (*gputap_work_fn)(const struct gputap_work *work, uint64_t *data, void *user);

/**
 * gputap_context_work() - have a function called for device work
 * @types: GPUTAP_WORK_BIT() of each type, or GPUTAP_WORK_ALL
 * Return: 0; -EINVAL, -EEXIST, -EBUSY, -ENOSPC as gputap_context_calls().
 * A context that gets ENTER gets EXIT and COMPLETE, but for these:
 *   - Work that never completes has no COMPLETE; nor has work for which there is no room to follow
 *     it (event GPUTAP_EVENT_LOSS).
 *   - At most 16 contexts are notified of one item.
 *   - A function that leaves ENTER or EXIT by an exception or a jump does not keep HSA's work from
 *     being submitted: it gets COMPLETE, and maybe no EXIT. HSA's work waits five seconds for a
 *     function to come back from ENTER; then it is submitted, and has no COMPLETE
 *     (GPUTAP_EVENT_LOSS).
 * ENTER and EXIT come from the thread that hands the work to the device: where threads share a
 * queue, maybe another one than `thread`. OpenCL's ENTER knows the type and the queue; everything
 * else is there at EXIT.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: callback tracing of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_work(struct gputap_context *ctx, uint32_t domain, uint64_t types,
				   gputap_work_fn fn, void *user);

/* Objects -------------------------------------------------------------------- */

/* Numbers never change; equal to those in captures. */
enum gputap_object_type {
	GPUTAP_OBJECT_DEVICE = 1,
	GPUTAP_OBJECT_QUEUE = 2,
	GPUTAP_OBJECT_CONTEXT = 3, /* OpenCL */
	GPUTAP_OBJECT_CODE_OBJECT = 5,
	GPUTAP_OBJECT_KERNEL_SYMBOL = 6,
	GPUTAP_OBJECT_STREAM = 7, /* HIP; with handle 0: the default one of its device */
	GPUTAP_OBJECT_GRAPH = 8   /* HIP: executable; another one when its nodes are changed */
};

/* An object of a runtime. Texts stay until the process ends; the rest is valid during the
 * callback. HIP's own are its streams and graphs: its devices, queues, code objects and kernel
 * symbols are HSA's. CUDA's are its devices. refdev's are its devices, and its streams as queues;
 * they are not unloaded before the process ends. OpenCL says only when an object is made: its
 * contexts, queues and kernels (as kernel symbols: of no code object, the handle is the cl_kernel)
 * are unloaded when their handle stands for another one, or when the process ends. */
struct gputap_object {
	size_t size;           /* of this description */
	uint32_t domain, type; /* enum gputap_object_type */
	uint32_t phase;        /* LOAD, UNLOAD */
	uint32_t replayed;     /* 1: it was there before the context was started */
	uint64_t number;       /* of its type */
	/* number of: queue, stream, code object: device; kernel symbol: code object */
	uint64_t parent;
	/* as the program knows it; kernel symbol: address of its descriptor */
	uint64_t handle;
	uint64_t device_handle; /* of the device that it belongs to; 0: not known */
	/* kernel symbol: mangled, as the code object has it (".kd"); OpenCL: as in the source.
	 * Device: its name. Else NULL */
	const char *name;
	const char *uri;                /* code object */
	uint64_t load_base, load_bytes; /* code object */
	int64_t load_delta; /* code object: from the addresses in its file to those in memory */
	uint64_t storage_base, storage_bytes; /* code object in memory; 0, 0: in a file */
	int32_t storage_file;                 /* descriptor; -1: none */
	uint32_t kernarg_bytes, kernarg_align, group_bytes, private_bytes; /* kernel symbol */
	uint32_t sgprs, vgprs, accum_vgprs; /* registers that a kernel takes */
	int64_t code_offset;                /* of the code, from the descriptor */
	uint64_t code_address;              /* of the code; 0: not known */
	uint64_t node; /* device: the kernel driver's number of it, + 1; 0: not known */
};

/** @data: eight bytes of this context's for this object, kept until UNLOAD */
typedef void (*gputap_object_fn)(const struct gputap_object *object, uint64_t *data, void *user);

/* gputap_context_objects() flags */
enum {
	GPUTAP_OBJECTS_NO_REPLAY = 1, /* only what is loaded while the context is started */
	/* also when unloading; else kernel symbols go before their code object */
	GPUTAP_OBJECTS_PARENT_FIRST = 2
};

/**
 * gputap_context_objects() - have a function called when objects come and go
 * @types: 1 << enum gputap_object_type of each
 * Return: as gputap_context_calls(). What is still there when the process ends is unloaded then.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: code objects of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_objects(struct gputap_context *ctx, uint32_t domain, uint64_t types,
				      uint32_t flags, gputap_object_fn fn, void *user);

/* Correlation ---------------------------------------------------------------- */

/**
 * typedef gputap_retired_fn - nothing more will come of a call
 * @correlation: its number: its EXIT has been, and all its work is complete
 * @time:        ns, later than every time notified for it
 */
typedef void (*gputap_retired_fn)(uint64_t correlation, uint64_t time, void *user);

/**
 * gputap_context_retirement() - be notified when calls retire
 * @ctx:  not started; of the calls that it subscribed to (operations and domains that it asked for
 *        with calls or work); with GPUTAP_CONTEXT_ALL_RETIRED, of all that anybody is notified of
 * @fn:   called for each
 * @user: for @fn
 * Return: as gputap_context_calls().
 * Owner:  @ctx stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: correlation ids that retire, of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_retirement(struct gputap_context *ctx, gputap_retired_fn fn,
					 void *user);

/**
 * gputap_correlation_hold() - keep the call from retiring: something is begun here that ends later
 * Inside a callback of a call with a number of its own. What is still held when the process ends
 * retires then.
 * Return: for gputap_correlation_release(), once, in any thread; NULL: nobody waits for the call to
 * retire.
 * Owner:  caller; gputap_correlation_release().
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API struct gputap_hold *gputap_correlation_hold(void);

/**
 * gputap_correlation_release() - the call may retire now
 * @hold: of gputap_correlation_hold(); NULL is all right
 * Return: nothing.
 * Owner:  takes @hold back.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API void gputap_correlation_release(struct gputap_hold *hold);

/**
 * gputap_hide() - from now on, this thread's calls of runtimes are the tool's own: not
 * notified, not recorded
 * @hidden: 1; 0: no longer. Nests. Does not reach beyond the end of a callback.
 * Return: nothing.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API void gputap_hide(int hidden);

/**
 * gputap_correlation() - the call that this thread is in
 * Return: number of the innermost call that was notified and is open in this thread; 0: none.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: correlation ids of ROCprofiler-SDK.
 */
GPUTAP_API uint64_t gputap_correlation(void);

/**
 * gputap_now() - the clock of all times here
 * Return: CLOCK_BOOTTIME in ns.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap.
 */
GPUTAP_API uint64_t gputap_now(void);

/* The kernel's clocks at one moment, ns. */
struct gputap_clock_pair {
	size_t size;            /* sizeof(struct gputap_clock_pair) */
	uint64_t boottime;      /* CLOCK_BOOTTIME: that of all times here */
	uint64_t realtime;      /* CLOCK_REALTIME: since 1970; torch.profiler's */
	uint64_t monotonic;     /* CLOCK_MONOTONIC: CUPTI's and most programs' */
	uint64_t monotonic_raw; /* CLOCK_MONOTONIC_RAW: ROCm's */
	uint64_t width;         /* so far apart the readings were, at most: twice their error */
};

/**
 * gputap_clock_read() - the clock of all times here, and others at the same moment
 * @pair: with its size set; filled in
 * Return: 0; -EINVAL (NULL, size).
 * CLOCK_REALTIME is moved by the machine's administrator and by NTP: read a pair before and one
 * behind what is converted, and go by a straight line between them.
 * Owner:  @pair is the caller's.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Source: rocprofiler_get_timestamp(); Kineto's ApproximateClock.
 */
GPUTAP_API int gputap_clock_read(struct gputap_clock_pair *pair);

/* Buffers -------------------------------------------------------------------- */

struct gputap_buffer;

/* What happens to a record that finds its buffer full. */
enum gputap_buffer_policy {
	/* who finds it full waits until it has been handed over; inside a delivery it grows */
	GPUTAP_BUFFER_LOSSLESS = 0,
	GPUTAP_BUFFER_DISCARD = 1 /* .. drops the record, counted */
};

/* One record of a batch. */
struct gputap_record {
	uint64_t kind;       /* as given to gputap_buffer_write(), or enum gputap_record_kind */
	const void *payload; /* aligned to 8; valid during the callback */
	size_t bytes;        /* of the payload */
};

/**
 * typedef gputap_buffer_fn - a batch of records
 * @lost: records that were dropped, since the buffer was made
 */
typedef void (*gputap_buffer_fn)(struct gputap_buffer *buffer, const struct gputap_record *records,
				 size_t count, uint64_t lost, void *user);

/* What a buffer is to be. */
struct gputap_buffer_opts {
	size_t size;         /* sizeof(struct gputap_buffer_opts) */
	size_t bytes;        /* that it holds; rounded up to what is allocated. 0: 1 MiB */
	size_t watermark;    /* handed over when so much is in it; 0: half */
	uint32_t policy;     /* enum gputap_buffer_policy */
	uint32_t reserved;   /* 0 */
	gputap_buffer_fn fn; /* called with each batch */
	void *user;          /* passed to it */
	struct gputap_delivery *delivery; /* thread that calls fn; NULL: the one that all share */
};

/**
 * gputap_delivery_create() - a thread that hands buffers over
 * @out: receives it. The thread is made at once; callbacks of gputap_thread_subscribe() come around
 *       it
 * Return: 0; -EINVAL, -ENOMEM, -EAGAIN (no thread to be had).
 * Owner:  gputap; it is there until the process ends.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: callback threads of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_delivery_create(struct gputap_delivery **out);

/**
 * gputap_buffer_create() - memory for records, handed over in batches
 * Return: 0; -EINVAL, -ENOMEM, -EAGAIN (no thread to be had for it).
 * A fork's child has it too, empty.
 * Owner:  caller; gputap_buffer_destroy().
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: buffer tracing of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_buffer_create(const struct gputap_buffer_opts *opts,
				    struct gputap_buffer **out);

/**
 * gputap_buffer_destroy() - hand over what is in it, then free it
 * @buffer: NULL is all right. Contexts that record into it are stopped before; nobody writes
 *          to it any more
 * Return: 0, -EDEADLK (in its own callback).
 * Owner:  takes @buffer back.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: buffer tracing of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_buffer_destroy(struct gputap_buffer *buffer);

/**
 * gputap_buffer_flush() - all that was written before has been handed over when it returns
 * @buffer: in a delivery's own thread: as far as possible at once
 * Return: 0, -EINVAL.
 * Owner:  @buffer stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: buffer tracing of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_buffer_flush(struct gputap_buffer *buffer);

/**
 * gputap_buffer_assign() - another thread hands it over
 * @buffer:   of gputap_buffer_create()
 * @delivery: that thread
 * Return: 0, -EINVAL.
 * Owner:  both stay the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: callback threads of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_buffer_assign(struct gputap_buffer *buffer, struct gputap_delivery *delivery);

/**
 * gputap_buffer_write() - put a record into a buffer; records of one thread stay in their order
 * @last: 1: behind everything that was written to the buffer before this call by any thread (for
 *         what ends something)
 * Return: 0; -ENOSPC: dropped and counted; -EMSGSIZE: larger than the buffer.
 * Thread: any; lock-free unless the buffer is full or new to the thread. Signal: safe, as no other
 * function here but gputap_now() and gputap_correlation() is.
 * Owner:  what is passed stays the caller's.
 * Since:  0.1
 * Source: buffer tracing of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_buffer_write(struct gputap_buffer *buffer, uint64_t kind, const void *payload,
				   size_t bytes, int last);

/* Records that gputap itself writes: gputap_context_buffer(). */
enum gputap_record_kind {
	GPUTAP_RECORD_CALL = 1,   /* struct gputap_record_call */
	GPUTAP_RECORD_WORK = 2,   /* struct gputap_work, phase COMPLETE */
	GPUTAP_RECORD_RETIRED = 3 /* struct gputap_record_retired */
};

/* GPUTAP_RECORD_CALL: a call that has returned. */
struct gputap_record_call {
	uint32_t domain, operation;   /* as in struct gputap_call, and so are the next */
	uint64_t correlation, parent; /* numbers */
	uint64_t start, end;          /* ns */
	uint64_t thread;              /* that made it */
	uint64_t external[2];         /* tops of its stacks */
	uint64_t ret;                 /* the first eight bytes of what it returned */
};

/* GPUTAP_RECORD_RETIRED: nothing more will come of a call. */
struct gputap_record_retired {
	uint64_t correlation, time; /* as gputap_retired_fn gets them */
};

/**
 * gputap_context_buffer() - record calls and work into a buffer
 * @operations: as gputap_context_calls(), which the context may also have for the domain
 * @work_types: as gputap_context_work(); 0: no work
 * @retirement: not 0: GPUTAP_RECORD_RETIRED, for all calls that have a record here
 * Return: as gputap_context_calls().
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: buffer tracing of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_context_buffer(struct gputap_context *ctx, uint32_t domain,
				     const uint32_t *operations, size_t count, uint64_t work_types,
				     int retirement, struct gputap_buffer *buffer);

/**
 * gputap_context_drain() - wait for what a context has not been notified of yet
 * @ctx:        usually stopped, with GPUTAP_CONTEXT_FINISH_CALLS. Of a started one, what is
 *              submitted meanwhile is waited for, too
 * @timeout_ns: so long it waits for device work to complete, and as long for the context's buffers
 *              to be handed over; 0: it only looks
 * @unfinished: receives how many items of work are not complete; may be NULL
 * Return: 0: all work that was submitted is complete, and all records of it are handed over;
 *         -ETIMEDOUT; -EINVAL (NULL).
 * The device itself is not waited for as by its runtime: it makes no call. In a callback of work or
 * of a buffer it only looks. Work that never completes, and work of a fork's parent, in its child,
 * is never complete, or not there.
 * Owner:  what is passed stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: cuptiActivityFlushAll(); Kineto's stop().
 */
GPUTAP_API int gputap_context_drain(struct gputap_context *ctx, uint64_t timeout_ns,
				    uint64_t *unfinished);

/* gputap's own threads ------------------------------------------------------- */

/* Before and after gputap starts a thread, in the thread that starts it. */
typedef void (*gputap_thread_fn)(void *user);

/**
 * gputap_thread_subscribe() - be notified of gputap's own threads
 * @before: called before one is made; may be NULL
 * @after:  called when it is there; may be NULL
 * @user:   for both
 * Return: 0, -EINVAL (both are NULL), -ENOSPC.
 * Owner:  the subscription lasts until the process ends.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: internal threads of ROCprofiler-SDK.
 */
GPUTAP_API int gputap_thread_subscribe(gputap_thread_fn before, gputap_thread_fn after, void *user);

#ifdef __cplusplus
}
#endif

#endif
