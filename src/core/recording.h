/* SPDX-License-Identifier: MIT */
/* This process image's part in a session: whether there is one, and the region that records go to. */
#ifndef GPUTAP_CORE_RECORDING_H
#define GPUTAP_CORE_RECORDING_H

#include <stdint.h>

#include "core/thread.h"
#include "ring/session.h"

/* Everything here is hidden. Constant after gt_recording_init() but for `region` and `off`. */
extern struct gt_recording {
	const struct gt_session *session; /* NULL: not traced */
	_Atomic(struct gt_region *) region; /* of this image, or of the parent's until this one has its own */
	_Atomic uint32_t off;             /* recording is over (or never began): do not try again */
	char directory[480];
} gt_recording __attribute__((visibility("hidden")));

/**
 * gt_recording_init() - find the session, make the region
 * Called by the constructor and by whatever is reached before it; the second call does nothing.
 */
void gt_recording_init(void);

/**
 * gt_recording_epoch() - this image's epoch; in the child of a fork this makes its region
 * Return: 0: nothing is recorded (any more).
 * Thread: any; system calls only when the image is new.
 */
uint32_t gt_recording_epoch(void);

/* Recording is over, in this image: all services of the stream off. From any thread, never waits. */
void gt_recording_stop(void);

/* A lock for what happens rarely: registration, contexts. A fork child never inherits it taken. Not in signal handlers. */
void gt_core_lock(void);
void gt_core_unlock(void);

/* thread.c's part of initialisation */
void gt_threads_init(void);

/* True when the collector said so. */
int gt_recording_stop_asked(void);

#endif
