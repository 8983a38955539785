/* SPDX-License-Identifier: MIT */
/* gputap's CUPTI session, the only user of CUPTI in the process: its subscriber, its activity
 * callbacks and buffers, its time source, and the enabled kinds of records and callbacks. It
 * supplies gputap's own GPU activities and all that CUPTI clients in the process get
 * (cupti_client.h).
 *
 *   closed ─ subscribe, register ─► open ─ kinds, callbacks ─► active
 *      ▲                                                          │ activities no longer wanted
 *      └── cuptiFinalize(), in the next launch's callback ────────┘ (gt_cupti_session_stop())
 *
 * No lock is held while CUPTI's functions are called; a thread that changes the state waits for
 * other such threads. In a fork's child CUPTI is never called: it would hang
 * (gt_cupti_session_is_here()). */
#ifndef GPUTAP_RUNTIME_CUPTI_SESSION_H
#define GPUTAP_RUNTIME_CUPTI_SESSION_H

#include "runtime/cuda/cupti_library.h"

/* Handlers for CUPTI's callbacks and buffers; set once, in a constructor. */
struct gt_cupti_user {
	cupti_callback_fn *callback;
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	void (*find_functions)(const struct gt_cupti_library *library); /* called when it is open */
	/* returns true if that callback of a driver function is needed */
	bool (*is_needed)(uint32_t id);
	void (*started)(void);  /* called when kinds are enabled */
	void (*restarts)(void); /* called after CUPTI was finalised: ids may restart */
	/* returns true if GPU activities are wanted; else only the runtime's calls */
	bool (*wants_records)(void);
};
void gt_cupti_session_use(const struct gt_cupti_user *user);

/**
 * gt_cupti_session_start() - enable our kinds and callbacks, because GPU activities are wanted
 * Cheap if they are enabled already, or have been refused.
 * Thread: any, outside of CUPTI's callbacks; best before the driver is initialised.
 */
void gt_cupti_session_start(void);

/* Stop, because GPU activities are no longer wanted: the next launch removes CUPTI from the
 * process, unless a client uses it. */
void gt_cupti_session_stop(void);

/* Finalise CUPTI at the end of a launch's callback, if it is no longer wanted. */
void gt_cupti_session_leave(void);

/* Return true if our kinds are enabled. */
bool gt_cupti_session_is_active(void);
/* Return true if this process opened CUPTI, or none has yet. */
bool gt_cupti_session_is_here(void);

/* Return NULL if none is open. */
const struct gt_cupti_library *gt_cupti_session_library(void);
/* Open the CUPTI mapped at @base, if none is open. */
bool gt_cupti_session_open_at(uint64_t base);

/* Subscribe our callback, or register the activity callbacks and our time source, if not done yet.
 * Return CUPTI's status. */
int gt_cupti_session_subscribe(void);
int gt_cupti_session_register(void);
void *gt_cupti_session_subscriber(void);

bool gt_cupti_session_needs_kind(uint32_t kind);
bool gt_cupti_session_needs_callback(int domain, uint32_t id);
/* Enable our callbacks again, after a client has disabled their domain. */
void gt_cupti_session_enable_callbacks(void);
/* Enable or disable one of our callbacks. Return true if it is enabled. */
bool gt_cupti_enable_callback(int domain, uint32_t id, bool on);
/* Follow changed contexts: update the callbacks of runtime calls. */
void gt_cupti_session_follow_calls(void);
/* Disable one of our kinds during a client's turn, because it suppresses records that the client
 * needs. */
void gt_cupti_session_spare_kind(uint32_t kind, bool spared);

/* Call the real cuptiFinalize() if we need nothing; the client has called it. */
int gt_cupti_session_finalize_for_client(void);
/* Stop using CUPTI in this process for good: another user needs it in a way that cannot be shared.
 * @why: the event's sentence. */
void gt_cupti_session_step_aside(const char *why);

/* Flush CUPTI's buffers, for the helper thread and at the end. Return false if CUPTI is not open,
 * or not in this process. */
bool gt_cupti_session_flush(uint32_t flag);

#endif
