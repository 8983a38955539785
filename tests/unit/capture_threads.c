/* SPDX-License-Identifier: MIT */
/* Several threads read one capture: each reads the same items, and damage is counted once. */
#include <errno.h>
#include <pthread.h>

#include "records.h"

enum { BLOCKS = 40, CALLS = 8, READERS = 4 };

static struct records r;

static void write_sample(const char *path)
{
	struct gt_capture_writer *w = capture_begin(path, true);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	uint64_t id = 0;

	for (int n = 0; n < BLOCKS; n++) {
		r.count = 0;
		for (int i = 0; i < CALLS; i++) {
			id++;
			records_call(&r, 1, 3, 0, GT_ID(1, id), 1000000000 + id * 100,
				     1000000050 + id * 100, id);
		}
		counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] += CALLS;
		write_records(s, &r, &counts);
		CHECK_OK(gt_capture_flush(w));
	}
	capture_finish(w, s, &counts);
}

/* Flip a bit in every third quarter KiB, so that some blocks are damaged. */
static void damage(const char *path)
{
	size_t bytes;
	uint8_t *data = file_read(path, &bytes);

	for (size_t at = 1024; at < bytes; at += 768)
		data[at] ^= 4;
	file_write(path, data, bytes);
	free(data);
}

struct reading {
	const struct gt_capture *capture;
	pthread_t thread;
	uint64_t calls, sum;
	int status;
};

static void *read_all(void *data)
{
	struct reading *reading = data;
	const struct gt_item *item;
	struct gt_cursor *k;

	reading->status = gt_cursor_create(reading->capture, &k);
	while (!reading->status && (reading->status = gt_cursor_next(k, &item)) == 1) {
		reading->calls += item->kind == GT_RECORD_CALL;
		reading->sum += item->id * item->start_ns;
		reading->status = 0;
	}
	gt_cursor_destroy(k);
	return NULL;
}

static void read_with(const struct gt_capture *c, struct reading *readings, int count)
{
	for (int i = 0; i < count; i++) {
		readings[i] = (struct reading){.capture = c};
		CHECK_EQ(pthread_create(&readings[i].thread, NULL, read_all, &readings[i]), 0);
	}
	for (int i = 0; i < count; i++)
		pthread_join(readings[i].thread, NULL);
}

UNIT_TEST(threads_that_read_a_damaged_capture_see_the_same_and_count_damage_once)
{
	const char *path = file_name("a.gputap");
	struct gt_time_range all = {0, UINT64_MAX};
	struct gt_scope scope = {.spans = &all, .count = 1};
	struct reading alone, readings[READERS];
	struct gt_capture *c;
	struct gt_capture_health health;

	write_sample(path);
	damage(path);
	c = open_capture(path);
	read_with(c, &alone, 1);
	health = *gt_capture_health(c);
	gt_capture_close(c);
	CHECK_EQ(alone.status, 0);
	CHECK_GT(alone.calls, 0);
	CHECK_LT(alone.calls, BLOCKS * CALLS);

	c = open_capture(path);
	CHECK_OK(gt_capture_set_scope(c, &scope));
	read_with(c, readings, READERS);
	for (int i = 0; i < READERS; i++) {
		CHECK_EQ(readings[i].status, 0);
		CHECK_EQ(readings[i].calls, alone.calls);
		CHECK_EQ(readings[i].sum, alone.sum);
	}
	CHECK_EQ(gt_capture_health(c)->bad_blocks, health.bad_blocks);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, health.bad_bytes);
	CHECK_EQ(gt_capture_counts(c, 0)->recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], alone.calls);
	gt_capture_close(c);
}
