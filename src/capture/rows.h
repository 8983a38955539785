/* SPDX-License-Identifier: MIT */
/* Helpers that the encoder and the decoder of rows share (capture/format.h). */
#ifndef GPUTAP_CAPTURE_ROWS_H
#define GPUTAP_CAPTURE_ROWS_H

#include <stdint.h>

static inline uint64_t gt_zigzag(uint64_t d)
{
	return d << 1 ^ (uint64_t)((int64_t)d >> 63);
}

static inline uint64_t gt_unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

/* Return the size of a word with this code: 0, 1, 3 or 8 bytes. */
static inline uint32_t gt_row_word_bytes(uint32_t code)
{
	return 0x08030100u >> (code * 8) & 0xff;
}

/* Return the code of a time, for a size of 1, 2, 4 or 8 bytes. */
static inline uint32_t gt_row_time_code(uint64_t v)
{
	return (v > 0xff) + (v > 0xffff) + (v > 0xffffffff);
}

static inline uint32_t gt_row_time_bytes(uint32_t code)
{
	return 1u << code;
}

static inline uint64_t gt_row_hash(uint64_t head)
{
	return head * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}

#endif
