/* SPDX-License-Identifier: MIT */
/* Lines: vector registers whose values increase by the same step from lane to lane, and the
 * instructions that need only the base and step of a line.
 *
 *   work-item's id, scalars ─► line ─► indices, addresses ─► one memcpy for 64 lanes
 *                               └────► soft_make_row() as soon as a step needs single lanes
 *
 * 32-bit sums wrap around in lines as in lanes, so they always work. Operations beyond 32 bits
 * (carries, comparisons, right shifts, 64 bits) work only if the line does not wrap between its
 * ends and every lane behaves as both ends do, because a line's step is constant.
 * All other operations fall back to rows. All lanes must be active. */
#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

#define LAST (SOFT_LANES - 1)

/* ---- operands ---- */

/* The values from one number to another in equal steps, in a type wider than the source
 * register. */
struct line_run {
	__int128 first, last;
};

static inline int line_of(const struct soft_wave *w, const struct soft_step *s, unsigned i,
			  struct soft_line *x)
{
	unsigned r = s->source[i];

	if (r < REG_VECTOR) {
		*x = (struct soft_line){source32(w, s, i), 0};
		return 1;
	}
	*x = w->line[r - REG_VECTOR];
	return soft_is_line(w, r - REG_VECTOR);
}

static int run_of_line(const struct soft_line *x, int is_signed, struct line_run *r)
{
	int64_t first = is_signed ? (int32_t)x->base : (int64_t)x->base,
		last = first + LAST * (int64_t)(int32_t)x->step;

	r->first = first;
	r->last = last;
	return is_signed ? last >= INT32_MIN && last <= INT32_MAX : last >= 0 && last <= UINT32_MAX;
}

/* Get a 64-bit operand whose high word is the same in all lanes. */
static int wide_of(const struct soft_wave *w, const struct soft_step *s, unsigned i, uint64_t *base,
		   int64_t *step)
{
	unsigned r = s->source[i];

	if (r < REG_VECTOR) {
		*base = source64(w, s, i);
		*step = 0;
		return 1;
	}
	r -= REG_VECTOR;
	if (!soft_is_line(w, r) || !soft_is_line(w, r + 1) || w->line[r + 1].step ||
	    !soft_line_is_straight(&w->line[r]))
		return 0;
	*base = w->line[r].base | (uint64_t)w->line[r + 1].base << 32;
	*step = (int32_t)w->line[r].step;
	return 1;
}

static int run_of(const struct soft_wave *w, const struct soft_step *s, unsigned i,
		  struct line_run *r)
{
	unsigned type = s->op->type[i + 1];
	struct soft_line x;
	uint64_t base;
	int64_t step;

	if (!soft_type_is_64(type))
		return line_of(w, s, i, &x) && run_of_line(&x, type == SOFT_TYPE_I32, r);
	if (!wide_of(w, s, i, &base, &step))
		return 0;
	r->first = type == SOFT_TYPE_I64 ? (__int128)(int64_t)base : (__int128)base;
	r->last = r->first + LAST * (__int128)step;
	return 1;
}

/* ---- results ---- */

/* Set a 64-bit result. Return 0 if the high word differs between lanes. */
static int put_wide(struct soft_wave *w, unsigned r, uint64_t base, int64_t step)
{
	int64_t last;

	if (step > INT32_MAX || step < INT32_MIN)
		return 0;
	last = (int64_t)(uint32_t)base + LAST * step;
	if (last < 0 || last > UINT32_MAX)
		return 0;
	soft_set_line(w, r, (uint32_t)base, (uint32_t)step);
	soft_set_line(w, r + 1, (uint32_t)(base >> 32), 0);
	return 1;
}

static int put_word(struct soft_wave *w, const struct soft_step *s, uint32_t base, uint32_t step)
{
	soft_set_line(w, s->result, base, step);
	return 1;
}

/* ---- instructions ---- */

