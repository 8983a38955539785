/* SPDX-License-Identifier: MIT */
/* See mutate.h. Splits the capture into records and changes some of them. The project's own writer
 * then assembles the records, so checksums, bounds, sums and the index are correct.
 *
 *   mutation_parse() -> 1 to 24 changes -> gt_capture_write_records(), gt_writer_append_block()
 *
 * Changes are limited to differences that another run of a program could have: names, times, order,
 * counts, devices, queues, links, ranges, nesting, ranks, failures, and losses. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/writer.h"
#include "mutate_parts.h"
#include "util/error.h"

enum { CHANGES_MAX = 24, TEXT_MAX = 4096, PROCESSES_MAX = 16, THREADS_MAX = 64 };

/* One record of a piece. */
struct found {
	struct piece *piece;
	size_t at;
	struct gt_record head;
};

/* Find a random record of a kind. Return false if the random search finds none. */
static bool find_record(struct mutation *m, unsigned kind, struct found *f)
{
	static size_t at[MUTATION_RECORDS_MAX];

	for (int tries = 0; tries < 24; tries++) {
		struct piece *b = m->pieces[below(m, m->count)];
		size_t n, first;

		if (!mutation_has_records(b))
			continue;
		n = mutation_find_records(b, at, MUTATION_RECORDS_MAX);
		first = below(m, n);
		for (size_t i = 0; i < n; i++) {
			size_t k = (first + i) % n;

			memcpy(&f->head, b->payload + at[k], sizeof f->head);
			if (f->head.kind != kind)
				continue;
			f->piece = b;
			f->at = at[k];
			return true;
		}
	}
	return false;
}

static uint64_t get_word(const struct found *f, size_t i)
{
	uint64_t value = 0;

	if (i < f->head.words)
		memcpy(&value, f->piece->payload + f->at + i * 8, sizeof value);
	return value;
}

static void put_word(struct found *f, size_t i, uint64_t value)
{
	if (i < f->head.words)
		memcpy(f->piece->payload + f->at + i * 8, &value, sizeof value);
}

static void put_head(struct found *f)
{
	memcpy(f->piece->payload + f->at, &f->head, sizeof f->head);
}

static void remove_record(struct found *f)
{
	size_t bytes = (size_t)f->head.words * 8;

	memmove(f->piece->payload + f->at, f->piece->payload + f->at + bytes,
		f->piece->bytes - f->at - bytes);
	f->piece->bytes -= bytes;
}

/* Values ------------------------------------------------------------------------ */

/* Return a duration from zero to an hour. All orders of magnitude are equally likely. */
static uint64_t some_duration(struct mutation *m)
{
	return below(m, 12) ? draw(m) >> (24 + below(m, 40)) : 0;
}

/* Make a name, mostly one that a compiler or framework would make, complete or damaged. Return its
 * length in bytes. */
static size_t make_text(struct mutation *m, char *text)
{
	static const char *const names[] = {
		"_Z9vectorAddPKfS0_Pfi",
		"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE"
		"St5arrayIPcLm3EEEEviT0_T1_",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
		"at::native::MeanOps<float, float, float, float> > >(float)",
		"Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN_K1.kd",
		"gemm_128x64_tn_17",
		"fusion_42",
		"fusion_43",
		"triton_poi_fused_add_mul_0d1d2d",
		"main::{lambda(int)#3}::operator()(int) const",
		"step",
		"kernel_0",
		"add",
		"k",
		"",
		"a/b/c",
		"Memcpy HtoD (Pageable -> Device)",
		"\xc3\xa4\xe4\xb8\xad\xe6\x96\x87\xf0\x9f\x98\x80",
	};
	const char *name = names[below(m, sizeof names / sizeof *names)];
	size_t n = strlen(name), at;

	memcpy(text, name, n);
	switch (below(m, 8)) {
	case 0: /* one of many names that differ only in a number */
		return n + (size_t)snprintf(text + n, 24, "%u", (unsigned)below(m, 1000));
	case 1: return below(m, n + 1);
	case 2: /* a part of the name, repeated many times */
		at = below(m, n + 1);
		for (size_t k = below(m, TEXT_MAX); n < k && n > at; n++)
			text[n] = text[at + (n - at) % (n - at)];
		return n;
	case 3:
		for (size_t k = 0; k < n; k++)
			if (!below(m, 8))
				text[k] = "<>(){},:_*&0123456789 \"'=#@"[below(m, 27)];
		return n;
	case 4: mutation_put_odd_text(m, (uint8_t *)text, n); return n;
	default: return n;
	}
}

