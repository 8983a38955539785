/* SPDX-License-Identifier: MIT */
/* See tool_follow.h. Locking: follow() uses a separate word in the page that the kernel zeroes in a
 * fork's child, so that two threads do not apply two states in the wrong order. */
#include "tool/tool_follow.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/late.h"
#include "core/range_window.h"
#include "core/recording.h"
#include "core/recording_state.h"
#include "ring/segment_threads.h"
#include "tool/tool.h"

enum { STACK_BYTES = 256 << 10 }; /* large, because this thread may open CUPTI */

/* Epoch of the process that runs the thread or could not create it. */
static _Atomic uint32_t begun_epoch;
static _Atomic uint32_t is_without_thread;
/* nonzero while the thread of a session that attached to this process runs */
static _Atomic uint32_t is_attached;
/* The pid that libc knows. A child of clone() or _Fork() inherits the state of libc's locks, so
 * creating a thread in such a child may block forever. */
static GT_AT_START _Atomic uint32_t known_pid;

static bool is_over(void)
{
	return atomic_load_explicit(&gt_recording.off, memory_order_relaxed) ||
	       gt_recording_stop_asked();
}

/* Tell the collector that this process has applied @word. The collector waits for processes that
 * run the thread. */
static void note_followed(uint32_t word)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	if (r && gt_recording_epoch() && gt_recording_is_run()) {
		atomic_store_explicit(&r->control, word, memory_order_release);
		atomic_store_explicit(&r->follows,
				      !atomic_load_explicit(&is_without_thread,
							    memory_order_relaxed),
				      memory_order_release);
	}
}

/* Tell the collector, which waits for this, that the session costs this process no more time. */
static void note_detached(void)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	if (r)
		atomic_store_explicit(&r->detached, 1, memory_order_release);
}

/* Apply the control word. Return the word. */
static uint32_t follow(void)
{
	uint32_t word;
	bool paused;

	gt_word_take(&gt_wiped.control_lock);
	word = atomic_load_explicit(&gt_recording.session->control, memory_order_acquire);
	paused = GT_CONTROL_IS_PAUSED(word);
	if (paused != (bool)(atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed) &
			     GT_PAUSE_SESSION))
		gt_contexts_pause(GT_PAUSE_SESSION, paused,
				  (enum gt_window_why)GT_CONTROL_WHY(word));
	note_followed(word);
	atomic_store_explicit(&gt_wiped.control_lock, 0, memory_order_release);
	return word;
}

/* If only gputap's threads remain, end the process as the program's last thread would have
 * (collector/own_threads.c). */
static void end_if_alone(void)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
	uint32_t word =
		r ? atomic_load_explicit(&gt_segment_threads(r)->alone, memory_order_acquire) : 0;
	int number;
	sigset_t one;

	if (!word)
		return;
	number = (int)GT_ALONE_SIGNAL(word);
	if (!number)
		exit(0); /* as libc does when the last thread calls pthread_exit() */
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
}

/* Wait until the word differs from @seen. Return false if the session has ended. The mapping is
 * shared, so the futex is not private. */
static bool wait_for_change(uint32_t seen)
{
	end_if_alone();
	if (is_over())
		return false;
	syscall(SYS_futex, &gt_recording.session->control, FUTEX_WAIT, seen, NULL, NULL, 0);
	return !is_over();
}

/* The thread ----------------------------------------------------------------------- */

static bool start_thread(void);

/* Restart the thread after a tool's callback has ended it. */
static void start_again(void *arg)
{
	(void)arg;
	start_thread();
}

static void *run_thread(void *arg)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
	uint32_t seen;

	gt_tool_thread_takes("gputap", start_again, arg);
	if (r) /* for the collector, which gives this thread short time slices */
		atomic_store_explicit(&gt_segment_threads(r)->follower_tid,
				      (uint32_t)syscall(SYS_gettid), memory_order_relaxed);
	do
		seen = follow();
	while (wait_for_change(seen));
	if (atomic_load(&is_attached)) {
		gt_recording_finish(true);
		gt_late_finish_all();
		gt_recording_finish(false);
		gt_recording_stop();
		gt_late_detach_all();
		note_detached();
		atomic_store(&is_attached, 0);
	}
	gt_tool_thread_leaves();
	return NULL;
}

