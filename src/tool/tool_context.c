/* SPDX-License-Identifier: MIT */
/* Creates, starts, stops and destroys contexts of tools. tool.h describes when callbacks may run.
 *
 *   created ─► services are configured ─► started ⇄ stopped ─► destroyed
 *              (a slot of the pool)       │
 *                                         └► order: the slots of active contexts (tool_reader.c)
 *
 * All changes are made with gt_core_lock() held. No tool function runs while this lock is held. */
#include "tool/tool_context.h"

#include <stdlib.h>
#include <string.h>

#include "core/recording.h"
#include "gputap/tool.h"
#include "tool/tool_reader.h"
#include "tool/tool_activity.h"
#include "util/zeroed.h"

static bool place_taken[GT_TOOL_POOL];
static uint64_t ages;
static struct gputap_context *all; /* newest first; protected by gt_core_lock() */

/* Contexts ------------------------------------------------------------------- */

static bool in_set(const uint64_t *set, uint32_t number)
{
	return set[number / 64] >> (number % 64) & 1;
}

static uint32_t how_of(const struct gt_tool_context *c, int domain, uint32_t number)
{
	const struct gt_tool_buffered *b = &c->buffered[domain];
	uint32_t how =
		(c->calls[domain].fn && in_set(c->ops[domain], number) ? GT_TOOL_CALLED : 0) |
		(b->buffer && in_set(b->ops, number) ? GT_TOOL_BUFFERED : 0);

	if (how & GT_TOOL_BUFFERED || (how && !in_set(c->uncorrelated[domain], number)))
		how |= GT_TOOL_NUMBERED;
	else if (how && c->uncorrelated_flags[domain] & GPUTAP_UNCORRELATED_ALONE)
		how |= GT_TOOL_ALONE;
	if (how & GT_TOOL_CALLED && c->calls[domain].flags & GPUTAP_CALLS_TIMED)
		how |= GT_TOOL_TIMED;
	how |= gt_tool_wants_all_retired(c);
	if (how && (c->retired || (how & GT_TOOL_BUFFERED && b->retirement)))
		how |= GT_TOOL_RETIRES;
	if (how && c->flags & GPUTAP_CONTEXT_EXIT_FORWARD)
		how |= GT_TOOL_FORWARD;
	return how;
}

static void set_how(struct gt_tool_context *c, int domain, uint32_t number)
{
	__atomic_store_n(&c->how[domain][number], (uint8_t)how_of(c, domain, number),
			 __ATOMIC_RELAXED);
}

/* Write the configuration into how[], for each operation, before the context is active. */
static void plan_services(struct gt_tool_context *c)
{
	for (int d = 0; d < GT_DOMAIN_COUNT && !c->is_current; d++)
		if (c->calls[d].fn || c->buffered[d].buffer || gt_tool_wants_all_retired(c))
			for (uint32_t n = 0; n < GT_OPS_PER_DOMAIN; n++)
				set_how(c, d, n);
	c->is_current = true;
}

struct gt_tool_context *gt_tool_place(struct gputap_context *ctx, int32_t priority)
{
	if (ctx->place)
		ctx->place->is_current = false;
	gt_tool_readers_begin();
	if (!gt_tool_pool)
		gt_tool_pool = gt_zeroed_map(GT_TOOL_POOL * sizeof *gt_tool_pool);
	for (uint32_t p = 0; gt_tool_pool && !ctx->place && p < GT_TOOL_POOL; p++) {
		struct gt_tool_context *c = &gt_tool_pool[p];
		uint32_t generation = atomic_load_explicit(&c->generation, memory_order_relaxed);

		if (place_taken[p])
			continue;
		place_taken[p] = true;
		/* a thread that still uses the slot for its former user reads only the three fields
		 * before `priority` */
		memset(&c->priority, 0, sizeof *c - offsetof(struct gt_tool_context, priority));
		atomic_store_explicit(&c->generation, generation + 1, memory_order_release);
		c->priority = priority;
		c->age = ++ages;
		c->flags = ctx->flags;
		if (c->flags & GPUTAP_CONTEXT_DENSE)
			atomic_fetch_add(&gt_tool_dense, 1);
		if (c->flags & GPUTAP_CONTEXT_INNERMOST)
			atomic_fetch_add(&gt_tool_innermost, 1);
		ctx->place = c;
	}
	return ctx->place;
}

