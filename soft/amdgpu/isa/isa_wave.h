/* SPDX-License-Identifier: MIT */
/* Internals of the interpreter: decoded instructions, and the state of a wave.
 *
 *   gfx906.isa ── gen/isa.py ──► struct soft_op (a row per instruction) ─┐
 *   code in memory ── isa_decode.c ──────────────────────────────────────┴► struct soft_step
 *   struct soft_step ── isa_run.c ──► struct soft_wave
 *
 * A step is one instruction at one address: its row, its resolved operands, its checked form. Steps
 * are stored by page of code (isa_code.c), so that an instruction is decoded once. step->run() runs
 * a step and returns 0 or an event.
 *
 * Registers: v[register][lane], so that an operand of a lane loop is a row. s[] is indexed with the
 * 7-bit register numbers of scalar operands, including VCC and EXEC. Threads share nothing declared
 * here. */
#ifndef SOFT_AMDGPU_ISA_WAVE_H
#define SOFT_AMDGPU_ISA_WAVE_H

#include "soft/amdgpu/isa/isa.h"
#include "soft/amdgpu/isa/isa_lanes.h"

#include <stddef.h>
#include <string.h>

enum soft_encoding {
	SOFT_SOP2,
	SOFT_SOP1,
	SOFT_SOPC,
	SOFT_SOPK,
	SOFT_SOPP,
	SOFT_SMEM,
	SOFT_VOP2,
	SOFT_VOP1,
	SOFT_VOPC,
	SOFT_VOP3,
	SOFT_VOP3P,
	SOFT_MEMORY,
	SOFT_MUBUF,
	SOFT_MIMG,
	SOFT_DS,
};

/* Function of the interpreter that runs the instruction. */
enum soft_kind {
	SOFT_KIND_NOTHING,
	SOFT_KIND_SCALAR,
	SOFT_KIND_BRANCH,
	SOFT_KIND_HAND,
	SOFT_KIND_VECTOR,
	SOFT_KIND_PACKED,
	SOFT_KIND_MIX,
	SOFT_KIND_TIME,
	SOFT_KIND_LOAD,
	SOFT_KIND_STORE,
	SOFT_KIND_ATOMIC,
	SOFT_KIND_READ,
	SOFT_KIND_WRITE,
	SOFT_KIND_READ2,
	SOFT_KIND_WRITE2,
};

enum soft_type {
	SOFT_TYPE_NOTHING,
	SOFT_TYPE_NONE,
	SOFT_TYPE_U16,
	SOFT_TYPE_I16,
	SOFT_TYPE_F16,
	SOFT_TYPE_H16,
	SOFT_TYPE_U24,
	SOFT_TYPE_I24,
	SOFT_TYPE_U32,
	SOFT_TYPE_I32,
	SOFT_TYPE_F32,
	SOFT_TYPE_B32,
	SOFT_TYPE_K32,
	SOFT_TYPE_SGPR,
	SOFT_TYPE_FIELD,
	SOFT_TYPE_U64,
	SOFT_TYPE_I64,
	SOFT_TYPE_F64,
	SOFT_TYPE_MASK,
	SOFT_TYPE_MASKX,
	SOFT_TYPE_SCC,
	SOFT_TYPE_SAVEEXEC,
	SOFT_TYPE_WRITEEXEC,
};

/* How a vector instruction operates on lines (struct soft_line) without converting them to rows;
 * 0: not supported. */
enum soft_line_way {
	SOFT_LINE_NONE,
	SOFT_LINE_MOVE,
	SOFT_LINE_ADD,
	SOFT_LINE_SUB,
	SOFT_LINE_SUBREV,
	SOFT_LINE_ADD_CO,
	SOFT_LINE_ADDC_CO,
	SOFT_LINE_SUB_CO,
	SOFT_LINE_SUBREV_CO,
	SOFT_LINE_SUBB_CO,
	SOFT_LINE_SUBBREV_CO,
	SOFT_LINE_SHIFT_LEFT,
	SOFT_LINE_SHIFT_LEFT64,
	SOFT_LINE_SHIFT_RIGHT,
	SOFT_LINE_SHIFT_RIGHT_SIGNED,
	SOFT_LINE_MULTIPLY,
	SOFT_LINE_MULTIPLY_ADD64,
	SOFT_LINE_SHIFT_ADD,
	SOFT_LINE_ADD_SHIFT,
	SOFT_LINE_ADD3,
	SOFT_LINE_LT,
	SOFT_LINE_EQ,
	SOFT_LINE_LE,
	SOFT_LINE_GT,
	SOFT_LINE_NE,
	SOFT_LINE_GE,
};

