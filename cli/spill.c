/* SPDX-License-Identifier: MIT */
/* See spill.h. Runs are merged by a heap, a buffer of rows for each. */
#include "cli/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lookup.h"
#include "util/error.h"

enum { BYTES_MOST = 32 << 20, RUN_ROWS = 256 };

struct spill_run {
	uint64_t at, left; /* bytes in the file: where the next are, how many */
	char *buffer;
	size_t have, next; /* rows in it */
};

static struct spill_file *file_of(struct spill *s)
{
	return s->shared ? s->shared : &s->own;
}

static bool open_file(struct spill_file *f)
{
	const char *folder = getenv("TMPDIR");

	if (f->is_open)
		return true;
	f->fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	f->is_open = f->fd >= 0;
	return f->is_open;
}

void spill_file_close(struct spill_file *f)
{
	if (f->is_open)
		close(f->fd);
	*f = (struct spill_file){0};
}

static void add_run(struct spill *s, struct spill_run run)
{
	if (s->run_count == s->run_room) {
		size_t room = s->run_room ? 2 * s->run_room : 16;

		s->runs = lookup_grow(s->runs, s->run_room, room, sizeof *s->runs);
		s->run_room = room;
	}
	s->runs[s->run_count++] = run;
}

/* Rows mostly come in order, but for those of a few threads that were written in turns: what is in
 * order already is found, and merged. */
static void sort_rows(struct spill *s)
{
	size_t bytes = s->row_bytes, count = 0, room = 0;
	size_t *ends = NULL; /* of rows that are in order, among each other; in rows */
	char *from = s->rows, *to = NULL;

	for (size_t i = 1; i <= s->count; i++) {
		if (i < s->count && s->compare(from + (i - 1) * bytes, from + i * bytes) <= 0)
			continue;
		if (count == room) {
			room = room ? 2 * room : 64;
			ends = lookup_grow(ends, room, room, sizeof *ends);
		}
		ends[count++] = i;
	}
	if (count > 1)
		to = lookup_grow(NULL, s->room, s->room, bytes);
	while (count > 1) {
		size_t kept = 0, begin = 0;
		char *swap = from;

		for (size_t i = 0; i < count; i += 2) {
			size_t a = begin, a_end = ends[i], b = a_end,
			       b_end = i + 1 < count ? ends[i + 1] : a_end;
			char *p = to + begin * bytes;

			while (a < a_end && b < b_end) {
				size_t *least = s->compare(from + a * bytes, from + b * bytes) <= 0
							? &a
							: &b;
				memcpy(p, from + (*least)++ * bytes, bytes);
				p += bytes;
			}
			memcpy(p, from + a * bytes, (a_end - a) * bytes);
			p += (a_end - a) * bytes;
			memcpy(p, from + b * bytes, (b_end - b) * bytes);
			ends[kept++] = begin = b_end;
		}
		count = kept;
		from = to;
		to = swap;
	}
	s->rows = from;
	free(to);
	free(ends);
}

bool spill_add_sorted(struct spill *s, const void *rows, size_t count)
{
	struct spill_file *f = file_of(s);
	size_t bytes = count * s->row_bytes, done = 0;

	if (f->failed || !open_file(f)) {
		f->failed = true;
		return false;
	}
	while (done < bytes) {
		ssize_t n = pwrite(f->fd, (const char *)rows + done, bytes - done,
				   (off_t)(f->bytes + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			f->failed = true;
			return false;
		}
		done += (size_t)n;
	}
	add_run(s, (struct spill_run){.at = f->bytes, .left = bytes});
	f->bytes += bytes;
	return true;
}

void spill_take_sorted(struct spill *s, void *rows, size_t count)
{
	add_run(s, (struct spill_run){.buffer = rows, .have = count});
}

/* All rows become a run, or stay where they are. */
static void write_run(struct spill *s)
{
	if (file_of(s)->failed)
		return;
	sort_rows(s);
	if (spill_add_sorted(s, s->rows, s->count))
		s->count = 0;
}

void spill_add(struct spill *s, const void *row)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 256;

		/* not zeroed: each row is written whole */
		s->rows = lookup_grow(s->rows, room, room, s->row_bytes);
		s->room = room;
	}
	memcpy(s->rows + s->count++ * s->row_bytes, row, s->row_bytes);
	if (s->count >= (s->rows_most ? s->rows_most : BYTES_MOST / s->row_bytes))
		write_run(s);
}

/* The run's buffer filled again. Return: 1, 0 at its end, negative errno. */
static int fill_run(struct spill *s, struct spill_run *r)
{
	size_t bytes = RUN_ROWS * s->row_bytes, done = 0;

	if (!r->left)
		return 0;
	if (!r->buffer)
		r->buffer = lookup_grow(NULL, 0, RUN_ROWS, s->row_bytes);
	bytes = r->left < bytes ? (size_t)r->left : bytes;
	while (done < bytes) {
		ssize_t n = pread(file_of(s)->fd, r->buffer + done, bytes - done,
				  (off_t)(r->at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gt_error(n < 0 ? -errno : -EIO, "reading a temporary file");
		done += (size_t)n;
	}
	r->at += bytes;
	r->left -= bytes;
	r->have = bytes / s->row_bytes;
	r->next = 0;
	return 1;
}

static const void *first_row(const struct spill *s, const struct spill_run *r)
{
	return r->buffer + r->next * s->row_bytes;
}

/* The heap: no run is before its parent. */
static void sift_down(struct spill *s, size_t i)
{
	for (;;) {
		size_t least = i;
		struct spill_run swap;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < s->run_count; k++)
			if (s->compare(first_row(s, &s->runs[k]), first_row(s, &s->runs[least])) <
			    0)
				least = k;
		if (least == i)
			return;
		swap = s->runs[i];
		s->runs[i] = s->runs[least];
		s->runs[least] = swap;
		i = least;
	}
}

/* What is in memory is one more run. */
static int begin_reading(struct spill *s)
{
	s->reading = true;
	for (size_t i = 0; i < s->run_count; i++) {
		int rc = fill_run(s, &s->runs[i]);

		if (rc < 0)
			return rc;
	}
	if (s->count) {
		sort_rows(s);
		spill_take_sorted(s, s->rows, s->count);
		s->rows = NULL;
	}
	for (size_t i = s->run_count / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

/* The row handed out last is passed only now: it was valid until here. */
static int pass_row(struct spill *s)
{
	struct spill_run *r = &s->runs[0];

	if (++r->next == r->have) {
		int rc = fill_run(s, r);

		if (rc < 0)
			return rc;
		if (rc == 0) {
			free(r->buffer);
			*r = s->runs[--s->run_count];
			s->runs[s->run_count].buffer = NULL;
		}
	}
	sift_down(s, 0);
	return 0;
}

int spill_next(struct spill *s, const void **row)
{
	int rc = 0;

	if (!s->reading)
		rc = begin_reading(s);
	else if (s->run_count)
		rc = pass_row(s);
	if (rc < 0 || !s->run_count)
		return rc;
	*row = first_row(s, &s->runs[0]);
	return 1;
}

void spill_fini(struct spill *s)
{
	for (size_t i = 0; i < s->run_count; i++)
		free(s->runs[i].buffer);
	spill_file_close(&s->own);
	free(s->runs);
	free(s->rows);
	*s = (struct spill){0};
}
