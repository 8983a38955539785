/* SPDX-License-Identifier: MIT */
/* Asynchronous copies in flight.
 *
 *   free ─► PENDING ─ harvester ─► record ─► free
 *
 * Entries are allocated from the low end, so the harvester scans only up to the highest entry that
 * was ever in use.
 *
 * Steps:
 *   1. The submitting thread takes an entry (`taken`, acquire), fills in the activity, chooses the
 *      signal for the submission, and stores the state PENDING (release).
 *   2. The harvester reads the state (acquire). The harvester takes the times, writes the record,
 *      exchanges `tool_activity` for NULL, completes it, stores FREE, then sets `taken` to 0
 *      (release).
 *
 * A copy whose signal is also used for other activities is submitted with a signal of gputap:
 *   1. The submitting thread registers a handler that the runtime calls in its handler thread when
 *      gputap's signal is 0.
 *   2. The handler thread, or a harvester that comes first, claims the entry (PENDING to CLAIMED),
 *      reads the times, stores SAVED, and decrements the program's signal (hsa_shared.h). The times
 *      are thus available before the program can observe that the copy is done.
 *   3. A handler may be called late, for an entry that has been reused for another copy. The
 *      handler then checks that copy.
 * If the runtime refuses the handler, or the limit of gputap's signals is reached, the copy is
 * submitted unchanged and not recorded (GT_DROP_POOL). The helpers alone could not decrement the
 * program's signal, because they end before the program's last exit() handlers, which may wait for
 * the signal. */
#ifndef GPUTAP_RUNTIME_HSA_COPY_H
#define GPUTAP_RUNTIME_HSA_COPY_H

#include "runtime/hsa/hsa_signal.h"
#include "runtime/hsa/hsa_activity.h"

struct gt_hsa_copy {
	struct gt_hsa_watch watch;
	struct gt_hsa_activity activity; /* `tool_activity` in this struct is unused; see below */
	/* program's signal that is decremented when `ours` completes; 0: none */
	uint64_t theirs;
	struct gt_hsa_signal *ours; /* NULL: not created yet */
	struct gt_hsa_runtime *maker;
	uint32_t loads; /* `loads` of the runtime when `ours` was created */
	_Atomic uint32_t taken;
	uint32_t epoch;
	_Atomic(struct gt_tool_activity *) tool_activity; /* NULL: no tool wants the copy */
};

/* Take a free entry. Return NULL if there is none. */
struct gt_hsa_copy *gt_hsa_copy_take(void);
/* Do step 1 for an entry that is filled in. Return the signal for the submission. Return 0 if the
 * copy cannot be watched; its entry is then free. */
uint64_t gt_hsa_copy_watch(struct gt_hsa_copy *c, struct gt_hsa_runtime *r, uint64_t signal);
/* Free the entry of a copy that the runtime refused. */
void gt_hsa_copy_refused(struct gt_hsa_copy *c);
/* Return true if any copy is in flight, on any device. */
bool gt_hsa_copies_exist(void);
/* Harvest the copies of a device. Return the number of copies in flight. */
uint32_t gt_hsa_copies_harvest(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done);
/* Harvest the copies in flight on behalf of another session of this process, in which they are not
 * recorded. Call while no thread harvests. */
void gt_hsa_copies_renew(const struct gt_thread *t);
/* Count copies in flight as unfinished. Call when the runtime is about to be unloaded. */
void gt_hsa_copies_end(struct gt_hsa_runtime *runtime, struct gt_thread *t);

#endif
