/* SPDX-License-Identifier: MIT */
/* Records as a traced program writes them into its rings: the ABI between the
 * injected library and the collector.
 *
 *   | head 8 | fixed words of the kind | payload, padded to 8 |
 *
 * Everything is in 64-bit words of the machine's byte order. A record never
 * crosses a block of the ring. `words` counts the whole record, head included,
 * and is never 0. A reader skips kinds that it does not know.
 *
 * Host stamps are ticks of the session's host clock (gt_session.host_clock);
 * device stamps are raw; both become CLOCK_BOOTTIME ns only when reading.
 * Times of 0 mean "not known". A duration of 0 is legal. */
#ifndef GPUTAP_RECORD_RECORD_H
#define GPUTAP_RECORD_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/domain.h"

enum gt_record_kind {
	GT_RECORD_PAD = 0,    /* nothing: skip `words` words */
	GT_RECORD_CALL = 1,   /* struct gt_record_call: one completed host API call */
	GT_RECORD_DEVICE = 2, /* struct gt_record_device: one completed item of device work */
	/* struct gt_record_string: a text that other records name by number */
	GT_RECORD_STRING = 3,
	/* struct gt_record_object: a device, queue or context and its properties */
	GT_RECORD_OBJECT = 4,
	/* struct gt_record_object: a runtime library that is really mapped, and its door */
	GT_RECORD_MODULE = 5,
	/* struct gt_record_clock: a device clock read between two host stamps */
	GT_RECORD_CLOCK = 6,
	GT_RECORD_EVENT = 7, /* struct gt_record_event: something gputap has to report */
	/* struct gt_record_external: push or pop of an external correlation id */
	GT_RECORD_EXTERNAL = 8,
	/* struct gt_record_lifetime: from when, or until when, an object is what its record says */
	GT_RECORD_LIFETIME = 9,
	/* struct gt_record_window: from when on the process is recorded, or is not */
	GT_RECORD_WINDOW = 10,
	/* struct gt_record_stack: which stack a call was made from */
	GT_RECORD_STACK = 11,
	/* struct gt_record_frames: what such a stack is, once */
	GT_RECORD_FRAMES = 12,
	/* struct gt_record_code: what frames lie in: a module, a function of an interpreter's */
	GT_RECORD_CODE = 13,
	/* struct gt_record_names: the functions that a frame is in */
	GT_RECORD_NAMES = 14,
	/* struct gt_record_context: what the rows that follow are in a cut capture */
	GT_RECORD_CONTEXT = 15,
	GT_RECORD_KIND_COUNT
};

/* A call's operation: number in its domain, how many argument words follow, domain. */
#define GT_OP(domain, number, nargs) \
	((uint32_t)(number) | (uint32_t)(nargs) << 16 | (uint32_t)(domain) << 24)
#define GT_OP_NUMBER(op) ((op)&0xffffu)
#define GT_OP_NARGS(op)  ((op) >> 16 & 0xffu)
#define GT_OP_DOMAIN(op) ((op) >> 24)

struct gt_record {
	uint16_t words; /* whole record in 64-bit words */
	uint8_t kind;   /* enum gt_record_kind */
	uint8_t detail; /* as the kind says: gt_record_depth() and so on */
	uint32_t op;    /* CALL: GT_OP(); others: as the kind says */
};
static_assert(sizeof(struct gt_record) == 8, "record layout is an ABI");

/* Correlation id: the ring's thread ordinal and a count. Unique in a process
 * process, 0 is never one. Ids of a thread rise with the calls' begin. */
#define GT_ID_SEQ_BITS      40
#define GT_ID(ordinal, seq) ((uint64_t)(ordinal) << GT_ID_SEQ_BITS | (uint64_t)(seq))
#define GT_ID_ORDINAL(id)   ((uint32_t)((id) >> GT_ID_SEQ_BITS))
#define GT_ID_SEQ(id)       ((id) & ((UINT64_C(1) << GT_ID_SEQ_BITS) - 1))

