/* SPDX-License-Identifier: MIT */
/* Encodes and decodes the words of a row by their codes (capture/format.h). These are the innermost
 * loops of the encoder and the decoder. One code byte contains the codes of four words. With AVX2,
 * one shuffle packs two words and tables hold the packed sizes. The AVX2 and the portable variant
 * produce the same bytes. meson.build compiles encode.c and decode.c once for each variant. */
#ifndef GPUTAP_CAPTURE_WORDS_H
#define GPUTAP_CAPTURE_WORDS_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__) && defined(__BMI2__)
#include <immintrin.h>
#endif

#include "capture/rows.h"

/* Arrays of words must have room for this many extra words. */
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

/* gt_get_words(): decode the words of @bytes code bytes into @words, which contains the words of
 * the previous row, and into @out. @last: result of gt_last_codes(), which masks the last code
 * byte. Both arrays have room for GT_WORDS_PAD more words. Return the end of the values. */
static inline const uint8_t *gt_get_word(const uint8_t *p, uint64_t *word, uint32_t code)
{
	static const uint64_t mask[4] = {0, 0xff, 0xffffff, UINT64_MAX};
	uint64_t z;

	memcpy(&z, p, 8);
	*word += gt_unzigzag(z & mask[code]);
	return p + gt_row_word_bytes(code);
}

#if defined(__AVX2__) && defined(__BMI2__)

/* For the codes of two words, the first in the low bits: size of the packed words, and the shuffle
 * that packs them. */
static const uint8_t gt_pair_bytes[16] = {0, 1, 3, 8, 1, 2, 4, 9, 3, 4, 6, 11, 8, 9, 11, 16};
static const uint8_t gt_pair_pack[16][16] __attribute__((aligned(16))) = {
	{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	 0x80},
	{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	 0x80},
	{0, 1, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{0, 1, 2, 3, 4, 5, 6, 7, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
	{8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	 0x80},
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
static inline uint8_t *gt_put_four(uint8_t *p, uint8_t *code_byte, uint64_t *prev, __m256i value)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i d = _mm256_sub_epi64(value, _mm256_loadu_si256((const __m256i *)prev));
	__m256i z = _mm256_xor_si256(_mm256_add_epi64(d, d), _mm256_cmpgt_epi64(zero, d));
	uint32_t none =
		(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(z, zero)));
	uint32_t one = (uint32_t)_mm256_movemask_pd(
		_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_srli_epi64(z, 8), zero)));
	uint32_t three = (uint32_t)_mm256_movemask_pd(
		_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_srli_epi64(z, 24), zero)));
	/* code = 3 minus the number of set masks among the masks none, one and three */
	uint32_t codes = _pdep_u32(~(none ^ one ^ three), 0x55) | _pdep_u32(~one, 0xaa);
	uint32_t low = codes & 15, high = codes >> 4;

	_mm256_storeu_si256((__m256i *)prev, value);
	_mm_storeu_si128((__m128i *)p,
			 _mm_shuffle_epi8(_mm256_castsi256_si128(z),
					  _mm_load_si128((const __m128i *)gt_pair_pack[low])));
	p += gt_pair_bytes[low];
	_mm_storeu_si128((__m128i *)p,
			 _mm_shuffle_epi8(_mm256_extracti128_si256(z, 1),
					  _mm_load_si128((const __m128i *)gt_pair_pack[high])));
	*code_byte = (uint8_t)codes;
	return p + gt_pair_bytes[high];
}

/* @words may be shared memory. The function reads each word once, and reads no word after the
 * n-th. */
static inline uint8_t *gt_put_words(uint8_t *p, uint8_t *codes, uint64_t *prev,
				    const uint64_t *words, uint32_t n)
{
	static const int64_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4)
		p = gt_put_four(p, codes++, prev + i,
				_mm256_loadu_si256((const __m256i *)(words + i)));
	if (i < n) {
		__m256i mask = _mm256_loadu_si256((const __m256i *)(lanes + 4 - (n - i)));

		p = gt_put_four(p, codes, prev + i,
				_mm256_maskload_epi64((const long long *)(words + i), mask));
	}
	return p;
}

/* For the codes of four words: source byte for each byte of two pairs of words (0x80: 0), size of
 * the first pair, size of all four words. One table needs only one address register. */
#define GT_WORD_BYTES(code) ((code) == 0 ? 0 : (code) == 1 ? 1 : (code) == 2 ? 3 : 8)
#define GT_BYTE(n, at, i)   ((i) < (n) ? (at) + (i) : 0x80)
#define GT_WORD(n, at)                                                              \
	GT_BYTE(n, at, 0), GT_BYTE(n, at, 1), GT_BYTE(n, at, 2), GT_BYTE(n, at, 3), \
		GT_BYTE(n, at, 4), GT_BYTE(n, at, 5), GT_BYTE(n, at, 6), GT_BYTE(n, at, 7)