/* Calls and GPU activities ------------------------------------------------------ */

static void change_call_text(struct mutation *m, struct found *f)
{
	size_t at = f->at + (GT_CALL_MIN_WORDS + GT_OP_NARGS(f->head.op)) * 8,
	       end = f->at + (size_t)f->head.words * 8;
	struct gt_payload p;

	while (at + sizeof p <= end) {
		memcpy(&p, f->piece->payload + at, sizeof p);
		at += sizeof p;
		if (p.bytes > end - at)
			return;
		if (p.arg != GT_PAYLOAD_FACTS && below(m, 2))
			mutation_put_odd_text(m, f->piece->payload + at, p.bytes);
		at += ((size_t)p.bytes + 7) / 8 * 8;
	}
}

static void change_call(struct mutation *m)
{
	struct found f, other;
	uint64_t start, end;

	if (!find_record(m, GT_RECORD_CALL, &f))
		return;
	start = get_word(&f, 1);
	end = get_word(&f, 2);
	switch (below(m, 9)) {
	case 0:
	case 1: put_word(&f, 2, start + some_duration(m)); break;
	case 2: /* earlier, or later */
		start += below(m, 2) ? below(m, end - start + 1000) : -below(m, 1000000);
		put_word(&f, 1, start);
		put_word(&f, 2, start > end ? start : end);
		break;
	case 3: put_word(&f, 4, mutation_odd_value(m, get_word(&f, 4))); break;
	case 4:
		if (f.head.words > GT_CALL_MIN_WORDS && GT_OP_NARGS(f.head.op)) {
			size_t i = 5 + below(m, GT_OP_NARGS(f.head.op));

			put_word(&f, i, mutation_odd_value(m, get_word(&f, i)));
		}
		break;
	case 5:
		if (f.head.words > GT_CALL_MIN_WORDS)
			change_call_text(m, &f);
		break;
	case 6:
		f.head.detail = (uint8_t)below(m, below(m, 8) ? 4 : 256);
		put_head(&f);
		break;
	case 7: /* replace the function by another one with as many arguments */
		if (!find_record(m, GT_RECORD_CALL, &other) || other.head.words != f.head.words)
			break;
		f.head.op = other.head.op;
		put_head(&f);
		break;
	default: remove_record(&f);
	}
}

static void change_activity_times(struct mutation *m, struct gt_record_device *d)
{
	uint64_t shift = below(m, 2) ? below(m, 10000000) : -below(m, 10000000);

	switch (below(m, 5)) {
	case 0: d->end = d->start + some_duration(m); break;
	case 1: /* shift the whole row, earlier or later */
		d->queued += d->queued ? shift : 0;
		d->submitted += d->submitted ? shift : 0;
		d->start += d->start ? shift : 0;
		d->end += d->end ? shift : 0;
		break;
	case 2: d->queued = d->submitted = 0; break;
	case 3: d->queued = d->submitted = d->start = d->end = 0; break;
	default: /* make the activity wait for a long time */
		d->start += some_duration(m);
		d->end = d->start + some_duration(m);
	}
}

static void change_activity_links(struct mutation *m, struct gt_record_device *d)
{
	struct gt_record_device other = *d;
	struct found f;

	if (find_record(m, GT_RECORD_DEVICE, &f) && f.head.words == GT_DEVICE_MIN_WORDS)
		memcpy(&other, f.piece->payload + f.at, sizeof other);
	switch (below(m, 6)) {
	case 0:
	case 1: d->name = below(m, 8) ? other.name : (uint32_t)below(m, 50); break;
	case 2: d->queue = below(m, 4) ? other.queue : other.queue ^ 1; break;
	case 3: d->head.op = other.head.op ^ (below(m, 4) ? 0 : 1); break;
	case 4: d->id = below(m, 4) ? other.id : 0; break;
	default: /* make the activity a node of a graph */
		d->ordinal = (uint32_t)below(m, 8);
		d->replay = (uint32_t)below(m, 4);
		d->queue = (d->queue & UINT32_MAX) | (other.queue >> 32 | below(m, 2)) << 32;
	}
}

