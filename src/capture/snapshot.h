/* SPDX-License-Identifier: MIT */
/* A capture from the files of a recording: what it needs of the metadata, and all rows. */
#ifndef GPUTAP_CAPTURE_SNAPSHOT_H
#define GPUTAP_CAPTURE_SNAPSHOT_H

#include "capture/kept_filter.h"

/* As they are after the last good flush, for reading. Owner: caller. 0 or negative errno. */
int gt_keep_open_files(const struct gt_capture_writer *w, struct gt_kept_files *files);
void gt_kept_files_close(struct gt_kept_files *files);

/* Bytes of one file to a place in another, by the kernel where it can. 0 or negative errno. */
int gt_snapshot_copy(int from, uint64_t at, uint64_t bytes, int to, uint64_t to_at);

/**
 * gt_snapshot_assemble() - write a whole capture
 * @fd:  an open file; what it has is written over. It stays open
 * @id:  of the capture; NULL: a new one
 * @why: its begin, its sums and whether it is thinned are filled in
 * Return: 0 or negative errno with a cause.
 */
int gt_snapshot_assemble(const struct gt_kept_files *files, const char *path, int fd,
			 const uint8_t *id, struct gt_kept *why, bool complete);

#endif
