/* SPDX-License-Identifier: MIT */
/* See mutate.h. A capture is a list of blocks. STREAM blocks (decoded rows) and RECORDS blocks are
 * lists of records.
 *
 *   parse -> blocks, records -> 1 to 16 changes -> (every second mutant) correct sums -> file
 *
 * The library's own encoder refuses records that make no sense, so this file contains a simple
 * encoder for rows: every word takes 8 bytes. */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "capture/checksum.h"
#include "capture/scan.h"
#include "mutate_parts.h"

enum { CHANGES_MAX = 16 };

/* Records ----------------------------------------------------------------------- */

static void change_head(struct mutation *m, uint8_t *record)
{
	struct gt_record head;

	memcpy(&head, record, sizeof head);
	switch (below(m, 8)) {
	case 0: head.kind = (uint8_t)below(m, 12); break;
	case 1: head.detail = (uint8_t)mutation_odd_value(m, head.detail); break;
	case 2: head.detail = (uint8_t)below(m, 256); break;
	case 3: head.op = (uint32_t)mutation_odd_value(m, head.op); break;
	case 4: head.op = (head.op & 0xffff0000) | (uint32_t)below(m, 1024); break;
	case 5: head.op = (head.op & 0xff00ffff) | (uint32_t)below(m, 256) << 16; break;
	case 6: head.op = (head.op & 0x00ffffff) | (uint32_t)below(m, 256) << 24; break;
	default: head.op = (head.op & 0x00ffffff) | (uint32_t)(1 + below(m, 13)) << 24; break;
	}
	memcpy(record, &head, sizeof head);
}

/* Change one field of one record, or swap it with the same field of another record, so that
 * references are wrong. */
static void change_record(struct mutation *m, struct piece *b)
{
	static size_t at[MUTATION_RECORDS_MAX];
	size_t n = mutation_find_records(b, at, MUTATION_RECORDS_MAX), i = below(m, n), word;
	uint16_t words;
	uint64_t value;

	if (!n)
		return;
	memcpy(&words, b->payload + at[i], sizeof words);
	word = below(m, words);
	if (!word) {
		change_head(m, b->payload + at[i]);
		return;
	}
	memcpy(&value, b->payload + at[i] + word * 8, 8);
	if (below(m, 5) == 0) {
		size_t other = at[below(m, n)] + below(m, words) * 8;

		if (other + 8 <= b->bytes)
			memcpy(&value, b->payload + other, 8);
	} else if (below(m, 4) == 0) { /* change half a word, for names, states and sizes */
		uint32_t half = (uint32_t)mutation_odd_value(m, value);

		memcpy((uint8_t *)&value + 4 * below(m, 2), &half, 4);
	} else {
		value = mutation_odd_value(m, value);
	}
	memcpy(b->payload + at[i] + word * 8, &value, 8);
	if (b->head.type == GT_BLOCK_RECORDS && words > 5 && below(m, 3) == 0)
		mutation_put_odd_text(m, b->payload + at[i] + 40, (size_t)(words - 5) * 8);
}

static uint32_t any_domain(struct mutation *m)
{
	return (uint32_t)(below(m, 3) ? 1 + below(m, 13) : below(m, 256));
}

static uint64_t small_or_odd(struct mutation *m)
{
	return below(m, 3) ? below(m, 6) : mutation_odd_value(m, 1);
}

/* Return a time near the times of the capture, or an impossible time. */
static uint64_t some_time(struct mutation *m, uint64_t near)
{
	return below(m, 4) ? near + below(m, 1000000) : mutation_odd_value(m, near);
}

