/* SPDX-License-Identifier: MIT */
/* The functions that append to command lists. */
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

enum { PATTERN_MOST = 128 };

/* Copies and fills -------------------------------------------------------------------- */

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to, const void *from,
					  size_t bytes, ze_event_handle_t signal,
					  uint32_t wait_count, ze_event_handle_t *waits)
{
	struct soft_ze_command *c;

	if (!to || !from)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	c = soft_ze_command_create(SOFT_ZE_COPY);
	if (c) {
		c->to = to;
		c->from = from;
		c->bytes = bytes;
	}
	return soft_ze_list_append(list, c, signal, wait_count, waits);
}

ze_result_t newer_zeCommandListAppendMemoryCopyWithParameters(
	ze_command_list_handle_t list, void *to, const void *from, size_t bytes, const void *next,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	return zeCommandListAppendMemoryCopy(list, to, from, bytes, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t list, void *to,
						     ze_context_handle_t context, const void *from,
						     size_t bytes, ze_event_handle_t signal,
						     uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)context;
	return zeCommandListAppendMemoryCopy(list, to, from, bytes, signal, wait_count, waits);
}

/* Return true if the fill may run as a kernel. A kernel fills with any pattern. */
static bool is_for_kernels(ze_command_list_handle_t handle)
{
	const struct soft_ze_list *l = soft_ze_check(handle, SOFT_ZE_LIST);

	return l && l->ordinal == SOFT_ZE_GROUP_COMPUTE;
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to,
					  const void *pattern, size_t pattern_bytes, size_t bytes,
					  ze_event_handle_t signal, uint32_t wait_count,
					  ze_event_handle_t *waits)
{
	struct soft_ze_command *c;

	if (!to || !pattern)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!pattern_bytes || (pattern_bytes > PATTERN_MOST && !is_for_kernels(list)))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	c = soft_ze_command_create(SOFT_ZE_FILL);
	if (c) {
		c->to = to;
		c->bytes = bytes;
		c->pattern_bytes = pattern_bytes;
		c->pattern = malloc(pattern_bytes);
		if (!c->pattern) {
			soft_ze_command_destroy(c);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
		memcpy(c->pattern, pattern, pattern_bytes);
	}
	return soft_ze_list_append(list, c, signal, wait_count, waits);
}

ze_result_t newer_zeCommandListAppendMemoryFillWithParameters(
	ze_command_list_handle_t list, void *to, const void *pattern, size_t pattern_bytes,
	size_t bytes, const void *next, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	(void)next;
	return zeCommandListAppendMemoryFill(list, to, pattern, pattern_bytes, bytes, signal,
					     wait_count, waits);
}

static size_t get_offset(const ze_copy_region_t *r, size_t pitch, size_t slice)
{
	return r->originX + r->originY * pitch + r->originZ * slice;
}

ze_result_t zeCommandListAppendMemoryCopyRegion(
	ze_command_list_handle_t list, void *to, const ze_copy_region_t *to_region,
	uint32_t to_pitch, uint32_t to_slice, const void *from, const ze_copy_region_t *from_region,
	uint32_t from_pitch, uint32_t from_slice, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct soft_ze_command *c;

	if (!to || !from || !to_region || !from_region)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	c = soft_ze_command_create(SOFT_ZE_COPY_REGION);
	if (c) {
		c->to = to;
		c->from = from;
		c->region = malloc(sizeof *c->region);
		if (!c->region) {
			soft_ze_command_destroy(c);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
		*c->region = (struct soft_ze_region){
			.width = to_region->width,
			.height = to_region->height ? to_region->height : 1,
			.depth = to_region->depth ? to_region->depth : 1,
			.to_offset = get_offset(to_region, to_pitch, to_slice),
			.to_pitch = to_pitch,
			.to_slice = to_slice,
			.from_offset = get_offset(from_region, from_pitch, from_slice),
			.from_pitch = from_pitch,
			.from_slice = from_slice};
	}
	return soft_ze_list_append(list, c, signal, wait_count, waits);
}

/* Check the arguments of a hint. The hint has no effect. */
static ze_result_t check_hint(ze_command_list_handle_t list, const void *memory)
{
	if (!soft_ze_check(list, SOFT_ZE_LIST))
		return soft_ze_refuse(list);
	return memory ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}

ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list, const void *memory,
					      size_t bytes)
{
	(void)bytes;
	return check_hint(list, memory);
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t list, ze_device_handle_t device,
					 const void *memory, size_t bytes,
					 ze_memory_advice_t advice)
{
	(void)device, (void)bytes, (void)advice;
	return check_hint(list, memory);
}

