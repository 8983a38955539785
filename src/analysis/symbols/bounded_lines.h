/* SPDX-License-Identifier: MIT */
/* Finds source lines and inlined functions of many addresses within a time limit. A separate
 * process looks them up, because debug information may contain anything and have any size. The
 * process is killed when the time is over; if it crashes, the caller is not affected. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_BOUNDED_LINES_H
#define GPUTAP_ANALYSIS_SYMBOLS_BOUNDED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/code_files.h"

/* An address in a file, and the result of its look-up. */
struct gt_line_request {
	struct gt_code_file *file;
	uint64_t address;
	/* Result, encoded as in struct gt_record_names; NULL: not looked up. */
	char *text;
	uint32_t bytes;
};

/* Why the look-up ended. */
enum gt_lines_end {
	GT_LINES_DONE,
	GT_LINES_TIME,       /* time limit reached */
	GT_LINES_NO_LIBRARY, /* libdw is not installed */
	GT_LINES_BROKEN,     /* the look-up process died or could not be created */
};

/**
 * gt_bounded_lines() - look up requests in list order
 * @most_ns: time limit
 * @each: called from time to time with the number of finished requests; may be NULL
 * Return: why the look-up ended. The caller owns the texts.
 */
enum gt_lines_end gt_bounded_lines(struct gt_line_request *list, size_t count, uint64_t most_ns,
				   void (*each)(void *data, uint64_t done), void *data);

#endif
