/* SPDX-License-Identifier: MIT */
/* The helpers and the end of the process. Each agent has a helper thread that harvests completed
 * activities, so that no thread of the program has to.
 *
 *   busy   Activities are in flight: the helper looks every STEP. The interval doubles after a look
 *          that found few completed activities, and shrinks after a look that found many.
 *   idle   No activity is in flight: the helper takes short sleeps and, after a second without
 *          activities, long sleeps (`sleeps_long`). The next submission, or a queue that is half
 *          full, ends a long sleep.
 *
 * Completed activities are thus recorded at most about 2 ms later, if the helper gets a CPU. A
 * SIGKILL of the program can lose the activities of that time; the collector counts them as
 * unfinished. Activities for which the program has waited are already recorded: waiting calls
 * harvest before they return (gt_activity_waited()), and so do tools that flush or stop.
 *
 * All signals are blocked in the helpers. The helpers are detached and do not keep the process
 * alive.
 *
 * The end, in the thread that calls exit():
 *   1. The thread stores `gt_hsa_harvest_over` (sequentially consistent), and waits until no helper
 *      is inside the runtime (`at_work`; a helper sets `at_work`, then reads
 *      `gt_hsa_harvest_over`).
 *   2. The thread harvests everything completed by then, because ROCr shuts itself down in later
 *      exit handlers.
 *   3. The thread waits for handlers of signals (hsa_handlers.c), and completes the tool
 *      activities.
 * hsa_shut_down() calls gt_hsa_helper_leave() instead. The collector counts activities
 * that are incomplete by then as unfinished. */
#include "runtime/hsa/hsa_helper.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/recording.h"
#include "runtime/hsa/hsa_copy.h"
#include "runtime/hsa/hsa_handlers.h"
#include "runtime/hsa/hsa_harvest.h"
#include "runtime/hsa/hsa_proxy.h"
#include "tool/tool.h"
#include "util/clock_ns.h"

#define STEP_NS         (GT_HSA_MS / 10)
#define STEP_MAX_NS     (2 * GT_HSA_MS)
#define LONG_SLEEP_NS   (50 * GT_HSA_MS)
#define IDLE_NS         (1000 * GT_HSA_MS)
#define CLOCK_NS        (1000 * GT_HSA_MS)
#define LEAVE_NS        (5000 * GT_HSA_MS) /* maximum time for a helper to leave the runtime */
#define LEAVE_INSIDE_NS (50 * GT_HSA_MS)

enum { STACK_BYTES = 256 << 10, ARM_AT_ONCE = 1024 };
/* Number of activities that a look should find. If there are fewer, each activity costs a sleep and
 * a wake-up. If there are more, their memory is no longer in the cache. If a look found MANY, more
 * activities have completed meanwhile. */
enum { FEW = 128, ENOUGH = 384, MANY = 512 };

struct helper {
	_Atomic uint32_t epoch; /* process that started, or tried to start, this helper */
	_Atomic uint32_t
		at_work; /* true while the helper is, or is about to be, inside the runtime */
};

_Atomic(gt_hsa_shut_down_fn *) gt_hsa_was_shut_down;

static struct helper helpers[GT_HSA_AGENTS_MAX];
static _Atomic uint32_t waiting; /* true while another thread is harvesting */
static _Atomic int32_t process;  /* process that has helpers; its child processes have none */
static _Atomic uint32_t resting; /* true after the session has ended (gt_hsa_helper_rest()) */

static bool is_empty(const struct gt_hsa_queue *q)
{
	return atomic_load_explicit(&q->slots.head, memory_order_relaxed) ==
	       atomic_load_explicit(&q->slots.tail, memory_order_acquire);
}

/* Make one round over the queues of an agent. @last: true if no more packets are handled */
static uint32_t look_at_agent(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done,
			      bool last)
{
	struct gt_hsa_queue *first = atomic_load_explicit(&a->queues, memory_order_acquire);
	uint32_t left = 0;

	for (struct gt_hsa_queue *q = last ? NULL : first; q; q = q->agent_next) {
		uint32_t state = atomic_load_explicit(&q->state, memory_order_acquire);

		if (state >= GT_HSA_QUEUE_ENDING || q->epoch != t->epoch)
			continue;
		if (gt_hsa_queue_arm(q, ARM_AT_ONCE))
			++*done; /* makes the next look come soon */
		if (state == GT_HSA_QUEUE_LIVE)
			left += gt_hsa_proxy_look(q);
		if (state == GT_HSA_QUEUE_LEFT && is_empty(q))
			atomic_compare_exchange_strong(&q->state, &state, GT_HSA_QUEUE_DESTROYED);
	}
	left += gt_hsa_harvest_agent(a, t, done);
	for (struct gt_hsa_queue *q = first; q; q = q->agent_next)
		if (atomic_load_explicit(&q->state, memory_order_acquire) == GT_HSA_QUEUE_ENDING &&
		    q->epoch == t->epoch)
			gt_hsa_harvest_end_queue(q, t);
	return left;
}

