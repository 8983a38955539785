/* SPDX-License-Identifier: MIT */
/* What is read between two flushes of the capture, within the collector: ring_reader.c and
 * drain.c add to it, gt_batch_commit() ends it.
 *
 * A mark says where a ring begins after the batch: one mark per ring and batch, so that a redo
 * never touches a block that was given back. */
#ifndef GPUTAP_COLLECTOR_BATCH_H
#define GPUTAP_COLLECTOR_BATCH_H

#include "collector/drain_state.h"

/* Recovering, nobody waits for us: what the file does not take stays in the rings for another
 * try. */
bool gt_batch_halted(const struct gt_drain *d);

/* Before a step of a process that needs one mark and one touch. False: the file takes nothing and
 * the rings are to stay as they are. */
bool gt_batch_make_room(struct gt_drain *d, const struct gt_process *process);

/* The process's account changes with this batch. Only after gt_batch_make_room(). */
void gt_batch_touch(struct gt_drain *d, struct gt_process *process);
/* The ring is read as far as it says. Only after gt_batch_make_room(). */
void gt_batch_set_mark(struct gt_drain *d, struct gt_process *process, uint32_t slot,
		       struct gt_ring *ring);
/* The block goes back to its pool when the batch is in the file. */
void gt_batch_give_back_later(struct gt_drain *d, struct gt_process *process, uint32_t block);

/* Nothing of this segment is looked at again. */
void gt_batch_lose(struct gt_drain *d, struct gt_process *process);

/* Finish the batch: the capture is flushed, the journal says so, blocks go back. */
void gt_batch_commit(struct gt_drain *d);
/* For recover: carry out a redo that the journal still holds. */
void gt_batch_redo(struct gt_drain *d);

#endif
