/* SPDX-License-Identifier: MIT */
/* Decodes instruction words into steps. Each encoding has a function that looks up the
 * instruction's row, sets the operands, and refuses every bit that the interpreter would ignore. An
 * unsupported form becomes a step that ends the kernel with a message. */
#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

struct decoder {
	struct soft_step *s;
	const uint32_t *words;
	unsigned count;
	const struct soft_isa_gpu *gpu;
	uint32_t literal;
	int has_literal;
};

static int refuse_unsupported(struct soft_wave *w, const struct soft_step *s)
{
	return soft_unsupported(w, s->why);
}

static int refuse_illegal(struct soft_wave *w, const struct soft_step *s)
{
	w->why = s->why;
	return SOFT_EVENT_ILLEGAL;
}

static int do_nothing(struct soft_wave *w, const struct soft_step *s)
{
	(void)w, (void)s;
	return 0;
}

static void refuse(struct decoder *d, const char *why)
{
	d->s->run = refuse_unsupported;
	d->s->why = why;
}

static int look_up(struct decoder *d, enum soft_encoding encoding, unsigned number)
{
	d->s->op = soft_op_of(encoding, number);
	if (d->s->op)
		return 1;
	d->s->why = soft_absent_name(encoding, number);
	d->s->run = d->s->why ? refuse_unsupported : refuse_illegal;
	return 0;
}

/* ---- operands ---- */

/* Operand numbers 240 to 248: 0.5, 1, 2, 4 and their negatives, 1/(2 pi). */
static uint64_t inline_float(unsigned n, unsigned type)
{
	static const double values[9] = {0.5, -0.5, 1, -1, 2, -2, 4, -4};

	switch (type) {
	case SOFT_TYPE_F16:
	case SOFT_TYPE_H16:
	case SOFT_TYPE_U16:
	case SOFT_TYPE_I16: return n == 248 ? 0x3118 : bits16((float)values[n - 240]);
	case SOFT_TYPE_F64:
	case SOFT_TYPE_U64:
	case SOFT_TYPE_I64: return n == 248 ? 0x3fc45f306dc9c882ull : bits64(values[n - 240]);
	default: return n == 248 ? 0x3e22f983 : bits32((float)values[n - 240]);
	}
}

static uint64_t take_literal(struct decoder *d, unsigned type)
{
	if (!d->has_literal) {
		unsigned at = d->s->bytes / 4;

		d->has_literal = 1;
		d->literal = at < d->count ? d->words[at] : 0;
		d->s->bytes += 4;
	}
	if (type == SOFT_TYPE_F64)
		return (uint64_t)d->literal << 32;
	return type == SOFT_TYPE_I64 ? (uint64_t)(int32_t)d->literal : d->literal;
}

/* Decode a 9-bit operand. Return 0 for an unknown operand. */
static int operand(struct decoder *d, unsigned i, unsigned n)
{
	struct soft_step *s = d->s;
	unsigned type = s->op->type[i + 1];
	uint64_t x;

	s->source[i] = REG_CONSTANT;
	if (n == REG_VECTOR + 255 && soft_type_is_64(type)) {
		refuse(d, "beyond the registers");
		return 0;
	}
	if (n < REG_COUNT || n >= REG_VECTOR) {
		s->source[i] = (uint16_t)n;
		return 1;
	}
	if (n <= 192)
		x = n - 128;
	else if (n <= 208)
		x = (uint64_t) - (int64_t)(n - 192);
	else if (n >= 240 && n <= 248)
		x = inline_float(n, type);
	else if (n == 235)
		x = d->gpu->lds_aperture;
	else if (n == 236)
		x = d->gpu->lds_aperture | UINT32_MAX;
	else if (n == 237)
		x = d->gpu->private_aperture;
	else if (n == 238)
		x = d->gpu->private_aperture | UINT32_MAX;
	else if (n == 255)
		x = take_literal(d, type);
	else if (n >= REG_VCCZ && n <= REG_SCC) {
		s->source[i] = (uint16_t)n;
		return 1;
	} else {
		refuse(d, "with an unknown operand");
		return 0;
	}
	/* a 32-bit read of an aperture gives the high word of its base */
	s->constant[i] = n >= 235 && n <= 238 && !soft_type_is_64(type) ? x >> 32 : x;
	return 1;
}

