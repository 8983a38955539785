/* SPDX-License-Identifier: MIT */
/* Wraps calls that wait for activities or query them, and records completed activities afterwards.
 * If such a call returns that a device has failed, an event reports the failure. */
#include <stdio.h>

#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

/* Write GT_EVENT_FAULT, once for each of the two statuses, because all later calls also fail. */
static int note_failure(const char *name, int status)
{
	static _Atomic bool reported[2];
	const bool is_lost = status == LZ_ERROR_DEVICE_LOST;
	char text[128];

	if ((!is_lost && status != LZ_ERROR_DEVICE_REQUIRES_RESET) ||
	    atomic_exchange(&reported[is_lost], true))
		return status;
	snprintf(text, sizeof text, "%s: %s", name,
		 is_lost ? "the device is lost" : "the device requires a reset");
	gt_event_write(gt_thread_own(), GT_EVENT_FAULT, GT_DOMAIN_LEVEL_ZERO, (uint32_t)status,
		       text);
	return status;
}

#define CHECKED(name, ...) note_failure(#name, REAL(name)(__VA_ARGS__))

static int harvest_queue(struct gt_lz_queue *queue, uint64_t until, int status)
{
	if (queue && !status)
		gt_lz_harvest(queue, until);
	return status;
}

/* Create events in advance after a wait. Return @status. */
static int waited(int status)
{
	gt_lz_owns_prepare();
	return status;
}

int gt_level_zero_wrap_zeCommandQueueSynchronize(const struct gt_call *call, void *handle,
						 uint64_t timeout)
{
	struct gt_lz_queue *queue = gt_lz_find(GT_LZ_QUEUE, handle);
	uint64_t until = queue ? gt_lz_submitted_to(queue) : 0;

	return waited(
		harvest_queue(queue, until, CHECKED(zeCommandQueueSynchronize, handle, timeout)));
}

int gt_level_zero_wrap_zeCommandListHostSynchronize(const struct gt_call *call, void *handle,
						    uint64_t timeout)
{
	struct gt_lz_queue *queue = gt_lz_find(GT_LZ_QUEUE, handle);
	uint64_t until = queue ? gt_lz_submitted_to(queue) : 0;

	return waited(harvest_queue(queue, until,
				    CHECKED(zeCommandListHostSynchronize, handle, timeout)));
}

static int harvest_fence(const void *handle, int status)
{
	const struct gt_lz_fence *fence = status ? NULL : gt_lz_find(GT_LZ_FENCE, handle);

	return fence ? harvest_queue(fence->queue, fence->until, status) : status;
}

int gt_level_zero_wrap_zeFenceHostSynchronize(const struct gt_call *call, void *fence,
					      uint64_t timeout)
{
	return waited(harvest_fence(fence, CHECKED(zeFenceHostSynchronize, fence, timeout)));
}

int gt_level_zero_wrap_zeFenceQueryStatus(const struct gt_call *call, void *fence)
{
	return harvest_fence(fence, CHECKED(zeFenceQueryStatus, fence));
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

/* Harvest all queues after a wait for an event, because activities on other queues on which the
 * event's activity depended are also done. */
int gt_level_zero_wrap_zeEventHostSynchronize(const struct gt_call *call, void *event,
					      uint64_t timeout)
{
	int status = CHECKED(zeEventHostSynchronize, event, timeout);

	if (!status)
		gt_lz_harvest_all();
	return waited(status);
}

/* Harvest only the event's own queue, because programs call this function very often. */
int gt_level_zero_wrap_zeEventQueryStatus(const struct gt_call *call, void *handle)
{
	int status = CHECKED(zeEventQueryStatus, handle);
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
	int status = CHECKED(zeDeviceSynchronize, device);

	if (!status)
		gt_lz_harvest_all();
	return waited(status);
}
