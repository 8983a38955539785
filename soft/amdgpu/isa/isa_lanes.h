/* SPDX-License-Identifier: MIT */
/* Lane loops: apply one vector instruction to all 64 lanes, without operand modifiers and without
 * the execution mask.
 *
 *   a, b, c ──► loop over 64 lanes ──► d, mask_out
 *   a 64-bit value is two rows: low words, then high words
 *
 * A row is 64 words, one per lane, so that compilers can vectorise the loops. The loops also
 * compute inactive lanes, which the caller must discard. d may be one of the operands' rows,
 * because each lane is read before it is written. The same source (isa_lanes.c) is compiled twice:
 * for every x86-64, and with AVX2, FMA and F16C. */
#ifndef SOFT_AMDGPU_ISA_LANES_H
#define SOFT_AMDGPU_ISA_LANES_H

#include <stdint.h>

#define SOFT_LANES 64

struct soft_lanes {
	uint32_t *d;
	const uint32_t *a, *b, *c;
	/* one bit per lane: VCC or SRC2 for instructions with a carry or a condition */
	uint64_t carry_in;
	/* results of comparisons and carries; bits of inactive lanes are undefined */
	uint64_t mask_out;
};

typedef void (*soft_lanes_function)(struct soft_lanes *lanes);

/* Indexed by `lanes` and `clamp_lanes` of struct soft_op; 0 means none. */
extern const soft_lanes_function soft_lanes_any_table[];
extern const soft_lanes_function soft_lanes_avx2_table[];

#endif