/* Compute x + y + carry, and the carry out. */
static int add_carry(struct soft_wave *w, const struct soft_step *s, const struct soft_line *x,
		     const struct soft_line *y, uint64_t carry)
{
	uint64_t first, last;

	if ((carry && carry != UINT64_MAX) || !soft_line_is_straight(x) ||
	    !soft_line_is_straight(y))
		return 0;
	carry &= 1;
	first = (uint64_t)x->base + y->base + carry;
	last = (uint64_t)soft_line_last(x) + (uint64_t)soft_line_last(y) + carry;
	if (first >> 32 != last >> 32)
		return 0;
	soft_put_mask(w, s, first >> 32 ? UINT64_MAX : 0);
	return put_word(w, s, (uint32_t)first, x->step + y->step);
}

/* Compute x - y - borrow, and the borrow out. */
static int subtract_borrow(struct soft_wave *w, const struct soft_step *s,
			   const struct soft_line *x, const struct soft_line *y, uint64_t borrow)
{
	int64_t first, last;

	if ((borrow && borrow != UINT64_MAX) || !soft_line_is_straight(x) ||
	    !soft_line_is_straight(y))
		return 0;
	borrow &= 1;
	first = (int64_t)x->base - y->base - (int64_t)borrow;
	last = soft_line_last(x) - soft_line_last(y) - (int64_t)borrow;
	if ((first < 0) != (last < 0))
		return 0;
	soft_put_mask(w, s, first < 0 ? UINT64_MAX : 0);
	return put_word(w, s, (uint32_t)first, x->step - y->step);
}

/* Shift right. Bits shifted out may differ between lanes, so lines work only if the result is the
 * same in all lanes or nothing is shifted out. */
static int shift_right(struct soft_wave *w, const struct soft_step *s, const struct soft_line *by,
		       const struct soft_line *y, int is_signed)
{
	unsigned n = by->base & 31;
	struct line_run r;

	if (!n)
		return put_word(w, s, y->base, y->step);
	if (!run_of_line(y, is_signed, &r) || r.first >> n != r.last >> n)
		return 0;
	return put_word(w, s, (uint32_t)(r.first >> n), 0);
}

/* Compute x * y + z in 64 bits. One factor must be the same in all lanes. */
static int multiply_add(struct soft_wave *w, const struct soft_step *s, struct soft_line x,
			struct soft_line y)
{
	uint64_t z;
	int64_t z_step, step;
	__int128 first;

	if (x.step) {
		struct soft_line swap = x;

		x = y;
		y = swap;
	}
	if (x.step || !soft_line_is_straight(&y) || !wide_of(w, s, 2, &z, &z_step))
		return 0;
	if (__builtin_mul_overflow((int64_t)x.base, (int64_t)(int32_t)y.step, &step) ||
	    __builtin_add_overflow(step, z_step, &step))
		return 0;
	first = (__int128)((uint64_t)x.base * y.base) + (__int128)z;
	/* a carry that differs between lanes would make the high word differ */
	if (!put_wide(w, s->result, (uint64_t)first, step))
		return 0;
	soft_put_mask(w, s, first >> 64 ? UINT64_MAX : 0);
	return 1;
}

static int has_sign(unsigned way, int sign)
{
	switch (way) {
	case SOFT_LINE_LT: return sign < 0;
	case SOFT_LINE_EQ: return sign == 0;
	case SOFT_LINE_LE: return sign <= 0;
	case SOFT_LINE_GT: return sign > 0;
	case SOFT_LINE_NE: return sign != 0;
	default: return sign >= 0;
	}
}

/* Compare. A difference that changes in equal steps cannot have a sign between its ends that lies
 * outside the range of the signs at its ends. */
