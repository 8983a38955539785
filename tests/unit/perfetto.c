/* SPDX-License-Identifier: MIT */
/* The bytes of the Perfetto exporter, read back by a small reader of the wire format: messages of
 * every length, and texts that have to be written while a packet is under construction.
 * tests/test_export_odd.py uses Perfetto's own reader. */
#include <stdio.h>
#include <stdlib.h>

#include "export/export.h"
#include "export/formats.h"
#include "export/perfetto.h"
#include "fake_capture.h"
#include "unit.h"

enum { SEQUENCES = 16, IIDS = 4096 };

static struct gt_capture fake;

/* Counts over a whole file. */
static struct {
	unsigned packets, begins, ends, long_packets, packets_of_128, annotations;
	/* annotations whose text refers to an interned text by number */
	unsigned words_used;
	bool word[SEQUENCES][IIDS]; /* texts interned so far */
} seen;

struct field {
	uint32_t number;
	unsigned type;
	uint64_t value; /* value of both number types, or length of the bytes */
	const uint8_t *data;
};

static uint64_t take_varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		CHECK_LT(*p, end);
		v |= (uint64_t)(**p & 127) << shift % 64;
		if (!(*(*p)++ & 128))
			return v;
	}
	CHECK(!"a varint ends");
	return 0;
}

static bool take(const uint8_t **p, const uint8_t *end, struct field *f)
{
	uint64_t tag;

	if (*p == end)
		return false;
	tag = take_varint(p, end);
	f->number = (uint32_t)(tag >> 3);
	f->type = tag & 7;
	if (f->type == GT_PB_VARINT) {
		f->value = take_varint(p, end);
	} else if (f->type == GT_PB_FIXED64) {
		CHECK_GE(end - *p, 8);
		memcpy(&f->value, *p, 8);
		*p += 8;
	} else {
		CHECK_EQ(f->type, GT_PB_BYTES);
		f->value = take_varint(p, end);
		CHECK_LE(f->value, (uint64_t)(end - *p));
		f->data = *p;
		*p += f->value;
	}
	return true;
}

static void read_annotation(uint64_t sequence, const uint8_t *p, const uint8_t *end)
{
	bool named = false, valued = false;
	struct field f;

	while (take(&p, end, &f)) {
		if (f.number == ANNOTATION_NAME) {
			named = true;
			continue;
		}
		valued = true;
		if (f.number == ANNOTATION_STRING_IID) {
			CHECK_LT(f.value, IIDS);
			CHECK(seen.word[sequence][f.value]);
			seen.words_used++;
		}
	}
	CHECK(named && valued);
	seen.annotations++;
}

static void read_event(uint64_t sequence, const uint8_t *p, const uint8_t *end)
{
	struct field f;

	while (take(&p, end, &f)) {
		if (f.number == EVENT_TYPE) {
			seen.begins += f.value == TYPE_BEGIN;
			seen.ends += f.value == TYPE_END;
		} else if (f.number == EVENT_ANNOTATION && sequence != SEQUENCE_MAIN) {
			read_annotation(sequence, f.data, f.data + f.value);
		}
	}
}

static void read_interned(uint64_t sequence, const uint8_t *p, const uint8_t *end)
{
	struct field f, inner;

	while (take(&p, end, &f)) {
		const uint8_t *q = f.data;

		while (f.number == INTERNED_ANNOTATION_STRING && take(&q, f.data + f.value, &inner))
			if (inner.number == INTERNED_IID) {
				CHECK_LT(inner.value, IIDS);
				seen.word[sequence][inner.value] = true;
			}
	}
}

static void read_packet(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *start = p;
	uint64_t sequence = 0;
	struct field f;

	while (take(&p, end, &f)) /* a sequence id may follow */
		if (f.number == PACKET_SEQUENCE)
			sequence = f.value;
	CHECK_LT(sequence, SEQUENCES);
	for (p = start; take(&p, end, &f);) {
		if (f.number == PACKET_TRACK_EVENT)
			read_event(sequence, f.data, f.data + f.value);
		else if (f.number == PACKET_INTERNED)
			read_interned(sequence, f.data, f.data + f.value);
	}
	seen.packets++;
	seen.long_packets += end - start > 127;
	seen.packets_of_128 += end - start == 128;
}

