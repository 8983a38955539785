/* SPDX-License-Identifier: MIT */
/* The writer's side of a segment: creating the file, taking slots and blocks. core/thread.c uses
 * it. */
#ifndef GPUTAP_RING_WRITER_H
#define GPUTAP_RING_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/segment.h"
#include "ring/session.h"

/**
 * gt_session_map() - map <directory>/session
 * Return: the session, or NULL with errno if the file is missing, not ours (another version or
 * size) or not readable.
 * Never unmapped: `stop` is read for as long as the process lives.
 */
const struct gt_session *gt_session_map(const char *directory);

/**
 * gt_untraced_write() - record in the session folder that this process has no segment, and @error
 * @ticks: host clock, now
 * Return: false if the session folder cannot be reached for that either.
 */
bool gt_untraced_write(const char *directory, uint64_t ticks, int error);

/**
 * gt_lost_write() - record in a segment mapped here that a program of the tree cannot be traced
 * @r:     segment of this process or of its parent; writing into it makes no system call
 * @path:  path of the program; NULL: the program of the segment, for a fork child
 * Return: handle for gt_lost_take_back(), if the program was not started after all. Signal: safe;
 * also in the child of a vfork.
 */
uint32_t gt_lost_write(struct gt_segment *r, enum gt_lost_why why, int error, uint32_t pid,
		       uint64_t ticks, const char *path);
void gt_lost_take_back(struct gt_segment *r, uint32_t place);

/**
 * gt_segment_create() - create this process's file in the session folder and map it
 * @parent: segment of the process that forked this one, inherited; NULL after exec
 * @ticks:  host clock, now
 * Return: the segment, or NULL with errno. No descriptor stays open. If the limits of the process
 *         (address space, file size) or the file system refuse a pool, its size is halved until it
 *         fits, down to GT_SEGMENT_MIN_BLOCKS.
 */
struct gt_segment *gt_segment_create(const char *directory, const struct gt_session *session,
				     const struct gt_segment *parent, uint64_t ticks);
void gt_segment_unmap(struct gt_segment *r);

/**
 * gt_segment_private() - create a private segment without blocks, if nothing is recorded
 * @parent, @ticks, Return: as above
 */
struct gt_segment *gt_segment_private(const struct gt_session *session,
				      const struct gt_segment *parent, uint64_t ticks);

enum { GT_SEGMENT_MIN_BLOCKS = 4 };

/**
 * gt_slot_take() - take a slot for this thread, TAKEN: fill it in, then store ACTIVE (release)
 * @hint: index at which to start the search; the caller's variable, updated
 * Return: the slot's index, or UINT32_MAX if all slots are taken or memory is short.
 */
uint32_t gt_slot_take(struct gt_segment *r, _Atomic uint32_t *hint);

/* Return a block that is present in memory, or GT_BLOCK_NONE if the pool or memory is exhausted
 * now. */
uint32_t gt_block_take(struct gt_segment *r);

/* Link the first or next block of a slot's chain, after which the collector finds it. @last: NULL
 * for the first. */
void gt_block_link(struct gt_segment *r, uint32_t slot, struct gt_block *last, uint32_t number);

#endif
