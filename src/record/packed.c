/* SPDX-License-Identifier: MIT */
/* Unpacks generated tables into the form of describe.h, with one mapping per domain:
 *   | description | values | fields | types | arguments | operations by number |
 * Uses mmap() instead of malloc(), because the injected library runs this inside the program's
 * calls. */
#include "record/packed.h"

#include <sys/mman.h>

struct unpacked {
	struct gt_domain_description description;
	struct gt_value_name *values;
	struct gt_field *fields;
	struct gt_type *types;
	struct gt_argument_info *arguments;
	struct gt_operation_info *operations;
};

static struct unpacked *room_for(const struct gt_packed_domain *p)
{
	size_t values = p->value_count * sizeof(struct gt_value_name),
	       fields = p->field_count * sizeof(struct gt_field),
	       types = p->type_count * sizeof(struct gt_type),
	       arguments = p->argument_count * sizeof(struct gt_argument_info);
	size_t bytes = sizeof(struct unpacked) + values + fields + types + arguments +
		       p->numbers * sizeof(struct gt_operation_info);
	struct unpacked *u =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = (char *)(u + 1);

	if (u == MAP_FAILED)
		return NULL;
	u->values = (void *)at;
	u->fields = (void *)(at += values);
	u->types = (void *)(at += fields);
	u->arguments = (void *)(at += types);
	u->operations = (void *)(at + arguments);
	return u;
}

static void unpack_types(const struct gt_packed_domain *p, struct unpacked *u)
{
	for (size_t i = 0; i < p->value_count; i++) {
		const struct gt_packed_value *v = &p->values[i];

		u->values[i] = (struct gt_value_name){v->value, p->texts + v->name, v->bytes,
						      v->value_type};
	}
	for (size_t i = 0; i < p->field_count; i++) {
		const struct gt_packed_field *f = &p->fields[i];

		u->fields[i] = (struct gt_field){p->texts + f->name, f->bytes, f->type, f->offset,
						 f->role};
	}
	for (size_t i = 0; i < p->type_count; i++) {
		const struct gt_packed_type *t = &p->types[i];

		u->types[i] = (struct gt_type){p->texts + t->name, t->class,
					       t->bytes,           u->values + t->first_value,
					       t->value_count,     u->fields + t->first_field,
					       t->field_count};
	}
}

static int16_t find_arg(const struct gt_argument_info *args, unsigned count, enum gt_role role)
{
	for (unsigned i = 0; i < count; i++)
		if (args[i].role == role && args[i].how == GT_HOW_VALUE)
			return (int16_t)i;
	return -1;
}

/* Return the argument with the call's stream, or GT_STREAM_IN_STRUCT (cuLaunchKernelEx()). */
static int16_t find_stream(const struct unpacked *u, const struct gt_argument_info *args,
			   unsigned count)
{
	int16_t arg = find_arg(args, count, GT_ROLE_STREAM);

	for (unsigned i = 0; arg < 0 && i < count; i++) {
		const struct gt_type *type = &u->types[args[i].value_type];

		if (args[i].how != GT_HOW_STRUCT)
			continue;
		for (unsigned n = 0; n < type->field_count; n++)
			if (type->fields[n].role == GT_ROLE_STREAM)
				return GT_STREAM_IN_STRUCT;
	}
	return arg;
}

/* Return true if the call creates a communicator or sets the rank in one. */
static bool joins(const struct gt_argument_info *args, unsigned count)
{
	return find_arg(args, count, GT_ROLE_CREATES) >= 0 ||
	       find_arg(args, count, GT_ROLE_RANK) >= 0;
}

static bool has_streams(const struct gt_packed_domain *p)
{
	for (size_t i = 0; i < p->operation_count; i++)
		if (p->operations[i].finished == GT_FINISHED_STREAM)
			return true;
	return false;
}

/* Return true if the call enqueues GPU activities on its stream, records an event on it, or waits
 * for it. */
static bool is_of_stream(const struct gt_packed_operation *o)
{
	return o->kind == GT_KIND_LAUNCH || o->kind == GT_KIND_COPY || o->kind == GT_KIND_SET ||
	       o->kind == GT_KIND_MARKER || o->finished == GT_FINISHED_STREAM;
}

static void unpack_operations(const struct gt_packed_domain *p, struct unpacked *u)
{
	bool streams = has_streams(p);

	for (size_t i = 0; i < p->argument_count; i++) {
		const struct gt_packed_argument *a = &p->arguments[i];

		u->arguments[i] = (struct gt_argument_info){.name = p->texts + a->name,
							    .type = p->texts + a->type,
							    .form = a->form,
							    .name_bytes = a->name_bytes,
							    .how = a->how,
							    .value_type = a->value_type,
							    .length_arg = a->length_arg,
							    .came_arg = a->came_arg,
							    .out = a->out,
							    .role = a->role,
							    .scale = a->scale,
							    .bytes = a->bytes,
							    .stars = a->stars,
							    .base = a->base,
							    .offset = a->offset};
	}
	for (size_t i = 0; i < p->operation_count; i++) {
		const struct gt_packed_operation *o = &p->operations[i];
		const struct gt_argument_info *args = u->arguments + o->first_argument;
		unsigned count = GT_OP_NARGS(o->op);

		u->operations[GT_OP_NUMBER(o->op)] =
			(struct gt_operation_info){p->texts + o->name,
						   o->op,
						   (uint8_t)GT_OP_NARGS(o->op),
						   o->kind,
						   o->mark,
						   o->status_arg,
						   o->in_table,
						   o->waits,
						   o->finished,
						   p->texts + o->group,
						   args,
						   find_arg(args, count, GT_ROLE_SIGNALS),
						   streams && is_of_stream(o)
							   ? find_stream(u, args, count)
							   : (int16_t)-1,
						   o->memory,
						   o->collective & 0xff,
						   (uint8_t)(o->collective >> 8),
						   o->collective || joins(args, count)};
	}
}

const struct gt_domain_description *gt_unpack(const struct gt_packed_domain *p)
{
	struct unpacked *u = room_for(p);

	if (!u)
		return NULL;
	unpack_types(p, u);
	unpack_operations(p, u);
	u->description =
		(struct gt_domain_description){u->operations,  p->numbers,      u->types,
					       p->status_type, p->successes,    p->success_count,
					       p->refusals,    p->refusal_count};
	return &u->description;
}
