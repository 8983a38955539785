/* SPDX-License-Identifier: MIT */
/* Creates a segment, and takes slots and blocks, on the writer's side. Used by core/thread.c. */
#ifndef GPUTAP_RING_WRITER_H
#define GPUTAP_RING_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/segment.h"
#include "ring/session.h"

/**
 * gt_session_map() - map <directory>/session
 * Return: the session, or NULL with errno if the file is missing, unreadable, or has another
 *         version or size.
 * Owner:  caller. Threads read `stop` of the process's latest session at any time, so that only a
 *         session that was replaced twice may be released with gt_session_unmap().
 */
const struct gt_session *gt_session_map(const char *directory);
void gt_session_unmap(const struct gt_session *session);

/**
 * gt_untraced_write() - record in the session folder that this process has no segment, and @error
 * @ticks: current time of the host clock
 * Return: false if the process cannot access the session folder either.
 */
bool gt_untraced_write(const char *directory, uint64_t ticks, int error);

/**
 * gt_lost_write() - record in a mapped segment that a program of the tree cannot be traced
 * @r:     segment of this process or of its parent; writing to it makes no system call
 * @path:  path of the program; NULL: a fork child that runs the program of the segment
 * Return: handle for gt_lost_take_back(), in case the program was not started after all. Signal:
 *         safe; also in the child of a vfork.
 */
uint32_t gt_lost_write(struct gt_segment *r, enum gt_lost_why why, int error, uint32_t pid,
		       uint64_t ticks, const char *path);
void gt_lost_take_back(struct gt_segment *r, uint32_t place);

/**
 * gt_segment_create() - create this process's file in the session folder and map it
 * @parent: segment of the process that forked this one, inherited; NULL after exec
 * @ticks:  current time of the host clock
 * Return: the segment, or NULL with errno. No descriptor stays open. If the pool exceeds a limit of
 *         the process (address space, file size) or the room in the file system, the function
 *         halves the pool's size until the pool fits, down to GT_SEGMENT_MIN_BLOCKS.
 */
struct gt_segment *gt_segment_create(const char *directory, const struct gt_session *session,
				     const struct gt_segment *parent, uint64_t ticks);
void gt_segment_unmap(struct gt_segment *r);

/**
 * gt_segment_private() - create a private segment without blocks, for a process that records
 * nothing
 * @parent, @ticks, Return: as for gt_segment_create()
 */
struct gt_segment *gt_segment_private(const struct gt_session *session,
				      const struct gt_segment *parent, uint64_t ticks);

enum { GT_SEGMENT_MIN_BLOCKS = 4 };

/**
 * gt_slot_take() - take a slot for this thread, in state TAKEN
 * The caller fills in the slot, then stores ACTIVE (release).
 * @hint: index at which the search starts; a variable of the caller that the function updates
 * Return: the slot's index, or UINT32_MAX if all slots are taken or no memory is available.
 */
uint32_t gt_slot_take(struct gt_segment *r, _Atomic uint32_t *hint);

/* Return a block that is present in memory, or GT_BLOCK_NONE if the pool or memory is exhausted. */
uint32_t gt_block_take(struct gt_segment *r);

/* Link the first or next block to a slot's chain. Afterwards the collector can find the block.
 * @last: NULL for the first block. */
void gt_block_link(struct gt_segment *r, uint32_t slot, struct gt_block *last, uint32_t number);

#endif
