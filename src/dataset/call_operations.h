/* SPDX-License-Identifier: MIT */
/* Properties of operations that the columns of calls need, looked up once for each operation of a
 * stream. */
#ifndef GPUTAP_DATASET_CALL_OPERATIONS_H
#define GPUTAP_DATASET_CALL_OPERATIONS_H

#include "dataset/table_reader.h"
#include "record/operation.h"

enum { FACTORS_MOST = 4 };

/* How a value of a call is found from its arguments. */
enum value_source {
	VALUE_NONE,     /* no argument has the role */
	VALUE_ARGUMENT, /* one argument is the value */
	VALUE_SEARCH    /* a member of a struct, a product, ..: gt_call_role() or gt_call_bytes() */
};

struct value_plan {
	uint8_t source; /* enum value_source */
	uint8_t argument;
};

enum { VALUE_BYTES, VALUE_ADDRESS, VALUE_STREAM, VALUE_EVENT, VALUE_COUNT };

struct operation {
	const struct gt_operation_info *info; /* NULL: unknown */
	int32_t domain, name, kind;           /* texts of the reader's dictionaries */
	struct value_plan values[VALUE_COUNT];
	enum gt_blocking blocking; /* GT_BLOCKING_UNKNOWN: depends on the call */
};

/* Operations of a reader. Empty if zero-initialised. */
struct operations {
	struct operation **of_domain[GT_DOMAIN_COUNT]; /* index: operation number */
	uint32_t count[GT_DOMAIN_COUNT];
};

const struct operation *operations_add(struct operations *o, struct reader *r, uint32_t op);
/* Return the entry of an operation. If memory runs out, memory_ran_out(). */
static inline const struct operation *operations_find(struct operations *o, struct reader *r,
						      uint32_t op)
{
	const uint32_t domain = GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT, number = GT_OP_NUMBER(op);

	if (__builtin_expect(number < o->count[domain] && o->of_domain[domain][number], 1))
		return o->of_domain[domain][number];
	return operations_add(o, r, op);
}
void operations_fini(struct operations *o);

#endif
