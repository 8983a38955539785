/* SPDX-License-Identifier: MIT */
/* Contexts: sets of (domain, operations, service) that are started and stopped together.
 *
 * The session's stream is one (configured from struct gt_session, started at once); tools make
 * others. An operation's `services` word is the union of what the started contexts ask; it is
 * the only thing that a tap looks at. Taps are put into a table when it is registered, for what
 * any context asks by then. */
#ifndef GPUTAP_CORE_CONTEXT_H
#define GPUTAP_CORE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "core/process_pauses.h"
#include "ring/session.h"

struct gt_context {
	struct gt_context *next; /* list of all */
	bool started;
	bool device_activity;
	uint64_t ops[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64]; /* asked of the stream */
	/* whose device work is asked for in any case */
	uint64_t work[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* asked by a tool, for callbacks or a buffer */
	uint64_t notify[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64];
	/* domains whose work a tool asks for: 1 << domain */
	uint32_t notify_work;
};

/* The session's own context, started unless the session begins with a pause. */
void gt_contexts_init(const struct gt_session *session);

/* Any thread; these take gt_core_lock(). */
void gt_context_add(struct gt_context *c);
void gt_context_remove(struct gt_context *c); /* stops it; never the session's own */
/* Start or stop it. The caller holds gt_core_lock(). */
void gt_context_set_started(struct gt_context *c, bool started);

/* Start or stop the session's own. The caller holds gt_core_lock(). */
void gt_session_set_started(bool started);

/* One of those who may pause the session's recording does so, or goes on: it is recorded while none
 * pauses it. Wraps stay; other contexts too. Takes gt_core_lock(). */
void gt_contexts_pause(enum gt_pause who, bool paused, enum gt_window_why why);

/* In the child of a fork, by its handler: what is the process's own begins anew. */
void gt_contexts_fork(void);

/* Called when recording goes on, before it does, for whatever has left the process in a
 * long pause; NULL: nothing does. Set by a constructor. */
extern void (*gt_contexts_resume_hook)(void) __attribute__((visibility("hidden")));

/* Called when a context has been started or stopped, or a pause has begun or ended,
 * without a lock: for what is asked of calls that have no taps; NULL: nothing is. Set by a
 * constructor. */
extern void (*gt_contexts_changed_hook)(void) __attribute__((visibility("hidden")));

static inline void gt_contexts_changed(void)
{
	if (gt_contexts_changed_hook)
		gt_contexts_changed_hook();
}

/* Does the session ask for this operation's calls, paused or not? */
bool gt_session_asks(uint32_t op);
/* .. for the work that they cause? */
bool gt_session_asks_work(uint32_t op);

/* Domains whose device work goes into the stream, 1 << domain: tools may ask for what the stream
 * does not. HIP's is HSA's. `gt_stream_launches`: what is launched now does, too: not while
 * recording is paused. */
extern _Atomic uint32_t gt_stream_work __attribute__((visibility("hidden")));
extern _Atomic uint32_t gt_stream_launches __attribute__((visibility("hidden")));

/* What services depend on beside contexts has changed. */
void gt_contexts_refresh(void);
void gt_contexts_refresh_locked(void); /* the caller holds gt_core_lock() */

/* For table.c, with the lock held. */
bool gt_contexts_ask(const struct gt_operation *operation);
/* Domains, a bit each, of which tools request calls that pass by: they were not requested when the
 * runtime offered its table. Takes the lock. */
uint64_t gt_contexts_find_missed(void);
void gt_contexts_apply(struct gt_table *table);

/* Nothing is recorded any more. No lock: also from a fork child or a writer that found the
 * session stopped. */
void gt_contexts_off(void);

/* Tables that are registered, for whoever changes services. */
enum { GT_TABLES_MAX = 64 };
extern _Atomic(struct gt_table *) gt_tables[GT_TABLES_MAX] __attribute__((visibility("hidden")));

#endif
