/* SPDX-License-Identifier: MIT */
/* What an accelerator's vendor implements in one shared library, so that torch.profiler and gputap
 * show the accelerator's kernels, copies and calls. C and C++. docs/tools/vendor-plugin.md states
 * the contract in numbered sentences, which `gputap plugin check FILE.so` tries one by one.
 *
 *   host ── dlopen ──► kineto_register_privateuse1_plugin()  once: names, optional groups
 *        ── pu1TracingSetCallbacks(), pu1TracingEnable(kind)   a session begins
 *        ── pu1PushExternalCorrelationId(), pu1Pop..()         each operator, in its thread
 *   plug-in ── request ──► a buffer of the host's, filled with records ── complete ──► host
 *   host ── pu1TracingDisable(kind), pu1FlushAll()             the session ends
 *        ── pu1GetNextRecord(buffer, ..) until PU1_END         each buffer
 *
 * The host is who reads records: gputap's libgputap-plugin, for torch.profiler. The plug-in is the
 * vendor's library, which is loaded once and stays for as long as the process runs.
 *
 * Rules for everything here:
 *   - A struct begins with its size. Members are only ever added behind: what lies beyond the size
 *     that the other side was built with is zero, and zero means default or not known.
 *   - Times are ns of CLOCK_REALTIME, unless the group PU1_GROUP_CLOCK says otherwise.
 *   - A function may be called from any thread, unless it says otherwise. */
#ifndef GPUTAP_PRIVATEUSE1_TRACING_API_H
#define GPUTAP_PRIVATEUSE1_TRACING_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a plug-in exports, and nothing else. */
#define PU1_API __attribute__((visibility("default")))

/* Of this header. A host takes plug-ins of the same major, older and newer. */
#define PU1_VERSION_MAJOR 1
#define PU1_VERSION_MINOR 0
#define PU1_VERSION       ((uint32_t)PU1_VERSION_MAJOR << 16 | PU1_VERSION_MINOR)

/* What functions return. */
typedef enum pu1Result {
	PU1_SUCCESS = 0,
	PU1_END = 1,                  /* pu1GetNextRecord(): there is no further record */
	PU1_ERROR_INVALID = -1,       /* an argument is NULL, or no value of its type */
	PU1_ERROR_NOT_SUPPORTED = -2, /* the device has nothing of this kind */
	PU1_ERROR_ORDER = -3,         /* not now: another function must be called first */
	PU1_ERROR_NO_MEMORY = -4,
	PU1_ERROR_EMPTY = -5,  /* a pop of a stack with nothing on it */
	PU1_ERROR_DEVICE = -6, /* the device or its driver failed */
	PU1_ERROR_FORKED = -7  /* the device is the parent process's */
} pu1Result;

/* What a record is. The first five are what Kineto calls the same. */
typedef enum pu1ActivityKind {
	PU1_KIND_CONCURRENT_KERNEL = 1,
	PU1_KIND_GPU_MEMCPY = 2,
	PU1_KIND_GPU_MEMSET = 3,
	PU1_KIND_PRIVATEUSE1_RUNTIME = 4, /* a call of the runtime's API, on the host */
	PU1_KIND_PRIVATEUSE1_DRIVER = 5,  /* a call of the driver's API, on the host */
	PU1_KIND_SYNCHRONIZATION = 6,     /* a stream or the device waits */
	PU1_KIND_COUNTER = 7,             /* a sample of a counter: PU1_GROUP_COUNTERS */
	PU1_KIND_COUNT
} pu1ActivityKind;

/* Which way a copy goes. */
typedef enum pu1CopyDirection {
	PU1_COPY_UNKNOWN = 0,
	PU1_COPY_HTOD,
	PU1_COPY_DTOH,
	PU1_COPY_DTOD,
	PU1_COPY_HTOH,
	PU1_COPY_PTOP /* between devices */
} pu1CopyDirection;

