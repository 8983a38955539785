/* SPDX-License-Identifier: MIT */
/* Formats numbers without snprintf(), five to ten times as fast. Formatting numbers is most of an
 * exporter's work. Every function writes at @p, without a terminating NUL, and returns the end. */
#ifndef GPUTAP_ANALYSIS_BASE_NUMBER_H
#define GPUTAP_ANALYSIS_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { GT_NUMBER_MAX = 24 }; /* maximum number of bytes that one function writes */

static const char gt_digit_pairs[201] = "0001020304050607080910111213141516171819202122232425262728"
					"2930313233343536373839404142434445464748495051"
					"5253545556575859606162636465666768697071727374757677787980"
					"8182838485868788899091929394959697"
					"9899";

/* Append a string literal. */
#define GT_PUT(p, literal) (memcpy(p, literal, sizeof(literal) - 1), (p) + (sizeof(literal) - 1))

static inline char *gt_put(char *p, const char *text, size_t length)
{
	memcpy(p, text, length);
	return p + length;
}

static inline unsigned gt_decimal_length(uint64_t v)
{
	/* Estimates the length as bits * log10(2) and corrects it with one comparison. */
	/* clang-format off */
	static const uint64_t power[20] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000u,
	};
	/* clang-format on */
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

/* Return the eight digits of @v < 10^8, with leading zeros, as a word whose lowest byte is the
 * first digit. Each step splits all groups of digits at once: one group of 8 into two of 4, then
 * into four of 2, then into eight single digits. */
static inline uint64_t gt_eight_digits(uint32_t v)
{
	uint64_t groups = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t high = (groups * 10486 >> 20) & 0x0000007f0000007fu; /* / 100 */

	groups = high | (groups - high * 100) << 16;
	high = (groups * 103 >> 10) & 0x000f000f000f000fu; /* / 10 */
	groups = high | (groups - high * 10) << 8;
	return groups | 0x3030303030303030u;
}

/* Like gt_put_u64(), but may write up to GT_NUMBER_MAX bytes, even if the text is shorter. Faster
 * for numbers with many digits. */
static inline char *gt_put_wide(char *p, uint64_t v)
{
	uint64_t high = v, word;
	unsigned length;

	if (v >= 100000000) {
		if (__builtin_expect(v >= UINT64_C(10000000000000000), 0))
			return gt_put_u64(p, v);
		high = v / 100000000;
	}
	length = gt_decimal_length(high);
	word = gt_eight_digits((uint32_t)high) >> (64 - 8 * length);
	memcpy(p, &word, 8);
	p += length;
	if (high == v)
		return p;
	word = gt_eight_digits((uint32_t)(v - high * 100000000));
	memcpy(p, &word, 8);
	return p + 8;
}

/* Write ns as us with three decimals. May write up to 24 bytes, even if the text is shorter. */
static inline char *gt_put_us(char *p, uint64_t ns)
{
	char digits[32];
	unsigned length;

	if (ns < 100000000) {
		uint64_t word = gt_eight_digits((uint32_t)ns);

		length = gt_decimal_length(ns);
		if (length < 4)
			length = 4; /* 0.001 */
		memcpy(digits, &word, 8);
		memcpy(p, digits + 8 - length, 8);
		p += length - 3;
		*p = '.';
		memcpy(p + 1, digits + 5,
		       4); /* copies 4 bytes instead of 3, to move a whole word */
		return p + 4;
	}
	if (ns < 10000000000000000u) {
		uint64_t high = ns / 100000000, words[2];

		words[0] = gt_eight_digits((uint32_t)high);
		words[1] = gt_eight_digits((uint32_t)(ns - high * 100000000));
		length = gt_decimal_length(ns);
		memcpy(digits, words, 16);
		memcpy(p, digits + 16 - length, 16);
		p += length - 3;
		*p = '.';
		memcpy(p + 1, digits + 13, 4);
		return p + 4;
	}
	p = gt_put_u64(p, ns / 1000);
	p[0] = '.';
	p[1] = (char)('0' + ns % 1000 / 100);
	memcpy(p + 2, gt_digit_pairs + 2 * (ns % 100), 2);
	return p + 4;
}

/* The digits of a time before its last 8. They recur in all times of a tenth of a second. */
struct gt_clock_digits {
	uint64_t from_ns; /* a time that ends in 8 zeros */
	uint8_t bytes;
	char text[16];
};
enum { GT_CLOCK_STEP_NS = 100000000 };
#define GT_CLOCK_DIGITS                  \
	{                                \
		GT_CLOCK_STEP_NS, 1, "1" \
	} /* initial value */

/* Make the digits those of @ns. Return false for a time of fewer than 9 digits. */
static inline bool gt_clock_digits_find(struct gt_clock_digits *c, uint64_t ns)
{
	uint64_t high;

	if (__builtin_expect(ns - c->from_ns < GT_CLOCK_STEP_NS, 1))
		return true;
	high = ns / GT_CLOCK_STEP_NS;
	if (!high)
		return false;
	c->from_ns = high * GT_CLOCK_STEP_NS;
	c->bytes = (uint8_t)(gt_put_u64(c->text, high) - c->text);
	return true;
}

/* Like gt_put_u64() and gt_put_us(), but may write up to 24 bytes, even if the text is shorter. */
static inline char *gt_put_clock_ns(struct gt_clock_digits *c, char *p, uint64_t ns)
{
	uint64_t digits;

	if (!gt_clock_digits_find(c, ns))
		return gt_put_u64(p, ns);
	digits = gt_eight_digits((uint32_t)(ns - c->from_ns));
	memcpy(p, c->text, sizeof c->text);
	memcpy(p + c->bytes, &digits, sizeof digits);
	return p + c->bytes + 8;
}

static inline char *gt_put_clock_us(struct gt_clock_digits *c, char *p, uint64_t ns)
{
	uint64_t digits, last;

	if (!gt_clock_digits_find(c, ns))
		return gt_put_us(p, ns);
	digits = gt_eight_digits((uint32_t)(ns - c->from_ns));
	last = digits >> 40; /* the three decimals */
	memcpy(p, c->text, sizeof c->text);
	p += c->bytes;
	memcpy(p, &digits, sizeof digits);
	p[5] = '.';
	memcpy(p + 6, &last, 4); /* 4 bytes instead of 3, to move a whole word */
	return p + 9;
}

#endif
