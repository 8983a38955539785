/* SPDX-License-Identifier: MIT */
/* The data read between two flushes of the capture. Internal to the collector: ring_reader.c and
 * drain.c add data, gt_batch_commit() ends the batch.
 *
 * A mark contains the position at which a ring starts after the batch. Each ring has one mark per
 * batch, so that a redo never touches a block that was given back. */
#ifndef GPUTAP_COLLECTOR_BATCH_H
#define GPUTAP_COLLECTOR_BATCH_H

#include "collector/drain_state.h"

/* Return true if the batch must stop. During recovery no program waits, so records that the file
 * cannot take stay in the rings for another attempt. */
bool gt_batch_halted(const struct gt_drain *d);

/* Make room for one more change to a process: one mark and one touch. Return false if the file
 * takes no more data and the rings must stay unchanged. */
bool gt_batch_make_room(struct gt_drain *d, const struct gt_process *process);

/* Note that this batch changes the process's account. Call only after gt_batch_make_room(). */
void gt_batch_touch(struct gt_drain *d, struct gt_process *process);
/* Mark the ring as read up to its current position. Call only after gt_batch_make_room(). */
void gt_batch_set_mark(struct gt_drain *d, struct gt_process *process, uint32_t slot,
		       struct gt_ring *ring);
/* Give the block back to its pool once the batch is in the file. */
void gt_batch_give_back_later(struct gt_drain *d, struct gt_process *process, uint32_t block);

/* Stop reading this segment for good. */
void gt_batch_lose(struct gt_drain *d, struct gt_process *process);

/* Finish the batch: flush the capture, record the flush in the journal, give blocks back. */
void gt_batch_commit(struct gt_drain *d);
/* Carry out a redo that the journal still contains. For recovery. */
void gt_batch_redo(struct gt_drain *d);

#endif
