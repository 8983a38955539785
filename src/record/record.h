/* SPDX-License-Identifier: MIT */
/* Records as a traced program writes them into its rings: the ABI between the injected library and
 * the collector.
 *
 *   | head 8 | fixed words of the kind | payload, padded to 8 |
 *
 * A record consists of 64-bit words in the machine's byte order. A record never crosses a block of
 * the ring. `words` is the size of the whole record including the head, and is never 0. A reader
 * skips unknown kinds.
 *
 * Host stamps are ticks of the session's host clock (gt_session.host_clock). Device stamps are raw.
 * Stamps are converted to CLOCK_BOOTTIME ns only when a capture is read. A time of 0 means
 * "unknown". A duration of 0 is legal. */
#ifndef GPUTAP_RECORD_RECORD_H
#define GPUTAP_RECORD_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/domain.h"

enum gt_record_kind {
	GT_RECORD_PAD = 0,    /* no content: skip `words` words */
	GT_RECORD_CALL = 1,   /* struct gt_record_call: one completed host API call */
	GT_RECORD_DEVICE = 2, /* struct gt_record_device: one completed GPU activity */
	/* struct gt_record_string: a text whose number other records contain */
	GT_RECORD_STRING = 3,
	/* struct gt_record_object: a device, queue or context, with its properties */
	GT_RECORD_OBJECT = 4,
	/* struct gt_record_object: a mapped runtime library and its interception method */
	GT_RECORD_MODULE = 5,
	/* struct gt_record_clock: a device clock read between two host stamps */
	GT_RECORD_CLOCK = 6,
	GT_RECORD_EVENT = 7, /* struct gt_record_event: an event that gputap reports */
	/* struct gt_record_external: push or pop of an external correlation id */
	GT_RECORD_EXTERNAL = 8,
	/* struct gt_record_lifetime: time from which, or until which, an object matches its
	 * record */
	GT_RECORD_LIFETIME = 9,
	/* struct gt_record_window: time from which the process is recorded, or paused */
	GT_RECORD_WINDOW = 10,
	/* struct gt_record_stack: the stack of a call */
	GT_RECORD_STACK = 11,
	/* struct gt_record_frames: the frames of a stack, once per stack */
	GT_RECORD_FRAMES = 12,
	/* struct gt_record_code: code that contains frames: a module, an interpreter's function */
	GT_RECORD_CODE = 13,
	/* struct gt_record_names: the functions that contain a frame */
	GT_RECORD_NAMES = 14,
	/* struct gt_record_context: marks the following rows as context in a cut capture */
	GT_RECORD_CONTEXT = 15,
	GT_RECORD_HOST = 16, /* struct gt_record_host: state of a thread on the host */
	GT_RECORD_OPEN = 17, /* struct gt_record_open: a call that has not returned */
	GT_RECORD_KIND_COUNT
};

/* Operation of a call: number in its domain, number of argument words that follow, domain. */
#define GT_OP(domain, number, nargs) \
	((uint32_t)(number) | (uint32_t)(nargs) << 16 | (uint32_t)(domain) << 24)
#define GT_OP_NUMBER(op) ((op)&0xffffu)
#define GT_OP_NARGS(op)  ((op) >> 16 & 0xffu)
#define GT_OP_DOMAIN(op) ((op) >> 24)

struct gt_record {
	uint16_t words; /* size of the whole record in 64-bit words */
	uint8_t kind;   /* enum gt_record_kind */
	uint8_t detail; /* meaning depends on the kind: gt_record_depth() and so on */
	uint32_t op;    /* CALL: GT_OP(); others: depends on the kind */
};
static_assert(sizeof(struct gt_record) == 8, "record layout is an ABI");

/* Correlation id: the ring's thread ordinal and a count. Unique in a process, never 0. Ids of a
 * thread increase in the order of the calls' starts. */
