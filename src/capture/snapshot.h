/* SPDX-License-Identifier: MIT */
/* Makes a capture from the files of a recording: the needed metadata, and all rows. */
#ifndef GPUTAP_CAPTURE_SNAPSHOT_H
#define GPUTAP_CAPTURE_SNAPSHOT_H

#include "capture/retained_filter.h"

/* Open the files for reading, in their state after the last good flush. Owner: caller. Return 0 or
 * negative errno. */
int gt_keep_open_files(const struct gt_capture_writer *w, struct gt_retained_files *files);
void gt_retained_files_close(struct gt_retained_files *files);

/* Copy bytes from one file to another, in the kernel if possible. Return 0 or negative errno. */
int gt_snapshot_copy(int from, uint64_t at, uint64_t bytes, int to, uint64_t to_at);

/**
 * gt_snapshot_assemble() - write a complete capture
 * @fd:  an open file, which is overwritten and stays open
 * @id:  id of the capture; NULL: a new id
 * @why: the function sets its start, its sums and is_thinned
 * Return: 0 or negative errno with a cause.
 */
int gt_snapshot_assemble(const struct gt_retained_files *files, const char *path, int fd,
			 const uint8_t *id, struct gt_retained *why, bool complete);

#endif
