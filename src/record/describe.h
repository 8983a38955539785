/* SPDX-License-Identifier: MIT */
/* The unpacked description of a domain (packed.h). Only this folder, tool/tool_args.c and
 * runtime/announced.c may include this header. */
#ifndef GPUTAP_RECORD_DESCRIBE_H
#define GPUTAP_RECORD_DESCRIBE_H

#include "record/operation.h"

enum gt_type_class {
	GT_TYPE_UNSIGNED,
	GT_TYPE_SIGNED,
	GT_TYPE_ADDRESS,
	GT_TYPE_FLOAT, /* 32-bit IEEE 754 */
	GT_TYPE_ENUM,
	GT_TYPE_FLAGS,
	GT_TYPE_STRUCT,
	GT_TYPE_PROPERTIES, /* key of a 0-terminated list of keys and values */
	GT_TYPE_CLASS = 0x0f,
	GT_TYPE_IS_SIGNED = 0x10, /* an enum of a signed type */
};

struct gt_value_name {
	int64_t value;
	const char *name;
	uint8_t bytes;
	uint8_t value_type; /* property: type of the value that follows this key */
};

struct gt_field {
	const char *name;
	uint8_t bytes, type;
	uint16_t offset;
	uint8_t role; /* enum gt_role */
};

struct gt_type {
	const char *name;
	uint8_t class; /* enum gt_type_class */
	uint16_t bytes;
	const struct gt_value_name *names; /* sorted, ascending */
	uint16_t name_count;
	const struct gt_field *fields;
	uint16_t field_count;
};

/* How gt_argument_info.how interprets the word and payload of an argument. */
enum gt_argument_how {
	GT_HOW_VALUE, /* the word is the whole value */
	GT_HOW_STRING,
	/* first argument of an array of strings; length_arg: number of strings in the array */
	GT_HOW_STRINGS,
	GT_HOW_ARRAY,
	GT_HOW_LIST,  /* 0-terminated array of words */
	GT_HOW_BYTES, /* memory of unknown type */
	GT_HOW_STRUCT,
	GT_HOW_PROPERTIES,
	GT_HOW_NAMED, /* a value that may have a text with its name */
};

struct gt_domain_description {
	/* indexed by operation number; name NULL: unused number */
	const struct gt_operation_info *operations;
	size_t operation_count;
	const struct gt_type *types; /* 0: any address, 1: any byte */
	unsigned status_type;        /* 0: the domain has no status */
	const int32_t *successes;    /* statuses of success; NULL: 0 and above */
	unsigned success_count;
	const int32_t *refusals; /* statuses that refuse a feature that a program tests for */
	unsigned refusal_count;
};

/* Return a domain's description, or NULL if the domain has none. */
const struct gt_domain_description *gt_domain_description(enum gt_domain domain);
/* Find the name of a value, or return NULL if it has none. */
const struct gt_value_name *gt_value_name(const struct gt_type *type, int64_t value);

/* Find the payload of an argument in a record's payload of @bytes, and copy its head. Return NULL
 * if the argument has no payload or the payload is damaged. */
const uint8_t *gt_payload_find(const uint8_t *payload, uint32_t bytes, unsigned arg,
			       struct gt_payload *head);
/* Format one value in memory, or a string of a call, as it would appear in a call. Otherwise like
 * gt_format_arg(). */
size_t gt_format_value(char *buffer, size_t size, const struct gt_domain_description *d,
		       const struct gt_type *type, const uint8_t *p, size_t bytes);
size_t gt_format_string(char *buffer, size_t size, const char *string, size_t bytes, bool cut);
/* Load a value of the type from memory, extended to a word. */
uint64_t gt_value_load(const struct gt_type *type, const uint8_t *p);

#endif
