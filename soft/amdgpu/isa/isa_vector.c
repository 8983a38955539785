/* SPDX-License-Identifier: MIT */
/* Vector instructions around their lane loops (isa_lanes.h): convert operands to rows, apply
 * modifiers, and write results.
 *
 *   plain      operands are rows of registers, or one scalar repeated 64 times; the result
 *              is written directly to the register if all lanes are active
 *   modified   signs, absolute values, clamp, SDWA (bytes, words), DPP (other lanes), op_sel
 *              (halves)
 *   packed     a 16-bit loop on the low halves, then on the high halves
 *   mix        each operand is a single or a half; a single multiply-add; the result is a single
 *              or
 *              one half
 *
 * A loop runs on all lanes; inactive lanes keep their register values. If EXEC is 0, only masks are
 * written. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

/* Two rows per operand. An index added at run time may make v255 the first register of a pair,
 * whose second register does not exist; decoding cannot detect this. */
struct rows {
	uint32_t row[3][2 * SOFT_LANES] __attribute__((aligned(64)));
};

const soft_lanes_function *soft_lanes_table(void)
{
#if defined(__x86_64__)
	unsigned eax, ebx, ecx, edx;

	/* gcc before 11 and clang before 17 do not know the name "f16c" */
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_F16C)
		return soft_lanes_avx2_table;
#endif
	return soft_lanes_any_table;
}

const uint32_t *soft_live(struct soft_wave *w, uint64_t exec)
{
	if (w->live_mask != exec) {
		w->live_mask = exec;
		for (unsigned l = 0; l < SOFT_LANES; l++)
			w->live[l] = -(uint32_t)(exec >> l & 1);
	}
	return w->live;
}

static void fill_row(uint32_t *row, uint32_t x)
{
	for (unsigned l = 0; l < SOFT_LANES; l++)
		row[l] = x;
}

static const uint32_t *rows_of(struct soft_wave *w, const struct soft_step *s, unsigned i,
			       uint32_t *spare)
{
	unsigned r = s->source[i];

	if (r >= REG_VECTOR) {
		soft_want_rows(w, r - REG_VECTOR, soft_type_is_64(s->op->type[i + 1]) ? 2 : 1);
		return w->v[r - REG_VECTOR];
	}
	if (soft_type_is_64(s->op->type[i + 1])) {
		uint64_t x = source64(w, s, i);

		fill_row(spare, (uint32_t)x);
		fill_row(spare + SOFT_LANES, (uint32_t)(x >> 32));
	} else {
		fill_row(spare, source32(w, s, i));
	}
	return spare;
}

/* Write the active lanes of a register. */
static void keep_live(struct soft_wave *w, uint64_t exec, unsigned r, const uint32_t *from)
{
	const uint32_t *live = soft_live(w, exec);
	uint32_t *d = w->v[r];

	soft_want_rows(w, r, 1);
	for (unsigned l = 0; l < SOFT_LANES; l++)
		d[l] = (from[l] & live[l]) | (d[l] & ~live[l]);
}

void soft_put_mask(struct soft_wave *w, const struct soft_step *s, uint64_t mask)
{
	set_pair(w, s->mask_result, mask);
	if (s->op->flags & SOFT_FLAG_MASKX)
		set_pair(w, REG_EXEC, mask);
}

#define MAKES_MASK (SOFT_FLAG_MASK | SOFT_FLAG_MASKX | SOFT_FLAG_CARRY)
#define TAKES_MASK (SOFT_FLAG_CARRYIN | SOFT_FLAG_VCCIN)

