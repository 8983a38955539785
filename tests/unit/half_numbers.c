/* SPDX-License-Identifier: MIT */
/* Conversions of 16-bit floats for compilers without _Float16, compared with a compiler that has
 * it. Without _Float16, only what a conversion there and back keeps is tested. */
#include "soft/amdgpu/isa/isa_half.h"

#include "unit.h"

static double double_of(uint64_t bits)
{
	double f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return bits;
}

UNIT_TEST(every_half_has_the_value_that_the_compiler_gives_it)
{
	for (uint32_t half = 0; half < 0x10000; half++) {
		float f = integers_of_half((uint16_t)half);

		CHECK_EQ(bits_of(f), bits_of(half_value((uint16_t)half)));
		if (f == f)
			CHECK_EQ(half_of_integers(f), half);
		else
			CHECK_EQ(half_of_integers(f), half | 0x200);
	}
}

/* Each half, the next one, the point halfway, and the doubles beside it. */
UNIT_TEST(doubles_near_a_half_and_near_a_tie_are_rounded_as_by_the_compiler)
{
	for (uint32_t half = 0; half < 0x7c00; half++) {
		double low = integers_of_half((uint16_t)half);
		double high = half < 0x7bff ? integers_of_half((uint16_t)(half + 1)) : 65536;
		double tie = (low + high) / 2;
		const double near[] = {nextafter(low, -1), nextafter(low, high),
				       nextafter(tie, low), tie, nextafter(tie, high)};

		for (unsigned i = 0; i < sizeof near / sizeof near[0]; i++) {
			CHECK_EQ(half_of_integers(near[i]), half_bits(near[i]));
			CHECK_EQ(half_of_integers(-near[i]), half_bits(-near[i]));
		}
		CHECK_EQ(half_of_integers(nextafter(tie, low)), half);
		CHECK_EQ(half_of_integers(nextafter(tie, high)), half + 1);
		CHECK_EQ(half_of_integers(tie), half + (half & 1));
	}
}

UNIT_TEST(any_double_is_rounded_as_by_the_compiler)
{
	uint64_t random = 1;

	for (unsigned i = 0; i < 1000000; i++) {
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* half of the exponents near those of halves */
		double f = double_of(i & 1 ? random
					   : (random & UINT64_C(0x800fffffffffffff)) |
						     (UINT64_C(990) + (random >> 57)) << 52);

		CHECK_EQ(half_of_integers(f), half_bits(f));
	}
}
