/* SPDX-License-Identifier: MIT */
/* The PrivateUse1 tracing API, for C and C++. A vendor implements it in one shared library, so that
 * torch.profiler and gputap can show an accelerator's kernels, memcpys and calls.
 * docs/tools/vendor-plugin.md contains a complete example and the contract in numbered rules.
 * `gputap plugin check FILE.so` tests each rule.
 *
 *   host    ── dlopen ──► kineto_register_privateuse1_plugin()     once: names, optional groups
 *           ── pu1TracingSetCallbacks(), pu1TracingEnable(kind)    a session starts
 *           ── pu1PushExternalCorrelationId(id)                    an operator starts, its thread
 *           ── pu1PopExternalCorrelationId()                       an operator ends, its thread
 *   plug-in ── request ──► the host's buffer, filled with records ── complete ──► host
 *   host    ── pu1TracingDisable(kind), pu1FlushAll()              the session ends
 *           ── pu1GetNextRecord(buffer, size, &record)             each buffer, until PU1_END
 *
 * The host reads the records. It is gputap's libgputap-plugin, used by torch.profiler's bridge,
 * `gputap run` or another program. The plug-in is the vendor's library. The host loads the plug-in
 * once and keeps it loaded until the process ends.
 *
 * Rules for all functions and structs:
 *   - A struct starts with its size, set with sizeof. Newer versions only append members. Members
 *     beyond the size that the other side was built with are zero, and zero means default or not
 *     known.
 *   - Times are CLOCK_REALTIME ns, unless the group PU1_GROUP_CLOCK names another clock.
 *   - A function may be called from any thread, unless its comment says otherwise. No function has
 *     to be safe in a signal handler. */
#ifndef GPUTAP_PRIVATEUSE1_TRACING_API_H
#define GPUTAP_PRIVATEUSE1_TRACING_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that a plug-in exports. A plug-in exports no other functions. */
#define PU1_API __attribute__((visibility("default")))

/* Version of this header. A host accepts plug-ins with the same major version. */
#define PU1_VERSION_MAJOR 1
#define PU1_VERSION_MINOR 0
#define PU1_VERSION       ((uint32_t)PU1_VERSION_MAJOR << 16 | PU1_VERSION_MINOR)

/* Results of functions. */
typedef enum pu1Result {
	PU1_SUCCESS = 0,
	PU1_END = 1,                  /* pu1GetNextRecord(): no further record */
	PU1_ERROR_INVALID = -1,       /* an argument is NULL or out of range */
	PU1_ERROR_NOT_SUPPORTED = -2, /* the plug-in does not record this kind */
	/* not possible in the current state: call another function first */
	PU1_ERROR_ORDER = -3,
	PU1_ERROR_NO_MEMORY = -4,
	PU1_ERROR_EMPTY = -5,  /* pop from an empty stack */
	PU1_ERROR_DEVICE = -6, /* the device or its driver failed */
	PU1_ERROR_FORKED = -7  /* the device belongs to the parent process */
} pu1Result;

/* Kinds of records. The first five names are Kineto's. */
typedef enum pu1ActivityKind {
	PU1_KIND_CONCURRENT_KERNEL = 1,
	PU1_KIND_GPU_MEMCPY = 2,
	PU1_KIND_GPU_MEMSET = 3,
	PU1_KIND_PRIVATEUSE1_RUNTIME = 4, /* a call of the runtime, on the host */
	PU1_KIND_PRIVATEUSE1_DRIVER = 5,  /* a call of the driver, on the host */
	PU1_KIND_SYNCHRONIZATION = 6,     /* a wait for a stream or for the device */
	PU1_KIND_COUNTER = 7,             /* a sample of a counter (PU1_GROUP_COUNTERS) */
	PU1_KIND_COUNT
} pu1ActivityKind;

/* Directions of a memcpy. */
typedef enum pu1CopyDirection {
	PU1_COPY_UNKNOWN = 0,
	PU1_COPY_HTOD,
	PU1_COPY_DTOH,
	PU1_COPY_DTOD,
	PU1_COPY_HTOH,
	PU1_COPY_PTOP /* between devices */
} pu1CopyDirection;

