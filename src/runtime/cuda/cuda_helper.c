/* SPDX-License-Identifier: MIT */
/* The helper thread: flushes completed records from CUPTI every 100 ms and writes them, so a
 * SIGKILL of the program loses at most the records of the last interval. This file also handles
 * the end of the process.
 *
 * The interval is 100 ms while the program launches, and for a minute after the last launch,
 * because a kernel may run for a long time. Afterwards the interval is one second, which has no
 * measurable cost.
 *
 * At the end, the thread that calls exit() keeps the helper out of CUPTI, flushes CUPTI with
 * FORCED, and writes the completed records. Only the process that opened CUPTI does so: calling
 * CUPTI in a fork's child would hang forever. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/context.h"
#include "core/recording.h"
#include "runtime/cuda/cuda_driver_calls.h"
#include "runtime/cuda/cuda_parts.h"
#include "runtime/cuda/cuda_runtime_calls.h"
#include "tool/tool.h"
#include "tool/tool_activity.h"
#include "util/clock_ns.h"

#define FLUSH_NS         (100 * GT_CUDA_MS)
#define IDLE_NS          (1000 * GT_CUDA_MS)
#define LEAVE_NS         (5000 * GT_CUDA_MS) /* longest final wait for the helper to leave CUPTI */
#define FINALISED_NS     (1000 * GT_CUDA_MS) /* wait for a call that finalises CUPTI */
#define LEAVE_AT_ONCE_NS (500 * GT_CUDA_MS)  /* the same wait in _exit() */
#define LONG_PAUSE       10                  /* in rounds without wanted GPU activities */
#define QUIET_AFTER      600                 /* in rounds */

enum { STACK_BYTES = 256 << 10 };

static struct {
	_Atomic int32_t process; /* process that runs a helper */
	_Atomic uint32_t
		at_work;       /* nonzero while the helper is inside CUPTI or about to enter it */
	_Atomic uint32_t over; /* nonzero once the process is ending */
	_Atomic uint32_t
		leaving; /* enum leaving; set when the process ends without exit handlers */
	/* nonzero once the session that has attached to the process has ended */
	_Atomic uint32_t detaches;
} helper;

enum leaving { STAYS = 0, LEAVES, MAY_LEAVE };

/* The thread ---------------------------------------------------------------------- */

static void read_all(uint32_t flag)
{
	struct gt_thread *t = gt_thread_own();

	gt_internal_enter();
	gt_cupti_session_flush(flag);
	gt_cupti_buffers_read(t);
	gt_internal_leave();
}

/* Read the last records when the process ends. */
static void read_last(void)
{
	gt_cupti_client_hold(true);
	read_all(CUPTI_FLUSH_FORCED);
	gt_cupti_client_hold(false);
}

static bool is_wanted_now(void)
{
	return gt_cuda_activity_wanted(false) || gt_cuda_runtime_wanted() || gt_cuda_calls_wanted();
}

/* Follow changes of contexts: stop CUPTI after a long pause, and restart CUPTI when it is
 * wanted. */
static void follow_contexts(uint32_t *unwanted, bool launched)
{
	*unwanted = is_wanted_now() ? 0 : *unwanted + 1;
	if (!*unwanted)
		gt_cupti_session_start();
	else if (*unwanted > LONG_PAUSE)
		gt_cupti_session_stop();
	if (*unwanted > 2 * LONG_PAUSE && launched)
		gt_cupti_session_give_up();
	gt_cupti_session_follow_calls();
}

static bool is_leaving(void)
{
	return atomic_load_explicit(&helper.leaving, memory_order_acquire) == LEAVES;
}

/* Wait until a launch or a wait of the program has finalised CUPTI. A program that makes no such
 * call keeps CUPTI, at no cost, until its next one. */
static void wait_for_leave(void)
{
	const struct timespec pause = {0, (long)GT_CUDA_MS};
	const uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + FINALISED_NS;

	gt_cuda_activity_launched();
	while (gt_cupti_session_leaves() && gt_clock_ns(CLOCK_MONOTONIC) < until)
		syscall(SYS_nanosleep, &pause, NULL);
	if (gt_cuda_activity_launched())
		gt_cupti_session_give_up();
}

