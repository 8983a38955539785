/* SPDX-License-Identifier: MIT */
/* Finds and records completed GPU activities. Runs in the helpers, and in threads of the program
 * that have waited for activities.
 *
 * Steps:
 *   1. A thread takes the agent's `harvester` (compare and exchange, acquire). One thread holds
 *      `harvester` at a time, for the duration of a look. Meanwhile no function of the program or
 *      of a tool runs, and signals are blocked, so that no handler can jump out. A thread that
 *      wants `harvester` waits at most HARVEST_NS, because the thread that holds `harvester` may
 *      have lost its processor.
 *   2. The thread reads the host's two clocks, to convert ticks.
 *   3. The thread goes through each queue from the oldest activity, past at most WINDOW unfinished
 *      activities. Completed activities are recorded in any order, and their slots are freed
 *      (hsa_slots.h). A long kernel therefore delays only the reuse of later slots, and the
 *      harvester never waits.
 *   4. The thread stores 0 into `harvester` (release). */
#include "runtime/hsa/hsa_harvest.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/hsa/hsa_copy.h"
#include "runtime/hsa/hsa_tool_activities.h"
#include "util/clock_ns.h"

#define CLOCK_NS   (1000 * GT_HSA_MS)
#define HARVEST_NS (200 * GT_HSA_MS) /* maximum wait for another thread's look */
#define PAUSE_NS   (GT_HSA_MS / 10)

enum { SPINS = 100, YIELDS = 1000, WINDOW = 256 };

_Atomic uint32_t gt_hsa_harvest_over;

/* Return true if the two readings are far enough apart and recent enough to convert current
 * ticks. */
static bool are_clocks_fresh(const struct gt_hsa_agent *a)
{
	return a->now.ticks != a->before.ticks &&
	       gt_ticks() - a->now.ticks < a->now.ticks - a->before.ticks &&
	       a->now.ns - a->before.ns < 2 * CLOCK_NS;
}

/* Read the clocks before a look. Converted ticks lie between the two readings, except for
 * activities that take several seconds. */
static void read_clocks(struct gt_hsa_agent *a)
{
	struct gt_hsa_clock_pair now = gt_hsa_read_clocks();

	if (a->now.ns - a->before.ns >= 2 * CLOCK_NS)
		a->before = a->middle;
	if (a->now.ns - a->middle.ns >= CLOCK_NS)
		a->middle = a->now;
	a->now = now;
}

static uint64_t ticks_to_ns(const struct gt_hsa_agent *a, uint64_t ticks)
{
	uint64_t between = a->now.ticks - a->before.ticks;

	if (gt_host_clock == GT_HOST_CLOCK_BOOTTIME || !between)
		return gt_host_clock == GT_HOST_CLOCK_BOOTTIME ? ticks : a->now.ns;
	return a->now.ns +
	       (uint64_t)(int64_t)((double)(int64_t)(ticks - a->now.ticks) *
				   ((double)(a->now.ns - a->before.ns) / (double)between));
}

static void write_slot(struct gt_hsa_queue *q, struct gt_hsa_slot *s, struct gt_thread *t)
{
	struct gt_hsa_times times = {0, 0};
	uint32_t state = atomic_load_explicit(&s->watch.state, memory_order_relaxed);
	int status = -1;

	if (state == GT_HSA_ACTIVITY_SAVED) { /* the runtime converts the times of a signal */
		atomic_store_explicit(&s->ours->start_ts, s->watch.times[0], memory_order_relaxed);
		atomic_store_explicit(&s->ours->end_ts, s->watch.times[1], memory_order_relaxed);
	}
	if (state != GT_HSA_ACTIVITY_LOST)
		status =
			GT_HSA_AMD(q->agent->runtime,
				   hsa_amd_profiling_get_dispatch_time)(q->agent->handle,
									(uintptr_t)s->ours, &times);
	gt_hsa_activity_write(&s->activity, q->agent, ticks_to_ns(q->agent, s->activity.queued),
			      status == GT_HSA_SUCCESS ? &times : NULL, t);
	if (gt_unlikely(s->activity.tool_activity != NULL))
		gt_hsa_complete_tool_activity(s->activity.tool_activity, q->agent,
					      status == GT_HSA_SUCCESS ? &times : NULL);
}