/**
 * struct pu1ActivityRecord - one completed thing
 *
 * It lies in the buffer, aligned to 8 bytes. The members from kind to metadata are the RFC's; a
 * record may end behind any of its later members.
 */
typedef struct pu1ActivityRecord {
	uint32_t size;           /* bytes of this record as the plug-in knows it */
	uint32_t kind;           /* pu1ActivityKind */
	uint64_t start_time;     /* ns, or ticks of the device's clock: PU1_GROUP_CLOCK */
	uint64_t end_time;       /* not before start_time. Counters: equal to it */
	int32_t device_id;       /* ordinal, from 0. Calls: -1 */
	int32_t stream_id;       /* ordinal on its device, from 1. Calls: 0 */
	uint64_t correlation_id; /* the same in a call and in the work that it caused; 0: none */
	const char *name;        /* UTF-8; see below. Kernels and calls: not NULL */
	const char *metadata;    /* "key=value" lines, each ended by '\n'; NULL: none */
	/* Beyond the RFC. */
	uint64_t external_id;    /* top of the submitting thread's stack of operators; 0: none */
	uint64_t user_id;        /* top of its stack of the user's ranges: PU1_GROUP_USER */
	uint64_t bytes;          /* copies and fills */
	uint32_t grid[3];        /* kernels: groups */
	uint32_t block[3];       /* kernels: work-items of a group */
	uint32_t thread_id;      /* calls: gettid() of the caller */
	uint32_t copy_direction; /* pu1CopyDirection */
	uint64_t graph_id;       /* of a graph's launch: PU1_GROUP_GRAPHS; 0: none */
	uint32_t graph_replay;   /* which launch of that graph, from 1 */
	uint32_t graph_node;     /* which node of the graph, from 0 */
	uint32_t counter_id;     /* counters: PU1_GROUP_COUNTERS */
	uint32_t status;         /* 0: it succeeded; else the runtime's number */
	double value;            /* counters */
} pu1ActivityRecord;

/* Up to here a record must go. */
#define PU1_RECORD_SIZE_LEAST offsetof(pu1ActivityRecord, external_id)

/* Buffers --------------------------------------------------------------------- */

/**
 * pu1BufferRequestFn - the plug-in asks the host for a buffer
 * @buffer: receives memory aligned to 8 bytes, the plug-in's until it completes it; NULL: there is
 *          none now, the plug-in drops the record and counts it
 * @size:   receives its bytes
 */
typedef void (*pu1BufferRequestFn)(uint8_t **buffer, size_t *size);

/**
 * pu1BufferCompleteFn - the plug-in hands a buffer back, once
 * @size:  bytes that the request gave
 * @valid: bytes of it that pu1GetNextRecord() is to read
 */
typedef void (*pu1BufferCompleteFn)(uint8_t *buffer, size_t size, size_t valid);

/* What a plug-in exports ---------------------------------------------------------- */

/**
 * pu1GetVersion() - PU1_VERSION of the header that the plug-in was built with
 * The host calls it before all others.
 * Return: the version.
 * Owner:  nothing passes.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978.
 */
PU1_API uint32_t pu1GetVersion(void);

/**
 * pu1TracingSetCallbacks() - where buffers come from and go to
 * Return: PU1_SUCCESS; PU1_ERROR_INVALID (one of them is NULL), PU1_ERROR_ORDER (a kind is
 *         enabled).
 * Owner:  the functions stay the host's, for as long as the process runs.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityRegisterCallbacks().
 */
PU1_API pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn request, pu1BufferCompleteFn complete);

/**
 * pu1TracingEnable() - record this kind from now on
 * Return: PU1_SUCCESS, also if it is enabled already; PU1_ERROR_ORDER (no callbacks are set),
 * PU1_ERROR_NOT_SUPPORTED, PU1_ERROR_INVALID (no such kind), PU1_ERROR_FORKED.
 * Owner:  nothing passes.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityEnable().
 */
PU1_API pu1Result pu1TracingEnable(pu1ActivityKind kind);

