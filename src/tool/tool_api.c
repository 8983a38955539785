/* SPDX-License-Identifier: MIT */
/* Implements the public C API (include/gputap/): checks the callers' arguments, and calls the core
 * and the other files of this folder. */
#include "gputap/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/external.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "tool/tool_context.h"
#include "tool/tool_load.h"
#include "tool/tool_activity.h"

uint32_t gputap_version(void)
{
	return GT_TOOL_VERSION;
}

int gputap_external_push(enum gputap_stack stack, uint64_t id)
{
	if ((unsigned)stack >= GT_EXTERNAL_STACK_COUNT)
		return -EINVAL;
	return gt_external_push(gt_thread_own(), (enum gt_external_stack)stack, id);
}

int gputap_external_pop(enum gputap_stack stack, uint64_t *id)
{
	uint64_t top;
	int rc;

	if ((unsigned)stack >= GT_EXTERNAL_STACK_COUNT)
		return -EINVAL;
	rc = gt_external_pop(gt_thread_own(), (enum gt_external_stack)stack, &top);
	if (rc == 0 && id)
		*id = top;
	return rc;
}

/* Contexts ------------------------------------------------------------------- */

static_assert(sizeof(enum gputap_domain) == 4 && sizeof(enum gputap_calls_flags) == 4,
	      "enums of the public headers are as wide as the integers that they replace");

/* Return true if the number is a domain's or GPUTAP_DOMAIN_NONE. */
static bool is_domain(enum gputap_domain domain)
{
	return (uint32_t)domain < GT_DOMAIN_COUNT;
}

static int set_operations(uint64_t *set, const uint32_t *operations, size_t count)
{
	if (count && !operations)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (operations[i] >= GT_OPS_PER_DOMAIN)
			return -EINVAL;
	if (count == 0)
		memset(set, 0xff, GT_OPS_PER_DOMAIN / 8);
	for (size_t i = 0; i < count; i++)
		set[operations[i] / 64] |= UINT64_C(1) << (operations[i] % 64);
	return 0;
}

#define CONTEXT_FLAGS                                                       \
	(uint32_t)(GPUTAP_CONTEXT_FINISH_CALLS | GPUTAP_CONTEXT_DENSE |     \
		   GPUTAP_CONTEXT_EXIT_FORWARD | GPUTAP_CONTEXT_INNERMOST | \
		   GPUTAP_CONTEXT_ALL_RETIRED)

int gputap_context_create(const struct gputap_context_opts *opts, struct gputap_context **out)
{
	uint64_t set[GT_OPS_PER_DOMAIN / 64] = {0};
	struct gputap_context *ctx;

	if (!out)
		return -EINVAL;
	*out = NULL;
	if (!opts || opts->size < sizeof *opts || !is_domain(opts->domain) ||
	    opts->flags & ~CONTEXT_FLAGS ||
	    (!opts->domain && (opts->operation_count || opts->activities)))
		return -EINVAL;
	for (size_t i = sizeof *opts; i < opts->size; i++)
		if (((const char *)opts)[i])
			/* the caller requests a feature that this version does not have */
			return -EINVAL;
	if (opts->domain && set_operations(set, opts->operations, opts->operation_count))
		return -EINVAL;
	gt_recording_init();
	if (opts->domain && !gt_recording_is_run())
		return -ENOTCONN;
	ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return -ENOMEM;
	memcpy(ctx->recorded[opts->domain], set, sizeof set);
	ctx->core.domains = GT_DOMAIN_BIT(opts->domain);
	ctx->core.ops = ctx->recorded;
	ctx->core.device_activity = opts->activities != 0;
	ctx->flags = opts->flags;
	ctx->tool = gt_tool_current();
	gt_context_add(&ctx->core);
	gt_tool_contexts_add(ctx);
	*out = ctx;
	return 0;
}

int gputap_context_start(struct gputap_context *ctx)
{
	if (!ctx)
		return -EINVAL;
	gt_tool_context_start(ctx);
	return 0;
}