/* Read the last records of the session, and stop CUPTI, unless tools want it. Callbacks that are
 * not for launches are disabled first, so that few threads are inside CUPTI when the next launch
 * finalises it. */
static void end_session(void)
{
	atomic_store_explicit(&helper.at_work, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&helper.over, memory_order_seq_cst)) {
		gt_internal_enter();
		gt_cupti_session_follow_calls();
		gt_internal_leave();
		read_all(CUPTI_FLUSH_FORCED);
		gt_cupti_buffers_drop(true);
		gt_cupti_session_stop();
		wait_for_leave();
	}
	atomic_store_explicit(&helper.at_work, 0, memory_order_release);
}

static bool is_detaching(void)
{
	return atomic_load_explicit(&helper.detaches, memory_order_acquire) &&
	       !gt_tool_activity_asked(GT_DOMAIN_CUDA_DRIVER);
}

static void *run_helper(void *arg)
{
	uint32_t quiet = 0, unwanted = 0;

	gt_tool_thread_takes("gputap", NULL, arg);
	while (!atomic_load_explicit(&helper.over, memory_order_seq_cst) && !is_detaching()) {
		bool launched = gt_cuda_activity_launched(), leaves = is_leaving();

		atomic_store_explicit(&helper.at_work, 1, memory_order_seq_cst);
		if (!atomic_load_explicit(&helper.over, memory_order_seq_cst)) {
			if (leaves)
				read_last();
			else
				read_all(CUPTI_FLUSH_COMPLETED);
			follow_contexts(&unwanted, launched);
		}
		if (leaves)
			atomic_store_explicit(&helper.leaving, MAY_LEAVE, memory_order_release);
		atomic_store_explicit(&helper.at_work, 0, memory_order_release);
		gt_tool_deliver();
		quiet = launched ? 0 : quiet + 1;
		gt_cuda_helper_sleep(quiet < QUIET_AFTER ? FLUSH_NS : IDLE_NS);
	}
	if (is_detaching()) {
		end_session();
		atomic_store_explicit(&helper.process, 0, memory_order_release);
	}
	gt_tool_thread_leaves();
	return NULL;
}

static void at_end(void)
{
	uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	const struct timespec pause = {0, (long)(GT_CUDA_MS / 2)};

	if (atomic_load(&helper.process) != getpid())
		return;
	atomic_store_explicit(&helper.over, 1, memory_order_seq_cst);
	gt_cuda_helper_wake();
	while (atomic_load_explicit(&helper.at_work, memory_order_seq_cst) &&
	       gt_clock_ns(CLOCK_MONOTONIC) < until)
		syscall(SYS_nanosleep, &pause, NULL);
	/* if exit() is called inside a driver call, the driver may hold locks */
	if (!gt_thread.depth)
		read_last();
	gt_tool_deliver();
}

/* Let the helper read the last records before _exit(), which may be called in a signal handler that
 * has interrupted any code. The calling thread only waits, and only briefly, because the helper may
 * need a lock that this thread holds. */
void gt_cuda_helper_leave(void)
{
	const struct timespec step = {0, 50000};
	uint64_t until;

	if (!atomic_load(&helper.process) || atomic_load(&helper.process) != getpid() ||
	    atomic_load(&helper.over))
		return;
	until = gt_clock_ns(CLOCK_MONOTONIC) + LEAVE_AT_ONCE_NS;
	atomic_store_explicit(&helper.leaving, LEAVES, memory_order_release);
	gt_cuda_helper_wake();
	while (atomic_load_explicit(&helper.leaving, memory_order_acquire) != MAY_LEAVE &&
	       gt_clock_ns(CLOCK_MONOTONIC) < until)
		syscall(SYS_nanosleep, &step, NULL);
}

/* Find completed activities when a tool flushes, stops or is finished. */
static void look_for_tools(void)
{
	if (gt_thread.depth || atomic_load(&helper.process) != getpid() ||
	    atomic_load_explicit(&helper.over, memory_order_relaxed))
		return;
	read_all(CUPTI_FLUSH_COMPLETED);
	gt_cuda_helper_wake();
}

