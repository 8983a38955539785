/* SPDX-License-Identifier: MIT */
/* Undoes encode.c, one row at a time, inlined into the loops that want rows (decode.c, cursor_next.c; each compiled
 * twice, see codec.c). The payload may be anything: nothing is trusted but its length. A row is
 * decoded without a look at the end, because GT_DECODE_SLACK readable bytes follow the payload; whether it
 * went past the end is checked once, after. */
#ifndef GPUTAP_CAPTURE_DECODE_ROW_H
#define GPUTAP_CAPTURE_DECODE_ROW_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "capture/words.h"

static_assert(GT_DECODE_SLACK >= GT_ROW_PREDICTED * 8 + GT_ROW_PREDICTED / 4 + 64, "a row may be read past the end");

static inline uint64_t gt_row_load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static struct gt_decode_shape *gt_decode_shape_new(struct gt_decoder *d)
{
	uint64_t head;
	uint32_t words, fixed, min;
	struct gt_decode_shape *s;

	if (d->shape_count == GT_ROW_SHAPES)
		return NULL;
	head = gt_row_load(d->p);
	d->p += 8;
	words = head & 0xffff;
	s = &d->shapes[d->shape_count];
	s->head = head;
	s->kind = head >> 16 & 0xff;
	switch (s->kind) {
	case GT_RECORD_CALL:
		min = GT_CALL_MIN_WORDS;
		if (words > min && words - min < GT_OP_NARGS(head >> 32))
			return NULL;
		break;
	case GT_RECORD_DEVICE:
		min = GT_DEVICE_MIN_WORDS;
		break;
	case GT_RECORD_EXTERNAL:
		min = GT_EXTERNAL_MIN_WORDS;
		break;
	default: /* of a later version: read as words, dropped by the cursor */
		min = 2;
	}
	if (words < min)
		return NULL;
	fixed = s->kind == GT_RECORD_CALL ? GT_CALL_FIXED_WORDS : 1;
	s->coded = words - fixed < GT_ROW_PREDICTED ? words - fixed : GT_ROW_PREDICTED;
	s->tail = words - fixed - s->coded;
	s->words = d->words[d->shape_count];
	memset(s->words, 0, (s->coded + GT_WORDS_PAD) * sizeof *s->words);
	d->shape_count++;
	return s;
}

/* The row's words with its tail, in one piece. */
static int gt_decode_join_tail(struct gt_decoder *d, const struct gt_decode_shape *s, const uint8_t **p, struct gt_row *row)
{
	size_t bytes = (size_t)s->tail * 8;

	if (*p > d->end || (size_t)(d->end - *p) < bytes)
		return -EBADMSG;
	if (!d->scratch) {
		d->scratch = malloc((UINT16_MAX + GT_WORDS_PAD) * sizeof *d->scratch);
		if (!d->scratch)
			return -ENOMEM;
	}
	memcpy(d->scratch, s->words, s->coded * sizeof *s->words);
	memcpy(d->scratch + s->coded, *p, bytes);
	*p += bytes;
	row->words = d->scratch;
	return 0;
}

static inline const uint8_t *gt_decode_call(struct gt_decoder *d, struct gt_decode_shape *s, struct gt_row *row)
{
	static const uint64_t mask[4] = {0xff, 0xffff, 0xffffffff, UINT64_MAX};
	const uint8_t *codes = d->p + 1, *p = codes + (s->coded + 2) / 4;
	uint32_t control = *d->p;
	uint64_t distance, id = d->expect_id;

	distance = gt_row_load(p) & mask[control & 3];
	p += gt_row_time_bytes(control & 3);
	row->start = d->last_end + (control & GT_CONTROL_BACK ? -distance : distance);
	row->end = row->start + (gt_row_load(p) & mask[control >> 2 & 3]);
	p += gt_row_time_bytes(control >> 2 & 3);
	if (__builtin_expect(control & GT_CONTROL_ID, 0)) {
		uint64_t z = 0;
		uint32_t shift = 0;

		for (; shift < 63 && *p & 128; shift += 7)
			z |= (uint64_t)(*p++ & 127) << shift;
		z |= (uint64_t)*p++ << shift;
		id += gt_unzigzag(z);
	}
	row->id = id;
	d->expect_id = id + 1;
	d->last_end = row->end;
	p = gt_get_word(p, s->words, control >> 4 & 3);
	return gt_get_words(p, codes, s->words + 1, s->coded - 1);
}

/* Stamps were stored as differences; the shape keeps the differences. */
static const uint8_t *gt_decode_device(struct gt_decoder *d, struct gt_decode_shape *s, struct gt_row *row)
{
	const uint8_t *p = gt_get_words(d->p + (s->coded + 3) / 4, d->p, s->words, s->coded);
	uint64_t stamp;
	uint32_t i;

	if (s->coded != GT_DEVICE_MIN_WORDS - 1)
		return p;
	memcpy(d->device, s->words, sizeof d->device);
	stamp = d->device[GT_DEVICE_WORD_QUEUED];
	for (i = GT_DEVICE_WORD_SUBMITTED; i <= GT_DEVICE_WORD_END; i++) {
		stamp += d->device[i];
		d->device[i] = stamp;
	}
	row->words = d->device;
	return p;
}

/* See gt_decoder_next(). */
static inline int gt_decode_row(struct gt_decoder *d, struct gt_row *row)
{
	struct gt_decode_shape *s;
	const uint8_t *p;
	uint32_t slot;

	if (d->p >= d->end)
		return 0;
	slot = *d->p++;
	if (__builtin_expect(slot == GT_ROW_NEW_SHAPE, 0)) {
		s = gt_decode_shape_new(d);
		if (!s)
			return -EBADMSG;
	} else {
		if (__builtin_expect(slot >= d->shape_count, 0))
			return -EBADMSG;
		s = &d->shapes[slot];
	}
	row->head = s->head;
	row->words = s->words;
	row->count = s->coded + s->tail;
	if (__builtin_expect(s->kind == GT_RECORD_CALL, 1))
		p = gt_decode_call(d, s, row);
	else if (s->kind == GT_RECORD_DEVICE)
		p = gt_decode_device(d, s, row);
	else
		p = gt_get_words(d->p + (s->coded + 3) / 4, d->p, s->words, s->coded);
	if (__builtin_expect(s->tail != 0, 0)) {
		int status = gt_decode_join_tail(d, s, &p, row);

		if (status)
			return status;
	}
	if (__builtin_expect(p > d->end, 0))
		return -EBADMSG;
	d->p = p;
	return 1;
}

#endif
