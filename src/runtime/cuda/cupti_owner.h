/* SPDX-License-Identifier: MIT */
/* The one user of CUPTI in the process: its subscriber, its activity callbacks and buffers, its
 * time source, and the kinds of records and callbacks that are on. gputap's own device work comes
 * from it, and so does all that other users of CUPTI in the process get (cupti_guest.h).
 *
 *   closed ─ subscribe, register ─► open ─ kinds, callbacks ─► active
 *      ▲                                                          │ nobody asks for work any more
 *      └── cuptiFinalize(), in the next launch's callback ────────┘ (gt_cupti_owner_stop())
 *
 * No lock is held while CUPTI's functions are called; who changes the state waits for others that
 * do. In a fork's child CUPTI is never called: it would hang (gt_cupti_owner_is_here()). */
#ifndef GPUTAP_RUNTIME_CUPTI_OWNER_H
#define GPUTAP_RUNTIME_CUPTI_OWNER_H

#include "runtime/cuda/cupti_library.h"

/* What is done with what CUPTI calls; set once, by a constructor. */
struct gt_cupti_user {
	cupti_callback_fn *callback;
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	void (*find_functions)(const struct gt_cupti_library *library); /* it is open */
	bool (*is_needed)(uint32_t id); /* callback of the driver's functions */
	void (*started)(void);          /* kinds are on */
	void (*restarts)(void);         /* CUPTI was gone: it may count its ids anew */
	bool (*wants_records)(void);    /* of device work; else the runtime's calls alone */
};
void gt_cupti_owner_use(const struct gt_cupti_user *user);

/**
 * gt_cupti_owner_start() - device work is wanted: kinds and callbacks of ours are on
 * Cheap if they are on already, or have been refused.
 * Thread: any, outside of CUPTI's callbacks; best before the driver is initialised.
 */
void gt_cupti_owner_start(void);

/* Device work is wanted no more: the next launch takes CUPTI out of the process, if nobody else
 * uses it. */
void gt_cupti_owner_stop(void);

/* A launch's callback ends: if work is wanted no more, CUPTI goes here. */
void gt_cupti_owner_leave(void);

/* Are our kinds on? */
bool gt_cupti_owner_is_active(void);
/* Is this the process that opened CUPTI, or has nobody? */
bool gt_cupti_owner_is_here(void);

/* NULL: none is open. */
const struct gt_cupti_library *gt_cupti_owner_library(void);
/* Open the one that is mapped there, if none is open. */
bool gt_cupti_owner_open_at(uint64_t base);

/* cuptiSubscribe() of our callback, and the activity callbacks with our time source, if it has not
 * been done. Return: CUPTI's status. */
int gt_cupti_owner_subscribe(void);
int gt_cupti_owner_register(void);
void *gt_cupti_owner_subscriber(void);

bool gt_cupti_owner_needs_kind(uint32_t kind);
bool gt_cupti_owner_needs_callback(int domain, uint32_t id);
/* Switch our callbacks on again: a guest has switched off its domain. */
void gt_cupti_owner_enable_callbacks(void);
/* One more callback of ours, or not any more. Return: it is on. */
bool gt_cupti_enable_callback(int domain, uint32_t id, bool on);
/* Contexts have changed: the callbacks of the runtime's calls follow. */
void gt_cupti_owner_follow_calls(void);
/* A guest needs records that this kind of ours keeps away: off during its turn. */
void gt_cupti_owner_spare_kind(uint32_t kind, bool spared);

/* The guest has called cuptiFinalize(), and we need nothing: the real one. */
int gt_cupti_owner_finalize_for_guest(void);
/* Somebody uses CUPTI in a way that cannot be shared: never again in this process. @why: the
 * event's sentence. */
void gt_cupti_owner_step_aside(const char *why);

/* For the helper thread and the end. Return: false: CUPTI is not open, or not in this process. */
bool gt_cupti_owner_flush(uint32_t flag);

#endif
