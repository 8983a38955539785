/* SPDX-License-Identifier: MIT */
/* Reads a capture while it grows: each part of it once.
 *
 * Metadata (processes, strings, objects, clocks, ...) is kept as stored in the file, and each step
 * makes a small capture in memory from it and the new records. So the cost of a step depends on the
 * new records and the metadata, not on the size of the file. A flight recorder's records are
 * followed in its own files, as long as they exist. Blocks are checked and decoded as usual; this
 * neither waits for the writer nor locks anything of it. */
#ifndef GPUTAP_CAPTURE_FOLLOW_H
#define GPUTAP_CAPTURE_FOLLOW_H

#include <stdbool.h>

#include "capture/capture.h"

struct gt_follow;

/**
 * gt_follow_open() - follow a capture from its current end
 * Existing records are skipped; processes, names and so on are known.
 * Return: 0, or negative errno with a cause: as gt_capture_open().
 */
int gt_follow_open(const char *path, struct gt_follow **out);
void gt_follow_close(struct gt_follow *f);

/**
 * gt_follow_next() - read the records written since the last call
 * @out:   receives a capture of them; NULL: the file has nothing that can be read yet
 * @ended: receives true if nothing follows
 * A call returns at most 256 MiB of records; the next call continues.
 * Return: 0 or negative errno with a cause.
 * Owner:  caller; gt_capture_close().
 */
int gt_follow_next(struct gt_follow *f, struct gt_capture **out, bool *ended);

#endif
