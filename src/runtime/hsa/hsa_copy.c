/* SPDX-License-Identifier: MIT */
/* See hsa_copy.h. */
#include "runtime/hsa/hsa_copy.h"

#include <sched.h>

#include "runtime/hsa/hsa_shared.h"
#include "runtime/hsa/hsa_tool_activities.h"

/* gputap's signals use events of the driver, and a process has only 4,096 of them. */
enum { COPIES = 4096, OURS_MAX = 2048 };

static struct gt_hsa_copy *_Atomic slots; /* COPIES slots, mapped for the first copy */
static _Atomic uint32_t used;             /* index of the first slot that was never used */
static _Atomic uint32_t first;            /* index at which the search for a free slot starts */
static _Atomic uint32_t taken;            /* number of slots in use */

bool gt_hsa_copies_exist(void)
{
	return atomic_load_explicit(&taken, memory_order_relaxed);
}

static struct gt_hsa_copy *get_slots(void)
{
	return atomic_load_explicit(&slots, memory_order_acquire);
}

/* Return the slots, or NULL if out of memory. */
static struct gt_hsa_copy *map_slots(void)
{
	struct gt_hsa_copy *copies = get_slots(), *mapped;

	if (gt_likely(copies != NULL))
		return copies;
	mapped = gt_hsa_alloc(COPIES * sizeof *mapped);
	if (!mapped ||
	    atomic_compare_exchange_strong_explicit(&slots, &copies, mapped, memory_order_acq_rel,
						    memory_order_acquire))
		return mapped;
	gt_hsa_free(mapped, COPIES * sizeof *mapped);
	return copies;
}

struct gt_hsa_copy *gt_hsa_copy_take(void)
{
	uint32_t from = atomic_load_explicit(&first, memory_order_relaxed), limit;
	struct gt_hsa_copy *copies = map_slots();

	for (uint32_t i = from < COPIES ? from : 0; copies && i < COPIES; i++) {
		uint32_t free = 0;

		if (atomic_load_explicit(&copies[i].taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong_explicit(&copies[i].taken, &free, 1,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		limit = atomic_load_explicit(&used, memory_order_relaxed);
		while (limit <= i && !atomic_compare_exchange_weak_explicit(&used, &limit, i + 1,
									    memory_order_release,
									    memory_order_relaxed))
			;
		atomic_store_explicit(&first, i + 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
		return &copies[i];
	}
	atomic_store_explicit(&first, 0, memory_order_relaxed);
	return NULL;
}

static void free_copy(struct gt_hsa_copy *c)
{
	uint32_t i = (uint32_t)(c - get_slots());

	atomic_store_explicit(&c->watch.state, GT_HSA_ACTIVITY_FREE, memory_order_relaxed);
	atomic_store_explicit(&c->taken, 0, memory_order_release);
	atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
	if (i < atomic_load_explicit(&first, memory_order_relaxed))
		atomic_store_explicit(&first, i, memory_order_relaxed);
}

/* gputap's signals ----------------------------------------------------------------- */

static _Atomic uint32_t made; /* number of signals created here */

/* Set gputap's signal to 1, and create it if necessary. Return false if creation failed. */
static bool arm_ours(struct gt_hsa_copy *c, struct gt_hsa_runtime *r)
{
	uint64_t signal = 0;

	if (c->ours && (c->maker != r || c->loads != r->loads)) {
		/* The runtime that created the signal destroys it. */
		c->ours = NULL;
		atomic_fetch_sub_explicit(&made, 1, memory_order_relaxed);
	}
	if (!c->ours) {
		if (atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) >= OURS_MAX ||
		    GT_HSA_CORE(r, hsa_signal_create)(1, 0, NULL, &signal) != GT_HSA_SUCCESS) {
			atomic_fetch_sub_explicit(&made, 1, memory_order_relaxed);
			return false;
		}
		c->ours = (struct gt_hsa_signal *)(uintptr_t)signal;
		c->maker = r;
		c->loads = r->loads;
	}
	atomic_store_explicit(&c->ours->value, 1, memory_order_relaxed);
	return true;
}

/* Do step 2. Return true if the copy is complete. */
static bool look_at_copy(struct gt_hsa_copy *c)
{
	struct gt_hsa_runtime *runtime;
	struct gt_hsa_times times;
	uint64_t theirs;

	if (!gt_hsa_signal_claim(&c->watch))
		return atomic_load_explicit(&c->watch.state, memory_order_acquire) >=
		       GT_HSA_ACTIVITY_SAVED;
	runtime = c->watch.agent->runtime;
	theirs = c->theirs;
	if (!gt_hsa_signal_take(&c->watch, &times))
		return false;
	if (theirs) /* the entry may already be free */
		gt_hsa_shared_hand_on(runtime, theirs, &times);
	return true;
}

static bool on_completion(int64_t value, void *copy)
{
	(void)value;
	look_at_copy(copy);
	return false; /* do not call this handler again */
}

static bool watch_by_ours(struct gt_hsa_copy *c, struct gt_hsa_runtime *r, uint64_t theirs)
{
	gt_hsa_amd_ext_hsa_amd_signal_async_handler_fn *handle =
		GT_HSA_AMD(r, hsa_amd_signal_async_handler);

	if (!handle || !arm_ours(c, r) || !gt_hsa_shared_add(r, theirs))
		return false;
	if (handle((uintptr_t)c->ours, GT_HSA_CONDITION_LT, 1, (void *)(uintptr_t)on_completion,
		   c) != GT_HSA_SUCCESS) {
		gt_hsa_shared_cancel(theirs);
		return false;
	}
	c->theirs = theirs;
	gt_hsa_signal_watch_ours(&c->watch, c->ours);
	return true;
}

/* Return the signal for the submission, or 0 if the copy cannot be watched. */
static uint64_t choose_signal(struct gt_hsa_copy *c, struct gt_hsa_runtime *r, uint64_t signal)
{
	struct gt_hsa_signal *theirs = (struct gt_hsa_signal *)(uintptr_t)signal;

	c->theirs = 0;
	if (!gt_hsa_shared_is_in_use(signal) && !gt_hsa_signal_is_busy(theirs) &&
	    gt_hsa_signal_watch(&c->watch, theirs)) {
		gt_hsa_shared_leave_times(signal);
		return signal;
	}
	if (theirs->kind != GT_HSA_SIGNAL_USER || !watch_by_ours(c, r, signal))
		return 0;
	return (uintptr_t)c->ours;
}

uint64_t gt_hsa_copy_watch(struct gt_hsa_copy *c, struct gt_hsa_runtime *r, uint64_t signal)
{
	uint64_t submitted = choose_signal(c, r, signal);

	if (submitted)
		atomic_store_explicit(&c->watch.state, GT_HSA_ACTIVITY_PENDING,
				      memory_order_release);
	else
		free_copy(c);
	return submitted;
}

void gt_hsa_copy_refused(struct gt_hsa_copy *c)
{
	if (c->theirs)
		gt_hsa_shared_cancel(c->theirs);
	gt_hsa_signal_forget(&c->watch);
	atomic_store_explicit(&c->watch.state, GT_HSA_ACTIVITY_LOST, memory_order_release);
}

/* All copies ------------------------------------------------------------------------- */

uint32_t gt_hsa_copies_harvest(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire), left = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct gt_hsa_copy *c = &get_slots()[i];
		uint32_t state = atomic_load_explicit(&c->watch.state, memory_order_acquire);
		struct gt_tool_activity *tool_activity;
		struct gt_hsa_times times;

		if (state == GT_HSA_ACTIVITY_FREE || c->watch.agent != agent ||
		    c->epoch != t->epoch)
			continue;
		if (state < GT_HSA_ACTIVITY_SAVED && !look_at_copy(c)) {
			left++;
			continue;
		}
		times = (struct gt_hsa_times){c->watch.times[0], c->watch.times[1]};
		state = atomic_load_explicit(&c->watch.state, memory_order_acquire);
		gt_hsa_activity_write(&c->activity, agent, c->activity.queued,
				      state == GT_HSA_ACTIVITY_SAVED ? &times : NULL, t);
		tool_activity =
			atomic_exchange_explicit(&c->tool_activity, NULL, memory_order_acq_rel);
		if (gt_unlikely(tool_activity != NULL))
			gt_hsa_complete_tool_activity(tool_activity, agent,
						      state == GT_HSA_ACTIVITY_SAVED ? &times
										     : NULL);
		free_copy(c);
		++*done;
	}
	return left;
}

void gt_hsa_copies_renew(const struct gt_thread *t)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct gt_hsa_copy *c = &get_slots()[i];

