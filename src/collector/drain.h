/* SPDX-License-Identifier: MIT */
/* Moves the rings of all processes of a session into the capture, in batches (journal.h explains
 * why).
 *
 * A block that has a successor is read at once. A block that its thread still fills is read only
 * from time to time, and only if it holds enough new records, because a reader just behind the
 * writer takes the cache line away from the writer. A block returns to its pool when its records
 * are in the file.
 * Records that the file cannot take (disk full) are counted as lost, so that programs never wait
 * for a disk. */
#ifndef GPUTAP_COLLECTOR_DRAIN_H
#define GPUTAP_COLLECTOR_DRAIN_H

#include "collector/drain_state.h"

/* @writer: borrowed. The caller creates or opens the journal. */
void gt_drain_init(struct gt_drain *d, struct gt_folder *folder, struct gt_capture_writer *writer);
void gt_drain_fini(struct gt_drain *d);

/**
 * gt_drain_add() - add a new segment file
 * Return: 0, even if the file is known already or was refused (and counted); -EAGAIN: not possible
 *         now.
 */
int gt_drain_add(struct gt_drain *d, const char *name, struct gt_process **out);

/* Return the process with this segment file, including refused files, or NULL. */
struct gt_process *gt_drain_find(const struct gt_drain *d, uint32_t pid, uint64_t ticks);

/* Read a process's rings. Return the number of bytes read. */
uint64_t gt_drain_process(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
			  uint64_t now_ns);

void gt_drain_write_clock(struct gt_drain *d, const struct gt_clock_tuple *tuple);
void gt_drain_write_counts(struct gt_drain *d, struct gt_process *process);
/* Write a process's counts for a snapshot. The counts cover the records read so far, so that later
 * records do not appear as lost. */
void gt_drain_write_settled(struct gt_drain *d, struct gt_process *process);

/* Read all remaining records of a process that is gone (or of a session that is over), write the
 * end of the process, and forget the process. */
void gt_drain_end_process(struct gt_drain *d, struct gt_process *process, uint64_t now_ns);

/* Write processes that reported that they could not create a segment. Call at the end. */
void gt_drain_write_untraced(struct gt_drain *d);

/* Write to the capture that the session's first program, @path, cannot be traced, and the
 * reason. */
void gt_drain_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *path,
			     const char *why);

/* Ask all processes to stop recording. */
void gt_drain_stop(struct gt_drain *d);

/* Sum up the counts of all processes that have ended. */
struct gt_run_result;
void gt_drain_result(const struct gt_drain *d, struct gt_run_result *result);

#endif
