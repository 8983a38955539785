/* SPDX-License-Identifier: MIT */
/* Helpers for the meanings in gfx906.isa: row input and output, and functions without an operator
 * in C.
 *
 * Float results are those of the host, which has the same format and rounding. Functions that
 * hardware approximates (exp, log, rcp, rsq, sqrt, sin, cos) are computed in double and rounded, so
 * the result is the nearest value, while hardware may be off by one.
 * A NaN result is quiet, but has the host's sign and payload. Names have no prefix, because only
 * three .c files include this header. */
#ifndef SOFT_AMDGPU_ISA_NUMBERS_H
#define SOFT_AMDGPU_ISA_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "soft/amdgpu/isa/isa_half.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline float float32(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t bits32(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline double float64(uint64_t bits)
{
	double f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint64_t bits64(double f)
{
	uint64_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline float float16(uint32_t bits)
{
	return half_value((uint16_t)bits);
}

static inline uint32_t bits16(float f)
{
	return half_bits(f);
}

/* ---- rows ---- */

static inline uint32_t get_u32(const uint32_t *row, unsigned l)
{
	return row[l];
}
static inline uint32_t get_b32(const uint32_t *row, unsigned l)
{
	return row[l];
}
static inline int32_t get_i32(const uint32_t *row, unsigned l)
{
	return (int32_t)row[l];
}
static inline float get_f32(const uint32_t *row, unsigned l)
{
	return float32(row[l]);
}
static inline float get_k32(const uint32_t *row, unsigned l)
{
	return float32(row[l]);
}
static inline uint32_t get_u16(const uint32_t *row, unsigned l)
{
	return row[l] & 0xffff;
}
static inline uint32_t get_h16(const uint32_t *row, unsigned l)
{
	return row[l] & 0xffff;
}
static inline int32_t get_i16(const uint32_t *row, unsigned l)
{
	return (int16_t)row[l];
}
static inline float get_f16(const uint32_t *row, unsigned l)
{
	return float16(row[l]);
}
static inline uint32_t get_u24(const uint32_t *row, unsigned l)
{
	return row[l] & 0xffffff;
}
static inline int32_t get_i24(const uint32_t *row, unsigned l)
{
	return (int32_t)(row[l] << 8) >> 8;
}
static inline uint64_t get_u64(const uint32_t *row, unsigned l)
{
	return row[l] | (uint64_t)row[l + 64] << 32;
}
static inline int64_t get_i64(const uint32_t *row, unsigned l)
{
	return (int64_t)get_u64(row, l);
}
static inline double get_f64(const uint32_t *row, unsigned l)
{
	return float64(get_u64(row, l));
}

static inline void put_u32(uint32_t *row, unsigned l, uint32_t r)
{
	row[l] = r;
}
static inline void put_i32(uint32_t *row, unsigned l, int32_t r)
{
	row[l] = (uint32_t)r;
}
static inline void put_f32(uint32_t *row, unsigned l, float r)
{
	row[l] = bits32(r);
}
static inline void put_u16(uint32_t *row, unsigned l, uint32_t r)
{
	row[l] = r & 0xffff;
}
static inline void put_i16(uint32_t *row, unsigned l, int32_t r)
{
	row[l] = r & 0xffff;
}
static inline void put_f16(uint32_t *row, unsigned l, float r)
{
	row[l] = bits16(r);
}

static inline void put_u64(uint32_t *row, unsigned l, uint64_t r)
{
	row[l] = (uint32_t)r;
	row[l + 64] = (uint32_t)(r >> 32);
}

static inline void put_i64(uint32_t *row, unsigned l, int64_t r)
{
	put_u64(row, l, (uint64_t)r);
}
static inline void put_f64(uint32_t *row, unsigned l, double r)
{
	put_u64(row, l, bits64(r));
}

/* Convert a row of all ones or zeros to one bit per lane. */
static inline uint64_t mask_of(const uint32_t row[64])
{
	uint64_t mask = 0;

#if defined(__AVX2__)
	for (unsigned i = 0; i < 8; i++)
		mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(
				_mm256_loadu_ps((const float *)(row + 8 * i)))
			<< 8 * i;
#elif defined(__SSE2__)
	for (unsigned i = 0; i < 16; i++)
		mask |= (uint64_t)(uint32_t)_mm_movemask_ps(
				_mm_loadu_ps((const float *)(row + 4 * i)))
			<< 4 * i;
#else
	for (unsigned l = 0; l < 64; l++)
		mask |= (uint64_t)(row[l] & 1) << l;
#endif
	return mask;
}

/* Convert one bit per lane to a row of 1 or 0. */
static inline void row_of(uint32_t row[64], uint64_t mask)
{
	for (unsigned half = 0; half < 2; half++) {
		uint32_t bits = (uint32_t)(mask >> 32 * half);

		for (unsigned l = 0; l < 32; l++)
			row[32 * half + l] = bits >> l & 1;
	}
}

/* ---- integers ---- */

/* Extract @bits bits of @x starting at @at; bits beyond the top of @x are 0. */
static inline uint64_t field_u64(uint64_t x, unsigned at, unsigned bits)
{
	return !bits ? 0 : bits >= 64 ? x >> at : x >> at & ((1ull << bits) - 1);
}

static inline int64_t field_i64(int64_t x, unsigned at, unsigned bits)
{
	return !bits        ? 0
	       : bits >= 64 ? x >> at
			    : (int64_t)((uint64_t)(x >> at) << (64 - bits)) >> (64 - bits);
}

static inline uint32_t field_u32(uint32_t x, uint32_t at, uint32_t bits)
{
	return x >> (at & 31) & ((1u << (bits & 31)) - 1);
}

static inline int32_t field_i32(int32_t x, uint32_t at, uint32_t bits)
{
	uint32_t above = (32 - (bits & 31)) & 31;

	return bits & 31 ? (int32_t)((uint32_t)(x >> (at & 31)) << above) >> above : 0;
}

static inline uint32_t reverse32(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}

static inline uint64_t reverse64(uint64_t x)
{
	return (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32));
}

static inline uint32_t low_bit(uint64_t x)
{
	return x ? (uint32_t)__builtin_ctzll(x) : UINT32_MAX;
}
static inline uint32_t leading_zeros(uint32_t x)
{
	return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

/* Set bit 4n if any of bits 4n to 4n + 3 is set. */
static inline uint64_t quads(uint64_t x)
{
	return (x | x >> 1 | x >> 2 | x >> 3) & 0x1111111111111111ull;
}

/* Set bit n if any of bits 4n to 4n + 3 is set. */
static inline uint64_t quadmask(uint64_t x)
{
	uint64_t r = 0;

	for (unsigned n = 0; n < 16; n++)
		r |= (quads(x) >> 4 * n & 1) << n;
	return r;
}

/* Move bit n to bit 2n. */
static inline uint64_t spread(uint32_t x)
{
	uint64_t r = 0;

	for (unsigned n = 0; n < 32; n++)
		r |= (uint64_t)(x >> n & 1) << 2 * n;
	return r;
}

static inline uint64_t lanes_below(unsigned l)
{
	return (1ull << l) - 1;
}
static inline int32_t saturate_i32(int64_t x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}
static inline uint32_t saturate_u32(uint64_t x)
{
	return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}
static inline int32_t saturate_i16(int32_t x)
{
	return x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x;
}

static inline uint32_t overflow_i64(int64_t x, int64_t y)
{
	int64_t r;

	return __builtin_add_overflow(x, y, &r);
}

static inline uint32_t lerp_u8(uint32_t x, uint32_t y, uint32_t z)
{
	uint32_t r = 0;

	for (unsigned at = 0; at < 32; at += 8)
		r |= ((x >> at & 255) + (y >> at & 255) + (z >> at & 1)) >> 1 << at;
	return r;
}

static inline uint32_t sad_u8(uint32_t x, uint32_t y)
{
	uint32_t r = 0;

	for (unsigned at = 0; at < 32; at += 8) {
		uint32_t a = x >> at & 255, b = y >> at & 255;

		r += a > b ? a - b : b - a;
	}
	return r;
}

static inline uint32_t sad_u16(uint32_t x, uint32_t y)
{
	uint32_t a = x & 0xffff, b = y & 0xffff, c = x >> 16, d = y >> 16;

	return (a > b ? a - b : b - a) + (c > d ? c - d : d - c);
}

/* Each byte of @select selects a byte of @bytes (0 to 7), the sign of byte 1, 3, 5 or 7 (8 to 11),
 * 0 (12) or 255. */
static inline uint32_t permute(uint64_t bytes, uint32_t select)
{
	uint32_t r = 0;

	for (unsigned at = 0; at < 32; at += 8) {
		uint32_t s = select >> at & 255;
		uint32_t b = s < 8     ? bytes >> 8 * s & 255
			     : s < 12  ? (bytes >> (16 * (s - 8) + 15) & 1) * 255
			     : s == 12 ? 0
				       : 255;

		r |= b << at;
	}
	return r;
}

static inline int64_t dot_signed(uint32_t x, uint32_t y, int32_t z, unsigned bits)
{
	int64_t r = z;

	for (unsigned at = 0; at < 32; at += bits)
		r += field_i64((int32_t)x, at, bits) * field_i64((int32_t)y, at, bits);
	return r;
}

static inline uint64_t dot_unsigned(uint32_t x, uint32_t y, uint32_t z, unsigned bits)
{
	uint64_t r = z;

	for (unsigned at = 0; at < 32; at += bits)
		r += field_u64(x, at, bits) * field_u64(y, at, bits);
	return r;
}

/* ---- conversions: towards zero, saturating, NaN to 0 ---- */

static inline int32_t to_i32(double x)
{
	return x != x ? 0 : x <= INT32_MIN ? INT32_MIN : x >= INT32_MAX ? INT32_MAX : (int32_t)x;
}

static inline uint32_t to_u32(double x)
{
	return !(x > 0) ? 0 : x >= UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

static inline int32_t to_i16(float x)
{
	return saturate_i16(to_i32(x));
}
static inline uint32_t to_u16(float x)
{
	return MIN(to_u32(x), 0xffffu);
}

/* Convert a float to half, rounding towards zero. Finite values above the largest half become the
 * largest half. */
static inline uint32_t half_toward_zero(float x)
{
	uint32_t half = bits16(x);
	float back = float16(half);

	return fabsf(back) > fabsf(x) ? half - 1 : half;
}

/* ---- floats ---- */

/* Flush denormals to zero, for instructions that never produce them. */
static inline float flush(float x)
{
	uint32_t bits = bits32(x);

	return float32(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

static inline float mad_f32(float x, float y, float z)
{
	return flush(flush(flush(x) * flush(y)) + flush(z));
}

static inline float fma_f16(float x, float y, float z)
{
	/* a product of two halves is exact in double, and a sum that is rounded to double is never
	 * halfway between two halves */
	return half_round((double)x * y + z);
}

/* Return the number if the other operand is a NaN. -0 is less than 0. */
static inline float min_f32(float x, float y)
{
	float less = x < y || (x == y && bits32(x) >> 31) ? x : y;

	return x != x ? y : y != y ? x : less;
}

static inline float max_f32(float x, float y)
{
	float more = x > y || (x == y && !(bits32(x) >> 31)) ? x : y;

	return x != x ? y : y != y ? x : more;
}

static inline double min_f64(double x, double y)
{
	double less = x < y || (x == y && bits64(x) >> 63) ? x : y;

	return x != x ? y : y != y ? x : less;
}

static inline double max_f64(double x, double y)
{
	double more = x > y || (x == y && !(bits64(x) >> 63)) ? x : y;

	return x != x ? y : y != y ? x : more;
}

static inline float med3_f32(float x, float y, float z)
{
	if (x != x || y != y || z != z)
		return min_f32(min_f32(x, y), z);
	return max_f32(min_f32(x, y), min_f32(max_f32(x, y), z));
}

/* clang before 17 lacks the builtin functions. rint() rounds in the current mode, which is the
 * usual one in the threads of the software GPU. */
#if __has_builtin(__builtin_roundeven)
static inline float roundeven_f32(float x)
{
	return __builtin_roundevenf(x);
}
static inline double roundeven_f64(double x)
{
	return __builtin_roundeven(x);
}
#else
static inline float roundeven_f32(float x)
{
	return rintf(x);
}
static inline double roundeven_f64(double x)
{
	return rint(x);
}
#endif

/* Keep the fraction below 1, even for tiny negative numbers, whose fraction would round to 1. */
static inline float fract_f32(float x)
{
	float f = x - floorf(x);

	return f >= 1 ? 0x1.fffffep-1f : f;
}

static inline float fract_f16(float x)
{
	float f = half_round(x - floorf(x));

	return f >= 1 ? 0x1.ffcp-1f : f;
}

static inline double fract_f64(double x)
{
	double f = x - floor(x);

	return f >= 1 ? 0x1.fffffffffffffp-1 : f;
}

static inline int32_t frexp_exponent(double x)
{
	int e = 0;

	if (isfinite(x))
		(void)frexp(x, &e);
	return e;
}

static inline double frexp_mantissa(double x)
{
	int e;

	return isfinite(x) ? frexp(x, &e) : x;
}

static inline float ldexp_f16(float x, int32_t e)
{
	return half_round(ldexp(x, e));
}

/* The unit of angles is one turn. Beyond 256 turns hardware returns the result for angle 0. */
static inline double turn_sin(float x)
{
	return fabsf(x) > 256 && isfinite(x) ? 0 : sin((x - truncf(x)) * 6.283185307179586477);
}

static inline double turn_cos(float x)
{
	return fabsf(x) > 256 && isfinite(x) ? 1 : cos((x - truncf(x)) * 6.283185307179586477);
}

/* Classes: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, 0, denormal, normal,
 * infinity. */
static inline uint32_t class_of(uint32_t negative, uint32_t exponent, uint32_t top,
				uint64_t mantissa, int quiet)
{
	if (exponent == top)
		return mantissa ? 1u << quiet : negative ? 1u << 2 : 1u << 9;
	if (exponent)
		return negative ? 1u << 3 : 1u << 8;
	if (mantissa)
		return negative ? 1u << 4 : 1u << 7;
	return negative ? 1u << 5 : 1u << 6;
}

static inline uint32_t class_f32(float x)
{
	uint32_t b = bits32(x);

	return class_of(b >> 31, b >> 23 & 255, 255, b & 0x7fffff, b >> 22 & 1);
}

static inline uint32_t class_f64(double x)
{
	uint64_t b = bits64(x);

	return class_of((uint32_t)(b >> 63), b >> 52 & 2047, 2047, b & 0xfffffffffffffull,
			b >> 51 & 1);
}

static inline uint32_t class_f16(uint32_t b)
{
	return class_of(b >> 15 & 1, b >> 10 & 31, 31, b & 0x3ff, b >> 9 & 1);
}

static inline float dot2_f32_f16(uint32_t x, uint32_t y, float z)
{
	return fmaf(float16(x >> 16), float16(y >> 16), fmaf(float16(x), float16(y), z));
}

/* ---- division: scale, iterate, fix up. y is the denominator, z the numerator; x is one of the
 * two, or the quotient ---- */

static inline int exponent_f32(float x)
{
	return bits32(x) >> 23 & 255;
}
static inline int exponent_f64(double x)
{
	return bits64(x) >> 52 & 2047;
}
static inline int denormal_f32(float x)
{
	return !exponent_f32(x) && x != 0;
}
static inline int denormal_f64(double x)
{
	return !exponent_f64(x) && x != 0;
}

static inline float div_scale_f32(float x, float y, float z)
{
	if (y == 0 || z == 0)
		return NAN;
	if (exponent_f32(z) - exponent_f32(y) >= 96)
		return bits32(x) == bits32(y) ? ldexpf(x, 64) : x;
	if (denormal_f32(y))
		return ldexpf(x, 64);
	if (denormal_f32(1 / y) && denormal_f32(z / y))
		return bits32(x) == bits32(y) ? ldexpf(x, -64) : x;
	if (denormal_f32(1 / y))
		return ldexpf(x, -64);
	if (denormal_f32(z / y))
		return bits32(x) == bits32(z) ? ldexpf(x, 64) : x;
	return exponent_f32(z) <= 23 ? ldexpf(x, 64) : x;
}

static inline int div_scales_f32(float x, float y, float z)
{
	(void)x;
	if (y == 0 || z == 0)
		return 0;
	if (exponent_f32(z) - exponent_f32(y) >= 96)
		return 1;
	return !denormal_f32(y) && denormal_f32(z / y);
}

static inline double div_scale_f64(double x, double y, double z)
{
	if (y == 0 || z == 0)
		return NAN;
	if (exponent_f64(z) - exponent_f64(y) >= 768)
		return bits64(x) == bits64(y) ? ldexp(x, 128) : x;
	if (denormal_f64(y))
		return ldexp(x, 128);
	if (denormal_f64(1 / y) && denormal_f64(z / y))
		return bits64(x) == bits64(y) ? ldexp(x, -128) : x;
	if (denormal_f64(1 / y))
		return ldexp(x, -128);
	if (denormal_f64(z / y))
		return bits64(x) == bits64(z) ? ldexp(x, 128) : x;
	return exponent_f64(z) <= 53 ? ldexp(x, 128) : x;
}

static inline int div_scales_f64(double x, double y, double z)
{
	(void)x;
	if (y == 0 || z == 0)
		return 0;
	if (exponent_f64(z) - exponent_f64(y) >= 768)
		return 1;
	return !denormal_f64(y) && denormal_f64(z / y);
}

/* Compute x * y + z times a power of two with one rounding. If the result is denormal, a second
 * rounding could cross a midpoint that the first rounding reached. A 113-bit significand holds all
 * bits of the quotient and of the remainder that the division passes to this function. */
static inline double scaled_fma_f64(double x, double y, double z, int exponent)
{
#if defined(__SIZEOF_FLOAT128__)
	double r = fma(x, y, z);

	if (r != r || isinf(r))
		return r;
	return (double)(((__float128)x * y + z) * (__float128)ldexp(1, exponent));
#else
	return ldexp(fma(x, y, z), exponent);
#endif
}

/* Handle cases that the iteration cannot compute correctly. Return 1 and *@r if @y and @z form such
 * a case. (An overflowing quotient reaches the fixup as NaN, from a subtraction of infinities.) */
static inline int div_special(double y, double z, double *r)
{
	double sign = copysign(1, y) * copysign(1, z);

	if (z != z || y != y)
		*r = z != z ? z : y;
	else if ((y == 0 && z == 0) || (isinf(y) && isinf(z)))
		*r = NAN;
	else if (y == 0 || isinf(z))
		*r = sign * INFINITY;
	else if (isinf(y) || z == 0)
		*r = sign * 0.0;
	else
		return 0;
	return 1;
}

static inline float div_fixup_f32(float x, float y, float z)
{
	double r;

	if (div_special(y, z, &r))
		return (float)r;
	if (exponent_f32(z) - exponent_f32(y) < -150)
		return copysignf(0, y) * copysignf(1, z);
	if (x != x)
		x = INFINITY;
	return signbit(y) ^ signbit(z) ? -fabsf(x) : fabsf(x);
}

static inline double div_fixup_f64(double x, double y, double z)
{
	double r;

	if (div_special(y, z, &r))
		return r;
	if (exponent_f64(z) - exponent_f64(y) < -1075)
		return copysign(0, y) * copysign(1, z);
	if (x != x)
		x = INFINITY;
	return signbit(y) ^ signbit(z) ? -fabs(x) : fabs(x);
}

static inline float div_fixup_f16(float x, float y, float z)
{
	double r;

	if (div_special(y, z, &r))
		return (float)r;
	return signbit(y) ^ signbit(z) ? -fabsf(x) : fabsf(x);
}

double soft_isa_trig_preop(double x, uint32_t segment);
#define trig_preop soft_isa_trig_preop

#endif
