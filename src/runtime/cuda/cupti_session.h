/* SPDX-License-Identifier: MIT */
/* gputap's CUPTI session, the only user of CUPTI in the process: its subscriber, its activity
 * callbacks and buffers, its time source, and the enabled kinds of records and callbacks. The
 * session provides gputap's own GPU activities and all data that CUPTI clients in the process get
 * (cupti_client.h).
 *
 *   closed ─ subscribe, register ─► open ─ kinds, callbacks ─► active
 *      ▲                                                          │ activities no longer wanted
 *      └── cuptiFinalize(), in the next launch's callback ────────┘ (gt_cupti_session_stop())
 *
 * No lock is held while CUPTI's functions are called; a thread that changes the state waits for
 * other such threads. CUPTI is never called in a fork's child, where it would hang
 * (gt_cupti_session_is_here()). */
#ifndef GPUTAP_RUNTIME_CUPTI_SESSION_H
#define GPUTAP_RUNTIME_CUPTI_SESSION_H

#include "runtime/cuda/cupti_library.h"

/* Handlers for CUPTI's callbacks and buffers; set once, in a constructor. */
struct gt_cupti_user {
	cupti_callback_fn *callback;
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	/* called when CUPTI is open */
	void (*find_functions)(const struct gt_cupti_library *library);
	/* returns true if the callback of a driver function is needed */
	bool (*is_needed)(uint32_t id);
	void (*started)(void); /* called when kinds are enabled */
	/* called when another tool's subscription was ended: serve that tool as a client */
	void (*taken_over)(void);
	void (*restarts)(void); /* called after CUPTI was finalised, when ids may restart */
	/* returns true if GPU activities are wanted, false if only the runtime's calls are
	 * wanted */
	bool (*wants_records)(void);
};
void gt_cupti_session_use(const struct gt_cupti_user *user);

/**
 * gt_cupti_session_start() - enable our kinds and callbacks, because GPU activities are wanted
 * Cheap if the kinds are already enabled or were refused.
 * Thread: any, outside of CUPTI's callbacks; best before the driver is initialised.
 */
void gt_cupti_session_start(void);

/* Ask CUPTI again if it was refused: an earlier recording session has ended in this process. */
void gt_cupti_session_renew(void);

/* Stop, because GPU activities are no longer wanted. The next launch finalises CUPTI, unless a
 * client uses it. */
void gt_cupti_session_stop(void);

/* Finalise CUPTI at the end of a launch's callback, if CUPTI is no longer wanted. */
void gt_cupti_session_leave(void);

/* Stop without finalising CUPTI, because graphs execute all the time. CUPTI then costs some time in
 * each launch. */
void gt_cupti_session_give_up(void);
/* Note that records of kernels have been disabled. */
void gt_cupti_session_note_disabled(void);

/* Return true if CUPTI waits for the launch that finalises it. */
bool gt_cupti_session_leaves(void);

/* Return true if our kinds are enabled. */
bool gt_cupti_session_is_active(void);
/* Return true if this process opened CUPTI, or if neither this process nor its parent opened
 * CUPTI. */
bool gt_cupti_session_is_here(void);

/* Return the open CUPTI library, or NULL. */
const struct gt_cupti_library *gt_cupti_session_library(void);
/* Open the CUPTI mapped at @base, if no CUPTI is open. */
bool gt_cupti_session_open_at(uint64_t base);

/* Subscribe our callback, or register the activity callbacks and our time source, unless already
 * done. Return CUPTI's status. */
int gt_cupti_session_subscribe(void);
int gt_cupti_session_register(void);
void *gt_cupti_session_subscriber(void);

bool gt_cupti_session_needs_kind(uint32_t kind);
bool gt_cupti_session_needs_callback(int domain, uint32_t id);
/* Enable our callbacks again after a client has disabled their domain. */
void gt_cupti_session_enable_callbacks(void);
/* Enable or disable one of our callbacks. Return true if the callback is now enabled. */
bool gt_cupti_enable_callback(int domain, uint32_t id, bool on);
/* Update the callbacks of runtime calls after contexts have changed. */
void gt_cupti_session_follow_calls(void);
/* Disable one of our kinds during a client's turn if it suppresses records that the client needs,
 * or enable it again. */
void gt_cupti_session_spare_kind(uint32_t kind, bool spared);

/* Call the real cuptiFinalize() for a client that has called it, unless we need CUPTI. */
int gt_cupti_session_finalize_for_client(void);
/* Stop using CUPTI in this process permanently, because another user needs CUPTI in a way that
 * cannot be shared. @why: the event's sentence. */
void gt_cupti_session_step_aside(const char *why);

/* Flush CUPTI's buffers, for the helper thread and at the end of the process. Return false if CUPTI
 * is not open in this process. */
bool gt_cupti_session_flush(uint32_t flag);

#endif