/**
 * struct pu1ActivityRecord - a completed GPU activity or call, or a sample of a counter
 *
 * A record is aligned to 8 bytes in its buffer. The members from kind to metadata are defined by
 * torch RFC 177978. A record may end after metadata or any later member. Kernels and calls have a
 * name. Texts outside of the buffer must stay valid until the process ends.
 */
typedef struct pu1ActivityRecord {
	uint32_t size;       /* size of this record in bytes */
	uint32_t kind;       /* pu1ActivityKind */
	uint64_t start_time; /* ns, or ticks of the device's clock (PU1_GROUP_CLOCK) */
	uint64_t end_time;   /* not before start_time. Counters: equal to start_time */
	int32_t device_id;   /* ordinal of the device, from 0. Calls: -1 */
	/* ordinal of the stream on its device, from 1. Calls and whole devices: 0 */
	int32_t stream_id;
	/* equal in a call and in the activities that the call caused; 0: none */
	uint64_t correlation_id;
	const char *name;     /* UTF-8 without control characters, quotes, backslashes */
	const char *metadata; /* "key=value" lines, each with a final '\n'; NULL: none */
	/* Members that the RFC does not define */
	uint64_t external_id; /* top of the submitting thread's stack of operators; 0: none */
	/* top of the submitting thread's stack of user ranges (PU1_GROUP_USER); 0: none */
	uint64_t user_id;
	uint64_t bytes;          /* memcpy and memset: size */
	uint32_t grid[3];        /* kernels: groups */
	uint32_t block[3];       /* kernels: work-items in a group */
	uint32_t thread_id;      /* calls: gettid() of the caller */
	uint32_t copy_direction; /* pu1CopyDirection */
	uint64_t graph_id;       /* activities of a graph: its id (PU1_GROUP_GRAPHS); 0: none */
	uint32_t graph_replay;   /* number of the graph launch, from 1 */
	uint32_t graph_node;     /* number of the node in the graph, from 0 */
	uint32_t counter_id;     /* counters: id of the counter (PU1_GROUP_COUNTERS) */
	uint32_t status;         /* 0: success; otherwise the runtime's error */
	double value;            /* counters: value of the sample */
} pu1ActivityRecord;

/* Smallest valid size of a record. */
#define PU1_RECORD_SIZE_LEAST offsetof(pu1ActivityRecord, external_id)

/* Buffers --------------------------------------------------------------------- */

/**
 * pu1BufferRequestFn - request a buffer from the host
 * @buffer: receives memory aligned to 8 bytes, which the plug-in owns until it completes the
 *          buffer; NULL: no buffer is available. The plug-in must then drop and count the record
 * @size:   receives the size in bytes
 */
typedef void (*pu1BufferRequestFn)(uint8_t **buffer, size_t *size);

/**
 * pu1BufferCompleteFn - return a buffer to the host, once
 * @size:  size that the request returned
 * @valid: number of bytes that contain records
 */
typedef void (*pu1BufferCompleteFn)(uint8_t *buffer, size_t size, size_t valid);

/* Exported functions -------------------------------------------------------------- */

