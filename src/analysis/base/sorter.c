/* SPDX-License-Identifier: MIT */
/* See sorter.h. Runs are merged with a heap; each run has a buffer of rows.
 *
 * Texts with long common prefixes (arguments of the same call) make plain comparisons slow. Texts
 * in memory are therefore sorted by 8 bytes at a time, as numbers, and only texts with equal
 * numbers continue after their common prefix. Texts are in memory in any order, and fetching them
 * takes most of the time, so the sort uses few rounds, with prefetching. */
#include "analysis/base/sorter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/sorter_pack.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	ROWS_MOST = 4 << 20,
	PACKED_MOST = 64 << 20,
	PIECE_ROWS = 256,
	PIECE_TEXT_BYTES = 16 << 10, /* a piece of texts ends after this many bytes of rows */
	ROW_MOST = 256,
	SMALL = 24, /* insertion sort is faster for fewer texts */
	AHEAD = 12,
};
#define TEXT_BYTES(n) ((offsetof(struct sorter_text, text) + (n) + 7) & ~(size_t)7)

struct sorter_piece {
	uint32_t bytes, rows;
};

struct sorter_run {
	/* position of the next piece; positions beyond the file's end are in memory */
	uint64_t at;
	size_t piece, piece_left; /* next piece, and number of remaining pieces */
	char *buffer;
	size_t have; /* number of rows in the buffer that have not been returned */
};

struct sorter_head {
	const char *row; /* next row of the run */
	struct sorter_run *run;
};

/* A text during the sort. */
struct text_slot {
	uint64_t chunk; /* 8 bytes of the text, big-endian, zero-padded at its end */
	uint64_t at;    /* offset of the row */
};

static struct sorter_file *file_of(struct sorter *s)
{
	return s->shared ? s->shared : &s->own;
}

static inline size_t bytes_of(const struct sorter *s, const void *row)
{
	return s->row_bytes ? s->row_bytes : TEXT_BYTES(((const struct sorter_text *)row)->bytes);
}

/* Return the largest size of the rows of a piece. */
static size_t piece_bytes(const struct sorter *s)
{
	return s->row_bytes ? PIECE_ROWS * s->row_bytes
			    : PIECE_TEXT_BYTES + TEXT_BYTES(SORTER_TEXT_MOST);
}

/* Return the largest size of a packed piece. */
static size_t packed_piece_bytes(const struct sorter *s)
{
	return SORTER_PACK_BYTES(piece_bytes(s), PIECE_ROWS);
}

static int no_memory(struct sorter *s)
{
	return s->status = gt_error(-ENOMEM, "cannot sort records");
}

static void *allocate(struct sorter *s, size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		no_memory(s);
	return p;
}

/* File ------------------------------------------------------------------------- */

