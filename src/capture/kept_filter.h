/* SPDX-License-Identifier: MIT */
/* Which of a flight recorder's metadata its chunks still need. */
#ifndef GPUTAP_CAPTURE_KEPT_FILTER_H
#define GPUTAP_CAPTURE_KEPT_FILTER_H

#include "capture/writer.h"

/* Files, and how much of each counts. Owner: whoever made it. */
struct gt_kept_files {
	int meta_fd;
	uint64_t meta_bytes;
	struct gt_kept_chunk {
		int fd;
		uint64_t bytes;
	} chunks[64];
	size_t count;
	bool is_thinned; /* older chunks are gone */
};

/**
 * gt_kept_filter() - copy metadata, but for what nobody asks for any more
 * @to:   a writer of an empty file
 * @last: nothing is added to the copy: counts are those of the rows that are left, and the sums
 *        of processes that are left out are @kept's; else they go into a block of the copy
 * @kept: receives the sums, and when the oldest chunk began; its end, if it is 0, from the rows
 * Return: 0 or negative errno with a cause.
 */
int gt_kept_filter(const struct gt_kept_files *files, struct gt_capture_writer *to, bool last,
		   struct gt_kept *kept);

#endif
