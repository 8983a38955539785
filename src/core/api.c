/* SPDX-License-Identifier: MIT */
/* The public C API (include/gputap/gputap.h) on top of the core. Checks what callers give, nothing else. */
#include "gputap/gputap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/external.h"
#include "core/recording.h"
#include "core/subscriber.h"

enum { SUBSCRIBERS = 16 };

struct gputap_context {
	struct gt_context core;
};

struct subscriber {
	_Atomic(void *) fn; /* stored last */
	void *user;
};

static struct subscriber table_subscribers[SUBSCRIBERS], event_subscribers[SUBSCRIBERS];

static int subscribe(struct subscriber *list, void *fn, void *user)
{
	int rc = -ENOSPC;

	if (!fn)
		return -EINVAL;
	gt_recording_init();
	gt_core_lock();
	for (int i = 0; i < SUBSCRIBERS; i++)
		if (!atomic_load_explicit(&list[i].fn, memory_order_relaxed)) {
			list[i].user = user;
			atomic_store_explicit(&list[i].fn, fn, memory_order_release);
			rc = 0;
			break;
		}
	gt_core_unlock();
	return rc;
}

uint32_t gputap_version(void)
{
	return GPUTAP_VERSION_MAJOR << 16 | GPUTAP_VERSION_MINOR;
}

int gputap_external_push(enum gputap_stack stack, uint64_t id)
{
	if ((unsigned)stack >= GT_EXTERNAL_STACK_COUNT)
		return -EINVAL;
	return gt_external_push((enum gt_external_stack)stack, id);
}

int gputap_external_pop(enum gputap_stack stack, uint64_t *id)
{
	uint64_t top;
	int rc;

	if ((unsigned)stack >= GT_EXTERNAL_STACK_COUNT)
		return -EINVAL;
	rc = gt_external_pop((enum gt_external_stack)stack, &top);
	if (rc == 0 && id)
		*id = top;
	return rc;
}

int gputap_context_create(const struct gputap_context_opts *opts, struct gputap_context **out)
{
	struct gputap_context *ctx;
	uint64_t *ops;

	if (!out)
		return -EINVAL;
	*out = NULL;
	if (!opts || opts->size < sizeof *opts || opts->domain == 0 || opts->domain >= GT_DOMAIN_COUNT ||
	    (opts->operation_count && !opts->operations))
		return -EINVAL;
	for (size_t i = sizeof *opts; i < opts->size; i++)
		if (((const char *)opts)[i])
			return -EINVAL; /* it asks for something that this version does not have */
	for (uint32_t i = 0; i < opts->operation_count; i++)
		if (opts->operations[i] >= GT_OPS_PER_DOMAIN)
			return -EINVAL;
	gt_recording_init();
	if (!gt_recording.session)
		return -ENOTCONN;
	ctx = calloc(1, sizeof *ctx);
	if (!ctx)
		return -ENOMEM;
	ops = ctx->core.ops[opts->domain];
	if (opts->operation_count == 0)
		memset(ops, 0xff, sizeof ctx->core.ops[0]);
	for (uint32_t i = 0; i < opts->operation_count; i++)
		ops[opts->operations[i] / 64] |= UINT64_C(1) << (opts->operations[i] % 64);
	ctx->core.device_activity = opts->device_activity != 0;
	gt_context_add(&ctx->core);
	*out = ctx;
	return 0;
}

int gputap_context_start(struct gputap_context *ctx)
{
	if (!ctx)
		return -EINVAL;
	gt_context_start(&ctx->core);
	return 0;
}

int gputap_context_stop(struct gputap_context *ctx)
{
	if (!ctx)
		return -EINVAL;
	gt_context_stop(&ctx->core);
	return 0;
}

void gputap_context_destroy(struct gputap_context *ctx)
{
	if (!ctx)
		return;
	gt_context_remove(&ctx->core);
	free(ctx);
}

int gputap_table_subscribe(gputap_table_fn fn, void *user)
{
	return subscribe(table_subscribers, (void *)(uintptr_t)fn, user);
}

int gputap_event_subscribe(gputap_event_fn fn, void *user)
{
	return subscribe(event_subscribers, (void *)(uintptr_t)fn, user);
}

void gt_subscribers_call(const struct gt_table *table, void **out, size_t bytes)
{
	struct gputap_table t = {sizeof t, table->domain, table->instance, out, bytes, table->name};

	for (int i = 0; i < SUBSCRIBERS; i++) {
		void *fn = atomic_load_explicit(&table_subscribers[i].fn, memory_order_acquire);

		if (fn)
			((gputap_table_fn)(uintptr_t)fn)(&t, table_subscribers[i].user);
	}
}

void gt_subscribers_event(enum gt_event_code code, enum gt_domain domain, uint64_t value, const char *text)
{
	struct gputap_event e = {sizeof e, code, domain, value, text};

	for (int i = 0; i < SUBSCRIBERS; i++) {
		void *fn = atomic_load_explicit(&event_subscribers[i].fn, memory_order_acquire);

		if (fn)
			((gputap_event_fn)(uintptr_t)fn)(&e, event_subscribers[i].user);
	}
}