/**
 * pu1GetVersion() - return PU1_VERSION of the header that the plug-in was built with
 * The host calls this function before all others.
 * Return: the version.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
PU1_API uint32_t pu1GetVersion(void);

/**
 * pu1TracingSetCallbacks() - set the functions that provide and receive buffers
 * Return: PU1_SUCCESS; PU1_ERROR_INVALID (a function is NULL), PU1_ERROR_ORDER (a kind is enabled).
 * Owner:  the host; the functions stay valid until the process ends.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn request, pu1BufferCompleteFn complete);

/**
 * pu1TracingEnable() - start recording a kind
 * Return: PU1_SUCCESS, even if the kind is already enabled; PU1_ERROR_ORDER (no callbacks are set),
 *         PU1_ERROR_NOT_SUPPORTED, PU1_ERROR_INVALID (unknown kind), PU1_ERROR_FORKED.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1TracingEnable(pu1ActivityKind kind);

/**
 * pu1TracingDisable() - stop recording a kind
 * An activity that was submitted while its kind was enabled is still recorded when it completes.
 * Return: PU1_SUCCESS, even if the kind is not enabled; PU1_ERROR_INVALID (unknown kind).
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1TracingDisable(pu1ActivityKind kind);

/**
 * pu1PushExternalCorrelationId() - attach @id to the activities that this thread submits next
 * The host calls this function for each operator, so it must not lock, allocate or make a system
 * call. The stack may have a limited depth. The plug-in counts pushes beyond that depth, so that
 * each pop matches its push.
 * Return: PU1_SUCCESS.
 * Owner:  nothing is kept.
 * Thread: any; each thread has a stack.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1PushExternalCorrelationId(uint64_t id);

/**
 * pu1PopExternalCorrelationId() - remove the id that this thread pushed last
 * Return: PU1_SUCCESS; PU1_ERROR_EMPTY: the stack is empty, and nothing changes.
 * Owner:  nothing is kept.
 * Thread: any; each thread has a stack.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1PopExternalCorrelationId(void);

/**
 * pu1FlushAll() - complete all buffers that contain records
 * When this function returns, completed buffers contain the records of all activities that
 * completed before the call. The function does not wait for running activities.
 * Return: PU1_SUCCESS; PU1_ERROR_ORDER (callbacks were never set).
 * Owner:  the host owns completed buffers.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1FlushAll(void);

/**
 * pu1GetNextRecord() - iterate over the records of a completed buffer
 * @buffer: a completed buffer
 * @size:   number of valid bytes in the buffer
 * @record: on entry, *@record is NULL or the previous record; receives the next record
 * Return: PU1_SUCCESS; PU1_END; PU1_ERROR_INVALID (NULL, or *@record is not in this buffer).
 * Owner:  the host; the record is in its buffer.
 * Thread: any; one at a time for each buffer.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1GetNextRecord(const uint8_t *buffer, size_t size,
				   const pu1ActivityRecord **record);

/* Registration ---------------------------------------------------------------------- */

/* Description of the host. */
typedef struct pu1Host {
	size_t size;       /* sizeof(pu1Host) */
	uint32_t version;  /* PU1_VERSION of the host */
	uint32_t reserved; /* must be 0 */
	const char *name;  /* name and version of the host, for example "gputap 0.1.0" */
} pu1Host;

/* Description of the plug-in. Texts must stay valid until the process ends. */
typedef struct pu1Plugin {
	size_t size;         /* the host sets it; the plug-in must not write beyond it */
	const char *name;    /* name of the accelerator, for example "refdev" */
	const char *vendor;  /* vendor of the accelerator; NULL: not known */
	const char *version; /* version of the plug-in; NULL: not known */
	uint64_t kinds;      /* kinds that the plug-in can record, bit 1 << pu1ActivityKind */
	/* Return the optional group with the given name; NULL: the plug-in lacks this group. */
	const void *(*find_group)(const char *name);
} pu1Plugin;

/**
 * kineto_register_privateuse1_plugin() - describe the plug-in to the host
 * The host calls this function once, after pu1GetVersion().
 * @host:   description of the host
 * @plugin: only its size is set; the plug-in fills in the rest
 * Return: PU1_SUCCESS; after any other result, the host does not use the plug-in.
 * Owner:  @plugin is the host's. Its texts and functions are the plug-in's and stay valid.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result kineto_register_privateuse1_plugin(const pu1Host *host, pu1Plugin *plugin);

/* Optional groups ---------------------------------------------------------------------
 * pu1Plugin.find_group(NAME) returns a pointer to one of these structs, which must stay valid until
 * the process ends. Functions in it may be NULL. */

/* A second stack, for user ranges (record_function). */
#define PU1_GROUP_USER "pu1.user"
typedef struct pu1UserGroup {
	size_t size;                    /* sizeof(pu1UserGroup) */
	pu1Result (*push)(uint64_t id); /* a user range starts */
	pu1Result (*pop)(void);         /* a user range ends */
} pu1UserGroup;

