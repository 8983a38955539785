/* SPDX-License-Identifier: MIT */
/* The n-th allocation or system call fails, for n = 1, 2, ...: the writer reports the failure or
 * continues, the file stays valid, the reader reports the failure with a cause, and nothing leaks
 * (checked in the AddressSanitizer build). The linker wraps the calls: meson.build. */
#include <errno.h>

#include "records.h"

static struct records r;
static long until_allocation = -1, until_write = -1, until_read = -1; /* < 0: never */

static bool fails(long *until)
{
	return *until >= 0 && (*until)-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__real_reallocarray(void *p, size_t count, size_t bytes);
char *__real_strdup(const char *s);
ssize_t __real_pwrite64(int fd, const void *data, size_t bytes, off_t at);
ssize_t __real_pread64(int fd, void *data, size_t bytes, off_t at);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_reallocarray(void *p, size_t count, size_t bytes);
char *__wrap_strdup(const char *s);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t at);

void *__wrap_malloc(size_t bytes)
{
	return fails(&until_allocation) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails(&until_allocation) ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
	return fails(&until_allocation) ? NULL : __real_realloc(p, bytes);
}

void *__wrap_reallocarray(void *p, size_t count, size_t bytes)
{
	return fails(&until_allocation) ? NULL : __real_reallocarray(p, count, bytes);
}

char *__wrap_strdup(const char *s)
{
	return fails(&until_allocation) ? NULL : __real_strdup(s);
}

/* Act like a disk that becomes full during a write: the first half is written, and then no more
 * data.
 * The next flush finds free space again. */
ssize_t __wrap_pwrite64(int fd, const void *data, size_t bytes, off_t at)
{
	if (until_write == 0 && bytes > 1) {
		until_write = -2;
		return __real_pwrite64(fd, data, bytes / 2, at);
	}
	if (until_write == -2) {
		until_write = -1;
		errno = ENOSPC;
		return -1;
	}
	if (until_write > 0)
		until_write--;
	return __real_pwrite64(fd, data, bytes, at);
}

ssize_t __wrap_pread64(int fd, void *data, size_t bytes, off_t at)
{
	if (fails(&until_read)) {
		errno = EIO;
		return -1;
	}
	return __real_pread64(fd, data, bytes, at);
}

/* Write all kinds of records for several threads. Each step may fail. Flushed records are counted
 * in
 * @good. */
static int write_all(const char *path, struct gt_counts *good, bool *created)
{
	struct gt_session_info session = {.hostname = "host", .command = "prog\0", .rank = -1};
	struct gt_process_info process = {.pid = 1, .exe = "/bin/x", .argv = "x\0"};
	struct gt_thread_info thread = {.ordinal = 1, .name = "t"};
	struct gt_clock_tuple tuple = {1000, 1000, 1000, 1000, 1000, 1};
	struct gt_capture_options options = {.compress = true};
	struct gt_counts counts = {0};
	struct gt_capture_writer *w;
	struct gt_stream *s[20] = {0};
	int status = gt_capture_writer_create(path, true, &options, &session, &w), i, k;

	*created = !status;
	if (status)
		return status;
	(void)gt_capture_write_process(w, &process);
	(void)gt_capture_write_thread(w, &thread);
	(void)gt_capture_write_clock(w, &tuple);
	for (i = 0; i < 20; i++) {
		if (gt_capture_stream_create(w, 0, (uint32_t)i + 1, &s[i]))
			continue;
		r.count = 0;
		records_string(&r, (uint32_t)i + 1, "name");
		for (k = 0; k < 100; k++)
			records_call(&r, 1 + k % 5, 4, 0, GT_ID(i + 1, k + 1), 1000 + k * 10,
				     1005 + k * 10, k * 77);
		records_device(&r, GT_ID(i + 1, 1), 1000, 1001);
		(void)gt_capture_write_records(s[i], r.words, r.count * 8, &counts);
		if (i % 4 == 3) {
			if (!gt_capture_flush(w))
				*good = counts;
			else
				counts = *good; /* discarded: counted as lost by the caller */
		}
	}
	for (i = 0; i < 20; i++)
		gt_capture_stream_destroy(s[i]);
	(void)gt_capture_write_counts(w, 0, good);
	status = gt_capture_writer_finish(w, true);
	gt_error_clear();
	return status;
}

static int read_all(const char *path, uint64_t *calls)
{
	const struct gt_item *item;
	struct gt_capture *c;
	struct gt_cursor *k;
	int status = gt_capture_open(path, &c);

	*calls = 0;
	if (!status) {
		status = gt_cursor_create(c, &k);
		while (!status && (status = gt_cursor_next(k, &item)) > 0) {
			*calls += item->kind == GT_RECORD_CALL;
			status = 0;
		}
		if (k)
			gt_cursor_destroy(k);
		gt_capture_close(c);
	}
	if (status && !gt_error_text()[0])
		unit_fail(__FILE__, __LINE__, "status %d without a cause", status);
	gt_error_clear();
	return status;
}

static uint64_t calls_of(const struct gt_counts *n)
{
	return n->recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL];
}

/* Check that flushed records can be read back, regardless of which step failed later. */
static void check_file(const char *path, const struct gt_counts *good, long n)
{
	uint64_t calls;

	until_allocation = until_write = until_read = -1;
	if (read_all(path, &calls) || calls < calls_of(good))
		unit_fail(__FILE__, __LINE__, "failure %ld: %llu of %llu calls are there", n,
			  (unsigned long long)calls, (unsigned long long)calls_of(good));
}

UNIT_TEST(the_writer_bears_every_failing_allocation)
{
	const char *path = file_name("a.gputap");
	bool created;
	long n;

	for (n = 0;; n++) {
		struct gt_counts good = {0};

		until_allocation = n;
		(void)write_all(path, &good, &created);
		if (until_allocation >= 0)
			break; /* fewer allocations than n: every allocation has failed once */
		until_allocation = -1;
		if (created)
			check_file(path, &good, n);
		gt_error_clear();
	}
	CHECK_GT(n, 20);
}

UNIT_TEST(the_writer_bears_every_failing_write)
{
	const char *path = file_name("a.gputap");
	bool created;
	long n;

	for (n = 0;; n++) {
		struct gt_counts good = {0};

		until_write = n;
		(void)write_all(path, &good, &created);
		if (until_write >= 0)
			break;
		if (created)
			check_file(path, &good, n);
		gt_error_clear();
	}
	CHECK_GT(n, 3);
}

UNIT_TEST(the_reader_bears_every_failing_allocation_and_read)
{
	const char *path = file_name("a.gputap");
	struct gt_counts good = {0};
	long n, allocations = 0, reads = 0;
	uint64_t calls;
	bool created;

	CHECK_OK(write_all(path, &good, &created));
	CHECK_EQ(calls_of(&good), 2000);
	for (n = 0;; n++, allocations++) {
		until_allocation = n;
		if (!read_all(path, &calls))
			/* the reader continued without that allocation */
			CHECK(until_allocation >= 0 || calls == 2000);
		if (until_allocation >= 0)
			break;
	}
	until_allocation = -1;
	for (n = 0;; n++, reads++) {
		until_read = n;
		if (!read_all(path, &calls))
			/* the reader ignores no failing read, except of the index, which heads then
			 * replace */
			CHECK(until_read >= 0 || calls == 2000);
		if (until_read >= 0)
			break;
	}
	CHECK_GT(allocations, 20);
	CHECK_GT(reads, 3);
}