int soft_vector_plain(struct soft_wave *w, const struct soft_step *s)
{
	const struct soft_op *op = s->op;
	uint64_t exec = pair(w, REG_EXEC);
	struct rows spare;
	uint32_t result[2 * SOFT_LANES] __attribute__((aligned(64)));
	struct soft_lanes n;
	int direct = exec == UINT64_MAX, wide = soft_type_is_64(op->type[0]);

	if (!exec) {
		if (op->flags & MAKES_MASK)
			soft_put_mask(w, s, 0);
		return 0;
	}
	n.a = rows_of(w, s, 0, spare.row[0]);
	if (op->type[2])
		n.b = rows_of(w, s, 1, spare.row[1]);
	if (op->type[3])
		n.c = rows_of(w, s, 2, spare.row[2]);
	if (op->flags & TAKES_MASK)
		n.carry_in = pair(w, s->mask_source);
	n.d = direct ? w->v[s->result] : result;
	s->lanes(&n);
	if (op->flags & MAKES_MASK) {
		soft_put_mask(w, s, n.mask_out & exec);
		if (!(op->flags & SOFT_FLAG_CARRY))
			return 0;
	}
	if (direct) {
		soft_row_comes(w, s->result);
		if (wide)
			soft_row_comes(w, s->result + 1u);
		return 0;
	}
	keep_live(w, exec, s->result, result);
	if (wide)
		keep_live(w, exec, s->result + 1u, result + SOFT_LANES);
	return 0;
}

/* ---- modifiers ---- */

/* DPP: return the lane that lane @l reads, or -1. */
static int dpp_lane(uint32_t control, int l)
{
	int row = l & ~15, i = l & 15, n = control & 15;

	if (control < 0x100)
		return (l & ~3) | (int)(control >> (l & 3) * 2 & 3);
	switch (control >> 4) {
	case 0x10: return i + n < 16 ? l + n : -1; /* shift left: read a higher lane */
	case 0x11: return i - n >= 0 ? l - n : -1;
	case 0x12: return row + ((i - n) & 15);
	}
	switch (control) {
	case 0x130: return l < 63 ? l + 1 : -1;
	case 0x134: return (l + 1) & 63;
	case 0x138: return l > 0 ? l - 1 : -1;
	case 0x13c: return (l - 1) & 63;
	case 0x140: return row + 15 - i;
	case 0x141: return (l & ~7) + 7 - (l & 7);
	case 0x142: return l >= 16 ? row - 1 : -1; /* the last lane of the preceding row */
	case 0x143: return l >= 32 ? 31 : -1;
	}
	return -1;
}

/* Read the first operand from other lanes. Return the mask of written lanes. */
static uint64_t move_lanes(uint32_t control, uint64_t exec, const uint32_t *from, uint32_t *to)
{
	uint64_t written = 0;
	unsigned banks = control >> 24 & 15, rows = control >> 28;
	int zero_outside = control >> 19 & 1;

	for (int l = 0; l < SOFT_LANES; l++) {
		int source = dpp_lane(control >> 8 & 0x1ff, l);
		int there = source >= 0 && exec >> source & 1;

		to[l] = there ? from[source] : 0;
		if ((there || zero_outside) && rows >> (l >> 4) & 1 && banks >> (l >> 2 & 3) & 1)
			written |= 1ull << l;
	}
	return written & exec;
}

/* SDWA: extract one byte or word of an operand. Selections: 0 to 3: a byte, 4 and 5: a word, 6:
 * all. */
static void select_part(unsigned select, int sign, const uint32_t *from, uint32_t *to)
{
	unsigned shift = select < 4 ? 8 * select : 16 * (select - 4), bits = select < 4 ? 8 : 16;

	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint32_t x = from[l] >> shift << (32 - bits);

		to[l] = sign ? (uint32_t)((int32_t)x >> (32 - bits)) : x >> (32 - bits);
	}
}

/* SDWA: put the result into one byte or word. The remaining bits become 0, become the sign, or are
 * kept. */
static int place_part(unsigned select, unsigned unused, uint32_t *d, const uint32_t *before)
{
	unsigned shift = select < 4 ? 8 * select : 16 * (select - 4), bits = select < 4 ? 8 : 16;
	uint32_t mask = ((1u << bits) - 1) << shift;

	if (unused > 2)
		return -1;
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		uint32_t x = d[l] << shift & mask;

		if (unused == 1 && d[l] >> (bits - 1) & 1)
			x |= ~(mask | (mask - 1));
		if (unused == 1 && shift + bits == 32)
			x &= mask;
		d[l] = unused == 2 ? x | (before[l] & ~mask) : x;
	}
	return 0;
}

