/* SPDX-License-Identifier: MIT */
/* Words of a row by their codes (capture/format.h), the loops that both halves spend their time in. Four words make a
 * code byte. With AVX2 they are packed by one shuffle per two words; the tables say which bytes stay. Both
 * ways give the same bytes; encode.c and decode.c are compiled once for each (see meson.build). */
#ifndef GPUTAP_CAPTURE_WORDS_H
#define GPUTAP_CAPTURE_WORDS_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__) && defined(__BMI2__)
#include <immintrin.h>
#endif

#include "capture/rows.h"

/* Arrays of previous values have room for this many words more than they hold. */
#define GT_WORDS_PAD 4u

static inline uint32_t gt_put_word(uint8_t **p, uint64_t *prev, uint64_t value)
{
	uint64_t d = gt_zigzag(value - *prev);
	uint32_t code = (d != 0) + (d > 0xff) + (d > 0xffffff);

	*prev = value;
	memcpy(*p, &d, 8);
	*p += gt_row_word_bytes(code);
	return code;
}

static inline const uint8_t *gt_get_word(const uint8_t *p, uint64_t *word, uint32_t code)
{
	static const uint64_t mask[4] = {0, 0xff, 0xffffff, UINT64_MAX};
	uint64_t z;

	memcpy(&z, p, 8);
	*word += gt_unzigzag(z & mask[code]);
	return p + gt_row_word_bytes(code);
}

#if defined(__AVX2__) && defined(__BMI2__)

/* By the codes of two words, first one in the low bits: bytes that they take, bytes of two words to keep, and back. */
static const uint8_t gt_pair_bytes[16] = {0, 1, 3, 8, 1, 2, 4, 9, 3, 4, 6, 11, 8, 9, 11, 16};
static const uint8_t gt_pair_pack[16][16] __attribute__((aligned(16))) = {
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{8, 9, 10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 8, 9, 10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 8, 9, 10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x80, 0x80, 0x80, 0x80, 0x80},
	{8, 9, 10, 11, 12, 13, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 8, 9, 10, 11, 12, 13, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
static const uint8_t gt_pair_unpack[16][16] __attribute__((aligned(16))) = {
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2, 3, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 3, 4, 5, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 2, 3, 4, 5, 6, 7},
	{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 2, 3, 4, 5, 6, 7, 8},
	{0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 3, 4, 5, 6, 7, 8, 9, 10},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

static inline uint8_t *gt_put_four(uint8_t *p, uint8_t *code_byte, uint64_t *prev, __m256i value)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i d = _mm256_sub_epi64(value, _mm256_loadu_si256((const __m256i *)prev));
	__m256i z = _mm256_xor_si256(_mm256_add_epi64(d, d), _mm256_cmpgt_epi64(zero, d));
	uint32_t none = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(z, zero)));
	uint32_t one = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_srli_epi64(z, 8), zero)));
	uint32_t three = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_srli_epi64(z, 24), zero)));
	/* code = 3 minus the number of these that hold */
	uint32_t codes = _pdep_u32(~(none ^ one ^ three), 0x55) | _pdep_u32(~one, 0xaa);
	uint32_t low = codes & 15, high = codes >> 4;

	_mm256_storeu_si256((__m256i *)prev, value);
	_mm_storeu_si128((__m128i *)p, _mm_shuffle_epi8(_mm256_castsi256_si128(z), _mm_load_si128((const __m128i *)gt_pair_pack[low])));
	p += gt_pair_bytes[low];
	_mm_storeu_si128((__m128i *)p,
			 _mm_shuffle_epi8(_mm256_extracti128_si256(z, 1), _mm_load_si128((const __m128i *)gt_pair_pack[high])));
	*code_byte = (uint8_t)codes;
	return p + gt_pair_bytes[high];
}

/* @words may be shared memory: each is read once, and none behind the n-th. */
static inline uint8_t *gt_put_words(uint8_t *p, uint8_t *codes, uint64_t *prev, const uint64_t *words, uint32_t n)
{
	static const int64_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4)
		p = gt_put_four(p, codes++, prev + i, _mm256_loadu_si256((const __m256i *)(words + i)));
	if (i < n) {
		__m256i mask = _mm256_loadu_si256((const __m256i *)(lanes + 4 - (n - i)));

		p = gt_put_four(p, codes, prev + i, _mm256_maskload_epi64((const long long *)(words + i), mask));
	}
	return p;
}

static inline const uint8_t *gt_get_four(const uint8_t *p, uint32_t codes, uint64_t *words)
{
	uint32_t low = codes & 15, high = codes >> 4;
	__m128i a, b;
	__m256i z, d;

	a = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), _mm_load_si128((const __m128i *)gt_pair_unpack[low]));
	p += gt_pair_bytes[low];
	b = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), _mm_load_si128((const __m128i *)gt_pair_unpack[high]));
	z = _mm256_set_m128i(b, a);
	d = _mm256_xor_si256(_mm256_srli_epi64(z, 1), _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(z, _mm256_set1_epi64x(1))));
	_mm256_storeu_si256((__m256i *)words, _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)words), d));
	return p + gt_pair_bytes[high];
}

static inline const uint8_t *gt_get_words(const uint8_t *p, const uint8_t *codes, uint64_t *words, uint32_t n)
{
	uint32_t i = 0;

	/* no look whether any of four differ: the guess costs more than the work */
	for (; i + 4 <= n; i += 4, codes++)
		p = gt_get_four(p, *codes, words + i);
	if (i < n) /* codes of words that are not there count for nothing */
		p = gt_get_four(p, *codes & ((1u << 2 * (n - i)) - 1), words + i);
	return p;
}

#else

static inline uint8_t *gt_put_words(uint8_t *p, uint8_t *codes, uint64_t *prev, const uint64_t *words, uint32_t n)
{
	uint32_t i = 0;

	while (i < n) {
		uint32_t c = 0, shift;

		for (shift = 0; shift < 8 && i < n; shift += 2, i++)
			c |= gt_put_word(&p, prev + i, __atomic_load_n(words + i, __ATOMIC_RELAXED)) << shift;
		*codes++ = (uint8_t)c;
	}
	return p;
}

static inline const uint8_t *gt_get_words(const uint8_t *p, const uint8_t *codes, uint64_t *words, uint32_t n)
{
	uint32_t i = 0;

	while (i < n) {
		uint32_t c = *codes++, k;

		for (k = 0; k < 4 && i < n; k++, i++, c >>= 2)
			p = gt_get_word(p, words + i, c & 3);
	}
	return p;
}

#endif
#endif