/**
 * pu1TracingDisable() - record this kind no longer
 * Work that was submitted while it was enabled is still recorded when it completes.
 * Return: PU1_SUCCESS, also if it is not enabled; PU1_ERROR_INVALID.
 * Owner:  nothing passes.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityDisable().
 */
PU1_API pu1Result pu1TracingDisable(pu1ActivityKind kind);

/**
 * pu1PushExternalCorrelationId() - what this thread submits from now on belongs to @id
 * Called for each operator: no lock, no allocation, no system call. The stack may have a limited
 * depth; pushes beyond it are counted, so that each pop belongs to its push.
 * Return: PU1_SUCCESS.
 * Owner:  nothing passes.
 * Thread: any; of the calling thread.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityPushExternalCorrelationId().
 */
PU1_API pu1Result pu1PushExternalCorrelationId(uint64_t id);

/**
 * pu1PopExternalCorrelationId() - undo the thread's last push
 * Return: PU1_SUCCESS; PU1_ERROR_EMPTY: nothing was pushed, nothing changes.
 * Owner:  nothing passes.
 * Thread: any; of the calling thread.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityPopExternalCorrelationId().
 */
PU1_API pu1Result pu1PopExternalCorrelationId(void);

/**
 * pu1FlushAll() - what has completed before this call is in completed buffers when it returns
 * Buffers that are partly filled are completed too. It waits for no work that still runs.
 * Return: PU1_SUCCESS; PU1_ERROR_ORDER (no callbacks were ever set).
 * Owner:  completed buffers are the host's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityFlushAll().
 */
PU1_API pu1Result pu1FlushAll(void);

/**
 * pu1GetNextRecord() - walk through a completed buffer
 * @buffer: as it was completed
 * @size:   its valid bytes
 * @record: NULL in *@record: the first one; else the one behind *@record
 * Return: PU1_SUCCESS; PU1_END; PU1_ERROR_INVALID (NULL, or *@record is not in this buffer).
 * Owner:  the record lies in the buffer, which is the host's.
 * Thread: any; one at a time for one buffer.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978; cuptiActivityGetNextRecord().
 */
PU1_API pu1Result pu1GetNextRecord(const uint8_t *buffer, size_t size,
				   const pu1ActivityRecord **record);

/* Registration ---------------------------------------------------------------------- */

/* What the host says of itself. */
typedef struct pu1Host {
	size_t size;       /* of this struct, as its writer knows it */
	uint32_t version;  /* PU1_VERSION of the host */
	uint32_t reserved; /* 0 */
	const char *name;  /* "gputap 0.1.0" */
} pu1Host;

/* What the plug-in says of itself; texts stay. */
typedef struct pu1Plugin {
	size_t size;         /* bytes that the host has room for; the plug-in writes no more */
	const char *name;    /* of the accelerator: "refdev" */
	const char *vendor;  /* NULL: unknown */
	const char *version; /* of the plug-in; NULL: unknown */
	uint64_t kinds;      /* bit 1 << kind for each kind that it can record */
	/* A group of functions by its name; NULL: the plug-in has none of that name. */
	const void *(*find_group)(const char *name);
} pu1Plugin;

/**
 * kineto_register_privateuse1_plugin() - the entry that the host looks for
 * @host:   who asks
 * @plugin: zeroed but for its size, to be filled in
 * Return: PU1_SUCCESS; else the host does without this plug-in, in this process, for good.
 * Called once, after pu1GetVersion().
 * Owner:  @plugin is the host's; the texts and functions in it stay the plug-in's, for good.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978.
 */
PU1_API pu1Result kineto_register_privateuse1_plugin(const pu1Host *host, pu1Plugin *plugin);

/* Optional groups ---------------------------------------------------------------------
 * pu1Plugin.find_group(NAME) returns a struct below, which stays. A member may be NULL. */