/* Return operand @i after all modifiers that precede the lane loop. */
static const uint32_t *modified_rows(struct soft_wave *w, const struct soft_step *s, unsigned i,
				     uint32_t *spare, uint64_t exec, uint64_t *written)
{
	const uint32_t *row = rows_of(w, s, i, spare);
	unsigned type = s->op->type[i + 1];

	if (s->modifier == SOFT_DPP && i == 0) {
		uint32_t moved[SOFT_LANES];

		*written = move_lanes(s->control, exec, row, moved);
		memcpy(spare, moved, sizeof(moved));
		row = spare;
	}
	if (s->modifier == SOFT_SDWA && i < 2) {
		unsigned select = s->control >> (i ? 24 : 16) & 7;

		if (select < 6) {
			select_part(select, s->control >> (i ? 27 : 19) & 1, row, spare);
			row = spare;
		}
	}
	if (s->half >> i & 1 && type <= SOFT_TYPE_H16) {
		for (unsigned l = 0; l < SOFT_LANES; l++)
			spare[l] = row[l] >> 16;
		row = spare;
	}
	if ((s->absolute | s->negate) >> i & 1) {
		unsigned wide = soft_type_is_64(type);
		uint32_t sign = type <= SOFT_TYPE_H16 ? 0x8000 : 0x80000000;
		uint32_t keep = s->absolute >> i & 1 ? ~sign : UINT32_MAX,
			 flip = s->negate >> i & 1 ? sign : 0;

		if (wide && row != spare)
			memcpy(spare, row, SOFT_LANES * sizeof(*row));
		for (unsigned l = wide * SOFT_LANES; l < (wide + 1) * SOFT_LANES; l++)
			spare[l] = (row[l] & keep) ^ flip;
		row = spare;
	}
	return row;
}

static void clamp_row(unsigned type, uint32_t *d)
{
	for (unsigned l = 0; l < SOFT_LANES; l++) {
		double x = type == SOFT_TYPE_F32   ? get_f32(d, l)
			   : type == SOFT_TYPE_F16 ? get_f16(d, l)
						   : get_f64(d, l);

		/* NaN becomes 0 with DX10_CLAMP, which HIP sets */
		x = !(x > 0) ? 0 : x > 1 ? 1 : x;
		if (type == SOFT_TYPE_F32)
			put_f32(d, l, (float)x);
		else if (type == SOFT_TYPE_F16)
			put_f16(d, l, (float)x);
		else
			put_f64(d, l, x);
	}
}

/* Put the result into its part of the register, unless it fills the register. */
static int place_result(struct soft_wave *w, const struct soft_step *s, uint32_t *d)
{
	const uint32_t *before = w->v[s->result];
	int high = s->half >> 3 & 1;

	soft_want_rows(w, s->result, 1);
	if (s->modifier == SOFT_SDWA && (s->control >> 8 & 7) < 6)
		return place_part(s->control >> 8 & 7, s->control >> 11 & 3, d, before);
	if (s->op->type[0] > SOFT_TYPE_H16 && !high)
		return 0;
	if (high)
		for (unsigned l = 0; l < SOFT_LANES; l++)
			d[l] = d[l] << 16 | (before[l] & 0xffff);
	else if (s->op->flags & SOFT_FLAG_KEEP)
		for (unsigned l = 0; l < SOFT_LANES; l++)
			d[l] = (d[l] & 0xffff) | (before[l] & 0xffff0000);
	return 0;
}

