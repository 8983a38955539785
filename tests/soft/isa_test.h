/* SPDX-License-Identifier: MIT */
/* Compare instructions of soft/amdgpu/isa with a second evaluation, one at a time.
 *
 *   isa_cases --texts ──► llvm-mc ──► isa_cases FILE: each case decoded, run on many states,
 *   compared
 *
 * A case is an instruction's text and its effect on a lane or on scalars. The effect is written
 * independently of gfx906.isa. Every register that the case does not name must keep its value. Any
 * float NaN equals any other. Registers of cases: operands v[2:3] v[4:5] v[6:7] and s[12:13]
 * s[14:15], result v[8:9] or s[16:17], masks VCC, s[20:21] (written) and s[22:23] (read). */
#ifndef TESTS_SOFT_ISA_TEST_H
#define TESTS_SOFT_ISA_TEST_H

#include "soft/amdgpu/isa/isa_wave.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { A = 2, B = 4, C = 6, R = 8, SA = 12, SB = 14, SR = 16, MASK_OUT = 20, MASK_IN = 22 };

/* One lane, or the scalar operands: the inputs, and the outputs that a case sets. */
struct lane {
	uint64_t a, b, c, d; /* d: value of the result register before the step */
	uint32_t k, scc; /* k: the lane's bit of the mask that is read; scc: the condition bit */
	unsigned l;
	uint64_t r;
	/* the lane's bit of the mask that is written; the condition bit after the step */
	uint32_t out;
	uint64_t exec;
};

struct isa_case {
	const char *text;
	int (*run)(const struct isa_case *c, const uint32_t *words, unsigned bytes);
	int line;             /* index into a list */
	const char *types[4]; /* types of the result and the operands */
};

struct bench { /* the wave, and the parts of the machine that its steps use */
	struct soft_wave w, before;
	struct soft_workgroup group;
	struct soft_isa_gpu gpu;
	uint8_t lds[4096] __attribute__((aligned(64))),
		scratch[64 * 256] __attribute__((aligned(64)));
	uint8_t memory[65536] __attribute__((aligned(64)));
	uint64_t clock;
	uint32_t messages, message;
	uint32_t grid_barrier;
	int stop;
};
extern struct bench bench;
extern const char *isa_failed_case;

uint64_t isa_random(void);
/* Return a random value of a type, mostly edge cases and small values. */
uint64_t isa_value(const char *type);
/* Fill registers randomly; EXEC depends on @round: all, none, one lane, any. */
void isa_begin(int round);
uint64_t isa_exec(void);
/* Fill a register, or a pair, with a row of equally spaced lanes; some of these rows are run as
 * lines. */
void isa_make_line(unsigned r, int wide);
/* Decode and run an instruction. Return the step's result. */
int isa_step(const uint32_t *words);
/* Check that all registers are unchanged, except @rows vector registers from @row on and @count
 * scalar registers from @scalar on; VCC and EXEC may also change if @vcc and @exec are set. Return
 * 0, or the result of isa_complain(). */
int isa_others_kept(const struct isa_case *c, unsigned row, unsigned rows, unsigned scalar,
		    unsigned count, int vcc, int exec);
int isa_same(const char *type, uint64_t got, uint64_t want);
int isa_complain(const struct isa_case *c, const char *what, uint64_t got, uint64_t want,
		 unsigned lane);
uint64_t isa_pair(unsigned n);
void isa_add(struct isa_case c);

/* Convert half-precision numbers without the compiler's support. */
double isa_from_half(uint32_t bits);
uint32_t isa_to_half(double x);

void isa_add_image_cases(void);
void isa_add_vector_cases(void);
void isa_add_scalar_cases(void);
void isa_add_compare_cases(void);
void isa_add_memory_cases(void);
void isa_add_lds_cases(void);
void isa_add_control_cases(void);
void isa_add_lane_cases(void);

static inline float F(uint64_t x)
{
	float f;
	uint32_t b = (uint32_t)x;
	memcpy(&f, &b, 4);
	return f;
}
static inline double D(uint64_t x)
{
	double f;
	memcpy(&f, &x, 8);
	return f;
}
static inline uint32_t FB(float f)
{
	uint32_t b;
	memcpy(&b, &f, 4);
	return b;
}
static inline uint64_t DB(double f)
{
	uint64_t b;
	memcpy(&b, &f, 8);
	return b;
}
#define H  isa_from_half
#define HB isa_to_half

#endif
