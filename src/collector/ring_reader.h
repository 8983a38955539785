/* SPDX-License-Identifier: MIT */
/* Reads a process's rings into the batch. drain.h describes when a block is read. */
#ifndef GPUTAP_COLLECTOR_RING_READER_H
#define GPUTAP_COLLECTOR_RING_READER_H

#include "collector/drain_state.h"

/* Return the bytes read. */
uint64_t gt_rings_read(struct gt_drain *d, struct gt_process *process, enum gt_drain_how how,
		       uint64_t now_ns);

#endif
