/* SPDX-License-Identifier: MIT */
/* Contexts: sets of (domain, operations, service) that are started and stopped together.
 *
 * The session's stream is one (configured from struct gt_session, started at once); tools create
 * others. An operation's `services` word is the union of the services that started contexts
 * request; a tap reads nothing else. Taps are put into a table when it is registered, for all
 * operations that any context requests at that time. */
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
	/* calls to be recorded in the stream */
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* calls whose GPU activities are recorded even if the call is not */
	uint64_t work[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* calls that a tool requested, for callbacks or a buffer */
	uint64_t notify[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* domains whose GPU activities a tool requested: 1 << domain */
	uint32_t notify_work;
};

/* Initialise the session's own context and start it, unless the session starts with a pause. */
void gt_contexts_init(const struct gt_session *session);

/* Callable from any thread; these take gt_core_lock(). */
void gt_context_add(struct gt_context *c);
void gt_context_remove(struct gt_context *c); /* stops it; never the session's context */
/* Start or stop the context. The caller holds gt_core_lock(). */
void gt_context_set_started(struct gt_context *c, bool started);

/* Start or stop the session's context. The caller holds gt_core_lock(). */
void gt_session_set_started(bool started);

/* Pause the session's recording for one reason, or end that pause: it is recorded while no reason
 * to pause is left. Wraps and other contexts are not affected. Takes gt_core_lock(). */
void gt_contexts_pause(enum gt_pause who, bool paused, enum gt_window_why why);

/* In the child of a fork, called from its handler: reset state that belongs to the process. */
void gt_contexts_fork(void);

/* Called before recording resumes, to restart what left the process during a long pause (CUPTI);
 * NULL: not needed. Set by a constructor. */
extern void (*gt_contexts_resume_hook)(void) __attribute__((visibility("hidden")));

/* Called without a lock after a context has been started or stopped, or a pause has started or
 * ended: updates which calls are requested from interfaces without taps (CUPTI); NULL: none. Set by
 * a constructor. */
extern void (*gt_contexts_changed_hook)(void) __attribute__((visibility("hidden")));

static inline void gt_contexts_changed(void)
{
	if (gt_contexts_changed_hook)
		gt_contexts_changed_hook();
}

/* Return true if the session requests this operation's calls, paused or not. */
bool gt_session_asks(uint32_t op);
/* Return true if the session requests the GPU activities that they launch. */
bool gt_session_asks_work(uint32_t op);

/* Domains whose GPU activities go into the stream, 1 << domain: tools may request others. HIP's
 * activities are HSA's. `gt_stream_launches`: those whose new launches do: none while recording is
 * paused. */
extern _Atomic uint32_t gt_stream_work __attribute__((visibility("hidden")));
extern _Atomic uint32_t gt_stream_launches __attribute__((visibility("hidden")));

/* Recompute the services after a change of anything but contexts that they depend on. */
void gt_contexts_refresh(void);
void gt_contexts_refresh_locked(void); /* the caller holds gt_core_lock() */

/* Return true if a context requests the operation. For table.c, with the lock held. */
bool gt_contexts_ask(const struct gt_operation *operation);
/* Return the domains, a bit each, of which tools request calls that bypass their taps because they
 * were not requested when the runtime offered its table. Takes the lock. */
uint64_t gt_contexts_find_missed(void);
void gt_contexts_apply(struct gt_table *table);

/* End all recording. Takes no lock: called also from a fork child, or a writer that found the
 * session stopped. */
void gt_contexts_off(void);

/* Registered tables, for code that changes services. */
enum { GT_TABLES_MAX = 64 };
extern _Atomic(struct gt_table *) gt_tables[GT_TABLES_MAX] __attribute__((visibility("hidden")));

#endif
