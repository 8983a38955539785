/* SPDX-License-Identifier: MIT */
/* From rings into the capture: all processes of a session, read in batches (see journal.h for why).
 *
 * A block that has a successor is read at once. A block that its thread still fills is read only
 * now and then, and not for a few records: a reader close behind the writer takes the cache line
 * away from it. A block goes back to its pool when its records are in the file.
 * Records that the file cannot take (disk full) are counted as lost, so that programs never wait
 * for a disk. */
#ifndef GPUTAP_COLLECTOR_DRAIN_H
#define GPUTAP_COLLECTOR_DRAIN_H

#include "collector/drain_state.h"

/* @writer: borrowed. The journal is the caller's to create or open. */
void gt_drain_init(struct gt_drain *d, struct gt_folder *folder, struct gt_capture_writer *writer);
void gt_drain_fini(struct gt_drain *d);

/**
 * gt_drain_add() - a segment file has appeared
 * Return: 0, also when it is known already or refused (counted); -EAGAIN: not now.
 */
int gt_drain_add(struct gt_drain *d, const char *name, struct gt_process **out);

/* The process whose segment file has that name, refused ones too. NULL: none. */
struct gt_process *gt_drain_find(const struct gt_drain *d, uint32_t pid, uint64_t ticks);

/* Read a process's rings. Return: bytes read. */
uint64_t gt_drain_process(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
			  uint64_t now_ns);

void gt_drain_write_clock(struct gt_drain *d, const struct gt_clock_tuple *tuple);
void gt_drain_write_counts(struct gt_drain *d, struct gt_process *process);
/* For a snapshot: what is seen is what was read; what a process does meanwhile is not lost. */
void gt_drain_write_settled(struct gt_drain *d, struct gt_process *process);

/* The process is gone (or the session is over): read everything, write its end, forget it. */
void gt_drain_end_process(struct gt_drain *d, struct gt_process *process, uint64_t now_ns);

/* At the end: processes that left word that they could not make a segment. */
void gt_drain_write_untraced(struct gt_drain *d);

/* The session's first program cannot be traced: @path, and why not. */
void gt_drain_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks, const char *path,
			     const char *why);

/* Tell every process to record no more. */
void gt_drain_stop(struct gt_drain *d);

/* What became of all processes that have ended. */
struct gt_run_result;
void gt_drain_result(const struct gt_drain *d, struct gt_run_result *result);

#endif
