/* SPDX-License-Identifier: MIT */
/* Rows of one size, sorted. Memory is bounded: what is too much goes, sorted, into a nameless
 * temporary file, and is merged at the end. Without room for such a file all stays in memory. */
#ifndef GPUTAP_CLI_SPILL_H
#define GPUTAP_CLI_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill_run; /* sorted rows, in the file or the last ones in memory */

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
	size_t row_bytes;
	int (*compare)(const void *a, const void *b); /* total: equal rows are the same */
	size_t rows_most;                             /* in memory; 0: the usual */
	/* work */
	char *rows;
	size_t count, room;
	struct spill_run *runs; /* a heap, once reading began */
	size_t run_count, run_room;
	struct spill_file own;
	bool reading;
};

void spill_add(struct spill *s, const void *row);
/* @count rows that are sorted already go into the file. Return: false: it takes no more, now and
 * later; the rows are still the caller's alone. */
bool spill_add_sorted(struct spill *s, const void *rows, size_t count);
/* The same for rows that stay in memory, which spill_fini() frees: the last ones. */
void spill_take_sorted(struct spill *s, void *rows, size_t count);
/* From the smallest on; nothing is added after the first call. Return: 1 and *row, valid until the
 * next call; 0 at the end; negative errno with a cause. */
int spill_next(struct spill *s, const void **row);
void spill_fini(struct spill *s);
void spill_file_close(struct spill_file *f);

#endif
