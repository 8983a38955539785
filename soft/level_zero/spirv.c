/* SPDX-License-Identifier: MIT */
/* Reads SPIR-V in one pass over the instructions, each of which starts with its length. Types and
 * constants precede the functions that use them; entry points precede both. */
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/spirv.h"

enum { HEADER_WORDS = 5, IDS_MOST = 1 << 22, DEPTH_MOST = 16, BYTES_MOST = 1 << 20 };

enum opcode {
	OP_ENTRY_POINT = 15,
	OP_EXECUTION_MODE = 16,
	OP_TYPE_BOOL = 20,
	OP_TYPE_INT = 21,
	OP_TYPE_FLOAT = 22,
	OP_TYPE_VECTOR = 23,
	OP_TYPE_IMAGE = 25,
	OP_TYPE_SAMPLER = 26,
	OP_TYPE_ARRAY = 28,
	OP_TYPE_STRUCT = 30,
	OP_TYPE_POINTER = 32,
	OP_CONSTANT = 43,
	OP_SPEC_TRUE = 48,
	OP_SPEC_FALSE = 49,
	OP_SPEC_CONSTANT = 50,
	OP_FUNCTION = 54,
	OP_PARAMETER = 55,
	OP_FUNCTION_END = 56,
	OP_DECORATE = 71,
	OP_TYPE_UNTYPED_POINTER = 4417
};

enum { DECORATION_SPEC_ID = 1, DECORATION_PACKED = 10 };
enum { STORAGE_WORKGROUP = 4, STORAGE_FUNCTION = 7 };
enum { MODE_LOCAL_SIZE = 17, MODE_LOCAL_SIZE_HINT = 18, MODE_SUBGROUP_SIZE = 35 };
enum { MODEL_KERNEL = 6 };

struct id {
	uint32_t op;          /* opcode of a type or constant; 0 for other ids */
	const uint32_t *rest; /* words that follow the result's id */
	uint32_t count;       /* number of these words */
	uint32_t spec;        /* SpecId + 1 */
	uint32_t kernel;      /* index + 1 of the kernel whose entry point is this function */
	bool packed;
};

struct spirv_reader {
	struct soft_spirv *out;
	struct id *ids;
	uint32_t bound;
	unsigned kernel; /* index + 1 of the kernel whose parameters follow */
	bool failed;
};

/* Adding entries --------------------------------------------------------------------- */

struct soft_spirv_kernel *soft_spirv_add_kernel(struct soft_spirv *s, const char *name)
{
	struct soft_spirv_kernel *more = realloc(s->kernels, (s->kernel_count + 1) * sizeof *more);
	char *copy = strdup(name);

	if (more)
		s->kernels = more;
	if (!more || !copy) {
		free(copy);
		return NULL;
	}
	more += s->kernel_count++;
	*more = (struct soft_spirv_kernel){.name = copy};
	return more;
}

bool soft_spirv_add_parameter(struct soft_spirv_kernel *k, enum soft_spirv_parameter_kind kind,
			      size_t bytes)
{
	struct soft_spirv_parameter *more =
		realloc(k->parameters, (k->parameter_count + 1) * sizeof *more);

	if (!more)
		return false;
	k->parameters = more;
	more[k->parameter_count++] = (struct soft_spirv_parameter){kind, bytes};
	return true;
}

static bool add_constant(struct soft_spirv *s, uint32_t id, size_t bytes)
{
	struct soft_spirv_constant *more =
		realloc(s->constants, (s->constant_count + 1) * sizeof *more);

	if (!more)
		return false;
	s->constants = more;
	more[s->constant_count++] = (struct soft_spirv_constant){id, bytes};
	return true;
}

const struct soft_spirv_kernel *soft_spirv_find(const struct soft_spirv *s, const char *name)
{
	for (unsigned i = 0; i < s->kernel_count; i++)
		if (!strcmp(s->kernels[i].name, name))
			return &s->kernels[i];
	return NULL;
}

void soft_spirv_fini(struct soft_spirv *s)
{
	for (unsigned i = 0; i < s->kernel_count; i++) {
		free(s->kernels[i].name);
		free(s->kernels[i].parameters);
	}
	free(s->kernels);
	free(s->constants);
	*s = (struct soft_spirv){0};
}

/* Sizes of types --------------------------------------------------------------------- */

struct extent {
	size_t bytes, align;
};

static struct extent measure(const struct spirv_reader *r, uint32_t type, unsigned depth);

