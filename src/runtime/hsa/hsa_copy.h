/* SPDX-License-Identifier: MIT */
/* Asynchronous copies in flight.
 *
 *   free ─► PENDING ─ harvester ─► record ─► free
 *
 * An entry is taken from the low end, so the harvester looks no further than the highest one that
 * was ever in use.
 *
 * Steps:
 *   1. The submitting thread takes an entry (`taken`, acquire), fills in its work, chooses the
 *      signal to submit it with, and stores the state PENDING (release).
 *   2. The harvester reads the state (acquire). It takes the times, writes the record, exchanges
 *      `item` for NULL and completes it, stores FREE, then `taken` 0 (release).
 *
 * A copy whose signal is also used for other activities is submitted with a signal of gputap:
 *   1. The submitting thread registers a handler to be called when our signal is 0, in the thread
 *      in which the runtime calls handlers.
 *   2. The handler's thread, or a harvester that comes first, claims the entry (PENDING to
 *      CLAIMED), reads the times, stores SAVED, and decrements the program's signal (hsa_shared.h).
 *      So the times are available before the program can see that the copy is done.
 *   3. A handler may be called late, for an entry that has been reused for another copy: it then
 *      looks at that one.
 * If the runtime refuses the handler, or the limit of our signals is reached, the copy is submitted
 * unchanged and not recorded (GT_DROP_POOL). The helpers alone could not decrement the program's
 * signal: they end before the program's last exit() handlers, which may wait for it. */
#ifndef GPUTAP_RUNTIME_HSA_COPY_H
#define GPUTAP_RUNTIME_HSA_COPY_H

#include "runtime/hsa/hsa_signal.h"
#include "runtime/hsa/hsa_work.h"

struct gt_hsa_copy {
	struct gt_hsa_watch watch;
	struct gt_hsa_work work; /* its `item` is not used, but the one below */
	/* the program's signal that is decremented when ours completes; 0: none */
	uint64_t theirs;
	struct gt_hsa_signal *ours; /* NULL: not made yet */
	struct gt_hsa_runtime *maker;
	uint32_t loads; /* the runtime's `loads` when ours was made */
	_Atomic uint32_t taken;
	uint32_t epoch;
	_Atomic(struct gt_activity *) item; /* for tools; NULL: none wants it */
};

/* Take a free entry. Return NULL if there are none. */
struct gt_hsa_copy *gt_hsa_copy_take(void);
/* Do step 1, for a taken copy that is filled in. Return the signal to submit it with, or 0 if it
 * cannot be watched, and was freed. */
uint64_t gt_hsa_copy_watch(struct gt_hsa_copy *c, struct gt_hsa_runtime *r, uint64_t signal);
/* Call after the runtime has refused it. */
void gt_hsa_copy_refused(struct gt_hsa_copy *c);
/* Return true if any copy is in flight, on any device. */
bool gt_hsa_copies_exist(void);
/* Harvest this device's copies. Return how many are in flight. */
uint32_t gt_hsa_copies_harvest(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done);
/* Count copies in flight as unfinished, because the runtime is going away. */
void gt_hsa_copies_end(struct gt_hsa_runtime *runtime, struct gt_thread *t);

#endif