/* Return the time until the next look. */
static uint64_t next_step(uint64_t step, uint32_t done)
{
	if (done < FEW)
		return 2 * step < STEP_MAX_NS ? 2 * step : STEP_MAX_NS;
	return done > ENOUGH && step / 2 > STEP_NS ? step / 2 : step;
}

/* Sleep for @ns, or until gt_hsa_wake_helper() is called. */
static void sleep_until_woken(struct gt_hsa_agent *a, uint64_t ns)
{
	const struct timespec wait = {0, (long)ns};

	atomic_store_explicit(&a->asleep, 1, memory_order_seq_cst);
	syscall(SYS_futex, &a->asleep, FUTEX_WAIT_PRIVATE, 1, &wait, NULL, 0);
	atomic_store_explicit(&a->asleep, 0, memory_order_relaxed);
}

static void start_thread(struct gt_hsa_agent *a);

/* Start a new thread. Runs when a tool's function has ended the current thread. */
static void restart_helper(void *arg)
{
	struct gt_hsa_agent *a = arg;

	if (!atomic_load_explicit(&gt_hsa_harvest_over, memory_order_seq_cst))
		start_thread(a);
}

/* Return true if the helper has no queue to serve. The program's proxy queues need it as long as
 * they exist. */
static bool may_end(const struct gt_hsa_agent *a, const struct gt_thread *t)
{
	const struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire);

	while (q && (q->epoch != t->epoch ||
		     atomic_load_explicit(&q->state, memory_order_acquire) == GT_HSA_QUEUE_GONE))
		q = q->agent_next;
	return !q && !gt_hsa_copies_exist();
}

/* Return false if another session has begun to use the helper. */
static bool end_helper(struct helper *h, const struct gt_thread *t)
{
	uint32_t epoch = t->epoch;

	return atomic_compare_exchange_strong(&h->epoch, &epoch, 0);
}

static void *run_helper(void *arg)
{
	struct gt_hsa_agent *a = arg;
	struct helper *h = &helpers[gt_hsa_agent_position(a)];
	uint64_t step = STEP_NS, worked = 0;

	gt_tool_thread_takes("gputap", restart_helper, a);
	for (;;) {
		struct gt_thread *t;
		uint32_t left, done = 0;
		uint64_t now;
		bool idle;

		atomic_store_explicit(&h->at_work, 1, memory_order_seq_cst);
		if (atomic_load_explicit(&waiting, memory_order_seq_cst)) {
			atomic_store_explicit(&h->at_work, 0, memory_order_release);
			gt_hsa_sleep_ns(STEP_NS);
			continue;
		}
		t = atomic_load_explicit(&gt_hsa_harvest_over, memory_order_seq_cst)
			    ? NULL
			    : gt_thread_get();
		if (!t)
			break;
		left = look_at_agent(a, t, &done, false);
		now = gt_hsa_boottime_ns();
		if (now - a->clock_read_ns >= CLOCK_NS && (left || done))
			gt_hsa_agent_read_clock(a, t);
		atomic_store_explicit(&h->at_work, 0, memory_order_release);
		if (gt_tool_deliver())
			worked = now; /* other threads may have harvested */
		step = next_step(step, done);
		if (done >= MANY)
			continue; /* more activities have completed meanwhile */
		if (gt_unlikely(atomic_load_explicit(&resting, memory_order_relaxed)) && !left &&
		    may_end(a, t) && end_helper(h, t))
			break;
		if (left || done) {
			worked = now;
			atomic_store_explicit(&a->sleeps_long, 0, memory_order_relaxed);
			sleep_until_woken(a, step);
			continue;
		}
		idle = now - worked > IDLE_NS;
		if (idle && !atomic_exchange_explicit(&a->sleeps_long, 1, memory_order_seq_cst))
			/* Look once more, because a submission before `sleeps_long` was set did not
			 * wake the helper. */
			continue;
		sleep_until_woken(a, idle ? LONG_SLEEP_NS : step);
	}
	atomic_store_explicit(&h->at_work, 0, memory_order_release);
	if (!atomic_load_explicit(&resting, memory_order_relaxed))
		atomic_store_explicit(&h->epoch, 0, memory_order_release);
	gt_tool_thread_leaves();
	return NULL;
}