static size_t round_up(size_t bytes, size_t align)
{
	return (bytes + align - 1) / align * align;
}

static struct extent measure_struct(const struct spirv_reader *r, const struct id *t,
				    unsigned depth)
{
	struct extent all = {0, 1}, member;

	for (uint32_t i = 0; i < t->count && all.bytes < BYTES_MOST; i++) {
		member = measure(r, t->rest[i], depth);
		if (t->packed)
			member.align = 1;
		if (member.align > all.align)
			all.align = member.align;
		all.bytes = round_up(all.bytes, member.align) + member.bytes;
	}
	all.bytes = round_up(all.bytes, all.align);
	return all;
}

static struct extent measure_array(const struct spirv_reader *r, const struct id *t, unsigned depth)
{
	struct extent e = measure(r, t->rest[0], depth);
	uint32_t id = t->rest[1], length = 1;

	if (id < r->bound && r->ids[id].count && r->ids[id].op != OP_TYPE_STRUCT)
		length = r->ids[id].rest[0];
	e.bytes *= length < BYTES_MOST ? length : BYTES_MOST;
	return e;
}

/* Return the OpenCL C size and alignment of a type. A type without a size is a handle. */
static struct extent measure(const struct spirv_reader *r, uint32_t type, unsigned depth)
{
	const struct id *t = type < r->bound ? &r->ids[type] : NULL;
	struct extent e = {8, 8};

	if (!t || depth > DEPTH_MOST)
		return e;
	if (t->op == OP_TYPE_BOOL)
		return (struct extent){1, 1};
	if ((t->op == OP_TYPE_INT || t->op == OP_TYPE_FLOAT) && t->count && t->rest[0] >= 8 &&
	    t->rest[0] <= 64)
		return (struct extent){t->rest[0] / 8, t->rest[0] / 8};
	if (t->op == OP_TYPE_VECTOR && t->count > 1 && t->rest[1] <= 16) {
		e.bytes = measure(r, t->rest[0], depth + 1).bytes *
			  (t->rest[1] == 3 ? 4 : t->rest[1]);
		e.align = e.bytes ? e.bytes : 1;
		return e;
	}
	if (t->op == OP_TYPE_ARRAY && t->count > 1)
		return measure_array(r, t, depth + 1);
	if (t->op == OP_TYPE_STRUCT)
		return measure_struct(r, t, depth + 1);
	return e;
}

/* Instructions ------------------------------------------------------------------------- */

/* Return the text at @words, or NULL if the text is not terminated. */
static const char *read_text(const uint32_t *words, uint32_t count)
{
	return count && memchr(words, '\0', count * sizeof *words) ? (const char *)words : NULL;
}

static void read_entry_point(struct spirv_reader *r, const uint32_t *w, uint32_t n)
{
	const char *name = n > 2 ? read_text(w + 2, n - 2) : NULL;

	if (!name || w[1] >= r->bound) {
		r->failed = true;
		return;
	}
	if (w[0] != MODEL_KERNEL)
		return;
	if (!soft_spirv_add_kernel(r->out, name))
		r->failed = true;
	else
		r->ids[w[1]].kernel = r->out->kernel_count;
}

static void read_mode(struct spirv_reader *r, const uint32_t *w, uint32_t n)
{
	struct soft_spirv_kernel *k;

	if (w[0] >= r->bound || !r->ids[w[0]].kernel)
		return;
	k = &r->out->kernels[r->ids[w[0]].kernel - 1];
	if (n > 4 && w[1] == MODE_LOCAL_SIZE)
		memcpy(k->group, w + 2, sizeof k->group);
	else if (n > 4 && w[1] == MODE_LOCAL_SIZE_HINT)
		memcpy(k->hint, w + 2, sizeof k->hint);
	else if (n > 2 && w[1] == MODE_SUBGROUP_SIZE)
		k->subgroup = w[2];
}

static void read_decoration(struct spirv_reader *r, const uint32_t *w, uint32_t n)
{
	if (w[0] >= r->bound)
		return;
	if (w[1] == DECORATION_PACKED)
		r->ids[w[0]].packed = true;
	else if (w[1] == DECORATION_SPEC_ID && n > 2)
		r->ids[w[0]].spec = w[2] + 1;
}

static void read_constant(struct spirv_reader *r, uint32_t op, const uint32_t *w, uint32_t n)
{
	struct id *id;

	if (w[1] >= r->bound)
		return;
	id = &r->ids[w[1]];
	id->op = op;
	id->rest = w + 2;
	id->count = n - 2;
	if (op != OP_CONSTANT && id->spec &&
	    !add_constant(r->out, id->spec - 1,
			  op == OP_SPEC_CONSTANT ? measure(r, w[0], 0).bytes : 1))
		r->failed = true;
}