static unsigned operand_count(const struct soft_op *op)
{
	unsigned n = 0;

	while (n < 3 && op->type[n + 1])
		n++;
	return n;
}

/* ---- scalar ---- */

static void decode_sop2(struct decoder *d, uint32_t w)
{
	if (!look_up(d, SOFT_SOP2, w >> 23 & 127))
		return;
	d->s->result = w >> 16 & 127;
	if (operand(d, 0, w & 255) && operand(d, 1, w >> 8 & 255))
		d->s->run = d->s->op->run;
}

static void decode_sop1(struct decoder *d, uint32_t w)
{
	if (!look_up(d, SOFT_SOP1, w >> 8 & 255))
		return;
	d->s->result = w >> 16 & 127;
	if (d->s->op->type[1] == SOFT_TYPE_NOTHING || operand(d, 0, w & 255))
		d->s->run = d->s->op->run;
}

static void decode_sopc(struct decoder *d, uint32_t w)
{
	if (!look_up(d, SOFT_SOPC, w >> 16 & 127))
		return;
	if (d->s->op->type[2] == SOFT_TYPE_FIELD)
		d->s->offset = w >> 8 & 255;
	else if (!operand(d, 1, w >> 8 & 255))
		return;
	if (operand(d, 0, w & 255))
		d->s->run = d->s->op->run;
}

static void decode_sopk(struct decoder *d, uint32_t w)
{
	if (!look_up(d, SOFT_SOPK, w >> 23 & 31))
		return;
	d->s->result = w >> 16 & 127;
	d->s->offset = (int16_t)w;
	if (d->s->op->flags & SOFT_FLAG_LITERAL)
		d->s->constant[0] = take_literal(d, SOFT_TYPE_U32);
	d->s->run = d->s->op->run;
}

static void decode_sopp(struct decoder *d, uint32_t w)
{
	if (!look_up(d, SOFT_SOPP, w >> 16 & 127))
		return;
	d->s->offset = (int16_t)w;
	d->s->run = d->s->op->kind == SOFT_KIND_NOTHING ? do_nothing : d->s->op->run;
}

static void decode_smem(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	uint32_t w1 = d->words[d->count > 1];

	s->bytes = 8;
	if (!look_up(d, SOFT_SMEM, w >> 18 & 255))
		return;
	s->result = w >> 6 & 127;
	s->base = (uint8_t)((w & 63) * 2);
	s->source[0] = REG_CONSTANT;
	/* IMM: a 21-bit offset. SOFFSET_EN: a register, alone or added to that offset. Neither bit:
	 * the offset field contains a register number. */
	if (w >> 17 & 1)
		s->offset = (int32_t)(w1 << 11) >> 11;
	else if (!(w >> 14 & 1))
		s->source[0] = w1 & 127;
	if (w >> 14 & 1)
		s->source[0] = (uint16_t)(w1 >> 25);
	if (s->result + s->op->bytes / 4u > REG_COUNT)
		refuse(d, "beyond the registers");
	else if (s->op->kind == SOFT_KIND_NOTHING)
		s->run = do_nothing;
	else
		s->run = s->op->kind == SOFT_KIND_TIME ? soft_scalar_time : soft_scalar_load;
}

/* ---- vector ---- */

static unsigned float_formats(const struct soft_op *op)
{
	unsigned formats = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (op->type[i] == SOFT_TYPE_F32 || op->type[i] == SOFT_TYPE_K32)
			formats |= 1;
		if (op->type[i] == SOFT_TYPE_F64)
			formats |= 2;
		if (op->type[i] == SOFT_TYPE_F16)
			formats |= 4;
	}
	return formats;
}

