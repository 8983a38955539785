/* SPDX-License-Identifier: MIT */
/* This process's part in a session.
 *
 *   page that the kernel wipes in a fork child | epoch | making | lock |
 *
 * gt_epoch points to the first word (recording_state.h). At a fork:
 *   1. The kernel wipes the page in the child, however the child was created (fork, _Fork, clone
 *      without CLONE_VM); no handler of gputap runs. The epoch is 0 in the child.
 *   2. Every thread's state is therefore stale: each record takes the slow path.
 *   3. The first call on the slow path creates a segment for the child.
 * The locks also lie in the wiped page: after a fork while a segment is being created, no lock is
 * held in the child. A vfork child shares its parent's memory, and its page is not wiped, because
 * the child may record into the ring of the thread that waits for it.
 *
 * Without `gputap run`, tools use a private segment, which has slots for threads and no blocks, so
 * that records are dropped at little cost. */
#include "core/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/context.h"
#include "core/gap_edges.h"
#include "core/recording_state.h"
#include "core/stacks.h"
#include "core/tap.h"
#include "ring/segment_writer.h"

enum { TOOL_THREADS = 1024, TOOL_BLOCK_BYTES = 64 * 1024 };

/* not in the wiped page, so that the child's epoch is one higher */
static GT_AT_START uint32_t last_epoch;

/* Session for tools without `gputap run`: requests no records, observes all GPU activities. */
static const struct gt_session tools_session = {
	.block_bytes = TOOL_BLOCK_BYTES,
	.slot_count = TOOL_THREADS,
	.payload_cap = 256,
	.record_args = 1,
	.device_activity = 1,
};

/* Create the process's segment. Called with `making` held. @attached: true for the segment of a
 * session that joins the running process. */
static void make_segment(bool attached)
{
	/* segment of the parent's parent, not used any more */
	static GT_AT_START struct gt_segment *former;
	struct gt_segment *parent =
				  atomic_load_explicit(&gt_recording.segment, memory_order_relaxed),
			  *r;
	uint64_t ticks = gt_ticks();
	int error;

	if (!gt_recording_is_run() ||
	    atomic_load_explicit(&gt_recording.off, memory_order_relaxed)) {
		r = gt_segment_private(&tools_session, parent, ticks);
	} else {
		r = gt_segment_create(gt_recording.directory, gt_recording.session, parent, ticks);
		if (!r) {
			bool noted;

			error = errno;
			noted = gt_untraced_write(gt_recording.directory, ticks, error);
			if (parent)
				atomic_fetch_add_explicit(&parent->children_lost, 1,
							  memory_order_relaxed);
			/* the folder can be inaccessible after chroot() or setuid() */
			if (parent && !noted)
				gt_lost_write(parent, GT_LOST_SESSION, error,
					      (uint32_t)syscall(SYS_getpid), ticks, NULL);
			gt_recording_stop();
			if (atomic_load_explicit(&gt_recording.tools, memory_order_relaxed))
				r = gt_segment_private(&tools_session, parent, ticks);
		}
	}
	if (!r)
		return;
	gt_windows_begin(r, ticks, attached);
	atomic_store_explicit(&gt_recording.segment, r, memory_order_release);
	/* keep the parent's segment mapped for one generation, because another thread may have just
	 * looked it up */
	if (former)
		gt_segment_unmap(former);
	former = parent;
	last_epoch++;
	if (!atomic_load_explicit(&gt_wiped.first_epoch, memory_order_relaxed))
		atomic_store_explicit(&gt_wiped.first_epoch, last_epoch, memory_order_relaxed);
	atomic_store_explicit(&gt_wiped.epoch, last_epoch, memory_order_release);
}

/* Return true if threads need a state. */
static bool is_recording_wanted(void)
{
	return !atomic_load_explicit(&gt_recording.off, memory_order_relaxed) ||
	       atomic_load_explicit(&gt_recording.tools, memory_order_relaxed);
}

uint32_t gt_recording_epoch(void)
{
	uint32_t epoch;

	gt_recording_init();
	epoch = atomic_load_explicit(&gt_wiped.epoch, memory_order_acquire);
	if (epoch || !is_recording_wanted())
		return epoch;
	gt_word_take(&gt_wiped.making);
	if (atomic_load_explicit(&gt_wiped.epoch, memory_order_relaxed) == 0 &&
	    is_recording_wanted())
		make_segment(false);
	atomic_store_explicit(&gt_wiped.making, 0, memory_order_release);
	return atomic_load_explicit(&gt_wiped.epoch, memory_order_acquire);
}

uint32_t gt_recording_process(void)
{
	return atomic_load_explicit(&gt_wiped.first_epoch, memory_order_relaxed);
}

bool gt_recording_owns(uint32_t epoch)
{
	const uint32_t first = gt_recording_process();

	return first && epoch >= first;
}