static size_t make_device(struct mutation *m, uint64_t near, uint64_t *r)
{
	struct gt_record_device d = {
		.head = {.words = GT_DEVICE_MIN_WORDS,
			 .kind = GT_RECORD_DEVICE,
			 .detail = (uint8_t)(below(m, 4) ? below(m, 17) : below(m, 256)),
			 .op = GT_DEVICE_REF(any_domain(m), small_or_odd(m))},
		.id = GT_ID(below(m, 4), below(m, 50)),
		.call_start = some_time(m, near),
		.queue = small_or_odd(m) | (below(m, 2) ? small_or_odd(m) << 32 : 0),
		.name = (uint32_t)small_or_odd(m),
		.status = (int32_t)(below(m, 3) ? 0 : mutation_odd_value(m, 0)),
		.bytes = mutation_odd_value(m, 4096),
		.object = {mutation_odd_value(m, 0), mutation_odd_value(m, 0)},
		.global = {(uint32_t)mutation_odd_value(m, 64), (uint32_t)mutation_odd_value(m, 1),
			   1},
		.local = {(uint32_t)mutation_odd_value(m, 64), (uint32_t)small_or_odd(m),
			  (uint32_t)small_or_odd(m)},
		.ordinal = (uint32_t)small_or_odd(m),
		.replay = (uint32_t)small_or_odd(m),
	};

	d.queued = some_time(m, near);
	d.submitted = some_time(m, d.queued);
	d.start = some_time(m, d.submitted);
	d.end = below(m, 3) ? d.start + below(m, 5000) : some_time(m, d.start);
	memcpy(r, &d, sizeof d);
	return sizeof d;
}

static size_t make_call(struct mutation *m, uint64_t near, uint64_t *r)
{
	uint32_t nargs = (uint32_t)below(m, 12), extra = below(m, 3) ? 0 : (uint32_t)below(m, 6);
	size_t words = nargs || extra ? 5 + nargs + extra : 5;
	struct gt_record head = {.words = (uint16_t)words,
				 .kind = GT_RECORD_CALL,
				 .detail = (uint8_t)(below(m, 3) ? below(m, 4) : below(m, 256)),
				 .op = GT_OP(any_domain(m),
					     below(m, 4) ? below(m, 130) : below(m, 65536), nargs)};

	memcpy(r, &head, 8);
	r[1] = some_time(m, near);
	r[2] = below(m, 4) ? r[1] + below(m, 100000) : some_time(m, r[1]);
	r[3] = below(m, 3) ? GT_ID(below(m, 4), below(m, 60)) : mutation_odd_value(m, 1);
	for (size_t i = 4; i < words; i++)
		r[i] = mutation_odd_value(m, i);
	return words * 8;
}

/* Make a row of what a thread did. */
static size_t make_host(struct mutation *m, uint64_t near, uint64_t *r)
{
	struct gt_record_host h = {
		.head = {.words = sizeof h / 8,
			 .kind = GT_RECORD_HOST,
			 .detail = (uint8_t)(below(m, 4) ? 1 + below(m, 3) : below(m, 256)),
			 .op = (uint32_t)(below(m, 4) ? below(m, 17) : small_or_odd(m))},
		.start = some_time(m, near),
	};

	h.end = below(m, 3) ? h.start + below(m, 1000000) : some_time(m, h.start);
	for (size_t i = 0; i < 8; i++)
		h.value[i] = below(m, 2) ? small_or_odd(m) : some_time(m, near);
	memcpy(r, &h, sizeof h);
	return sizeof h;
}

/* Make a call that has not returned. */
static size_t make_open(struct mutation *m, uint64_t near, uint64_t *r)
{
	struct gt_record_open o = {
		.head = {.words = sizeof o / 8,
			 .kind = GT_RECORD_OPEN,
			 .detail = (uint8_t)below(m, 3),
			 .op = GT_OP(any_domain(m), below(m, 130), 0)},
		.start = some_time(m, near),
		.seen = some_time(m, near),
		.id = below(m, 4) ? GT_ID(below(m, 4), below(m, 60)) : small_or_odd(m),
		.ordinal = small_or_odd(m),
		.communicator = small_or_odd(m),
		.sequence = small_or_odd(m),
		.peer = small_or_odd(m),
		.state = small_or_odd(m) | small_or_odd(m) << 8,
		.text = small_or_odd(m),
	};

	memcpy(r, &o, sizeof o);
	return sizeof o;
}

static size_t make_row(struct mutation *m, uint64_t near, uint64_t *r)
{
	struct gt_record head = {.words = 3,
				 .kind = GT_RECORD_EXTERNAL,
				 .detail = (uint8_t)below(m, 3),
				 .op = (uint32_t)small_or_odd(m)};

	switch (below(m, 6)) {
	case 0:
		memcpy(r, &head, 8);
		r[1] = some_time(m, near);
		r[2] = mutation_odd_value(m, 0);
		return 24;
	case 1: return make_call(m, near, r);
	case 2:
	case 3: return make_host(m, near, r);
	default: return make_device(m, near, r);
	}
}

/* Make a record that is not a row: an object of any type, a string, event, clock reading or
 * lifetime. */
