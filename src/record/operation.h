/* SPDX-License-Identifier: MIT */
/* Describes every operation of every domain (names, arguments, status, output format), for readers
 * of records and for tools. Generated from api/<domain>.api (see gen/). The injected library also
 * contains the descriptions, for tools. */
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
	GT_KIND_RETAIN, /* adds a reference: the memory lives until it is freed once more */
	GT_KIND_COUNT
};

/* Location of the memory that a call allocates. */
enum gt_memory {
	GT_MEMORY_UNKNOWN = 0,
	GT_MEMORY_HOST, /* host memory that devices can access */
	GT_MEMORY_DEVICE,
	GT_MEMORY_SHARED,  /* moves between host and device */
	GT_MEMORY_VIRTUAL, /* addresses only */
	GT_MEMORY_IMAGE,
	GT_MEMORY_POOL,       /* device memory from a pool, in stream order */
	GT_MEMORY_REGISTERED, /* host memory of the program that devices can access from now on */
	GT_MEMORY_COUNT
};

/* Interpretation of an argument's word, for exporters that write values instead of text. */
enum gt_argument_form {
	GT_FORM_OTHER = 0, /* needs gt_format_arg(): string, array, struct, callback */
	GT_FORM_UNSIGNED,  /* the word is the number (sizes, counts, booleans) */
	GT_FORM_SIGNED,
	GT_FORM_ADDRESS, /* handle or address: hexadecimal */
	/* enum or flags: the text depends on the word alone, so it can be cached */
	GT_FORM_NAMED,
};

/* Way in which a call describes the program's own activity. */
enum gt_range_mark {
	GT_MARK_NONE = 0,
	GT_MARK_INSTANT,
	GT_MARK_PUSH,
	GT_MARK_POP,
	GT_MARK_START,
	GT_MARK_STOP,
	/* the call is the range: recorded at its end, after the calls inside; ret: number of the
	 * last call that started in the range */
	GT_MARK_RANGE
};

/* GPU activities that have completed when the call returns. */
enum gt_finished {
	GT_FINISHED_NOTHING = 0,
	GT_FINISHED_QUEUE, /* activities of the queue in the argument of role STREAM */
	/* activities of all queues of the process for the domain's GPU activities */
	GT_FINISHED_ALL,
	/* activities of the events in the argument of role EVENT */
	GT_FINISHED_EVENTS,
	GT_FINISHED_STREAM /* activities of earlier calls on the queue in the argument of role
	 * STREAM */
};

/* Dependencies between the processes that make a collective call: which process waits for which
 * other. */
enum gt_collective {
	GT_COLLECTIVE_NONE = 0,
	GT_COLLECTIVE_ALL,       /* no process returns before the last process has called */
	GT_COLLECTIVE_FROM_ROOT, /* no process returns before the root has called */
	GT_COLLECTIVE_TO_ROOT,   /* the root does not return before the last process has called */
	/* depends on the call's arguments, or the call only starts the operation */
	GT_COLLECTIVE_ANY,
};

/* Other relations of a call to calls in the same or another process, as bits. */
enum gt_joint {
	GT_JOINT_SENDS = 1, /* sends a message to the process of role PEER */
	GT_JOINT_RECEIVES = 2,
	GT_JOINT_BY_KERNEL = 4, /* a kernel, not the call, executes the operation and waits */
	/* calls are deferred until the batch is closed, then executed as one */
	GT_JOINT_OPENS_BATCH = 8,
	GT_JOINT_CLOSES_BATCH = 16,
	GT_JOINT_BEGINS = 32, /* only starts the operation, for the argument of role REQUEST */
	/* waits for the operations of the argument of role REQUEST; with BEGINS: the program may
	 * start these operations never, or several times */
	GT_JOINT_COMPLETES = 64,
};

