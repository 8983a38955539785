/* SPDX-License-Identifier: MIT */
/* Reads a capture while it grows, each part once.
 *
 * Metadata (processes, strings, objects, clocks, ...) is kept as stored in the file. Each step
 * builds a small capture in memory from the metadata and the new records, so the cost of a step
 * depends on the size of these two, not on the size of the file. Records of a flight recorder are
 * read from the recorder's files while the files exist. Blocks are checked and decoded as usual. A
 * follower neither waits for the writer nor takes the writer's locks. */
#ifndef GPUTAP_CAPTURE_FOLLOW_H
#define GPUTAP_CAPTURE_FOLLOW_H

#include <stdbool.h>

#include "capture/capture.h"

struct gt_follow;

/**
 * gt_follow_open() - follow a capture from its current end
 * Skips existing records, but reads processes, names and other metadata.
 * Return: 0, or negative errno with a cause, as gt_capture_open() does.
 */
int gt_follow_open(const char *path, struct gt_follow **out);
void gt_follow_close(struct gt_follow *f);

/**
 * gt_follow_next() - read the records written since the last call
 * @out:   receives a capture of the new records; NULL: the file has nothing readable yet
 * @ended: receives true after the last record
 * A call returns at most 256 MiB of records; the next call continues.
 * Return: 0 or negative errno with a cause.
 * Owner:  caller; gt_capture_close().
 */
int gt_follow_next(struct gt_follow *f, struct gt_capture **out, bool *ended);

#endif
