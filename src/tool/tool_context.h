/* SPDX-License-Identifier: MIT */
/* Declares a tool's context. tool_api.c configures contexts; tool_context.c starts and stops
 * them. */
#ifndef GPUTAP_TOOL_CONTEXT_H
#define GPUTAP_TOOL_CONTEXT_H

#include "tool/tool.h"

struct gputap_context {
	struct gt_context core;
	struct gt_tool_context *place;  /* NULL if the context has no callbacks */
	uint32_t flags;                 /* GPUTAP_CONTEXT_* */
	const struct gputap_tool *tool; /* tool whose start() created the context, or NULL */
	/* list of contexts, newest first; protected by gt_core_lock() */
	struct gputap_context *next;
	uint64_t recorded[GT_DOMAIN_COUNT][GT_OPS_PER_DOMAIN / 64]; /* core.ops */
};

/* Return the context's slot, for a further subscription. If the context has no slot, take a slot
 * with the given priority. Return NULL if all slots are taken. The caller holds the lock. */
struct gt_tool_context *gt_tool_place(struct gputap_context *ctx, int32_t priority);

/* Add operations to the subscription to calls, or remove operations. The context must have a slot,
 * and the caller holds the lock. */
void gt_tool_calls_select(struct gputap_context *ctx, uint32_t domain, const uint64_t *set,
			  bool selected);

void gt_tool_context_start(struct gputap_context *ctx);
/* Stop a context. Return when no other thread is in a callback of the context.
 * @finish: true to notify of calls and activities in progress until their end */
void gt_tool_context_stop(struct gputap_context *ctx, bool finish);
/* Free the slot of a stopped context. None of the context's callbacks may be running. */
void gt_tool_context_release(struct gputap_context *ctx);

/* Add a new context to the list of all contexts. gputap_context_destroy() removes the context. */
void gt_tool_contexts_add(struct gputap_context *ctx);

#endif
