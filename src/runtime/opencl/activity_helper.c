/* SPDX-License-Identifier: MIT */
/* The helper thread, which harvests commands that no call of the program harvests, keeps chunks
 * ready, and reads device clocks. At the end of the process, commands completed by then are
 * recorded without waiting.
 *
 *   busy   Commands are in flight: the helper looks every millisecond, less often while no command
 *          completes. Queues of devices that are the host itself are skipped until they have not
 *          been harvested for a while (on PoCL, 100,000 small kernels took 11 % longer if the
 *          helper also harvested them, and 5 % longer if it did not).
 *   idle   No command is in flight: the helper looks a few more times, then sleeps until the first
 *          enqueue wakes it.
 *
 * The first enqueued command starts the helper, with all signals blocked. If the thread cannot be
 * created, the program's own calls harvest. Once the end of the process has started, the helper no
 * longer calls the runtime: runtimes shut themselves down in their own exit handlers, which run
 * after gputap's, because gputap's was registered later.
 * Never here: waiting for the device. */
#include "core/recording.h"
#include "runtime/opencl/activity_pending.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tool/tool.h"
#include "util/clock_ns.h"

#define MS              UINT64_C(1000000)
/* Limits for devices that are the host, where the helper would take a processor from the device and
 * the program's calls harvest soon. */
#define UNHARVESTED_NS  (50 * MS)   /* time without a harvest after which the helper harvests */
#define WAITING_NS      (1000 * MS) /* same, while a thread waits for the queue */
#define LEAVE_NS        (5000 * MS) /* maximum time for the helper to leave the runtime at exit */
#define LEAVE_INSIDE_NS (50 * MS)

enum { STACK_BYTES = 256 << 10, IDLE_LOOKS = 20, AT_ONCE = 256 };

static struct {
	_Atomic uint32_t epoch;   /* process that started, or tried to start, the helper */
	_Atomic uint32_t asleep;  /* futex: 1 while the helper sleeps without time-out */
	_Atomic uint32_t at_work; /* true while the helper is inside harvest_queues() */
	_Atomic uint32_t over;    /* true once the process is ending */
	/* helpers of earlier epochs end: at once; when no command is in flight */
	_Atomic uint32_t ends_before, ends_idle_before;
} helper;

static bool is_over(void)
{
	return atomic_load_explicit(&helper.over, memory_order_seq_cst);
}

static uint64_t get_host_ns(void)
{
	return gt_clock_ns(CLOCK_MONOTONIC);
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))};

	syscall(SYS_nanosleep, &t, NULL);
}

/* Return true if the helper should harvest this queue now. */
static bool is_ours(struct gt_cl_queue *q, uint64_t now)
{
	uint64_t harvested = atomic_load_explicit(&q->harvested, memory_order_relaxed);
	uint32_t waited_for;

	if (harvested != q->harvested_known || !gt_cl_queue_count(q)) {
		q->harvested_known = harvested;
		q->unharvested_since_ns = now;
	}
	waited_for = atomic_load_explicit(&q->waiting, memory_order_relaxed);
	return atomic_load_explicit(&q->helped, memory_order_relaxed) ||
	       now - q->unharvested_since_ns > (waited_for ? WAITING_NS : UNHARVESTED_NS);
}

/* Make one round over all queues.
 * @all:  true to include queues to which the program is enqueuing, whose enqueues harvest, and to
 *        continue while the process ends
 * @done: receives the number of harvested commands
 * Return: number of commands still in flight. */
static uint32_t harvest_queues(bool all, uint32_t *done)
{
	uint64_t now = get_host_ns();
	uint32_t left = 0;

	*done = 0;
	for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next) {
		bool wanted = all || is_ours(q, now);

		for (uint32_t some = AT_ONCE; some == AT_ONCE && wanted && (all || !is_over());
		     *done += some)
			some = gt_cl_queue_harvest(q, AT_ONCE);
		left += (uint32_t)gt_cl_queue_count(q);
	}
	return left;
}

static void read_clocks(struct gt_thread *t)
{
	for (struct gt_cl_device *d = gt_cl_device_first(); d; d = d->next)
		if (d->timer && d->number)
			gt_cl_device_clock(d, t);
}

/* Return true if the helper of an epoch must end, because its session has. @idle: no command is in
 * flight */
static bool is_ended(uint32_t epoch, bool idle)
{
	return epoch < atomic_load_explicit(&helper.ends_before, memory_order_acquire) ||
	       (idle &&
		epoch < atomic_load_explicit(&helper.ends_idle_before, memory_order_acquire));
}