/* The stack of the user's ranges (record_function): as that of operators. */
#define PU1_GROUP_USER "pu1.user"
typedef struct pu1UserGroup {
	size_t size;                    /* of this struct, as its writer knows it */
	pu1Result (*push)(uint64_t id); /* a range begins */
	pu1Result (*pop)(void);         /* it ends */
} pu1UserGroup;

/* How many records were dropped, of a kind, since the plug-in was registered. */
#define PU1_GROUP_DROPS "pu1.drops"
typedef struct pu1DropsGroup {
	size_t size;                               /* of this struct, as its writer knows it */
	uint64_t (*dropped)(pu1ActivityKind kind); /* the count of this kind */
} pu1DropsGroup;

/* Which clock device times (all but calls') are of. Calls' are always CLOCK_REALTIME. */
#define PU1_GROUP_CLOCK "pu1.clock"
typedef enum pu1ClockKind {
	PU1_CLOCK_REALTIME = 0,
	PU1_CLOCK_MONOTONIC,
	PU1_CLOCK_MONOTONIC_RAW,
	PU1_CLOCK_BOOTTIME,
	PU1_CLOCK_DEVICE /* ticks; pair() tells what they are in time */
} pu1ClockKind;
typedef struct pu1ClockPair {
	size_t size;          /* of this struct, as its writer knows it */
	uint64_t host_before; /* CLOCK_REALTIME ns before and after the device's clock was read */
	uint64_t host_after;  /* see host_before */
	uint64_t device;      /* what it showed */
} pu1ClockPair;
typedef struct pu1ClockGroup {
	size_t size;                /* of this struct, as its writer knows it */
	pu1ClockKind (*kind)(void); /* which clock it is */
	/* Both clocks at one moment. The host asks when a session begins and when it ends. */
	pu1Result (*pair)(int32_t device_id, pu1ClockPair *pair);
	/* Ticks a second, nominally: for sessions too short to see it by two pairs. 0: not
	 * known. */
	uint64_t (*ticks_per_second)(int32_t device_id);
} pu1ClockGroup;

/* Names of devices and streams, for the rows of a picture. Texts stay. */
#define PU1_GROUP_ROWS "pu1.rows"
typedef struct pu1DeviceRow {
	size_t size;            /* of this struct, as its writer knows it */
	int32_t device_id;      /* ordinal, from 0 */
	uint32_t stream_count;  /* made so far: streams 1 to stream_count */
	const char *name;       /* of the device */
	uint64_t memory_bytes;  /* 0: not known */
	char uuid[16];          /* zeros: not known */
	const char *properties; /* "key=value" lines; NULL: none */
} pu1DeviceRow;
typedef struct pu1StreamRow {
	size_t size;       /* of this struct, as its writer knows it */
	int32_t device_id; /* ordinal, from 0 */
	int32_t stream_id; /* ordinal, from 1 */
	const char *name;  /* NULL: "stream N" */
	uint64_t handle;   /* as the program has it */
	int32_t priority;  /* the runtime's number */
	uint32_t reserved; /* 0 */
} pu1StreamRow;
typedef struct pu1RowsGroup {
	size_t size;                   /* of this struct, as its writer knows it */
	int32_t (*device_count)(void); /* devices 0 to this less 1 */
	pu1Result (*device)(int32_t device_id, pu1DeviceRow *row);                    /* fill in */
	pu1Result (*stream)(int32_t device_id, int32_t stream_id, pu1StreamRow *row); /* fill in */
} pu1RowsGroup;

/* A sentence about the last failure in this thread. */
#define PU1_GROUP_ERRORS "pu1.errors"
typedef struct pu1ErrorsGroup {
	size_t size;               /* of this struct, as its writer knows it */
	const char *(*text)(void); /* stays until the thread's next call; NULL: none */
} pu1ErrorsGroup;

/* The user's words to the plug-in, as torch passes custom_profiler_config. */
#define PU1_GROUP_CONFIG "pu1.config"
typedef struct pu1ConfigGroup {
	size_t size; /* of this struct, as its writer knows it */
	/* Before the kinds are enabled. PU1_ERROR_INVALID: it is not understood. */
	pu1Result (*set)(const char *text);
} pu1ConfigGroup;