static size_t make_record(struct mutation *m, uint64_t near, uint64_t *r)
{
	static const char text[] = "name=gfx\0uuid=1\0pci=0\0type=GPU\0clock=raw\0uri=file:///"
				   "a\0storage=memory\0load_base=0x10\0"
				   "load_bytes=99\0load_delta=-1\0nodes=3\0kernel=1\0label=x\0";
	struct gt_record head = {.kind = (uint8_t)(GT_RECORD_STRING + below(m, 7)),
				 .detail = (uint8_t)any_domain(m),
				 .op = (uint32_t)small_or_odd(m)};
	size_t words = 5, start = 0;

	if (below(m, 5) == 0)
		return make_open(m, near, r);
	if (head.kind == GT_RECORD_EXTERNAL)
		head.kind = GT_RECORD_LIFETIME;
	for (size_t i = 1; i < 30; i++)
		r[i] = 0;
	switch (head.kind) {
	case GT_RECORD_STRING: start = 2; break;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		start = 5;
		head.op = (uint32_t)below(m, 12);
		break;
	case GT_RECORD_EVENT:
		start = 4;
		head.op = (uint32_t)below(m, 13);
		break;
	case GT_RECORD_CLOCK: head.detail = (uint8_t)below(m, 8); break;
	default:
		words = 4;
		head.op = (uint32_t)below(m, 12);
		break;
	}
	for (size_t i = 1; i < (start ? start : words); i++)
		r[i] = below(m, 2) ? some_time(m, near) : small_or_odd(m);
	if (start) {
		size_t bytes = below(m, sizeof text);

		r[start - 1] = below(m, 8) ? bytes : mutation_odd_value(m, bytes);
		memcpy(r + start, text, bytes);
		if (below(m, 3) == 0)
			mutation_put_odd_text(m, (uint8_t *)(r + start) + below(m, bytes + 1), 40);
		words = start + (bytes + 7) / 8;
	}
	head.words = (uint16_t)words;
	memcpy(r, &head, 8);
	return words * 8;
}

static uint64_t time_of(const struct piece *b)
{
	uint64_t t = UINT64_C(777000000000);

	if (b->head.type == GT_BLOCK_STREAM && b->bytes >= 16)
		memcpy(&t, b->payload + 8, 8);
	return t;
}

static void add_record(struct mutation *m, struct piece *b)
{
	static size_t at[MUTATION_RECORDS_MAX];
	uint64_t r[64];
	size_t n, count = 1 + below(m, 6);

	while (count--) {
		size_t bytes = b->head.type == GT_BLOCK_STREAM ? make_row(m, time_of(b), r)
							       : make_record(m, time_of(b), r);

		n = mutation_find_records(b, at, MUTATION_RECORDS_MAX);
		mutation_insert(b, n ? at[below(m, n)] : 0, r, bytes);
	}
}

static void remove_or_repeat_record(struct mutation *m, struct piece *b)
{
	static size_t at[MUTATION_RECORDS_MAX];
	size_t n = mutation_find_records(b, at, MUTATION_RECORDS_MAX), i = below(m, n), bytes;
	uint64_t copy[512];
	uint16_t words;

	if (!n)
		return;
	memcpy(&words, b->payload + at[i], sizeof words);
	bytes = (size_t)words * 8;
	if (below(m, 2) && bytes <= sizeof copy) {
		memcpy(copy, b->payload + at[i], bytes);
		mutation_insert(b, at[below(m, n)], copy, bytes);
	} else {
		memmove(b->payload + at[i], b->payload + at[i] + bytes, b->bytes - at[i] - bytes);
		b->bytes -= bytes;
	}
}

/* Blocks ------------------------------------------------------------------------ */

static void change_payload(struct mutation *m, struct piece *b)
{
	size_t at;
	uint64_t value = 0;

	if (!b->bytes)
		return;
	at = below(m, b->bytes) & ~(size_t)(below(m, 2) ? 3 : 7);
	switch (below(m, 4)) {
	case 0: mutation_put_odd_text(m, b->payload + at, b->bytes - at); return;
	case 1: b->bytes = below(m, b->bytes); return;
	default:
		memcpy(&value, b->payload + at, b->bytes - at < 8 ? b->bytes - at : 8);
		value = mutation_odd_value(m, value);
		memcpy(b->payload + at, &value,
		       b->bytes - at < 8 ? b->bytes - at
		       : below(m, 2)     ? 8
					 : 4);
	}
}