enum soft_flag {
	SOFT_FLAG_ACC = 1,
	SOFT_FLAG_CARRYIN = 2,
	SOFT_FLAG_VCCIN = 4,
	SOFT_FLAG_CARRY = 8,
	SOFT_FLAG_SDST = 16,
	SOFT_FLAG_OPSEL = 32,
	SOFT_FLAG_KEEP = 64,
	SOFT_FLAG_LITERAL = 128,
	SOFT_FLAG_HIGH = 256,
	SOFT_FLAG_LOW = 512,
	SOFT_FLAG_TWO = 1024,
	SOFT_FLAG_RTN = 2048,
	SOFT_FLAG_ST64 = 4096,
	SOFT_FLAG_COMPARE = 8192,
	SOFT_FLAG_MASK = 16384,
	SOFT_FLAG_MASKX = 32768,
};

struct soft_wave;
struct soft_step;

/* Actions that a step requests from the wave's loop; 0: continue with the next step. */
enum soft_event {
	SOFT_EVENT_END = 1,
	SOFT_EVENT_BARRIER,
	SOFT_EVENT_GRID_BARRIER,
	SOFT_EVENT_YIELD,
	SOFT_EVENT_STOP,
	SOFT_EVENT_FAULT,
	SOFT_EVENT_TRAP,
	SOFT_EVENT_UNSUPPORTED,
	SOFT_EVENT_ILLEGAL,
};

typedef int (*soft_step_function)(struct soft_wave *w, const struct soft_step *s);

struct soft_op {
	const char *name;
	uint8_t encoding, kind;
	uint16_t number;
	uint8_t type[4];          /* result, operands */
	uint8_t bytes, is_signed; /* memory: size of one element, or of all elements */
	uint32_t flags;
	uint16_t lanes, clamp_lanes; /* index into the lane tables */
	uint8_t line;                /* enum soft_line_way */
	soft_step_function run;      /* scalar, branch, hand */
	/* atomic: returns the new value in memory */
	uint64_t (*merge)(uint64_t m, uint64_t x, uint64_t y);
};

enum soft_register {
	REG_FLAT_SCRATCH = 102,
	REG_VCC = 106,
	REG_M0 = 124,
	REG_EXEC = 126,
	REG_COUNT = 128,
	/* Operands that are not numbered registers. REG_CONSTANT means any constant; the other
	 * numbers are those of the instruction set. Vector registers start at 256. */
	REG_CONSTANT = 128,
	REG_VCCZ = 251,
	REG_EXECZ = 252,
	REG_SCC = 253,
	REG_VECTOR = 256,
};

enum soft_modifier { SOFT_PLAIN, SOFT_MODIFIED, SOFT_SDWA, SOFT_DPP };
enum soft_segment { SOFT_FLAT, SOFT_SCRATCH, SOFT_GLOBAL };

struct soft_step {
	soft_step_function run __attribute__((aligned(64))); /* NULL: not decoded */
	const struct soft_op *op;
	soft_lanes_function lanes;
	uint64_t constant[3]; /* values of operands that are REG_CONSTANT, in the operand's type */
	uint16_t source[3];
	uint8_t bytes;  /* length of the instruction in bytes */
	uint8_t result; /* first destination VGPR, or SGPR for scalar instructions */
	/* first SGPR of the pair that receives the results of a carry or comparison */
	uint8_t mask_result;
	uint8_t mask_source;                   /* first SGPR of the pair of carries or conditions */
	uint8_t modifier;                      /* enum soft_modifier */
	uint8_t absolute, negate, negate_high; /* one bit per operand */
	uint8_t half, half_high;               /* op_sel, op_sel_hi */
	uint8_t clamp;
	uint8_t segment;           /* enum soft_segment */
	uint8_t base, data, data2; /* memory: SGPR base (128 none), VGPRs of data */
	uint8_t sampler;           /* memory: first SGPR of the sampler */
	uint8_t returns;           /* true if an atomic returns the old value */
	uint8_t modes;             /* float formats that are used: 1 single, 2 double and half */
	/* enum soft_line_way; 0 if a modifier prevents the use of lines */
	uint8_t line;
	/* called after all vector registers were converted to rows; does not support lines */
	soft_step_function with_rows;
	/* the SDWA or DPP word; images: channel mask; typed buffers: 1: an index per lane, 2: an
	 * offset per lane */
	uint32_t control;
	int32_t offset, offset2;
	const char *why; /* unsupported feature, if the step only reports it */
};

