/* SPDX-License-Identifier: MIT */
/* Appends blocks to a finished capture. One write replaces the old end marker with the new blocks
 * and a new end marker. To a reader that opens the file during the write, the file appears to be
 * cut after its last record.
 *
 *   create -> blocks in writer->main.out -> open -> write
 *
 * Each function here returns 0 or a negative errno with a cause. */
#ifndef GPUTAP_CAPTURE_APPEND_H
#define GPUTAP_CAPTURE_APPEND_H

#include "capture/reader.h"
#include "capture/writer.h"

/* the end marker is within this many bytes of the file's end */
enum { GT_APPEND_TAIL_BYTES = 4096 };

struct gt_append {
	struct gt_capture_writer *writer;
	const struct gt_capture *capture;
	uint8_t end[GT_APPEND_TAIL_BYTES];
	size_t end_bytes; /* the end marker as read from the file */
	uint64_t end_at;
};

/* Prepare to append to @c, which was opened from one file. */
int gt_append_create(const struct gt_capture *c, struct gt_append *a);
/* Open the file and find its end marker, which the first new block will replace. -EBUSY: another
 * process writes the file; -ESTALE: another capture has replaced the file, or the file has
 * changed. */
int gt_append_open(struct gt_append *a);
/* Write the collected blocks and the end marker. On failure the file is unchanged. */
int gt_append_write(struct gt_append *a);
void gt_append_destroy(struct gt_append *a);

#endif