/* Number of records dropped since the plug-in was registered. */
#define PU1_GROUP_DROPS "pu1.drops"
typedef struct pu1DropsGroup {
	size_t size; /* sizeof(pu1DropsGroup) */
	/* return the number of dropped records of a kind */
	uint64_t (*dropped)(pu1ActivityKind kind);
} pu1DropsGroup;

/* The clock of the times in records. Times of calls are always CLOCK_REALTIME. */
#define PU1_GROUP_CLOCK "pu1.clock"
typedef enum pu1ClockKind {
	PU1_CLOCK_REALTIME = 0,
	PU1_CLOCK_MONOTONIC,
	PU1_CLOCK_MONOTONIC_RAW,
	PU1_CLOCK_BOOTTIME,
	PU1_CLOCK_DEVICE /* ticks, which pair() relates to CLOCK_REALTIME */
} pu1ClockKind;
typedef struct pu1ClockPair {
	size_t size;          /* the host sets it */
	uint64_t host_before; /* CLOCK_REALTIME ns, read just before the device's clock */
	uint64_t host_after;  /* CLOCK_REALTIME ns, read just after the device's clock */
	uint64_t device;      /* time of the device's clock in ticks */
} pu1ClockPair;
typedef struct pu1ClockGroup {
	size_t size;                /* sizeof(pu1ClockGroup) */
	pu1ClockKind (*kind)(void); /* return the clock of the records */
	/* Read CLOCK_REALTIME and the device's clock at one moment. The host calls this function at
	 * the start and the end of a session, and `gputap run` also calls it repeatedly during the
	 * session. */
	pu1Result (*pair)(int32_t device_id, pu1ClockPair *pair);
	/* Return the nominal rate of the device's clock, used if a session is too short to measure
	 * the rate. 0: not known. */
	uint64_t (*ticks_per_second)(int32_t device_id);
} pu1ClockGroup;

/* Names of devices and streams. Texts must stay valid until the process ends. */
#define PU1_GROUP_ROWS "pu1.rows"
typedef struct pu1DeviceRow {
	size_t size;            /* the host sets it */
	int32_t device_id;      /* ordinal of the device, from 0 */
	uint32_t stream_count;  /* number of streams created so far: streams 1 to stream_count */
	const char *name;       /* name of the device */
	uint64_t memory_bytes;  /* size of the device's memory; 0: not known */
	char uuid[16];          /* UUID of the device; all zero: not known */
	const char *properties; /* "key=value" lines; NULL: none */
} pu1DeviceRow;
typedef struct pu1StreamRow {
	size_t size;       /* the host sets it */
	int32_t device_id; /* ordinal of the device, from 0 */
	int32_t stream_id; /* ordinal of the stream, from 1 */
	const char *name;  /* name of the stream; NULL: "stream N" */
	uint64_t handle;   /* the program's handle */
	int32_t priority;  /* priority in the runtime's numbering */
	uint32_t reserved; /* must be 0 */
} pu1StreamRow;
typedef struct pu1RowsGroup {
	size_t size;                   /* sizeof(pu1RowsGroup) */
	int32_t (*device_count)(void); /* return the number of devices */
	/* fill in a device's row */
	pu1Result (*device)(int32_t device_id, pu1DeviceRow *row);
	/* fill in a stream's row */
	pu1Result (*stream)(int32_t device_id, int32_t stream_id, pu1StreamRow *row);
} pu1RowsGroup;

/* Text about the last failure in this thread. */
#define PU1_GROUP_ERRORS "pu1.errors"
typedef struct pu1ErrorsGroup {
	size_t size; /* sizeof(pu1ErrorsGroup) */
	/* return the text, valid until the thread's next call; NULL: none */
	const char *(*text)(void);
} pu1ErrorsGroup;

/* The user's options, as in torch's custom_profiler_config. */
#define PU1_GROUP_CONFIG "pu1.config"
typedef struct pu1ConfigGroup {
	size_t size; /* sizeof(pu1ConfigGroup) */
	/* Set the options. The host calls this function before it enables the kinds. Return:
	 * PU1_SUCCESS; PU1_ERROR_INVALID: the plug-in does not understand the text. */
	pu1Result (*set)(const char *text);
} pu1ConfigGroup;