static void change_activity(struct mutation *m)
{
	struct gt_record_device d;
	struct found f;

	if (!find_record(m, GT_RECORD_DEVICE, &f) || f.head.words != GT_DEVICE_MIN_WORDS)
		return;
	memcpy(&d, f.piece->payload + f.at, sizeof d);
	switch (below(m, 8)) {
	case 0:
	case 1: change_activity_times(m, &d); break;
	case 2:
	case 3: change_activity_links(m, &d); break;
	case 4: d.head.detail = (uint8_t)(1 + below(m, GT_DEVICE_OP_COUNT - 1)); break;
	case 5:
		d.status = (int32_t)mutation_odd_value(m, 0);
		d.bytes = mutation_odd_value(m, d.bytes);
		break;
	case 6:
		d.object[below(m, 2)] = mutation_odd_value(m, d.object[0]);
		d.global[below(m, 3)] = (uint32_t)mutation_odd_value(m, d.global[0]);
		d.local[below(m, 3)] = (uint32_t)mutation_odd_value(m, d.local[0]);
		break;
	default: remove_record(&f); return;
	}
	memcpy(f.piece->payload + f.at, &d, sizeof d);
}

/* Append a copy of each row, as if a loop ran once more. The copies have later times and new call
 * ids. */
static void repeat_rows(struct mutation *m)
{
	static size_t at[MUTATION_RECORDS_MAX];
	struct piece *b = m->pieces[below(m, m->count)];
	size_t n, first, count;
	uint64_t shift = 1000000 + below(m, 1000000000), ids = UINT64_C(1) << (20 + below(m, 12));

	if (b->head.type != GT_BLOCK_STREAM)
		return;
	n = mutation_find_records(b, at, MUTATION_RECORDS_MAX);
	first = below(m, n);
	count = 1 + below(m, n - first < 64 ? n - first : 64);
	for (size_t i = first; i < n && i < first + count; i++) {
		struct found f = {.piece = b, .at = at[i]};
		uint64_t words[512];
		size_t times = 0, time = 1;

		memcpy(&f.head, b->payload + at[i], sizeof f.head);
		if (f.head.words > 512)
			continue;
		memcpy(words, b->payload + at[i], (size_t)f.head.words * 8);
		switch (f.head.kind) {
		case GT_RECORD_CALL:
			times = 2;
			words[3] += ids;
			break;
		case GT_RECORD_DEVICE:
			time = 1 + GT_DEVICE_WORD_QUEUED;
			times = 4;
			words[1] += words[1] && below(m, 2) ? ids : 0;
			break;
		case GT_RECORD_EXTERNAL: times = 1; break;
		case GT_RECORD_HOST: times = 2; break;
		default: break;
		}
		for (size_t k = time; k < time + times; k++)
			words[k] += words[k] ? shift : 0;
		mutation_append(b, words, (size_t)f.head.words * 8);
	}
}

/* Change what a thread did outside calls, or in a call. */
static void change_host(struct mutation *m)
{
	struct found f;
	uint64_t start;

	if (!find_record(m, GT_RECORD_HOST, &f))
		return;
	start = get_word(&f, 1);
	switch (below(m, 5)) {
	case 0:
		if (f.head.detail != GT_HOST_STATE)
			break;
		f.head.op = (uint32_t)below(m, GT_HOST_STATE_COUNT);
		put_head(&f);
		break;
	case 1: put_word(&f, 2, start + some_duration(m)); break;
	case 2: /* earlier, or later */
		start += below(m, 2) ? below(m, 10000000) : -below(m, 10000000);
		put_word(&f, 1, start);
		put_word(&f, 2, f.head.detail == GT_HOST_USAGE ? start : start + some_duration(m));
		break;
	case 3: {
		size_t i = 3 + below(m, 8);

		put_word(&f, i, mutation_odd_value(m, get_word(&f, i)));
		break;
	}
	default: remove_record(&f);
	}
}

/* Change a call that has not returned. */
static void change_open_call(struct mutation *m)
{
	struct found f, call;

	if (!find_record(m, GT_RECORD_OPEN, &f))
		return;
	switch (below(m, 4)) {
	case 0: /* another function */
		if (!find_record(m, GT_RECORD_CALL, &call))
			break;
		f.head.op = GT_OP(GT_OP_DOMAIN(call.head.op), GT_OP_NUMBER(call.head.op), 0);
		put_head(&f);
		break;
	case 1: {
		size_t i = 1 + below(m, 9);

		put_word(&f, i, mutation_odd_value(m, get_word(&f, i)));
		break;
	}
	case 2: put_word(&f, 8, below(m, GT_HOST_STATE_COUNT) | below(m, 400) << 8); break;
	default: remove_record(&f);
	}
}