		if (atomic_load_explicit(&c->watch.state, memory_order_acquire) ==
			    GT_HSA_ACTIVITY_FREE ||
		    c->epoch == t->epoch)
			continue;
		c->activity.flags &= (uint8_t)~GT_HSA_ACTIVITY_RECORDED;
		c->epoch = t->epoch;
	}
}

static void end_ours(struct gt_hsa_copy *c, struct gt_hsa_runtime *r)
{
	if (!c->ours || c->maker != r || c->loads != r->loads)
		return;
	GT_HSA_CORE(r, hsa_signal_destroy)((uintptr_t)c->ours);
	c->ours = NULL;
	atomic_fetch_sub_explicit(&made, 1, memory_order_relaxed);
}

/* Ensure that no thread is reading, or will read, the copy's signal. */
static void stop_watching(struct gt_hsa_copy *c)
{
	if (!c->theirs)
		gt_hsa_signal_forget(&c->watch);
	else
		while (!gt_hsa_signal_claim(&c->watch) &&
		       atomic_load_explicit(&c->watch.state, memory_order_acquire) <
			       GT_HSA_ACTIVITY_SAVED)
			sched_yield();
}

void gt_hsa_copies_end(struct gt_hsa_runtime *runtime, struct gt_thread *t)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct gt_hsa_copy *c = &get_slots()[i];
		struct gt_tool_activity *tool_activity;

		if (atomic_load_explicit(&c->watch.state, memory_order_acquire) !=
			    GT_HSA_ACTIVITY_FREE &&
		    c->watch.agent->runtime == runtime && c->epoch == t->epoch) {
			stop_watching(c);
			gt_hsa_activity_count_unfinished(&c->activity, t);
			tool_activity = atomic_exchange_explicit(&c->tool_activity, NULL,
								 memory_order_acq_rel);
			if (tool_activity)
				gt_tool_activity_drop(tool_activity, true);
			free_copy(c);
		}
		end_ours(c, runtime);
	}
	gt_hsa_shared_end(runtime);
}
