/* SPDX-License-Identifier: MIT */
/* What is known about every operation of every domain, for those who read records, and for
 * tools: names, arguments, which value is the status, how to print. Generated from
 * api/<domain>.api (see gen/). The injected library has it too, for tools. */
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
	GT_KIND_RETAIN, /* what is allocated lives until it is freed once more */
	GT_KIND_COUNT
};

/* Where memory lies that a call allocates. */
enum gt_memory {
	GT_MEMORY_UNKNOWN = 0,
	GT_MEMORY_HOST, /* which devices can reach */
	GT_MEMORY_DEVICE,
	GT_MEMORY_SHARED,  /* moves between host and device */
	GT_MEMORY_VIRTUAL, /* addresses only */
	GT_MEMORY_IMAGE,
	GT_MEMORY_POOL,       /* device's, out of a pool, in a stream's order */
	GT_MEMORY_REGISTERED, /* of the host, the program's own: devices can reach it from now on */
	GT_MEMORY_COUNT
};

/* How an argument's word reads, for exporters that write values and not text. */
enum gt_argument_form {
	GT_FORM_OTHER = 0, /* only gt_format_arg() knows: string, array, struct, callback */
	GT_FORM_UNSIGNED,  /* the word is the number (sizes, counts, booleans) */
	GT_FORM_SIGNED,
	GT_FORM_ADDRESS, /* handle or address: hexadecimal */
	/* enum or flags: the text depends on the word alone, so it can be kept */
	GT_FORM_NAMED,
};

/* What a call says of the program itself. */
enum gt_range_mark {
	GT_MARK_NONE = 0,
	GT_MARK_INSTANT,
	GT_MARK_PUSH,
	GT_MARK_POP,
	GT_MARK_START,
	GT_MARK_STOP,
	/* the call is the range, recorded at its end: behind what was inside; ret: number of
	 * the last call that was begun in it */
	GT_MARK_RANGE
};

/* What has no work left when the call returns. */
enum gt_finished {
	GT_FINISHED_NOTHING = 0,
	GT_FINISHED_QUEUE,  /* the one of the call's argument of role STREAM */
	GT_FINISHED_ALL,    /* all queues of the process that the domain's work is on */
	GT_FINISHED_EVENTS, /* the work that those of the call's argument of role EVENT stand for */
	GT_FINISHED_STREAM /* the work of earlier calls on the one of its argument of role STREAM */
};

/* Who waits for whom in a call that all processes of a communicator make. */
enum gt_collective {
	GT_COLLECTIVE_NONE = 0,
	GT_COLLECTIVE_ALL,       /* nobody returns before the last one has called */
	GT_COLLECTIVE_FROM_ROOT, /* nobody returns before the root has called */
	GT_COLLECTIVE_TO_ROOT,   /* the root does not return before the last one has called */
	GT_COLLECTIVE_ANY,       /* that depends, or the call only begins it */
};

/* What else a call is to other calls, of its process or of others: bits. */
enum gt_joint {
	GT_JOINT_SENDS = 1, /* a message to the process of role PEER */
	GT_JOINT_RECEIVES = 2,
	GT_JOINT_BY_KERNEL = 4,   /* a kernel does it: there is waited, not in the call */
	GT_JOINT_OPENS_BATCH = 8, /* what is called until it is closed is done then, as one */
	GT_JOINT_CLOSES_BATCH = 16,
	GT_JOINT_BEGINS = 32, /* the call begins it only, for its argument of role REQUEST */
	/* it waits for what those of role REQUEST stand for; with BEGINS: that may be begun never,
	 * or several times */
	GT_JOINT_COMPLETES = 64,
};

