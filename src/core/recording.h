/* SPDX-License-Identifier: MIT */
/* This process's part in a session: whether the process has a session, and the segment that records
 * go to. */
#ifndef GPUTAP_CORE_RECORDING_H
#define GPUTAP_CORE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"
#include "ring/session.h"

/* All symbols of this header are hidden. */
extern struct gt_recording {
	/* NULL: gputap does nothing in this process. Tools without `gputap run` get a private
	 * session that requests nothing. Constant once set */
	_Atomic(const struct gt_session *) session;
	/* segment of this process; the parent's until this process has created its own */
	_Atomic(struct gt_segment *) segment;
	/* nonzero: nothing is recorded in this process any more, or ever; do not retry */
	_Atomic uint32_t off;
	/* nonzero: tools exist, so threads have a state even while nothing is recorded */
	_Atomic uint32_t tools;
	/* starts the tools before the first call of a runtime; NULL: none to start */
	void (*_Atomic pending)(void);
	/* directory of the session; "": none so far. Constant except for gt_recording_attach() */
	char directory[480];
} gt_recording __attribute__((visibility("hidden")));

/* Return true if this process has a stream of records, even one that has ended. */
static inline bool gt_recording_is_run(void)
{
	return gt_recording.directory[0] != '\0';
}

/* Return true if there are rings for threads to write to. Without rings, objects get their numbers
 * but nothing is written. */
static inline bool gt_recording_has_rings(void)
{
	const struct gt_segment *r =
		atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	return r && r->block_count;
}

/**
 * gt_recording_init() - find the session, create the segment
 * Called by the constructor, and by functions that may run before the constructor. Later calls do
 * nothing.
 */
void gt_recording_init(void);

/**
 * gt_recording_attach() - join a session that was created while this process was running
 * The former session, if any, must have ended. Threads then have the state of another epoch, as
 * after a fork: they take new slots, and objects are described again.
 * Return: 0, or -EBUSY: another session records this process; -ECANCELED: the session has ended, or
 *         no segment could be created; -ENAMETOOLONG; or the errno of opening the session.
 * Thread: one at a time (runtime/late_attach.c).
 */
int gt_recording_attach(const char *directory);

/**
 * gt_recording_join() - prepare for a tool, with or without a session
 * Without a session, creates a private segment that has slots and no blocks. Thread: any.
 */
void gt_recording_join(void);

/**
 * gt_recording_epoch() - return this process's epoch; in the child of a fork, create its segment
 * first
 * Return: the epoch; 0: no tool is present and nothing is recorded any more, or ever.
 * Thread: any; makes system calls only when the process is new.
 */
uint32_t gt_recording_epoch(void);

/* Return this process's first epoch, which identifies the process; 0: no segment yet. A process has
 * further epochs if sessions attach to it one after the other. */
uint32_t gt_recording_process(void);
/* Return true if the epoch is one of this process, not of a fork's parent. */
bool gt_recording_owns(uint32_t epoch);

/* End recording in this process: turn off all services of the stream. May be called from any
 * thread. Never waits. */
void gt_recording_stop(void);

/* Lock for infrequent operations: registration, contexts. A fork child never inherits the lock in
 * the locked state. Not for signal handlers. */
void gt_core_lock(void);
void gt_core_unlock(void);

/* Lock of runtime/mapped.c, with the same properties as gt_core_lock(). A thread that holds this
 * lock may take gt_core_lock(). */
void gt_mapped_lock(void);
void gt_mapped_unlock(void);

/* Block all signals, including libc's own, around a short section that no handler may interrupt. */
void gt_signals_block(uint64_t *before);
void gt_signals_restore(const uint64_t *before);

/* Create the thread key. Called during initialisation; defined in thread_end.c. */
void gt_threads_init(void);

/* Return true if the collector requested the end of recording. */
int gt_recording_stop_asked(void);
/* Keep recording although the session has ended, while gt_late_finish_all() runs. The collector
 * waits for that (segment->detached), until it gives up. */
void gt_recording_finish(bool finishing);

#endif