/* Meaning of an argument, or of a member of its pointee, for its operation. */
enum gt_role {
	GT_ROLE_NONE = 0,
	GT_ROLE_FUNCTION, /* device function, or the host function that represents it */
	/* number of blocks (in some domains, of work-items): one struct of three, or three
	 * arguments x y z */
	GT_ROLE_GRID,
	GT_ROLE_BLOCK,
	GT_ROLE_STREAM,
	GT_ROLE_EVENT,
	GT_ROLE_GRAPH,
	GT_ROLE_GRAPHEXEC,
	GT_ROLE_SOURCE,
	GT_ROLE_DESTINATION,
	/* bytes moved, set or allocated: the product of all arguments of role BYTES or TIMES,
	 * gt_call_bytes() */
	GT_ROLE_BYTES,
	GT_ROLE_TIMES,     /* rows, slices */
	GT_ROLE_ADDRESS,   /* address allocated or freed */
	GT_ROLE_DIRECTION, /* direction of a copy */
	GT_ROLE_DEVICE,
	GT_ROLE_VALUE,        /* value that memory is set to */
	GT_ROLE_MESSAGE,      /* text of a mark or a range */
	GT_ROLE_RANGE,        /* number that the start and the stop of a range share */
	GT_ROLE_BLOCKS,       /* nonzero: the call returns after its GPU activity has completed */
	GT_ROLE_DEPENDENCIES, /* number of events that the call's GPU activity waits for */
	/* name of the kernel that the argument of role FUNCTION refers to */
	GT_ROLE_SYMBOL,
	GT_ROLE_SIGNALS, /* event that refers to the call's GPU activity from this call on */
	/* number of the range that contains the call (gt_domain_traits.relayed) */
	GT_ROLE_WITHIN,
	/* details of a range or a mark (struct gt_range_detail) */
	GT_ROLE_SEQUENCE,
	GT_ROLE_SHAPES,
	GT_ROLE_SCOPE, /* NVTX domain: a text */
	GT_ROLE_CATEGORY,
	GT_ROLE_COLOUR, /* ARGB; 0: none */
	GT_ROLE_PAYLOAD,
	/* roles in calls that the processes of a job make together */
	GT_ROLE_COMMUNICATOR,
	GT_ROLE_CREATES, /* communicator that the call creates */
	GT_ROLE_SPLIT,   /* processes that pass the same value get the same communicator */
	GT_ROLE_ROOT,
	GT_ROLE_PEER,
	GT_ROLE_RANK, /* rank in a communicator of SIZE processes */
	GT_ROLE_SIZE,
	GT_ROLE_TAG,     /* tag of a message */
	GT_ROLE_REQUEST, /* request that a later call waits for; TIMES: number of requests */
	/* index of the request that is done when the call returns; without this role, all are
	 * done */
	GT_ROLE_WHICH,
	GT_ROLE_COUNT
};

struct gt_argument_info {
	const char *name, *type; /* as in the prototype */
	/* enum gt_argument_form of the recorded value; for `out` arguments of the value pointed
	 * to */
	uint8_t form;
	uint8_t name_bytes;
	uint8_t how, value_type, length_arg; /* for gt_format_arg(): record/describe.h */
	/* output arrays: argument that points to the number of returned elements, if not NULL; 255:
	 * none */
	uint8_t came_arg;
	bool out;        /* true if the call writes to the pointee */
	uint8_t role;    /* enum gt_role */
	uint8_t scale;   /* role BYTES: size of each unit in bytes */
	uint8_t bytes;   /* size of the value as passed */
	uint8_t stars;   /* pointers to follow until ... */
	uint8_t base;    /* ... this type of the domain (record/describe.h; 1: void or char) */
	uint16_t offset; /* offset in a C struct of all arguments of the operation */
};

enum { GT_STREAM_IN_STRUCT = -2 };

struct gt_operation_info {
	const char *name;
	uint32_t op; /* GT_OP() */
	uint8_t nargs;
	uint8_t kind; /* enum gt_operation_kind */
	uint8_t mark; /* enum gt_range_mark */
	/* argument with the status; -1: the return value is the status; -2: none */
	int8_t status_arg;
	bool in_table; /* true if the function is in the table; false: extension function */
	/* true if the device has completed the call's request when the call returns */
	bool waits;
	uint8_t finished;  /* enum gt_finished */
	const char *group; /* for `gputap list`: queue, kernel, memory, ... */
	const struct gt_argument_info *args;
	int16_t signals_arg; /* argument of role SIGNALS; -1: none */
	/* argument of role STREAM; -1: none. Set for calls that enqueue GPU activities, record an
	 * event, or wait for the stream, in a domain with waits for streams (GT_FINISHED_STREAM).
	 * GT_STREAM_IN_STRUCT: gt_call_role() finds the stream */
	int16_t stream_arg;
	uint8_t memory;     /* enum gt_memory: kind of memory that the call allocates or frees */
	uint8_t collective; /* enum gt_collective */
	uint8_t joints;     /* enum gt_joint */
	/* true if the call is collective, has joints, creates a communicator, or sets the rank in
	 * one */
	bool joins;
};

const char *gt_domain_name(enum gt_domain domain); /* "unknown" for an invalid domain */
enum gt_domain gt_domain_find(const char *name);   /* GT_DOMAIN_NONE: no such name */
/* Return one bit for each domain that a word of @bytes bytes selects: the name of a domain or of a
 * family. */
uint64_t gt_domains_find(const char *word, size_t bytes);

/* Return the count of operation numbers. Numbers start at 0; gt_operation() returns NULL for
 * gaps. */
