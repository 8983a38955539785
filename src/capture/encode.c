/* SPDX-License-Identifier: MIT */
/* The hot half of the collector. A record's head word (size, kind, detail, operation) is its shape.
 * A shape that the block already contains is coded in one byte, and the words are coded as
 * differences to the last row of the shape. The sizes of the words come first, as codes. Each value
 * is stored as 8 bytes, and the next value overwrites the bytes that were not needed, so that no
 * branch depends on a value.
 *
 * The traced program can write to the memory of the records during reading. Therefore the encoder
 * reads a head once, and derives the bounds of all accesses from that copy.
 * Compiled twice, see fastcpu.h. Never here: allocation, I/O. */
#include "capture/encode.h"

#include <stdbool.h>
#include <string.h>

#include "capture/words.h"
#include "record/host_state.h"
#include "record/operation.h"

static inline uint64_t load_relaxed(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* State that changes with every call, kept in registers. Rows are stored as bytes, which may alias
 * the encoder. If the encoder contained this state, the compiler would reload it after each
 * store. */
struct hot {
	uint8_t *p;
	uint64_t last_end, expect_id;
	/* bitwise or of all durations, whose highest bit is set if a call ended before its start */
	uint64_t durations;
	uint32_t call; /* operation of the last call; 0: none */
};

/* Return true if gputap writes rows with such a head. Called once per shape and block. */
static bool is_known_shape(uint64_t head)
{
	uint32_t words = head & 0xffff, kind = head >> 16 & 0xff, detail = head >> 24 & 0xff,
		 op = (uint32_t)(head >> 32);

	switch (kind) {
	case GT_RECORD_CALL: return gt_operation(op) != NULL;
	case GT_RECORD_DEVICE:
		return words == GT_DEVICE_MIN_WORDS && detail && detail < GT_DEVICE_OP_COUNT;
	case GT_RECORD_STACK:
		return words == sizeof(struct gt_record_stack) / 8 && !detail &&
		       gt_operation(op) != NULL;
	case GT_RECORD_HOST:
		return words == sizeof(struct gt_record_host) / 8 && detail &&
		       detail < GT_HOST_DETAIL_COUNT && op < GT_HOST_STATE_COUNT;
	/* gt_capture_cut() writes these records; a program does not */
	case GT_RECORD_CONTEXT: return false;
	default:
		return words == GT_EXTERNAL_MIN_WORDS && detail <= 1 &&
		       op < GT_EXTERNAL_STACK_COUNT;
	}
}

/* Return the marks that a row with this head adds to its block. Called once per shape and block. */
static uint32_t find_mark(uint64_t head)
{
	const struct gt_operation_info *info;

	switch (head >> 16 & 0xff) {
	case GT_RECORD_CALL:
		info = gt_operation((uint32_t)(head >> 32));
		return info && info->mark ? UINT32_C(1) << info->mark : 0;
	case GT_RECORD_EXTERNAL: return GT_FILE_EXTERNAL;
	case GT_RECORD_HOST: return GT_FILE_HOST;
	default: return 0;
	}
}

static struct gt_shape *shape_new(struct gt_encoder *e, uint8_t **p, uint64_t head, uint32_t coded,
				  uint32_t tail, uint64_t at)
{
	struct gt_shape *s;

	if (e->shape_count == GT_ROW_SHAPES ||
	    e->words_used + coded + GT_WORDS_PAD > GT_ENCODER_WORDS)
		return NULL;
	if (!is_known_shape(head))
		e->doubted = true;
	e->marks |= find_mark(head);
	e->hash[at].head = head;
	e->hash[at].shape = e->shape_count;
	s = &e->shapes[e->shape_count++];
	s->head = head;
	s->prev = e->words + e->words_used;
	s->coded = coded;
	s->tail = tail;
	e->words_used += coded + GT_WORDS_PAD;
	memset(s->prev, 0, (coded + GT_WORDS_PAD) * sizeof *s->prev);
	*(*p)++ = GT_ROW_NEW_SHAPE;
	memcpy(*p, &head, 8);
	*p += 8;
	return s;
}

/* Find or add the shape of a head word and write its reference. Return NULL if the block is full.
 * @fixed: number of words without a code */
static inline struct gt_shape *shape_get(struct gt_encoder *e, uint8_t **p, uint64_t head,
					 uint32_t words, uint32_t fixed)
{
	uint64_t at = gt_row_hash(head) & (GT_ENCODER_HASH - 1);
	uint32_t rest = words - fixed;

	for (;; at = (at + 1) & (GT_ENCODER_HASH - 1)) {
		if (__builtin_expect(e->hash[at].head == head, 1)) {
			uint64_t shape = e->hash[at].shape;

			*(*p)++ = (uint8_t)shape;
			return &e->shapes[shape];
		}
		if (!e->hash[at].head)
			break;
	}
	return shape_new(e, p, head, rest < GT_ROW_PREDICTED ? rest : GT_ROW_PREDICTED,
			 rest < GT_ROW_PREDICTED ? 0 : rest - GT_ROW_PREDICTED, at);
}

static uint8_t *put_tail(uint8_t *p, const uint64_t *words, uint32_t n)
{
	memcpy(p, words, (size_t)n * 8);
	return p + (size_t)n * 8;
}

static uint8_t *put_id(uint8_t *p, uint64_t distance)
{
	uint64_t d = gt_zigzag(distance);

	for (; d >= 128; d >>= 7)
		*p++ = (uint8_t)(d | 128);
	*p++ = (uint8_t)d;
	return p;
}

/* Encode a call. Return false if the block is full. */
static inline bool encode_call(struct gt_encoder *e, struct hot *hot, const uint64_t *r,
			       uint64_t head, uint32_t words)
{
	uint64_t start = load_relaxed(r + 1), stop = load_relaxed(r + 2), id = load_relaxed(r + 3),
		 distance, duration;
	uint8_t *p = hot->p, *at;
	uint32_t control = 0, code;
	struct gt_shape *s = shape_get(e, &p, head, words, GT_CALL_FIXED_WORDS);
	uint64_t *prev, *newest = &e->newest_call[GT_OP_DOMAIN((uint32_t)(head >> 32))];

	if (__builtin_expect(!s, 0))
		return false;
	if (__builtin_expect(!e->base_set, 0)) {
		e->base_set = 1;
		e->base_ticks = hot->last_end = start;
		e->base_id = hot->expect_id = id;
		e->doubted |= GT_ID_ORDINAL(id) != e->ordinal;
	}
	/* layout: the control byte, the codes of all words but ret, the values */
	prev = s->prev;
	at = p;
	p += 1 + (s->coded + 2) / 4;
	distance = start - hot->last_end;
	if (__builtin_expect(start < hot->last_end, 0)) {
		distance = -distance;
		control = GT_CONTROL_BACK;
	}
	code = gt_row_time_code(distance);
	control |= code;
	memcpy(p, &distance, 8);
	p += gt_row_time_bytes(code);
	duration = stop - start;
	hot->durations |= duration;
	code = gt_row_time_code(duration);
	control |= code << 2;
	memcpy(p, &duration, 8);
	p += gt_row_time_bytes(code);
	if (__builtin_expect(id != hot->expect_id, 0)) {
		control |= GT_CONTROL_ID;
		e->doubted |= GT_ID_ORDINAL(id) != e->ordinal;
		p = put_id(p, id - hot->expect_id);
	}
	hot->last_end = stop;
	hot->call = (uint32_t)(head >> 32);
	hot->expect_id = id + 1;
	e->first_ticks = start < e->first_ticks ? start : e->first_ticks;
	e->last_ticks = stop > e->last_ticks ? stop : e->last_ticks;
	if (id > *newest)
		*newest = id;
	control |= gt_put_word(&p, prev, load_relaxed(r + 4)) << 4;
	p = gt_put_words(p, at + 1, prev + 1, r + 5, s->coded - 1);
	*at = (uint8_t)control;
	if (__builtin_expect(s->tail != 0, 0))
		p = put_tail(p, r + GT_CALL_FIXED_WORDS + s->coded, s->tail);
	hot->p = p;
	return true;
}

/* Extend the device's activity time in the block's summary. */
static void note_device(struct gt_encoder *e, uint32_t device, uint64_t start, uint64_t end)
{
	struct gt_file_device *d = e->devices;
	uint32_t i = 0;

	if (e->device_count == GT_FILE_DEVICES_LOST)
		return;
	while (i < e->device_count && d[i].device != device)
		i++;
	if (i == GT_FILE_DEVICES_MAX) {
		e->device_count = GT_FILE_DEVICES_LOST;
		return;
	}
	if (i == e->device_count) {
		d[i] = (struct gt_file_device){device, 0, UINT64_MAX, 0};
		e->device_count++;
	}
	if (!start) {
		d[i].untimed = 1;
		return;
	}
	d[i].first_start = start < d[i].first_start ? start : d[i].first_start;
	end = end > start ? end : start;
	d[i].last_end = end > d[i].last_end ? end : d[i].last_end;
}

/* Encode a row that is not a call. */
static bool encode_other(struct gt_encoder *e, uint8_t **at, const uint64_t *r, uint64_t head,
			 uint32_t words)
{
	uint64_t w[GT_DEVICE_MIN_WORDS];
	const uint64_t *from = r + 1;
	uint8_t *p = *at;
	struct gt_shape *s = shape_get(e, &p, head, words, 1);
	uint32_t i;

	if (!s)
		return false;
	if ((head >> 16 & 0xff) == GT_RECORD_DEVICE && words == GT_DEVICE_MIN_WORDS) {
		for (i = 0; i < GT_DEVICE_MIN_WORDS - 1; i++)
			w[i] = load_relaxed(r + 1 + i);
		note_device(e, (uint32_t)(head >> 32), w[GT_DEVICE_WORD_START],
			    w[GT_DEVICE_WORD_END]);
		for (i = GT_DEVICE_WORD_END; i > GT_DEVICE_WORD_QUEUED; i--)
			w[i] -= w[i - 1];
		from = w;
	} else if ((head >> 16 & 0xff) == GT_RECORD_DEVICE) {
		/* a record with additional fields, from a later version */
		e->device_count = GT_FILE_DEVICES_LOST;
	}
	if ((head >> 16 & 0xff) == GT_RECORD_CONTEXT)
		e->context = head >> 24 & 0xff;
	p = gt_put_words(p + (s->coded + 3) / 4, p, s->prev, from, s->coded);
	*at = s->tail ? put_tail(p, from + s->coded, s->tail) : p;
	e->kernels += (head >> 16 & 0xffff) == (GT_RECORD_DEVICE | GT_DEVICE_KERNEL << 8);
	return true;
}

/* Check that a record's length matches its head. @class: receives the class in which the record
 * counts, or GT_CLASS_COUNT for a record that does not count. */
static inline bool is_valid_head(uint32_t words, uint32_t kind, uint32_t op, uint32_t *class)
{
	switch (kind) {
	case GT_RECORD_CALL:
		*class = GT_CLASS_CALL;
		return GT_OP_DOMAIN(op) < GT_DOMAIN_COUNT &&
		       (words == GT_CALL_MIN_WORDS || words >= GT_CALL_MIN_WORDS + GT_OP_NARGS(op));
	case GT_RECORD_DEVICE:
		*class = GT_CLASS_DEVICE;
		return GT_OP_DOMAIN(op) < GT_DOMAIN_COUNT && words >= GT_DEVICE_MIN_WORDS;
	case GT_RECORD_HOST:
		*class = GT_CLASS_COUNT;
		return words >= sizeof(struct gt_record_host) / 8;
	default: *class = GT_CLASS_COUNT; return words >= GT_EXTERNAL_MIN_WORDS;
	}
}

const uint64_t *GT_ENCODER_RUN(struct gt_encoder *e, const uint64_t *r, const uint64_t *end,
			       enum gt_encode_stop *stop)
{
	struct hot hot = {e->p, e->last_end, e->expect_id, 0, 0};
	uint8_t *const limit = e->end;
	uint32_t rows = 0;

	*stop = GT_ENCODE_END;
	while (r < end) {
		uint64_t head = load_relaxed(r);
		uint32_t words = head & 0xffff, kind = head >> 16 & 0xff,
			 op = (uint32_t)(head >> 32), class;
		bool done;

		if (__builtin_expect(words == 0 || words > (size_t)(end - r), 0)) {
			*stop = GT_ENCODE_MALFORMED;
			break;
		}
		if (__builtin_expect(kind != GT_RECORD_CALL && kind != GT_RECORD_DEVICE &&
					     kind != GT_RECORD_EXTERNAL &&
					     kind != GT_RECORD_STACK && kind != GT_RECORD_CONTEXT &&
					     kind != GT_RECORD_HOST,
				     0)) {
			if (kind != GT_RECORD_PAD) {
				*stop = GT_ENCODE_META;
				break;
			}
			/* an activity that was dropped after its record was reserved; gputap writes
			 * no other padding */
			if (words != GT_DEVICE_MIN_WORDS)
				e->doubted = true;
			r += words;
			continue;
		}
		if (__builtin_expect(!is_valid_head(words, kind, op, &class), 0)) {
			*stop = GT_ENCODE_MALFORMED;
			break;
		}
		done = (size_t)(limit - hot.p) >= GT_ROW_MAX_BYTES(words) &&
		       (kind == GT_RECORD_CALL ? encode_call(e, &hot, r, head, words)
					       : encode_other(e, &hot.p, r, head, words));
		if (__builtin_expect(!done, 0)) {
			*stop = GT_ENCODE_FULL;
			break;
		}
		if (class < GT_CLASS_COUNT)
			e->total[class][GT_OP_DOMAIN(op)]++;
		rows++;
		r += words;
	}
	e->p = hot.p;
	e->last_end = hot.last_end;
	e->expect_id = hot.expect_id;
	if (hot.call) {
		e->last_call = hot.call;
		e->last_call_end = hot.last_end;
	}
	e->rows += rows;
	if (hot.durations >> 63)
		e->doubted = true;
	return r;
}