/* Sleep until an enqueue, a tool, or the end of the process wakes the helper. */
static void sleep_until_wanted(uint32_t epoch)
{
	bool activity = false;

	atomic_exchange_explicit(&helper.asleep, 1, memory_order_acq_rel);
	for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
		activity |= gt_cl_queue_count(q) != 0;
	activity |= gt_tool_has_done() || gt_cl_callback_thread_wanted();
	if (!activity && !is_over() && !is_ended(epoch, true))
		syscall(SYS_futex, &helper.asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	atomic_store_explicit(&helper.asleep, 0, memory_order_relaxed);
}

static void start_helper(uint32_t epoch);

/* Start a new thread. Runs when a tool's function has ended the current thread. */
static void thread_left(void *epoch)
{
	if (!is_over())
		start_helper((uint32_t)(uintptr_t)epoch);
}

static void *run_helper(void *arg)
{
	uint32_t epoch = (uint32_t)(uintptr_t)arg, left, done, idle = 0;
	uint64_t step = MS, clocks_at = get_host_ns();

	gt_tool_thread_takes("gputap", thread_left, arg);
	atomic_store_explicit(&gt_cl_helper_alive, epoch, memory_order_relaxed);
	while (!is_over()) {
		struct gt_thread *t = gt_thread_call(GT_DOMAIN_OPENCL);

		atomic_store_explicit(&helper.at_work, 1, memory_order_seq_cst);
		if (is_over()) {
			atomic_store_explicit(&helper.at_work, 0, memory_order_release);
			break;
		}
		left = harvest_queues(false, &done);
		if (t && left && get_host_ns() - clocks_at >= 1000 * MS) {
			read_clocks(t);
			clocks_at = get_host_ns();
		}
		gt_cl_spare_grow(epoch);
		atomic_store_explicit(&helper.at_work, 0, memory_order_release);
		gt_cl_callback_thread_start();
		gt_tool_deliver();
		if ((!t && !left) || is_ended(epoch, !left))
			break; /* recording has ended and the list is empty */
		step = done ? MS : step < 16 * MS ? step * 2 : step;
		idle = left || done ? 0 : idle + 1;
		if (idle > IDLE_LOOKS) {
			sleep_until_wanted(epoch);
			idle = 0;
			step = MS;
		}
		sleep_ns(step);
	}
	/* A new session may have started another helper. */
	atomic_compare_exchange_strong(&gt_cl_helper_alive, &epoch, 0);
	gt_tool_thread_leaves();
	return NULL;
}

/* Finish at exit:
 *  1. helper.over is stored (sequentially consistent), so that the helper makes no more calls of
 *     OpenCL.
 *  2. This thread waits until the helper has left its current call. The limit is normally long,
 *     because on a busy machine the helper may have no processor. The limit is short if exit() was
 *     called inside a call of OpenCL, because the helper may then wait for a lock that this thread
 *     holds.
 *  3. This thread records completed commands.
 * Exit handlers of the program that run later may still use OpenCL; their calls harvest. */
static void at_end(void)
{
	uint64_t until = get_host_ns() + (gt_thread.depth ? LEAVE_INSIDE_NS : LEAVE_NS);
	uint32_t done;

	atomic_store_explicit(&helper.over, 1, memory_order_seq_cst);
	while (gt_cl_helper_lives() &&
	       atomic_load_explicit(&helper.at_work, memory_order_seq_cst) && get_host_ns() < until)
		sleep_ns(MS / 2);
	if (!gt_thread.depth) /* in exit() from inside a call, the runtime may hold locks */
		harvest_queues(true, &done);
	gt_cl_callbacks_end(!gt_thread.depth);
	gt_tool_deliver();
}

/* Harvest completed commands in this thread when a tool flushes, stops or finishes. The helper
 * notifies the tool. */
static void look_for_tools(void)
{
	const struct gt_thread *t = gt_thread_own();

	if (is_over() || gt_thread.depth || !t)
		return;
	for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
		gt_cl_queue_harvest_all(q);
	if (gt_tool_has_done())
		gt_cl_helper_want(t);
}

static void start_helper(uint32_t epoch)
{
	static _Atomic uint32_t registered;

	/* Forked children inherit these registrations. */
	if (!atomic_exchange_explicit(&registered, 1, memory_order_relaxed)) {
		atexit(at_end);
		at_quick_exit(at_end);
		gt_tool_activity_looks(look_for_tools);
	}
	atomic_store_explicit(&helper.asleep, 0, memory_order_relaxed);
	atomic_store_explicit(&helper.at_work, 0, memory_order_relaxed);
	atomic_store_explicit(&helper.over, 0, memory_order_relaxed);
	gt_tool_thread_start(run_helper, (void *)(uintptr_t)epoch, STACK_BYTES);
}

static void wake(void)
{
	atomic_store_explicit(&helper.asleep, 0, memory_order_relaxed);
	syscall(SYS_futex, &helper.asleep, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Wait until helpers of epochs before @epoch have ended, but not long: a helper may be inside the
 * runtime. */
static void wait_for_helpers(uint32_t epoch, uint64_t ns)
{
	const uint64_t until = get_host_ns() + ns;
	uint32_t alive;

	while ((alive = atomic_load(&gt_cl_helper_alive)) && gt_recording_owns(alive) &&
	       alive < epoch && get_host_ns() < until) {
		wake();
		sleep_ns(MS);
	}
}

void gt_cl_session_begin(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	atomic_store_explicit(&helper.ends_before, epoch, memory_order_release);
	wait_for_helpers(epoch, LEAVE_NS);
	for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
		if (q->epoch != epoch && gt_recording_owns(q->epoch))
			gt_cl_queue_reset(q, epoch);
}

void gt_cl_session_end(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
		gt_cl_queue_harvest_all(q);
	atomic_store_explicit(&helper.ends_idle_before, epoch + 1, memory_order_release);
	wait_for_helpers(epoch + 1, LEAVE_INSIDE_NS);
}

void gt_cl_helper_want(const struct gt_thread *t)
{
	uint32_t known = atomic_load_explicit(&helper.epoch, memory_order_relaxed);
	int saved = errno;

	if (gt_unlikely(known != t->epoch) && !(known && helper.over) &&
	    atomic_compare_exchange_strong_explicit(&helper.epoch, &known, t->epoch,
						    memory_order_relaxed, memory_order_relaxed))
		start_helper(t->epoch);
	/* The caller has raised its count before this point. The helper exchanges `asleep` before
	 * it checks the counts a last time. The later of the two reads the value that the earlier
	 * one has written: either this thread sees that the helper sleeps, or the helper sees the
	 * count. */
	if (gt_unlikely(atomic_fetch_or_explicit(&helper.asleep, 0, memory_order_acq_rel)))
		wake();
	errno = saved;
}
