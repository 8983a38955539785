/* SPDX-License-Identifier: MIT */
/* Floats of 16 bits, as IEEE 754 has them. gcc before 12 and clang before 15 have no _Float16 on
 * x86-64; the functions for these compilers give the same bits (tests/unit/half_numbers.c). */
#ifndef SOFT_AMDGPU_ISA_HALF_H
#define SOFT_AMDGPU_ISA_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Return the half that is nearest to @f, of two the even one. */
static inline uint16_t half_of_integers(double f)
{
	const uint64_t one = UINT64_C(1) << 52;
	uint64_t bits, fraction, rest, tie;
	unsigned sign, dropped = 42; /* bits of the fraction that a half does not have */
	int exponent;
	uint16_t half;

	memcpy(&bits, &f, sizeof bits);
	sign = (unsigned)(bits >> 48) & 0x8000;
	exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	fraction = bits & (one - 1);
	if (exponent == 1024 && fraction) /* quiet, with the upper bits of the payload */
		return (uint16_t)(sign | 0x7e00 | fraction >> dropped);
	if (exponent > 15)
		return (uint16_t)(sign | 0x7c00);
	if (exponent < -25)
		return (uint16_t)sign;
	if (exponent < -14) { /* subnormal: the leading 1 becomes a bit of the fraction */
		dropped += (unsigned)(-14 - exponent);
		fraction |= one;
		exponent = -15;
	}
	half = (uint16_t)((uint64_t)(exponent + 15) << 10 | fraction >> dropped);
	rest = fraction & ((UINT64_C(1) << dropped) - 1);
	tie = UINT64_C(1) << (dropped - 1);
	if (rest > tie || (rest == tie && half & 1))
		half++; /* may carry into the exponent, up to infinity */
	return (uint16_t)(sign | half);
}

static inline float integers_of_half(uint16_t half)
{
	const unsigned exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
	uint32_t bits = (uint32_t)(half & 0x8000) << 16;
	float f;

	if (exponent == 31) /* infinity, or a NaN that becomes quiet */
		bits |= 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0);
	else if (exponent)
		bits |= (exponent + 112) << 23 | fraction << 13;
	else {
		f = ldexpf((float)fraction, -24);
		return half & 0x8000 ? -f : f;
	}
	memcpy(&f, &bits, sizeof f);
	return f;
}

#ifdef __FLT16_MAX__

static inline uint16_t half_bits(double f)
{
	_Float16 half = (_Float16)f;
	uint16_t bits;

	memcpy(&bits, &half, sizeof bits);
	return bits;
}

static inline float half_value(uint16_t bits)
{
	_Float16 half;

	memcpy(&half, &bits, sizeof half);
	return (float)half;
}

#else

static inline uint16_t half_bits(double f)
{
	return half_of_integers(f);
}

static inline float half_value(uint16_t bits)
{
	return integers_of_half(bits);
}

#endif

/* Return @f rounded to a half. */
static inline float half_round(double f)
{
	return half_value(half_bits(f));
}

#endif
