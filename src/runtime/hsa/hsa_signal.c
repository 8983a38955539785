/* SPDX-License-Identifier: MIT */
/* Watches completion signals of the program that stay in their packets and copies, and reads times
 * from them.
 *
 *   signal's address ─hash─► 8 consecutive entries: watch or NULL
 *
 * Steps:
 *   1. The submitting thread sets the signal's end_ts to 0, and puts the watch into the table
 *      (compare and exchange, release).
 *   2. The packet processor writes start_ts and end_ts, then decrements the value. Nothing else
 *      changes the two times. The program may store any value into the signal meanwhile, so
 *      completion is detected from end_ts.
 *   3. The times stay until the signal is put into another packet or copy, or is destroyed. gputap
 *      calls gt_hsa_signal_release() before either.
 *   4. The releasing thread or the harvester, whichever comes first, claims the watch (PENDING to
 *      CLAIMED, acquire), copies the two times, removes the watch from the table, and stores SAVED
 *      (release). The other thread finds the watch in the state SAVED. If a thread loses its
 *      processor in between, the other thread waits for these few instructions.
 *
 * A signal that is used for several activities in flight contains the times of the activity that
 * completed last. Therefore only a signal whose value is 1 is watched; with any other value, the
 * signal counts several activities. The other activities get a signal of gputap: kernels in
 * hsa_completion.c, copies in hsa_copy.c. If a release finds that its activity is not complete, the
 * value of 1 was misleading. The times of that activity are then not known, and later uses of the
 * signal are not watched until the signal is destroyed (shared[]).
 * Locking: none. */
#include "runtime/hsa/hsa_signal.h"

#include <sched.h>

#include "runtime/hsa/hsa_agent.h"

enum { BITS = 14, ROW = 8, ENTRIES = 1 << BITS };
#define SKEW_NS UINT64_C(20000) /* tolerance between the runtime's times and the host's clock */

static _Atomic(struct gt_hsa_watch *) table[ENTRIES + ROW];

/* Signals that were used for several activities in flight although their value was 1, indexed by
 * hash. */
enum { SHARED = 256 };
static _Atomic(const struct gt_hsa_signal *) shared[SHARED];

static uint32_t table_row(const struct gt_hsa_signal *s)
{
	return (uint32_t)((uintptr_t)s * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS));
}

static _Atomic(const struct gt_hsa_signal *) *shared_entry(const struct gt_hsa_signal *s)
{
	return &shared[table_row(s) % SHARED];
}

bool gt_hsa_signal_claim(struct gt_hsa_watch *w)
{
	uint32_t pending = GT_HSA_ACTIVITY_PENDING;

	return atomic_compare_exchange_strong_explicit(&w->state, &pending, GT_HSA_ACTIVITY_CLAIMED,
						       memory_order_acquire, memory_order_relaxed);
}

/* End the watch of a claimed activity. gputap no longer uses its signal afterwards. */
static void end_watch(struct gt_hsa_watch *w, enum gt_hsa_watch_state state)
{
	if (w->entry)
		atomic_store_explicit(&table[w->entry - 1], NULL, memory_order_release);
	w->entry = 0;
	w->signal = NULL;
	atomic_store_explicit(&w->state, state, memory_order_release);
}

/* Get the times of a copy. Only the runtime can read the times, and it reports an error if queried
 * too early. The runtime is therefore queried when the value shows that the copy is complete, or
 * once when the program reuses the signal (@last). In that case the copy must be complete, and the
 * times may be those of the signal's previous activity. */
static bool get_copy_times(const struct gt_hsa_watch *w, bool last, struct gt_hsa_times *times)
{
	bool counted = atomic_load_explicit(&w->signal->value, memory_order_acquire) <
		       atomic_load_explicit(&w->value, memory_order_relaxed);

	*times = (struct gt_hsa_times){0, 0};
	if (!counted && !last)
		return false;
	if (GT_HSA_AMD(w->agent->runtime,
		       hsa_amd_profiling_get_async_copy_time)((uintptr_t)w->signal, times) !=
		    GT_HSA_SUCCESS ||
	    times->end < times->start || times->start + SKEW_NS < w->queued ||
	    times->end > gt_hsa_boottime_ns() + SKEW_NS)
		*times = (struct gt_hsa_times){0, 0};
	return counted || times->end;
}

static bool take_times(struct gt_hsa_watch *w, bool last, struct gt_hsa_times *times)
{
	if (w->agent) {
		if (!get_copy_times(w, last, times))
			return false;
	} else {
		times->end = atomic_load_explicit(&w->signal->end_ts, memory_order_acquire);
		times->start = atomic_load_explicit(&w->signal->start_ts, memory_order_acquire);
		if (!times->start || !times->end)
			return false;
	}
	w->times[0] = times->start;
	w->times[1] = times->end;
	end_watch(w, times->end ? GT_HSA_ACTIVITY_SAVED : GT_HSA_ACTIVITY_LOST);
	return true;
}

