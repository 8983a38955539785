/* SPDX-License-Identifier: MIT */
/* See hsa_shared.h. */
#include "runtime/hsa/hsa_shared.h"

#include <sched.h>

#include "core/recording.h"
#include "core/recording_state.h"
#include "runtime/hsa/hsa_signal.h"

enum { BITS = 12, ROW = 8, ENTRIES = 1 << BITS };

struct shared_signal {
	uint64_t signal; /* 0: free entry */
	struct gt_hsa_runtime *runtime;
	uint32_t in_flight, epoch;
	struct gt_hsa_times times; /* times of the copy that completed most recently */
};

/* gt_wiped.shared_lock protects all of these except the atomic counts. */
static struct shared_signal entries[ENTRIES + ROW];
static _Atomic uint32_t used;       /* number of entries in use */
static _Atomic uint32_t handing_on; /* number of threads about to decrement a signal */

static void lock_entries(void)
{
	gt_word_take(&gt_wiped.shared_lock);
}

static void unlock_entries(void)
{
	atomic_store_explicit(&gt_wiped.shared_lock, 0, memory_order_release);
}

/* Find the entry of a signal. @signal: 0: find a free entry in the row of @row_of. The caller must
 * hold the lock. */
static struct shared_signal *find_entry(uint64_t signal, uint64_t row_of)
{
	struct shared_signal *e = &entries[row_of * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS)];

	for (int i = 0; i < ROW; i++, e++)
		if (e->signal == signal)
			return e;
	return NULL;
}

/* Find the entry of a signal and take the lock. If the result is NULL, the lock is not held. */
static struct shared_signal *find_locked(uint64_t signal)
{
	struct shared_signal *e;

	if (gt_likely(!atomic_load_explicit(&used, memory_order_acquire)))
		return NULL;
	lock_entries();
	e = find_entry(signal, signal);
	if (!e)
		unlock_entries();
	return e;
}

static void free_entry(struct shared_signal *e)
{
	*e = (struct shared_signal){0};
	atomic_fetch_sub_explicit(&used, 1, memory_order_release);
}

bool gt_hsa_shared_add(struct gt_hsa_runtime *r, uint64_t signal)
{
	struct shared_signal *e;

	lock_entries();
	e = find_entry(signal, signal);
	if (!e && (e = find_entry(0, signal)) != NULL) {
		*e = (struct shared_signal){
			.signal = signal,
			.runtime = r,
			.epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed),
		};
		atomic_fetch_add_explicit(&used, 1, memory_order_release);
	}
	if (e)
		e->in_flight++;
	unlock_entries();
	return e;
}

void gt_hsa_shared_cancel(uint64_t signal)
{
	struct shared_signal *e = find_locked(signal);

	if (!e)
		return;
	if (e->in_flight)
		e->in_flight--;
	unlock_entries();
}

void gt_hsa_shared_hand_on(struct gt_hsa_runtime *r, uint64_t signal,
			   const struct gt_hsa_times *times)
{
	struct shared_signal *e = find_locked(signal);

	if (!e)
		return; /* the program has destroyed the signal */
	if (times->end)
		e->times = *times;
	gt_hsa_signal_expect_less((struct gt_hsa_signal *)(uintptr_t)signal);
	atomic_fetch_add_explicit(&handing_on, 1, memory_order_relaxed);
	unlock_entries();
	GT_HSA_CORE(r, hsa_signal_subtract_screlease)(signal, 1);
	atomic_fetch_sub_explicit(&handing_on, 1, memory_order_release);
	gt_hsa_shared_cancel(signal);
}

/* Do step 3. */
static void forget(uint64_t signal)
{
	struct shared_signal *e = find_locked(signal);
	bool is_own;

	if (!e)
		return;
	is_own = gt_recording_owns(e->epoch);
	free_entry(e);
	unlock_entries();
	while (is_own && atomic_load_explicit(&handing_on, memory_order_acquire))
		sched_yield();
}

bool gt_hsa_shared_is_in_use(uint64_t signal)
{
	struct shared_signal *e = find_locked(signal);
	bool in_use = e && e->in_flight;

	if (e)
		unlock_entries();
	return in_use;
}

void gt_hsa_shared_leave_times(uint64_t signal)
{
	struct shared_signal *e = find_locked(signal);

	if (!e)
		return;
	e->times = (struct gt_hsa_times){0, 0};
	unlock_entries();
}

void gt_hsa_shared_end(const struct gt_hsa_runtime *r)
{
	if (!atomic_load_explicit(&used, memory_order_acquire))
		return;
	lock_entries();
	for (uint32_t i = 0; i < ENTRIES + ROW; i++)
		if (entries[i].signal && entries[i].runtime == r)
			free_entry(&entries[i]);
	unlock_entries();
}

int gt_hsa_core_wrap_hsa_signal_destroy(const struct gt_call *call, uint64_t signal)
{
	if (gt_likely(signal)) {
		gt_hsa_signal_end(signal);
		forget(signal);
	}
	return ((gt_hsa_core_hsa_signal_destroy_fn *)call->tap->real)(signal);
}

/* Return the times of a copy that was submitted with gputap's signal, because the runtime does not
 * connect that copy with this signal. */
int gt_hsa_amd_ext_wrap_hsa_amd_profiling_get_async_copy_time(const struct gt_call *call,
							      uint64_t signal, void *time)
{
	struct shared_signal *e = time ? find_locked(signal) : NULL;
	struct gt_hsa_times times = {0, 0};

	if (e) {
		times = e->times;
		unlock_entries();
	}
	if (gt_likely(!times.end))
		return ((gt_hsa_amd_ext_hsa_amd_profiling_get_async_copy_time_fn *)call->tap->real)(
			signal, time);
	*(struct gt_hsa_times *)time = times;
	return GT_HSA_SUCCESS;
}
