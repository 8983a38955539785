/* SPDX-License-Identifier: MIT */
/* A capture that still grows, read as it grows: each part of it once.
 *
 * What is not records (processes, strings, objects, clocks, ..) is kept as it lies in the file,
 * and each time a small capture in memory is made of that and of the records that are new. So a
 * step costs what is new and what is kept, not what the file has.
 * A flight recorder's records are followed in its own files, while they are kept there.
 * Blocks are checked and decoded as ever; nothing of the writer's is waited for or locked. */
#ifndef GPUTAP_CAPTURE_FOLLOW_H
#define GPUTAP_CAPTURE_FOLLOW_H

#include <stdbool.h>

#include "capture/capture.h"

struct gt_follow;

/**
 * gt_follow_open() - follow a capture from its end on
 * Records that are there already are passed over; processes, names and so on are known.
 * Return: 0, or negative errno with a cause: as gt_capture_open().
 */
int gt_follow_open(const char *path, struct gt_follow **out);
void gt_follow_close(struct gt_follow *f);

/**
 * gt_follow_next() - the records that were written since the last time
 * @out:   receives a capture of them; NULL: the file has nothing that can be read yet
 * @ended: receives whether the file says that nothing follows
 * At most 256 MiB of records come at once; the next call goes on.
 * Return: 0 or negative errno with a cause.
 * Owner:  caller; gt_capture_close().
 */
int gt_follow_next(struct gt_follow *f, struct gt_capture **out, bool *ended);

#endif