int soft_vector_modified(struct soft_wave *w, const struct soft_step *s)
{
	const struct soft_op *op = s->op;
	uint64_t exec = pair(w, REG_EXEC), written = exec;
	struct rows spare;
	uint32_t result[2 * SOFT_LANES] __attribute__((aligned(64)));
	struct soft_lanes n = {.d = result};

	if (s->half >> 3 & 1 && op->type[0] > SOFT_TYPE_H16)
		return soft_unsupported(w, "with a high half of a whole register");
	n.a = modified_rows(w, s, 0, spare.row[0], exec, &written);
	if (op->type[2])
		n.b = modified_rows(w, s, 1, spare.row[1], exec, &written);
	if (op->type[3])
		n.c = modified_rows(w, s, 2, spare.row[2], exec, &written);
	if (op->flags & TAKES_MASK)
		n.carry_in = pair(w, s->mask_source);
	s->lanes(&n);
	if (op->flags & MAKES_MASK) {
		soft_put_mask(w, s, n.mask_out & exec);
		if (!(op->flags & SOFT_FLAG_CARRY))
			return 0;
	}
	if (s->clamp)
		clamp_row(op->type[0], result);
	if (place_result(w, s, result))
		return soft_unsupported(w, "with an unknown SDWA selection");
	keep_live(w, written, s->result, result);
	if (soft_type_is_64(op->type[0]))
		keep_live(w, written, s->result + 1u, result + SOFT_LANES);
	return 0;
}

/* ---- packed ---- */

/* Get operand @i for the loop on one half. */
static void half_rows(struct soft_wave *w, const struct soft_step *s, unsigned i, int high,
		      uint32_t *to)
{
	const uint32_t *row = rows_of(w, s, i, to);
	unsigned shift = ((high ? s->half_high : s->half) >> i & 1) * 16;
	uint32_t flip = (high ? s->negate_high : s->negate) >> i & 1 ? 0x8000 : 0;

	for (unsigned l = 0; l < SOFT_LANES; l++)
		to[l] = (row[l] >> shift & 0xffff) ^ flip;
}

int soft_vector_packed(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC);
	uint32_t result[2][SOFT_LANES] __attribute__((aligned(64)));
	struct rows spare;

	for (int high = 0; high < 2; high++) {
		struct soft_lanes n = {.d = result[high],
				       .a = spare.row[0],
				       .b = spare.row[1],
				       .c = spare.row[2]};

		for (unsigned i = 0; i < 3 && s->op->type[i + 1]; i++)
			half_rows(w, s, i, high, spare.row[i]);
		s->lanes(&n);
		if (s->clamp)
			clamp_row(s->op->type[0], result[high]);
	}
	for (unsigned l = 0; l < SOFT_LANES; l++)
		result[0][l] = (result[0][l] & 0xffff) | result[1][l] << 16;
	keep_live(w, exec, s->result, result[0]);
	return 0;
}

int soft_vector_mix(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC);
	uint32_t result[SOFT_LANES] __attribute__((aligned(64)));
	const uint32_t *before = w->v[s->result];
	struct rows spare;
	struct soft_lanes n = {.d = result,
			       .a = spare.row[0],
			       .b = spare.row[1],
			       .c = spare.row[2]};

	soft_want_rows(w, s->result, 1);
	for (unsigned i = 0; i < 3; i++) {
		const uint32_t *row = rows_of(w, s, i, spare.row[i]);
		int is_half = s->half_high >> i & 1, shift = (s->half >> i & 1) * 16;

		for (unsigned l = 0; l < SOFT_LANES; l++) {
			uint32_t x = is_half ? bits32(float16(row[l] >> shift)) : row[l];

			/* here, negate_high means absolute value */
			if (s->negate_high >> i & 1)
				x &= 0x7fffffff;
			spare.row[i][l] = x ^ (uint32_t)(s->negate >> i & 1) << 31;
		}
	}
	s->lanes(&n);
	if (s->clamp)
		clamp_row(SOFT_TYPE_F32, result);
	if (s->op->number == 0x21)
		for (unsigned l = 0; l < SOFT_LANES; l++)
			result[l] = bits16(float32(result[l])) | (before[l] & 0xffff0000);
	else if (s->op->number == 0x22)
		for (unsigned l = 0; l < SOFT_LANES; l++)
			result[l] = bits16(float32(result[l])) << 16 | (before[l] & 0xffff);
	keep_live(w, exec, s->result, result);
	return 0;
}

/* ---- modes ---- */

/* Offset registers with M0, as s_set_gpr_idx_on requires: bits 12 to 15 of M0 select the
 * operands. */