/* Return true if the activity is complete, and its times can be read or are lost. */
static bool has_completed(struct gt_hsa_slot *s)
{
	uint32_t state = atomic_load_explicit(&s->watch.state, memory_order_acquire);

	if (state != GT_HSA_ACTIVITY_PENDING)
		return state == GT_HSA_ACTIVITY_SAVED || state == GT_HSA_ACTIVITY_LOST;
	if (gt_likely(!s->watch.entry))
		return atomic_load_explicit(&s->ours->value, memory_order_acquire) < 1;
	return gt_hsa_signal_harvest(&s->watch);
}

/* Do step 3. Return the number of activities in flight. */
static uint32_t harvest_queue(struct gt_hsa_queue *q, struct gt_thread *t, uint32_t *done)
{
	uint64_t head = atomic_load_explicit(&q->slots.head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&q->slots.tail, memory_order_acquire), i;
	uint32_t missed = 0;

	for (i = head; i < tail && missed < WINDOW; i++) {
		struct gt_hsa_slot *s = gt_hsa_slots_at(&q->slots, i);

		if (s && !has_completed(s)) {
			missed++;
			continue;
		}
		if (s) {
			write_slot(q, s, t);
			gt_hsa_slots_free_position(&q->slots, i);
			++*done;
		}
		if (i == head)
			atomic_store_explicit(&q->slots.head, ++head, memory_order_release);
	}
	return (uint32_t)(tail - head);
}

/* Count the unfinished activities of a queue that the program has destroyed. Such activities never
 * complete. */
void gt_hsa_harvest_end_queue(struct gt_hsa_queue *q, struct gt_thread *t)
{
	uint64_t tail = atomic_load_explicit(&q->slots.tail, memory_order_acquire);

	for (uint64_t i = q->slots.head; i < tail; i++) {
		struct gt_hsa_slot *s = gt_hsa_slots_at(&q->slots, i);

		if (!s)
			continue;
		gt_hsa_signal_forget(&s->watch);
		gt_hsa_activity_count_unfinished(&s->activity, t);
		if (s->activity.tool_activity)
			gt_tool_activity_drop(s->activity.tool_activity, true);
	}
	gt_hsa_queue_end(q);
}

/* Do step 1. Return false if another thread holds `harvester` for too long. */
static bool begin_harvest(struct gt_hsa_agent *a, uint32_t epoch)
{
	uint64_t since = 0;

	for (uint32_t n = 0;; n++) {
		uint32_t holder = atomic_load_explicit(&a->harvester, memory_order_relaxed);

		if (holder != epoch && /* otherwise free, or held by a fork's parent */
		    atomic_compare_exchange_strong_explicit(&a->harvester, &holder, epoch,
							    memory_order_acquire,
							    memory_order_relaxed))
			return true;
		if (n < SPINS)
			continue;
		since = since ? since : gt_hsa_boottime_ns();
		if (gt_hsa_boottime_ns() - since > HARVEST_NS)
			return false;
		if (n < YIELDS)
			sched_yield();
		else
			gt_hsa_sleep_ns(PAUSE_NS);
	}
}

static void end_harvest(struct gt_hsa_agent *a)
{
	atomic_store_explicit(&a->harvester, 0, memory_order_release);
}

/* Harvest an agent. @ends: true if the caller also ends queues that the program has destroyed;
 * other callers leave such queues unchanged. Return the number of activities in flight. */
static uint32_t harvest_agent(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done,
			      bool ends)
{
	uint32_t left = 0;

	for (struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire); q;
	     q = q->agent_next) {
		uint32_t state = atomic_load_explicit(&q->state, memory_order_acquire), in_queue;

		if (state >= GT_HSA_QUEUE_ENDING || q->epoch != t->epoch ||
		    (state == GT_HSA_QUEUE_DESTROYED && !ends))
			continue;
		in_queue = harvest_queue(q, t, done);
		if (state == GT_HSA_QUEUE_DESTROYED)
			atomic_store_explicit(&q->state, GT_HSA_QUEUE_ENDING, memory_order_release);
		else
			left += in_queue;
	}
	return left + gt_hsa_copies_harvest(a, t, done);
}

uint32_t gt_hsa_harvest_agent(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done)
{
	uint32_t left;

	if (!begin_harvest(a, t->epoch))
		return 1;
	read_clocks(a);
	left = harvest_agent(a, t, done, true);
	end_harvest(a);
	return left;
}

/* In threads other than the helper ------------------------------------------------ */

