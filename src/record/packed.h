/* SPDX-License-Identifier: MIT */
/* Layout of the generated tables (generated/<domain>_info.inc). The tables contain no pointers, so
 * that they do not increase the load time of the injected library (12,000 relocations and their
 * pages made `true` 0.17 ms slower). packed.c unpacks a domain into the form of describe.h on first
 * use. */
#ifndef GPUTAP_RECORD_PACKED_H
#define GPUTAP_RECORD_PACKED_H

#include "record/describe.h"

/* Each text is an offset into the domain's texts. */
struct gt_packed_value {
	int64_t value;
	uint32_t name;
	uint8_t bytes, value_type;
};

struct gt_packed_field {
	uint32_t name;
	uint16_t offset;
	uint8_t bytes, type, role;
};

struct gt_packed_type {
	uint32_t name;
	uint16_t bytes;
	uint8_t class;
	uint16_t first_value, value_count, first_field, field_count;
};

struct gt_packed_argument {
	uint32_t name, type;
	uint16_t offset;
	uint8_t form, name_bytes, how, value_type, length_arg, came_arg, role, scale, bytes, stars,
		base;
	bool out;
};

struct gt_packed_operation {
	uint32_t name, group, op;
	uint16_t first_argument;
	uint8_t kind, memory, mark;
	int8_t status_arg;
	bool in_table, waits;
	uint8_t finished;
	uint16_t collective; /* enum gt_collective | enum gt_joint << 8 */
};

struct gt_packed_domain {
	const char *texts;
	const struct gt_packed_value *values;
	const struct gt_packed_field *fields;
	const struct gt_packed_type *types;
	const struct gt_packed_argument *arguments;
	const struct gt_packed_operation *operations;
	uint16_t value_count, field_count, type_count, argument_count, operation_count;
	uint16_t numbers; /* highest operation number + 1 */
	uint16_t status_type;
	const int32_t *successes;
	unsigned success_count;
	const int32_t *refusals;
	unsigned refusal_count;
};

/* Return the unpacked description, or NULL if out of memory. Never freed. */
const struct gt_domain_description *gt_unpack(const struct gt_packed_domain *packed);

#endif
