/* SPDX-License-Identifier: MIT */
/* Unwinding rules from a module's .eh_frame: see unwind_rules.h. Only three registers are tracked:
 * the frame's address, rbp and the return address. Compiled code needs no others at a call.
 *
 *   .eh_frame_hdr ─ binary search ─► FDE of the function ─► CIE ─► instructions, until pc
 *
 * All reads are within the module's mapping, and a damaged table gives no rule. */
#include "unwind/unwind_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_RETURN = 16, STATES = 8 };

#if defined(__x86_64__)
/* Reading ----------------------------------------------------------------------------------- */

/* A piece of a table. `bad` is true after a read past the end of the piece. */
struct piece {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t take(struct piece *r, unsigned bytes)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->p) < bytes) {
		r->bad = true;
		r->p = r->end;
		return 0;
	}
	memcpy(&v, r->p, bytes);
	r->p += bytes;
	return v;
}

static uint64_t take_unsigned(struct piece *r)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = take(r, 1);
		if (shift < 64)
			v |= (byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return v;
}

static int64_t take_signed(struct piece *r)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = take(r, 1);
		if (shift < 64)
			v |= (byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (shift < 64 && byte & 64)
		v |= UINT64_MAX << shift;
	return (int64_t)v;
}

static void skip(struct piece *r, uint64_t bytes)
{
	if ((uint64_t)(r->end - r->p) < bytes) {
		r->bad = true;
		r->p = r->end;
	} else {
		r->p += bytes;
	}
}

enum {
	POINTER_OMITTED = 0xff,
	POINTER_FORM = 0x0f,
	POINTER_FROM = 0x70,
	FROM_HERE = 0x10,
	FROM_TABLE = 0x30
};

/* Read a pointer. Supports only the encodings that are needed; for `indirect` encodings only the
 * size is right. */
static uintptr_t take_pointer(struct piece *r, uint8_t encoding)
{
	const uintptr_t here = (uintptr_t)r->p;
	uintptr_t v = 0;

	switch (encoding & POINTER_FORM) {
	case 0x00: v = take(r, 8); break;
	case 0x01: v = take_unsigned(r); break;
	case 0x02: v = take(r, 2); break;
	case 0x03: v = take(r, 4); break;
	case 0x04: v = take(r, 8); break;
	case 0x09: v = (uintptr_t)take_signed(r); break;
	case 0x0a: v = (uintptr_t)(int64_t)(int16_t)take(r, 2); break;
	case 0x0b: v = (uintptr_t)(int64_t)(int32_t)take(r, 4); break;
	case 0x0c: v = take(r, 8); break;
	default: r->bad = true;
	}
	return (encoding & POINTER_FROM) == FROM_HERE ? v + here : v;
}

/* Instructions ------------------------------------------------------------------------------ */

struct saved {
	uint8_t how; /* enum gt_unwind_saved */
	int64_t offset;
};

struct state {
	uint8_t kind; /* enum gt_unwind_kind */
	uint64_t frame_register;
	int64_t frame_offset;
	struct saved bp;
	bool no_return;
	/* true if the return address is not just below the frame */
	bool odd_return;
};

struct function {
	uint64_t code_unit;
	int64_t data_unit;
	uint8_t pointers; /* encoding */
	bool is_signal, has_data;
	uintptr_t begin, end;
	struct piece first, then; /* instructions of the CIE, then of the FDE */
};

/* Return true for the expressions "rbp + n" and "the word at rbp + n". Compilers generate these
 * expressions for frames that they align. */
static bool is_bp_expression(struct piece e, bool *is_load, int64_t *offset)
{
	if (take(&e, 1) != 0x70 + REGISTER_BP) /* DW_OP_breg6 */
		return false;
	*offset = take_signed(&e);
	*is_load = e.p < e.end && *e.p == 0x06; /* DW_OP_deref */
	return !e.bad && e.p + *is_load == e.end;
}

