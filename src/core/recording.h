/* SPDX-License-Identifier: MIT */
/* This process's part in a session: whether there is one, and the segment that records go to. */
#ifndef GPUTAP_CORE_RECORDING_H
#define GPUTAP_CORE_RECORDING_H

#include <stdint.h>

#include "core/thread.h"
#include "ring/session.h"

/* Everything here is hidden. */
extern struct gt_recording {
	/* NULL: gputap does nothing in this process. Tools without `gputap run`: a private session,
	 * which requests nothing. Never changes after it is set */
	_Atomic(const struct gt_session *) session;
	/* segment of this process, or of the parent until this one has its own */
	_Atomic(struct gt_segment *) segment;
	/* nothing is recorded (any more, or ever): do not try again */
	_Atomic uint32_t off;
	/* there are tools: threads have a state even while nothing is recorded */
	_Atomic uint32_t tools;
	/* starts the tools before the first call of a runtime; NULL: none to start */
	void (*_Atomic pending)(void);
	/* of the session; "": not under `gputap run`. Constant after initialisation */
	char directory[480];
} gt_recording __attribute__((visibility("hidden")));

/* Return true if this process has a stream of records, which may have ended. */
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
 * The constructor calls it, and functions that may be reached before it; later calls do nothing.
 */
void gt_recording_init(void);

/**
 * gt_recording_join() - prepare for a tool, with or without a session
 * Without a session it creates a private segment that has slots and no blocks. Thread: any.
 */
void gt_recording_join(void);

/**
 * gt_recording_epoch() - return this process's epoch; in the child of a fork this creates its
 * segment
 * Return: the epoch; 0: nothing is recorded (any more), and no tool is present.
 * Thread: any; makes system calls only when the process is new.
 */
uint32_t gt_recording_epoch(void);

/* End recording in this process: turns off all services of the stream. From any thread, never
 * waits. */
void gt_recording_stop(void);

/* Lock for infrequent operations: registration, contexts. A fork child never inherits it taken. Not
 * for signal handlers. */
void gt_core_lock(void);
void gt_core_unlock(void);

/* Lock for runtime/mapped.c, like gt_core_lock(), which may be taken while this one is held. */
void gt_mapped_lock(void);
void gt_mapped_unlock(void);

/* Block all signals, including libc's own, around a short section that no handler may interrupt. */
void gt_signals_block(uint64_t *before);
void gt_signals_restore(const uint64_t *before);

/* thread_end.c's part of initialisation */
void gt_threads_init(void);

/* Return true if the collector requested it. */
int gt_recording_stop_asked(void);

#endif
