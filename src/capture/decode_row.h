/* SPDX-License-Identifier: MIT */
/* Decodes the rows that encode.c writes, one at a time. Inlined into the loops that read rows
 * (decode.c, cursor_next.c; each compiled twice, see fastcpu.h). The payload may contain any bytes,
 * and only its length is trusted. Decoding a row does not check for the payload's end, because
 * GT_DECODE_SLACK readable bytes follow the payload. A single check after the row detects whether
 * the row exceeded the payload. */
#ifndef GPUTAP_CAPTURE_DECODE_ROW_H
#define GPUTAP_CAPTURE_DECODE_ROW_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "capture/words.h"

static_assert(GT_DECODE_SLACK >= GT_ROW_PREDICTED * 8 + GT_ROW_PREDICTED / 4 + 64,
	      "the reader may read past the end of a row");

static inline uint64_t gt_row_load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* Return a position in @room such that the first word ends at a multiple of 32 bytes. Then the
 * words after it, stored four at a time, are aligned. */
static inline uint64_t *gt_decode_place(uint64_t *room)
{
	return (uint64_t *)(((uintptr_t)room + 31) & ~(uintptr_t)31) + GT_WORDS_PAD - 1;
}

/* Fill in an item's fields from the head word. Items of kinds without arguments get no payload. */
static void gt_decode_shape_item(struct gt_decode_shape *s, uint32_t words)
{
	uint32_t nargs = GT_OP_NARGS(s->item.op);

	s->item.detail = s->head >> 24 & 0xff;
	if (s->item.kind != GT_RECORD_CALL || !nargs || words - GT_CALL_MIN_WORDS < nargs)
		return;
	s->payload_at = (uint16_t)(1 + nargs);
	s->item.payload_bytes = (words - GT_CALL_MIN_WORDS - nargs) * 8;
}

static __attribute__((noinline)) struct gt_decode_shape *gt_decode_shape_new(struct gt_decoder *d,
									     const uint8_t **p)
{
	uint64_t head;
	uint32_t words, fixed, min, kind;
	struct gt_decode_shape *s;

	if (d->shape_count == GT_ROW_SHAPES)
		return NULL;
	head = gt_row_load(*p);
	*p += 8;
	words = head & 0xffff;
	kind = head >> 16 & 0xff;
	switch (kind) {
	case GT_RECORD_CALL:
		min = GT_CALL_MIN_WORDS;
		if (GT_OP_DOMAIN(head >> 32) >= GT_DOMAIN_COUNT ||
		    (words > min && words - min < GT_OP_NARGS(head >> 32)))
			return NULL;
		break;
	case GT_RECORD_DEVICE:
		min = GT_DEVICE_MIN_WORDS;
		/* the arrays of readers have GT_DOMAIN_COUNT entries */
		if (GT_OP_DOMAIN(head >> 32) >= GT_DOMAIN_COUNT)
			return NULL;
		break;
	case GT_RECORD_EXTERNAL:
	case GT_RECORD_STACK: min = GT_EXTERNAL_MIN_WORDS; break;
	case GT_RECORD_HOST: min = sizeof(struct gt_record_host) / 8; break;
	/* a kind from a later version: decode the words of the row; the cursor drops them */
	default: min = 2;
	}
	if (words < min)
		return NULL;
	fixed = kind == GT_RECORD_CALL ? GT_CALL_FIXED_WORDS : 1;
	s = &d->shapes[d->shape_count];
	*s = (struct gt_decode_shape){.head = head,
				      .item = {.kind = kind, .op = (uint32_t)(head >> 32)}};
	s->coded = (uint16_t)(words - fixed < GT_ROW_PREDICTED ? words - fixed : GT_ROW_PREDICTED);
	s->tail = (uint16_t)(words - fixed - s->coded);
	/* the code of a call's first word is in the control byte */
	s->code_bytes = (uint8_t)((s->coded - (kind == GT_RECORD_CALL) + 3) / 4);
	s->last_codes = gt_last_codes(s->coded - (kind == GT_RECORD_CALL));
	gt_decode_shape_item(s, words);
	s->way = s->tail                                     ? GT_DECODE_ANY
		 : kind == GT_RECORD_CALL && !s->item.detail ? GT_DECODE_LONE_CALL
		 : kind == GT_RECORD_DEVICE                  ? GT_DECODE_DEVICE
							     : GT_DECODE_ANY;
	s->words = gt_decode_place(d->words[d->shape_count]);
	memset(s->words, 0, (s->coded + GT_WORDS_PAD) * sizeof *s->words);
	d->shape_count++;
	return s;
}

/* Copy the row's words and its tail into one array. */
static __attribute__((noinline)) int gt_decode_join_tail(struct gt_decoder *d,
							 const struct gt_decode_shape *s,
							 const uint8_t **p, const uint64_t **words)
{
	size_t bytes = (size_t)s->tail * 8;

	if (*p > d->end || (size_t)(d->end - *p) < bytes)
		return -EBADMSG;
	if (!d->scratch) {
		d->scratch = malloc((UINT16_MAX + GT_WORDS_PAD) * sizeof *d->scratch);
		if (!d->scratch)
			return -ENOMEM;
	}
	memcpy(d->scratch, *words, s->coded * sizeof **words);
	memcpy(d->scratch + s->coded, *p, bytes);
	*p += bytes;
	*words = d->scratch;
	return 0;
}