/* Written when the call has returned, so children come before their parent:
 * the calls of depth d+1 since the last one of depth d are its children.
 * head.detail: depth: calls of this thread that were open when this one began. */
struct gt_record_call {
	struct gt_record head;
	uint64_t start, end; /* host ticks */
	uint64_t id;         /* correlation id */
	/* return value; sign- or zero-extended; 0 for void. Without arguments, where the status
	 * is one: a negative status in the place of the NULL that a failed call returns */
	uint64_t ret;
	/* GT_OP_NARGS words: by-value arguments as passed, `out` and `status` arguments as the
	 * value pointed to after the call. Then the payload: for each string and array argument
	 * recorded, a struct gt_payload and its bytes padded to 8. */
	uint64_t args[];
};

struct gt_payload {
	uint16_t arg;   /* index of the argument */
	uint16_t flags; /* GT_PAYLOAD_* */
	uint32_t bytes; /* that follow, without padding */
};
#define GT_PAYLOAD_TRUNCATED 1u /* the argument was longer than the cap */
/* gt_payload.arg of what no argument says: struct gt_facts */
#define GT_PAYLOAD_FACTS     0xffffu

/* What the runtime said of a call when it had returned (`asks` in api/README.md). */
struct gt_facts {
	uint32_t device; /* number of the device object that the memory is on; 0: not known */
	uint32_t reserved;
	/* that the call allocated, or each element of a message; UINT64_MAX: not known */
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
	/* a graph's launch as one: from its first node's start to its last one's end */
	GT_DEVICE_GRAPH,
	GT_DEVICE_SCRATCH, /* a queue's memory for spilled registers, made or given back */
	GT_DEVICE_OP_COUNT
};

/* Device work: the runtime's domain and the number of the device object (gt_record_object; 0:
 * not known). GT_OP_DOMAIN() gives the domain, so that device work is counted by domain without
 * a look at objects. */
#define GT_DEVICE_REF(domain, number) (((uint32_t)(number)&0xffffffu) | (uint32_t)(domain) << 24)
#define GT_DEVICE_REF_NUMBER(ref)     ((ref)&0xffffffu)

/* Devices that a copy goes between: numbers of their objects, 0: not known. They lie where a kernel
 * has its work-group's size: a copy that a kernel does has that, and `none` is not 0. */
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
	uint64_t id;         /* correlation id of the call that caused it; 0: none known */
	uint64_t call_start; /* host ticks of that call's begin */
	/* number of the queue object; upper half: of the graph object whose launch this is part
	 * of */
	uint64_t queue;
	uint32_t name;                          /* string id of the kernel's name; 0: none */
	int32_t status;                         /* 0: completed; <0: the runtime's error */
	uint64_t queued, submitted, start, end; /* device clock, raw; 0: not known */
	uint64_t bytes;                         /* moved or filled; 0 for kernels */
	/* kernel: handle, GT_KERNEL_DETAIL(); copies: source, destination handle or address */
	uint64_t object[2];
	uint32_t global[3]; /* kernel: work-items per dimension, saturated; regions: x y z */
	union {
		uint32_t local[3]; /* kernel: work-group size; 0: the runtime chose */
		/* copies, where gt_has_endpoints() */
		struct gt_endpoints endpoints;
	};
	/* of this node in a graph or command buffer launch, UINT32_MAX: not known; 0 else */
	uint32_t ordinal;
	uint32_t replay; /* which launch of that graph, from 1; 0: not from a graph */
};
static_assert(sizeof(struct gt_record_device) == 16 * 8, "record layout is an ABI");

/* Of a kernel: number of its GT_OBJECT_KERNEL_SYMBOL (0: none known), bytes of local memory a
 * work-group, bytes of private memory a work-item; each stays at the highest number that it has
 * room for. */