static void change_block_head(struct mutation *m, struct piece *b)
{
	switch (below(m, 6)) {
	case 0: b->head.type = (uint8_t)(below(m, 4) ? 1 + below(m, 14) : draw(m)); break;
	case 1: b->head.process = (uint32_t)small_or_odd(m); break;
	case 2: b->head.ordinal = (uint32_t)small_or_odd(m); break;
	case 3:
		b->head.flags =
			(uint8_t)(below(m, 2) ? b->head.flags ^ 1u << below(m, 8) : draw(m));
		break;
	case 4: b->extra_bytes = below(m, MUTATION_HEAD_EXTRA + 1); break;
	default: b->head.raw_bytes = (uint32_t)mutation_odd_value(m, b->head.raw_bytes); break;
	}
}

static void change_stream(struct mutation *m, struct piece *b)
{
	switch (below(m, 5)) {
	case 0: b->stream.base_ticks = mutation_odd_value(m, b->stream.base_ticks); break;
	case 1: b->stream.base_id = mutation_odd_value(m, b->stream.base_id); break;
	case 2: b->stream.first_ticks = mutation_odd_value(m, b->stream.first_ticks); break;
	case 3: b->stream.last_ticks = mutation_odd_value(m, b->stream.last_ticks); break;
	default: b->lies = (int)(1 + below(m, 4)); break;
	}
}

static struct piece *copy_piece(const struct piece *b)
{
	struct piece *copy = must(malloc(sizeof *copy));

	*copy = *b;
	copy->payload = must(malloc(b->bytes + 1));
	memcpy(copy->payload, b->payload ? b->payload : (const uint8_t *)"", b->bytes);
	copy->room = b->bytes + 1;
	return copy;
}

static void change_order(struct mutation *m)
{
	size_t i = below(m, m->count), k = below(m, m->count);
	struct piece *b = m->pieces[i];

	switch (below(m, 3)) {
	case 0: /* twice */
		if (m->count < MUTATION_BLOCKS_MAX - 1) {
			memmove(m->pieces + k + 1, m->pieces + k,
				(m->count - k) * sizeof *m->pieces);
			m->pieces[k] = copy_piece(b);
			m->count++;
		}
		break;
	case 1: /* drop the block */
		if (m->count > 1) {
			free(b->payload);
			free(b);
			memmove(m->pieces + i, m->pieces + i + 1,
				(m->count - i - 1) * sizeof *m->pieces);
			m->count--;
		}
		break;
	default: m->pieces[i] = m->pieces[k]; m->pieces[k] = b;
	}
}

static void change(struct mutation *m)
{
	struct piece *b = m->pieces[below(m, m->count)];

	switch (below(m, 16)) {
	case 0: change_order(m); break;
	case 1: change_block_head(m, b); break;
	case 2: change_payload(m, b); break;
	case 3:
		if (below(m, 16) == 0)
			m->header.minor = (uint16_t)draw(m);
		else if (b->head.type == GT_BLOCK_STREAM)
			change_stream(m, b);
		break;
	default: /* mostly records, because commands mainly read records */
		for (int tries = 0; !mutation_has_records(b) && tries < 8; tries++)
			b = m->pieces[below(m, m->count)];
		if (!mutation_has_records(b))
			change_payload(m, b);
		else if (below(m, 3) == 0)
			add_record(m, b);
		else if (below(m, 6) == 0)
			remove_or_repeat_record(m, b);
		else
			change_record(m, b);
	}
}

/* Assembly ---------------------------------------------------------------------- */

struct rows {
	uint8_t *bytes;
	size_t count, room;
	uint64_t heads[GT_ROW_SHAPES];
	uint64_t last[GT_ROW_SHAPES][GT_ROW_PREDICTED];
	uint32_t shapes, rows;
	uint64_t last_end, expect_id;
	uint32_t total[GT_CLASS_COUNT][256];
};

static void put_bytes(struct rows *r, const void *data, size_t bytes)
{
	if (r->room - r->count < bytes) {
		r->room = (r->count + bytes) * 2 + 4096;
		r->bytes = must(realloc(r->bytes, r->room));
	}
	memcpy(r->bytes + r->count, data, bytes);
	r->count += bytes;
}