/* What an argument, or a member of what it points to, is to its operation. */
enum gt_role {
	GT_ROLE_NONE = 0,
	GT_ROLE_FUNCTION, /* device function, or the host's stand-in for it */
	/* blocks (work-items for some): one struct of three, or three arguments x y z */
	GT_ROLE_GRID,
	GT_ROLE_BLOCK,
	GT_ROLE_STREAM,
	GT_ROLE_EVENT,
	GT_ROLE_GRAPH,
	GT_ROLE_GRAPHEXEC,
	GT_ROLE_SOURCE,
	GT_ROLE_DESTINATION,
	/* moved, set or allocated: all of this role and of TIMES multiplied, gt_call_bytes() */
	GT_ROLE_BYTES,
	GT_ROLE_TIMES,     /* rows, slices */
	GT_ROLE_ADDRESS,   /* allocated or freed */
	GT_ROLE_DIRECTION, /* of a copy */
	GT_ROLE_DEVICE,
	GT_ROLE_VALUE,        /* that memory is set to */
	GT_ROLE_MESSAGE,      /* of a mark or a range: a text */
	GT_ROLE_RANGE,        /* the number that the start and the stop of a range have in common */
	GT_ROLE_BLOCKS,       /* not 0: the call returns when its work is done */
	GT_ROLE_DEPENDENCIES, /* how many events the call's work waits for */
	/* the call says that the one of role FUNCTION stands for the kernel of this name */
	GT_ROLE_SYMBOL,
	GT_ROLE_SIGNALS, /* the event that stands for the call's work from this call on */
	/* number of the range that the call was made in (gt_domain_traits.relayed) */
	GT_ROLE_WITHIN,
	/* what a range or a mark says beside its message (struct gt_range_detail) */
	GT_ROLE_SEQUENCE,
	GT_ROLE_SHAPES,
	GT_ROLE_SCOPE, /* NVTX's domain: a text */
	GT_ROLE_CATEGORY,
	GT_ROLE_COLOUR, /* ARGB; 0: none */
	GT_ROLE_PAYLOAD,
	/* of calls that the processes of a job make together */
	GT_ROLE_COMMUNICATOR,
	GT_ROLE_CREATES, /* the communicator that the call makes */
	GT_ROLE_SPLIT,   /* processes that give the same get the same communicator */
	GT_ROLE_ROOT,
	GT_ROLE_PEER,
	GT_ROLE_RANK, /* in a communicator, whose processes are SIZE */
	GT_ROLE_SIZE,
	GT_ROLE_TAG,     /* of a message */
	GT_ROLE_REQUEST, /* where that is by which a later call waits; TIMES: of so many */
	GT_ROLE_WHICH,   /* of them is done when the call returns: its index; else all are */
	GT_ROLE_COUNT
};

struct gt_argument_info {
	const char *name, *type; /* as in the prototype */
	/* enum gt_argument_form; of what was recorded: for `out` arguments the value pointed to */
	uint8_t form;
	uint8_t name_bytes;
	uint8_t how, value_type, length_arg; /* for gt_format_arg(): record/describe.h */
	/* arrays that are written: points to how many came, if it is not NULL; 255: none does */
	uint8_t came_arg;
	bool out;        /* the call writes what it points to */
	uint8_t role;    /* enum gt_role */
	uint8_t scale;   /* role BYTES: bytes of each */
	uint8_t bytes;   /* of the value, as it is passed */
	uint8_t stars;   /* pointers to follow until there is a.. */
	uint8_t base;    /* .. type of the domain's (record/describe.h; 1: void or char) */
	uint16_t offset; /* in a C struct of all the operation's arguments */
};

enum { GT_STREAM_IN_STRUCT = -2 };

struct gt_operation_info {
	const char *name;
	uint32_t op; /* GT_OP() */
	uint8_t nargs;
	uint8_t kind; /* enum gt_operation_kind */
	uint8_t mark; /* enum gt_range_mark */
	/* argument that holds the status; -1: the return value is it; -2: there is none */
	int8_t status_arg;
	bool in_table;     /* false: extension function */
	bool waits;        /* when it returns, the device has done what it asked for */
	uint8_t finished;  /* enum gt_finished */
	const char *group; /* for `gputap list`: queue, kernel, memory, .. */
	const struct gt_argument_info *args;
	int16_t signals_arg; /* argument of role SIGNALS; -1: none */
	/* argument of role STREAM of calls that give it work, record an event on it, or wait until
	 * its work is done, in a domain that has such waits (GT_FINISHED_STREAM); -1: none;
	 * GT_STREAM_IN_STRUCT: gt_call_role() finds it */
	int16_t stream_arg;
	uint8_t memory;     /* enum gt_memory: what an allocation allocates, or a free frees */
	uint8_t collective; /* enum gt_collective */
	uint8_t joints;     /* enum gt_joint */
	bool joins; /* it is one, has joints, or makes a communicator or says the rank in one */
};

const char *gt_domain_name(enum gt_domain domain); /* "unknown" for others */
enum gt_domain gt_domain_find(const char *name);   /* GT_DOMAIN_NONE: no such name */
/* Bit per domain that users mean by a word of so many bytes: a domain's name or its family's. */
uint32_t gt_domains_find(const char *word, size_t bytes);

