/* SPDX-License-Identifier: MIT */
/* Tables without a runtime, whose calls are made as generated taps make them (src/core/tap.h), for
 * tests of notifications to tools. */
#ifndef GPUTAP_UNIT_TOOL_FAKE_H
#define GPUTAP_UNIT_TOOL_FAKE_H

#include "core/table.h"
#include "tool/tool.h"
#include "unit.h"

/* A domain without a runtime. Only its number is known. */
#define DOMAIN ((uint32_t)GT_DOMAIN_COUNT - 2)
enum { OPERATIONS = 3, HIP_OPERATIONS = 1 };

static const struct gt_operation operations[OPERATIONS] = {
	{GT_OP(DOMAIN, 0, 1), 0, false, false, 0},
	{GT_OP(DOMAIN, 1, 1), 8, false, false, 0},
	{GT_OP(DOMAIN, 2, 0), 16, false, false, 0},
};
static struct gt_tap taps[OPERATIONS], hip_taps[HIP_OPERATIONS];
static struct gt_table table = {DOMAIN, 0, operations, OPERATIONS, taps, "fake", 10000, 0, NULL};
static const struct gt_operation hip_operations[HIP_OPERATIONS] = {
	{GT_OP(GT_DOMAIN_HIP, 7, 1), 0, false, false, 0}};
static struct gt_table hip_table = {GT_DOMAIN_HIP,  0,        hip_operations,
				    HIP_OPERATIONS, hip_taps, "fake",
				    10000,          0,        NULL};

struct args {
	uint64_t value;
};

/* Make a call as a tap does. The runtime calls `inside` and returns twice the argument. */
static inline uint64_t call_of(const struct gt_table *t, uint32_t op, uint64_t value,
			       void (*inside)(void))
{
	struct args held = {value};
	struct gt_tool_frame frame;
	uint64_t ret;

	if (!(gt_tap_services(&t->taps[op]) & GT_SERVICE_NOTIFY) ||
	    !gt_tool_call_enter(&frame, t, op, &held, sizeof held)) {
		if (inside)
			inside();
		return 2 * value;
	}
	if (inside)
		inside();
	ret = 2 * held.value;
	gt_tool_call_exit(&frame, &ret, sizeof ret);
	return ret;
}

static inline uint64_t call(uint32_t op, uint64_t value)
{
	return call_of(&table, op, value, NULL);
}

/* Notifications, as text. */
static char notified[4096];

static inline struct gputap_context *context(uint32_t flags)
{
	const struct gputap_context_opts opts = {.size = sizeof opts, .flags = flags};
	struct gputap_context *ctx;

	CHECK_OK(gputap_context_create(&opts, &ctx));
	gt_table_adopt(&table);
	gt_table_adopt(&hip_table);
	return ctx;
}

#endif
