/* SPDX-License-Identifier: MIT */
/* A summary of all records, stored in the capture itself, so that a report need not read the
 * records. The summary is appended to a finished capture, in parts of up to 4 MiB:
 *
 *   | header | block .. | INDEX | SUMMARY 0 | SUMMARY 1 | .. | END |
 *    \_____ described _______/
 *
 * Only the analysis knows the content: src/analysis/tables/stored_summary.h. This folder stores the
 * content with its version, and checks whether it still describes the file. A summary is valid if
 *
 *   1. all of its parts are present, in order, with good checksums;
 *   2. no block is damaged or missing;
 *   3. the heads and positions of all blocks before the summary are those that it describes;
 *   4. only RECORDS (names of stack frames, see frame_names.h), INDEX and END follow it.
 *
 * A damaged summary is not a damaged capture, because no record is lost. A head contains the
 * checksum of its block's payload; a record that was damaged afterwards is noticed when it is read.
 * The newest summary counts. Files that are written from a capture (merge, cut, recover) contain no
 * summary, because their times can differ. */
#ifndef GPUTAP_CAPTURE_SUMMARY_BLOCK_H
#define GPUTAP_CAPTURE_SUMMARY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

/* Return the content of the valid summary with this version; NULL: the capture has none. Several
 * files that are opened together have none.
 * Owner: the capture. */
const void *gt_capture_summary(const struct gt_capture *c, uint32_t version, size_t *bytes);

/* The newest summary of a capture's first file. */
struct gt_summary_info {
	uint64_t bytes;   /* size of the content; 0: none */
	uint32_t version; /* of the content */
	bool wrong;       /* true if the summary is damaged or does not describe the file */
};
struct gt_summary_info gt_capture_summary_info(const struct gt_capture *c);

/**
 * gt_capture_store_summary() - append a summary to a capture, in one write
 * @c: a capture that was opened from one file, which no process writes
 * On failure the file is unchanged. @c itself does not get the summary.
 * Return: 0, or negative errno with a cause: -ENOTSUP several files, damaged, or no end marker;
 *         -EFBIG the content is too large; -EBUSY another process writes the file; -ESTALE the file
 *         has changed.
 */
int gt_capture_store_summary(const struct gt_capture *c, uint32_t version, const void *content,
			     size_t bytes);

#endif
