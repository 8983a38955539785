/* SPDX-License-Identifier: MIT */
/* Finds lines and inlined functions of many addresses, with a time limit. A separate process looks
 * them up: it is killed when the time is over, in any state, and if it crashes (debug information
 * may contain anything, and be of any size) the caller is not affected. */
#ifndef GPUTAP_EXPORT_BOUNDED_LINES_H
#define GPUTAP_EXPORT_BOUNDED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/code_files.h"

/* An address in a file. */
struct gt_line_request {
	struct gt_code_file *file;
	uint64_t address;
	/* filled in: as in struct gt_record_names; NULL: not looked up */
	char *text;
	uint32_t bytes;
};

/* Why some were not looked up. */
enum gt_lines_end {
	GT_LINES_DONE,
	GT_LINES_TIME,       /* the time was over */
	GT_LINES_NO_LIBRARY, /* libdw is not installed */
	GT_LINES_BROKEN,     /* the process that looked them up has died, or could not be created */
};

/**
 * gt_bounded_lines() - look up requests, in their order
 * @most_ns: the time limit
 * @each: called now and then with the number that are done; may be NULL
 * Return: why it ended. The caller owns the texts.
 */
enum gt_lines_end gt_bounded_lines(struct gt_line_request *list, size_t count, uint64_t most_ns,
				   void (*each)(void *data, uint64_t done), void *data);

#endif