static inline uint64_t gt_decode_time(const uint8_t **p, uint32_t code)
{
	uint64_t v = gt_row_load(*p);
	uint32_t bytes = gt_row_time_bytes(code);

	*p += bytes;
#if defined(__AVX2__) && defined(__BMI2__)
	return _bzhi_u64(v, bytes * 8);
#else
	return v & UINT64_MAX >> (64 - bytes * 8);
#endif
}

static __attribute__((noinline)) const uint8_t *gt_decode_id(const uint8_t *p, uint64_t *id)
{
	uint64_t z = 0;
	uint32_t shift = 0;

	for (; shift < 63 && *p & 128; shift += 7)
		z |= (uint64_t)(*p++ & 127) << shift;
	z |= (uint64_t)*p++ << shift;
	*id += gt_unzigzag(z);
	return p;
}

/* Inlined into each loop: calling it would cost as much as two rows. */
static inline __attribute__((always_inline)) const uint8_t *gt_decode_call(
	struct gt_decode_at *at, const struct gt_decode_shape *s, uint64_t *out, struct gt_row *row)
{
	const uint8_t *codes = at->p + 1, *p = codes + s->code_bytes;
	uint32_t control = *at->p;
	uint64_t distance = gt_decode_time(&p, control & 3), id = at->expect_id;

	row->start = at->last_end + (control & GT_CONTROL_BACK ? -distance : distance);
	row->end = row->start + gt_decode_time(&p, control >> 2 & 3);
	if (__builtin_expect(control & GT_CONTROL_ID, 0)) {
		uint64_t other = id;

		p = gt_decode_id(p, &other);
		id = other;
	}
	row->id = id;
	at->expect_id = id + 1;
	at->last_end = row->end;
	if (control & 0x30) /* the status is usually the same as in the previous row */
		p = gt_get_word(p, s->words, control >> 4 & 3);
	out[0] = s->words[0];
	return gt_get_words(p, codes, s->words + 1, out + 1, s->code_bytes, s->last_codes);
}

/* Decode a device row. Timestamps are stored as differences, and the shape contains the differences
 * of the previous row. */
static inline __attribute__((always_inline)) const uint8_t *gt_decode_device(
	const struct gt_decode_at *at, const struct gt_decode_shape *s, uint64_t *out)
{
	const uint8_t *p = gt_get_words(at->p + s->code_bytes, at->p, s->words, out, s->code_bytes,
					s->last_codes);

	if (__builtin_expect(s->coded == GT_DEVICE_MIN_WORDS - 1, 1)) {
		uint64_t submitted = out[GT_DEVICE_WORD_QUEUED] + out[GT_DEVICE_WORD_SUBMITTED];
		uint64_t start = submitted + out[GT_DEVICE_WORD_START];

		out[GT_DEVICE_WORD_END] += start;
		out[GT_DEVICE_WORD_SUBMITTED] = submitted;
		out[GT_DEVICE_WORD_START] = start;
	}
	return p;
}

/* Return the shape of the next row and skip the row's first byte. NULL: the shape is undefined. */
static inline struct gt_decode_shape *gt_decode_next_shape(struct gt_decoder *d,
							   struct gt_decode_at *at)
{
	uint32_t slot = *at->p++;
	struct gt_decode_shape *s = &d->shapes[slot];

	if (__builtin_expect(slot >= d->shape_count, 0)) {
		const uint8_t *p = at->p;

		s = slot == GT_ROW_NEW_SHAPE ? gt_decode_shape_new(d, &p) : NULL;
		at->p = p;
		if (!s)
			return NULL;
	}
	s->rows++;
	return s;
}

/* Decode the rest of a row whose first byte was skipped.
 * @at: position in @d
 * @out: gt_decode_place(), with room for GT_DECODE_OUT words; receives the row's words, unless the
 *       row has a tail
 * Return 1, -EBADMSG or -ENOMEM. */
static inline int gt_decode_row(struct gt_decoder *d, struct gt_decode_at *at,
				const struct gt_decode_shape *s, uint64_t *out, struct gt_row *row)
{
	row->shape = s;
	row->head = s->head;
	row->words = out;
	if (s->item.kind == GT_RECORD_CALL) {
		at->p = gt_decode_call(at, s, out, row);
	} else {
		row->words = ++out;
		at->p = s->item.kind == GT_RECORD_DEVICE
				? gt_decode_device(at, s, out)
				: gt_get_words(at->p + s->code_bytes, at->p, s->words, out,
					       s->code_bytes, s->last_codes);
	}
	if (__builtin_expect(s->tail != 0, 0)) {
		int status = gt_decode_join_tail(d, s, &at->p, &row->words);

		if (status)
			return status;
	}
	return __builtin_expect(at->p > d->end, 0) ? -EBADMSG : 1;
}

#endif