int gputap_context_stop(struct gputap_context *ctx)
{
	if (!ctx)
		return -EINVAL;
	if (ctx->core.started && ctx->core.notify_activity)
		gt_tool_activity_settle();
	gt_tool_context_stop(ctx, ctx->flags & GPUTAP_CONTEXT_FINISH_CALLS);
	return 0;
}

int gputap_context_is_active(const struct gputap_context *ctx)
{
	return ctx ? ctx->core.started : -EINVAL;
}

/* Get the slot of a context for a new service, and take the lock. Return 0 or a negative errno. */
static int place_of(struct gputap_context *ctx, const void *fn, struct gt_tool_context **place)
{
	int32_t priority;

	if (!ctx || !fn)
		return -EINVAL;
	gt_tools_needed();
	priority = gt_tool_priority();
	gt_core_lock();
	*place = ctx->core.started ? NULL : gt_tool_place(ctx, priority);
	if (*place)
		return 0;
	gt_core_unlock();
	return ctx->core.started ? -EBUSY : -ENOSPC;
}

/* Like place_of(), for a service that is limited to one domain. */
static int place_in(struct gputap_context *ctx, enum gputap_domain domain, const void *fn,
		    struct gt_tool_context **place)
{
	return domain != GPUTAP_DOMAIN_NONE && is_domain(domain) ? place_of(ctx, fn, place)
								 : -EINVAL;
}

static int unlock_and_return(int rc)
{
	gt_core_unlock();
	return rc;
}

static void add_set(uint64_t *to, const uint64_t *set)
{
	for (size_t i = 0; i < GT_OPS_PER_DOMAIN / 64; i++)
		to[i] |= set[i];
}

int gputap_context_calls(struct gputap_context *ctx, enum gputap_domain domain,
			 const uint32_t *operations, size_t count, enum gputap_calls_flags flags,
			 gputap_call_fn fn, void *user)
{
	uint64_t set[GT_OPS_PER_DOMAIN / 64] = {0};
	struct gt_tool_context *c;
	int rc = flags & ~(uint32_t)(GPUTAP_CALLS_WRITE | GPUTAP_CALLS_TIMED)
			 ? -EINVAL
			 : set_operations(set, operations, count);

	rc = rc ? rc : place_in(ctx, domain, (const void *)(uintptr_t)fn, &c);
	if (rc)
		return rc;
	if (c->calls[domain].fn)
		return unlock_and_return(-EEXIST);
	c->calls[domain] = (struct gt_tool_calls){fn, user, flags};
	add_set(c->ops[domain], set);
	add_set(ctx->core.notify[domain], set);
	return unlock_and_return(0);
}

int gputap_context_select(struct gputap_context *ctx, enum gputap_domain domain,
			  const uint32_t *operations, size_t count, int selected)
{
	uint64_t set[GT_OPS_PER_DOMAIN / 64] = {0};
	int rc = set_operations(set, operations, count);

	if (rc || !ctx || !domain || !is_domain(domain))
		return -EINVAL;
	gt_core_lock();
	if (!ctx->place || !ctx->place->calls[domain].fn)
		return unlock_and_return(-ENOENT);
	gt_tool_calls_select(ctx, domain, set, selected != 0);
	gt_core_unlock();
	gt_contexts_changed();
	return 0;
}

int gputap_context_uncorrelated(struct gputap_context *ctx, enum gputap_domain domain,
				const uint32_t *operations, size_t count,
				enum gputap_uncorrelated_flags flags)
{
	uint64_t set[GT_OPS_PER_DOMAIN / 64] = {0};
	struct gt_tool_context *c;
	int rc = flags & ~(uint32_t)GPUTAP_UNCORRELATED_ALONE
			 ? -EINVAL
			 : set_operations(set, operations, count);

