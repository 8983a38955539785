/* SPDX-License-Identifier: MIT */
/* Describes every operation of every domain, for readers of records and for tools: names,
 * arguments, which value is the status, how to print. Generated from api/<domain>.api (see gen/).
 * The injected library contains it also, for tools. */
#ifndef GPUTAP_RECORD_OPERATION_H
#define GPUTAP_RECORD_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

enum gt_operation_kind {
	GT_KIND_OTHER = 0,
	GT_KIND_LAUNCH,
	GT_KIND_COPY,
	GT_KIND_SET,
	GT_KIND_ALLOCATION,
	GT_KIND_FREE,
	GT_KIND_SYNCHRONISATION,
	GT_KIND_MARKER,
	GT_KIND_RETAIN, /* memory that was allocated lives until it is freed once more */
	GT_KIND_COUNT
};

/* Location of the memory that a call allocates. */
enum gt_memory {
	GT_MEMORY_UNKNOWN = 0,
	GT_MEMORY_HOST, /* host memory that devices can reach */
	GT_MEMORY_DEVICE,
	GT_MEMORY_SHARED,  /* moves between host and device */
	GT_MEMORY_VIRTUAL, /* addresses only */
	GT_MEMORY_IMAGE,
	GT_MEMORY_POOL,       /* of a device, from a pool, in stream order */
	GT_MEMORY_REGISTERED, /* the program's own host memory: devices can reach it from now on */
	GT_MEMORY_COUNT
};

/* How an argument's word is interpreted, for exporters that write values instead of text. */
enum gt_argument_form {
	GT_FORM_OTHER = 0, /* needs gt_format_arg(): string, array, struct, callback */
	GT_FORM_UNSIGNED,  /* the word is the number (sizes, counts, booleans) */
	GT_FORM_SIGNED,
	GT_FORM_ADDRESS, /* handle or address: hexadecimal */
	/* enum or flags: the text depends on the word alone, so it can be cached */
	GT_FORM_NAMED,
};

/* How a call describes the program's own activity. */
enum gt_range_mark {
	GT_MARK_NONE = 0,
	GT_MARK_INSTANT,
	GT_MARK_PUSH,
	GT_MARK_POP,
	GT_MARK_START,
	GT_MARK_STOP,
	/* the call is the range, recorded at its end, after the calls inside; ret: number of the
	 * last call that started in it */
	GT_MARK_RANGE
};

/* Extent of the GPU activities that have completed when the call returns. */
enum gt_finished {
	GT_FINISHED_NOTHING = 0,
	GT_FINISHED_QUEUE, /* those of the queue in the call's argument of role STREAM */
	/* those of all queues of the process that take the domain's activities */
	GT_FINISHED_ALL,
	/* those that the events in the call's argument of role EVENT refer to */
	GT_FINISHED_EVENTS,
	GT_FINISHED_STREAM /* those of earlier calls on the queue in its argument of role STREAM */
};

/* Who waits for whom in a call that all processes of a communicator make. */
enum gt_collective {
	GT_COLLECTIVE_NONE = 0,
	GT_COLLECTIVE_ALL,       /* no process returns before the last one has called */
	GT_COLLECTIVE_FROM_ROOT, /* no process returns before the root has called */
	GT_COLLECTIVE_TO_ROOT,   /* the root does not return before the last one has called */
	GT_COLLECTIVE_ANY,       /* that depends, or the call only starts it */
};

/* Other relations of a call to calls in its own process or in others: bits. */
enum gt_joint {
	GT_JOINT_SENDS = 1, /* sends a message to the process of role PEER */
	GT_JOINT_RECEIVES = 2,
	GT_JOINT_BY_KERNEL = 4, /* a kernel does it: the wait is there, not in the call */
	/* calls are deferred until the batch is closed and then done as one */
	GT_JOINT_OPENS_BATCH = 8,
	GT_JOINT_CLOSES_BATCH = 16,
	GT_JOINT_BEGINS = 32, /* only starts it, for its argument of role REQUEST */
	/* waits for the operations of its argument of role REQUEST; with BEGINS: these may be
	 * started never or several times */
	GT_JOINT_COMPLETES = 64,
};