struct soft_workgroup {
	uint8_t *lds;
	uint32_t lds_bytes;
	uint32_t id[3];
	uint32_t flat_id;
};

/* A vector register whose lane l holds base + l * step, modulo 2^32. Most indices and addresses
 * have this form. */
struct soft_line {
	uint32_t base, step;
};

struct soft_wave {
	/* The row of each register. If the register's bit in `lines` is set, its value is in `line`
	 * instead, and the row is out of date. */
	uint32_t v[256][SOFT_LANES] __attribute__((aligned(64)));
	struct soft_line line[256];
	uint64_t lines[4];
	uint32_t s[REG_COUNT] __attribute__((aligned(64)));
	/* EXEC as a row, computed on demand: live[l] is ~0 if bit l of live_mask is set */
	uint32_t live[SOFT_LANES] __attribute__((aligned(64)));
	uint64_t live_mask;
	uint64_t pc; /* address of the next instruction while a step runs */
	uint32_t scc;
	uint32_t mode;   /* MODE register */
	uint8_t indexed; /* s_set_gpr_idx_on */
	/* true if registers are indexed or the float mode is not MODE_PLAIN; soft_special_step()
	 * then runs each step */
	uint8_t special;
	uint8_t done, waits;    /* wait target, see isa_run.c; 0: none */
	uint32_t index;         /* index of the wave in its workgroup */
	uint8_t *scratch;       /* swizzled: dword i of lane l is at 256 i + 4 l */
	uint32_t scratch_bytes; /* per lane */
	uint64_t fault;         /* address of the access, after a step returned SOFT_EVENT_FAULT */
	uint32_t trap;
	const char *why; /* unsupported feature that a step reported */
	struct soft_workgroup *group;
	struct soft_isa *isa;
	uint64_t instructions;
};

/* Fields of MODE. */
#define MODE_ROUND_32(mode)    ((mode)&3)
#define MODE_ROUND_64(mode)    ((mode) >> 2 & 3)
#define MODE_DENORMAL_32(mode) ((mode) >> 4 & 3)
#define MODE_DENORMAL_64(mode) ((mode) >> 6 & 3)
#define MODE_PLAIN             0xf0 /* low 8 bits of MODE: round to nearest, keep denormals */

static inline void soft_set_special(struct soft_wave *w)
{
	w->special = w->indexed || (w->mode & 0xff) != MODE_PLAIN;
}

static inline uint64_t pair(const struct soft_wave *w, unsigned n)
{
	return w->s[n] | (uint64_t)w->s[n + 1] << 32;
}

static inline void set_pair(struct soft_wave *w, unsigned n, uint64_t x)
{
	w->s[n] = (uint32_t)x;
	w->s[n + 1] = (uint32_t)(x >> 32);
}

static inline uint32_t register32(const struct soft_wave *w, unsigned n)
{
	return w->s[n];
}
static inline uint64_t register64(const struct soft_wave *w, unsigned n)
{
	return pair(w, n);
}
static inline void set_register32(struct soft_wave *w, unsigned n, uint32_t x)
{
	w->s[n] = x;
}
static inline void set_register64(struct soft_wave *w, unsigned n, uint64_t x)
{
	set_pair(w, n, x);
}

/* A scalar operand. */
static inline uint64_t source64(const struct soft_wave *w, const struct soft_step *s, unsigned n)
{
	unsigned r = s->source[n];

	if (r < REG_COUNT)
		return pair(w, r);
	switch (r) {
	case REG_VCCZ: return !pair(w, REG_VCC);
	case REG_EXECZ: return !pair(w, REG_EXEC);
	case REG_SCC: return w->scc;
	default: return s->constant[n];
	}
}

static inline uint32_t source32(const struct soft_wave *w, const struct soft_step *s, unsigned n)
{
	unsigned r = s->source[n];

	return r < REG_COUNT ? w->s[r] : (uint32_t)source64(w, s, n);
}

static inline int soft_type_is_64(unsigned type)
{
	return type >= SOFT_TYPE_U64 && type <= SOFT_TYPE_F64;
}

/* Report an unsupported feature and end the kernel. */
static inline int soft_unsupported(struct soft_wave *w, const char *why)
{
	w->why = why;
	return SOFT_EVENT_UNSUPPORTED;
}