static void put_byte(struct rows *r, unsigned byte)
{
	uint8_t one = (uint8_t)byte;

	put_bytes(r, &one, 1);
}

static void put_word(struct rows *r, uint64_t *last, uint64_t value)
{
	uint64_t d = value - *last, z = d << 1 ^ (uint64_t)((int64_t)d >> 63);

	*last = value;
	put_bytes(r, &z, 8);
}

static void put_codes(struct rows *r, size_t words)
{
	for (size_t i = 0; i < words; i += 4)
		put_byte(r, words - i >= 4 ? 0xff : (1u << 2 * (words - i)) - 1);
}

/* Add the head's shape, or find it if it exists. Return false if the block can contain no more
 * shapes. */
static bool put_shape(struct rows *r, uint64_t head, uint32_t *shape)
{
	for (*shape = 0; *shape < r->shapes && r->heads[*shape] != head; ++*shape)
		;
	if (*shape < r->shapes) {
		put_byte(r, *shape);
		return true;
	}
	if (r->shapes == GT_ROW_SHAPES)
		return false;
	r->heads[r->shapes] = head;
	memset(r->last[r->shapes++], 0, sizeof r->last[0]);
	put_byte(r, GT_ROW_NEW_SHAPE);
	put_bytes(r, &head, 8);
	return true;
}

static void put_call(struct rows *r, uint32_t shape, const uint64_t *w, size_t words, size_t coded)
{
	uint64_t distance = w[1] - r->last_end, duration = w[2] - w[1], d = w[3] - r->expect_id, z;
	bool back = w[1] < r->last_end;

	if (back)
		distance = -distance;
	put_byte(r, 3 | 3 << 2 | 3 << 4 | GT_CONTROL_ID | (back ? GT_CONTROL_BACK : 0));
	put_codes(r, coded - 1);
	put_bytes(r, &distance, 8);
	put_bytes(r, &duration, 8);
	for (z = d << 1 ^ (uint64_t)((int64_t)d >> 63); z >= 128; z >>= 7)
		put_byte(r, (unsigned)(z & 127) | 128);
	put_byte(r, (unsigned)z);
	r->last_end = w[2];
	r->expect_id = w[3] + 1;
	for (size_t i = 0; i < coded; i++)
		put_word(r, &r->last[shape][i], w[4 + i]);
	put_bytes(r, w + 4 + coded, (words - 4 - coded) * 8);
}

static void put_other(struct rows *r, uint32_t shape, const uint64_t *w, size_t words, size_t coded,
		      bool device)
{
	put_codes(r, coded);
	for (size_t i = 0; i < coded; i++) {
		bool stamp = device && i > GT_DEVICE_WORD_QUEUED && i <= GT_DEVICE_WORD_END;

		put_word(r, &r->last[shape][i], stamp ? w[1 + i] - w[i] : w[1 + i]);
	}
	put_bytes(r, w + 1 + coded, (words - 1 - coded) * 8);
}

static void put_rows(struct piece *b, struct rows *r)
{
	static size_t at[MUTATION_RECORDS_MAX];
	size_t n = mutation_find_records(b, at, MUTATION_RECORDS_MAX);

	r->last_end = b->stream.base_ticks;
	r->expect_id = b->stream.base_id;
	for (size_t i = 0; i < n; i++) {
		uint64_t head;
		size_t words, fixed, coded;
		uint32_t kind, shape;
		uint64_t *w;

		memcpy(&head, b->payload + at[i], 8);
		words = head & 0xffff;
		kind = head >> 16 & 0xff;
		fixed = kind == GT_RECORD_CALL ? GT_CALL_FIXED_WORDS : 1;
		if (words <= fixed || !put_shape(r, head, &shape))
			continue;
		coded = words - fixed < GT_ROW_PREDICTED ? words - fixed : GT_ROW_PREDICTED;
		w = must(malloc(words * 8));
		memcpy(w, b->payload + at[i], words * 8);
		if (kind == GT_RECORD_CALL)
			put_call(r, shape, w, words, coded);
		else
			put_other(r, shape, w, words, coded,
				  kind == GT_RECORD_DEVICE && words == GT_DEVICE_MIN_WORDS);
		free(w);
		r->rows++;
		if (kind == GT_RECORD_CALL || kind == GT_RECORD_DEVICE)
			r->total[kind == GT_RECORD_DEVICE][head >> 56]++;
	}
}