static void change_external(struct mutation *m)
{
	struct found f;

	if (!find_record(m, GT_RECORD_EXTERNAL, &f))
		return;
	if (below(m, 2)) {
		put_word(&f, 2, mutation_odd_value(m, get_word(&f, 2)));
	} else {
		f.head.detail ^= 1;
		put_head(&f);
	}
}

/* Records that are not rows ----------------------------------------------------- */

/* Replace the text of a string, an object or an event. */
static void put_text(struct found *f, size_t length_word, const char *text, size_t bytes)
{
	uint64_t words[8 + TEXT_MAX / 8] = {0};
	size_t fixed = length_word + 1;

	memcpy(words, f->piece->payload + f->at, fixed * 8);
	words[length_word] = bytes;
	memcpy(words + fixed, text, bytes);
	remove_record(f);
	f->head.words = (uint16_t)(fixed + (bytes + 7) / 8);
	memcpy(words, &f->head, sizeof f->head);
	mutation_insert(f->piece, f->at, words, (size_t)f->head.words * 8);
}

static void change_string(struct mutation *m)
{
	char text[TEXT_MAX + 64];
	struct found f, other;

	if (!find_record(m, GT_RECORD_STRING, &f))
		return;
	if (below(m, 4) == 0 && find_record(m, GT_RECORD_STRING, &other) &&
	    get_word(&other, 1) <= sizeof text) { /* give two strings the same name */
		size_t bytes = get_word(&other, 1);

		memcpy(text, other.piece->payload + other.at + 16, bytes);
		put_text(&f, 1, text, bytes);
		return;
	}
	put_text(&f, 1, text, make_text(m, text));
}

/* Change the value of one "key=value". */
static void change_object_text(struct mutation *m, struct found *f)
{
	char text[2 * TEXT_MAX + 128], value[TEXT_MAX + 64];
	size_t bytes = get_word(f, 4), from, to, n;
	const char *old = (const char *)f->piece->payload + f->at + 40;

	if (!bytes || bytes > TEXT_MAX / 2)
		return;
	memcpy(text, old, bytes);
	from = below(m, bytes);
	while (from && text[from - 1])
		from--;
	for (to = from; to < bytes && text[to]; to++)
		;
	while (from < to && text[from] != '=')
		from++;
	from += from < to;
	n = make_text(m, value);
	n = n < TEXT_MAX / 4 ? n : TEXT_MAX / 4;
	memmove(text + from + n, text + to, bytes - to);
	memcpy(text + from, value, n);
	put_text(f, 4, text, bytes + n - (to - from));
}

static void change_object(struct mutation *m)
{
	struct found f, other;

	if (!find_record(m, below(m, 6) ? GT_RECORD_OBJECT : GT_RECORD_MODULE, &f))
		return;
	switch (below(m, 6)) {
	case 0: put_word(&f, 3, below(m, 4)); break;
	case 1:
		if (find_record(m, f.head.kind, &other))
			put_word(&f, 2, get_word(&other, 2));
		break;
	default: change_object_text(m, &f);
	}
}

static void change_event(struct mutation *m)
{
	char text[TEXT_MAX + 64];
	struct found f;

	if (!find_record(m, GT_RECORD_EVENT, &f))
		return;
	if (below(m, 2)) {
		put_text(&f, 3, text, make_text(m, text));
	} else {
		f.head.op = (uint32_t)(2 + below(m, GT_EVENT_CODE_COUNT - 2));
		put_head(&f);
		put_word(&f, 2, below(m, 100));
	}
}

/* Make a clock reading later, end a lifetime earlier, or move a pause. */
static void change_reading(struct mutation *m)
{
	static const uint8_t kinds[] = {GT_RECORD_CLOCK, GT_RECORD_LIFETIME, GT_RECORD_WINDOW};
	struct found f;

	if (!find_record(m, kinds[below(m, sizeof kinds)], &f))
		return;
	if (f.head.kind == GT_RECORD_CLOCK)
		put_word(&f, 3, get_word(&f, 3) + below(m, 2000) - 1000);
	else
		put_word(&f, 1, get_word(&f, 1) + below(m, 2000000) - 1000000);
}

/* Change functions, files and lines of frames, and the stacks of calls. */
static void change_code(struct mutation *m)
{
	static const uint8_t kinds[] = {GT_RECORD_CODE, GT_RECORD_NAMES, GT_RECORD_STACK};
	size_t fixed = sizeof(struct gt_record_names) / 8;
	struct found f;

	if (!find_record(m, kinds[below(m, sizeof kinds)], &f))
		return;
	if (f.head.kind == GT_RECORD_STACK)
		put_word(&f, 2, 1 + below(m, 4));
	if (f.head.kind == GT_RECORD_CODE)
		fixed = sizeof(struct gt_record_code) / 8;
	if (f.head.kind != GT_RECORD_STACK && f.head.words > fixed)
		mutation_put_odd_text(m, f.piece->payload + f.at + fixed * 8,
				      (f.head.words - fixed) * 8);
}

