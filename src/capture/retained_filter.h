/* SPDX-License-Identifier: MIT */
/* Selects the metadata that a flight recorder's chunks still need. */
#ifndef GPUTAP_CAPTURE_RETAINED_FILTER_H
#define GPUTAP_CAPTURE_RETAINED_FILTER_H

#include "capture/writer.h"

/* Files, and the size up to which each counts. Owner: whichever function opened them. */
struct gt_retained_files {
	int meta_fd;
	uint64_t meta_bytes;
	struct gt_retained_chunk {
		int fd;
		uint64_t bytes;
	} chunks[64];
	size_t count;
	bool is_thinned; /* older chunks were removed */
};

/**
 * gt_retained_filter() - copy metadata, except entries that nothing needs any more
 * @to:   a writer of an empty file
 * @last: nothing will be added to the copy: counts are those of the remaining rows, and the sums of
 *        processes that are left out are @kept's; otherwise those sums go into a block of the copy
 * @kept: receives the sums, and when the oldest chunk was started; also the end, if it is 0, from
 *        the rows
 * Return: 0 or negative errno with a cause.
 */
int gt_retained_filter(const struct gt_retained_files *files, struct gt_capture_writer *to,
		       bool last, struct gt_retained *kept);

#endif