#define GT_ID_SEQ_BITS      40
#define GT_ID(ordinal, seq) ((uint64_t)(ordinal) << GT_ID_SEQ_BITS | (uint64_t)(seq))
#define GT_ID_ORDINAL(id)   ((uint32_t)((id) >> GT_ID_SEQ_BITS))
#define GT_ID_SEQ(id)       ((id) & ((UINT64_C(1) << GT_ID_SEQ_BITS) - 1))

/* Written after the call has returned, so children precede their parent. The children of a call at
 * depth d are the calls at depth d+1 since the last call at depth d.
 * head.detail: depth, the number of this thread's calls that were open at the call's start. */
struct gt_record_call {
	struct gt_record head;
	uint64_t start, end; /* host ticks */
	uint64_t id;         /* correlation id */
	/* return value, sign- or zero-extended; 0 for void. In a record without arguments, if the
	 * status is an argument: a negative status instead of the NULL that a failed call
	 * returns */
	uint64_t ret;
	/* GT_OP_NARGS words: by-value arguments as passed, and for `out` and `status` arguments the
	 * value pointed to after the call. Then the payload: for each recorded string or array
	 * argument, a struct gt_payload and its bytes padded to 8 */
	uint64_t args[];
};

struct gt_payload {
	uint16_t arg;   /* index of the argument */
	uint16_t flags; /* GT_PAYLOAD_* */
	uint32_t bytes; /* number of bytes that follow, without padding */
};
#define GT_PAYLOAD_TRUNCATED 1u /* the argument was longer than the cap */
/* gt_payload.arg of data that the runtime reported: struct gt_facts */
#define GT_PAYLOAD_FACTS     0xffffu

/* Data that the runtime reported about a call after its return (`asks` in api/README.md). */
struct gt_facts {
	uint32_t device; /* object number of the device that has the memory; 0: unknown */
	uint32_t reserved;
	/* bytes that the call allocated, or bytes of each element of a message; UINT64_MAX:
	 * unknown */
	uint64_t bytes;
};
#define GT_NO_FACTS ((struct gt_facts){0, 0, UINT64_MAX})
static_assert(sizeof(struct gt_facts) == 16, "record layout is an ABI");

enum gt_device_op {
	GT_DEVICE_KERNEL = 1,
	GT_DEVICE_READ,  /* device to host */
	GT_DEVICE_WRITE, /* host to device */
	GT_DEVICE_COPY,  /* device to device */
	GT_DEVICE_FILL,
	GT_DEVICE_MAP,
	GT_DEVICE_UNMAP,
	GT_DEVICE_MIGRATE,
	GT_DEVICE_MARKER,
	GT_DEVICE_BARRIER,
	GT_DEVICE_COMMAND_BUFFER,
	GT_DEVICE_NATIVE, /* host function run in a queue */
	GT_DEVICE_OTHER,
	/* a graph launch as one activity: from the start of its first node to the end of its
	 * last */
	GT_DEVICE_GRAPH,
	GT_DEVICE_SCRATCH, /* memory for spilled registers of a queue, allocated or released */
	GT_DEVICE_OP_COUNT
};

/* Device of a GPU activity: the runtime's domain and the number of the device object
 * (gt_record_object; 0: unknown). GT_OP_DOMAIN() returns the domain, so that readers can count GPU
 * activities per domain without looking up objects. */
#define GT_DEVICE_REF(domain, number) (((uint32_t)(number)&0xffffffu) | (uint32_t)(domain) << 24)
#define GT_DEVICE_REF_NUMBER(ref)     ((ref)&0xffffffu)

/* Source and destination device of a memcpy: numbers of their objects, 0: unknown. The fields
 * overlay a kernel's work-group size. A memcpy that a kernel executes has a work-group size
 * instead, and `none` is then not 0. */
struct gt_endpoints {
	uint32_t source, destination, none;
};

static inline bool gt_has_endpoints(enum gt_device_op op, const struct gt_endpoints *e)
{
	return op != GT_DEVICE_KERNEL && !e->none;
}