static bool enter_table(struct gt_hsa_watch *w, uint32_t row)
{
	for (uint32_t i = row; i < row + ROW; i++) {
		struct gt_hsa_watch *none = NULL;

		w->entry = i + 1;
		if (!atomic_load_explicit(&table[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(&table[i], &none, w,
							    memory_order_release,
							    memory_order_relaxed))
			return true;
	}
	w->entry = 0;
	return false;
}

bool gt_hsa_signal_watch(struct gt_hsa_watch *w, struct gt_hsa_signal *signal)
{
	const int64_t value = atomic_load_explicit(&signal->value, memory_order_relaxed);

	atomic_store_explicit(&w->value, value, memory_order_relaxed);
	if (signal->kind != GT_HSA_SIGNAL_USER || value != 1 ||
	    !gt_hsa_signal_release((uintptr_t)signal) ||
	    atomic_load_explicit(shared_entry(signal), memory_order_relaxed) == signal)
		return false;
	if (!w->agent) {
		atomic_store_explicit(&signal->start_ts, 0, memory_order_relaxed);
		atomic_store_explicit(&signal->end_ts, 0, memory_order_relaxed);
	}
	w->signal = signal;
	return enter_table(w, table_row(signal));
}

bool gt_hsa_signal_release(uint64_t handle)
{
	const struct gt_hsa_signal *signal = (const struct gt_hsa_signal *)(uintptr_t)handle;
	uint32_t row = table_row(signal);
	struct gt_hsa_times times;
	bool all = true;

	for (uint32_t i = row; i < row + ROW; i++) {
		struct gt_hsa_watch *w = atomic_load_explicit(&table[i], memory_order_acquire);

		if (gt_likely(!w) || w->signal != signal)
			continue;
		while (atomic_load_explicit(&w->state, memory_order_acquire) ==
		       GT_HSA_ACTIVITY_CLAIMED)
			sched_yield();
		if (w->signal != signal || !gt_hsa_signal_claim(w))
			continue;
		if (w->signal != signal) { /* the entry belongs to another activity now */
			atomic_store_explicit(&w->state, GT_HSA_ACTIVITY_PENDING,
					      memory_order_release);
		} else if (!take_times(w, true, &times)) {
			end_watch(w, GT_HSA_ACTIVITY_LOST);
			atomic_store_explicit(shared_entry(signal), signal, memory_order_relaxed);
			all = false;
		}
	}
	return all;
}

void gt_hsa_signal_watch_ours(struct gt_hsa_watch *w, struct gt_hsa_signal *ours)
{
	w->signal = ours;
	atomic_store_explicit(&w->value, 1, memory_order_relaxed);
}

static bool take_or_unclaim(struct gt_hsa_watch *w, bool last, struct gt_hsa_times *times)
{
	if (take_times(w, last, times))
		return true;
	atomic_store_explicit(&w->state, GT_HSA_ACTIVITY_PENDING, memory_order_release);
	return false;
}

bool gt_hsa_signal_take(struct gt_hsa_watch *w, struct gt_hsa_times *times)
{
	return take_or_unclaim(w, false, times);
}

bool gt_hsa_signal_harvest(struct gt_hsa_watch *w)
{
	struct gt_hsa_times times;

	/* The program may destroy the signal at any moment, so only a claim permits reading it. */
	if (!gt_hsa_signal_claim(w))
		return atomic_load_explicit(&w->state, memory_order_acquire) >=
		       GT_HSA_ACTIVITY_SAVED;
	return gt_hsa_signal_take(w, &times);
}

bool gt_hsa_signal_is_busy(const struct gt_hsa_signal *signal)
{
	uint32_t row = table_row(signal);
	struct gt_hsa_times times;

	for (uint32_t i = row; i < row + ROW; i++) {
		struct gt_hsa_watch *w = atomic_load_explicit(&table[i], memory_order_acquire);

		if (gt_likely(!w) || w->signal != signal)
			continue;
		if (!gt_hsa_signal_claim(w) || !take_or_unclaim(w, true, &times))
			if (w->signal == signal)
				return true;
	}
	return false;
}

void gt_hsa_signal_expect_less(const struct gt_hsa_signal *signal)
{
	uint32_t row = table_row(signal);

	for (uint32_t i = row; i < row + ROW; i++) {
		struct gt_hsa_watch *w = atomic_load_explicit(&table[i], memory_order_acquire);

		if (gt_unlikely(w != NULL) && w->agent && w->signal == signal)
			atomic_fetch_sub_explicit(&w->value, 1, memory_order_relaxed);
	}
}

void gt_hsa_signal_forget(struct gt_hsa_watch *w)
{
	if (w->entry && gt_hsa_signal_claim(w))
		end_watch(w, GT_HSA_ACTIVITY_LOST);
}

void gt_hsa_signal_end(uint64_t handle)
{
	const struct gt_hsa_signal *gone = (const struct gt_hsa_signal *)(uintptr_t)handle;

	gt_hsa_signal_release(handle);
	atomic_compare_exchange_strong_explicit(shared_entry(gone), &gone, NULL,
						memory_order_relaxed, memory_order_relaxed);
}
