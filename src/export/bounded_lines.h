/* SPDX-License-Identifier: MIT */
/* Lines and inlined functions of many addresses, within a time. A process of its own looks them up:
 * it is ended when the time is over, whatever it is doing, and what it does to itself (debug
 * information may be anything, and of any size) is no harm to the caller. */
#ifndef GPUTAP_EXPORT_BOUNDED_LINES_H
#define GPUTAP_EXPORT_BOUNDED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/code_files.h"

/* An address of a file. */
struct gt_line_request {
	struct gt_code_file *file;
	uint64_t address;
	/* filled in: as in struct gt_record_names; NULL: it was not looked up */
	char *text;
	uint32_t bytes;
};

/* Why some were not looked up. */
enum gt_lines_end {
	GT_LINES_DONE,
	GT_LINES_TIME,       /* it was over */
	GT_LINES_NO_LIBRARY, /* there is no libdw */
	GT_LINES_BROKEN,     /* the process that looked them up has died, or could not be made */
};

/**
 * gt_bounded_lines() - look up requests, in their order
 * @most_ns: the time
 * @each: called now and then with how many are done; may be NULL
 * Return: why it ended. Texts are the caller's.
 */
enum gt_lines_end gt_bounded_lines(struct gt_line_request *list, size_t count, uint64_t most_ns,
				   void (*each)(void *data, uint64_t done), void *data);

#endif