static const char *folder_of(const struct sorter_file *f)
{
	const char *folder = f->folder ? f->folder : getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

static int fail_file(struct sorter_file *f, int status, const char *action)
{
	return f->status =
		       gt_error(status, "cannot %s a temporary file in %s%s", action, folder_of(f),
				f->folder ? "" : " (TMPDIR can name another folder)");
}

static int open_file(struct sorter_file *f)
{
	char name[4096];

	if (f->is_open)
		return 0;
	f->fd = open(folder_of(f), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (f->fd < 0) { /* the file system may not support unnamed files */
		if (snprintf(name, sizeof name, "%s/.gputap-sort-XXXXXX", folder_of(f)) >=
		    (int)sizeof name)
			return fail_file(f, -ENAMETOOLONG, "create");
		f->fd = mkostemp(name, O_CLOEXEC);
		if (f->fd < 0)
			return fail_file(f, -errno, "create");
		unlink(name);
	}
	f->is_open = true;
	return 0;
}

void sorter_file_close(struct sorter_file *f)
{
	if (f->is_open)
		close(f->fd);
	*f = (struct sorter_file){0};
}

/* Write packed rows to the file. */
static int write_packed(struct sorter *s)
{
	struct sorter_file *f = file_of(s);
	int status = f->status ? f->status : open_file(f);

	for (size_t done = 0; done < s->packed_bytes && !status;) {
		ssize_t n = pwrite(f->fd, s->packed + done, s->packed_bytes - done,
				   (off_t)(f->bytes + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			status = fail_file(f, n < 0 ? -errno : -EIO, "write");
	}
	if (status)
		return s->status = status;
	f->bytes += s->packed_bytes;
	s->packed_bytes = 0;
	return 0;
}

/* Read a piece that is in the file. */
static int read_piece(struct sorter *s, uint64_t at, size_t bytes)
{
	struct sorter_file *f = file_of(s);

	if (!s->piece && !(s->piece = allocate(s, packed_piece_bytes(s))))
		return s->status;
	for (size_t done = 0; done < bytes;) {
		ssize_t n = pread(f->fd, s->piece + done, bytes - done, (off_t)(at + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return s->status = fail_file(f, n < 0 ? -errno : -EIO, "read");
	}
	return 0;
}

/* Sorting in memory ------------------------------------------------------------ */

/* Copy a row. Most rows are small, and 16 bytes, the size of a slot, are copied inline. */
static inline void copy_row(char *to, const char *from, size_t bytes)
{
	if (bytes == 2 * sizeof(uint64_t))
		memcpy(to, from, 2 * sizeof(uint64_t));
	else
		memcpy(to, from, bytes);
}

/* Find the ends of the stretches of rows that are in order. Return NULL if out of memory. */
static inline size_t *find_stretches(const char *rows, size_t count, size_t bytes,
				     int (*compare)(const void *, const void *), size_t *stretches)
{
	size_t *ends = NULL, room = 0;

	*stretches = 0;
	for (size_t i = 1; i <= count; i++) {
		size_t *more;

		if (i < count && compare(rows + (i - 1) * bytes, rows + i * bytes) <= 0)
			continue;
		more = gt_grow(ends, *stretches, &room, sizeof *ends);
		if (!more) {
			free(ends);
			return NULL;
		}
		ends = more;
		ends[(*stretches)++] = i;
	}
	return ends;
}

/* Sort rows of one size. Rows are mostly added in order, except that the rows of a few threads are
 * interleaved. Find the stretches that are in order, and merge pairs of them into *spare until one
 * is left; each round exchanges *rows and *spare. @room: size of *spare, which is allocated if it
 * is NULL and needed. Inline, because a call for each comparison takes most of the time. */
static inline __attribute__((always_inline)) int merge_stretches(
	char **rows, char **spare, size_t room, size_t count, size_t bytes,
	int (*compare)(const void *, const void *))
{
	size_t stretches, *ends = find_stretches(*rows, count, bytes, compare, &stretches);

	if (ends && stretches > 1 && !*spare)
		*spare = malloc(room);
	if (!ends || (stretches > 1 && !*spare)) {
		free(ends);
		return -ENOMEM;
	}
	while (stretches > 1) {
		size_t kept = 0, begin = 0;
		char *from = *rows, *p = *spare;

		for (size_t i = 0; i < stretches; i += 2) {
			const char *a = from + begin * bytes, *a_end = from + ends[i] * bytes,
				   *b = a_end, *b_end;

			begin = ends[i + 1 < stretches ? i + 1 : i];
			b_end = from + begin * bytes;
			while (a < a_end && b < b_end) {
				const char **least = compare(a, b) <= 0 ? &a : &b;

				copy_row(p, *least, bytes);
				*least += bytes;
				p += bytes;
			}
			memcpy(p, a, (size_t)(a_end - a));
			p += a_end - a;
			memcpy(p, b, (size_t)(b_end - b));
			p += b_end - b;
			ends[kept++] = begin;
		}
		stretches = kept;
		*rows = *spare;
		*spare = from;
	}
	free(ends);
	return 0;
}

static const struct sorter_text *text_at(const struct sorter *s, const struct text_slot *slot)
{
	return (const struct sorter_text *)(const void *)(s->rows + slot->at);
}

/* Return 8 bytes of the text from @depth on. May read up to 8 bytes past the text. */
static uint64_t chunk_of(const struct sorter_text *t, size_t depth)
{
	uint64_t word;

	if (depth >= t->bytes)
		return 0;
	memcpy(&word, t->text + depth, 8);
	word = __builtin_bswap64(word);
	return t->bytes - depth < 8 ? word & ~(UINT64_MAX >> (8 * (t->bytes - depth))) : word;
}

static int compare_slots(const void *a, const void *b)
{
	const struct text_slot *x = a, *y = b;

	return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static void sort_few_slots(struct text_slot *slots, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct text_slot moving = slots[i];
		size_t k = i;

		for (; k && moving.chunk < slots[k - 1].chunk; k--)
			slots[k] = slots[k - 1];
		slots[k] = moving;
	}
}

/* Sort by chunk. @spare: space for as many slots. */
static int sort_slots(struct text_slot *slots, struct text_slot *spare, size_t count)
{
	char *from = (char *)slots, *to = (char *)spare;
	int status;

	if (count <= SMALL) {
		sort_few_slots(slots, count);
		return 0;
	}
	status = merge_stretches(&from, &to, 0, count, sizeof *slots, compare_slots);
	if (from != (char *)slots)
		memcpy(slots, spare, count * sizeof *slots);
	return status;
}

static void fetch_ahead(const struct sorter *s, const struct text_slot *slots, size_t i,
			size_t count, size_t depth)
{
	const struct sorter_text *t;

	if (i + AHEAD >= count)
		return;
	t = text_at(s, &slots[i + AHEAD]);
	__builtin_prefetch(t);
	__builtin_prefetch(t->text + depth);
}

/* Return the length of the prefix of two texts that are equal up to @depth, but at most @most. On a
 * little-endian machine the lowest byte comes first. */
static size_t common_prefix(const char *a, const char *b, size_t depth, size_t most)
{
	for (size_t k = depth; k < most; k += 8) {
		const uint64_t differs = sorter_load_word(a + k) ^ sorter_load_word(b + k);

		if (differs) {
			k += (size_t)__builtin_ctzll(differs) / 8;
			return k < most ? k : most;
		}
	}
	return most;
}

/* Sort slots by the text from @depth on. The recursion depth is at most SORTER_TEXT_MOST / 8. */
static int sort_from(struct sorter *s, struct text_slot *slots, struct text_slot *spare,
		     size_t count, size_t depth)
{
	const struct sorter_text *first = text_at(s, &slots[0]);
	size_t common = first->bytes, end;
	int status;

	for (size_t i = 1; i < count && common > depth; i++) {
		const struct sorter_text *t = text_at(s, &slots[i]);

		fetch_ahead(s, slots, i, count, depth);
		common = common_prefix(first->text, t->text, depth,
				       t->bytes < common ? t->bytes : common);
	}
	if (common > depth)
		depth = common;
	for (size_t i = 0; i < count; i++) {
		fetch_ahead(s, slots, i, count, depth);
		slots[i].chunk = chunk_of(text_at(s, &slots[i]), depth);
	}
	status = sort_slots(slots, spare, count);
	for (size_t i = 0; i < count && !status; i = end) {
		bool further = false;

		for (end = i + 1; end < count && slots[end].chunk == slots[i].chunk; end++)
			;
		for (size_t k = i; k < end && end - i > 1 && !further; k++)
			further = text_at(s, &slots[k])->bytes > depth + 8;
		if (further)
			status = sort_from(s, slots + i, spare, end - i, depth + 8);
	}
	return status;
}

/* Sort the texts in memory: sort their slots, then copy the rows in that order. */
static int sort_texts(struct sorter *s)
{
	struct text_slot *slots = malloc(2 * s->count * sizeof *slots);
	char *sorted = malloc(s->room), *to = sorted;
	size_t at = 0;
	int status = slots && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->count && !status; i++) {
		slots[i].at = at;
		at += bytes_of(s, s->rows + at);
	}
	if (!status)
		status = sort_from(s, slots, slots + s->count, s->count, 0);
	if (status) {
		free(slots);
		free(sorted);
		return status;
	}
	for (size_t i = 0; i < s->count; i++) {
		const size_t bytes = bytes_of(s, s->rows + slots[i].at);

		fetch_ahead(s, slots, i, s->count, 0);
		memcpy(to, s->rows + slots[i].at, bytes);
		to += bytes;
	}
	free(slots);
	free(s->rows);
	s->rows = sorted;
	return 0;
}

static int sort_rows(struct sorter *s)
{
	char *spare = NULL;
	int status = s->row_bytes ? merge_stretches(&s->rows, &spare, s->room, s->count,
						    s->row_bytes, s->compare)
				  : sort_texts(s);

	free(spare);
	return status ? no_memory(s) : 0;
}

/* Runs ------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
	const struct sorter_text *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->bytes < y->bytes ? x->bytes : y->bytes);

	return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int add_run(struct sorter *s, struct sorter_run run)
{
	struct sorter_run *more = gt_grow(s->runs, s->run_count, &s->run_room, sizeof *more);

	if (!more)
		return no_memory(s);
	s->runs = more;
	s->runs[s->run_count++] = run;
	return 0;
}

/* Make room for one more packed piece and its entry. */
static int make_piece_room(struct sorter *s)
{
	void *more = gt_grow(s->pieces, s->piece_count, &s->piece_room, sizeof *s->pieces);

	if (more)
		s->pieces = more;
	else
		return no_memory(s);
	more = gt_grow_to(s->packed, s->packed_bytes + packed_piece_bytes(s), &s->packed_room, 1);
	if (more)
		s->packed = more;
	return more ? 0 : no_memory(s);
}

static const char zero_row[ROW_MOST]; /* the row before the first one of a piece */

static uint8_t *pack_row(const struct sorter *s, uint8_t *to, char *row, const char *last)
{
	return s->row_bytes ? sorter_pack_words(to, row, last, s->row_bytes / 8)
			    : sorter_pack_text(to, (void *)row, (const void *)last);
}

/* Pack @count rows into pieces, and append the pieces. Return the last row; NULL on failure. */
static char *pack_rows(struct sorter *s, char *rows, size_t count)
{
	char *row = rows, *last_row = NULL;

	while (count) {
		const char *last = zero_row, *begin = row;
		uint8_t *from, *to;
		uint32_t n = 0;

		if (make_piece_room(s))
			return NULL;
		from = to = s->packed + s->packed_bytes;
		for (; n < count && n < PIECE_ROWS; n++) {
			if (!s->row_bytes && row - begin > PIECE_TEXT_BYTES)
				break;
			to = pack_row(s, to, row, last);
			last = last_row = row;
			row += bytes_of(s, row);
		}
		s->pieces[s->piece_count++] = (struct sorter_piece){(uint32_t)(to - from), n};
		s->packed_bytes += (size_t)(to - from);
		count -= n;
		if (s->packed_bytes > (s->packed_most ? s->packed_most : PACKED_MOST) &&
		    write_packed(s))
			return NULL;
	}
	return last_row;
}

int sorter_add_sorted(struct sorter *s, void *rows, size_t count)
{
	struct sorter_run run = {.at = file_of(s)->bytes, .piece = s->piece_count};

	if (s->status || (count && !pack_rows(s, rows, count)) || write_packed(s))
		return s->status;
	run.piece_left = s->piece_count - run.piece;
	free(s->packed); /* the buffer is not kept, because thousands of sorters may share a file */
	s->packed = NULL;
	s->packed_bytes = s->packed_room = 0;
	return add_run(s, run);
}

int sorter_take_sorted(struct sorter *s, void *rows, size_t count)
{
	if (add_run(s, (struct sorter_run){.buffer = rows, .have = count}))
		free(rows);
	return s->status;
}

/* Pack all rows as a run, or append them to the last run. */
static int write_run(struct sorter *s)
{
	struct sorter_run run = {.at = file_of(s)->bytes + s->packed_bytes,
				 .piece = s->piece_count};
	const char *last;
	bool extends;

	if (sort_rows(s))
		return s->status;
	extends = s->last && s->compare(s->last, s->rows) <= 0;
	if ((!extends && add_run(s, run)) || !(last = pack_rows(s, s->rows, s->count)))
		return s->status;
	s->runs[s->run_count - 1].piece_left += s->piece_count - run.piece;
	if (!s->last &&
	    !(s->last = allocate(s, s->row_bytes ? s->row_bytes : TEXT_BYTES(SORTER_TEXT_MOST))))
		return s->status;
	memcpy(s->last, last, bytes_of(s, last));
	s->count = s->used = 0;
	return 0;
}

/* Make room for a row. @extra: bytes after it, which may be read. */
static char *begin_row(struct sorter *s, size_t bytes, size_t extra)
{
	char *more;

	if (s->status)
		return NULL;
	more = gt_grow_to(s->rows, s->used + bytes + extra, &s->room, 1);
	if (!more) {
		no_memory(s);
		return NULL;
	}
	s->rows = more;
	more += s->used;
	s->used += bytes;
	s->count++;
	return more;
}

static int end_row(struct sorter *s, size_t extra)
{
	return s->used + extra < (s->rows_most ? s->rows_most : ROWS_MOST) ? 0 : write_run(s);
}

int sorter_add(struct sorter *s, const void *row)
{
	char *to = begin_row(s, s->row_bytes, 0);

	if (!to)
		return s->status;
	copy_row(to, row, s->row_bytes);
	return end_row(s, 0);
}

int sorter_add_text(struct sorter *s, const char *text, size_t bytes, uint64_t number)
{
	struct sorter_text *to;

	assert(bytes <= SORTER_TEXT_MOST);
	to = (void *)begin_row(s, TEXT_BYTES(bytes), sizeof(uint64_t));
	if (!to)
		return s->status;
	s->compare = compare_texts;
	*to = (struct sorter_text){.number = number, .bytes = (uint32_t)bytes};
	memcpy(to->text, text, bytes);
	return end_row(s, 2 * s->count * sizeof(struct text_slot)); /* the sort needs slots */
}

/* Merging ---------------------------------------------------------------------- */

/* Refill the buffer of a run. Return 1; 0 at the end of the run; negative errno. */
static int fill_run(struct sorter *s, struct sorter_run *r)
{
	const char *last = zero_row;
	const struct sorter_piece *piece;
	const uint8_t *from;
	char *row;

	if (!r->piece_left)
		return r->have ? 1 : 0; /* rows in memory: all of them are there */
	piece = &s->pieces[r->piece];
	if (r->at >= file_of(s)->bytes)
		from = s->packed + (r->at - file_of(s)->bytes);
	else if (read_piece(s, r->at, piece->bytes))
		return s->status;
	else
		from = s->piece;
	if (!r->buffer && !(r->buffer = allocate(s, piece_bytes(s))))
		return s->status;
	row = r->buffer;
	for (size_t i = 0; i < piece->rows; i++) {
		from = s->row_bytes ? sorter_unpack_words(from, row, last, s->row_bytes / 8)
				    : sorter_unpack_text(from, (void *)row, (const void *)last);
		last = row;
		row += bytes_of(s, row);
	}
	r->at += piece->bytes;
	r->piece++;
	r->piece_left--;
	r->have = piece->rows;
	return 1;
}

static bool is_before(const struct sorter *s, const struct sorter_head *a,
		      const struct sorter_head *b)
{
	int order = s->compare(a->row, b->row);

	return order ? order < 0 : a->run < b->run;
}

/* Restore the order of the heap, in which every run comes after its parent. */
static void sift_down(struct sorter *s, size_t i)
{
	struct sorter_head *heads = s->heads, moved = heads[i];

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
static int begin_reading(struct sorter *s)
{
	s->reading = true;
	if (s->status)
		return s->status;
	if (s->count) {
		char *rows;

		if (sort_rows(s))
			return s->status;
		rows = s->rows;
		s->rows = NULL;
		if (sorter_take_sorted(s, rows, s->count))
			return s->status;
	}
	s->heads = allocate(s, (s->run_count + 1) * sizeof *s->heads);
	if (!s->heads)
		return s->status;
	for (size_t i = 0; i < s->run_count; i++) {
		int rc = fill_run(s, &s->runs[i]);

		if (rc < 0)
			return rc;
		if (rc)
			s->heads[s->head_count++] =
				(struct sorter_head){s->runs[i].buffer, &s->runs[i]};
	}
	for (size_t i = s->head_count / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

/* Advance past the row that was returned last, which had to stay valid until now. */
static int pass_row(struct sorter *s)
{
	struct sorter_head *first = &s->heads[0];
	struct sorter_run *r = first->run;

	first->row += bytes_of(s, first->row);
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

int sorter_next(struct sorter *s, const void **row)
{
	int rc = s->status;

	if (!s->reading)
		rc = begin_reading(s);
	else if (!rc && s->head_count)
		rc = pass_row(s);
	if (rc < 0 || !s->head_count)
		return rc;
	*row = s->heads[0].row;
	return 1;
}

void sorter_fini(struct sorter *s)
{
	for (size_t i = 0; i < s->run_count; i++)
		free(s->runs[i].buffer);
	sorter_file_close(&s->own);
	free(s->runs);
	free(s->heads);
	free(s->rows);
	free(s->packed);
	free(s->pieces);
	free(s->last);
	free(s->piece);
	*s = (struct sorter){0};
}