#define GT_KERNEL_DETAIL(symbol, group_bytes, private_bytes)  \
	((uint64_t)GT_SATURATED(symbol, 0xffffff) << 40 |     \
	 (uint64_t)GT_SATURATED(group_bytes, 0xfffff) << 20 | \
	 (uint64_t)GT_SATURATED(private_bytes, 0xfffff))
#define GT_SATURATED(n, max)            ((n) < (max) ? (n) : (max))
#define GT_KERNEL_SYMBOL(detail)        ((uint32_t)((detail) >> 40))
#define GT_KERNEL_GROUP_BYTES(detail)   ((uint32_t)((detail) >> 20 & 0xfffff))
#define GT_KERNEL_PRIVATE_BYTES(detail) ((uint32_t)((detail)&0xfffff))

/* Of scratch memory: enum gt_scratch, ROCr's flags, bytes of a work-item, and for how many
 * waves. object[0] is its address. */
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
	GT_OBJECT_CODE_OBJECT,   /* device code that is loaded */
	GT_OBJECT_KERNEL_SYMBOL, /* a kernel in it */
	GT_OBJECT_STREAM,
	GT_OBJECT_GRAPH,
	/* the name that the program gave its thread; number: the thread's ordinal, or
	 * GT_THREAD_BY_TID() */
	GT_OBJECT_THREAD,
	GT_OBJECT_TYPE_COUNT
};

/* Number of a GT_OBJECT_THREAD that the program has named by the system's number of it. */
#define GT_THREAD_BY_TID(tid)    (UINT64_C(1) << 32 | (uint32_t)(tid))
#define GT_THREAD_IS_TID(number) ((number) >> 32 == 1)

/* head.op: enum gt_object_type; head.detail: enum gt_domain */
struct gt_record_object {
	struct gt_record head;
	uint64_t number; /* of its type in this process, from 1, never reused */
	uint64_t handle; /* as the program knows it */
	/* queue, code object, stream: number of its device; kernel symbol: of its code object;
	 * else 0 */
	uint64_t parent;
	uint64_t bytes;
	/* "key=value" strings, each ended by NUL. Device: name vendor version driver uuid pci
	 * type clock (candidate: see clock/); queue: properties context; module: path version
	 * door; code object: uri storage load_base load_bytes load_delta; kernel symbol: name
	 * (mangled) and what its code asks for; thread: name. Any: label, the program's name for
	 * it */
	char text[];
};

/* head.op: device number; head.detail: enum gt_clock_method */
struct gt_record_clock {
	struct gt_record head;
	uint64_t host_before, host_after; /* ticks around the reading */
	uint64_t device;                  /* raw device stamp */
	uint64_t runtime_host;            /* host stamp that the runtime gave with it; 0: none */
};

