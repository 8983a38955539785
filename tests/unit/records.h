/* SPDX-License-Identifier: MIT */
/* Ring records and small captures for tests of src/capture. */
#ifndef GPUTAP_UNIT_RECORDS_H
#define GPUTAP_UNIT_RECORDS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "unit.h"
#include "util/error.h"

struct records {
	uint64_t words[1 << 18];
	size_t count;
};

static inline uint64_t *records_add(struct records *r, size_t words, uint8_t kind, uint8_t depth,
				    uint32_t op)
{
	uint64_t *p = r->words + r->count;
	struct gt_record head = {(uint16_t)words, kind, depth, op};

	CHECK_LE(r->count + words, sizeof r->words / 8);
	memset(p, 0, words * 8);
	memcpy(p, &head, 8);
	r->count += words;
	return p;
}

/* Add a call with arguments first, first + 1, ... */
static inline uint64_t *records_call(struct records *r, unsigned number, unsigned nargs,
				     unsigned depth, uint64_t id, uint64_t start, uint64_t end,
				     uint64_t first)
{
	uint64_t *p = records_add(r, 5 + nargs, GT_RECORD_CALL, (uint8_t)depth,
				  GT_OP(GT_DOMAIN_OPENCL, number, nargs));
	unsigned i;

	p[1] = start;
	p[2] = end;
	p[3] = id;
	for (i = 0; i < nargs; i++)
		p[5 + i] = first + i;
	return p;
}

static inline struct gt_record_device *records_device(struct records *r, uint64_t id,
						      uint64_t call_start, uint64_t queued)
{
	struct gt_record_device *d = (void *)records_add(r, 16, GT_RECORD_DEVICE, GT_DEVICE_KERNEL,
							 GT_DEVICE_REF(GT_DOMAIN_OPENCL, 1));

	d->id = id;
	d->call_start = call_start;
	d->queue = 1;
	d->name = 1;
	d->queued = queued;
	d->submitted = queued + 10;
	d->start = queued + 100;
	d->end = queued + 1100;
	return d;
}

static inline void records_external(struct records *r, unsigned stack, bool push, uint64_t time,
				    uint64_t value)
{
	uint64_t *p = records_add(r, 3, GT_RECORD_EXTERNAL, push, stack);

	p[1] = time;
	p[2] = value;
}

/* Add a string, object, module or event with @fixed words between head and length. */
static inline void records_text(struct records *r, uint8_t kind, uint8_t depth, uint32_t op,
				const uint64_t *fixed, size_t count, const void *text, size_t bytes)
{
	uint64_t *p = records_add(r, 2 + count + (bytes + 7) / 8, kind, depth, op);

	if (count)
		memcpy(p + 1, fixed, count * 8);
	p[1 + count] = bytes;
	if (bytes)
		memcpy(p + 2 + count, text, bytes);
}

static inline void records_string(struct records *r, uint32_t id, const char *text)
{
	records_text(r, GT_RECORD_STRING, 0, id, NULL, 0, text, strlen(text));
}

static inline void records_object(struct records *r, enum gt_object_type type, uint64_t number,
				  uint64_t parent, const char *text, size_t bytes)
{
	uint64_t fixed[3] = {number, 0x1000 + number, parent};

	records_text(r, type == GT_OBJECT_MODULE ? GT_RECORD_MODULE : GT_RECORD_OBJECT,
		     GT_DOMAIN_OPENCL, type, fixed, 3, text, bytes);
}

/* Return a path in the test's folder. The last few paths are valid. */
static inline const char *file_name(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", unit_folder(), name);
	return path;
}

/* Create a writer with a session, process 0 and clocks: 1 tick is 1 ns, from 1 s on. */
static inline struct gt_capture_writer *capture_begin(const char *path, bool compress)
{
	struct gt_session_info session = {.hostname = "host",
					  .command = "prog\0arg\0",
					  .rank = -1,
					  .host_clock = GT_HOST_CLOCK_COUNTER,
					  .start_ns = 1000000000};
	struct gt_process_info process = {.pid = 42,
					  .ppid = 1,
					  .start_ticks = 1000000000,
					  .exe = "/bin/prog",
					  .argv = "prog\0arg\0"};
	struct gt_clock_tuple t = {1000000000, 1000000000, 1000000000, 1000000000, 1000000000, 10};
	struct gt_capture_options options = {.compress = compress};
	struct gt_capture_writer *w;

	CHECK_OK(gt_capture_writer_create(path, true, &options, &session, &w));
	CHECK_OK(gt_capture_write_process(w, &process));
	CHECK_OK(gt_capture_write_clock(w, &t));
	t = (struct gt_clock_tuple){9000000000, 9000000000, 9000000000, 9000000000, 9000000000, 10};
	CHECK_OK(gt_capture_write_clock(w, &t));
	return w;
}

static inline struct gt_stream *stream_begin(struct gt_capture_writer *w, uint32_t process,
					     uint32_t ordinal)
{
	struct gt_stream *s;

	CHECK_OK(gt_capture_stream_create(w, process, ordinal, &s));
	return s;
}

static inline void capture_finish(struct gt_capture_writer *w, struct gt_stream *s,
				  const struct gt_counts *counts)
{
	gt_capture_stream_destroy(s);
	CHECK_OK(gt_capture_write_counts(w, 0, counts));
	CHECK_OK(gt_capture_writer_finish(w, true));
}

static inline void write_records(struct gt_stream *s, const struct records *r,
				 struct gt_counts *counts)
{
	CHECK_OK(gt_capture_write_records(s, r->words, r->count * 8, counts));
}

static inline struct gt_capture *open_capture(const char *path)
{
	struct gt_capture *c;
	int status = gt_capture_open(path, &c);

	if (status)
		unit_fail(__FILE__, __LINE__, "%s: %s", path, gt_error_text());
	return c;
}

static inline struct gt_cursor *cursor_of(const struct gt_capture *c)
{
	struct gt_cursor *k;

	CHECK_OK(gt_cursor_create(c, &k));
	return k;
}

static inline const struct gt_item *next_item(struct gt_cursor *k)
{
	const struct gt_item *item;
	int status = gt_cursor_next(k, &item);

	if (status < 0)
		unit_fail(__FILE__, __LINE__, "cursor: %s", gt_error_text());
	return status ? item : NULL;
}

static inline uint64_t count_items(const struct gt_capture *c)
{
	struct gt_cursor *k = cursor_of(c);
	uint64_t n = 0;

	while (next_item(k))
		n++;
	gt_cursor_destroy(k);
	return n;
}

static inline uint8_t *file_read(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *data;

	CHECK_GE(fd, 0);
	CHECK_EQ(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size + 1);
	CHECK_NOT_NULL(data);
	CHECK_EQ(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*bytes = (size_t)st.st_size;
	return data;
}

static inline void file_write(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK_GE(fd, 0);
	CHECK_EQ(write(fd, data, bytes), (ssize_t)bytes);
	close(fd);
}

static inline uint64_t records_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
