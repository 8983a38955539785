/* SPDX-License-Identifier: MIT */
/* Measures on one core how many records per second are written to a capture file (the collector's
 * drain without the rings) and read from the file, and the bytes per record. The records are in a
 * buffer larger than the caches, as rings are; time stamps and arguments vary as in real calls.
 *
 *   capture_rate [folder] [millions of records]
 *
 * With --big: write one large capture if it does not exist, read it, and report the memory used. */
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/encode.h"
#include "measure.h"
#include "util/error.h"

enum { BUFFER_BYTES = 64 << 20, BATCH_BYTES = 256 << 10, FLUSH_BYTES = 4 << 20, TRIALS = 5 };

struct kind {
	const char *name;
	unsigned words, nargs; /* words: words in a record, including the payload */
};

static const struct kind kinds[] = {{"plain", 5, 0},
				    {"args4", 9, 4},
				    {"args4_payload", 11, 4},
				    {"mixed", 0, 0}};

/* Return the CPU time of this thread, which measures the cost of the drain independently of other
 * load. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t seed = 88172645463325252;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static size_t batch_ends[BUFFER_BYTES / BATCH_BYTES * 2], batch_count;

/* Cut the buffer into batches of whole records, as ring blocks are. */
static void cut_batches(const uint64_t *buffer, size_t bytes)
{
	size_t at = 0, from = 0;

	batch_count = 0;
	while (at < bytes) {
		at += (buffer[at / 8] & 0xffff) * 8;
		if (at - from >= BATCH_BYTES || at == bytes) {
			batch_ends[batch_count++] = at;
			from = at;
		}
	}
}

/* Fill the buffer with the records of a thread that sets kernel arguments, or of a thread that
 * makes all kinds of calls. Return the number of bytes. */
static size_t fill(uint64_t *buffer, const struct kind *kind, uint64_t *count)
{
	static const struct {
		unsigned op, nargs, words;
	} mix[] = {{38, 4, 11}, {38, 4, 11}, {38, 4, 11}, {59, 9, 18},
		   {46, 1, 6},  {42, 5, 10}, {43, 1, 6},  {44, 1, 6}};
	uint64_t now = 1000000000, id = GT_ID(1, 0), *r = buffer;

	for (*count = 0; (size_t)(r - buffer) * 8 + 256 < BUFFER_BYTES; ++*count) {
		unsigned m = (unsigned)(*count % 8),
			 words = kind->words ? kind->words : mix[m].words;
		unsigned nargs = kind->words ? kind->nargs : mix[m].nargs,
			 op = kind->words ? 38 : mix[m].op, k;
		struct gt_record head = {(uint16_t)words, GT_RECORD_CALL, 0,
					 GT_OP(GT_DOMAIN_OPENCL, op, nargs)};
		struct gt_payload payload = {3, 0, 8};

		memcpy(r, &head, 8);
		r[1] = now + 60 + draw(300);
		r[2] = r[1] + 100 + draw(400);
		now = r[2];
		r[3] = ++id;
		r[4] = 0;
		for (k = 0; k < nargs; k++)
			r[5 + k] = k == 0   ? 0x55d0c8000000 + draw(4) * 0x60
				   : k == 1 ? *count % 4
				   : k == 2 ? 8
					    : 0x7ffd10203000 + *count % 4 * 8;
		if (words > 5 + nargs) {
			memcpy(r + 5 + nargs, &payload, 8);
			for (k = 6 + nargs; k < words; k++)
				r[k] = 0x55d0c9100000 + draw(32) * 0x1a0;
		}
		r += words;
	}
	return (size_t)(r - buffer) * 8;
}

static void die(const char *what)
{
	fprintf(stderr, "capture_rate: %s: ", what);
	gt_error_print(stderr);
	exit(1);
}

static struct gt_capture_writer *create(const char *path, bool compress)
{
	struct gt_session_info session = {.rank = -1, .host_clock = GT_HOST_CLOCK_COUNTER};
	struct gt_clock_tuple tuples[2] = {{1000000000, 1000, 1000, 1000, 1000, 0},
					   {UINT64_C(1000000000000), 400000000, 400000000,
					    400000000, 400000000, 0}};
	struct gt_process_info process = {0};
	struct gt_capture_options options = {.compress = compress};
	struct gt_capture_writer *w;

	if (gt_capture_writer_create(path, true, &options, &session, &w) ||
	    gt_capture_write_process(w, &process) || gt_capture_write_clock(w, &tuples[0]) ||
	    gt_capture_write_clock(w, &tuples[1]))
		die(path);
	return w;
}

/* Encode rows without a file, to measure the limit of the encoder. */
static double encode_only(const uint64_t *buffer, size_t bytes, uint64_t count)
{
	static struct gt_encoder e;
	const uint64_t *r = buffer, *end = buffer + bytes / 8;
	enum gt_encode_stop stop = GT_ENCODE_FULL;
	uint64_t start = cpu_ns();

	gt_encoder_init(&e, 1);
	while (stop == GT_ENCODE_FULL) {
		r = gt_encoder_run(&e, r, end, &stop);
		gt_encoder_reset(&e, NULL, 0);
	}
	return (double)count * 1e3 / (double)(cpu_ns() - start);
}

