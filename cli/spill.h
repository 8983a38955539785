/* SPDX-License-Identifier: MIT */
/* Rows of one size, sorted. Memory is bounded: what is too much is sorted and packed
 * (spill_pack.h); if that is too much, it goes into a nameless temporary file. All is merged at the
 * end: equal rows come in the order in which they were added. Without room for such a file packed
 * rows stay in memory.
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

/* A file that may be of several spills: who has thousands of them has no descriptor for each.
 * Zero-initialised is none yet. */
struct spill_file {
	uint64_t bytes;
	int fd;
	bool is_open, failed;
};

/* Zero-initialised but for what the caller sets is empty. */
struct spill {
	/* set by the caller */
	struct spill_file *shared; /* stays the caller's, until after spill_fini(); NULL: its own */
	size_t row_bytes;          /* a multiple of 8, all of which are written */
	int (*compare)(const void *a, const void *b);
	size_t rows_most;   /* that are not packed; 0: the usual */
	size_t packed_most; /* bytes in memory; 0: the usual */
	/* work */
	char *rows;
	size_t count, room;
	uint8_t *packed; /* those that are not in the file */
	size_t packed_bytes, packed_room;
	struct spill_piece *pieces;
	size_t piece_count, piece_room;
	char *last;     /* row of the last run that may go on; NULL: none may */
	uint8_t *piece; /* read from the file */
	struct spill_run *runs;
	struct spill_head *heads; /* of runs, once reading began: a heap */
	size_t run_count, run_room, head_count;
	struct spill_file own;
	bool reading;
};

void spill_add(struct spill *s, const void *row);
/* @count rows that are sorted already go into the file at once. Return: false: it takes no more,
 * now and later; the rows are still the caller's alone. Not together with spill_add(). */
bool spill_add_sorted(struct spill *s, const void *rows, size_t count);
/* The same for rows that stay in memory, which spill_fini() frees: the last ones. */
void spill_take_sorted(struct spill *s, void *rows, size_t count);
/* From the smallest on; nothing is added after the first call. Return: 1 and *row, valid until the
 * next call; 0 at the end; negative errno with a cause. */
int spill_next(struct spill *s, const void **row);
void spill_fini(struct spill *s);
void spill_file_close(struct spill_file *f);

#endif
