/* SPDX-License-Identifier: MIT */
/* The slow half of core/thread.h. It handles a thread that makes its first call in this process, or
 * whose open calls were left with a jump.
 *
 *   thread starts ── first recorded call ──► slot (TAKEN, ACTIVE) ── ring full ──► next block ..
 *                 ── thread ends ──► CLOSED
 *
 * A thread's first record:
 *   1. The process gets its segment, if it has none yet (recording.c).
 *   2. The thread takes a slot of the segment (thread_ring.c).
 *   3. The first thread of a process created with fork rewrites the modules, strings and objects
 *      that the parent had written and that are still valid (emit.c, fork_replay.c).
 *   4. The thread writes the external ids that it has pushed (external.c).
 *   5. The process's first thread starts the thread that follows the session (tool/tool_follow.c,
 *      through a hook).
 * None of these files calls this file.
 *
 * Never here: locks that a program's thread may hold when it is killed or forks, malloc,
 * cancellation points, changes to errno. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/callback.h"
#include "core/emit.h"
#include "core/external.h"
#include "core/gap_edges.h"
#include "core/recording.h"
#include "core/thread_parts.h"

static struct gt_thread *attach(struct gt_thread *t)
{
	uint32_t epoch = gt_recording_epoch();

	if (!epoch)
		return NULL;
	if (gt_recording_stop_asked()) {
		gt_recording_stop();
		if (!atomic_load_explicit(&gt_recording.tools, memory_order_relaxed))
			return NULL;
	}
	if (t->epoch == epoch)
		return t;
	gt_thread_forget(t);
	t->slot = gt_thread_take_slot(0, NULL);
	if (!t->slot)
		return NULL;
	t->depth = 0;
	t->last_end = t->last_reading = 0;
	t->look_at = gt_edges.is_wanted ? 0 : UINT64_MAX;
	t->next_id = GT_ID(t->slot->ordinal, 1);
	t->epoch = epoch;
	gt_thread_notice_end(t);
	return t;
}

/* Attach with signals blocked until the thread's state is complete. Afterwards calls of a signal
 * handler are recorded; before, they could not even be counted. */
static struct gt_thread *attach_undisturbed(struct gt_thread *t)
{
	uint64_t before;

	gt_signals_block(&before);
	t->writing = 1;
	t = attach(t);
	gt_thread.writing = 0;
	gt_signals_restore(&before);
	return t;
}

struct gt_thread *gt_thread_attach(struct gt_thread *t)
{
	void (*missed)(void), (*attached)(void);
	int saved;

	if (t->internal || t->writing) /* a call that gputap itself makes */
		return NULL;
	if (atomic_load_explicit(&gt_recording.off, memory_order_relaxed) &&
	    !atomic_load_explicit(&gt_recording.tools, memory_order_relaxed))
		return NULL;
	/* A call that started in the parent of a fork is still open here. The end of that call must
	 * not be mistaken for the end of a call of this process. Therefore this thread is not
	 * recorded until the call has returned. */
	if (t->epoch != GT_EPOCH_NONE && t->depth)
		return NULL;
	saved = errno;
	t = attach_undisturbed(t);
	if (t) {
		if (gt_emit_renew(t))
			gt_fork_replay_all(t);
		gt_external_renew(t);
		attached = atomic_load_explicit(&gt_thread_hooks.attached, memory_order_acquire);
		if (attached)
			attached();
	} else {
		missed = atomic_load_explicit(&gt_thread_hooks.call_missed, memory_order_acquire);
		if (missed)
			missed();
	}
	errno = saved;
	return t;
}

struct gt_thread *gt_thread_stand_for(struct gt_thread *t, uint32_t tid, const char *name)
{
	uint32_t epoch = gt_recording_epoch();

	if (!epoch || atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		return NULL;
	*t = (struct gt_thread){.epoch = GT_EPOCH_NONE};
	t->slot = gt_thread_take_slot(tid, name);
	if (!t->slot)
		return NULL;
	t->next_id = GT_ID(t->slot->ordinal, 1);
	t->epoch = epoch;
	return t;
}

static bool is_on_signal_stack(void)
{
	stack_t now;

	return syscall(SYS_sigaltstack, NULL, &now) == 0 && now.ss_flags & SS_ONSTACK;
}

/* Note that the open calls will never be recorded, so that the calls do not count as open if the
 * process dies. */
static void note_left(struct gt_thread *t)
{
	if (!t->slot || t->epoch != atomic_load_explicit(gt_epoch, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&t->slot->left, t->depth, memory_order_relaxed);
	for (int k = 0; k < GT_DOMAIN_COUNT; k++)
		atomic_store_explicit(&t->slot->domains[k].newest, 0, memory_order_relaxed);
}

/* Check whether the outermost open call, and all calls in it, were left with a jump; reset the
 * state if so. (A signal handler may run on another stack, at any address.) */
static void notice_jump(struct gt_thread *t, uintptr_t here)
{
	int saved = errno;

	if (!gt_thread_is_inside(t, here) && !is_on_signal_stack()) {
		note_left(t);
		t->depth = 0;
		gt_callback_depth = 0;
		t->api_id = 0;
		t->graph = NULL;
		/* the jump may have left gputap's code: discard an uncommitted record */
		t->internal = t->writing = 0;
	}
	errno = saved;
}

struct gt_thread *gt_thread_attach_call(struct gt_thread *t, enum gt_domain domain, uintptr_t here)
{
	notice_jump(t, here);
	if (t->depth & gt_skip_nested[domain] && t->depth != gt_callback_depth)
		return NULL;
	return gt_thread_ready(t) ? t : gt_thread_attach(t);
}

struct gt_thread *gt_thread_attach_api(struct gt_thread *t, uintptr_t here)
{
	notice_jump(t, here);
	if (t->api_id)
		return NULL;
	return gt_thread_ready(t) ? t : gt_thread_attach(t);
}