/* Write in the way that the collector drains: batches of one ring block, with a flush after several
 * batches. */
static double write_file(const char *path, const uint64_t *buffer, unsigned times, uint64_t count,
			 bool compress, double *size)
{
	struct gt_capture_writer *w = create(path, compress);
	struct gt_counts recorded = {0};
	struct gt_stream *s;
	uint64_t start, ns;
	unsigned t;

	if (gt_capture_stream_create(w, 0, 1, &s))
		die("stream");
	start = cpu_ns();
	for (t = 0; t < times; t++) {
		size_t at = 0, since = 0, b;

		for (b = 0; b < batch_count; at = batch_ends[b++]) {
			size_t n = batch_ends[b] - at;

			if (gt_capture_write_records(s, (const char *)buffer + at, n, &recorded))
				die("records");
			since += n;
			if (since >= FLUSH_BYTES) {
				if (gt_capture_flush(w))
					die("flush");
				since = 0;
			}
		}
	}
	if (gt_capture_write_counts(w, 0, &recorded) || gt_capture_writer_finish(w, true))
		die("finish");
	ns = cpu_ns() - start;
	{
		struct gt_capture *c;

		if (gt_capture_open(path, &c))
			die(path);
		*size = (double)gt_capture_health(c)->bytes / (double)(count * times);
		gt_capture_close(c);
	}
	return (double)(count * times) * 1e3 / (double)ns;
}

static double read_file(const char *path, uint64_t expected, double *open_ms)
{
	const struct gt_item *item;
	struct gt_capture *c;
	struct gt_cursor *cursor;
	uint64_t start = cpu_ns(), opened, n = 0, sum = 0;
	int status;

	if (gt_capture_open(path, &c) || gt_cursor_create(c, &cursor))
		die(path);
	opened = cpu_ns();
	*open_ms = (double)(opened - start) / 1e6;
	while ((status = gt_cursor_next(cursor, &item)) > 0) {
		n++;
		sum += item->end_ns - item->start_ns + (item->args ? item->args[0] : 0);
	}
	start = cpu_ns() - opened;
	gt_cursor_destroy(cursor);
	gt_capture_close(c);
	__asm__ volatile("" ::"r"(sum));
	if (status || (expected && n != expected)) {
		fprintf(stderr, "capture_rate: %" PRIu64 " of %" PRIu64 " items\n", n, expected);
		die("read");
	}
	return (double)n * 1e3 / (double)start;
}

static void measure(const struct kind *kind, const char *path, uint64_t *buffer, double millions)
{
	uint64_t count;
	size_t bytes = fill(buffer, kind, &count);
	unsigned times = (unsigned)(millions * 1e6 / (double)count) + 1, t;
	double rows[TRIALS], out[TRIALS], in[TRIALS], size, open_ms;
	char key[96];

	cut_batches(buffer, bytes);
	for (t = 0; t < TRIALS; t++) {
		rows[t] = encode_only(buffer, bytes, count);
		out[t] = write_file(path, buffer, times, count, false, &size);
		in[t] = read_file(path, count * times, &open_ms);
	}
	snprintf(key, sizeof key, "capture_rows_%s", kind->name);
	bench_print(key, bench_median(rows, TRIALS), "M/s");
	snprintf(key, sizeof key, "capture_write_%s", kind->name);
	bench_print(key, bench_median(out, TRIALS), "M/s");
	snprintf(key, sizeof key, "capture_read_%s", kind->name);
	bench_print(key, bench_median(in, TRIALS), "M/s");
	snprintf(key, sizeof key, "capture_bytes_%s", kind->name);
	bench_print(key, size, "B");
	snprintf(key, sizeof key, "capture_write_zstd_%s", kind->name);
	bench_print(key, write_file(path, buffer, 1, count, true, &size), "M/s");
	snprintf(key, sizeof key, "capture_bytes_zstd_%s", kind->name);
	bench_print(key, size, "B");
}

static void big(const char *path)
{
	struct rusage before, after;
	double open_ms, rate;

	getrusage(RUSAGE_SELF, &before);
	rate = read_file(path, 0, &open_ms);
	getrusage(RUSAGE_SELF, &after);
	bench_print("capture_big_open", open_ms, "ms");
	bench_print("capture_big_read", rate, "M/s");
	bench_print("capture_big_memory", (double)(after.ru_maxrss - before.ru_maxrss) / 1024,
		    "MiB");
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "/dev/shm";
	double millions = argc > 2 ? atof(argv[2]) : 5;
	uint64_t *buffer;
	char path[4096];
	size_t i;

	if (argc > 2 && !strcmp(argv[1], "--big")) {
		big(argv[2]);
		return 0;
	}
	buffer = malloc(BUFFER_BYTES);
	if (!buffer)
		return 1;
	memset(buffer, 1, BUFFER_BYTES); /* touches the memory, unlike calloc() */
	snprintf(path, sizeof path, "%s/capture_rate.%d.gputap", folder, (int)getpid());
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		measure(&kinds[i], path, buffer, millions);
	unlink(path);
	free(buffer);
	return 0;
}
