/* SPDX-License-Identifier: MIT */
/* Scalar instructions: those that gen/isa.py generates from gfx906.isa, those that are written by
 * hand (marked `hand` in gfx906.isa), and the table of both. */
#include "soft/amdgpu/isa/isa_numbers.h"
#include "soft/amdgpu/isa/isa_wave.h"

#include <sched.h>

/* Take a branch. An infinite loop stops here when its queue is destroyed, because every loop has a
 * backward branch. */
static int branch(struct soft_wave *w, const struct soft_step *s, int taken)
{
	if (!taken)
		return 0;
	w->pc += (int64_t)s->offset * 4;
	return s->offset < 0 && soft_isa_stops(w) ? SOFT_EVENT_STOP : 0;
}

#include "generated/gfx906_scalar.inc"
#include "generated/gfx906_ops.inc"

const struct soft_op *const soft_ops = ops;
const unsigned soft_op_count = sizeof(ops) / sizeof(*ops);

const struct soft_op *soft_op_of(enum soft_encoding encoding, unsigned number)
{
#define NUMBERS(name)                                                            \
	{                                                                        \
		name##_numbers, sizeof(name##_numbers) / sizeof(*name##_numbers) \
	}
	static const struct {
		const uint16_t *numbers;
		unsigned count;
	} all[] = {
		[SOFT_SOP2] = NUMBERS(sop2),   [SOFT_SOP1] = NUMBERS(sop1),
		[SOFT_SOPC] = NUMBERS(sopc),   [SOFT_SOPK] = NUMBERS(sopk),
		[SOFT_SOPP] = NUMBERS(sopp),   [SOFT_SMEM] = NUMBERS(smem),
		[SOFT_VOP2] = NUMBERS(vop2),   [SOFT_VOP1] = NUMBERS(vop1),
		[SOFT_VOPC] = NUMBERS(vopc),   [SOFT_VOP3] = NUMBERS(vop3),
		[SOFT_VOP3P] = NUMBERS(vop3p), [SOFT_MEMORY] = NUMBERS(memory),
		[SOFT_MUBUF] = NUMBERS(mubuf), [SOFT_MIMG] = NUMBERS(mimg),
		[SOFT_DS] = NUMBERS(ds),
	};
	unsigned row = number < all[encoding].count ? all[encoding].numbers[number] : 0;

	return row ? &ops[row] : NULL;
}

/* ---- control ---- */

int soft_isa_s_getpc_b64(struct soft_wave *w, const struct soft_step *s)
{
	set_pair(w, s->result, w->pc);
	return 0;
}

static int jump_to(struct soft_wave *w, uint64_t to)
{
	w->pc = to;
	if (to & 3)
		return soft_fault(w, to);
	return soft_isa_stops(w) ? SOFT_EVENT_STOP : 0;
}

int soft_isa_s_setpc_b64(struct soft_wave *w, const struct soft_step *s)
{
	return jump_to(w, source64(w, s, 0));
}

int soft_isa_s_swappc_b64(struct soft_wave *w, const struct soft_step *s)
{
	uint64_t to = source64(w, s, 0);

	set_pair(w, s->result, w->pc);
	return jump_to(w, to);
}

int soft_isa_s_call_b64(struct soft_wave *w, const struct soft_step *s)
{
	set_pair(w, s->result, w->pc);
	return jump_to(w, w->pc + (uint64_t)((int64_t)s->offset * 4));
}

int soft_isa_s_endpgm(struct soft_wave *w, const struct soft_step *s)
{
	(void)w, (void)s;
	return SOFT_EVENT_END;
}

int soft_isa_s_barrier(struct soft_wave *w, const struct soft_step *s)
{
	(void)w, (void)s;
	return SOFT_EVENT_BARRIER;
}

/* Yield. A sleeping wave waits for another wave, or for a thread of the host (printf's buffers). */
int soft_isa_s_sleep(struct soft_wave *w, const struct soft_step *s)
{
	(void)w, (void)s;
	sched_yield();
	return SOFT_EVENT_YIELD;
}

int soft_isa_s_sendmsg(struct soft_wave *w, const struct soft_step *s)
{
	const struct soft_isa_gpu *gpu = soft_isa_gpu(w);

	if ((s->offset & 15) != 1) /* MSG_INTERRUPT */
		return soft_unsupported(w, "of a message other than an interrupt");
	if (gpu->interrupt)
		gpu->interrupt(gpu->data, w->s[REG_M0]);
	return 0;
}

int soft_isa_s_trap(struct soft_wave *w, const struct soft_step *s)
{
	w->trap = s->offset & 255;
	return SOFT_EVENT_TRAP;
}

/* ---- hardware registers ---- */

enum { HWREG_MODE = 1, HWREG_HW_ID = 4, HWREG_SH_MEM_BASES = 15 };