static struct piece take_block(struct piece *r)
{
	uint64_t bytes = take_unsigned(r);
	struct piece block = {r->p, r->p, false};

	skip(r, bytes);
	block.end = r->p;
	return block;
}

static void set_frame_expression(struct state *s, struct piece e)
{
	bool is_load;

	s->kind = is_bp_expression(e, &is_load, &s->frame_offset) && is_load ? GT_UNWIND_BY_SLOT
									     : GT_UNWIND_UNKNOWN;
}

static void set_saved(struct state *s, uint64_t reg, int64_t offset)
{
	if (reg == REGISTER_BP)
		s->bp = (struct saved){GT_UNWIND_AT_FRAME, offset};
	if (reg == REGISTER_RETURN) {
		s->odd_return = offset != -8;
		s->no_return = false;
	}
}

static void set_saved_expression(struct state *s, uint64_t reg, struct piece e)
{
	bool is_load;

	if (reg == REGISTER_RETURN)
		s->odd_return = true;
	if (reg != REGISTER_BP)
		return;
	if (is_bp_expression(e, &is_load, &s->bp.offset) && !is_load)
		s->bp.how = GT_UNWIND_AT_BP;
	else
		s->kind = GT_UNWIND_UNKNOWN;
}

static void set_frame(struct state *s, uint64_t reg, int64_t offset)
{
	s->frame_register = reg;
	s->frame_offset = offset;
	s->kind = reg == REGISTER_SP   ? GT_UNWIND_BY_SP
		  : reg == REGISTER_BP ? GT_UNWIND_BY_BP
				       : GT_UNWIND_UNKNOWN;
}

static void restore(struct state *s, const struct state *initial, uint64_t reg)
{
	if (reg == REGISTER_BP)
		s->bp = initial->bp;
	if (reg == REGISTER_RETURN) {
		s->odd_return = initial->odd_return;
		s->no_return = initial->no_return;
	}
}

/* Run an instruction whose two upper bits are 0, except instructions that advance pc. Return false
 * if the instruction is unknown. */
static bool run_other(const struct function *f, struct piece *r, struct state *s,
		      const struct state *initial, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case 0x00: break; /* nop */
	case 0x05:        /* offset_extended */
		reg = take_unsigned(r);
		set_saved(s, reg, (int64_t)take_unsigned(r) * f->data_unit);
		break;
	case 0x06: restore(s, initial, take_unsigned(r)); break; /* restore_extended */
	case 0x07:                                               /* undefined */
		reg = take_unsigned(r);
		s->no_return |= reg == REGISTER_RETURN;
		break;
	case 0x08: /* same_value */
		if (take_unsigned(r) == REGISTER_BP)
			s->bp.how = GT_UNWIND_SAME;
		break;
	case 0x09: /* register */
		reg = take_unsigned(r);
		take_unsigned(r);
		if (reg == REGISTER_RETURN || reg == REGISTER_BP)
			s->kind = GT_UNWIND_UNKNOWN;
		break;
	case 0x0c: /* def_cfa */
		reg = take_unsigned(r);
		set_frame(s, reg, (int64_t)take_unsigned(r));
		break;
	case 0x0d: set_frame(s, take_unsigned(r), s->frame_offset); break; /* def_cfa_register */
	case 0x0e: s->frame_offset = (int64_t)take_unsigned(r); break;     /* def_cfa_offset */
	case 0x0f: set_frame_expression(s, take_block(r)); break;
	case 0x10: /* expression */
		reg = take_unsigned(r);
		set_saved_expression(s, reg, take_block(r));
		break;
	case 0x11: /* offset_extended_sf */
		reg = take_unsigned(r);
		set_saved(s, reg, take_signed(r) * f->data_unit);
		break;
	case 0x12: /* def_cfa_sf */
		reg = take_unsigned(r);
		set_frame(s, reg, take_signed(r) * f->data_unit);
		break;
	case 0x13: s->frame_offset = take_signed(r) * f->data_unit; break;
	case 0x14: /* val_offset, val_offset_sf */
	case 0x15:
		reg = take_unsigned(r);
		take_signed(r);
		if (reg == REGISTER_RETURN || reg == REGISTER_BP)
			s->kind = GT_UNWIND_UNKNOWN;
		break;
	case 0x16: /* val_expression */
		reg = take_unsigned(r);
		take_block(r);
		if (reg == REGISTER_RETURN || reg == REGISTER_BP)
			s->kind = GT_UNWIND_UNKNOWN;
		break;
	case 0x2e: take_unsigned(r); break; /* GNU_args_size */
	default: return false;
	}
	return true;
}