size_t gt_operation_count(enum gt_domain domain);
/* Return NULL for an unknown number (from a newer gputap's capture, or retired). */
const struct gt_operation_info *gt_operation(uint32_t op);
const struct gt_operation_info *gt_operation_find(enum gt_domain domain, const char *name);
/**
 * gt_operation_named() - find the operation that a call of a `relayed` domain names
 * @op:   operation in the record
 * @name: name in the record
 * Return: GT_OP() with a number for that name in this process, from GT_NAMED_FROM on, which
 *         gt_operation() accepts; @op if out of memory or if too many names exist.
 * Thread: any.
 */
uint32_t gt_operation_named(uint32_t op, const char *name, size_t bytes);
enum { GT_NAMED_FROM = 0x8000 };
/* Return the name, or "opencl#187" for an unknown operation (per-thread buffer). Never NULL. */
const char *gt_operation_name(uint32_t op);
/* Return the name of a described operation, "" for any other; constant memory. Looks the name up in
 * a few steps, without unpacking the domain's description, so the injected library may call this
 * with the dynamic linker's lock held. */
const char *gt_operation_text(uint32_t op);
const char *gt_operation_kind_name(enum gt_operation_kind kind);
const char *gt_memory_name(enum gt_memory memory); /* "host", "device", ... */

/* Get the status of the call; gt_status_failed() interprets it. Return false if the operation has
 * no status or the status was not recorded. */
bool gt_call_status(uint32_t op, uint64_t ret, const uint64_t *args, int32_t *status);
bool gt_status_failed(enum gt_domain domain, int32_t status);
/* Return true if the status means that the runtime does not support a feature, or that an object
 * already is in the requested state. Programs make such calls to find out. */
bool gt_status_refused(enum gt_domain domain, int32_t status);
/* Return a name such as "CL_INVALID_VALUE", or NULL if the name is unknown. */
const char *gt_status_name(enum gt_domain domain, int32_t status);
const char *gt_device_op_name(enum gt_device_op op);      /* "kernel", "memcpy D2H", .... */
const char *gt_drop_reason_name(enum gt_drop_reason why); /* "ring full", ... */
const char *gt_event_code_name(enum gt_event_code code);

/**
 * gt_format_args() - format arguments as text: "queue=0x55d0c8, flags=CL_MEM_READ_ONLY|..."
 * @separator: text between arguments, ", " or " | "
 * Return: length of the whole text, like snprintf(). The text is always terminated when size > 0.
 */
size_t gt_format_args(char *buffer, size_t size, uint32_t op, uint64_t ret, const uint64_t *args,
		      const uint8_t *payload, uint32_t payload_bytes, const char *separator);
/* Format the value of one argument. */
size_t gt_format_arg(char *buffer, size_t size, uint32_t op, unsigned arg, const uint64_t *args,
		     const uint8_t *payload, uint32_t payload_bytes);

/* Arguments and payload of a recorded call, as in its record or item. */
struct gt_call_view {
	uint32_t op;
	const uint64_t *args;
	const uint8_t *payload;
	uint32_t payload_bytes;
};

/**
 * gt_call_role() - get the value of the call that has a role
 * @index: index among several values with this role, such as the three of a grid that are separate
 *         arguments; members count separately
 * Return: false if the operation has no such value, the value was not recorded, or it is an array.
 */
bool gt_call_role(const struct gt_call_view *call, enum gt_role role, unsigned index,
		  uint64_t *value);
/**
 * gt_call_elements() - get the elements of the array that has a role, handles or numbers
 * @most: room in @values
 * Return: false if the operation has no such array, the array was not recorded completely, or it
 *         has more than @most elements.
 */
bool gt_call_elements(const struct gt_call_view *call, enum gt_role role, uint64_t *values,
		      size_t most, size_t *count);
/* Completion of a copy at the call's return: always, or only if the argument of role BLOCKS is
 * set. */
enum gt_blocking { GT_BLOCKING_UNKNOWN, GT_BLOCKING_NO, GT_BLOCKING_YES };
enum gt_blocking gt_call_blocking(uint32_t op, const uint64_t *args);
/* Get the data that the runtime reported about the call. Return false if gputap did not query the
 * runtime about the call. */
bool gt_call_facts(const struct gt_call_view *call, struct gt_facts *facts);
/* Get the number of bytes that the call moves, sets or allocates: as requested, else as reported by
 * the runtime. Return false if unknown. */
bool gt_call_bytes(const struct gt_call_view *call, uint64_t *bytes);
/**
 * gt_call_address() - get the address that a call has allocated or freed
 * @ret: return value of the call
 * Return: false if the call allocates and frees nothing, or the address is NULL.
 */
bool gt_call_address(const struct gt_call_view *call, uint64_t ret, uint64_t *address);

#endif
