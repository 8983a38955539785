/* SPDX-License-Identifier: MIT */
/* See own_threads.h. Does two jobs that the process cannot do itself:
 *
 *   slices   The thread that follows the session gets short slices (util/short_slice.h). A seccomp
 *            filter in the program may kill the thread for the system call that requests them.
 *   alone    A program whose last thread has called pthread_exit(), or was killed as a thread by
 *            seccomp, would have ended without gputap. With gputap, gputap's threads keep the
 *            process alive. Therefore the collector notifies the thread that follows the session,
 *            which ends the process in the same way.
 *
 * Threads that a runtime created count as the program's threads, because they keep a process alive
 * even without gputap. */
#include "collector/own_threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/guard.h"
#include "collector/proc_files.h"
#include "ring/segment_threads.h"
#include "util/short_slice.h"

struct own_state {
	uint32_t threads, follower_tid, pid;
};

static bool read_state(const struct gt_process *process, struct own_state *out)
{
	const struct gt_segment_threads *t = gt_segment_threads(process->segment);

	if (!GT_GUARD())
		return false;
	out->threads = atomic_load_explicit(&t->running, memory_order_relaxed);
	out->follower_tid = atomic_load_explicit(&t->follower_tid, memory_order_relaxed);
	out->pid = process->segment->pid;
	gt_guard_end();
	return true;
}

/* Set the slices. A thread id from another pid namespace is meaningless here. */
static void give_slices(struct gt_process *process, const struct own_state *s)
{
	char path[64];

	if (process->has_slices || !s->follower_tid || s->pid != process->pid)
		return;
	process->has_slices = true;
	snprintf(path, sizeof path, "/proc/%u/task/%u", process->pid, s->follower_tid);
	if (access(path, F_OK) == 0)
		gt_short_slice_give((int)s->follower_tid);
}

static void tell_alone(struct gt_drain *d, const struct gt_process *process, uint32_t signal)
{
	if (!GT_GUARD())
		return;
	atomic_store_explicit(&gt_segment_threads(process->segment)->alone, GT_ALONE_WORD(signal),
			      memory_order_release);
	gt_guard_end();
	syscall(SYS_futex, &d->folder->session->control, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void gt_own_threads_look(struct gt_drain *d)
{
	for (size_t i = 0; i < d->process_count; i++) {
		struct gt_process *process = d->processes[i];
		struct gt_proc_stat stat;
		struct own_state s;

		if (!process->segment || process->exited || process->lost || process->pidfd < 0 ||
		    !read_state(process, &s) || !s.threads)
			continue;
		give_slices(process, &s);
		/* the first thread counts until the last thread has ended */
		if (gt_proc_read_stat(process->pid, &stat) && stat.state == 'Z' &&
		    stat.threads == s.threads + 1)
			tell_alone(d, process, stat.exit_signal);
	}
}