/* Barriers, events, times ----------------------------------------------------------------- */

static ze_result_t append_plain(ze_command_list_handle_t list, ze_event_handle_t signal,
				uint32_t wait_count, ze_event_handle_t *waits)
{
	return soft_ze_list_append(list, soft_ze_command_create(SOFT_ZE_BARRIER), signal,
				   wait_count, waits);
}

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal,
				       uint32_t wait_count, ze_event_handle_t *waits)
{
	return append_plain(list, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t list, uint32_t count,
						   const size_t *sizes, const void **ranges,
						   ze_event_handle_t signal, uint32_t wait_count,
						   ze_event_handle_t *waits)
{
	(void)count;
	if (!sizes || !ranges)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return append_plain(list, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t list, ze_event_handle_t event)
{
	return event ? append_plain(list, event, 0, NULL) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t count,
					    ze_event_handle_t *waits)
{
	return waits ? append_plain(list, NULL, count, waits)
		     : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}

/* Add references to @count events. */
static bool name_events(struct soft_ze_command *c, uint32_t count, ze_event_handle_t *events)
{
	for (uint32_t i = 0; i < count; i++)
		if (!soft_ze_check(events[i], SOFT_ZE_EVENT))
			return false;
	c->queried = calloc(count, sizeof(struct soft_ze_event *));
	if (!c->queried)
		return false;
	c->bytes = count;
	for (uint32_t i = 0; i < count; i++)
		c->queried[i] = soft_ze_event_get((struct soft_ze_event *)events[i]);
	return true;
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t list, ze_event_handle_t event)
{
	struct soft_ze_command *c = soft_ze_command_create(SOFT_ZE_RESET);

	if (c && !name_events(c, 1, &event)) {
		soft_ze_command_destroy(c);
		return soft_ze_refuse(event);
	}
	return soft_ze_list_append(list, c, NULL, 0, NULL);
}

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t list, uint64_t *to,
						    ze_event_handle_t signal, uint32_t wait_count,
						    ze_event_handle_t *waits)
{
	struct soft_ze_command *c;

	if (!to)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	c = soft_ze_command_create(SOFT_ZE_WRITE_TIME);
	if (c)
		c->to = to;
	return soft_ze_list_append(list, c, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t list, uint32_t count,
						     ze_event_handle_t *events, void *to,
						     const size_t *offsets,
						     ze_event_handle_t signal, uint32_t wait_count,
						     ze_event_handle_t *waits)
{
	struct soft_ze_command *c;

	if (!count || !events || !to)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	c = soft_ze_command_create(SOFT_ZE_QUERY_TIMES);
	if (c) {
		bool good = name_events(c, count, events);
		size_t *copy = offsets ? malloc(count * sizeof *copy) : NULL;
		if (copy)
			memcpy(copy, offsets, count * sizeof *copy);
		c->to = to;
		c->from = copy;
		if (!good || (offsets && !copy)) {
			soft_ze_command_destroy(c);
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		}
	}
	return soft_ze_list_append(list, c, signal, wait_count, waits);
}

ze_result_t newer_zeCommandListAppendHostFunction(ze_command_list_handle_t list,
						  void (*function)(void *), void *data,
						  const void *next, ze_event_handle_t signal,
						  uint32_t wait_count, ze_event_handle_t *waits)
{
	struct soft_ze_command *c;

	(void)next;
	if (!function)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	c = soft_ze_command_create(SOFT_ZE_HOST_CALL);
	if (c) {
		c->host_call = function;
		c->to = data;
	}
	return soft_ze_list_append(list, c, signal, wait_count, waits);
}

/* Kernels -------------------------------------------------------------------------------- */

struct launch_use {
	ze_event_handle_t signal;
	uint32_t wait_count;
	ze_event_handle_t *waits;
	/* the kernel with this `number` runs only if `number` is below *limit */
	const uint32_t *limit;
	uint32_t number;
};

/* @groups: ignored and NULL if @indirect is given. */
static ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t handle,
				 const ze_group_count_t *groups, const ze_group_count_t *indirect,
				 const uint32_t *size, void **arguments,
				 const struct launch_use *use)
{
	SOFT_ZE_OBJECT(kernel, soft_ze_kernel, handle, SOFT_ZE_KERNEL);
	uint32_t count[3] = {0};
	struct soft_ze_command *c;

	if (!groups && !indirect)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (groups) {
		count[0] = groups->groupCountX;
		count[1] = groups->groupCountY;
		count[2] = groups->groupCountZ;
	}
	c = soft_ze_command_create(SOFT_ZE_LAUNCH);
	if (c) {
		c->launch = soft_ze_launch_create(kernel, count, size ? size : kernel->group,
						  arguments);
		if (!c->launch) {
			soft_ze_command_destroy(c);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
		c->launch->indirect = indirect;
		c->launch->limit = use->limit;
		c->launch->number = use->number;
	}
	return soft_ze_list_append(list, c, use->signal, use->wait_count, use->waits);
}

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
					    ze_kernel_handle_t kernel,
					    const ze_group_count_t *groups,
					    ze_event_handle_t signal, uint32_t wait_count,
					    ze_event_handle_t *waits)
{
	return append_launch(list, kernel, groups, NULL, NULL, NULL,
			     &(struct launch_use){signal, wait_count, waits, NULL, 0});
}

ze_result_t zeCommandListAppendLaunchCooperativeKernel(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	return zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list,
						    ze_kernel_handle_t kernel,
						    const ze_group_count_t *groups,
						    ze_event_handle_t signal, uint32_t wait_count,
						    ze_event_handle_t *waits)
{
	return append_launch(list, kernel, NULL, groups, NULL, NULL,
			     &(struct launch_use){signal, wait_count, waits, NULL, 0});
}

/* Append one launch for each kernel. When they run, the program's memory says how many of them
 * do. */
ze_result_t zeCommandListAppendLaunchMultipleKernelsIndirect(
	ze_command_list_handle_t list, uint32_t count, ze_kernel_handle_t *kernels,
	const uint32_t *limit, const ze_group_count_t *groups, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_result_t status = ZE_RESULT_SUCCESS;

	if (!kernels || !limit || !groups)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	for (uint32_t i = 0; i < count; i++)
		if (!soft_ze_check(kernels[i], SOFT_ZE_KERNEL))
			return soft_ze_refuse(kernels[i]);
	for (uint32_t i = 0; i < count && !status; i++)
		status =
			append_launch(list, kernels[i], NULL, &groups[i], NULL, NULL,
				      &(struct launch_use){.signal = i + 1 == count ? signal : NULL,
							   .wait_count = i ? 0 : wait_count,
							   .waits = i ? NULL : waits,
							   .limit = limit,
							   .number = i});
	return status;
}

ze_result_t newer_zeCommandListAppendLaunchKernelWithParameters(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	return zeCommandListAppendLaunchKernel(list, kernel, groups, signal, wait_count, waits);
}

ze_result_t newer_zeCommandListAppendLaunchKernelWithArguments(
	ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t groups,
	const struct newer_group_size size, void **arguments, const void *next,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	const uint32_t group[3] = {size.x, size.y, size.z};

	(void)next;
	return append_launch(list, kernel, &groups, NULL, group, arguments,
			     &(struct launch_use){signal, wait_count, waits, NULL, 0});
}