static bool start_thread(void)
{
	return gt_tool_thread_try(run_thread, NULL, STACK_BYTES) == 0;
}

/* Starting the thread -------------------------------------------------------------------- */

/* Return false in the child of a vfork, which temporarily uses its parent's memory. */
static bool is_own_process(void)
{
	const struct gt_segment *r =
		atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	return r && r->pid == (uint32_t)syscall(SYS_getpid);
}

/* Return true if this is the process in which gputap started, or a child of libc's fork(). */
static bool may_have_thread(void)
{
	return atomic_load_explicit(&known_pid, memory_order_relaxed) ==
	       (uint32_t)syscall(SYS_getpid);
}

/* Start the thread if this process, which makes recorded calls, has none. */
static void begin(void)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_acquire);

	if (!epoch || !gt_recording_is_run() ||
	    atomic_load_explicit(&begun_epoch, memory_order_relaxed) == epoch || is_over() ||
	    !is_own_process() ||
	    atomic_exchange_explicit(&begun_epoch, epoch, memory_order_acq_rel) == epoch)
		return;
	/* apply the word at once, because the word may have changed before the thread runs */
	follow();
	if (may_have_thread() && start_thread()) {
		atomic_store_explicit(&is_without_thread, 0, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&is_without_thread, 1, memory_order_relaxed);
	follow();
	atomic_store_explicit(&gt_control_pending, 1, memory_order_relaxed);
	gt_contexts_refresh();
	if (may_have_thread())
		gt_event_write(gt_thread_own(), GT_EVENT_FAULT, GT_DOMAIN_NONE, 0,
			       "gputap could not create a thread: 'gputap start' and 'stop' take "
			       "effect at this process's next call");
}

void gt_control_meet(void)
{
	int saved = errno;

	if (gt_recording_epoch() && gt_recording_is_run()) {
		begin();
		follow();
	}
	if (!atomic_load_explicit(&is_without_thread, memory_order_relaxed) || is_over()) {
		atomic_store_explicit(&gt_control_pending, 0, memory_order_relaxed);
		gt_contexts_refresh();
	}
	errno = saved;
}

/* Reset in the child of a fork(). The fork may have interrupted any code, so take no other lock and
 * allocate nothing. */
static void begin_child(void)
{
	atomic_store_explicit(&known_pid, (uint32_t)syscall(SYS_getpid), memory_order_relaxed);
	if (!gt_recording_is_run() || is_over())
		return;
	if (gt_range_window_is_asked())
		gt_contexts_fork();
	if (!atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed))
		return;
	atomic_store_explicit(&gt_control_pending, 1, memory_order_relaxed);
	gt_contexts_refresh();
}

static void follow_from_now(void)
{
	static bool is_done;

	atomic_store_explicit(&gt_thread_hooks.attached, begin, memory_order_release);
	atomic_store_explicit(&known_pid, (uint32_t)syscall(SYS_getpid), memory_order_relaxed);
	if (!is_done)
		pthread_atfork(NULL, NULL, begin_child);
	is_done = true;
}

__attribute__((constructor)) static void follow_session(void)
{
	gt_recording_init();
	if (!gt_recording_is_run() || is_over())
		return;
	follow_from_now();
	/* an earlier constructor has made calls */
	if (gt_thread.epoch == atomic_load_explicit(gt_epoch, memory_order_relaxed))
		begin();
}

void gt_control_attach(void)
{
	follow_from_now();
	atomic_store(&is_attached, 1);
	begin();
	if (atomic_load_explicit(&is_without_thread, memory_order_relaxed))
		atomic_store(&is_attached, 0);
}

void gt_control_wait_end(void)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; i < 2000 && atomic_load(&is_attached) && is_over(); i++)
		nanosleep(&pause, NULL);
}
