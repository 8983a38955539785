/* SPDX-License-Identifier: MIT */
/* See spill.h. Runs are merged with a heap; each run has a buffer of rows. */
#include "analysis/base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/lookup.h"
#include "analysis/base/spill_pack.h"
#include "util/error.h"

enum { BYTES_MOST = 4 << 20, PACKED_MOST = 64 << 20, PIECE_ROWS = 256, ROW_MOST = 256 };

struct spill_piece {
	uint32_t bytes, rows;
};

struct spill_run {
	/* position of the next piece; positions beyond the file's end are in memory */
	uint64_t at;
	size_t piece, piece_left; /* next piece, and number of remaining pieces */
	char *buffer;
	size_t have; /* number of rows in the buffer that have not been returned */
};

struct spill_head {
	const char *row; /* next row of the run */
	struct spill_run *run;
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

/* Sort rows. Rows are mostly added in order, except that the rows of a few threads are interleaved.
 * Find the stretches that are in order, and merge them. */
static void sort_rows(struct spill *s)
{
	size_t bytes = s->row_bytes, count = 0, room = 0;
	size_t *ends = NULL; /* ends of ordered stretches, in rows */
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

/* Pack @count rows into pieces, and append the pieces. */
static void pack_rows(struct spill *s, const char *rows, size_t count)
{
	const size_t words = s->row_bytes / 8, row_bytes = s->row_bytes;
	const size_t most = s->packed_bytes + spill_pack_bytes(words, count) + SPILL_PACK_SLACK;
	static const char none[ROW_MOST];

	if (most > s->packed_room) {
		size_t room = most > 2 * s->packed_room ? most : 2 * s->packed_room;

		s->packed = lookup_grow(s->packed, room, room, 1);
		s->packed_room = room;
	}
	for (size_t done = 0; done < count;) {
		size_t n = count - done < PIECE_ROWS ? count - done : PIECE_ROWS;
		uint8_t *begin = s->packed + s->packed_bytes, *to = begin;
		const char *last = none;

		for (size_t i = 0; i < n; i++) {
			const char *row = rows + (done + i) * row_bytes;

			to = spill_pack_row(to, row, last, words);
			last = row;
		}
		if (s->piece_count == s->piece_room) {
			size_t room = s->piece_room ? 2 * s->piece_room : 256;

			s->pieces = lookup_grow(s->pieces, room, room, sizeof *s->pieces);
			s->piece_room = room;
		}
		s->pieces[s->piece_count++] =
			(struct spill_piece){(uint32_t)(to - begin), (uint32_t)n};
		s->packed_bytes += (size_t)(to - begin);
		done += n;
	}
}

/* Write packed rows to the file. Return false if the file is full or failed. */
static bool write_packed(struct spill *s)
{
	struct spill_file *f = file_of(s);
	size_t done = 0;

	if (f->failed || !open_file(f)) {
		f->failed = true;
		return false;
	}
	while (done < s->packed_bytes) {
		ssize_t n = pwrite(f->fd, s->packed + done, s->packed_bytes - done,
				   (off_t)(f->bytes + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			f->failed = true;
			return false;
		}
		done += (size_t)n;
	}
	f->bytes += s->packed_bytes;
	s->packed_bytes = 0;
	return true;
}

bool spill_add_sorted(struct spill *s, const void *rows, size_t count)
{
	const size_t pieces = s->piece_count;
	const uint64_t at = file_of(s)->bytes;
	bool written;

	if (file_of(s)->failed)
		return false;
	pack_rows(s, rows, count);
	written = write_packed(s);
	if (written)
		add_run(s, (struct spill_run){.at = at,
					      .piece = pieces,
					      .piece_left = s->piece_count - pieces});
	else
		s->piece_count = pieces;
	free(s->packed); /* the buffer is not kept, because thousands of spills may share a file */
	s->packed = NULL;
	s->packed_bytes = s->packed_room = 0;
	return written;
}

void spill_take_sorted(struct spill *s, void *rows, size_t count)
{
	add_run(s, (struct spill_run){.buffer = rows, .have = count});
}

/* Write all rows as a run, or append them to the last run. */
static void write_run(struct spill *s)
{
	const size_t pieces = s->piece_count;
	const uint64_t at = s->own.bytes + s->packed_bytes;

	sort_rows(s);
	pack_rows(s, s->rows, s->count);
	if (!s->last || s->compare(s->last, s->rows) > 0)
		add_run(s, (struct spill_run){.at = at, .piece = pieces});
	s->runs[s->run_count - 1].piece_left += s->piece_count - pieces;
	if (!s->last)
		s->last = lookup_grow(NULL, 0, 1, s->row_bytes);
	memcpy(s->last, s->rows + (s->count - 1) * s->row_bytes, s->row_bytes);
	s->count = 0;
	if (s->packed_bytes > (s->packed_most ? s->packed_most : PACKED_MOST))
		write_packed(s);
}

void spill_add(struct spill *s, const void *row)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 256;

		/* not zeroed, because each row is written completely */
		s->rows = lookup_grow(s->rows, room, room, s->row_bytes);
		s->room = room;
	}
	memcpy(s->rows + s->count++ * s->row_bytes, row, s->row_bytes);
	if (s->count >= (s->rows_most ? s->rows_most : BYTES_MOST / s->row_bytes))
		write_run(s);
}

/* Read a piece that is in the file. Return 0 or negative errno with a cause. */
static int read_piece(struct spill *s, uint64_t at, size_t bytes)
{
	size_t done = 0;

	if (!s->piece) {
		size_t most = spill_pack_bytes(s->row_bytes / 8, PIECE_ROWS) + SPILL_PACK_SLACK;

		s->piece = lookup_grow(NULL, 0, most, 1);
	}
	while (done < bytes) {
		ssize_t n =
			pread(file_of(s)->fd, s->piece + done, bytes - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gt_error(n < 0 ? -errno : -EIO, "cannot read a temporary file");
		done += (size_t)n;
	}
	return 0;
}

/* Refill the buffer of a run. Return 1; 0 at the end of the run; negative errno. */
static int fill_run(struct spill *s, struct spill_run *r)
{
	static const char none[ROW_MOST];
	const struct spill_piece *piece;
	const uint8_t *from;
	const char *last = none;
	int rc;

	if (!r->piece_left)
		return 0;
	piece = &s->pieces[r->piece];
	if (r->at < file_of(s)->bytes) {
		rc = read_piece(s, r->at, piece->bytes);
		if (rc)
			return rc;
		from = s->piece;
	} else {
		from = s->packed + (r->at - file_of(s)->bytes);
	}
	if (!r->buffer)
		r->buffer = lookup_grow(NULL, 0, PIECE_ROWS, s->row_bytes);
	for (size_t i = 0; i < piece->rows; i++) {
		char *row = r->buffer + i * s->row_bytes;

		from = spill_unpack_row(from, row, last, s->row_bytes / 8);
		last = row;
	}
	r->at += piece->bytes;
	r->piece++;
	r->piece_left--;
	r->have = piece->rows;
	return 1;
}

static bool is_before(const struct spill *s, const struct spill_head *a, const struct spill_head *b)
{
	int order = s->compare(a->row, b->row);

	return order ? order < 0 : a->run < b->run;
}

/* Restore the order of the heap, in which every run comes after its parent. */
static void sift_down(struct spill *s, size_t i)
{
	struct spill_head *heads = s->heads, moved = heads[i];

	for (;;) {
		size_t k = 2 * i + 1;

		if (k + 1 < s->head_count && is_before(s, &heads[k + 1], &heads[k]))
			k++;
		if (k >= s->head_count || !is_before(s, &heads[k], &moved))
			break;
		heads[i] = heads[k];
		i = k;
	}
	heads[i] = moved;
}

/* Begin reading. The rows in memory become an additional run. */
static int begin_reading(struct spill *s)
{
	s->reading = true;
	if (s->count) {
		sort_rows(s);
		spill_take_sorted(s, s->rows, s->count);
		s->rows = NULL;
	}
	s->heads = lookup_grow(NULL, 0, s->run_count, sizeof *s->heads);
	for (size_t i = 0; i < s->run_count; i++) {
		int rc = fill_run(s, &s->runs[i]);

		if (rc < 0)
			return rc;
		s->heads[s->head_count++] = (struct spill_head){s->runs[i].buffer, &s->runs[i]};
	}
	for (size_t i = s->head_count / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

/* Advance past the row that was returned last, which had to stay valid until now. */
static int pass_row(struct spill *s)
{
	struct spill_head *first = &s->heads[0];
	struct spill_run *r = first->run;

	first->row += s->row_bytes;
	if (!--r->have) {
		int rc = fill_run(s, r);

		if (rc < 0)
			return rc;
		first->row = r->buffer;
		if (rc == 0) {
			free(r->buffer);
			r->buffer = NULL;
			if (!--s->head_count)
				return 0;
			*first = s->heads[s->head_count];
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
	else if (s->head_count)
		rc = pass_row(s);
	if (rc < 0 || !s->head_count)
		return rc;
	*row = s->heads[0].row;
	return 1;
}

void spill_fini(struct spill *s)
{
	for (size_t i = 0; i < s->run_count; i++)
		free(s->runs[i].buffer);
	spill_file_close(&s->own);
	free(s->runs);
	free(s->heads);
	free(s->rows);
	free(s->packed);
	free(s->pieces);
	free(s->last);
	free(s->piece);
	*s = (struct spill){0};
}
