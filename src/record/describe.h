/* SPDX-License-Identifier: MIT */
/* What is known about a domain, unpacked (packed.h). For this folder, tool/tool_args.c and
 * runtime/announced.c only. */
#ifndef GPUTAP_RECORD_DESCRIBE_H
#define GPUTAP_RECORD_DESCRIBE_H

#include "record/operation.h"

enum gt_type_class {
	GT_TYPE_UNSIGNED,
	GT_TYPE_SIGNED,
	GT_TYPE_ADDRESS,
	GT_TYPE_FLOAT, /* 32 bits of IEEE 754 */
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
	uint8_t value_type; /* property: type of the value behind this key */
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
	const struct gt_value_name *names; /* by rising value */
	uint16_t name_count;
	const struct gt_field *fields;
	uint16_t field_count;
};

/* What gt_argument_info.how says about an argument's word and payload. */
enum gt_argument_how {
	GT_HOW_VALUE, /* the word is all */
	GT_HOW_STRING,
	GT_HOW_STRINGS, /* the first of an array of strings; length_arg: how many there were */
	GT_HOW_ARRAY,
	GT_HOW_LIST,  /* array of words that ends with 0 */
	GT_HOW_BYTES, /* memory of no known type */
	GT_HOW_STRUCT,
	GT_HOW_PROPERTIES,
	GT_HOW_NAMED, /* a value that may have a text, which says what it is called */
};

struct gt_domain_description {
	const struct gt_operation_info *operations; /* by number; name NULL: no such number */
	size_t operation_count;
	const struct gt_type *types; /* 0: any address, 1: any byte */
	unsigned status_type;        /* 0: the domain has none */
	const int32_t *successes;    /* statuses of success; NULL: 0 and above */
	unsigned success_count;
	const int32_t *refusals; /* statuses that say no to what a program tries out */
	unsigned refusal_count;
};

/* NULL: nothing is known about the domain. */
const struct gt_domain_description *gt_domain_description(enum gt_domain domain);
/* By value; NULL: it has no name. */
const struct gt_value_name *gt_value_name(const struct gt_type *type, int64_t value);

/* The argument's payload among @bytes of a record's, and its head; NULL: there is none, or it is
 * damaged. */
const uint8_t *gt_payload_find(const uint8_t *payload, uint32_t bytes, unsigned arg,
			       struct gt_payload *head);
/* One value in memory, as it would read in a call; a string of a call. As gt_format_arg()
 * otherwise. */
size_t gt_format_value(char *buffer, size_t size, const struct gt_domain_description *d,
		       const struct gt_type *type, const uint8_t *p, size_t bytes);
size_t gt_format_string(char *buffer, size_t size, const char *string, size_t bytes, bool cut);
/* A value of the type as it lies in memory, extended to a word. */
uint64_t gt_value_load(const struct gt_type *type, const uint8_t *p);

#endif