static void put_file(struct mutant *out, const void *data, size_t bytes)
{
	if (out->room - out->count < bytes) {
		out->room = (out->count + bytes) * 2 + 4096;
		out->bytes = must(realloc(out->bytes, out->room));
	}
	if (bytes)
		memcpy(out->bytes + out->count, data, bytes);
	out->count += bytes;
}

static void put_block(struct mutation *m, const struct piece *b, uint8_t *head, size_t head_bytes,
		      const uint8_t *payload, size_t bytes, struct mutant *out)
{
	struct gt_file_block h = b->head;
	uint8_t *packed = NULL;

	memcpy(head + head_bytes, b->extra, b->extra_bytes);
	head_bytes += b->extra_bytes;
	h.head_bytes = (uint16_t)head_bytes;
	h.raw_bytes = below(m, 64) ? (uint32_t)bytes : b->head.raw_bytes;
	if (b->lies == 4 && b->head.type == GT_BLOCK_STREAM) {
		packed = must(malloc(ZSTD_compressBound(bytes)));
		bytes = ZSTD_compress(packed, ZSTD_compressBound(bytes), payload, bytes, 1);
		payload = packed;
		h.flags |= GT_BLOCK_ZSTD;
	}
	h.magic = GT_BLOCK_MAGIC;
	h.stored_bytes = (uint32_t)bytes;
	h.payload_crc = gt_crc32c(0, payload, bytes);
	h.head_crc = 0;
	memcpy(head, &h, sizeof h);
	h.head_crc = gt_head_crc(head, head_bytes);
	memcpy(head, &h, sizeof h);
	put_file(out, head, head_bytes);
	put_file(out, payload, bytes);
	free(packed);
}

static void put_stream(struct mutation *m, struct piece *b, struct mutant *out)
{
	static struct rows r;
	uint8_t head[GT_FILE_HEAD_MAX + 1024];
	uint8_t *at = head + sizeof b->head + sizeof b->stream;

	r.count = r.shapes = r.rows = 0;
	memset(r.total, 0, sizeof r.total);
	put_rows(b, &r);
	b->stream.rows = r.rows;
	b->stream.count_entries = 0;
	for (unsigned k = 0; k < GT_CLASS_COUNT; k++)
		for (unsigned d = 0; d < 256 && b->stream.count_entries < 100; d++) {
			struct gt_file_count n = {(uint8_t)k, (uint8_t)d, 0, r.total[k][d]};

			if (b->lies == 1 && below(m, 2))
				n.count = (uint32_t)mutation_odd_value(m, n.count);
			if (!n.count)
				continue;
			memcpy(at, &n, sizeof n);
			at += sizeof n;
			b->stream.count_entries++;
		}
	if (b->lies == 1 && below(m, 4) == 0)
		b->stream.rows = (uint32_t)mutation_odd_value(m, r.rows);
	if (b->lies == 2 && r.count)
		r.bytes[below(m, r.count)] = (uint8_t)draw(m);
	if (b->lies == 3)
		r.count = below(m, r.count + 1);
	memcpy(head + sizeof b->head, &b->stream, sizeof b->stream);
	put_block(m, b, head, (size_t)(at - head), r.bytes ? r.bytes : (uint8_t *)"", r.count, out);
}

/* Return the section number of a merged capture, or UINT32_MAX for another capture. */
static uint32_t section_of(const struct piece *b)
{
	uint32_t section = UINT32_MAX;

	if (b->head.flags & GT_BLOCK_OF_SECTION && b->extra_bytes >= sizeof section)
		memcpy(&section, b->extra + b->extra_bytes - sizeof section, sizeof section);
	return section;
}

/* Set every sum of recorded rows to the number of rows of its process, and adjust `seen`
 * accordingly. */