static void start_helper(void)
{
	static _Atomic uint32_t registered;
	int32_t none = 0;

	if (!atomic_compare_exchange_strong(&helper.process, &none, getpid()))
		return;
	if (!atomic_exchange(&registered, 1)) {
		atexit(at_end);
		at_quick_exit(at_end);
		gt_tool_activity_looks(look_for_tools);
	}
	gt_tool_thread_start(run_helper, NULL, STACK_BYTES);
}

/* Before the first call of the driver ----------------------------------------------------- */

static void be_started(void)
{
	gt_cuda_activity_linked();
	start_helper();
}

static bool wants_records(void)
{
	return gt_cuda_activity_wanted(true);
}

static const struct gt_cupti_user user = {
	.callback = gt_cuda_activity_callback,
	.request = gt_cupti_request,
	.complete = gt_cupti_complete,
	.find_functions = gt_cuda_functions_find,
	.is_needed = gt_cuda_callback_needed,
	.started = be_started,
	.taken_over = gt_cupti_share_serve,
	.restarts = gt_cupti_buffers_restart,
	.wants_records = wants_records,
};

/* Process that called cuInit() first. A forked child of that process has no CUDA, and CUPTI would
 * hang in the child. */
static _Atomic int32_t user_process;

static bool is_user(void)
{
	return atomic_load_explicit(&user_process, memory_order_acquire) == getpid();
}

/* Prepare CUPTI before recording resumes. CUPTI may have been stopped during the pause, or never
 * started. */
static void resume(void)
{
	if (is_user() && gt_cuda_activity_wanted(true))
		gt_cupti_session_start();
}

/* Enable the wanted runtime callbacks in CUPTI before the next call. */
static void follow_calls(void)
{
	if (!is_user())
		return;
	if (is_wanted_now())
		gt_cupti_session_start();
	gt_cupti_session_follow_calls();
}

__attribute__((constructor)) static void be_user(void)
{
	gt_cupti_session_use(&user);
	gt_contexts_resume_hook = resume;
	gt_contexts_changed_hook = follow_calls;
}

void gt_cuda_helper_attach(void)
{
	atomic_store_explicit(&user_process, getpid(), memory_order_release);
	atomic_store_explicit(&helper.detaches, 0, memory_order_release);
	gt_cupti_buffers_discard();
	gt_cupti_buffers_drop(false);
	gt_cupti_session_renew();
	gt_cupti_share_renew();
	if (is_wanted_now())
		gt_cupti_session_start();
	if (gt_cupti_session_is_active())
		start_helper();
	gt_cupti_session_follow_calls();
}

void gt_cuda_helper_detach(void)
{
	const struct timespec pause = {0, (long)GT_CUDA_MS};
	uint64_t until = gt_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;

	if (!atomic_load(&helper.process) || atomic_load(&helper.process) != getpid())
		return;
	atomic_store_explicit(&helper.detaches, 1, memory_order_release);
	gt_cuda_helper_wake();
	while (is_detaching() && atomic_load_explicit(&helper.process, memory_order_acquire) &&
	       gt_clock_ns(CLOCK_MONOTONIC) < until)
		syscall(SYS_nanosleep, &pause, NULL);
	if (!atomic_load_explicit(&helper.process, memory_order_acquire))
		gt_cupti_buffers_discard();
}

/* Return true if CUPTI must be opened now. During a pause, open CUPTI when the pause ends. If graph
 * launches are recorded as a whole, open CUPTI at once, because that record kind must not be
 * enabled or disabled while graphs exist (cupti_session.c). */
static bool is_wanted_at_once(void)
{
	if (is_wanted_now())
		return true;
	return gt_recording.session && gt_recording.session->mode == GT_MODE_LITE &&
	       gt_cuda_activity_wanted(true);
}

/* Start CUPTI before the real cuInit(), for two reasons: kinds that are enabled before a context is
 * created leave no overhead after they are disabled, and CUPTI sees the first context. */
int gt_cuda_driver_wrap_cuInit(const struct gt_call *call, unsigned int flags)
{
	int32_t none = 0;

	gt_cuda_table_is(call->table);
	atomic_compare_exchange_strong(&user_process, &none, getpid());
	if (is_user() && is_wanted_at_once())
		gt_cupti_session_start();
	return ((gt_cuda_driver_cuInit_fn *)call->tap->real)(flags);
}
