/* SPDX-License-Identifier: MIT */
/* See call_operations.h. */
#include "dataset/call_operations.h"

#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "record/describe.h"

static const enum gt_role roles[VALUE_COUNT] = {
	[VALUE_BYTES] = GT_ROLE_BYTES,
	[VALUE_ADDRESS] = GT_ROLE_ADDRESS,
	[VALUE_STREAM] = GT_ROLE_STREAM,
	[VALUE_EVENT] = GT_ROLE_EVENT,
};

/* Return true if the argument's word is not the whole value. */
static bool needs_search(const struct gt_argument_info *a, enum gt_role role)
{
	return a->how == GT_HOW_STRUCT ||
	       (role == GT_ROLE_BYTES && (a->role == GT_ROLE_TIMES || a->scale != 1));
}

static struct value_plan make_plan(const struct gt_operation_info *info, enum gt_role role)
{
	struct value_plan plan = {VALUE_NONE, 0};

	/* sizes of allocations may come from the runtime; addresses may be results */
	if (info->kind == GT_KIND_ALLOCATION || info->kind == GT_KIND_FREE ||
	    info->kind == GT_KIND_RETAIN)
		if (role == GT_ROLE_BYTES || role == GT_ROLE_ADDRESS)
			return (struct value_plan){VALUE_SEARCH, 0};
	for (uint8_t i = 0; i < info->nargs; i++) {
		const struct gt_argument_info *a = &info->args[i];
		const bool matches = a->role == role ||
				     (role == GT_ROLE_BYTES && a->role == GT_ROLE_TIMES) ||
				     a->how == GT_HOW_STRUCT;

		if (!matches || a->how == GT_HOW_ARRAY)
			continue;
		if (plan.source != VALUE_NONE && role != GT_ROLE_BYTES)
			continue; /* the first value counts */
		plan = plan.source == VALUE_NONE && !needs_search(a, role)
			       ? (struct value_plan){VALUE_ARGUMENT, i}
			       : (struct value_plan){VALUE_SEARCH, 0};
	}
	return plan;
}

static void describe_operation(struct operation *o, struct reader *r, uint32_t op)
{
	*o = (struct operation){
		.info = gt_operation(op),
		.domain = reader_text(r, DICTIONARY_DOMAIN,
				      gt_domain_name((enum gt_domain)GT_OP_DOMAIN(op))),
		.name = reader_text(r, DICTIONARY_OPERATION, gt_operation_name(op)),
		.blocking = GT_BLOCKING_NO,
	};
	o->kind = reader_text(r, DICTIONARY_KIND,
			      gt_operation_kind_name(o->info ? (enum gt_operation_kind)o->info->kind
							     : GT_KIND_OTHER));
	if (!o->info)
		return;
	for (unsigned v = 0; v < VALUE_COUNT; v++)
		o->values[v] = make_plan(o->info, roles[v]);
	o->blocking = o->info->waits                  ? GT_BLOCKING_YES
		      : o->info->kind == GT_KIND_COPY ? gt_call_blocking(op, NULL)
						      : GT_BLOCKING_NO;
}

const struct operation *operations_add(struct operations *o, struct reader *r, uint32_t op)
{
	const uint32_t domain = GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT, number = GT_OP_NUMBER(op);
	struct operation *new;

	if (number >= o->count[domain]) {
		uint32_t most = (uint32_t)gt_operation_count((enum gt_domain)domain);

		most = number < most ? most : number + 1;
		o->of_domain[domain] = resize_list(o->of_domain[domain], o->count[domain], most,
						   sizeof *o->of_domain[domain]);
		o->count[domain] = most;
	}
	new = malloc(sizeof *new);
	if (!new)
		memory_ran_out();
	describe_operation(new, r, op);
	return o->of_domain[domain][number] = new;
}

void operations_fini(struct operations *o)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
		for (uint32_t i = 0; i < o->count[d]; i++)
			free(o->of_domain[d][i]);
		free(o->of_domain[d]);
	}
}