/* Keep the helpers out of the runtime, and wait at most @ns until the helpers have left it. On a
 * busy machine a helper may have no processor for a long time; it may also wait for a lock that
 * this thread holds inside the runtime. @why: &gt_hsa_harvest_over or &waiting, which helpers check
 * before they enter the runtime. A forked child has no helpers, regardless of inherited state.
 * Return false if a helper has not left. */
static bool keep_helpers_out(_Atomic uint32_t *why, uint64_t ns)
{
	bool out = true, here = atomic_load_explicit(&process, memory_order_relaxed) == getpid();
	uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + ns;

	atomic_store_explicit(why, 1, memory_order_seq_cst);
	for (uint32_t i = 0; i < GT_HSA_AGENTS_MAX; i++) {
		while (here && atomic_load_explicit(&helpers[i].at_work, memory_order_seq_cst) &&
		       gt_clock_ns(CLOCK_MONOTONIC) < until)
			gt_hsa_sleep_ns(GT_HSA_MS / 2);
		out = out && !atomic_load_explicit(&helpers[i].at_work, memory_order_seq_cst);
	}
	return out;
}

static void look_last(const struct gt_hsa_runtime *only)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_agent *a;
	uint32_t done = 0;

	for (uint32_t i = 0; t && (a = gt_hsa_agent_at(i)); i++)
		if ((!only || a->runtime == only) && a->runtime->tables && a->gpu)
			look_at_agent(a, t, &done, true);
}

void gt_hsa_helper_fault(uint64_t value, const char *text)
{
	static _Atomic uint32_t written;
	int saved = errno;

	if (!atomic_exchange_explicit(&written, 1, memory_order_relaxed))
		gt_event_write(gt_thread_own(), GT_EVENT_FAULT, GT_DOMAIN_HSA_CORE, value, text);
	if (keep_helpers_out(&waiting, LEAVE_INSIDE_NS))
		look_last(NULL);
	atomic_store_explicit(&waiting, 0, memory_order_seq_cst);
	errno = saved;
}

/* Harvest completed activities in this thread when a tool flushes, stops or finishes. The helpers
 * call the tools. */
static void look_for_tools(void)
{
	struct gt_hsa_agent *a;

	if (gt_thread.depth)
		return; /* the runtime may hold locks */
	gt_hsa_harvest_all();
	for (uint32_t i = 0; gt_tool_has_done() && (a = gt_hsa_agent_at(i)) != NULL; i++)
		gt_hsa_wake_helper(a);
}

static void end_process(void)
{
	/* In exit() from inside a call, the runtime may hold locks. */
	bool inside = gt_thread.depth;

	if (keep_helpers_out(&gt_hsa_harvest_over, inside ? LEAVE_INSIDE_NS : LEAVE_NS) &&
	    !inside) {
		look_last(NULL);
		if (atomic_load_explicit(&process, memory_order_relaxed) == getpid())
			gt_hsa_wait_for_handlers();
	}
	gt_tool_deliver();
}

/* Harvest and destroy gputap's signals before the real call. A runtime that is being shut down no
 * longer answers calls; ROCr 7 does not even answer while it notifies its tools. If the runtime
 * still has other users, this call was only an additional look. */
int gt_hsa_core_wrap_hsa_shut_down(const struct gt_call *call)
{
	struct gt_hsa_runtime *r = gt_hsa_runtime_of(call);
	gt_hsa_shut_down_fn *hook = atomic_load(&gt_hsa_was_shut_down);
	int status;

	if (keep_helpers_out(&waiting, LEAVE_NS))
		look_last(r);
	if (gt_likely(!hook))
		atomic_store_explicit(&waiting, 0, memory_order_seq_cst);
	status = ((gt_hsa_core_hsa_shut_down_fn *)call->tap->real)();
	if (gt_unlikely(hook != NULL)) {
		hook(r);
		atomic_store_explicit(&waiting, 0, memory_order_seq_cst);
	}
	return status;
}

