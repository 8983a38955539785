/* SPDX-License-Identifier: MIT */
/* The hot half of the collector. A record's head word (size, kind, depth, operation) is its shape; a
 * shape seen before in this block costs a byte, and its words are written as differences to the shape's
 * last row. Lengths go in front, in codes, and each value is stored as 8 bytes of which only
 * the needed ones are kept: no branch depends on a value.
 *
 * The records lie in memory that the traced program can write to while we read. So the head is read
 * once and everything that bounds an access derives from that copy.
 * Never here: allocation, I/O. */
#include "capture/encode.h"

#include <string.h>

#include "capture/rows.h"

static inline uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

void gt_encoder_init(struct gt_encoder *e)
{
	memset(e->total, 0, sizeof e->total);
	gt_encoder_reset(e, NULL, 0);
}

void gt_encoder_reset(struct gt_encoder *e, uint8_t *buffer, size_t bytes)
{
	e->begin = e->p = buffer ? buffer : e->buffer;
	e->end = e->begin + (buffer ? bytes : GT_ENCODER_BYTES);
	e->last_end = e->expect_id = 0;
	e->base_ticks = e->base_id = 0;
	e->first_ticks = UINT64_MAX;
	e->last_ticks = 0;
	e->rows = e->shape_count = e->words_used = e->base_set = 0;
	memcpy(e->block_total, e->total, sizeof e->total);
	memset(e->hash, 0, sizeof e->hash);
}

static struct gt_shape *shape_new(struct gt_encoder *e, uint64_t head, uint32_t coded, uint32_t tail, uint64_t at)
{
	struct gt_shape *s;

	if (e->shape_count == GT_ROW_SHAPES || e->words_used + coded > GT_ENCODER_WORDS)
		return NULL;
	e->hash[at].head = head;
	e->hash[at].shape = e->shape_count;
	s = &e->shapes[e->shape_count++];
	s->head = head;
	s->prev = e->words + e->words_used;
	s->coded = coded;
	s->tail = tail;
	e->words_used += coded;
	memset(s->prev, 0, coded * sizeof *s->prev);
	*e->p++ = GT_ROW_NEW_SHAPE;
	memcpy(e->p, &head, 8);
	e->p += 8;
	return s;
}

/* The shape of a head word; writes its reference. NULL: the block is full. @fixed: words that have no code */
static inline struct gt_shape *shape_get(struct gt_encoder *e, uint64_t head, uint32_t words, uint32_t fixed)
{
	uint64_t at = gt_row_hash(head) & (GT_ENCODER_HASH - 1);
	uint32_t rest = words - fixed;

	for (;; at = (at + 1) & (GT_ENCODER_HASH - 1)) {
		if (__builtin_expect(e->hash[at].head == head, 1)) {
			*e->p++ = (uint8_t)e->hash[at].shape;
			return &e->shapes[e->hash[at].shape];
		}
		if (!e->hash[at].head)
			break;
	}
	return shape_new(e, head, rest < GT_ROW_PREDICTED ? rest : GT_ROW_PREDICTED,
			 rest < GT_ROW_PREDICTED ? 0 : rest - GT_ROW_PREDICTED, at);
}

/* One word by its code: returns the code, moves *p. */
static inline uint32_t put_word(uint8_t **p, uint64_t *prev, uint64_t value)
{
	uint64_t d = gt_zigzag(value - *prev);
	uint32_t code = (d != 0) + (d > 0xff) + (d > 0xffffff);

	*prev = value;
	memcpy(*p, &d, 8);
	*p += gt_row_word_bytes(code);
	return code;
}

static inline uint8_t *put_words(uint8_t *p, uint64_t *prev, const uint64_t *words, uint32_t n)
{
	uint8_t *codes = p;
	uint32_t i = 0;

	p += (n + 3) / 4;
	for (; i + 4 <= n; i += 4) {
		uint32_t c = put_word(&p, prev + i, load(words + i));

		c |= put_word(&p, prev + i + 1, load(words + i + 1)) << 2;
		c |= put_word(&p, prev + i + 2, load(words + i + 2)) << 4;
		c |= put_word(&p, prev + i + 3, load(words + i + 3)) << 6;
		*codes++ = (uint8_t)c;
	}
	if (i < n) {
		uint32_t c = 0, shift = 0;

		for (; i < n; i++, shift += 2)
			c |= put_word(&p, prev + i, load(words + i)) << shift;
		*codes = (uint8_t)c;
	}
	return p;
}

static inline uint8_t *put_tail(uint8_t *p, const uint64_t *words, uint32_t n)
{
	memcpy(p, words, (size_t)n * 8);
	return p + (size_t)n * 8;
}

static uint8_t *put_id(struct gt_encoder *e, uint8_t *p, uint64_t id)
{
	uint64_t d = gt_zigzag(id - e->expect_id);

	for (; d >= 128; d >>= 7)
		*p++ = (uint8_t)(d | 128);
	*p++ = (uint8_t)d;
	return p;
}

