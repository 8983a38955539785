/* SPDX-License-Identifier: MIT */
/* Gets values of a call through the roles of its arguments: bytes, source, destination, stream, ...
 * So exporters need no tables of names. Values come from files, so a value that does not fit its
 * description counts as missing. */
#include <string.h>

#include "record/describe.h"

static const uint8_t *payload_of(const struct gt_call_view *c, unsigned arg, uint32_t *bytes)
{
	struct gt_payload h;
	const uint8_t *p = gt_payload_find(c->payload, c->payload_bytes, arg, &h);

	*bytes = p ? h.bytes : 0;
	return p;
}

/* Get the value of a struct member from the payload of an argument. */
static bool member(const struct gt_domain_description *d, const struct gt_field *f,
		   const uint8_t *p, uint32_t bytes, uint64_t *value)
{
	if (!p || (size_t)f->offset + d->types[f->type].bytes > bytes)
		return false;
	*value = gt_value_load(&d->types[f->type], p + f->offset);
	return true;
}

/* Call @visit for each value of the call that has a role, until @visit returns false. */
static void walk_values(const struct gt_call_view *c,
			bool (*visit)(void *to, enum gt_role role, uint64_t value, unsigned scale),
			void *to)
{
	const struct gt_operation_info *info = gt_operation(c->op);
	const struct gt_domain_description *d =
		gt_domain_description((enum gt_domain)GT_OP_DOMAIN(c->op));
	unsigned nargs = GT_OP_NARGS(c->op);

	for (unsigned i = 0; info && i < info->nargs && i < nargs; i++) {
		const struct gt_argument_info *a = &info->args[i];
		const struct gt_type *type = &d->types[a->value_type];
		uint32_t bytes;
		const uint8_t *p;
		uint64_t value;

		if (a->how == GT_HOW_ARRAY)
			continue; /* see gt_call_elements() */
		if (a->how != GT_HOW_STRUCT) {
			if (a->role && !visit(to, (enum gt_role)a->role, c->args[i], a->scale))
				return;
			continue;
		}
		p = payload_of(c, i, &bytes);
		/* the role of a struct applies to its members without a role */
		for (unsigned n = 0; n < type->field_count; n++) {
			unsigned role = type->fields[n].role ? type->fields[n].role : a->role;

			if (role && member(d, &type->fields[n], p, bytes, &value) &&
			    !visit(to, (enum gt_role)role, value, 1))
				return;
		}
	}
}

struct wanted_role {
	enum gt_role role;
	unsigned index;
	uint64_t value;
	bool found;
};

static bool match_role(void *to, enum gt_role role, uint64_t value, unsigned scale)
{
	struct wanted_role *w = to;

	(void)scale;
	if (role != w->role || w->index-- > 0)
		return true;
	w->value = value;
	w->found = true;
	return false;
}

bool gt_call_role(const struct gt_call_view *call, enum gt_role role, unsigned index,
		  uint64_t *value)
{
	struct wanted_role w = {role, index, 0, false};

	walk_values(call, match_role, &w);
	*value = w.value;
	return w.found;
}

bool gt_call_elements(const struct gt_call_view *call, enum gt_role role, uint64_t *values,
		      size_t most, size_t *count)
{
	const struct gt_operation_info *info = gt_operation(call->op);
	const struct gt_domain_description *d =
		gt_domain_description((enum gt_domain)GT_OP_DOMAIN(call->op));
	unsigned nargs = GT_OP_NARGS(call->op);

	*count = 0;
	for (unsigned i = 0; info && i < info->nargs && i < nargs; i++) {
		const struct gt_argument_info *a = &info->args[i];
		const struct gt_type *type = &d->types[a->value_type];
		uint32_t bytes;
		const uint8_t *p;

		if (a->role != role || a->how != GT_HOW_ARRAY || a->length_arg >= nargs)
			continue;
		p = payload_of(call, i, &bytes);
		if (!p || call->args[a->length_arg] > most ||
		    bytes != call->args[a->length_arg] * type->bytes)
			return false;
		for (; *count < call->args[a->length_arg]; ++*count)
			values[*count] = gt_value_load(type, p + *count * type->bytes);
		return true;
	}
	return false;
}

static bool multiply(void *to, enum gt_role role, uint64_t value, unsigned scale)
{
	struct wanted_role *w = to;

	if (role == GT_ROLE_BYTES || role == GT_ROLE_TIMES) {
		if (__builtin_mul_overflow(w->value, value, &w->value) ||
		    __builtin_mul_overflow(w->value, scale, &w->value))
			w->value = UINT64_MAX;
		w->found |= role == GT_ROLE_BYTES;
	}
	return true;
}

bool gt_call_facts(const struct gt_call_view *call, struct gt_facts *facts)
{
	uint32_t bytes;
	const uint8_t *p = payload_of(call, GT_PAYLOAD_FACTS, &bytes);

	*facts = GT_NO_FACTS;
	if (!p || bytes != sizeof *facts)
		return false;
	memcpy(facts, p, sizeof *facts);
	return true;
}

bool gt_call_bytes(const struct gt_call_view *call, uint64_t *bytes)
{
	struct wanted_role w = {GT_ROLE_BYTES, 0, 1, false};
	struct gt_facts facts;

	walk_values(call, multiply, &w);
	if (!w.found && gt_call_facts(call, &facts) && facts.bytes != UINT64_MAX) {
		w.found = true;
		if (__builtin_mul_overflow(w.value, facts.bytes, &w.value))
			w.value = UINT64_MAX;
	}
	*bytes = w.found ? w.value : 0;
	return w.found;
}

bool gt_call_address(const struct gt_call_view *call, uint64_t ret, uint64_t *address)
{
	const struct gt_operation_info *info = gt_operation(call->op);

	*address = 0;
	if (!info || !call->args ||
	    (info->kind != GT_KIND_ALLOCATION && info->kind != GT_KIND_FREE &&
	     info->kind != GT_KIND_RETAIN))
		return false;
	/* functions without a status return the address that they allocated */
	if (!gt_call_role(call, GT_ROLE_ADDRESS, 0, address) && info->kind == GT_KIND_ALLOCATION &&
	    info->memory && info->status_arg != -1)
		*address = ret;
	return *address != 0;
}

enum gt_blocking gt_call_blocking(uint32_t op, const uint64_t *args)
{
	const struct gt_operation_info *info = gt_operation(op);
	unsigned nargs = GT_OP_NARGS(op);

	if (!info || info->kind != GT_KIND_COPY)
		return GT_BLOCKING_NO;
	if (info->waits)
		return GT_BLOCKING_YES;
	for (unsigned i = 0; i < info->nargs; i++)
		if (info->args[i].role == GT_ROLE_BLOCKS)
			return i >= nargs || !args ? GT_BLOCKING_UNKNOWN
			       : (uint32_t)args[i] ? GT_BLOCKING_YES
						   : GT_BLOCKING_NO;
	return GT_BLOCKING_NO;
}