/* Start and end of a session. */
#define PU1_GROUP_WINDOW "pu1.window"
typedef struct pu1WindowGroup {
	size_t size;                          /* sizeof(pu1WindowGroup) */
	void (*begins)(uint64_t realtime_ns); /* called before the kinds are enabled */
	void (*ends)(uint64_t realtime_ns);   /* called before the kinds are disabled */
} pu1WindowGroup;

/* Counters of records with PU1_KIND_COUNTER. Texts must stay valid until the process ends. */
#define PU1_GROUP_COUNTERS "pu1.counters"
typedef struct pu1CounterRow {
	size_t size;         /* the host sets it */
	uint32_t counter_id; /* id of the counter, from 1 */
	uint32_t reserved;   /* must be 0 */
	const char *name;    /* name of the counter */
	const char *unit;    /* unit of the values; NULL: none */
} pu1CounterRow;
typedef struct pu1CountersGroup {
	size_t size;             /* sizeof(pu1CountersGroup) */
	uint32_t (*count)(void); /* return the number of counters */
	pu1Result (*counter)(uint32_t counter_id, pu1CounterRow *row); /* fill in a counter's row */
} pu1CountersGroup;

/* Graphs, for pu1ActivityRecord.graph_id. Texts must stay valid until the process ends. */
#define PU1_GROUP_GRAPHS "pu1.graphs"
typedef struct pu1GraphRow {
	size_t size;         /* the host sets it */
	uint64_t graph_id;   /* id of the graph, not 0 */
	const char *name;    /* name of the graph; NULL: "graph N" */
	uint32_t node_count; /* number of nodes: 0 to node_count - 1 */
	uint32_t reserved;   /* must be 0 */
} pu1GraphRow;
typedef struct pu1GraphsGroup {
	size_t size;                                             /* sizeof(pu1GraphsGroup) */
	pu1Result (*graph)(uint64_t graph_id, pu1GraphRow *row); /* fill in a graph's row */
} pu1GraphsGroup;

/* Waits for the device, so that a session contains all its activities when it ends. */
#define PU1_GROUP_SYNCHRONIZE "pu1.synchronize"
typedef struct pu1SynchronizeGroup {
	size_t size; /* sizeof(pu1SynchronizeGroup) */
	/* Return when all activities submitted before this call have completed, or after
	 * timeout_ns. The host calls this function when a session ends, between pu1TracingDisable()
	 * and pu1FlushAll(). Return: PU1_SUCCESS, PU1_ERROR_ORDER (some activities are still
	 * running), PU1_ERROR_DEVICE. */
	pu1Result (*wait)(uint64_t timeout_ns);
} pu1SynchronizeGroup;

/* Reports of submissions, made in the submitting thread. The host uses the reports to count
 * launches whose activity never arrives. `gputap run --stacks` uses them to record where launches
 * were made. */
#define PU1_GROUP_SUBMITS "pu1.submits"
/* The host's function. The plug-in calls it in the submitting thread, before any record of the
 * submitted activities can be handed over. The function takes none of the plug-in's locks and never
 * calls the plug-in. @items: number of records of @kind that will follow with @correlation_id. One
 * call of the runtime may report several submissions. */
typedef void (*pu1SubmittedFn)(uint64_t correlation_id, pu1ActivityKind kind, uint32_t items);
typedef struct pu1SubmitsGroup {
	size_t size; /* sizeof(pu1SubmitsGroup) */
	/* Set the function to call for enabled kinds of GPU activities. NULL: stop calling the
	 * function. */
	pu1Result (*set)(pu1SubmittedFn submitted);
} pu1SubmitsGroup;

/**
 * pu1Exercise() - submit activities for `gputap plugin check`
 * Optional for the plug-in, because another library may contain this function (`--exercise FILE`).
 * @items: smallest number of activities of each recorded kind to submit from this thread
 * Return: PU1_SUCCESS after the activities have completed, or the error.
 * Owner:  nothing is kept.
 * Thread: any, also several threads at the same time.   Signal: not safe.   Since: 0.1
 */
PU1_API pu1Result pu1Exercise(uint32_t items);

#ifdef __cplusplus
}
#endif

#endif