/* Run all instructions that apply to @pc. */
static bool run(const struct function *f, struct piece r, uintptr_t pc, struct state *s,
		const struct state *initial)
{
	struct state kept[STATES];
	unsigned depth = 0;
	uintptr_t at = f->begin;

	while (r.p < r.end && !r.bad) {
		uint8_t op = (uint8_t)take(&r, 1), low = op & 0x3f;
		uint64_t forward = 0;

		if (op >> 6 == 1)
			forward = low * f->code_unit; /* advance_loc */
		else if (op >> 6 == 2)
			set_saved(s, low, (int64_t)take_unsigned(&r) * f->data_unit);
		else if (op >> 6 == 3)
			restore(s, initial, low);
		else if (op == 0x01)
			at = take_pointer(&r, f->pointers);
		else if (op >= 0x02 && op <= 0x04)
			forward = take(&r, 1u << (op - 2)) * f->code_unit;
		else if (op == 0x0a && depth < STATES)
			kept[depth++] = *s;
		else if (op == 0x0b && depth)
			*s = kept[--depth];
		else if (!run_other(f, &r, s, initial, op))
			return false;
		at += forward;
		if (at > pc)
			break;
	}
	return !r.bad;
}

/* Entries ----------------------------------------------------------------------------------- */

/* @at: address of the length field of a table entry. */
static bool begin_entry(const struct gt_unwind_object *o, uintptr_t at, struct piece *r)
{
	uint64_t bytes;

	if (at < o->start || at >= o->end)
		return false;
	*r = (struct piece){(const uint8_t *)at, (const uint8_t *)o->end, false};
	bytes = take(r, 4);
	if (bytes == UINT32_MAX)
		bytes = take(r, 8);
	if (!bytes || bytes > (uint64_t)(r->end - r->p))
		return false;
	r->end = r->p + bytes;
	return !r->bad;
}

/* Read the augmentation data that letters such as "zPLR" describe, one item per letter. */
static void read_augmentation(struct piece *r, const char *letters, struct function *f)
{
	struct piece data;

	if (*letters != 'z')
		return;
	f->has_data = true;
	data = take_block(r);
	for (letters++; *letters; letters++)
		switch (*letters) {
		case 'R': f->pointers = (uint8_t)take(&data, 1); break;
		case 'L': take(&data, 1); break;
		case 'P': take_pointer(&data, (uint8_t)take(&data, 1)); break;
		case 'S': f->is_signal = true; break;
		default: break;
		}
}

static bool read_cie(const struct gt_unwind_object *o, uintptr_t at, struct function *f)
{
	struct piece r;
	const char *letters;
	uint64_t version, reg;

	if (!begin_entry(o, at, &r) || take(&r, 4) != 0)
		return false;
	version = take(&r, 1);
	letters = (const char *)r.p;
	while (take(&r, 1))
		;
	f->code_unit = take_unsigned(&r);
	f->data_unit = take_signed(&r);
	reg = version == 1 ? take(&r, 1) : take_unsigned(&r);
	if (r.bad || (version != 1 && version != 3) || reg != REGISTER_RETURN)
		return false;
	read_augmentation(&r, letters, f);
	f->first = r;
	return !r.bad;
}