/* Meaning of an argument, or of a member of its pointee, for its operation. */
enum gt_role {
	GT_ROLE_NONE = 0,
	GT_ROLE_FUNCTION, /* device function, or the host function that represents it */
	/* blocks (work-items for some): one struct of three, or three arguments x y z */
	GT_ROLE_GRID,
	GT_ROLE_BLOCK,
	GT_ROLE_STREAM,
	GT_ROLE_EVENT,
	GT_ROLE_GRAPH,
	GT_ROLE_GRAPHEXEC,
	GT_ROLE_SOURCE,
	GT_ROLE_DESTINATION,
	/* moved, set or allocated: the product of all of this role and of TIMES, gt_call_bytes() */
	GT_ROLE_BYTES,
	GT_ROLE_TIMES,     /* rows, slices */
	GT_ROLE_ADDRESS,   /* address allocated or freed */
	GT_ROLE_DIRECTION, /* direction of a copy */
	GT_ROLE_DEVICE,
	GT_ROLE_VALUE,        /* value that memory is set to */
	GT_ROLE_MESSAGE,      /* text of a mark or a range */
	GT_ROLE_RANGE,        /* the number that the start and the stop of a range share */
	GT_ROLE_BLOCKS,       /* nonzero: the call returns when its GPU activity is done */
	GT_ROLE_DEPENDENCIES, /* number of events that the call's GPU activity waits for */
	/* name of the kernel that the argument of role FUNCTION refers to */
	GT_ROLE_SYMBOL,
	GT_ROLE_SIGNALS, /* event that refers to the call's GPU activity from this call on */
	/* number of the range that the call was made in (gt_domain_traits.relayed) */
	GT_ROLE_WITHIN,
	/* further data of a range or a mark (struct gt_range_detail) */
	GT_ROLE_SEQUENCE,
	GT_ROLE_SHAPES,
	GT_ROLE_SCOPE, /* NVTX domain: a text */
	GT_ROLE_CATEGORY,
	GT_ROLE_COLOUR, /* ARGB; 0: none */
	GT_ROLE_PAYLOAD,
	/* in calls that the processes of a job make together */
	GT_ROLE_COMMUNICATOR,
	GT_ROLE_CREATES, /* the communicator that the call creates */
	GT_ROLE_SPLIT,   /* processes that pass the same value get the same communicator */
	GT_ROLE_ROOT,
	GT_ROLE_PEER,
	GT_ROLE_RANK, /* rank in a communicator of SIZE processes */
	GT_ROLE_SIZE,
	GT_ROLE_TAG,     /* tag of a message */
	GT_ROLE_REQUEST, /* request that a later call waits for; TIMES: how many */
	/* index of the one that is done when the call returns; without this, all are */
	GT_ROLE_WHICH,
	GT_ROLE_COUNT
};

struct gt_argument_info {
	const char *name, *type; /* as in the prototype */
	/* enum gt_argument_form of the recorded value: for `out` arguments the value pointed to */
	uint8_t form;
	uint8_t name_bytes;
	uint8_t how, value_type, length_arg; /* for gt_format_arg(): record/describe.h */
	/* output arrays: argument that points to the number of elements returned, if not NULL; 255:
	 * none */
	uint8_t came_arg;
	bool out;        /* the call writes to its pointee */
	uint8_t role;    /* enum gt_role */
	uint8_t scale;   /* role BYTES: size of each unit in bytes */
	uint8_t bytes;   /* size of the value as passed */
	uint8_t stars;   /* pointers to follow until ... */
	uint8_t base;    /* ... this type of the domain (record/describe.h; 1: void or char) */
	uint16_t offset; /* offset in a C struct of all the operation's arguments */
};

enum { GT_STREAM_IN_STRUCT = -2 };

struct gt_operation_info {
	const char *name;
	uint32_t op; /* GT_OP() */
	uint8_t nargs;
	uint8_t kind; /* enum gt_operation_kind */
	uint8_t mark; /* enum gt_range_mark */
	/* argument that holds the status; -1: the return value is the status; -2: none */
	int8_t status_arg;
	bool in_table;     /* false: extension function */
	bool waits;        /* when it returns, the device has done what it requested */
	uint8_t finished;  /* enum gt_finished */
	const char *group; /* for `gputap list`: queue, kernel, memory, ... */
	const struct gt_argument_info *args;
	int16_t signals_arg; /* argument of role SIGNALS; -1: none */
	/* argument of role STREAM of calls that give the stream GPU activities, record an event on
	 * it or wait until it is done, in a domain that has such waits (GT_FINISHED_STREAM); -1:
	 * none; GT_STREAM_IN_STRUCT: gt_call_role() finds it */
	int16_t stream_arg;
	uint8_t memory;     /* enum gt_memory: kind of memory that the call allocates or frees */
	uint8_t collective; /* enum gt_collective */
	uint8_t joints;     /* enum gt_joint */
	/* it is collective, has joints, or creates a communicator or sets the rank in one */
	bool joins;
};

const char *gt_domain_name(enum gt_domain domain); /* "unknown" for others */
enum gt_domain gt_domain_find(const char *name);   /* GT_DOMAIN_NONE: no such name */
/* Return a bit for each domain that users mean with a word of @bytes bytes: a domain's name or its
 * family's. */
