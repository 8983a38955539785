/* SPDX-License-Identifier: MIT */
/* Sorts rows of one size. Memory is bounded: when rows exceed a limit, they are sorted and packed
 * (spill_pack.h). When packed rows exceed a limit, they are written to an unnamed temporary file,
 * or stay in memory if there is no space for the file. All rows are merged at the end. Equal rows
 * keep the order in which they were added.
 *
 *   rows, as they were added | sorted: pieces of up to 256 packed rows, in memory, from the
 *                            | first on in the file; a run is pieces whose rows are in order */
#ifndef GPUTAP_ANALYSIS_BASE_SPILL_H
#define GPUTAP_ANALYSIS_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill_run;   /* sorted rows, packed, or the last rows in memory */
struct spill_piece; /* a block of packed rows */
struct spill_head;  /* next row of a run */

/* A file that several spills may share, so that an owner of thousands of spills needs only one
 * descriptor. Not yet opened if zero-initialised. */
struct spill_file {
	uint64_t bytes;
	int fd;
	bool is_open, failed;
};

/* Empty if zero-initialised, except for fields that the caller sets. */
struct spill {
	/* The caller sets these fields */
	struct spill_file *shared; /* must outlive spill_fini(); NULL: use `own` */
	size_t row_bytes;          /* size of a row, a multiple of 8; all bytes are written */
	int (*compare)(const void *a, const void *b);
	size_t rows_most;   /* largest number of unpacked rows; 0: default */
	size_t packed_most; /* largest size of packed rows in memory; 0: default */
	/* Internal state */
	char *rows;
	size_t count, room;
	uint8_t *packed; /* pieces in memory */
	size_t packed_bytes, packed_room;
	struct spill_piece *pieces;
	size_t piece_count, piece_room;
	char *last;     /* last row of the last run if that run may be extended; otherwise NULL */
	uint8_t *piece; /* buffer for a piece that is read from the file */
	struct spill_run *runs;
	struct spill_head *heads; /* heap of the runs' next rows, after reading has begun */
	size_t run_count, run_room, head_count;
	struct spill_file own;
	bool reading;
};

void spill_add(struct spill *s, const void *row);
/* Write @count sorted rows to the file immediately. Return false if the file is full or has failed.
 * In this case, all later calls return false as well, and the caller still owns the rows. Do not
 * combine with spill_add(). */
bool spill_add_sorted(struct spill *s, const void *rows, size_t count);
/* Like spill_add_sorted(), but keep the rows in memory. spill_fini() frees them. Only for the last
 * rows. */
void spill_take_sorted(struct spill *s, void *rows, size_t count);
/* Return the next row, smallest first. The caller must not add rows after the first call. Return 1
 * and *row, valid until the next call; 0 at the end; negative errno with a cause. */
int spill_next(struct spill *s, const void **row);
void spill_fini(struct spill *s);
void spill_file_close(struct spill_file *f);

#endif
