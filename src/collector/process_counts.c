/* SPDX-License-Identifier: MIT */
/* Makes the sums of a process consistent: see process_counts.h. */
#include "collector/process_counts.h"

#include "collector/batch.h"
#include "collector/guard.h"

/* maximum number of nested open calls of one thread when a process ends */
#define CALLS_OPEN_MOST    64u
/* maximum of any counter of one process; sums of a few counters do not overflow */
#define COUNT_MOST         (UINT64_C(1) << 48)
/* maximum number of open GPU activities, for which the program did not wait, of one process */
#define ACTIVITY_OPEN_MOST (UINT64_C(1) << 24)

/* Return true if too many calls are open for a process that ended. In that case the counters or
 * rings of the process were overwritten, because records that are lost in this way look like calls
 * that never returned. @left: number of calls that were left through jumps. */
static bool is_open_too_much(const struct gt_counts *counts, uint32_t threads, uint64_t left)
{
	uint64_t open[GT_CLASS_COUNT] = {0};

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
			uint64_t known = counts->recorded[c][k];

			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				known += counts->dropped[why][c][k];
			if (counts->seen[c][k] <= known)
				continue;
			if (counts->seen[c][k] - known > ACTIVITY_OPEN_MOST)
				return true;
			open[c] += counts->seen[c][k] - known;
		}
	return open[GT_CLASS_CALL] > (uint64_t)CALLS_OPEN_MOST * threads + left ||
	       open[GT_CLASS_DEVICE] > ACTIVITY_OPEN_MOST;
}

/* Reset overwritten counters of a ring or journal. */
static void forget_noise(struct gt_process *process, struct gt_counts *counts)
{
	uint64_t *all = (uint64_t *)counts;

	for (size_t i = 0; i < sizeof *counts / sizeof *all; i++)
		if (all[i] > COUNT_MOST) {
			process->torn = true;
			all[i] = 0;
		}
}

/* Make seen = recorded + dropped by counting the difference as open or damaged. */
static void balance(struct gt_process *process, struct gt_counts *counts)
{
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++) {
			uint64_t known = counts->recorded[c][k];

			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				known += counts->dropped[why][c][k];
			/* the counters themselves were overwritten */
			if (known > counts->seen[c][k]) {
				process->torn = true;
				counts->seen[c][k] = known;
			}
			counts->dropped[process->torn ? GT_DROP_CORRUPT : GT_DROP_UNFINISHED][c]
				       [k] += counts->seen[c][k] - known;
		}
}

/* Check words that one stray write can change without other effects: the number of slots, and the
 * word that says that recording is over. */
static bool is_head_spoiled(const struct gt_drain *d, const struct gt_process *process,
			    uint32_t used)
{
	if (atomic_load_explicit(&process->segment->slots_used, memory_order_relaxed) >
	    process->slot_count)
		return true;
	if (used < process->slots_used ||
	    (used < process->slot_count && gt_process_slot(process, used)->ordinal))
		return true; /* threads are missing, because the number of slots only grows */
	return !d->recovering && !process->stopped &&
	       atomic_load_explicit(&process->segment->stop, memory_order_relaxed);
}

/* Return true if slot @i of a process that is gone is in a state in which neither its thread nor
 * the collector can have left it. */
static bool is_slot_spoiled(const struct gt_process *process, uint32_t i)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	const struct gt_ring *ring = i < process->rings_known ? &process->rings[i] : NULL;
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
	uint64_t seen = 0;

	if (!i || (ring && ring->done)) /* the slot has no thread, or is freed with the batch */
		return false;
	if (ring && ring->stream && !ring->broken && slot->ordinal != ring->ordinal)
		return true;
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int k = 0; k < GT_DOMAIN_COUNT; k++)
			seen |= atomic_load_explicit(&slot->domains[k].seen[c],
						     memory_order_relaxed);
	/* a used slot has an ordinal, except while a thread is taking it */
	return state > GT_SLOT_TAKEN || (state == GT_SLOT_FREE && (seen || !slot->ordinal));
}

/* @last: true if the process is gone and all of its rings were read. */
void gt_process_sum_counts(struct gt_drain *d, struct gt_process *process, bool last,
			   struct gt_counts *out)
{
	volatile uint32_t i = 0, used = 0;
	volatile uint64_t left = 0;

	*out = d->journal.file->accounts[process->account].counts;
	gt_counts_add(out, &process->pending);
	if (!process->lost) {
		if (GT_GUARD()) {
			used = gt_process_slots_used(process);
			if (last && is_head_spoiled(d, process, used))
				process->torn = true;
			for (i = 0; i < used; i++) { /* `pending` includes finished slots */
				if (last && is_slot_spoiled(process, i))
					process->torn = true;
				left += atomic_load_explicit(&gt_process_slot(process, i)->left,
							     memory_order_relaxed);
				if (i >= process->rings_known || !process->rings[i].done)
					gt_process_add_slot_counts(process, i, out);
			}
			gt_guard_end();
		} else {
			gt_batch_lose(d, process);
		}
	}
	forget_noise(process, out);
	if (last &&
	    is_open_too_much(out, process->slots_used > used ? process->slots_used : used, left))
		process->torn = true;
	balance(process, out);
}