static int move_registers(const struct soft_wave *w, struct soft_step *s)
{
	uint32_t m0 = w->s[REG_M0], by = m0 & 255;

	for (unsigned i = 0; i < 3; i++)
		if (m0 >> (12 + i) & 1 && s->source[i] >= REG_VECTOR)
			s->source[i] = (uint16_t)(s->source[i] + by);
	for (unsigned i = 0; i < 3; i++)
		if (s->source[i] > REG_VECTOR + 254)
			return -1;
	if (m0 >> 15 & 1) {
		if (s->result + by > 254)
			return -1;
		s->result = (uint8_t)(s->result + by);
	}
	return 0;
}

#if defined(__x86_64__)
static uint32_t host_mode(unsigned round, unsigned denormal)
{
	/* rounding modes: nearest, up, down, to zero */
	static const uint32_t rounds[4] = {0, 0x4000, 0x2000, 0x6000};

	return 0x1f80 | rounds[round] | (denormal & 1 ? 0 : 0x40) | (denormal & 2 ? 0 : 0x8000);
}

static int run_in_mode(struct soft_wave *w, const struct soft_step *s)
{
	uint32_t was = __builtin_ia32_stmxcsr();
	int event;

	if (s->modes & 4 && (w->mode >> 2 & 0x33) != 0x30)
		return soft_unsupported(w, "of halves with unusual rounding or denormal modes");
	if (s->modes & 1)
		__builtin_ia32_ldmxcsr(
			host_mode(MODE_ROUND_32(w->mode), MODE_DENORMAL_32(w->mode)));
	else
		__builtin_ia32_ldmxcsr(
			host_mode(MODE_ROUND_64(w->mode), MODE_DENORMAL_64(w->mode)));
	event = s->run(w, s);
	__builtin_ia32_ldmxcsr(was);
	return event;
}
#else
static int run_in_mode(struct soft_wave *w, const struct soft_step *s)
{
	(void)s;
	return soft_unsupported(w, "with unusual rounding or denormal modes");
}
#endif

int soft_special_step(struct soft_wave *w, const struct soft_step *s)
{
	struct soft_step moved;

	if (!s->op || s->op->encoding < SOFT_VOP2 || s->op->encoding > SOFT_VOP3P)
		return s->run(w, s);
	if (w->indexed) {
		moved = *s;
		s = &moved;
		if (move_registers(w, &moved))
			return soft_unsupported(w, "beyond the registers");
	}
	return s->modes && (w->mode & 0xff) != MODE_PLAIN ? run_in_mode(w, s) : s->run(w, s);
}

/* ---- instructions between lanes and scalars ---- */

static unsigned first_lane(const struct soft_wave *w)
{
	uint64_t exec = pair(w, REG_EXEC);

	return exec ? (unsigned)__builtin_ctzll(exec) : 0;
}

static uint32_t lane_of(const struct soft_wave *w, const struct soft_step *s, unsigned i,
			unsigned lane)
{
	return s->source[i] >= REG_VECTOR ? w->v[s->source[i] - REG_VECTOR][lane]
					  : source32(w, s, i);
}

int soft_isa_v_readfirstlane_b32(struct soft_wave *w, const struct soft_step *s)
{
	w->s[s->result & 127] = lane_of(w, s, 0, first_lane(w));
	return 0;
}

int soft_isa_v_readlane_b32(struct soft_wave *w, const struct soft_step *s)
{
	w->s[s->result & 127] = lane_of(w, s, 0, lane_of(w, s, 1, 0) & 63);
	return 0;
}

int soft_isa_v_writelane_b32(struct soft_wave *w, const struct soft_step *s)
{
	w->v[s->result][lane_of(w, s, 1, 0) & 63] = lane_of(w, s, 0, 0);
	return 0;
}

int soft_isa_v_swap_b32(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t exec = pair(w, REG_EXEC);
	unsigned a = s->source[0] - REG_VECTOR;
	uint32_t was[SOFT_LANES];

	if (s->source[0] < REG_VECTOR)
		return soft_unsupported(w, "with a scalar");
	memcpy(was, w->v[a], sizeof(was));
	keep_live(w, exec, a, w->v[s->result]);
	keep_live(w, exec, s->result, was);
	return 0;
}
