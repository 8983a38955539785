/* SPDX-License-Identifier: MIT */
/* Asynchronous copies in flight.
 *
 *   free ─► PENDING ─ harvester ─► record ─► free
 *
 * An entry is taken from the low end, so the harvester looks no further than the highest one that
 * was ever in use.
 *
 * Steps:
 *   1. The thread that submits takes an entry (`taken`, acquire), fills in its work, and stores
 *      the state PENDING or LOST (release).
 *   2. The harvester reads the state (acquire). It takes the times, writes the record, exchanges
 *      `item` for NULL and completes it, stores FREE, then `taken` 0 (release). */
#ifndef GPUTAP_RUNTIME_HSA_COPY_H
#define GPUTAP_RUNTIME_HSA_COPY_H

#include "runtime/hsa/hsa_signal.h"
#include "runtime/hsa/hsa_work.h"

struct gt_hsa_copy {
	struct gt_hsa_watch watch;
	struct gt_hsa_work work; /* its `item` is not used: */
	_Atomic uint32_t taken;
	uint32_t epoch;
	_Atomic(struct gt_work_item *) item; /* for tools; NULL: none asks */
};

/* Taken; NULL: none free. */
struct gt_hsa_copy *gt_hsa_copy_take(void);
/* Are any in flight? Of all devices. */
bool gt_hsa_copies_exist(void);
/* Harvest this device's copies. Return: how many are in flight. */
uint32_t gt_hsa_copies_harvest(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done);
/* The runtime goes: what is in flight is counted as unfinished. */
void gt_hsa_copies_end(const struct gt_hsa_runtime *runtime, struct gt_thread *t);

#endif