/* numbers are 0 .. count-1, without holes that matter: see below */
size_t gt_operation_count(enum gt_domain domain);
/* NULL for a number that is not known (a newer gputap's capture, or a retired number). */
const struct gt_operation_info *gt_operation(uint32_t op);
const struct gt_operation_info *gt_operation_find(enum gt_domain domain, const char *name);
/**
 * gt_operation_named() - the operation that a call of a domain is which is `relayed`
 * @op:   as it was recorded
 * @name: what it was called
 * Return: GT_OP() with a number of this process's for that name, from GT_NAMED_FROM, which
 * gt_operation() knows; @op itself if there is no memory, or are too many names.
 * Thread: any.
 */
uint32_t gt_operation_named(uint32_t op, const char *name, size_t bytes);
enum { GT_NAMED_FROM = 0x8000 };
/* Never NULL: the name, or "opencl#187" for unknown ones (per-thread buffer). */
const char *gt_operation_name(uint32_t op);
const char *gt_operation_kind_name(enum gt_operation_kind kind);
const char *gt_memory_name(enum gt_memory memory); /* "host", "device", .. */

/* The call's status: gt_status_failed() says what it means. False when the operation has none or
 * it was not recorded. */
bool gt_call_status(uint32_t op, uint64_t ret, const uint64_t *args, int32_t *status);
bool gt_status_failed(enum gt_domain domain, int32_t status);
/* A failure by which a runtime says that it does not support something, or that it is so already:
 * programs call in order to learn that. */
bool gt_status_refused(enum gt_domain domain, int32_t status);
/* "CL_INVALID_VALUE"; NULL: no name known. */
const char *gt_status_name(enum gt_domain domain, int32_t status);
const char *gt_device_op_name(enum gt_device_op op);      /* "kernel", "read", .. */
const char *gt_drop_reason_name(enum gt_drop_reason why); /* "ring full", .. */
const char *gt_event_code_name(enum gt_event_code code);

/**
 * gt_format_args() - arguments as text: "queue=0x55d0c8, flags=CL_MEM_READ_ONLY|.., .."
 * @separator: between arguments, ", " or " | "
 * Return: length that the text has, as snprintf(); it is always terminated when size > 0.
 */
size_t gt_format_args(char *buffer, size_t size, uint32_t op, uint64_t ret, const uint64_t *args,
		      const uint8_t *payload, uint32_t payload_bytes, const char *separator);
/* One argument's value alone. */
size_t gt_format_arg(char *buffer, size_t size, uint32_t op, unsigned arg, const uint64_t *args,
		     const uint8_t *payload, uint32_t payload_bytes);

/* A recorded call's arguments and their payload, as its record or item has them. */
struct gt_call_view {
	uint32_t op;
	const uint64_t *args;
	const uint8_t *payload;
	uint32_t payload_bytes;
};

/**
 * gt_call_role() - the value of that role
 * @index: which one of several, as for the three of a grid that are arguments of their own; members
 *         count one by one
 * Return: false: the operation has none (so many), it was not recorded, or it is an array.
 */
bool gt_call_role(const struct gt_call_view *call, enum gt_role role, unsigned index,
		  uint64_t *value);
/**
 * gt_call_elements() - the elements of the array of that role, handles or numbers
 * @most: room in @values
 * Return: false: the operation has no such array, it was not recorded, or not all of it, or there
 * are more.
 */
bool gt_call_elements(const struct gt_call_view *call, enum gt_role role, uint64_t *values,
		      size_t most, size_t *count);
/* Does a copy return when it is done? It always does, or its argument of role BLOCKS says so. */
enum gt_blocking { GT_BLOCKING_UNKNOWN, GT_BLOCKING_NO, GT_BLOCKING_YES };
enum gt_blocking gt_call_blocking(uint32_t op, const uint64_t *args);
/* What the runtime said of the call. False: it was not asked. */
bool gt_call_facts(const struct gt_call_view *call, struct gt_facts *facts);
/* Bytes that the call moves, sets or allocates, as it asks for them, or else as the runtime said.
 * False: not known. */
bool gt_call_bytes(const struct gt_call_view *call, uint64_t *bytes);
/**
 * gt_call_address() - what a call has allocated or freed
 * @ret: what it returned
 * Return: false: it allocates and frees nothing, or does not say what, as a free of NULL.
 */
bool gt_call_address(const struct gt_call_view *call, uint64_t ret, uint64_t *address);

#endif