void gt_hsa_helper_leave(struct gt_hsa_runtime *runtime, bool is_usable)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_hsa_agent *a;

	keep_helpers_out(&gt_hsa_harvest_over, LEAVE_NS);
	if (is_usable)
		look_last(runtime);
	for (uint32_t i = 0; t && (a = gt_hsa_agent_at(i)); i++)
		for (struct gt_hsa_queue *q = a->runtime == runtime ? a->queues : NULL; q;
		     q = q->agent_next)
			if (atomic_load_explicit(&q->state, memory_order_acquire) !=
				    GT_HSA_QUEUE_GONE &&
			    q->epoch == t->epoch)
				gt_hsa_harvest_end_queue(q, t);
	gt_hsa_copies_end(runtime, t);
	gt_tool_deliver();
	atomic_store_explicit(&gt_hsa_harvest_over, 0, memory_order_seq_cst);
}

static void start_thread(struct gt_hsa_agent *a)
{
	static _Atomic uint32_t registered;

	atomic_store_explicit(&process, getpid(), memory_order_relaxed);
	if (!atomic_exchange_explicit(&registered, 1, memory_order_relaxed)) {
		atexit(end_process);
		at_quick_exit(end_process);
		gt_tool_activity_looks(look_for_tools);
	}
	gt_tool_thread_start(run_helper, a, STACK_BYTES);
}

void gt_hsa_helper_start(struct gt_hsa_agent *a, const struct gt_thread *t)
{
	struct helper *h = &helpers[gt_hsa_agent_position(a)];
	uint32_t known = atomic_load_explicit(&h->epoch, memory_order_relaxed);
	int saved = errno;

	if (known != t->epoch &&
	    !atomic_load_explicit(&gt_hsa_harvest_over, memory_order_relaxed) &&
	    atomic_compare_exchange_strong_explicit(&h->epoch, &known, t->epoch,
						    memory_order_relaxed, memory_order_relaxed)) {
		atomic_store_explicit(&a->asleep, 0, memory_order_relaxed);
		atomic_store_explicit(&h->at_work, 0, memory_order_relaxed);
		start_thread(a);
	}
	errno = saved;
}

/* Wait until a thread that began to harvest in the former session is done. */
static void wait_for_harvester(const struct gt_hsa_agent *a, const struct gt_thread *t)
{
	const uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	uint32_t holder;

	while ((holder = atomic_load_explicit(&a->harvester, memory_order_acquire)) != 0 &&
	       holder != t->epoch && gt_clock_ns(CLOCK_MONOTONIC) < until)
		gt_hsa_sleep_ns(STEP_NS);
}

static void renew_queues(struct gt_hsa_agent *a, struct gt_thread *t)
{
	struct helper *h = &helpers[gt_hsa_agent_position(a)];
	uint32_t known = atomic_load_explicit(&h->epoch, memory_order_relaxed);

	if (known && known != t->epoch)
		atomic_compare_exchange_strong(&h->epoch, &known, t->epoch);
	wait_for_harvester(a, t);
	atomic_store_explicit(&a->copies, 0, memory_order_relaxed); /* to be written again */
	gt_hsa_agent_get(a->runtime, t, a->handle);
	for (struct gt_hsa_queue *q = atomic_load_explicit(&a->queues, memory_order_acquire); q;
	     q = q->agent_next)
		if (atomic_load_explicit(&q->state, memory_order_acquire) < GT_HSA_QUEUE_ENDING &&
		    q->epoch != t->epoch)
			gt_hsa_queue_renew(q, t);
}

void gt_hsa_helper_resume(struct gt_thread *t)
{
	struct gt_hsa_agent *a;

	atomic_store(&resting, 0);
	if (atomic_load_explicit(&process, memory_order_relaxed) != getpid())
		return;
	keep_helpers_out(&waiting, LEAVE_NS);
	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		if (a->gpu && a->runtime->tables)
			renew_queues(a, t);
	gt_hsa_copies_renew(t);
	atomic_store_explicit(&waiting, 0, memory_order_seq_cst);
}

void gt_hsa_helper_rest(void)
{
	struct gt_hsa_agent *a;

	atomic_store(&resting, 1);
	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		gt_hsa_wake_helper(a);
}
