/* SPDX-License-Identifier: MIT */
/* Several threads read tables of one damaged capture through gputap/capture.h: whole tables, parts
 * of tables, some records, and what is missing. */
#include <pthread.h>

#include "gputap/capture.h"
#include "records.h"

enum { THREADS = 4, BLOCKS = 20, CALLS = 8 };

static struct records r;

static void write_sample(const char *path)
{
	struct gt_capture_writer *w = capture_begin(path, true);
	struct gt_counts counts = {0};
	struct gt_stream *streams[THREADS];

	for (uint32_t t = 0; t < THREADS; t++)
		streams[t] = stream_begin(w, 0, t + 1);
	for (uint64_t n = 0; n < BLOCKS; n++)
		for (uint32_t t = 0; t < THREADS; t++) {
			r.count = 0;
			for (uint64_t id = n * CALLS + 1; id <= (n + 1) * CALLS; id++)
				records_call(&r, 1, 3, 0, GT_ID(t + 1, id), 1000000000 + id * 100,
					     1000000050 + id * 100, id);
			counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] += CALLS;
			write_records(streams[t], &r, &counts);
			CHECK_OK(gt_capture_flush(w));
		}
	for (uint32_t t = 1; t < THREADS; t++)
		gt_capture_stream_destroy(streams[t]);
	capture_finish(w, streams[0], &counts);
}

/* Flip a bit in every second KiB, so that some blocks are damaged. */
static void damage(const char *path)
{
	size_t bytes;
	uint8_t *data = file_read(path, &bytes);

	for (size_t at = 1024; at < bytes; at += 2048)
		data[at] ^= 4;
	file_write(path, data, bytes);
	free(data);
}

static struct gputap_capture *capture, *some;

static uint64_t count_rows(struct gputap_capture *c, const char *table, size_t part, size_t parts)
{
	const struct gputap_capture_stream_options options = {.size = sizeof options,
							      .batch_rows = 7,
							      .partition = part,
							      .partitions = parts};
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	uint64_t rows = 0;

	CHECK_OK(gputap_capture_stream(c, table, &options, &stream));
	while (!stream.get_next(&stream, &batch) && batch.release) {
		rows += (uint64_t)batch.length;
		batch.release(&batch);
	}
	stream.release(&stream);
	return rows;
}

struct reading {
	pthread_t thread;
	size_t part;
	uint64_t all, in_part, some;
};

static void *read_tables(void *data)
{
	struct gputap_capture_health health = {.size = sizeof health};
	struct reading *reading = data;

	reading->in_part = count_rows(capture, "calls", reading->part, THREADS);
	reading->some = count_rows(some, "calls", 0, 0);
	count_rows(capture, "idle", 0, 0);
	CHECK_OK(gputap_capture_health(capture, &health));
	CHECK_EQ(health.seen, health.recorded + health.lost);
	reading->all = count_rows(capture, "calls", 0, 0);
	return NULL;
}

UNIT_TEST(threads_that_read_tables_of_a_damaged_capture_see_the_same)
{
	struct gputap_capture_health health = {.size = sizeof health};
	struct reading readings[THREADS];
	const char *path = file_name("a.gputap");
	uint64_t all = 0;

	write_sample(path);
	damage(path);
	CHECK_OK(gputap_capture_open(&path, 1, &health, &capture));
	CHECK_OK(gputap_capture_where(capture, "duration>=50ns", NULL, &some));
	for (size_t i = 0; i < THREADS; i++) {
		readings[i] = (struct reading){.part = i};
		CHECK_EQ(pthread_create(&readings[i].thread, NULL, read_tables, &readings[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(readings[i].thread, NULL);
		all += readings[i].in_part;
	}
	CHECK_GT(all, 0);
	CHECK_LT(all, THREADS * BLOCKS * CALLS);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_EQ(readings[i].all, all);
		CHECK_EQ(readings[i].some, all);
	}
	CHECK_OK(gputap_capture_health(capture, &health));
	CHECK_EQ(health.recorded, all);
	CHECK_EQ(health.is_whole, false);
	gputap_capture_close(capture);
	gputap_capture_close(some);
}