static void read_type(struct spirv_reader *r, uint32_t op, const uint32_t *w, uint32_t n)
{
	struct id *id;

	if (w[0] >= r->bound)
		return;
	id = &r->ids[w[0]];
	id->op = op;
	id->rest = w + 1;
	id->count = n - 1;
}

static void read_parameter(struct spirv_reader *r, uint32_t type)
{
	const struct id *t = type < r->bound ? &r->ids[type] : NULL;
	enum soft_spirv_parameter_kind kind = SOFT_SPIRV_VALUE;
	size_t bytes = 8;

	if (!r->kernel)
		return;
	if (t && t->count && (t->op == OP_TYPE_POINTER || t->op == OP_TYPE_UNTYPED_POINTER)) {
		if (t->rest[0] == STORAGE_FUNCTION && t->count > 1) /* a struct passed by value */
			bytes = measure(r, t->rest[1], 0).bytes;
		else
			kind = t->rest[0] == STORAGE_WORKGROUP ? SOFT_SPIRV_LOCAL
							       : SOFT_SPIRV_POINTER;
	} else if (t && t->op == OP_TYPE_IMAGE)
		kind = SOFT_SPIRV_IMAGE;
	else if (t && t->op == OP_TYPE_SAMPLER)
		kind = SOFT_SPIRV_SAMPLER;
	else
		bytes = measure(r, type, 0).bytes;
	if (!soft_spirv_add_parameter(&r->out->kernels[r->kernel - 1], kind, bytes))
		r->failed = true;
}

static void read_instruction(struct spirv_reader *r, uint32_t op, const uint32_t *w, uint32_t n)
{
	switch (op) {
	case OP_ENTRY_POINT: read_entry_point(r, w, n); break;
	case OP_TYPE_BOOL:
	case OP_TYPE_SAMPLER:
	case OP_TYPE_STRUCT:
		if (n)
			read_type(r, op, w, n);
		break;
	default:
		if (n < 2) {
			if (op == OP_FUNCTION_END)
				r->kernel = 0;
			break;
		}
		if (op == OP_EXECUTION_MODE)
			read_mode(r, w, n);
		else if (op == OP_DECORATE)
			read_decoration(r, w, n);
		else if (op == OP_TYPE_INT || op == OP_TYPE_FLOAT || op == OP_TYPE_VECTOR ||
			 op == OP_TYPE_IMAGE || op == OP_TYPE_ARRAY || op == OP_TYPE_POINTER ||
			 op == OP_TYPE_UNTYPED_POINTER)
			read_type(r, op, w, n);
		else if (op == OP_CONSTANT || op == OP_SPEC_CONSTANT || op == OP_SPEC_TRUE ||
			 op == OP_SPEC_FALSE)
			read_constant(r, op, w, n);
		else if (op == OP_FUNCTION)
			r->kernel = w[1] < r->bound ? r->ids[w[1]].kernel : 0;
		else if (op == OP_PARAMETER)
			read_parameter(r, w[0]);
	}
}

/* Remove what was added for a module that turned out to be invalid. */
static void cut_back(struct soft_spirv *s, unsigned kernels, unsigned constants)
{
	while (s->kernel_count > kernels) {
		s->kernel_count--;
		free(s->kernels[s->kernel_count].name);
		free(s->kernels[s->kernel_count].parameters);
	}
	s->constant_count = constants;
}

bool soft_spirv_read(struct soft_spirv *out, const uint32_t *words, size_t count)
{
	unsigned kernels = out->kernel_count, constants = out->constant_count;
	struct spirv_reader r = {.out = out};

	if (count < HEADER_WORDS || words[0] != SOFT_SPIRV_MAGIC || words[3] > IDS_MOST)
		return false;
	r.bound = words[3];
	r.ids = calloc((size_t)r.bound + 1, sizeof *r.ids);
	r.failed = !r.ids;
	for (size_t i = HEADER_WORDS; i < count && !r.failed;) {
		uint32_t length = words[i] >> 16;
		if (!length || length > count - i)
			r.failed = true;
		else
			read_instruction(&r, words[i] & 0xffff, words + i + 1, length - 1);
		i += length;
	}
	free(r.ids);
	if (r.failed)
		cut_back(out, kernels, constants);
	return !r.failed;
}