static inline int soft_fault(struct soft_wave *w, uint64_t address)
{
	w->fault = address;
	return SOFT_EVENT_FAULT;
}

/* ---- lines and rows: isa_row.c, isa_line.c ---- */

static inline int soft_is_line(const struct soft_wave *w, unsigned r)
{
	return (int)(w->lines[r / 64] >> (r % 64) & 1);
}

static inline void soft_set_line(struct soft_wave *w, unsigned r, uint32_t base, uint32_t step)
{
	w->line[r] = (struct soft_line){base, step};
	w->lines[r / 64] |= 1ull << (r % 64);
}

/* Prepare to write the whole row of the register. */
static inline void soft_row_comes(struct soft_wave *w, unsigned r)
{
	w->lines[r / 64] &= ~(1ull << (r % 64));
}

/* Convert a register that is a line to a row. */
void soft_make_row(struct soft_wave *w, unsigned r);
void soft_make_all_rows(struct soft_wave *w);

/* Prepare to read the rows of the registers, or to write some of their lanes. */
static inline void soft_want_rows(struct soft_wave *w, unsigned r, unsigned count)
{
	for (; count; count--, r++)
		if (soft_is_line(w, r & 255))
			soft_make_row(w, r & 255);
}

static inline int64_t soft_line_last(const struct soft_line *x)
{
	return (int64_t)x->base + (SOFT_LANES - 1) * (int64_t)(int32_t)x->step;
}

/* Return true if the line does not wrap around between the first lane and the last. */
static inline int soft_line_is_straight(const struct soft_line *x)
{
	return (uint64_t)soft_line_last(x) <= UINT32_MAX;
}

/* Run a plain vector instruction, using lines if possible. */
int soft_vector_line(struct soft_wave *w, const struct soft_step *s);

#include "generated/gfx906_hand.h"

/* isa_scalar.c: return the row for an opcode of an encoding, or NULL for an unknown opcode. */
const struct soft_op *soft_op_of(enum soft_encoding encoding, unsigned number);
extern const struct soft_op *const soft_ops;
extern const unsigned soft_op_count;
/* Return the name of an unsupported opcode, such as "v_mqsad_u32_u8", or NULL. */
const char *soft_absent_name(enum soft_encoding encoding, unsigned number);

/* isa_decode.c: decode the instruction at @pc into a step. @words: the readable words from @pc on,
 * at least 1, at most 4. */
void soft_decode(struct soft_step *s, const uint32_t *words, unsigned count,
		 const struct soft_isa_gpu *gpu);

/* isa_vector.c */
int soft_vector_plain(struct soft_wave *w, const struct soft_step *s);
int soft_vector_modified(struct soft_wave *w, const struct soft_step *s);
int soft_vector_packed(struct soft_wave *w, const struct soft_step *s);
int soft_vector_mix(struct soft_wave *w, const struct soft_step *s);
/* Run a step in a wave whose `special` is set. */
int soft_special_step(struct soft_wave *w, const struct soft_step *s);
/* Store the result of a comparison or a carry in the step's registers. */
void soft_put_mask(struct soft_wave *w, const struct soft_step *s, uint64_t mask);
const soft_lanes_function *soft_lanes_table(void);
/* Return a row with ~0 for each bit that is set in @exec, otherwise 0. */
const uint32_t *soft_live(struct soft_wave *w, uint64_t exec);

/* isa_machine.c: access to the machine, for the step functions */
const struct soft_isa_gpu *soft_isa_gpu(const struct soft_wave *w);
int soft_isa_stops(const struct soft_wave *w);
/* The barrier of all waves of a cooperative dispatch. @more, @next: number of waves that must
 * arrive before the wave that opens the barrier, for the current and for the next use. */
void soft_grid_barrier_set(struct soft_wave *w, uint32_t more);
int soft_grid_barrier(struct soft_wave *w, uint32_t next);

/* isa_memory.c, isa_image.c, isa_sample.c, isa_lds.c */
int soft_scalar_load(struct soft_wave *w, const struct soft_step *s);
int soft_scalar_time(struct soft_wave *w, const struct soft_step *s);
int soft_memory(struct soft_wave *w, const struct soft_step *s);
int soft_buffer(struct soft_wave *w, const struct soft_step *s);
int soft_image(struct soft_wave *w, const struct soft_step *s);
int soft_sample(struct soft_wave *w, const struct soft_step *s);
int soft_typed_buffer(struct soft_wave *w, const struct soft_step *s);
int soft_lds(struct soft_wave *w, const struct soft_step *s);

#endif
