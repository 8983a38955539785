/* SPDX-License-Identifier: MIT */
/* v_trig_preop_f64: extracts 53 bits of 2/pi at a position that depends on the operand's exponent
 * and the segment. The device library reduces large angles with this instruction. */
#include "soft/amdgpu/isa/isa_numbers.h"

/* 2/pi; the most significant bit is the first fractional bit. */
static const uint32_t two_over_pi[40] = {
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
	0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
	0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
	0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
	0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
	0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};

double soft_isa_trig_preop(double x, uint32_t segment)
{
	unsigned exponent = bits64(x) >> 52 & 2047, at = (segment & 31) * 53;
	uint64_t bits = 0;
	int scale;

	if (exponent > 1077)
		at += exponent - 1077;
	/* 1201 bits are stored */
	for (unsigned n = at; n < at + 53; n++)
		bits = bits << 1 | (n <= 1200 ? two_over_pi[n / 32] >> (31 - n % 32) & 1 : 0);
	scale = -53 - (int)at;
	if (exponent >= 1968)
		scale += 128;
	return ldexp((double)bits, scale);
}
