/* SPDX-License-Identifier: MIT */
/* What is known about every operation of every domain, for those who read records: names, arguments,
 * which value is the status, how to print. Generated from api/<domain>.api (see gen/); not in the injected library. */
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
	GT_KIND_COUNT
};

/* How an argument's word reads, for exporters that write values and not text. */
enum gt_argument_form {
	GT_FORM_OTHER = 0, /* only gt_format_arg() knows: string, array, struct, callback */
	GT_FORM_UNSIGNED,  /* the word is the number (sizes, counts, booleans) */
	GT_FORM_SIGNED,
	GT_FORM_ADDRESS,   /* handle or address: hexadecimal */
	GT_FORM_NAMED,     /* enum or flags: the text depends on the word alone, so it can be kept */
};

struct gt_argument_info {
	const char *name, *type; /* as in the prototype */
	uint8_t form;            /* enum gt_argument_form; of what was recorded: for `out` arguments the value pointed to */
	uint8_t name_bytes;
	uint8_t how, value_type, length_arg; /* for gt_format_arg(): record/describe.h */
};

struct gt_operation_info {
	const char *name;
	uint32_t op;         /* GT_OP() */
	uint8_t nargs;
	uint8_t kind;        /* enum gt_operation_kind */
	int8_t status_arg;   /* argument that holds the status; -1: the return value is it; -2: there is none */
	bool in_table;       /* false: extension function */
	const char *group;   /* for `gputap list`: queue, kernel, memory, .. */
	const struct gt_argument_info *args;
};

const char *gt_domain_name(enum gt_domain domain);  /* "unknown" for others */
const char *gt_domain_text(enum gt_domain domain);
enum gt_domain gt_domain_find(const char *name);    /* GT_DOMAIN_NONE: no such name */

size_t gt_operation_count(enum gt_domain domain);   /* numbers are 0 .. count-1, without holes that matter: see below */
/* NULL for a number that is not known (a newer gputap's capture, or a retired number). */
const struct gt_operation_info *gt_operation(uint32_t op);
const struct gt_operation_info *gt_operation_find(enum gt_domain domain, const char *name);
/* Never NULL: the name, or "opencl#187" for unknown ones (per-thread buffer). */
const char *gt_operation_name(uint32_t op);
const char *gt_operation_kind_name(enum gt_operation_kind kind);

/* The call's status: 0 and above is success. False when the operation has none or it was not recorded. */
bool gt_call_status(uint32_t op, uint64_t ret, const uint64_t *args, int32_t *status);
/* "CL_INVALID_VALUE"; NULL: no name known. */
const char *gt_status_name(enum gt_domain domain, int32_t status);
const char *gt_device_op_name(enum gt_device_op op);     /* "kernel", "read", .. */
const char *gt_drop_reason_name(enum gt_drop_reason why); /* "ring full", .. */
const char *gt_event_code_name(enum gt_event_code code);

/**
 * gt_format_args() - arguments as text: "queue=0x55d0c8, flags=CL_MEM_READ_ONLY|CL_MEM_COPY_HOST_PTR, .."
 * @separator: between arguments, ", " or " | "
 * Return: length that the text has, as snprintf(); it is always terminated when size > 0.
 */
size_t gt_format_args(char *buffer, size_t size, uint32_t op, uint64_t ret, const uint64_t *args, const uint8_t *payload,
		      uint32_t payload_bytes, const char *separator);
/* One argument's value alone. */
size_t gt_format_arg(char *buffer, size_t size, uint32_t op, unsigned arg, const uint64_t *args, const uint8_t *payload,
		     uint32_t payload_bytes);

#endif
