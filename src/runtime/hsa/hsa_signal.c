/* SPDX-License-Identifier: MIT */
/* The program's completion signals that stay in their packets, and whose times are read from them.
 *
 *   signal's address ─hash─► 8 entries in a row: slot or NULL
 *
 * The packet processor writes start_ts and end_ts before it decrements the value; nothing else changes them. They stay until
 * the signal goes into another packet or copy, or is destroyed: each comes through gt_hsa_signal_release(), before it happens.
 * So whoever comes first, that or the helper, claims the slot (PENDING -> CLAIMED), copies two words and sets SAVED; the other
 * one finds that done. The program may store any value into the signal meanwhile: completion is seen by end_ts, which is
 * set to 0 when the work is submitted.
 *
 * A release that finds no end_ts means that the program uses one signal for several pieces of work in flight; then the
 * times of the earlier one cannot be told any more, and it is counted so (GT_DROP_RUNTIME).
 * Locking: none. Preempted between claim and save: the other side waits for a few instructions of this one. */
#include <sched.h>

#include "runtime/hsa/hsa_activity.h"

enum { BITS = 14, ROW = 8, ENTRIES = 1 << BITS };

static _Atomic(struct gt_hsa_slot *) table[ENTRIES + ROW];

static uint32_t row_of(const struct gt_hsa_signal *s)
{
	return (uint32_t)((uintptr_t)s * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS));
}

static bool claim(struct gt_hsa_slot *slot)
{
	uint32_t pending = GT_HSA_SLOT_PENDING;

	return atomic_compare_exchange_strong_explicit(&slot->state, &pending, GT_HSA_SLOT_CLAIMED, memory_order_acquire,
						       memory_order_relaxed);
}

static void leave_table(struct gt_hsa_slot *slot)
{
	if (slot->entry)
		atomic_store_explicit(&table[slot->entry - 1], NULL, memory_order_release);
	slot->entry = 0;
}

/* With the slot claimed. */
static bool take_times(struct gt_hsa_slot *slot)
{
	uint64_t end = atomic_load_explicit(&slot->watch->end_ts, memory_order_acquire);
	uint64_t start = atomic_load_explicit(&slot->watch->start_ts, memory_order_acquire);

	if (!start || !end)
		return false;
	slot->raw[0] = start;
	slot->raw[1] = end;
	leave_table(slot);
	slot->watch = slot->ours;
	atomic_store_explicit(&slot->state, GT_HSA_SLOT_SAVED, memory_order_release);
	return true;
}

bool gt_hsa_signal_watch(struct gt_hsa_slot *slot, struct gt_hsa_signal *signal)
{
	uint32_t row = row_of(signal);

	if (signal->kind != GT_HSA_SIGNAL_USER || atomic_load_explicit(&signal->value, memory_order_relaxed) != 1)
		return false;
	if (!gt_hsa_signal_release((uintptr_t)signal))
		return false;
	atomic_store_explicit(&signal->start_ts, 0, memory_order_relaxed);
	atomic_store_explicit(&signal->end_ts, 0, memory_order_relaxed);
	slot->watch = signal;
	for (uint32_t i = row; i < row + ROW; i++) {
		struct gt_hsa_slot *none = NULL;

		slot->entry = i + 1;
		if (!atomic_load_explicit(&table[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(&table[i], &none, slot, memory_order_release, memory_order_relaxed))
			return true;
	}
	slot->entry = 0;
	slot->watch = slot->ours;
	return false;
}

bool gt_hsa_signal_release(uint64_t handle)
{
	const struct gt_hsa_signal *signal = (const struct gt_hsa_signal *)(uintptr_t)handle;
	uint32_t row = row_of(signal);
	bool all = true;

	for (uint32_t i = row; i < row + ROW; i++) {
		struct gt_hsa_slot *slot = atomic_load_explicit(&table[i], memory_order_acquire);

		if (gt_likely(!slot) || slot->watch != signal)
			continue;
		while (atomic_load_explicit(&slot->state, memory_order_acquire) == GT_HSA_SLOT_CLAIMED)
			sched_yield();
		if (slot->watch != signal || !claim(slot))
			continue;
		if (slot->watch != signal) { /* the slot is another's by now */
			atomic_store_explicit(&slot->state, GT_HSA_SLOT_PENDING, memory_order_release);
			continue;
		}
		if (!take_times(slot)) {
			leave_table(slot);
			slot->watch = slot->ours;
			atomic_store_explicit(&slot->state, GT_HSA_SLOT_LOST, memory_order_release);
			all = false;
		}
	}
	return all;
}

bool gt_hsa_signal_harvest(struct gt_hsa_slot *slot)
{
	/* of the program's signal nothing may be read without a claim: it may be destroyed at any moment */
	if (!claim(slot))
		return atomic_load_explicit(&slot->state, memory_order_acquire) >= GT_HSA_SLOT_SAVED;
	if (take_times(slot))
		return true;
	atomic_store_explicit(&slot->state, GT_HSA_SLOT_PENDING, memory_order_release);
	return false;
}

void gt_hsa_signal_forget(struct gt_hsa_slot *slot)
{
	if (slot->watch != slot->ours && claim(slot)) {
		leave_table(slot);
		slot->watch = slot->ours;
		atomic_store_explicit(&slot->state, GT_HSA_SLOT_LOST, memory_order_release);
	}
}