static void export_and_read(void)
{
	static uint8_t bytes[1 << 20];
	const uint8_t *p = bytes, *end;
	struct field f;
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/a.pftrace", unit_folder());
	CHECK_EQ(gt_export(&gt_exporter_perfetto, &fake, path, true, NULL), 0);
	file = fopen(path, "rbe");
	CHECK(file);
	end = bytes + fread(bytes, 1, sizeof bytes, file);
	CHECK(feof(file));
	fclose(file);
	memset(&seen, 0, sizeof seen);
	while (take(&p, end, &f)) {
		CHECK_EQ(f.number, TRACE_PACKET);
		read_packet(f.data, f.data + f.value);
	}
}

/* Each call's arguments are a byte longer than the previous call's, so packets of every length
 * occur, including 128. */
UNIT_TEST(perfetto_packets_around_127_bytes_are_whole)
{
	enum { CALLS = 73 };
	/* nine arguments and the correlation */
	const unsigned calls = CALLS, annotations = CALLS * 10;

	fake_capture_init(&fake);
	for (unsigned extra = 0; extra < CALLS; extra++) {
		uint64_t args[9], at = 1000 + extra * 100;

		for (unsigned i = 0, left = extra; i < 9; i++) {
			unsigned bytes = left < 8 ? left : 8;

			args[i] = UINT64_C(1) << bytes * 7;
			left -= bytes;
		}
		fake_call(&fake, 1, "clEnqueueNDRangeKernel", at, at + 50, 0, args);
	}
	export_and_read();
	CHECK_EQ(seen.begins, calls);
	CHECK_EQ(seen.ends, calls);
	CHECK_EQ(seen.annotations, annotations);
	CHECK_GT(seen.long_packets, 5);
	CHECK_GT(seen.packets_of_128, 0);
	CHECK_LT(seen.long_packets, calls);
	fake_capture_fini(&fake);
}

/* Each call has a value whose name is new to its thread. Its packet is started, abandoned to write
 * the name, and started again. */
UNIT_TEST(perfetto_names_of_values_are_there_before_the_packet_that_needs_them)
{
	enum { KINDS = 40, THREADS = 3 };

	fake_capture_init(&fake);
	for (unsigned thread = 2; thread <= THREADS; thread++)
		fake_thread(&fake, 0, thread, 1000 + thread, "worker");
	for (unsigned thread = 1; thread <= THREADS; thread++)
		/* in the second round, the name is already interned */
		for (unsigned i = 0; i < 2 * KINDS; i++) {
			uint64_t args[5] = {0x1000, 0x1000 + i % KINDS, 8, 0x2000, 0x3000};

			fake_call(&fake, thread, "clGetDeviceInfo", 1000 + i * 100, 1050 + i * 100,
				  0, args);
		}
	export_and_read();
	CHECK_EQ(seen.begins, 2 * KINDS * THREADS);
	CHECK_EQ(seen.ends, 2 * KINDS * THREADS);
	/* five arguments and the correlation, each exactly once */
	CHECK_EQ(seen.annotations, 2 * KINDS * THREADS * 6);
	CHECK_EQ(seen.words_used, 2 * KINDS * THREADS);
	fake_capture_fini(&fake);
}

/* Cached values of an argument: an unused entry contains 0, which must not be mistaken for a cached
 * value. */
UNIT_TEST(perfetto_writes_each_argument_whatever_its_value)
{
	fake_capture_init(&fake);
	fake_thread(&fake, 0, 2, 1002, "worker");
	for (uint64_t i = 0; i < 600; i++) {
		uint64_t value = i < 300 ? i : i * 0x9e3779b97f4a7c15u,
			 args[5] = {value, 0x1000, value, value, value};

		fake_call(&fake, 1 + i % 2, "clGetDeviceInfo", 1000 + i * 100, 1050 + i * 100, 0,
			  args);
	}
	export_and_read();
	CHECK_EQ(seen.begins, 600);
	CHECK_EQ(seen.annotations, 600 * 6);
	fake_capture_fini(&fake);
}
