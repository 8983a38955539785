/* SPDX-License-Identifier: MIT */
/* What is read between two flushes of the capture, within the collector: drain.c and processes.c
 * add to it, gt_drain_commit() ends it.
 *
 * A mark says where a ring begins after the batch: one mark per ring and batch, so that a redo
 * never touches a block that was given back. */
#ifndef GPUTAP_COLLECTOR_BATCH_H
#define GPUTAP_COLLECTOR_BATCH_H

#include "collector/drain.h"

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
void gt_drain_lose(struct gt_drain *d, struct gt_process *process);

/* An event of the collector's own. @text: cut if it is long. */
int gt_drain_write_event(struct gt_drain *d, uint32_t process, enum gt_event_code code,
			 enum gt_domain domain, uint64_t ticks, uint64_t value, const char *text);
/* The process is gone, and not by exit(): which calls was it in? @counts: its last ones. */
void gt_drain_write_open_calls(struct gt_drain *d, struct gt_process *process,
			       const struct gt_counts *counts);

/* What the capture says of a process, of a thread: written when it is met, and again when it
 * ends. */
void gt_drain_announce_process(struct gt_drain *d, struct gt_process *process);
void gt_drain_announce_thread(struct gt_drain *d, struct gt_process *process, uint32_t i);

#endif