static bool has_activity(const struct gt_hsa_agent *a)
{
	for (const struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire);
	     q; q = q->agent_next)
		if (atomic_load_explicit(&q->slots.head, memory_order_relaxed) !=
			    atomic_load_explicit(&q->slots.tail, memory_order_relaxed) &&
		    atomic_load_explicit(&q->state, memory_order_relaxed) < GT_HSA_QUEUE_ENDING)
			return true;
	return false;
}

/* Harvest unless the process is ending, because the runtime then shuts itself down. */
static void harvest_now(struct gt_hsa_agent *a, struct gt_thread *t)
{
	uint32_t done = 0;

	if (!begin_harvest(a, t->epoch))
		return;
	if (!atomic_load_explicit(&gt_hsa_harvest_over, memory_order_seq_cst)) {
		if (!are_clocks_fresh(a))
			read_clocks(a);
		harvest_agent(a, t, &done, false);
	}
	end_harvest(a);
}

/* Harvest the completed activities of all agents. */
__attribute__((noinline)) void gt_hsa_harvest_all(void)
{
	struct gt_thread *t = gt_thread_own();
	uint64_t all = UINT64_MAX, before;
	struct gt_hsa_agent *a;
	int saved = errno;

	if (!t || t->writing || atomic_load_explicit(&gt_hsa_harvest_over, memory_order_relaxed))
		return;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		if (a->gpu && a->runtime->tables && (has_activity(a) || gt_hsa_copies_exist()))
			harvest_now(a, t);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
	errno = saved;
}

void gt_activity_waited(void)
{
	bool there = gt_hsa_copies_exist();
	const struct gt_hsa_agent *a;

	for (uint32_t i = 0; !there && (a = gt_hsa_agent_at(i)) != NULL; i++)
		there = a->gpu && has_activity(a);
	if (gt_unlikely(there))
		gt_hsa_harvest_all();
}

/* Harvest completed activities after a wait of the program. Skips waits inside a call of HIP, which
 * harvests when it returns, and waits in HIP's own threads. */
static inline void end_wait(bool met)
{
	if (met && !gt_thread.api_id && !gt_thread.submit_order)
		gt_activity_waited();
}

static bool is_met(unsigned int condition, int64_t value, int64_t compared)
{
	switch (condition) {
	case GT_HSA_CONDITION_EQ: return value == compared;
	case GT_HSA_CONDITION_NE: return value != compared;
	case GT_HSA_CONDITION_LT: return value < compared;
	default: return value >= compared;
	}
}

#define WAIT(f)                                                                               \
	int64_t gt_hsa_core_wrap_##f(uint64_t signal, unsigned int condition,                 \
				     int64_t compare_value, uint64_t timeout_hint,            \
				     unsigned int wait_state_hint, const struct gt_tap *tap)  \
	{                                                                                     \
		int64_t value =                                                               \
			((gt_hsa_core_##f##_fn *)tap->real)(signal, condition, compare_value, \
							    timeout_hint, wait_state_hint);   \
                                                                                              \
		end_wait(is_met(condition, value, compare_value));                            \
		return value;                                                                 \
	}
WAIT(hsa_signal_wait_relaxed)
WAIT(hsa_signal_wait_scacquire)

uint32_t gt_hsa_amd_ext_wrap_hsa_amd_signal_wait_any(uint32_t signal_count, uint64_t *signals,
						     unsigned int *conds, int64_t *values,
						     uint64_t timeout_hint, unsigned int wait_hint,
						     int64_t *satisfying_value,
						     const struct gt_tap *tap)
{
	uint32_t which = ((gt_hsa_amd_ext_hsa_amd_signal_wait_any_fn *)tap->real)(
		signal_count, signals, conds, values, timeout_hint, wait_hint, satisfying_value);

	end_wait(which != UINT32_MAX);
	return which;
}

uint32_t gt_hsa_amd_ext_wrap_hsa_amd_signal_wait_all(uint32_t signal_count, uint64_t *signals,
						     unsigned int *conds, int64_t *values,
						     uint64_t timeout_hint, unsigned int wait_hint,
						     int64_t *satisfying_values,
						     const struct gt_tap *tap)
{
	uint32_t which = ((gt_hsa_amd_ext_hsa_amd_signal_wait_all_fn *)tap->real)(
		signal_count, signals, conds, values, timeout_hint, wait_hint, satisfying_values);

	end_wait(which != UINT32_MAX);
	return which;
}
