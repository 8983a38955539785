/* SPDX-License-Identifier: MIT */
/* The writer's side of a segment: making the file, taking slots and blocks. core/thread.c runs
 * it. */
#ifndef GPUTAP_RING_WRITER_H
#define GPUTAP_RING_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/segment.h"
#include "ring/session.h"

/**
 * gt_session_map() - map <directory>/session
 * Return: NULL with errno when it is not there, not ours (another version or size), or not
 * readable.
 * Never unmapped: `stop` is looked at for as long as the process lives.
 */
const struct gt_session *gt_session_map(const char *directory);

/**
 * gt_untraced_write() - leave word in the session folder: this process has no segment, for @error
 * @ticks: host clock, now
 * Return: false: the folder cannot be reached for that either.
 */
bool gt_untraced_write(const char *directory, uint64_t ticks, int error);

/**
 * gt_lost_write() - say in a segment that is mapped here which program of the tree cannot be traced
 * @r:     of this process, or of its parent; writing into it makes no system call
 * @path:  of the program; NULL: the segment's own, of a fork's child
 * Return: for gt_lost_take_back(), if the program was not begun after all. Signal: safe; also in
 * the child of a vfork.
 */
uint32_t gt_lost_write(struct gt_segment *r, enum gt_lost_why why, int error, uint32_t pid,
		       uint64_t ticks, const char *path);
void gt_lost_take_back(struct gt_segment *r, uint32_t place);

/**
 * gt_segment_create() - make this process's file in the session folder and map it
 * @parent: segment of the process that forked this one, inherited; NULL after exec
 * @ticks:  host clock, now
 * Return: NULL with errno. No descriptor stays open. A pool that the limits of the process (address
 *         space, file size) or the file system refuse is halved until it fits, down to
 *         GT_SEGMENT_MIN_BLOCKS.
 */
struct gt_segment *gt_segment_create(const char *directory, const struct gt_session *session,
				     const struct gt_segment *parent, uint64_t ticks);
void gt_segment_unmap(struct gt_segment *r);

/**
 * gt_segment_private() - a segment that nobody else sees, without blocks: for tools when nothing is
 * recorded
 * @parent, @ticks, Return: as above
 */
struct gt_segment *gt_segment_private(const struct gt_session *session,
				      const struct gt_segment *parent, uint64_t ticks);

enum { GT_SEGMENT_MIN_BLOCKS = 4 };

/**
 * gt_slot_take() - a slot for the calling thread, TAKEN: fill it in, then store ACTIVE (release)
 * @hint: where to begin looking; the caller's, updated
 * Return: its index, or UINT32_MAX: as many threads as the segment can hold, or no memory.
 */
uint32_t gt_slot_take(struct gt_segment *r, _Atomic uint32_t *hint);

/* A block that is present in memory, or GT_BLOCK_NONE: the pool is empty now, or memory is. */
uint32_t gt_block_take(struct gt_segment *r);

/* First or next block of a slot's chain: after this the collector finds it. @last: NULL for the
 * first. */
void gt_block_link(struct gt_segment *r, uint32_t slot, struct gt_block *last, uint32_t number);

#endif