#define GT_PAIR(a, b) GT_WORD(GT_WORD_BYTES(a), 0), GT_WORD(GT_WORD_BYTES(b), GT_WORD_BYTES(a))
#define GT_FOUR(c)                                                                \
	{                                                                         \
		GT_PAIR((c)&3, (c) >> 2 & 3), GT_PAIR((c) >> 4 & 3, (c) >> 6 & 3) \
	}
#define GT_FOURS(c)    GT_FOUR(c), GT_FOUR(c + 1), GT_FOUR(c + 2), GT_FOUR(c + 3)
#define GT_FOURS_16(c) GT_FOURS(c), GT_FOURS(c + 4), GT_FOURS(c + 8), GT_FOURS(c + 12)
#define GT_FOURS_64(c) GT_FOURS_16(c), GT_FOURS_16(c + 16), GT_FOURS_16(c + 32), GT_FOURS_16(c + 48)
#define GT_BYTES(n)                                                                             \
	n, n + 1, n + 3, n + 8, n + 1, n + 2, n + 4, n + 9, n + 3, n + 4, n + 6, n + 11, n + 8, \
		n + 9, n + 11, n + 16
#define GT_BYTES_ALL(n) GT_BYTES(n), GT_BYTES(n + 1), GT_BYTES(n + 3), GT_BYTES(n + 8)
#define GT_BYTES_PAIR   GT_BYTES(0), GT_BYTES(0), GT_BYTES(0), GT_BYTES(0)
static const struct gt_unpack {
	uint8_t from[256][32];
	uint8_t pair[256], all[256];
} gt_unpack __attribute__((
	aligned(64))) = {{GT_FOURS_64(0), GT_FOURS_64(64), GT_FOURS_64(128), GT_FOURS_64(192)},
			 {GT_BYTES_PAIR, GT_BYTES_PAIR, GT_BYTES_PAIR, GT_BYTES_PAIR},
			 {GT_BYTES_ALL(0), GT_BYTES_ALL(1), GT_BYTES_ALL(3), GT_BYTES_ALL(8)}};
#undef GT_BYTES_PAIR
#undef GT_BYTES_ALL
#undef GT_BYTES
#undef GT_FOURS_64
#undef GT_FOURS_16
#undef GT_FOURS
#undef GT_FOUR
#undef GT_PAIR
#undef GT_WORD
#undef GT_BYTE
#undef GT_WORD_BYTES

static inline const uint8_t *gt_get_four(const struct gt_unpack *table, const uint8_t *p,
					 size_t codes, uint64_t *words, uint64_t *out)
{
	__m256i z = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)), d;

	z = _mm256_inserti128_si256(z, _mm_loadu_si128((const __m128i *)(p + table->pair[codes])),
				    1);
	z = _mm256_shuffle_epi8(z, _mm256_load_si256((const __m256i *)table->from[codes]));
	d = _mm256_xor_si256(_mm256_srli_epi64(z, 1),
			     _mm256_sub_epi64(_mm256_setzero_si256(),
					      _mm256_and_si256(z, _mm256_set1_epi64x(1))));
	d = _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)words), d);
	_mm256_storeu_si256((__m256i *)words, d);
	_mm256_storeu_si256((__m256i *)out, d);
	return p + table->all[codes];
}

/* Decodes four words even if all are unchanged, because a mispredicted branch costs more than the
 * decoding. */
static inline const uint8_t *gt_get_words(const uint8_t *p, const uint8_t *codes, uint64_t *words,
					  uint64_t *out, uint32_t bytes, uint8_t last)
{
	const struct gt_unpack *table = &gt_unpack;
	size_t i, end = (size_t)bytes * 4;

	if (!bytes)
		return p;
	__asm__("" : "+r"(table)); /* keep the address in a register */
	for (i = 0; i != end - 4; i += 4)
		p = gt_get_four(table, p, *codes++, words + i, out + i);
	return gt_get_four(table, p, *codes & last, words + i, out + i);
}

#else

static inline uint8_t *gt_put_words(uint8_t *p, uint8_t *codes, uint64_t *prev,
				    const uint64_t *words, uint32_t n)
{
	uint32_t i = 0;

	while (i < n) {
		uint32_t c = 0, shift;

		for (shift = 0; shift < 8 && i < n; shift += 2, i++)
			c |= gt_put_word(&p, prev + i, __atomic_load_n(words + i, __ATOMIC_RELAXED))
			     << shift;
		*codes++ = (uint8_t)c;
	}
	return p;
}

static inline const uint8_t *gt_get_words(const uint8_t *p, const uint8_t *codes, uint64_t *words,
					  uint64_t *out, uint32_t bytes, uint8_t last)
{
	for (; bytes; bytes--) {
		uint32_t c = bytes > 1 ? *codes++ : *codes & last;

		for (uint32_t k = 0; k < 4; k++, words++, c >>= 2) {
			p = gt_get_word(p, words, c & 3);
			*out++ = *words;
		}
	}
	return p;
}

#endif

/* Return a mask for the last code byte. Codes of words after the @n-th count as 0. @n: total number
 * of words */
static inline uint8_t gt_last_codes(uint32_t n)
{
	return n % 4 ? (uint8_t)((1u << 2 * (n % 4)) - 1) : 0xff;
}
#endif
