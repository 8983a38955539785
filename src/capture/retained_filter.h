/* SPDX-License-Identifier: MIT */
/* Selects the metadata that a flight recorder's chunks still need. */
#ifndef GPUTAP_CAPTURE_RETAINED_FILTER_H
#define GPUTAP_CAPTURE_RETAINED_FILTER_H

#include "capture/writer.h"

/* Files of a flight recorder, each with its valid size. Owner: the function that opened the
 * files. */
struct gt_retained_files {
	int meta_fd;
	uint64_t meta_bytes;
	struct gt_retained_chunk {
		int fd;
		uint64_t bytes;
	} chunks[64];
	size_t count;
	bool is_thinned; /* true if older chunks were removed */
};

/**
 * gt_retained_filter() - copy the metadata that is still needed
 * @to:   a writer with an empty file
 * @last: true if the copy is final. Its counts are then those of the remaining rows, and @kept
 *        receives the sums of omitted processes. Otherwise these sums are written to a block of the
 *        copy
 * @kept: receives the sums and the start of the oldest chunk; if the end in @kept is 0, it is set
 *        from the rows
 * Return: 0 or negative errno with a cause.
 */
int gt_retained_filter(const struct gt_retained_files *files, struct gt_capture_writer *to,
		       bool last, struct gt_retained *kept);

#endif
