/* SPDX-License-Identifier: MIT */
/* A context as tools hold it: what tool_api.c configures and tool_context.c starts and stops. */
#ifndef GPUTAP_TOOL_CONTEXT_H
#define GPUTAP_TOOL_CONTEXT_H

#include "tool/tool.h"

struct gputap_context {
	struct gt_context core;
	struct gt_tool_context *place;  /* NULL: it notifies of nothing */
	uint32_t flags;                 /* GPUTAP_CONTEXT_* */
	const struct gputap_tool *tool; /* in whose start() it was made; NULL: none's */
	struct gputap_context *next;    /* of all, newest first; with gt_core_lock() */
};

/* With the lock: the context's place, taken with this priority if it has none, to be given
 * something more. NULL: all are taken. */
struct gt_tool_context *gt_tool_place(struct gputap_context *ctx, int32_t priority);

/* With the lock: of its function for calls, these operations or no longer these. It has a place. */
void gt_tool_calls_select(struct gputap_context *ctx, uint32_t domain, const uint64_t *set,
			  bool selected);

void gt_tool_context_start(struct gputap_context *ctx);
/* @finish: what has begun is notified to its end. Returns when no other thread is in a callback of
 *         it. */
void gt_tool_context_stop(struct gputap_context *ctx, bool finish);
/* Stopped already: none of its callbacks runs any more. The place is free. */
void gt_tool_context_release(struct gputap_context *ctx);

/* It was made: one of all. gputap_context_destroy() takes it out. */
void gt_tool_contexts_add(struct gputap_context *ctx);

#endif