static inline int encode_call(struct gt_encoder *e, const uint64_t *r, uint64_t head, uint32_t words)
{
	uint64_t start = load(r + 1), stop = load(r + 2), id = load(r + 3), distance, duration;
	struct gt_shape *s;
	uint32_t control, code, codes;
	uint8_t *p, *at;

	if (__builtin_expect(!e->base_set, 0)) {
		e->base_set = 1;
		e->base_ticks = e->last_end = start;
		e->base_id = e->expect_id = id;
	}
	s = shape_get(e, head, words, GT_CALL_FIXED_WORDS);
	if (__builtin_expect(!s, 0))
		return -1;
	at = e->p;
	/* control, the codes of all words but ret, then the values */
	codes = (s->coded + 2) / 4; /* of coded - 1 words */
	p = at + 1 + codes;
	distance = start - e->last_end;
	control = 0;
	if (__builtin_expect(start < e->last_end, 0)) {
		distance = -distance;
		control = GT_CONTROL_BACK;
	}
	e->first_ticks = start < e->first_ticks ? start : e->first_ticks;
	code = gt_row_time_code(distance);
	control |= code;
	memcpy(p, &distance, 8);
	p += gt_row_time_bytes(code);
	duration = stop - start;
	code = gt_row_time_code(duration);
	control |= code << 2;
	memcpy(p, &duration, 8);
	p += gt_row_time_bytes(code);
	e->last_end = stop;
	e->last_ticks = stop > e->last_ticks ? stop : e->last_ticks;
	if (__builtin_expect(id != e->expect_id, 0)) {
		control |= GT_CONTROL_ID;
		p = put_id(e, p, id);
	}
	e->expect_id = id + 1;
	control |= put_word(&p, s->prev, load(r + 4)) << 4;
	{
		uint8_t *c = at + 1;
		const uint64_t *w = r + 5;
		uint64_t *prev = s->prev + 1;
		uint32_t n = s->coded - 1, i = 0;

		for (; i + 4 <= n; i += 4) {
			uint32_t x = put_word(&p, prev + i, load(w + i));

			x |= put_word(&p, prev + i + 1, load(w + i + 1)) << 2;
			x |= put_word(&p, prev + i + 2, load(w + i + 2)) << 4;
			x |= put_word(&p, prev + i + 3, load(w + i + 3)) << 6;
			*c++ = (uint8_t)x;
		}
		if (i < n) {
			uint32_t x = 0, shift = 0;

			for (; i < n; i++, shift += 2)
				x |= put_word(&p, prev + i, load(w + i)) << shift;
			*c = (uint8_t)x;
		}
	}
	*at = (uint8_t)control;
	if (__builtin_expect(s->tail != 0, 0))
		p = put_tail(p, r + GT_CALL_FIXED_WORDS + s->coded, s->tail);
	e->p = p;
	return 0;
}

static int encode_device(struct gt_encoder *e, const uint64_t *r, uint64_t head, uint32_t words)
{
	uint64_t w[GT_DEVICE_MIN_WORDS - 1];
	struct gt_shape *s = shape_get(e, head, words, 1);
	uint32_t i;

	if (!s)
		return -1;
	if (words > GT_DEVICE_MIN_WORDS) { /* fields of a later version: no differences, rows.h agrees */
		e->p = put_tail(put_words(e->p, s->prev, r + 1, s->coded), r + 1 + s->coded, s->tail);
		return 0;
	}
	for (i = 0; i < GT_DEVICE_MIN_WORDS - 1; i++)
		w[i] = load(r + 1 + i);
	for (i = GT_DEVICE_WORD_END; i > GT_DEVICE_WORD_QUEUED; i--)
		w[i] -= w[i - 1];
	e->p = put_words(e->p, s->prev, w, GT_DEVICE_MIN_WORDS - 1);
	return 0;
}

static int encode_external(struct gt_encoder *e, const uint64_t *r, uint64_t head, uint32_t words)
{
	struct gt_shape *s = shape_get(e, head, words, 1);

	if (!s)
		return -1;
	e->p = put_tail(put_words(e->p, s->prev, r + 1, s->coded), r + 1 + s->coded, s->tail);
	return 0;
}

const uint64_t *gt_encoder_run(struct gt_encoder *e, const uint64_t *r, const uint64_t *end, enum gt_encode_stop *stop)
{
	while (r < end) {
		uint64_t head = load(r);
		uint32_t words = head & 0xffff, kind = head >> 16 & 0xff, op = (uint32_t)(head >> 32);
		uint32_t domain = GT_OP_DOMAIN(op);
		int full;

		if (__builtin_expect(words == 0 || words > (size_t)(end - r), 0)) {
			*stop = GT_ENCODE_MALFORMED;
			return r;
		}
		if (__builtin_expect((size_t)(e->end - e->p) < GT_ROW_MAX_BYTES(words), 0)) {
			*stop = GT_ENCODE_FULL;
			return r;
		}
		if (__builtin_expect(kind == GT_RECORD_CALL, 1)) {
			if (words < GT_CALL_MIN_WORDS || domain >= GT_DOMAIN_COUNT ||
			    (words > GT_CALL_MIN_WORDS && words - GT_CALL_MIN_WORDS < GT_OP_NARGS(op))) {
				*stop = GT_ENCODE_MALFORMED;
				return r;
			}
			full = encode_call(e, r, head, words);
			e->total[GT_CLASS_CALL][domain] += !full;
		} else if (kind == GT_RECORD_DEVICE) {
			if (words < GT_DEVICE_MIN_WORDS || domain >= GT_DOMAIN_COUNT) {
				*stop = GT_ENCODE_MALFORMED;
				return r;
			}
			full = encode_device(e, r, head, words);
			e->total[GT_CLASS_DEVICE][domain] += !full;
		} else if (kind == GT_RECORD_EXTERNAL) {
			if (words < GT_EXTERNAL_MIN_WORDS) {
				*stop = GT_ENCODE_MALFORMED;
				return r;
			}
			full = encode_external(e, r, head, words);
		} else if (kind == GT_RECORD_PAD) {
			r += words;
			continue;
		} else {
			*stop = GT_ENCODE_META;
			return r;
		}
		if (__builtin_expect(full, 0)) {
			*stop = GT_ENCODE_FULL;
			return r;
		}
		e->rows++;
		r += words;
	}
	*stop = GT_ENCODE_END;
	return r;
}
