/* SPDX-License-Identifier: MIT */
/* Measures how fast a table of a capture is read as an Arrow stream:
 *
 *   read_tables CAPTURE TABLE [COLUMN...]
 * Reads the columns (default: all but those on request) ROUNDS times, and prints the processor time
 * of the fastest round and its rows a second. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gputap/capture.h"

enum { ROUNDS = 5 };

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int64_t read_table(const struct gputap_capture *capture, const char *table,
			  const struct gputap_capture_stream_options *options)
{
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	int64_t rows = 0;
	int status;

	if (gputap_capture_stream(capture, table, options, &stream)) {
		fprintf(stderr, "read_tables: %s\n", gputap_capture_error());
		exit(1);
	}
	while (!(status = stream.get_next(&stream, &batch)) && batch.release) {
		rows += batch.length;
		batch.release(&batch);
	}
	if (status) {
		fprintf(stderr, "read_tables: %s\n", stream.get_last_error(&stream));
		exit(1);
	}
	stream.release(&stream);
	return rows;
}

int main(int argc, char **argv)
{
	struct gputap_capture_stream_options options = {
		.size = sizeof options,
		.columns = argc > 3 ? (const char *const *)argv + 3 : NULL,
		.column_count = argc > 3 ? (size_t)argc - 3 : 0};
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture *capture;
	double best = 1e9;
	int64_t rows = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: read_tables CAPTURE TABLE [COLUMN...]\n");
		return 2;
	}
	if (gputap_capture_open((const char *const *)argv + 1, 1, &health, &capture)) {
		fprintf(stderr, "read_tables: %s\n", gputap_capture_error());
		return 1;
	}
	for (int i = 0; i < ROUNDS; i++) {
		const double begin = cpu_seconds();

		rows = read_table(capture, argv[2], &options);
		if (cpu_seconds() - begin < best)
			best = cpu_seconds() - begin;
	}
	gputap_capture_close(capture);
	printf("%s: %" PRId64 " rows, %.2f s, %.1f million rows a second\n", argv[2], rows, best,
	       (double)rows / best / 1e6);
	return 0;
}
