/* SPDX-License-Identifier: MIT */
/* Rows of one size, sorted. Memory is bounded: rows over a limit are sorted and packed
 * (spill_pack.h), and packed rows over a limit go into an unnamed temporary file. All are merged at
 * the end: equal rows come in the order in which they were added. Without room for such a file
 * packed rows stay in memory.
 *
 *   rows, as they were added | sorted: pieces of up to 256 packed rows, in memory, from the
 *                            | first on in the file; a run is pieces whose rows are in order */
#ifndef GPUTAP_CLI_SPILL_H
#define GPUTAP_CLI_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill_run;   /* sorted rows: packed, or the last ones in memory */
struct spill_piece; /* packed rows */
struct spill_head;  /* the next row of a run */

/* A file that several spills may share, so that an owner of thousands needs only one descriptor.
 * Zero-initialised: not opened yet. */
struct spill_file {
	uint64_t bytes;
	int fd;
	bool is_open, failed;
};

/* Zero-initialised, except for fields that the caller sets, is empty. */
struct spill {
	/* the caller sets these */
	struct spill_file *shared; /* must outlive spill_fini(); NULL: use `own` */
	size_t row_bytes;          /* a multiple of 8; all bytes are written */
	int (*compare)(const void *a, const void *b);
	size_t rows_most;   /* unpacked rows; 0: the default */
	size_t packed_most; /* bytes in memory; 0: the default */
	/* work */
	char *rows;
	size_t count, room;
	uint8_t *packed; /* pieces that are not in the file */
	size_t packed_bytes, packed_room;
	struct spill_piece *pieces;
	size_t piece_count, piece_room;
	char *last;     /* last row of the last run, if that may be extended; else NULL */
	uint8_t *piece; /* read from the file */
	struct spill_run *runs;
	struct spill_head *heads; /* of runs, after reading began: a heap */
	size_t run_count, run_room, head_count;
	struct spill_file own;
	bool reading;
};

void spill_add(struct spill *s, const void *row);
/* Write @count rows that are sorted already to the file at once. Return false if it is full or
 * failed, now and later; the rows are then still the caller's. Not together with spill_add(). */
bool spill_add_sorted(struct spill *s, const void *rows, size_t count);
/* Do the same for rows that stay in memory, which spill_fini() frees: the last ones. */
void spill_take_sorted(struct spill *s, void *rows, size_t count);
/* Return the next row, smallest first; no row may be added after the first call. Return 1 and *row,
 * valid until the next call; 0 at the end; negative errno with a cause. */
int spill_next(struct spill *s, const void **row);
void spill_fini(struct spill *s);
void spill_file_close(struct spill_file *f);

#endif
