/* SPDX-License-Identifier: MIT */
/* The context that a tool has: tool_api.c configures it, tool_context.c starts and stops it. */
#ifndef GPUTAP_TOOL_CONTEXT_H
#define GPUTAP_TOOL_CONTEXT_H

#include "tool/tool.h"

struct gputap_context {
	struct gt_context core;
	struct gt_tool_context *place;  /* NULL: it has no callbacks */
	uint32_t flags;                 /* GPUTAP_CONTEXT_* */
	const struct gputap_tool *tool; /* tool whose start() created it; NULL: none */
	struct gputap_context *next;    /* in the list, newest first; with gt_core_lock() */
};

/* Return the context's place, for a further subscription. Without one, take a place with this
 * priority. NULL: all places are taken. With the lock. */
struct gt_tool_context *gt_tool_place(struct gputap_context *ctx, int32_t priority);

/* Add operations to the subscription to calls, or remove them. The context has a place. With the
 * lock. */
void gt_tool_calls_select(struct gputap_context *ctx, uint32_t domain, const uint64_t *set,
			  bool selected);

void gt_tool_context_start(struct gputap_context *ctx);
/* Stop a context. Return when no other thread is in one of its callbacks.
 * @finish: calls and activities in progress are notified to their end. */
void gt_tool_context_stop(struct gputap_context *ctx, bool finish);
/* Free the place of a stopped context. None of its callbacks runs. */
void gt_tool_context_release(struct gputap_context *ctx);

/* Add a new context to the list of all. gputap_context_destroy() removes it. */
void gt_tool_contexts_add(struct gputap_context *ctx);

#endif