static uint32_t field_mask(const struct soft_step *s)
{
	unsigned bits = (s->offset >> 11 & 31) + 1;

	return bits == 32 ? UINT32_MAX : (1u << bits) - 1;
}

int soft_isa_s_getreg_b32(struct soft_wave *w, const struct soft_step *s)
{
	const struct soft_isa_gpu *gpu = soft_isa_gpu(w);
	uint32_t x, cu = w->group->flat_id % (gpu->compute_units ? gpu->compute_units : 1);

	switch (s->offset & 63) {
	case HWREG_MODE: x = w->mode | (uint32_t)w->indexed << 27; break;
	case HWREG_HW_ID: /* wave, SIMD, compute unit in its array of 16, shader engine */
		x = (w->index & 15) | (w->index & 3) << 4 | (cu & 15) << 8 | (cu >> 4 & 3) << 13;
		break;
	case HWREG_SH_MEM_BASES: /* the highest 16 bits of the apertures */
		x = (uint32_t)(gpu->private_aperture >> 48) | (uint32_t)(gpu->lds_aperture >> 48)
								      << 16;
		break;
	default: return soft_unsupported(w, "of an unsupported hardware register");
	}
	w->s[s->result] = x >> (s->offset >> 6 & 31) & field_mask(s);
	return 0;
}

static int set_register(struct soft_wave *w, const struct soft_step *s, uint32_t x)
{
	unsigned at = s->offset >> 6 & 31;
	uint32_t mask = field_mask(s) << at;

	if ((s->offset & 63) != HWREG_MODE)
		return soft_unsupported(w, "of an unsupported hardware register");
	w->mode = (w->mode & ~mask) | (x << at & mask);
	if (mask >> 27 & 1)
		w->indexed = w->mode >> 27 & 1;
	w->mode &= ~(1u << 27);
	soft_set_special(w);
	return 0;
}

int soft_isa_s_setreg_b32(struct soft_wave *w, const struct soft_step *s)
{
	return set_register(w, s, w->s[s->result]);
}

int soft_isa_s_setreg_imm32_b32(struct soft_wave *w, const struct soft_step *s)
{
	return set_register(w, s, (uint32_t)s->constant[0]);
}

/* ---- indirect registers: M0 contains the index and, for vector instructions, in bits 12 to 15,
 * which operands are indexed ---- */

int soft_isa_s_set_gpr_idx_on(struct soft_wave *w, const struct soft_step *s)
{
	w->s[REG_M0] = (w->s[REG_M0] & 0xffff0f00) | (source32(w, s, 0) & 255) |
		       (uint32_t)(s->offset & 15) << 12;
	w->indexed = 1;
	soft_set_special(w);
	return 0;
}

int soft_isa_s_set_gpr_idx_off(struct soft_wave *w, const struct soft_step *s)
{
	(void)s;
	w->indexed = 0;
	soft_set_special(w);
	return 0;
}

int soft_isa_s_set_gpr_idx_mode(struct soft_wave *w, const struct soft_step *s)
{
	w->s[REG_M0] = (w->s[REG_M0] & 0xffff0fff) | (uint32_t)(s->offset & 15) << 12;
	return 0;
}

int soft_isa_s_set_gpr_idx_idx(struct soft_wave *w, const struct soft_step *s)
{
	w->s[REG_M0] = (w->s[REG_M0] & 0xffffff00) | (source32(w, s, 0) & 255);
	return 0;
}

/* Return -1 for an index beyond the registers of a wave. */
static int find_relative(const struct soft_wave *w, unsigned from, unsigned bytes)
{
	uint64_t n = (uint64_t)from + w->s[REG_M0];

	return from < 102 && n + bytes / 4 <= 102 ? (int)n : -1;
}

static int move_relative(struct soft_wave *w, const struct soft_step *s, int from_moves,
			 unsigned bytes)
{
	int to = s->result, from = s->source[0];

	if (from >= REG_COUNT)
		return soft_unsupported(w, "with a constant");
	if (from_moves)
		from = find_relative(w, (unsigned)from, bytes);
	else
		to = find_relative(w, (unsigned)to, bytes);
	if (to < 0 || from < 0)
		return soft_unsupported(w, "beyond the registers");
	memmove(&w->s[to], &w->s[from], bytes);
	return 0;
}

int soft_isa_s_movrels_b32(struct soft_wave *w, const struct soft_step *s)
{
	return move_relative(w, s, 1, 4);
}
int soft_isa_s_movrels_b64(struct soft_wave *w, const struct soft_step *s)
{
	return move_relative(w, s, 1, 8);
}
int soft_isa_s_movreld_b32(struct soft_wave *w, const struct soft_step *s)
{
	return move_relative(w, s, 0, 4);
}
int soft_isa_s_movreld_b64(struct soft_wave *w, const struct soft_step *s)
{
	return move_relative(w, s, 0, 8);
}