/* Wipes the page on kernels before 4.14. Only fork() itself is noticed then. */
static void wipe_by_hand(void)
{
	memset(&gt_wiped, 0, sizeof gt_wiped);
}

/* Initialise the parts that both sessions and tools need. */
static void prepare(void)
{
	static GT_AT_START bool done;

	if (done)
		return;
	done = true;
	if (syscall(SYS_madvise, &gt_wiped, sizeof gt_wiped, MADV_WIPEONFORK) != 0)
		pthread_atfork(NULL, NULL, wipe_by_hand);
	gt_threads_init();
}

/* Take the session's settings and create the segment. */
static void join_session(const struct gt_session *s, const char *directory, bool attached)
{
	strcpy(gt_recording.directory, directory);
	gt_recording.session = s;
	if (atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		atomic_store_explicit(&gt_recording.off, 1, memory_order_relaxed);
		return;
	}
	gt_host_clock = s->host_clock;
	gt_tap_options.record_args = s->record_args;
	/* keeps a record with a few payloads smaller than a block */
	gt_tap_options.payload_cap =
		s->payload_cap < s->block_bytes / 8 ? s->payload_cap : s->block_bytes / 8;
	gt_tap_options.follow_devices = s->device_activity;
	gt_tap_options.choose_kernels = s->kernels[0] != '\0';
	prepare();
	gt_stacks_init(s);
	gt_edges_init(s);
	gt_windows_init(s);
	make_segment(attached);
	if (!atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		gt_contexts_init(s);
}

static void init_recording(void)
{
	const char *directory = secure_getenv(GT_SESSION_ENV);
	const struct gt_session *s = NULL;

	if (directory && directory[0] && strlen(directory) < sizeof gt_recording.directory)
		s = gt_session_map(directory);
	if (s)
		join_session(s, directory, false);
	else
		atomic_store_explicit(&gt_recording.off, 1, memory_order_relaxed);
}

void gt_recording_init(void)
{
	static GT_AT_START pthread_once_t once = PTHREAD_ONCE_INIT;
	static GT_AT_START _Atomic bool done;
	int saved = errno;
	uint64_t before;

	if (atomic_load_explicit(&done, memory_order_acquire))
		return;
	/* a signal handler that interrupts init_recording() and makes a call must not get here
	 * again, because it would deadlock */
	gt_signals_block(&before);
	gt_thread.internal++;
	pthread_once(&once, init_recording);
	gt_thread.internal--;
	atomic_store_explicit(&done, true, memory_order_release);
	gt_signals_restore(&before);
	errno = saved;
}

/* Release the session before the one that has just been replaced. The replaced one stays mapped,
 * because another thread may be reading it. */
static void release_former(const struct gt_session *replaced)
{
	static GT_AT_START const struct gt_session *former;

	if (former)
		gt_session_unmap(former);
	former = replaced != &tools_session ? replaced : NULL;
}

int gt_recording_attach(const char *directory)
{
	const struct gt_session *s, *replaced;
	int status = 0;

	gt_recording_init();
	if (strlen(directory) >= sizeof gt_recording.directory)
		return -ENAMETOOLONG;
	if (!atomic_load_explicit(&gt_recording.off, memory_order_acquire) &&
	    !gt_recording_stop_asked())
		return -EBUSY;
	s = gt_session_map(directory);
	if (!s)
		return errno ? -errno : -EINVAL;
	gt_recording_stop();
	gt_word_take(&gt_wiped.making);
	replaced = gt_recording.session;
	atomic_store_explicit(&gt_recording.off, 0, memory_order_relaxed);
	join_session(s, directory, true);
	release_former(replaced);
	if (atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		status = -ECANCELED;
	atomic_store_explicit(&gt_wiped.making, 0, memory_order_release);
	return status;
}

void gt_recording_join(void)
{
	int saved = errno;

	gt_recording_init();
	if (atomic_load_explicit(&gt_recording.tools, memory_order_acquire))
		return;
	gt_word_take(&gt_wiped.making);
	prepare();
	if (!gt_recording.session)
		gt_recording.session = &tools_session;
	atomic_store_explicit(&gt_recording.tools, 1, memory_order_release);
	if (atomic_load_explicit(&gt_wiped.epoch, memory_order_relaxed) == 0)
		make_segment(false);
	atomic_store_explicit(&gt_wiped.making, 0, memory_order_release);
	errno = saved;
}

__attribute__((destructor)) static void end_process(void)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_relaxed);

	/* a fork child that recorded nothing still has its parent's segment and must not end that
	 * segment */
	if (r && atomic_load_explicit(&gt_wiped.epoch, memory_order_relaxed) != 0)
		atomic_store_explicit(&r->state, GT_SEGMENT_EXITED, memory_order_release);
}

__attribute__((constructor)) static void begin_process(void)
{
	gt_recording_init();
	if (gt_recording_is_run())
		/* for quick_exit(), which runs no destructors; registered first, so this function
		 * runs last */
		at_quick_exit(end_process);
}