static int takes_sign(unsigned type)
{
	return type == SOFT_TYPE_F16 || type == SOFT_TYPE_F32 || type == SOFT_TYPE_F64 ||
	       type == SOFT_TYPE_B32 || type == SOFT_TYPE_H16;
}

static int is_float(unsigned type)
{
	return type == SOFT_TYPE_F16 || type == SOFT_TYPE_F32 || type == SOFT_TYPE_F64;
}

/* Choose the function that runs a vector instruction. Call when its modifiers are known. */
static void finish_vector(struct decoder *d)
{
	struct soft_step *s = d->s;
	const struct soft_op *op = s->op;
	unsigned signs = s->absolute | s->negate;

	s->modes = (uint8_t)float_formats(op);
	if (s->result == 255 && soft_type_is_64(op->type[0])) {
		refuse(d, "beyond the registers");
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		if (signs >> i & 1 && !(takes_sign(op->type[i + 1]) && op->type[i + 1])) {
			refuse(d, "with a sign modifier");
			return;
		}
	if (op->kind == SOFT_KIND_NOTHING || op->kind == SOFT_KIND_HAND) {
		if (signs || s->clamp || s->modifier > SOFT_MODIFIED)
			refuse(d, "with modifiers");
		else
			s->run = op->kind == SOFT_KIND_HAND ? op->run : do_nothing;
		return;
	}
	s->lanes = soft_lanes_table()[op->lanes];
	if (s->clamp && op->clamp_lanes) {
		s->lanes = soft_lanes_table()[op->clamp_lanes];
		s->clamp = 0;
	} else if (s->clamp && !is_float(op->type[0])) {
		refuse(d, "with the clamp bit");
		return;
	}
	if (s->modifier == SOFT_PLAIN &&
	    (signs || s->clamp || s->half || op->flags & SOFT_FLAG_KEEP))
		s->modifier = SOFT_MODIFIED;
	s->run = s->modifier == SOFT_PLAIN ? soft_vector_plain : soft_vector_modified;
	if (s->modifier == SOFT_PLAIN && s->lanes == soft_lanes_table()[op->lanes] && op->line) {
		s->line = op->line;
		s->run = soft_vector_line;
	}
}

static int decode_sdwa(struct decoder *d, int compares)
{
	struct soft_step *s = d->s;
	uint32_t c = d->words[d->count > 1];

	s->bytes = 8;
	s->modifier = SOFT_SDWA;
	s->control = c;
	s->source[0] = (uint16_t)((c & 255) + (c >> 23 & 1 ? 0 : REG_VECTOR));
	if (s->source[0] < REG_VECTOR && !operand(d, 0, s->source[0]))
		return 0;
	if (c >> 31 && s->op->type[2] && !operand(d, 1, s->source[1] - REG_VECTOR))
		return 0;
	s->negate = (uint8_t)((c >> 20 & 1) | (c >> 28 & 1) << 1);
	s->absolute = (uint8_t)((c >> 21 & 1) | (c >> 29 & 1) << 1);
	if (compares) {
		if (c >> 15 & 1)
			s->mask_result = c >> 8 & 127;
		s->control = (c & ~0x1f00u) | 6 << 8; /* this encoding has no other modifiers */
		return 1;
	}
	s->clamp = c >> 13 & 1;
	if (c >> 14 & 3) {
		refuse(d, "with an output multiplier");
		return 0;
	}
	if (soft_type_is_64(s->op->type[0]) || soft_type_is_64(s->op->type[1]) ||
	    soft_type_is_64(s->op->type[2])) {
		refuse(d, "of 64 bits with SDWA");
		return 0;
	}
	return 1;
}

static int dpp_control_is_known(uint32_t control)
{
	return control < 0x100 || (control > 0x100 && control < 0x110) ||
	       (control > 0x110 && control < 0x120) || (control > 0x120 && control < 0x130) ||
	       control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c ||
	       (control >= 0x140 && control <= 0x143);
}

static int decode_dpp(struct decoder *d)
{
	struct soft_step *s = d->s;
	uint32_t c = d->words[d->count > 1];

	s->bytes = 8;
	s->modifier = SOFT_DPP;
	s->control = c;
	s->source[0] = (uint16_t)(REG_VECTOR + (c & 255));
	s->negate = (uint8_t)((c >> 20 & 1) | (c >> 22 & 1) << 1);
	s->absolute = (uint8_t)((c >> 21 & 1) | (c >> 23 & 1) << 1);
	if (!dpp_control_is_known(c >> 8 & 0x1ff))
		refuse(d, "with an unknown DPP pattern");
	else if (s->op->flags & (SOFT_FLAG_MASK | SOFT_FLAG_MASKX | SOFT_FLAG_CARRY) ||
		 soft_type_is_64(s->op->type[0]) || soft_type_is_64(s->op->type[1]))
		refuse(d, "with DPP");
	else
		return 1;
	return 0;
}

/* Decode VOP1, VOP2 and VOPC in 32 bits, with a literal, or with a trailing SDWA or DPP word. */
static void decode_vop(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	unsigned top = w >> 25, src0 = w & 511, vsrc1 = REG_VECTOR + (w >> 9 & 255);
	const struct soft_op *op;

	if (!(top == 0x3f   ? look_up(d, SOFT_VOP1, w >> 9 & 255)
	      : top == 0x3e ? look_up(d, SOFT_VOPC, w >> 17 & 255)
			    : look_up(d, SOFT_VOP2, top & 63)))
		return;
	op = s->op;
	s->result = w >> 17 & 255;
	s->mask_result = s->mask_source = REG_VCC;
	if (top != 0x3f)
		s->source[1] = (uint16_t)vsrc1;
	if (op->flags & SOFT_FLAG_ACC)
		s->source[2] = REG_VECTOR + s->result;
	/* v_madmk: the constant is the second operand and VSRC1 the third */
	if (op->flags & SOFT_FLAG_LITERAL) {
		unsigned k = op->type[2] == SOFT_TYPE_K32 ? 1 : 2;

		s->source[k] = REG_CONSTANT;
		s->constant[k] = take_literal(d, SOFT_TYPE_U32);
		if (k == 1)
			s->source[2] = (uint16_t)vsrc1;
	}
	if (src0 == 249   ? !decode_sdwa(d, top == 0x3e)
	    : src0 == 250 ? !decode_dpp(d)
			  : op->type[1] && !operand(d, 0, src0))
		return;
	finish_vector(d);
}

static void decode_vop3(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	unsigned number = w >> 16 & 1023;
	uint32_t w1 = d->words[d->count > 1];
	int b_form;

	s->bytes = 8;
	if (!(number < 0x100   ? look_up(d, SOFT_VOPC, number)
	      : number < 0x140 ? look_up(d, SOFT_VOP2, number - 0x100)
	      : number < 0x1c0 ? look_up(d, SOFT_VOP1, number - 0x140)
			       : look_up(d, SOFT_VOP3, number)))
		return;
	if (s->op->flags & SOFT_FLAG_LITERAL) {
		refuse(d, "in the long encoding");
		return;
	}
	b_form = (s->op->flags & (SOFT_FLAG_CARRY | SOFT_FLAG_SDST)) != 0;
	s->result = w & 255;
	s->mask_result = b_form ? w >> 8 & 127 : w & 127;
	s->mask_source = REG_VCC;
	for (unsigned i = 0, n = operand_count(s->op); i < n; i++)
		if (!operand(d, i, w1 >> 9 * i & 511))
			return;
	if (s->op->flags & SOFT_FLAG_CARRYIN)
		s->mask_source = w1 >> 18 & 127;
	if (s->op->flags & SOFT_FLAG_ACC)
		s->source[2] = REG_VECTOR + s->result;
	s->negate = (uint8_t)(w1 >> 29);
	s->clamp = w >> 15 & 1;
	if (!b_form) {
		s->absolute = w >> 8 & 7;
		s->half = w >> 11 & 15;
	}
	if (d->has_literal)
		s->run = refuse_illegal, s->why = "with a literal";
	else if (w1 >> 27 & 3)
		refuse(d, "with an output multiplier");
	else if (s->half && !(s->op->flags & SOFT_FLAG_OPSEL))
		refuse(d, "with halves selected");
	else
		finish_vector(d);
}

static void decode_vop3p(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	uint32_t w1 = d->words[d->count > 1];
	unsigned n;

	s->bytes = 8;
	if (!look_up(d, SOFT_VOP3P, w >> 16 & 127))
		return;
	n = operand_count(s->op);
	s->result = w & 255;
	for (unsigned i = 0; i < n; i++)
		if (!operand(d, i, w1 >> 9 * i & 511))
			return;
	s->negate_high = w >> 8 & 7;
	s->half = w >> 11 & 7;
	s->half_high = (uint8_t)((w >> 14 & 1) << 2 | (w1 >> 27 & 3));
	s->clamp = w >> 15 & 1;
	s->negate = (uint8_t)(w1 >> 29);
	s->modes = (uint8_t)float_formats(s->op);
	if (d->has_literal) {
		s->run = refuse_illegal, s->why = "with a literal";
		return;
	}
	if (s->op->kind == SOFT_KIND_MIX) {
		for (unsigned i = 0; i < 3; i++)
			if (s->half_high >> i & 1 && s->source[i] == REG_CONSTANT &&
			    s->constant[i]) {
				refuse(d, "with a constant half");
				return;
			}
		s->modes = 5;
		s->lanes = soft_lanes_table()[s->op->lanes];
		s->run = soft_vector_mix;
		return;
	}
	if (s->op->kind == SOFT_KIND_PACKED) {
		s->lanes = soft_lanes_table()[s->op->lanes];
		if ((s->negate | s->negate_high) && s->op->type[0] != SOFT_TYPE_F16)
			refuse(d, "with a sign modifier");
		else if (s->clamp && s->op->clamp_lanes)
			s->lanes = soft_lanes_table()[s->op->clamp_lanes], s->clamp = 0,
			s->run = soft_vector_packed;
		else if (s->clamp && s->op->type[0] != SOFT_TYPE_F16)
			refuse(d, "with the clamp bit");
		else
			s->run = soft_vector_packed;
		return;
	}
	if (s->half || s->half_high != 7 || s->negate || s->negate_high) { /* dot products */
		refuse(d, "with halves selected or signs");
		return;
	}
	s->half_high = 0;
	finish_vector(d);
}

/* ---- memory ---- */

/* Check up to four registers of data, and the same number of registers of comparison values. */
static int beyond_registers(const struct soft_step *s)
{
	unsigned words = (s->op->bytes + 3) / 4 * (s->op->kind == SOFT_KIND_READ2 ? 2 : 1);
	unsigned data = words * (s->op->flags & SOFT_FLAG_COMPARE ? 2 : 1);

	return s->data + data > 256 || s->data2 + words > 256 || s->result + words > 256;
}

static void decode_flat(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	uint32_t w1 = d->words[d->count > 1];

	s->bytes = 8;
	if (!look_up(d, SOFT_MEMORY, w >> 18 & 127))
		return;
	s->segment = w >> 14 & 3;
	s->offset = s->segment == SOFT_FLAT ? (int32_t)(w & 0xfff) : (int32_t)(w << 19) >> 19;
	s->returns = w >> 16 & 1;
	s->source[0] = w1 & 255;
	s->data = w1 >> 8 & 255;
	s->base = w1 >> 16 & 127;
	s->result = (uint8_t)(w1 >> 24);
	if (s->segment == SOFT_FLAT || s->base == 127)
		s->base = REG_COUNT;
	if (s->segment > SOFT_GLOBAL)
		d->s->run = refuse_illegal, d->s->why = "of an invalid segment";
	else if (w >> 13 & 1)
		refuse(d, "that moves to LDS");
	else if (s->segment == SOFT_SCRATCH && s->op->kind == SOFT_KIND_ATOMIC)
		d->s->run = refuse_illegal, d->s->why = "in scratch";
	else if (beyond_registers(s))
		refuse(d, "beyond the registers");
	else
		s->run = soft_memory;
}

static void decode_mubuf(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	uint32_t w1 = d->words[d->count > 1];
	unsigned number = w >> 18 & 127;

	s->bytes = 8;
	if (soft_op_of(SOFT_MUBUF, number)) {
		look_up(d, SOFT_MUBUF, number);
		if (s->op->kind == SOFT_KIND_NOTHING) {
			s->run = do_nothing;
			return;
		}
	} else if (!look_up(d, SOFT_MEMORY, number)) {
		return;
	}
	s->offset = (int32_t)(w & 0xfff);
	s->source[0] = w >> 12 & 3 ? REG_VECTOR + (w1 & 255) : REG_CONSTANT;
	s->data = s->result = w1 >> 8 & 255;
	s->base = (uint8_t)((w1 >> 16 & 31) * 4);
	s->segment = SOFT_SCRATCH;
	s->control = (w >> 13 & 1) | (w >> 12 & 1) << 1;
	if (s->op->encoding == SOFT_MUBUF ? w >> 16 & 1 || w1 >> 23 & 1
					  : s->op->kind == SOFT_KIND_ATOMIC || w >> 13 & 1 ||
						    w >> 16 & 1 || w1 >> 23 & 1) {
		refuse(d, s->op->encoding == SOFT_MUBUF ? "in an unknown form"
							: "of a buffer other than scratch");
		return;
	}
	/* the offset register is operand 1: a register or a small constant */
	s->source[1] = REG_CONSTANT;
	if (w1 >> 24 < REG_COUNT)
		s->source[1] = (uint16_t)(w1 >> 24);
	else if (w1 >> 24 <= 192)
		s->constant[1] = (w1 >> 24) - 128;
	else {
		refuse(d, "with an unknown operand");
		return;
	}
	if (beyond_registers(s) || s->base > 100)
		refuse(d, "beyond the registers");
	else
		s->run = s->op->encoding == SOFT_MUBUF ? soft_typed_buffer : soft_buffer;
}

static void decode_mimg(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	uint32_t w1 = d->words[d->count > 1];
	int samples = (w >> 18 & 127) >= 0x20;

	s->bytes = 8;
	if (!soft_op_of(SOFT_MIMG, w >> 18 & 127)) {
		refuse(d, "an image instruction of an unknown kind");
		return;
	}
	look_up(d, SOFT_MIMG, w >> 18 & 127);
	s->control = w >> 8 & 15;
	s->source[0] = w1 & 255;
	s->data = s->result = w1 >> 8 & 255;
	s->base = (uint8_t)((w1 >> 16 & 31) * 4);
	s->sampler = (uint8_t)((w1 >> 21 & 31) * 4);
	/* refuse 16-bit coordinates, residency results, 16-bit data, elements with coordinates from
	 * 0 to 1, and samples that override the sampler's coordinate mode */
	if (w >> 15 & 7 || (w >> 12 & 1) == (uint32_t)samples || w1 >> 31)
		refuse(d, "in an unknown form");
	else if (beyond_registers(s) || s->source[0] > 247 || s->base > 96 || s->sampler > 100)
		refuse(d, "beyond the registers");
	else
		s->run = samples ? soft_sample : soft_image;
}

static void decode_ds(struct decoder *d, uint32_t w)
{
	struct soft_step *s = d->s;
	uint32_t w1 = d->words[d->count > 1], number = w >> 17 & 255;
	bool wave_sync = number >= 0x98 && number <= 0x9d;

	s->bytes = 8;
	if (!look_up(d, SOFT_DS, number))
		return;
	s->offset = (int32_t)(w & 0xffff);
	s->source[0] = w1 & 255;
	s->data = w1 >> 8 & 255;
	s->data2 = w1 >> 16 & 255;
	s->result = (uint8_t)(w1 >> 24);
	if ((w >> 16 & 1) != wave_sync) { /* GDS */
		refuse(d, wave_sync ? "of LDS" : "of memory that workgroups share");
		return;
	}
	if (s->op->kind == SOFT_KIND_READ2 || s->op->kind == SOFT_KIND_WRITE2) {
		int32_t scale = s->op->bytes * (s->op->flags & SOFT_FLAG_ST64 ? 64 : 1);

		s->offset = (int32_t)(w & 255) * scale;
		s->offset2 = (int32_t)(w >> 8 & 255) * scale;
	}
	if (beyond_registers(s))
		refuse(d, "beyond the registers");
	else
		s->run = s->op->kind == SOFT_KIND_NOTHING ? do_nothing
			 : s->op->kind == SOFT_KIND_HAND  ? s->op->run
							  : soft_lds;
}

static int run_with_rows(struct soft_wave *w, const struct soft_step *s)
{
	soft_make_all_rows(w);
	return s->with_rows(w, s);
}

/* Return true if the step reads vector registers without checking whether they are lines. */
static int wants_rows(const struct soft_step *s)
{
	static const soft_step_function others[] = {
		do_nothing,       refuse_unsupported,   refuse_illegal,     soft_vector_plain,
		soft_vector_line, soft_vector_modified, soft_vector_packed, soft_vector_mix,
		soft_memory,      soft_buffer,          soft_lds,
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (s->run == others[i])
			return 0;
	return s->op && s->op->encoding >= SOFT_VOP2;
}

void soft_decode(struct soft_step *s, const uint32_t *words, unsigned count,
		 const struct soft_isa_gpu *gpu)
{
	struct decoder d = {.s = s, .words = words, .count = count, .gpu = gpu};
	uint32_t w = words[0];

	memset(s, 0, sizeof(*s));
	s->bytes = 4;
	s->run = refuse_illegal;
	if (w >> 31 == 0)
		decode_vop(&d, w);
	else if (w >> 23 == 0x17d)
		decode_sop1(&d, w);
	else if (w >> 23 == 0x17e)
		decode_sopc(&d, w);
	else if (w >> 23 == 0x17f)
		decode_sopp(&d, w);
	else if (w >> 28 == 0xb)
		decode_sopk(&d, w);
	else if (w >> 30 == 2)
		decode_sop2(&d, w);
	else if (w >> 26 == 0x30)
		decode_smem(&d, w);
	else if (w >> 23 == 0x1a7)
		decode_vop3p(&d, w);
	else if (w >> 26 == 0x34)
		decode_vop3(&d, w);
	else if (w >> 26 == 0x36)
		decode_ds(&d, w);
	else if (w >> 26 == 0x37)
		decode_flat(&d, w);
	else if (w >> 26 == 0x38)
		decode_mubuf(&d, w);
	else if (w >> 26 == 0x3c)
		decode_mimg(&d, w);
	else if (w >> 26 == 0x3a || w >> 26 == 0x31 || w >> 26 == 0x35)
		s->bytes = 8, refuse(&d, "a buffer format, export or interpolation instruction");
	if (wants_rows(s)) {
		s->with_rows = s->run;
		s->run = run_with_rows;
	}
}