/* Processes, threads, the session ----------------------------------------------- */

/* Change @count texts in a payload from @at on, each preceded by its length. */
static void change_texts(struct mutation *m, struct piece *b, size_t at, unsigned count)
{
	uint32_t bytes;

	for (unsigned i = 0; i < count && at + sizeof bytes <= b->bytes; i++) {
		memcpy(&bytes, b->payload + at, sizeof bytes);
		at += sizeof bytes;
		if (bytes > b->bytes - at)
			return;
		if (below(m, 3) == 0)
			mutation_put_odd_text(m, b->payload + at, bytes);
		at += bytes;
	}
}

static void put_number(struct piece *b, size_t at, uint32_t value)
{
	if (at + sizeof value <= b->bytes)
		memcpy(b->payload + at, &value, sizeof value);
}

/* Change rank, size, local rank and local size, which follow two texts. */
static void change_rank(struct mutation *m, struct piece *b)
{
	size_t at = 24;
	uint32_t bytes;

	for (unsigned i = 0; i < 2 && at + sizeof bytes <= b->bytes; i++) {
		memcpy(&bytes, b->payload + at, sizeof bytes);
		at += sizeof bytes + bytes;
	}
	put_number(b, at + 4 * below(m, 4), (uint32_t)below(m, 6) - 1);
}

static void change_process(struct mutation *m)
{
	static const uint32_t statuses[] = {0, 1 << 8, 9, 11, 134, 255 << 8, UINT32_MAX};
	struct piece *b = m->pieces[below(m, m->count)];

	switch (b->head.type) {
	case GT_BLOCK_SESSION:
		if (below(m, 2))
			put_number(b, 4, (uint32_t)below(m, 4) - 1);
		else
			change_texts(m, b, 24, 8);
		break;
	case GT_BLOCK_PROCESS:
		if (below(m, 2))
			change_rank(m, b);
		else
			change_texts(m, b, 24, 2);
		break;
	case GT_BLOCK_PROCESS_END: put_number(b, 0, statuses[below(m, 7)]); break;
	case GT_BLOCK_THREAD:
		if (below(m, 2))
			put_number(b, 0, (uint32_t)mutation_odd_value(m, 1));
		else
			change_texts(m, b, 24, 1);
		break;
	case GT_BLOCK_LOAD:
		put_number(b, 8 * below(m, b->bytes / 8), (uint32_t)mutation_odd_value(m, 1));
		break;
	default: break;
	}
}

static void change(struct mutation *m)
{
	switch (below(m, 24)) {
	case 0:
	case 1:
	case 2:
	case 3: change_call(m); break;
	case 4:
	case 5:
	case 6:
	case 7: change_activity(m); break;
	case 8:
	case 9: repeat_rows(m); break;
	case 10:
	case 11:
	case 12: change_string(m); break;
	case 13: change_object(m); break;
	case 14: change_event(m); break;
	case 15: change_reading(m); break;
	case 16: change_external(m); break;
	case 17: change_code(m); break;
	case 18:
	case 19:
	case 20: change_host(m); break;
	case 21: change_open_call(m); break;
	default: change_process(m);
	}
}

/* Assembly ---------------------------------------------------------------------- */

struct output {
	struct gt_capture_writer *writer;
	struct gt_stream *streams[THREADS_MAX];
	uint32_t processes[THREADS_MAX], ordinals[THREADS_MAX];
	size_t stream_count;
	struct gt_counts counts[PROCESSES_MAX];
	bool has_counts[PROCESSES_MAX];
	uint64_t lost; /* add losses that no record reports */
};

static bool write_records(struct output *o, const struct piece *b)
{
	size_t i = 0;

	while (i < o->stream_count &&
	       (o->processes[i] != b->head.process || o->ordinals[i] != b->head.ordinal))
		i++;
	if (i == THREADS_MAX || b->head.process >= PROCESSES_MAX)
		return false;
	if (i == o->stream_count) {
		if (gt_capture_stream_create(o->writer, b->head.process, b->head.ordinal,
					     &o->streams[i]))
			return false;
		o->processes[i] = b->head.process;
		o->ordinals[i] = b->head.ordinal;
		o->stream_count++;
	}
	return !b->bytes || !gt_capture_write_records(o->streams[i], b->payload, b->bytes,
						      &o->counts[b->head.process]);
}

