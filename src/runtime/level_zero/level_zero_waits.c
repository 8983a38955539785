/* SPDX-License-Identifier: MIT */
/* Calls that wait for work, or ask for it: afterwards what they tell of is recorded. */
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

static int harvest_queue(struct gt_lz_queue *queue, uint64_t until, int status)
{
	if (queue && !status)
		gt_lz_harvest(queue, until);
	return status;
}

int gt_level_zero_wrap_zeCommandQueueSynchronize(const struct gt_call *call, void *handle,
						 uint64_t timeout)
{
	struct gt_lz_queue *queue = gt_lz_find(GT_LZ_QUEUE, handle);
	uint64_t until = queue ? gt_lz_submitted_to(queue) : 0;

	return harvest_queue(queue, until, REAL(zeCommandQueueSynchronize)(handle, timeout));
}

int gt_level_zero_wrap_zeCommandListHostSynchronize(const struct gt_call *call, void *handle,
						    uint64_t timeout)
{
	struct gt_lz_queue *queue = gt_lz_find(GT_LZ_QUEUE, handle);
	uint64_t until = queue ? gt_lz_submitted_to(queue) : 0;

	return harvest_queue(queue, until, REAL(zeCommandListHostSynchronize)(handle, timeout));
}

static int harvest_fence(const void *handle, int status)
{
	const struct gt_lz_fence *fence = status ? NULL : gt_lz_find(GT_LZ_FENCE, handle);

	return fence ? harvest_queue(fence->queue, fence->until, status) : status;
}

int gt_level_zero_wrap_zeFenceHostSynchronize(const struct gt_call *call, void *fence,
					      uint64_t timeout)
{
	return harvest_fence(fence, REAL(zeFenceHostSynchronize)(fence, timeout));
}

int gt_level_zero_wrap_zeFenceQueryStatus(const struct gt_call *call, void *fence)
{
	return harvest_fence(fence, REAL(zeFenceQueryStatus)(fence));
}

int gt_level_zero_wrap_zeFenceReset(const struct gt_call *call, void *fence)
{
	gt_lz_remove(GT_LZ_FENCE, fence);
	return REAL(zeFenceReset)(fence);
}

int gt_level_zero_wrap_zeFenceDestroy(const struct gt_call *call, void *fence)
{
	gt_lz_remove(GT_LZ_FENCE, fence);
	return REAL(zeFenceDestroy)(fence);
}

/* What the event's work depended on, on other queues, is done, too. */
int gt_level_zero_wrap_zeEventHostSynchronize(const struct gt_call *call, void *event,
					      uint64_t timeout)
{
	int status = REAL(zeEventHostSynchronize)(event, timeout);

	if (!status)
		gt_lz_harvest_all();
	return status;
}

/* This is called again and again: it looks at the event's own queue only. */
int gt_level_zero_wrap_zeEventQueryStatus(const struct gt_call *call, void *handle)
{
	int status = REAL(zeEventQueryStatus)(handle);
	struct gt_lz_event *event = status ? NULL : gt_lz_find(GT_LZ_EVENT, handle);
	struct gt_lz_queue *queue =
		event ? atomic_load_explicit(&event->queue, memory_order_relaxed) : NULL;

	if (status)
		return status;
	if (event)
		return harvest_queue(queue, 0, status);
	gt_lz_harvest_all();
	return status;
}

int gt_level_zero_wrap_zeDeviceSynchronize(const struct gt_call *call, void *device)
{
	int status = REAL(zeDeviceSynchronize)(device);

	if (!status)
		gt_lz_harvest_all();
	return status;
}