/* From when to when the host will keep records. */
#define PU1_GROUP_WINDOW "pu1.window"
typedef struct pu1WindowGroup {
	size_t size;                          /* of this struct, as its writer knows it */
	void (*begins)(uint64_t realtime_ns); /* before the kinds are enabled */
	void (*ends)(uint64_t realtime_ns);   /* before the kinds are disabled */
} pu1WindowGroup;

/* What records of PU1_KIND_COUNTER are samples of. Texts stay. */
#define PU1_GROUP_COUNTERS "pu1.counters"
typedef struct pu1CounterRow {
	size_t size;         /* of this struct, as its writer knows it */
	uint32_t counter_id; /* from 1 */
	uint32_t reserved;   /* 0 */
	const char *name;    /* of the counter */
	const char *unit;    /* NULL: none */
} pu1CounterRow;
typedef struct pu1CountersGroup {
	size_t size;             /* of this struct, as its writer knows it */
	uint32_t (*count)(void); /* counters 1 to this */
	pu1Result (*counter)(uint32_t counter_id, pu1CounterRow *row); /* fill in */
} pu1CountersGroup;

/* Which graphs there are, for pu1ActivityRecord.graph_id. Texts stay. */
#define PU1_GROUP_GRAPHS "pu1.graphs"
typedef struct pu1GraphRow {
	size_t size;         /* of this struct, as its writer knows it */
	uint64_t graph_id;   /* not 0 */
	const char *name;    /* NULL: "graph N" */
	uint32_t node_count; /* nodes 0 to this less 1 */
	uint32_t reserved;   /* 0 */
} pu1GraphRow;
typedef struct pu1GraphsGroup {
	size_t size; /* of this struct, as its writer knows it */
	pu1Result (*graph)(uint64_t graph_id, pu1GraphRow *row); /* fill in */
} pu1GraphsGroup;

/* Wait for the device, so that a session that ends has all of its work. */
#define PU1_GROUP_SYNCHRONIZE "pu1.synchronize"
typedef struct pu1SynchronizeGroup {
	size_t size; /* of this struct, as its writer knows it */
	/* Return when all work submitted before this call has completed, or after timeout_ns. The
	 * host calls it when a session ends, between pu1TracingDisable() and pu1FlushAll(). Return:
	 * PU1_SUCCESS, PU1_ERROR_ORDER (work is still running), PU1_ERROR_DEVICE. */
	pu1Result (*wait)(uint64_t timeout_ns);
} pu1SynchronizeGroup;

/* Report each submission in the submitting thread. The host then counts launches whose work never
 * arrives, and `gputap run --stacks` knows where they were made. */
#define PU1_GROUP_SUBMITS "pu1.submits"
/* Called by a call that submits work, in its thread, before the work's record can be handed over.
 * It takes no lock of the plug-in's and never calls the plug-in. @items: records of @kind to come
 * with @correlation_id; a call may report several times. */
typedef void (*pu1SubmittedFn)(uint64_t correlation_id, pu1ActivityKind kind, uint32_t items);
typedef struct pu1SubmitsGroup {
	size_t size; /* of this struct, as its writer knows it */
	/* Call submitted() from now on, for enabled kinds of device work; NULL: no longer. */
	pu1Result (*set)(pu1SubmittedFn submitted);
} pu1SubmitsGroup;

/**
 * pu1Exercise() - work for `gputap plugin check`, in the plug-in or in a library beside it
 * @items: of device work, at least, from this thread, of each kind that the plug-in records
 * Return: PU1_SUCCESS when they have completed; else why not.
 * Owner:  nothing passes.
 * Thread: any, several at once.   Signal: not safe.   Since: 0.1
 * Source: gputap; optional.
 */
PU1_API pu1Result pu1Exercise(uint32_t items);

#ifdef __cplusplus
}
#endif

#endif