/* Copy the counts of losses. The writer counts the recorded rows itself. */
static bool note_counts(struct output *o, const struct piece *b)
{
	struct gt_counts *counts = &o->counts[b->head.process];

	if (b->head.process >= PROCESSES_MAX)
		return false;
	o->has_counts[b->head.process] = true;
	memset(counts->dropped, 0, sizeof counts->dropped);
	for (size_t i = 0; i + sizeof(struct gt_file_sum) <= b->bytes;
	     i += sizeof(struct gt_file_sum)) {
		struct gt_file_sum s;

		memcpy(&s, b->payload + i, sizeof s);
		if (s.class >= GT_CLASS_COUNT || s.domain >= GT_DOMAIN_COUNT)
			return false;
		if (s.what == GT_SUM_NOT_KEPT)
			counts->evicted[s.class][s.domain] = s.value;
		else if (s.what >= 2 && s.what < 2 + GT_DROP_REASON_COUNT)
			counts->dropped[s.what - 2][s.class][s.domain] = s.value;
	}
	return true;
}

static bool write_counts(struct output *o)
{
	for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
		struct gt_counts *n = &o->counts[i];

		if (!o->has_counts[i])
			continue;
		n->dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL] += o->lost;
		o->lost = 0;
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++) {
				n->seen[c][d] = n->recorded[c][d] + n->evicted[c][d];
				for (unsigned r = 0; r < GT_DROP_REASON_COUNT; r++)
					n->seen[c][d] += n->dropped[r][c][d];
			}
		if (gt_capture_write_counts(o->writer, i, n))
			return false;
	}
	return true;
}

static bool write_pieces(const struct mutation *m, struct output *o)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct piece *b = m->pieces[i];
		bool written = true;

		if (b->head.flags & GT_BLOCK_OF_SECTION)
			return false;
		if (mutation_has_records(b))
			written = write_records(o, b);
		else if (b->head.type == GT_BLOCK_COUNTS)
			written = note_counts(o, b);
		else if (b->head.type == GT_BLOCK_KEPT)
			return false;
		else if (b->head.type != GT_BLOCK_END && b->head.type != GT_BLOCK_INDEX)
			written = !gt_writer_append_block(o->writer, b->head.type, b->head.process,
							  b->head.ordinal, b->payload, b->bytes);
		if (!written)
			return false;
	}
	return write_counts(o);
}

static bool read_back(int fd, struct mutant *out)
{
	off_t bytes = lseek(fd, 0, SEEK_END);

	if (bytes <= 0)
		return false;
	if (out->room < (size_t)bytes) {
		out->room = (size_t)bytes * 2;
		out->bytes = must(realloc(out->bytes, out->room));
	}
	out->count = (size_t)bytes;
	return pread(fd, out->bytes, out->count, 0) == bytes;
}

static bool write_mutant(struct mutation *m, struct mutant *out)
{
	static struct output o;
	uint8_t id[GT_CAPTURE_ID_BYTES];
	int fd = memfd_create("mutant", MFD_CLOEXEC), copy = dup(fd);
	bool written;

	memset(&o, 0, sizeof o);
	o.lost = below(m, 24) ? 0 : below(m, 100);
	for (size_t i = 0; i < sizeof id; i++)
		id[i] = (uint8_t)draw(m);
	if (fd < 0 || copy < 0 || gt_writer_create("mutant", &o.writer))
		abort();
	o.writer->main.fd = fd;
	written = !gt_writer_put_header(o.writer, id) && write_pieces(m, &o);
	while (o.stream_count)
		gt_capture_stream_destroy(o.streams[--o.stream_count]);
	if (gt_capture_writer_finish(o.writer, below(m, 32) != 0))
		written = false;
	written = written && read_back(copy, out);
	close(copy);
	gt_error_clear();
	return written;
}

bool mutate_plausibly(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out)
{
	static struct mutation m;
	bool written;

	memset(&m, 0, sizeof m);
	m.random = number * 0x2545f4914f6cdd1d + 2;
	mutation_parse(&m, capture, bytes);
	for (size_t i = 1 + below(&m, CHANGES_MAX); i && m.count; i--)
		change(&m);
	written = write_mutant(&m, out);
	mutation_free(&m);
	return written;
}
