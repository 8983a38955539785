/* SPDX-License-Identifier: MIT */
/* Lane loops: one vector instruction on all 64 lanes, without its operands' modifiers and
 * without the execution mask.
 *
 *   a, b, c ──► loop over 64 lanes ──► d, mask_out
 *   a 64-bit value is two rows: low words, then high words
 *
 * A row is 64 words, one per lane, so that compilers can vectorise the loops. They also compute
 * inactive lanes, which the caller must discard. d may be one of the operands' rows: each lane is
 * read before it is written. The same source (isa_lanes.c) is compiled twice: for every x86-64, and
 * with AVX2, FMA and F16C. */
#ifndef SOFT_AMDGPU_ISA_LANES_H
#define SOFT_AMDGPU_ISA_LANES_H

#include <stdint.h>

#define SOFT_LANES 64

struct soft_lanes {
	uint32_t *d;
	const uint32_t *a, *b, *c;
	/* one bit per lane: VCC or SRC2 of instructions with a carry or a condition */
	uint64_t carry_in;
	uint64_t mask_out; /* comparisons and carries; bits of inactive lanes are undefined */
};

typedef void (*soft_lanes_function)(struct soft_lanes *lanes);

/* Indexed with struct soft_op's lanes and clamp_lanes; 0 is none. */
extern const soft_lanes_function soft_lanes_any_table[];
extern const soft_lanes_function soft_lanes_avx2_table[];

#endif