static bool read_fde(const struct gt_unwind_object *o, uintptr_t at, struct function *f)
{
	struct piece r;
	uintptr_t from;

	if (!begin_entry(o, at, &r))
		return false;
	from = (uintptr_t)r.p;
	from -= (uintptr_t)(int64_t)(int32_t)take(&r, 4);
	if (!read_cie(o, from, f))
		return false;
	f->begin = take_pointer(&r, f->pointers);
	f->end = f->begin + take_pointer(&r, f->pointers & POINTER_FORM);
	if (f->has_data)
		skip(&r, take_unsigned(&r));
	f->then = r;
	return !r.bad;
}

/* Return the address of the function's FDE; 0: none. The header starts with a version and three
 * encodings. */
static uintptr_t find_fde(const struct gt_unwind_object *o, uintptr_t pc)
{
	const uintptr_t table = (uintptr_t)o->table;
	struct piece r = {o->table, (const uint8_t *)o->end, false};
	struct entry {
		int32_t begin, fde;
	} e;
	uint8_t first, count_form, form;
	const uint8_t *entries;
	uint64_t low = 0, high;

	if (!table || table < o->start || table >= o->end || take(&r, 1) != 1)
		return 0;
	first = (uint8_t)take(&r, 1);
	count_form = (uint8_t)take(&r, 1);
	form = (uint8_t)take(&r, 1);
	if (first == POINTER_OMITTED || count_form == POINTER_OMITTED ||
	    form != (FROM_TABLE | 0x0b)) /* the form that all linkers generate */
		return 0;
	take_pointer(&r, first);
	high = take_pointer(&r, count_form);
	if (r.bad || high > (uint64_t)(r.end - r.p) / sizeof e)
		return 0;
	entries = r.p;
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		memcpy(&e, entries + middle * sizeof e, sizeof e);
		if (table + (uintptr_t)(int64_t)e.begin <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	memcpy(&e, entries + (low - 1) * sizeof e, sizeof e);
	return table + (uintptr_t)(int64_t)e.fde;
}

static void put_rule(const struct state *s, bool is_signal, struct gt_unwind_rule *rule)
{
	if (is_signal) {
		rule->kind = GT_UNWIND_SIGNAL;
		return;
	}
	if (s->no_return) {
		rule->kind = GT_UNWIND_LAST;
		return;
	}
	if (s->odd_return || s->frame_offset != (int32_t)s->frame_offset ||
	    s->bp.offset != (int16_t)s->bp.offset)
		return;
	rule->kind = s->kind;
	rule->offset = (int32_t)s->frame_offset;
	rule->saved = s->bp.how;
	rule->saved_offset = (int16_t)s->bp.offset;
}

void gt_unwind_find_rule(const struct gt_unwind_object *o, uintptr_t pc,
			 struct gt_unwind_rule *rule)
{
	struct function f = {.pointers = 0};
	struct state initial = {.kind = GT_UNWIND_UNKNOWN, .odd_return = true}, s;
	uintptr_t fde = find_fde(o, pc);

	*rule = (struct gt_unwind_rule){.pc = pc};
	if (!fde || !read_fde(o, fde, &f) || pc < f.begin || pc >= f.end)
		return;
	if (!run(&f, f.first, UINTPTR_MAX, &initial, &initial))
		return;
	s = initial;
	if (run(&f, f.then, pc, &s, &initial))
		put_rule(&s, f.is_signal, rule);
}

uintptr_t gt_unwind_find_function(const struct gt_unwind_object *o, uintptr_t pc)
{
	struct function f = {.pointers = 0};
	uintptr_t fde = find_fde(o, pc);

	return fde && read_fde(o, fde, &f) && pc >= f.begin && pc < f.end ? f.begin : 0;
}
#else
void gt_unwind_find_rule(const struct gt_unwind_object *o, uintptr_t pc,
			 struct gt_unwind_rule *rule)
{
	(void)o;
	*rule = (struct gt_unwind_rule){.pc = pc};
}

uintptr_t gt_unwind_find_function(const struct gt_unwind_object *o, uintptr_t pc)
{
	(void)o;
	(void)pc;
	return 0;
}
#endif