	rc = rc ? rc : place_in(ctx, domain, ctx, &c);
	if (rc)
		return rc;
	if (!c->calls[domain].fn)
		return unlock_and_return(-ENOENT);
	add_set(c->uncorrelated[domain], set);
	c->uncorrelated_flags[domain] |= flags;
	return unlock_and_return(0);
}

int gputap_context_activities(struct gputap_context *ctx, enum gputap_domain domain, uint64_t types,
			      gputap_activity_fn fn, void *user)
{
	struct gt_tool_context *c;
	int rc = types ? place_in(ctx, domain, (const void *)(uintptr_t)fn, &c) : -EINVAL;

	if (rc)
		return rc;
	if (c->activities[domain].fn)
		return unlock_and_return(-EEXIST);
	c->activities[domain] = (struct gt_tool_activities){fn, user, types};
	ctx->core.notify_activity |= GT_DOMAIN_BIT(domain);
	return unlock_and_return(0);
}

int gputap_context_objects(struct gputap_context *ctx, enum gputap_domain domain, uint64_t types,
			   enum gputap_objects_flags flags, gputap_object_fn fn, void *user)
{
	struct gt_tool_context *c;
	int rc = types && !(flags &
			    ~(uint32_t)(GPUTAP_OBJECTS_NO_REPLAY | GPUTAP_OBJECTS_PARENT_FIRST))
			 ? place_in(ctx, domain, (const void *)(uintptr_t)fn, &c)
			 : -EINVAL;

	if (rc)
		return rc;
	if (c->objects[domain].fn)
		return unlock_and_return(-EEXIST);
	c->objects[domain] = (struct gt_tool_objects){fn, user, types, flags};
	ctx->core.notify_activity |=
		GT_DOMAIN_BIT(domain); /* the same hand-written wraps handle both domains */
	return unlock_and_return(0);
}

int gputap_context_retirement(struct gputap_context *ctx, gputap_retired_fn fn, void *user)
{
	struct gt_tool_context *c;
	int rc = place_of(ctx, (const void *)(uintptr_t)fn, &c);

	if (rc)
		return rc;
	if (c->retired)
		return unlock_and_return(-EEXIST);
	c->retired = fn;
	c->retired_user = user;
	return unlock_and_return(0);
}

int gputap_context_buffer(struct gputap_context *ctx, enum gputap_domain domain,
			  const uint32_t *operations, size_t count, uint64_t activity_types,
			  int retirement, struct gputap_buffer *buffer)
{
	uint64_t set[GT_OPS_PER_DOMAIN / 64] = {0};
	struct gt_tool_context *c;
	int rc = set_operations(set, operations, count);

	rc = rc ? rc : place_in(ctx, domain, buffer, &c);
	if (rc)
		return rc;
	if (c->buffered[domain].buffer)
		return unlock_and_return(-EEXIST);
	c->buffered[domain] = (struct gt_tool_buffered){.buffer = buffer,
							.types = activity_types,
							.retirement = retirement != 0};
	add_set(c->buffered[domain].ops, set);
	add_set(ctx->core.notify[domain], set);
	if (activity_types)
		ctx->core.notify_activity |= GT_DOMAIN_BIT(domain);
	return unlock_and_return(0);
}

/* Subscribers ---------------------------------------------------------------- */

int gputap_table_subscribe(gputap_table_fn fn, void *user)
{
	if (!fn)
		return -EINVAL;
	gt_tools_needed();
	return gt_table_subscribe(fn, user, gt_tool_current());
}

int gputap_event_subscribe(gputap_event_fn fn, void *user)
{
	if (!fn)
		return -EINVAL;
	gt_recording_init();
	return gt_event_subscribe(fn, user, gt_tool_current());
}

int gputap_table_offer(const char *name, void **entries, size_t bytes)
{
	if (!name || !entries || bytes < sizeof(void *))
		return -EINVAL;
	gt_tools_meet_runtime(false);
	gt_subscribers_offer(name, 0, 0, entries, bytes);
	return 0;
}
