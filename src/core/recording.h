/* SPDX-License-Identifier: MIT */
/* This process's part in a session: whether there is one, and the segment that records go
 * to. */
#ifndef GPUTAP_CORE_RECORDING_H
#define GPUTAP_CORE_RECORDING_H

#include <stdint.h>

#include "core/thread.h"
#include "ring/session.h"

/* Everything here is hidden. */
extern struct gt_recording {
	/* NULL: gputap does nothing in this process. Tools without `gputap run`: one of our own,
	 * which asks for nothing. Never changes again */
	_Atomic(const struct gt_session *) session;
	/* of this process, or of the parent's until this one has its own */
	_Atomic(struct gt_segment *) segment;
	/* nothing is recorded (any more, or it never was): do not try again */
	_Atomic uint32_t off;
	/* there are tools: threads have a state also while nothing is recorded */
	_Atomic uint32_t tools;
	/* there will be: what starts them, before the first call of a runtime; NULL: no */
	void (*_Atomic pending)(void);
	char directory[480]; /* of the session; "": not under `gputap run`. Constant */
} gt_recording __attribute__((visibility("hidden")));

/* Is there a stream of records in this process, though it may be over? */
static inline bool gt_recording_is_run(void)
{
	return gt_recording.directory[0] != '\0';
}

/* Is there a ring that threads write into? Without, everything gets its numbers and is written
 * nowhere. */
static inline bool gt_recording_has_rings(void)
{
	const struct gt_segment *r =
		atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	return r && r->block_count;
}

/**
 * gt_recording_init() - find the session, make the segment
 * Called by the constructor and by whatever is reached before it; the second call does nothing.
 */
void gt_recording_init(void);

/**
 * gt_recording_join() - a tool is there: everything works for it, with or without a session
 * Without: a segment of the process's own that has slots and no blocks. Thread: any.
 */
void gt_recording_join(void);

/**
 * gt_recording_epoch() - this process's epoch; in the child of a fork this makes its segment
 * Return: 0: nothing is recorded (any more), and there is no tool.
 * Thread: any; system calls only when the process is new.
 */
uint32_t gt_recording_epoch(void);

/* Recording is over, in this process: all services of the stream off. From any thread, never
 * waits. */
void gt_recording_stop(void);

/* A lock for what happens rarely: registration, contexts. A fork child never inherits it taken.
 * Not in signal handlers. */
void gt_core_lock(void);
void gt_core_unlock(void);

/* The same for runtime/mapped.c. May be held when gt_core_lock() is taken. */
void gt_mapped_lock(void);
void gt_mapped_unlock(void);

/* For what a handler must not see half done, and is short. All signals, libc's own too. */
void gt_signals_block(uint64_t *before);
void gt_signals_restore(const uint64_t *before);

/* thread_end.c's part of initialisation */
void gt_threads_init(void);

/* True when the collector said so. */
int gt_recording_stop_asked(void);

#endif