/* head.op: GT_DEVICE_REF(); head.detail: enum gt_device_op */
struct gt_record_device {
	struct gt_record head;
	uint64_t id;         /* correlation id of the launching call; 0: unknown */
	uint64_t call_start; /* host ticks at the start of the launching call */
	/* number of the queue object; upper half: number of the graph object whose launch contains
	 * the activity */
	uint64_t queue;
	uint32_t name;                          /* string id of the kernel's name; 0: none */
	int32_t status;                         /* 0: completed; <0: the runtime's error */
	uint64_t queued, submitted, start, end; /* device clock, raw; 0: unknown */
	uint64_t bytes;                         /* bytes moved or filled; 0 for kernels */
	/* kernel: handle, GT_KERNEL_DETAIL(); memcpy: source, destination handle or address */
	uint64_t object[2];
	uint32_t global[3]; /* kernel: work-items per dimension, saturated; regions: x y z */
	union {
		uint32_t local[3]; /* kernel: work-group size; 0: the runtime chose */
		/* memcpy, if gt_has_endpoints() */
		struct gt_endpoints endpoints;
	};
	/* in a graph or command buffer launch: ordinal of the node, UINT32_MAX: unknown; otherwise
	 * 0 */
	uint32_t ordinal;
	uint32_t replay; /* number of the graph's launch, from 1; 0: not from a graph */
};
static_assert(sizeof(struct gt_record_device) == 16 * 8, "record layout is an ABI");