static int compare_line(struct soft_wave *w, const struct soft_step *s)
{
	struct line_run x, y;
	int first, last;

	if (!run_of(w, s, 0, &x) || !run_of(w, s, 1, &y))
		return 0;
	first = (x.first > y.first) - (x.first < y.first);
	last = (x.last > y.last) - (x.last < y.last);
	if (has_sign(s->line, first) != has_sign(s->line, last))
		return 0;
	if ((s->line == SOFT_LINE_EQ || s->line == SOFT_LINE_NE) && first != last)
		return 0;
	soft_put_mask(w, s, has_sign(s->line, first) ? UINT64_MAX : 0);
	return 1;
}

static int shift_left_wide(struct soft_wave *w, const struct soft_step *s,
			   const struct soft_line *by)
{
	unsigned n = by->base & 63;
	uint64_t base;
	int64_t step;

	return !by->step && wide_of(w, s, 1, &base, &step) &&
	       put_wide(w, s->result, base << n, (int64_t)((uint64_t)step << n));
}

static int line_step(struct soft_wave *w, const struct soft_step *s)
{
	struct soft_line x, y, z;

	if (s->line >= SOFT_LINE_LT)
		return compare_line(w, s);
	if (!line_of(w, s, 0, &x))
		return 0;
	if (s->line == SOFT_LINE_MOVE)
		return put_word(w, s, x.base, x.step);
	if (s->line == SOFT_LINE_SHIFT_LEFT64)
		return shift_left_wide(w, s, &x);
	if (!line_of(w, s, 1, &y))
		return 0;
	switch (s->line) {
	case SOFT_LINE_ADD: return put_word(w, s, x.base + y.base, x.step + y.step);
	case SOFT_LINE_SUB: return put_word(w, s, x.base - y.base, x.step - y.step);
	case SOFT_LINE_SUBREV: return put_word(w, s, y.base - x.base, y.step - x.step);
	case SOFT_LINE_ADD_CO: return add_carry(w, s, &x, &y, 0);
	case SOFT_LINE_ADDC_CO: return add_carry(w, s, &x, &y, pair(w, s->mask_source));
	case SOFT_LINE_SUB_CO: return subtract_borrow(w, s, &x, &y, 0);
	case SOFT_LINE_SUBREV_CO: return subtract_borrow(w, s, &y, &x, 0);
	case SOFT_LINE_SUBB_CO: return subtract_borrow(w, s, &x, &y, pair(w, s->mask_source));
	case SOFT_LINE_SUBBREV_CO: return subtract_borrow(w, s, &y, &x, pair(w, s->mask_source));
	case SOFT_LINE_SHIFT_LEFT:
		return !x.step && put_word(w, s, y.base << (x.base & 31), y.step << (x.base & 31));
	case SOFT_LINE_SHIFT_RIGHT: return !x.step && shift_right(w, s, &x, &y, 0);
	case SOFT_LINE_SHIFT_RIGHT_SIGNED: return !x.step && shift_right(w, s, &x, &y, 1);
	case SOFT_LINE_MULTIPLY:
		return !(x.step && y.step) &&
		       put_word(w, s, x.base * y.base, x.base * y.step + x.step * y.base);
	case SOFT_LINE_MULTIPLY_ADD64: return multiply_add(w, s, x, y);
	}
	if (!line_of(w, s, 2, &z))
		return 0;
	switch (s->line) {
	case SOFT_LINE_SHIFT_ADD:
		return !y.step && put_word(w, s, (x.base << (y.base & 31)) + z.base,
					   (x.step << (y.base & 31)) + z.step);
	case SOFT_LINE_ADD_SHIFT:
		return !z.step && put_word(w, s, (x.base + y.base) << (z.base & 31),
					   (x.step + y.step) << (z.base & 31));
	case SOFT_LINE_ADD3:
		return put_word(w, s, x.base + y.base + z.base, x.step + y.step + z.step);
	default: return 0;
	}
}

int soft_vector_line(struct soft_wave *w, const struct soft_step *s)
{
	return pair(w, REG_EXEC) == UINT64_MAX && line_step(w, s) ? 0 : soft_vector_plain(w, s);
}