static void mend_counts(struct mutation *m, struct piece *counts)
{
	static size_t at[MUTATION_RECORDS_MAX];
	uint64_t recorded[GT_CLASS_COUNT][GT_DOMAIN_COUNT] = {{0}},
		 dropped[GT_CLASS_COUNT][GT_DOMAIN_COUNT] = {{0}};
	struct piece fresh = {0};

	for (size_t i = 0; i < m->count; i++) {
		struct piece *b = m->pieces[i];
		size_t n = b->head.type == GT_BLOCK_STREAM &&
					   b->head.process == counts->head.process &&
					   section_of(b) == section_of(counts)
				   ? mutation_find_records(b, at, MUTATION_RECORDS_MAX)
				   : 0;

		for (size_t k = 0; k < n; k++) {
			struct gt_record head;

			memcpy(&head, b->payload + at[k], sizeof head);
			if ((head.kind == GT_RECORD_CALL || head.kind == GT_RECORD_DEVICE) &&
			    GT_OP_DOMAIN(head.op) < GT_DOMAIN_COUNT)
				recorded[head.kind == GT_RECORD_DEVICE][GT_OP_DOMAIN(head.op)]++;
		}
	}
	for (size_t i = 0; i + sizeof(struct gt_file_sum) <= counts->bytes;
	     i += sizeof(struct gt_file_sum)) {
		struct gt_file_sum s;

		memcpy(&s, counts->payload + i, sizeof s);
		if (s.what < 2 || s.what >= 2 + GT_DROP_REASON_COUNT || s.class >= GT_CLASS_COUNT ||
		    s.domain >= GT_DOMAIN_COUNT)
			continue;
		dropped[s.class][s.domain] += s.value;
		mutation_append(&fresh, &s, sizeof s);
	}
	for (unsigned k = 0; k < GT_CLASS_COUNT; k++)
		for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
			struct gt_file_sum seen = {0, (uint8_t)k, (uint8_t)d,
						   0, 0,          recorded[k][d] + dropped[k][d]};
			struct gt_file_sum here = {1, (uint8_t)k, (uint8_t)d, 0, 0, recorded[k][d]};

			mutation_append(&fresh, &seen, sizeof seen);
			mutation_append(&fresh, &here, sizeof here);
		}
	free(counts->payload);
	counts->payload = fresh.payload;
	counts->bytes = fresh.bytes;
	counts->room = fresh.room;
}

/* No sum includes rows that are kept only because other rows need them. */
static bool is_cut(const struct mutation *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->pieces[i]->head.type == GT_BLOCK_KEPT)
			return true;
	return false;
}

/* Let a part of a summary describe the blocks that were written, so that its content is read. */
static void mend_summary(struct mutation *m, struct piece *b, uint64_t at, uint64_t *first,
			 uint64_t heads)
{
	struct gt_file_summary part;

	if (b->head.type != GT_BLOCK_SUMMARY || b->bytes < sizeof part || !below(m, 8))
		return;
	memcpy(&part, b->payload, sizeof part);
	if (!part.part)
		*first = at;
	part.end = *first;
	part.heads = heads;
	memcpy(b->payload, &part, sizeof part);
}

static void write_mutant(struct mutation *m, struct mutant *out)
{
	uint64_t heads = 0, summary_at = 0;

	m->header.crc = gt_crc32c(0, &m->header, offsetof(struct gt_file_header, crc));
	put_file(out, &m->header, sizeof m->header);
	for (size_t i = 0; i < m->count; i++) {
		uint8_t head[GT_FILE_HEAD_MAX + 1024];
		struct piece *b = m->pieces[i];
		struct gt_file_block written;
		const size_t at = out->count;

		mend_summary(m, b, at, &summary_at, heads);
		if (b->head.type == GT_BLOCK_STREAM)
			put_stream(m, b, out);
		else
			put_block(m, b, head, sizeof b->head,
				  b->payload ? b->payload : (uint8_t *)"", b->bytes, out);
		memcpy(&written, out->bytes + at, sizeof written);
		if (gt_block_is_of_session(&written))
			heads = gt_heads_add(heads, at, written.head_crc);
	}
	if (below(m, 64) == 0)
		out->count -= below(m, out->count);
}

void mutate(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out)
{
	static struct mutation m;
	size_t changes;

	memset(&m, 0, sizeof m);
	m.random = number * 0x2545f4914f6cdd1d + 1;
	out->count = 0;
	mutation_parse(&m, capture, bytes);
	changes = 1 + below(&m, below(&m, 4) ? 4 : CHANGES_MAX);
	while (changes-- && m.count)
		change(&m);
	if (number & 1 && !is_cut(&m))
		for (size_t i = 0; i < m.count; i++)
			if (m.pieces[i]->head.type == GT_BLOCK_COUNTS)
				mend_counts(&m, m.pieces[i]);
	write_mutant(&m, out);
	mutation_free(&m);
}
