/* SPDX-License-Identifier: MIT */
/* External sort of rows, which have one size, or are texts with a number. Memory is bounded: when
 * rows exceed a limit, they are sorted and packed (sorter_pack.h). When packed rows exceed a limit,
 * they are written to an unnamed temporary file. All rows are merged at the end. Equal rows keep
 * the order in which they were added.
 *
 *   rows, as they were added | sorted: pieces of up to 256 packed rows, in memory, from the
 *                            | first on in the file; a run is pieces whose rows are in order
 *
 * The first failure, of the file or of memory, is kept: nothing is added after it, and
 * sorter_next() returns it. Not thread-safe. */
#ifndef GPUTAP_ANALYSIS_BASE_SORTER_H
#define GPUTAP_ANALYSIS_BASE_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SORTER_TEXT_MOST = 4096 };

struct sorter_run;   /* sorted rows, packed, or the last rows in memory */
struct sorter_piece; /* a block of packed rows */
struct sorter_head;  /* next row of a run */

/* Row of a sorter of texts. */
struct sorter_text {
	uint64_t number;
	uint32_t bytes;
	uint32_t common; /* internal: length of the prefix that the previous packed text shares */
	char text[];     /* not terminated */
};

/* A file that several sorters may share, so that an owner of thousands of sorters needs only one
 * descriptor. Not yet opened if zero-initialised. */
struct sorter_file {
	const char *folder; /* set by the caller; NULL: $TMPDIR or /tmp */
	uint64_t bytes;
	int fd, status;
	bool is_open;
};

/* Empty if zero-initialised, except for fields that the caller sets. */
struct sorter {
	/* The caller sets these fields */
	struct sorter_file *shared; /* must outlive sorter_fini(); NULL: use `own` */
	struct sorter_file own;
	/* size of a row, a multiple of 8 up to 256; all bytes are written. 0: rows are texts */
	size_t row_bytes;
	int (*compare)(const void *a, const void *b); /* not for texts: memcmp(), then length */
	size_t rows_most;   /* largest size of unpacked rows in memory; 0: default */
	size_t packed_most; /* largest size of packed rows in memory; 0: default */
	/* Internal state */
	char *rows;
	size_t count, used, room; /* used, room: bytes */
	uint8_t *packed;          /* pieces in memory */
	size_t packed_bytes, packed_room;
	struct sorter_piece *pieces;
	size_t piece_count, piece_room;
	char *last;     /* last row of the last run if that run may be extended; otherwise NULL */
	uint8_t *piece; /* buffer for a piece that is read from the file */
	struct sorter_run *runs;
	struct sorter_head *heads; /* heap of the runs' next rows, after reading has begun */
	size_t run_count, run_room, head_count;
	int status; /* the first failure */
	bool reading;
};

/* Add a row. Return 0 or negative errno with a cause. */
int sorter_add(struct sorter *s, const void *row);
/* Add a text of at most SORTER_TEXT_MOST bytes, none of them NUL. Return 0 or negative errno with a
 * cause. */
int sorter_add_text(struct sorter *s, const char *text, size_t bytes, uint64_t number);
/* Write @count sorted rows to the file immediately. Do not combine with sorter_add(). Return 0 or
 * negative errno with a cause. */
int sorter_add_sorted(struct sorter *s, void *rows, size_t count);
/* Like sorter_add_sorted(), but keep the rows in memory. sorter_fini() frees them. Only for the
 * last rows. */
int sorter_take_sorted(struct sorter *s, void *rows, size_t count);
/* Get the next row, smallest first. The caller must not add rows after the first call. Return 1
 * and *row, valid until the next call; 0 at the end; negative errno with a cause. */
int sorter_next(struct sorter *s, const void **row);
void sorter_fini(struct sorter *s);
void sorter_file_close(struct sorter_file *f);

#endif