uint32_t gt_domains_find(const char *word, size_t bytes);

/* Numbers are 0 .. count-1, without gaps that matter: see below. */
size_t gt_operation_count(enum gt_domain domain);
/* Return NULL for an unknown number (a newer gputap's capture, or a retired number). */
const struct gt_operation_info *gt_operation(uint32_t op);
const struct gt_operation_info *gt_operation_find(enum gt_domain domain, const char *name);
/**
 * gt_operation_named() - find the operation that a call of a `relayed` domain is
 * @op:   as recorded
 * @name: name that the call was recorded with
 * Return: GT_OP() with a number for that name in this process, from GT_NAMED_FROM, which
 * gt_operation() knows; @op itself if memory is short or there are too many names.
 * Thread: any.
 */
uint32_t gt_operation_named(uint32_t op, const char *name, size_t bytes);
enum { GT_NAMED_FROM = 0x8000 };
/* Return the name, or "opencl#187" if it is unknown (per-thread buffer). Never NULL. */
const char *gt_operation_name(uint32_t op);
const char *gt_operation_kind_name(enum gt_operation_kind kind);
const char *gt_memory_name(enum gt_memory memory); /* "host", "device", ... */

/* Get the call's status; gt_status_failed() interprets it. Return false when the operation has none
 * or it was not recorded. */
bool gt_call_status(uint32_t op, uint64_t ret, const uint64_t *args, int32_t *status);
bool gt_status_failed(enum gt_domain domain, int32_t status);
/* Return true if the runtime answered that it does not support something, or that it already is in
 * that state: programs call in order to learn that. */
bool gt_status_refused(enum gt_domain domain, int32_t status);
/* Return a name such as "CL_INVALID_VALUE", or NULL if none is known. */
const char *gt_status_name(enum gt_domain domain, int32_t status);
const char *gt_device_op_name(enum gt_device_op op);      /* "kernel", "memcpy D2H", .... */
const char *gt_drop_reason_name(enum gt_drop_reason why); /* "ring full", ... */
const char *gt_event_code_name(enum gt_event_code code);

/**
 * gt_format_args() - format arguments as text: "queue=0x55d0c8, flags=CL_MEM_READ_ONLY|..."
 * @separator: between arguments, ", " or " | "
 * Return: length of the whole text, like snprintf(); it is always terminated when size > 0.
 */
size_t gt_format_args(char *buffer, size_t size, uint32_t op, uint64_t ret, const uint64_t *args,
		      const uint8_t *payload, uint32_t payload_bytes, const char *separator);
/* Format the value of one argument. */
size_t gt_format_arg(char *buffer, size_t size, uint32_t op, unsigned arg, const uint64_t *args,
		     const uint8_t *payload, uint32_t payload_bytes);

/* A recorded call's arguments and their payload, as in its record or item. */
struct gt_call_view {
	uint32_t op;
	const uint64_t *args;
	const uint8_t *payload;
	uint32_t payload_bytes;
};

/**
 * gt_call_role() - get the call's value with that role
 * @index: which one of several, such as the three of a grid that are separate arguments; members
 *         count separately
 * Return: false if the operation has none (or fewer), it was not recorded, or it is an array.
 */
bool gt_call_role(const struct gt_call_view *call, enum gt_role role, unsigned index,
		  uint64_t *value);
/**
 * gt_call_elements() - get the elements of the array with that role, handles or numbers
 * @most: room in @values
 * Return: false if the operation has no such array, it was not recorded completely, or it has more
 * elements.
 */
bool gt_call_elements(const struct gt_call_view *call, enum gt_role role, uint64_t *values,
		      size_t most, size_t *count);
/* Whether a copy is done when the call returns: always, or if its argument of role BLOCKS is
 * set. */
enum gt_blocking { GT_BLOCKING_UNKNOWN, GT_BLOCKING_NO, GT_BLOCKING_YES };
enum gt_blocking gt_call_blocking(uint32_t op, const uint64_t *args);
/* Get what the runtime reported about the call. Return false if it was not queried. */
bool gt_call_facts(const struct gt_call_view *call, struct gt_facts *facts);
/* Get the bytes that the call moves, sets or allocates: as requested, or else as the runtime
 * reported. Return false if unknown. */
bool gt_call_bytes(const struct gt_call_view *call, uint64_t *bytes);
/**
 * gt_call_address() - get the address that a call has allocated or freed
 * @ret: return value of the call
 * Return: false if it allocates and frees nothing, or has no such address, such as a free of NULL.
 */
bool gt_call_address(const struct gt_call_view *call, uint64_t ret, uint64_t *address);

#endif