void gt_tool_calls_select(struct gputap_context *ctx, uint32_t domain, const uint64_t *set,
			  bool selected)
{
	struct gt_tool_context *c = ctx->place;
	bool is_active = atomic_load_explicit(&c->active, memory_order_relaxed);

	for (uint32_t i = 0; i < GT_OPS_PER_DOMAIN / 64; i++) {
		uint64_t was = c->ops[domain][i];

		c->ops[domain][i] = selected ? was | set[i] : was & ~set[i];
		ctx->core.notify[domain][i] = c->ops[domain][i] | c->buffered[domain].ops[i];
		for (uint64_t changed = was ^ c->ops[domain][i]; is_active && changed;
		     changed &= changed - 1)
			set_how(c, (int)domain, i * 64 + (uint32_t)__builtin_ctzll(changed));
	}
	c->is_current &= is_active;
	gt_contexts_refresh_locked();
}

/* Wait until no other thread is in a callback of an inactive slot. */
static void wait_for_callbacks(uint32_t place)
{
	/* this may be a buffer's callback, while the other thread waits for room in that buffer */
	gt_tool_delivery_waits(true);
	gt_tool_readers_wait(place);
	gt_tool_delivery_waits(false);
}

void gt_tool_context_start(struct gputap_context *ctx)
{
	struct gt_tool_context *c = ctx->place;
	bool starts = false;

	gt_core_lock();
	if (c && !atomic_load_explicit(&c->active, memory_order_relaxed)) {
		plan_services(c);
		atomic_store_explicit(&c->finishing, 0, memory_order_relaxed);
		atomic_store_explicit(&c->active, 1, memory_order_release);
		gt_tool_order_write();
		starts = true;
	}
	gt_context_set_started(&ctx->core, true);
	gt_core_unlock();
	gt_contexts_changed();
	if (starts)
		gt_tool_objects_replay((uint32_t)(c - gt_tool_pool),
				       atomic_load_explicit(&c->generation, memory_order_relaxed));
}

void gt_tool_context_stop(struct gputap_context *ctx, bool finish)
{
	struct gt_tool_context *c = ctx->place;

	gt_core_lock();
	if (c) {
		atomic_store_explicit(&c->finishing, finish, memory_order_seq_cst);
		atomic_store_explicit(&c->active, 0, memory_order_seq_cst);
		gt_tool_order_write();
	}
	gt_context_set_started(&ctx->core, false);
	gt_core_unlock();
	gt_contexts_changed();
	if (c)
		wait_for_callbacks((uint32_t)(c - gt_tool_pool));
}

void gt_tool_context_release(struct gputap_context *ctx)
{
	struct gt_tool_context *c = ctx->place;

	if (!c)
		return;
	if (c->flags & GPUTAP_CONTEXT_DENSE)
		atomic_fetch_sub(&gt_tool_dense, 1);
	if (c->flags & GPUTAP_CONTEXT_INNERMOST)
		atomic_fetch_sub(&gt_tool_innermost, 1);
	ctx->place = NULL;
	gt_tool_activity_forget((uint32_t)(c - gt_tool_pool));
	gt_core_lock();
	place_taken[c - gt_tool_pool] = false;
	gt_core_unlock();
}

/* All contexts ---------------------------------------------------------------- */

void gt_tool_contexts_add(struct gputap_context *ctx)
{
	gt_core_lock();
	ctx->next = all;
	all = ctx;
	gt_core_unlock();
}

void gputap_context_destroy(struct gputap_context *ctx)
{
	if (!ctx)
		return;
	gt_tool_context_stop(ctx, false);
	gt_tool_context_release(ctx);
	gt_context_remove(&ctx->core);
	gt_core_lock();
	for (struct gputap_context **at = &all; *at; at = &(*at)->next)
		if (*at == ctx) {
			*at = ctx->next;
			break;
		}
	gt_core_unlock();
	free(ctx);
}

void gt_tool_contexts_destroy(const struct gputap_tool *tool)
{
	struct gputap_context *c;

	do {
		gt_core_lock();
		for (c = all; c && c->tool != tool; c = c->next)
			;
		gt_core_unlock();
		gputap_context_destroy(c);
	} while (c);
}

/* Stop the contexts of all tools (@everybody), or only those of @tool. */
static void stop_contexts(bool everybody, const struct gputap_tool *tool)
{
	struct gputap_context *c;

	do {
		gt_core_lock();
		for (c = all; c && !(c->place && c->core.started && (everybody || c->tool == tool));
		     c = c->next)
			;
		gt_core_unlock();
		if (c)
			gt_tool_context_stop(c, false);
	} while (c);
}

void gt_tool_contexts_stop_all(void)
{
	stop_contexts(true, NULL);
}

void gt_tool_contexts_stop_of(const struct gputap_tool *tool)
{
	stop_contexts(false, tool);
}
