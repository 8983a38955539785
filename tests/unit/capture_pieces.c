/* SPDX-License-Identifier: MIT */
/* Pieces of a capture contain, in order, the same records as the whole capture. */
#include <errno.h>

#include "records.h"

enum { TICKS = 1000000000, OUTERMOST = 120, ITEMS_MOST = 1 << 16 };

static struct records r;
static uint64_t seed;

static unsigned choose(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

struct program {
	struct gt_stream *stream;
	struct gt_counts counts;
	struct gt_capture_writer *writer;
	uint32_t ordinal;
	uint64_t id, ticks;
};

/* Write a block now and then, so that blocks end anywhere in a call. */
static void maybe_flush(struct program *p)
{
	if (choose(5))
		return;
	write_records(p->stream, &r, &p->counts);
	CHECK_OK(gt_capture_flush(p->writer));
	r.count = 0;
}

static void add_call(struct program *p, unsigned depth)
{
	uint64_t id = ++p->id, start = p->ticks += 10;

	while (depth < 6 && choose(10) < 4)
		add_call(p, depth + 1);
	if (!choose(3))
		records_device(&r, GT_ID(p->ordinal, id), start, start + 5);
	p->ticks += 10;
	records_call(&r, 1 + choose(20), 2, depth, GT_ID(p->ordinal, id), start, p->ticks, id);
	maybe_flush(p);
}

/* Write a capture of three threads: one makes nested calls, one only reports GPU activities, and
 * one pushes external ids if @external. */
static void write_sample(const char *path, uint64_t number, bool external)
{
	struct program p = {.writer = capture_begin(path, number % 2)};

	seed = number;
	for (p.ordinal = 1; p.ordinal <= 3; p.ordinal++) {
		r.count = 0;
		p.id = 0;
		p.ticks = TICKS;
		p.stream = stream_begin(p.writer, 0, p.ordinal);
		for (int i = 0; i < OUTERMOST; i++) {
			if (p.ordinal == 3 && external)
				records_external(&r, 0, choose(2), p.ticks += 5, number);
			if (p.ordinal == 2) {
				records_device(&r, GT_ID(1, i + 1), TICKS, TICKS + i);
				maybe_flush(&p);
			} else {
				add_call(&p, 0);
			}
		}
		write_records(p.stream, &r, &p.counts);
		CHECK_OK(gt_capture_flush(p.writer));
		gt_capture_stream_destroy(p.stream);
	}
	p.counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] =
		p.counts.recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL];
	CHECK_OK(gt_capture_write_counts(p.writer, 0, &p.counts));
	CHECK_OK(gt_capture_writer_finish(p.writer, true));
}

/* A short form of each item. */
struct list {
	uint64_t item[ITEMS_MOST];
	size_t count;
};

static void add_items(struct list *list, struct gt_cursor *k)
{
	const struct gt_item *item;

	while ((item = next_item(k))) {
		uint64_t h = item->id * 31 + item->parent * 37 + item->start_ns * 41 +
			     item->external[0] * 43 + item->kind + item->ordinal * 47 +
			     item->context * 53 + (item->args ? item->args[0] * 59 : 0);

		CHECK_LT(list->count, ITEMS_MOST);
		list->item[list->count++] = h;
	}
}

static void compare_with_pieces(const char *path, uint64_t bytes)
{
	static struct list whole, parts;
	struct gt_capture *c = open_capture(path);
	struct gt_cursor *k = cursor_of(c);
	struct gt_capture_health health;
	struct gt_capture_piece *pieces;
	size_t count;

	whole.count = parts.count = 0;
	add_items(&whole, k);
	gt_cursor_destroy(k);
	health = *gt_capture_health(c);
	gt_capture_close(c);

	c = open_capture(path);
	CHECK_OK(gt_capture_split(c, bytes, &pieces, &count));
	CHECK(count > 3 || bytes > 1);
	k = cursor_of(c);
	for (size_t i = 0; i < count; i++) {
		CHECK_OK(gt_cursor_take_piece(k, &pieces[i]));
		add_items(&parts, k);
	}
	gt_cursor_destroy(k);
	free(pieces);
	CHECK_EQ(whole.count, parts.count);
	CHECK_MEM(whole.item, parts.item, whole.count * sizeof *whole.item);
	CHECK_EQ(gt_capture_health(c)->bad_blocks, health.bad_blocks);
	CHECK_EQ(gt_capture_health(c)->bad_sums, health.bad_sums);
	gt_capture_close(c);
}

UNIT_TEST(pieces_of_any_size_contain_the_records_of_the_whole_capture)
{
	for (uint64_t number = 0; number < 20; number++) {
		const char *path = file_name("a.gputap");

		write_sample(path, number, number % 3 == 2);
		compare_with_pieces(path, 1);
		compare_with_pieces(path, 2000);
		compare_with_pieces(path, UINT64_MAX);
	}
}

UNIT_TEST(pieces_of_a_damaged_capture_contain_what_can_be_read)
{
	const char *path = file_name("a.gputap"), *bad = file_name("bad.gputap");
	size_t bytes;
	uint8_t *data;

	write_sample(path, 4, false);
	data = file_read(path, &bytes);
	for (size_t at = 800; at < bytes; at += 997) {
		data[at] ^= 16;
		file_write(bad, data, bytes);
		compare_with_pieces(bad, 1);
	}
	free(data);
}

UNIT_TEST(a_stream_with_external_ids_is_one_piece)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_piece *pieces;
	struct gt_capture *c;
	size_t count, large = 0;

	write_sample(path, 1, true);
	c = open_capture(path);
	CHECK_OK(gt_capture_split(c, 1, &pieces, &count));
	for (size_t i = 0; i < count; i++)
		large += pieces[i].is_large;
	CHECK_EQ(large, 1);
	CHECK(pieces[count - 1].is_large);
	free(pieces);
	gt_capture_close(c);
}
