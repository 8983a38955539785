/* SPDX-License-Identifier: MIT */
/* Flushes that a tool requests: notify of completed activities, then deliver buffers. */
#include <errno.h>
#include <time.h>

#include "tool/tool_buffer.h"
#include "tool/tool_context.h"
#include "tool/tool_activity.h"
#include "util/clock_ns.h"

int gputap_buffer_flush(struct gputap_buffer *b)
{
	int saved = errno;

	if (!b)
		return -EINVAL;
	gt_tool_activity_settle();
	gt_buffer_hand_over(b, GT_NO_DEADLINE);
	errno = saved;
	return 0;
}

/* Return the end of a duration that starts now, without overflow. */
static uint64_t deadline_in(uint64_t timeout_ns)
{
	uint64_t now = gt_clock_ns(CLOCK_MONOTONIC);

	return timeout_ns < GT_NO_DEADLINE - now ? now + timeout_ns : GT_NO_DEADLINE - 1;
}

int gputap_context_drain(struct gputap_context *ctx, uint64_t timeout_ns, uint64_t *unfinished)
{
	uint64_t open = 0, deadline;
	bool complete = true;
	int saved = errno;

	if (!ctx)
		return -EINVAL;
	if (ctx->place) {
		open = gt_tool_activity_drain((uint32_t)(ctx->place - gt_tool_pool),
					      deadline_in(timeout_ns));
		deadline = deadline_in(timeout_ns);
		for (uint32_t d = 0; d < GT_DOMAIN_COUNT; d++)
			if (ctx->place->buffered[d].buffer)
				complete &= gt_buffer_hand_over(ctx->place->buffered[d].buffer,
								deadline);
	}
	if (unfinished)
		*unfinished = open;
	errno = saved;
	return open || !complete ? -ETIMEDOUT : 0;
}
