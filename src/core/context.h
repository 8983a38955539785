/* SPDX-License-Identifier: MIT */
/* Contexts: sets of (domain, operations, service) that are started and stopped together.
 *
 * The session's stream is a context that is configured from struct gt_session and started at once.
 * Tools create other contexts. An operation's `services` word is the union of the services that
 * started contexts request; a tap reads only this word. When a table is registered, it gets taps
 * for all operations that any context requests at that time. */
#ifndef GPUTAP_CORE_CONTEXT_H
#define GPUTAP_CORE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "core/process_pauses.h"
#include "ring/session.h"

struct gt_context {
	struct gt_context *next; /* list of all contexts */
	bool started;
	bool device_activity;
	/* domains to which `ops` and `activity` apply */
	uint64_t domains;
	/* calls to be recorded in the stream; NULL: none */
	const uint64_t (*ops)[GT_OPS_PER_DOMAIN / 64];
	/* calls whose GPU activities are recorded even if the call is not; NULL: none */
	const uint64_t (*activity)[GT_OPS_PER_DOMAIN / 64];
	/* calls that a tool requested for callbacks or for a buffer */
	uint64_t notify[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* domains whose GPU activities a tool requested */
	uint64_t notify_activity;
};

/* Initialise the session's own context and start it, unless the session starts with a pause. */
void gt_contexts_init(const struct gt_session *session);

/* These functions take gt_core_lock() and may be called from any thread. */
void gt_context_add(struct gt_context *c);
/* Stops the context first. Not for the session's own context. */
void gt_context_remove(struct gt_context *c);
/* Start or stop the context. The caller holds gt_core_lock(). */
void gt_context_set_started(struct gt_context *c, bool started);

/* Start or stop the session's context. The caller holds gt_core_lock(). */
void gt_session_set_started(bool started);

/* Pause the session's recording for reason @who, or end that pause. Recording resumes when no
 * reason to pause is left. Wraps and other contexts are not affected. Takes gt_core_lock(). */
void gt_contexts_pause(enum gt_pause who, bool paused, enum gt_window_why why);

/* Reset the state that belongs to the process. The fork handler calls this function in the
 * child. */
void gt_contexts_fork(void);

/* Called before recording resumes, to restart interfaces that left the process during a long pause
 * (CUPTI). NULL: not needed. Set by a constructor. */
extern void (*gt_contexts_resume_hook)(void) __attribute__((visibility("hidden")));

/* Called without a lock after a context has started or stopped, or a pause has started or ended.
 * Updates which calls gputap requests from interfaces without taps (CUPTI). NULL: no such
 * interface. Set by a constructor. */
extern void (*gt_contexts_changed_hook)(void) __attribute__((visibility("hidden")));

static inline void gt_contexts_changed(void)
{
	if (gt_contexts_changed_hook)
		gt_contexts_changed_hook();
}

/* Return true if the session requests this operation's calls, regardless of pauses. */
bool gt_session_asks(uint32_t op);
/* Return true if the session requests the GPU activities that this operation's calls launch. */
bool gt_session_asks_activity(uint32_t op);

/* Sets of domains. `gt_stream_activity`: domains whose GPU activities are recorded in the stream;
 * tools may request other domains. HIP's activities count as HSA's. `gt_stream_launches`: domains
 * whose new launches are recorded; 0 while recording is paused. */
extern _Atomic uint64_t gt_stream_activity __attribute__((visibility("hidden")));
extern _Atomic uint64_t gt_stream_launches __attribute__((visibility("hidden")));

/* Recompute the services after a change of any of their inputs other than contexts. */
void gt_contexts_refresh(void);
void gt_contexts_refresh_locked(void); /* the caller holds gt_core_lock() */

/* Return true if a context requests the operation. Called by table.c with the lock held. */
bool gt_contexts_ask(const struct gt_operation *operation);
/* Return the domains, as bits, in which a tool requests calls that bypass their taps because no
 * context requested the calls when the runtime offered its table. Takes the lock. */
uint64_t gt_contexts_find_missed(void);
void gt_contexts_apply(struct gt_table *table);

/* End all recording. Takes no lock, because the child of a fork, and a writer that finds the
 * session stopped, also call this function. */
void gt_contexts_off(void);

/* Registered tables, for code that changes services. */
enum { GT_TABLES_MAX = 64 };
extern _Atomic(struct gt_table *) gt_tables[GT_TABLES_MAX] __attribute__((visibility("hidden")));

#endif