/* Return a size as the fields of records store it. */
static inline uint32_t gt_saturate_u32(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Details of a kernel: number of its GT_OBJECT_KERNEL_SYMBOL (0: unknown), bytes of local memory
 * per work-group, bytes of private memory per work-item. Each value saturates at its maximum. */
#define GT_KERNEL_DETAIL(symbol, group_bytes, private_bytes)  \
	((uint64_t)GT_SATURATED(symbol, 0xffffff) << 40 |     \
	 (uint64_t)GT_SATURATED(group_bytes, 0xfffff) << 20 | \
	 (uint64_t)GT_SATURATED(private_bytes, 0xfffff))
#define GT_SATURATED(n, max)            ((n) < (max) ? (n) : (max))
#define GT_KERNEL_SYMBOL(detail)        ((uint32_t)((detail) >> 40))
#define GT_KERNEL_GROUP_BYTES(detail)   ((uint32_t)((detail) >> 20 & 0xfffff))
#define GT_KERNEL_PRIVATE_BYTES(detail) ((uint32_t)((detail)&0xfffff))

/* Details of scratch memory: enum gt_scratch, ROCr's flags, bytes per work-item, and number of
 * waves. object[0] is the address of the memory. */
#define GT_SCRATCH_DETAIL(operation, flags, lane_bytes, slots)          \
	((uint64_t)(operation) << 60 | (uint64_t)((flags)&0xfu) << 56 | \
	 (uint64_t)GT_SATURATED(lane_bytes, 0xffffff) << 32 |           \
	 (uint64_t)GT_SATURATED(slots, UINT32_MAX))
#define GT_SCRATCH_OPERATION(detail)  ((uint32_t)((detail) >> 60))
#define GT_SCRATCH_FLAGS(detail)      ((uint32_t)((detail) >> 56 & 0xf))
#define GT_SCRATCH_LANE_BYTES(detail) ((uint32_t)((detail) >> 32 & 0xffffff))
#define GT_SCRATCH_SLOTS(detail)      ((uint32_t)(detail))
enum gt_scratch { GT_SCRATCH_ALLOC = 1, GT_SCRATCH_FREE, GT_SCRATCH_RECLAIM };

/* head.op: string id, unique in the process, from 1 */
struct gt_record_string {
	struct gt_record head;
	uint64_t bytes;
	char text[]; /* not terminated */
};

enum gt_object_type {
	GT_OBJECT_DEVICE = 1,
	GT_OBJECT_QUEUE,
	GT_OBJECT_CONTEXT,
	GT_OBJECT_MODULE,        /* in GT_RECORD_MODULE */
	GT_OBJECT_CODE_OBJECT,   /* loaded device code */
	GT_OBJECT_KERNEL_SYMBOL, /* a kernel in a code object */
	GT_OBJECT_STREAM,
	GT_OBJECT_GRAPH,
	/* name that the program gave a thread; number: ordinal of the thread, or
	 * GT_THREAD_BY_TID() */
	GT_OBJECT_THREAD,
	GT_OBJECT_TYPE_COUNT
};

/* Number of a GT_OBJECT_THREAD that the program identified by system thread id. */
#define GT_THREAD_BY_TID(tid)    (UINT64_C(1) << 32 | (uint32_t)(tid))
#define GT_THREAD_IS_TID(number) ((number) >> 32 == 1)

/* head.op: enum gt_object_type; head.detail: enum gt_domain */
struct gt_record_object {
	struct gt_record head;
	uint64_t number; /* number for its type in this process, from 1, never reused */
	uint64_t handle; /* handle that the program uses */
	/* queue, code object, stream: number of its device; kernel symbol: number of its code
	 * object; else 0 */
	uint64_t parent;
	uint64_t bytes;
	/* "key=value" strings, each NUL-terminated. Device: name vendor version driver uuid pci
	 * type clock (candidate: see clock/); queue: properties context; module: path version
	 * method; code object: uri storage load_base load_bytes load_delta; kernel symbol: name
	 * (mangled) and requirements of its code; thread: name. Any type: label, the name that the
	 * program gave the object */
	char text[];
};

/* head.op: device number; head.detail: enum gt_clock_method */
struct gt_record_clock {
	struct gt_record head;
	uint64_t host_before, host_after; /* ticks before and after the reading */
	uint64_t device;                  /* raw device stamp */
	/* host stamp that the runtime returned with the device stamp; 0: none */
	uint64_t runtime_host;
};

enum gt_event_code {
	/* records were dropped; value: number since the last such event */
	GT_EVENT_LOSS = 1,
	/* the program looked up an entry point without a tap; text: its name */
	GT_EVENT_UNKNOWN_ENTRY,
	GT_EVENT_CLOCK,      /* device stamps are impossible; value: number of such stamps */
	GT_EVENT_NOT_TRACED, /* gputap cannot trace a program of the tree; text: path and reason */
	GT_EVENT_TABLE,      /* a table is shorter or longer than known; value: number of entries */
	/* the runtime refused profiling, so GPU activities of the queue have no times */
	GT_EVENT_PROFILING,
	/* another tool of the program refused, or failed to load; text: its name */
	GT_EVENT_TOOL,
	/* a device or queue failed; value: the address or the runtime's status */
	GT_EVENT_FAULT,
	/* a graph's GPU activities did not match its nodes; value: number of the graph object;
	 * text: the difference */
	GT_EVENT_GRAPH,
	/* from now on, gputap cannot link GPU activities to their calls; text: reason */
	GT_EVENT_UNLINKED,
	/* the process ended during this call; value: ordinal of the thread; text: the operation.
	 * The collector writes this event; the outermost call of a thread comes first */
	GT_EVENT_OPEN_CALL,
	/* some call stacks, or parts of some, are missing; text: the missing stacks and the
	 * reason */
	GT_EVENT_STACKS,
	/* an unknown number of records is missing; value: number of places with missing records;
	 * text: owner of the records, and the reason */
	GT_EVENT_MISSING,
	GT_EVENT_REPAIRED, /* wrong parts of records were removed; value: number of records */
	/* the process was still running at the end of the session; value: number of the process;
	 * text: its program. The collector writes this event */
	GT_EVENT_STILL_RUNS,
	/* gputap omitted data by default, because recording it would slow the program; text: the
	 * data, and the option that records it */
	GT_EVENT_NOT_RECORDED,
	/* a runtime cannot give this to a tracer that was attached while the program was running;
	 * text: what, of which object, and the reason */
	GT_EVENT_LATE,
	/* gputap was attached to the running process, and recorded nothing before; value: ns for
	 * which the process had run. The collector writes this event */
	GT_EVENT_ATTACHED,
	GT_EVENT_CODE_COUNT
};

/* head.op: enum gt_event_code; head.detail: enum gt_domain */
struct gt_record_event {
	struct gt_record head;
	uint64_t time; /* host ticks */
	uint64_t value;
	uint64_t bytes;
	char text[];
};

/* Two stacks, as torch needs: operations of the framework and annotations of the user. */
enum gt_external_stack { GT_EXTERNAL_OPERATION = 0, GT_EXTERNAL_USER = 1, GT_EXTERNAL_STACK_COUNT };

/* Only in cut captures. head.detail: GT_CONTEXT_*, the ways in which the following rows do not
 * count, up to the next gt_record_context or the end of the block. */
struct gt_record_context {
	struct gt_record head;
	uint64_t reserved[2];
};
static_assert(sizeof(struct gt_record_context) == 24, "record layout is an ABI");
#define GT_CONTEXT_ROW   1u /* the call or GPU activity does not count */
#define GT_CONTEXT_RANGE 2u /* the range that the call ends does not count either */

/* head.op: enum gt_external_stack; head.detail: 1 push, 0 pop */
struct gt_record_external {
	struct gt_record head;
	uint64_t time; /* host ticks */
	uint64_t value;
};

enum gt_host_detail {
	/* the thread's use of the processor since its start, which the thread itself reads at the
	 * edges of gaps between its calls and of long calls:
	 *   value[0] CPU time, [7] system time in ns   [1] voluntary, [2] involuntary switches
	 *   [3] minor, [4] major page faults   [5] enum gt_host_edge   [6] id of the call */
	GT_HOST_USAGE = 1,
	/* from the collector: the thread was in state head.op (enum gt_host_state) from `start` to
	 * `end`, as far as readings at intervals show:
	 *   value[0] number of the system call + 1; 0: none
	 *   [1] string id: the file, the pipe, the holder of the lock; 0: not known
	 *   [2] tid of the thread that holds the lock or is waited for; 0: not known
	 *   [3] GT_OP() of the open call; 0: none, or not known
	 *   [4] ns in which the thread waited for a processor   [5] CPU time in ns
	 *   [6] number of readings   [7] descriptor + 1; of a lock, the address of its word */
	GT_HOST_STATE = 2,
	/* from the collector: the thread's stack at one time:
	 *   value[0] number of the stack   [1] enum gt_host_state   [2] number of samples */
	GT_HOST_SAMPLE = 3,
	/* from the collector: the thread of the process that waited longest for a processor between
	 * `start` and `end`, among threads without calls of a GPU runtime; at most one row for each
	 * time, in the rows of one of the process's threads:
	 *   value[0] ns of delay   [1] string id: its name   [2] its tid
	 *   [4] sum of the delays of all these threads in ns */
	GT_HOST_WORKERS = 4,
	GT_HOST_DETAIL_COUNT
};

/* Time at which a thread reads its use of the processor. */
enum gt_host_edge {
	GT_HOST_EDGE_GAP = 1,  /* start of the call that ended a gap between calls */
	GT_HOST_EDGE_CALL = 2, /* end of a long call */
	GT_HOST_EDGE_BUSY = 3, /* start or end of a call, after many short ones */
};

/* head.op: enum gt_host_state (record/host_state.h) or 0; head.detail: enum gt_host_detail */
struct gt_record_host {
	struct gt_record head;
	uint64_t start, end; /* host ticks; equal for a reading at one time */
	uint64_t value[8];
};
static_assert(sizeof(struct gt_record_host) == 11 * 8, "record layout is an ABI");

/* A call that was open when the collector looked. head.op: GT_OP(domain, number, 0) */
struct gt_record_open {
	struct gt_record head;
	uint64_t start; /* host ticks; 0: not known */
	uint64_t seen;  /* host ticks at which the call was last seen open */
	uint64_t id;
	uint64_t ordinal; /* thread */
	/* collectives and messages, as in struct gt_slot_wait; 0: not known */
	uint64_t communicator, sequence, peer;
	/* state of the thread: enum gt_host_state | (number of the system call + 1) << 8 */
	uint64_t state;
	uint64_t text; /* string id; 0: none */
};
static_assert(sizeof(struct gt_record_open) == 10 * 8, "record layout is an ABI");

/* Time from which, or until which, a handle or address refers to an object. Runtimes reuse handles
 * and addresses. head.op: enum gt_object_type; head.detail: enum gt_domain */
struct gt_record_lifetime {
	struct gt_record head;
	uint64_t time;   /* host ticks */
	uint64_t number; /* number of the object */
	uint64_t begins; /* 1: from `time` on; 0: until `time` */
};

/* head.op: operation of the call without its argument count: GT_OP(domain, number, 0) */
struct gt_record_stack {
	struct gt_record head;
	uint64_t id;     /* id of the call */
	uint64_t number; /* number of the stack, from 1 */
};

enum { GT_FRAMES_WHOLE = 0, GT_FRAMES_CUT = 1, GT_FRAMES_BROKEN = 2 };

/* The frames of a stack. head.op: number of the stack in its process; head.detail: GT_FRAMES_WHOLE;
 * CUT: more frames exist; BROKEN: the caller of the last frame is unknown */
struct gt_record_frames {
	struct gt_record head;
	uint32_t generation; /* frames refer to the newest code of this or an earlier generation */
	uint16_t native, python;
	/* native frames as addresses inside the call instructions, then frames of the interpreter
	 * as GT_PYTHON_FRAME(); both innermost first */
	uint64_t frames[];
};

/* @offset: byte offset of the instruction in its code
 * @entry: 1 if native code entered the interpreter for this frame, which is then the last one that
 *         belongs to its native frame */
#define GT_PYTHON_FRAME(code, offset, entry) \
	((uint64_t)(entry) << 63 | (uint64_t)(code) << 32 | (uint32_t)(offset))
#define GT_PYTHON_CODE(frame)     ((uint32_t)((frame) >> 32) & 0x7fffffffu)
#define GT_PYTHON_OFFSET(frame)   ((uint32_t)(frame))
#define GT_PYTHON_IS_ENTRY(frame) ((bool)((frame) >> 63))

enum gt_code_type {
	GT_CODE_MODULE = 1, /* a mapped file */
	GT_CODE_PYTHON,     /* a code object of CPython */
};

/* head.op: enum gt_code_type */
struct gt_record_code {
	struct gt_record head;
	uint64_t number; /* Python code: number by which its frames refer to it */
	/* module: mapped address range; Python code: first line, 0 */
	uint64_t start, end;
	/* module: load bias, the difference between a mapped address and its address in the file */
	uint64_t base;
	uint32_t generation;
	uint32_t bytes;
	/* module: path, build id in hexadecimal; Python code: name, file; each NUL-terminated. The
	 * line table of Python code follows */
	char text[];
};

enum gt_names_flag {
	GT_NAMES_LINES =
		1, /* lines were looked up too, so a line that is missing here is unknown */
	/* the module is a Python interpreter, which is known even without functions */
	GT_NAMES_INTERPRETER = 2,
	/* code in no module, with names from a map that the JIT compiler wrote during the run */
	GT_NAMES_JIT = 4,
};

/* Written after the program's end, when gputap reads the program's files. head.op: number of
 * functions; head.detail: enum gt_names_flag */
struct gt_record_names {
	struct gt_record head;
	uint64_t address;    /* as in frames[] */
	uint32_t generation; /* generation of the module that contains the address; JIT: 0 */
	uint32_t bytes;
	/* for each function, innermost first: linkage name, file, decimal line; each
	 * NUL-terminated, and empty if unknown. All functions but the last are inlined */
	char text[];
};

/* Reasons for starting, stopping or continuing to record a process. Captures contain the numbers,
 * so the numbers never change. */
#define GT_WINDOW_WHYS(_)                                                   \
	_(UNKNOWN, 0, "unknown")                                            \
	_(LIFE, 1, "process")    /* the process started or ended */         \
	_(PROGRAM, 2, "program") /* gputap_pause(), roctxProfilerPause() */ \
	_(PAUSED, 3, "paused")   /* `gputap run --paused` */                \
	_(DELAY, 4, "delay")                                                \
	_(DURATION, 5, "duration")                                          \
	_(KERNELS, 6, "kernels") /* --max-kernels */                        \
	_(COMMAND, 7, "command") /* `gputap start`, `stop` */               \
	_(SIGNAL, 8, "signal")                                              \
	_(RANGE, 9, "range")        /* --from, --to */                      \
	_(ATTACHED, 10, "attached") /* gputap was attached to the running process */
enum gt_window_why {
#define GT_WINDOW_WHY(name, number, text) GT_WINDOW_##name = number,
	GT_WINDOW_WHYS(GT_WINDOW_WHY)
#undef GT_WINDOW_WHY
		GT_WINDOW_WHY_COUNT
};

/* head.op: enum gt_window_why; head.detail: 1 recorded from then on, 0 paused. A process without
 * such a record is recorded throughout. If the first record of a process has 1, the process was not
 * recorded before. */
struct gt_record_window {
	struct gt_record head;
	uint64_t time; /* host ticks */
	/* number of changes before this one that followed each other too fast to be recorded */
	uint64_t missed;
};

/* Meaning of `detail` for each kind. */
static inline uint32_t gt_record_depth(const struct gt_record *call)
{
	return call->detail;
}

static inline enum gt_device_op gt_record_device_op(const struct gt_record *activity)
{
	return (enum gt_device_op)activity->detail;
}

/* Return the domain of an object, a module, an event or a lifetime. */
static inline enum gt_domain gt_record_domain(const struct gt_record *head)
{
	return (enum gt_domain)head->detail;
}

static inline bool gt_record_is_push(const struct gt_record *external)
{
	return external->detail;
}

/* Reason why a seen call or GPU activity has no record. Counted per thread and domain. */
enum gt_drop_reason {
	GT_DROP_FULL = 0, /* no free block within the wait limit */
	GT_DROP_NESTED,   /* a signal handler ran calls while a record was being written */
	GT_DROP_POOL,     /* GPU activity: too many in flight to track */
	GT_DROP_RUNTIME,  /* GPU activity: the runtime refused an event or its times */
	GT_DROP_TOO_LONG, /* a record longer than a block */
	/* call or GPU activity still open at the end of the process or of the session; the
	 * collector counts it */
	GT_DROP_UNFINISHED,
	/* lost because a damaged ring or file contained bytes that were not records */
	GT_DROP_CORRUPT,
	/* the capture could not store the record (disk full, file size limit); the collector counts
	 * it */
	GT_DROP_OUTPUT,
	GT_DROP_TOOL, /* plug-in record that was invalid, or that the plug-in dropped */
	/* GPU activity: its completion signal is used for others in flight, and gputap could not
	 * give it another one */
	GT_DROP_SIGNAL,
	GT_DROP_REASON_COUNT
};

/* Classes of records that are counted per thread and domain. */
enum gt_class { GT_CLASS_CALL = 0, GT_CLASS_DEVICE = 1, GT_CLASS_COUNT };

#endif