enum gt_event_code {
	/* records were dropped; value: how many since the last such event */
	GT_EVENT_LOSS = 1,
	/* the program asked for an entry point that has no tap; text: its name */
	GT_EVENT_UNKNOWN_ENTRY,
	GT_EVENT_CLOCK,      /* device stamps that cannot be right; value: how many */
	GT_EVENT_NOT_TRACED, /* a program of the tree cannot be traced; text: path and why */
	GT_EVENT_TABLE,      /* a table shorter or longer than known; value: its entries */
	GT_EVENT_PROFILING,  /* the runtime refused profiling; work of this queue has no times */
	/* another tool of the program's could not be loaded, or said no; text: its name */
	GT_EVENT_TOOL,
	/* a device or queue has failed; value: the address or the runtime's status */
	GT_EVENT_FAULT,
	/* a graph's work came otherwise than its nodes say; value: number of its object; text:
	 * how */
	GT_EVENT_GRAPH,
	/* device work that cannot be linked to its call from now on; text: why */
	GT_EVENT_UNLINKED,
	/* the process ended in this call; value: ordinal of the thread; text: the operation. The
	 * collector's; of a thread's calls the outermost comes first */
	GT_EVENT_OPEN_CALL,
	GT_EVENT_STACKS, /* some call stacks, or parts of them, are not there; text: which, why */
	/* records are missing, and how many is not known; value: in how many places; text: whose,
	 * why */
	GT_EVENT_MISSING,
	GT_EVENT_REPAIRED, /* records are kept without what was wrong in them; value: how many */
	/* the process ran on when the session ended; value: its number; text: its program. The
	 * collector's */
	GT_EVENT_STILL_RUNS,
	/* left out by default, as it would slow the program; text: what, and how to record it */
	GT_EVENT_NOT_RECORDED,
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

/* Two stacks, as torch needs: what the framework does, what the user annotated. */
enum gt_external_stack { GT_EXTERNAL_OPERATION = 0, GT_EXTERNAL_USER = 1, GT_EXTERNAL_STACK_COUNT };

/* Only in captures that were cut out of others. head.detail, GT_CONTEXT_..: what the rows behind
 * it, to the next of these or the end of the block, are not: asked for. */
struct gt_record_context {
	struct gt_record head;
	uint64_t reserved[2];
};
static_assert(sizeof(struct gt_record_context) == 24, "record layout is an ABI");
#define GT_CONTEXT_ROW   1u /* the call or the work does not count */
#define GT_CONTEXT_RANGE 2u /* .. nor the range that it ends */

/* head.op: enum gt_external_stack; head.detail: 1 push, 0 pop */
struct gt_record_external {
	struct gt_record head;
	uint64_t time; /* host ticks */
	uint64_t value;
};

/* An object's handle or address may be used again for another one: this says when it began and
 * ended to stand for this one. head.op: enum gt_object_type; head.detail: enum gt_domain */
struct gt_record_lifetime {
	struct gt_record head;
	uint64_t time;   /* host ticks */
	uint64_t number; /* of the object */
	uint64_t begins; /* 1: from then on; 0: until then */
};

/* head.op: as the call's, but for its count of arguments: GT_OP(domain, number, 0) */
struct gt_record_stack {
	struct gt_record head;
	uint64_t id;     /* of the call */
	uint64_t number; /* of the stack, from 1 */
};

enum { GT_FRAMES_WHOLE = 0, GT_FRAMES_CUT = 1, GT_FRAMES_BROKEN = 2 };

/* head.op: number of the stack in its process; head.detail: GT_FRAMES_WHOLE; CUT: there are more
 * frames; BROKEN: nothing said who called the last one */
struct gt_record_frames {
	struct gt_record head;
	uint32_t generation; /* the newest code of at most this one is meant */
	uint16_t native, python;
	/* first the native ones, addresses inside of the calls, innermost first; then those of the
	 * interpreter, GT_PYTHON_FRAME(), innermost first */
	uint64_t frames[];
};

/* @offset: of the instruction in its code, in bytes. @entry: the interpreter was called anew by
 * native code for it: the last one that belongs to its native frame. */
#define GT_PYTHON_FRAME(code, offset, entry) \
	((uint64_t)(entry) << 63 | (uint64_t)(code) << 32 | (uint32_t)(offset))
#define GT_PYTHON_CODE(frame)     ((uint32_t)((frame) >> 32) & 0x7fffffffu)
#define GT_PYTHON_OFFSET(frame)   ((uint32_t)(frame))
#define GT_PYTHON_IS_ENTRY(frame) ((bool)((frame) >> 63))

enum gt_code_type {
	GT_CODE_MODULE = 1, /* a file that is mapped */
	GT_CODE_PYTHON,     /* a code object of CPython's */
};

/* head.op: enum gt_code_type */
struct gt_record_code {
	struct gt_record head;
	uint64_t number; /* Python's code: of its frames */
	/* module: what is mapped; Python's code: its first line, 0 */
	uint64_t start, end;
	uint64_t base; /* module: of an address, what its file does not say of it */
	uint32_t generation;
	uint32_t bytes;
	/* module: path, build id in hexadecimal; Python's code: its name, its file; each ended by
	 * NUL. Python's then has its table of lines */
	char text[];
};

enum gt_names_flag {
	GT_NAMES_LINES = 1, /* lines were looked for, too: what is not here is not known */
	/* the module is an interpreter of Python's; without functions, too, that is known */
	GT_NAMES_INTERPRETER = 2,
	GT_NAMES_JIT = 4, /* in no module: by the map that a compiler wrote while the program ran */
};

/* Written when the program has ended, by who read its files. head.op: how many functions;
 * head.detail: enum gt_names_flag */
struct gt_record_names {
	struct gt_record head;
	uint64_t address;    /* as in frames */
	uint32_t generation; /* of the module that it is in; JIT: 0 */
	uint32_t bytes;
	/* of each function, innermost first: name as it is linked, file, line in decimal; each
	 * ended by NUL, and empty where it is not known. All but the last one are inlined */
	char text[];
};

/* Why recording in a process began, ended, or went on. Numbers stay: they are in captures. */
#define GT_WINDOW_WHYS(_)                                                   \
	_(UNKNOWN, 0, "unknown")                                            \
	_(LIFE, 1, "process")    /* its own begin or end */                 \
	_(PROGRAM, 2, "program") /* gputap_pause(), roctxProfilerPause() */ \
	_(PAUSED, 3, "paused")   /* `gputap run --paused` */                \
	_(DELAY, 4, "delay")                                                \
	_(DURATION, 5, "duration")                                          \
	_(KERNELS, 6, "kernels") /* --max-kernels */                        \
	_(COMMAND, 7, "command") /* `gputap start`, `stop` */               \
	_(SIGNAL, 8, "signal")                                              \
	_(RANGE, 9, "range") /* --from, --to */
enum gt_window_why {
#define GT_WINDOW_WHY(name, number, text) GT_WINDOW_##name = number,
	GT_WINDOW_WHYS(GT_WINDOW_WHY)
#undef GT_WINDOW_WHY
		GT_WINDOW_WHY_COUNT
};

/* head.op: enum gt_window_why; head.detail: 1: recorded from then on, 0: not. A process without one
 * is recorded throughout; one whose first says 1 was not recorded before. */
struct gt_record_window {
	struct gt_record head;
	uint64_t time; /* host ticks */
	/* changes before this one that came too fast to be written down */
	uint64_t missed;
};

/* What `detail` is, by kind. */
static inline uint32_t gt_record_depth(const struct gt_record *call)
{
	return call->detail;
}

static inline enum gt_device_op gt_record_device_op(const struct gt_record *work)
{
	return (enum gt_device_op)work->detail;
}

/* Of an object, a module, an event, a lifetime. */
static inline enum gt_domain gt_record_domain(const struct gt_record *head)
{
	return (enum gt_domain)head->detail;
}

static inline bool gt_record_is_push(const struct gt_record *external)
{
	return external->detail;
}

/* Why a thing that was seen has no record. Counted per thread and domain. */
enum gt_drop_reason {
	GT_DROP_FULL = 0, /* no free block within the waiting time */
	GT_DROP_NESTED,   /* a signal handler ran calls while a record was being written */
	GT_DROP_POOL,     /* device work: too much in flight to follow */
	GT_DROP_RUNTIME,  /* device work: the runtime refused an event or its times */
	GT_DROP_TOO_LONG, /* a record longer than a block */
	/* call or device work still open when the process or the session ended; collector
	 * counts it */
	GT_DROP_UNFINISHED,
	GT_DROP_TORN, /* lost with a damaged ring or file: the bytes were no records */
	/* the capture could not take it (disk full, file size limit); collector counts it */
	GT_DROP_OUTPUT,
	GT_DROP_TOOL, /* of a vendor's plug-in: wrong, or dropped by the plug-in itself */
	GT_DROP_REASON_COUNT
};

/* What is counted per thread and domain. */
enum gt_class { GT_CLASS_CALL = 0, GT_CLASS_DEVICE = 1, GT_CLASS_COUNT };

#endif
