/* SPDX-License-Identifier: MIT */
/* Command lists. A regular list keeps its commands until it is reset or destroyed. An immediate
 * list has a separate queue and submits each command to it. All lists run in order, regardless of
 * their flags. */
#include <stdlib.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

static struct soft_ze_list *create_list(ze_context_handle_t context, ze_device_handle_t device,
					uint32_t ordinal, uint32_t flags, ze_result_t *status)
{
	struct soft_ze_list *l;

	*status = ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!soft_ze_check(context, SOFT_ZE_CONTEXT) || !soft_ze_check(device, SOFT_ZE_DEVICE) ||
	    ordinal >= SOFT_ZE_GROUPS)
		return NULL;
	*status = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	l = soft_ze_fails(SOFT_ZE_FAIL_LIST) ? NULL
					     : soft_ze_object_create(SOFT_ZE_LIST, sizeof *l);
	if (!l)
		return NULL;
	*status = ZE_RESULT_SUCCESS;
	l->context = (struct soft_ze_context *)context;
	l->device = (struct soft_ze_device *)device;
	l->ordinal = ordinal;
	l->flags = flags;
	l->last = &l->first;
	return l;
}

ze_result_t zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
				const ze_command_list_desc_t *desc, ze_command_list_handle_t *out)
{
	struct soft_ze_list *l;
	ze_result_t status;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	l = create_list(context, device, desc->commandQueueGroupOrdinal, desc->flags, &status);
	if (!l)
		return status;
	for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext)
		if ((int)next->stype == NEWER_STYPE_MUTABLE_LIST)
			l->is_mutable = true;
	*out = (ze_command_list_handle_t)l;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
					 const ze_command_queue_desc_t *desc,
					 ze_command_list_handle_t *out)
{
	struct soft_ze_list *l;
	ze_result_t status;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	l = create_list(context, device, desc->ordinal, 0, &status);
	if (!l)
		return status;
	status = soft_ze_queue_create(l->device, desc, &l->queue);
	if (status)
		soft_ze_object_destroy(l, SOFT_ZE_LIST);
	else
		*out = (ze_command_list_handle_t)l;
	return status;
}

static void clear_list(struct soft_ze_list *l)
{
	struct soft_ze_command *next;

	for (struct soft_ze_command *c = l->first; c; c = next) {
		next = c->next;
		soft_ze_command_destroy(c);
	}
	l->first = NULL;
	l->last = &l->first;
	l->next_id = 0;
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t handle)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	if (l->queue)
		soft_ze_queue_destroy(l->queue);
	clear_list(l);
	soft_ze_object_destroy(l, SOFT_ZE_LIST);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListClose(ze_command_list_handle_t handle)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	l->closed = true;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListReset(ze_command_list_handle_t handle)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	clear_list(l);
	l->closed = false;
	return ZE_RESULT_SUCCESS;
}

/* @status: error that occurred while the command was made. */
static ze_result_t check_append(const struct soft_ze_list *l, const struct soft_ze_command *c)
{
	if (l->closed)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (c->kind == SOFT_ZE_LAUNCH && l->ordinal == SOFT_ZE_GROUP_COPY)
		return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
	if (soft_ze_fails(SOFT_ZE_FAIL_APPEND))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	return ZE_RESULT_SUCCESS;
}

ze_result_t soft_ze_list_append(ze_command_list_handle_t handle, struct soft_ze_command *c,
				ze_event_handle_t signal, uint32_t wait_count,
				ze_event_handle_t *waits)
{
	struct soft_ze_list *l = soft_ze_check(handle, SOFT_ZE_LIST);
	ze_result_t status = l ? ZE_RESULT_SUCCESS : soft_ze_refuse(handle);

	if (!c)
		return status ? status : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (!status)
		status = check_append(l, c);
	if (!status && !soft_ze_command_set_events(c, signal, wait_count, waits))
		status = ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (status) {
		soft_ze_command_destroy(c);
		return status;
	}
	if (l->queue)
		return soft_ze_submit(l->queue, c, true, NULL);
	c->id = l->next_id;
	l->next_id = 0;
	*l->last = c;
	l->last = &c->next;
	return ZE_RESULT_SUCCESS;
}

/* Newer ------------------------------------------------------------------------------------ */

ze_result_t newer_zeCommandListHostSynchronize(ze_command_list_handle_t handle, uint64_t timeout)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	return l->queue ? soft_ze_queue_wait(l->queue, timeout) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t newer_zeCommandListGetDeviceHandle(ze_command_list_handle_t handle,
					       ze_device_handle_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	*out = (ze_device_handle_t)l->device;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandListGetContextHandle(ze_command_list_handle_t handle,
						ze_context_handle_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	*out = (ze_context_handle_t)l->context;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandListGetOrdinal(ze_command_list_handle_t handle, uint32_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	*out = l->ordinal;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandListIsImmediate(ze_command_list_handle_t handle, ze_bool_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	*out = l->queue != NULL;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandListGetFlags(ze_command_list_handle_t handle, uint32_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	*out = l->flags;
	return l->queue ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

/* Return the queue of an immediate list, or NULL for other lists. */
static struct soft_ze_queue *find_queue(ze_command_list_handle_t handle)
{
	struct soft_ze_list *l = soft_ze_check(handle, SOFT_ZE_LIST);

	return l ? l->queue : NULL;
}

#define GET_OF_IMMEDIATE(function, type, member)                         \
	ze_result_t function(ze_command_list_handle_t handle, type *out) \
	{                                                                \
		const struct soft_ze_queue *q = find_queue(handle);      \
                                                                         \
		if (!q)                                                  \
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;         \
		*out = q->member;                                        \
		return ZE_RESULT_SUCCESS;                                \
	}
GET_OF_IMMEDIATE(newer_zeCommandListImmediateGetIndex, uint32_t, index)
GET_OF_IMMEDIATE(newer_zeCommandListImmediateGetFlags, uint32_t, flags)
GET_OF_IMMEDIATE(newer_zeCommandListImmediateGetMode, ze_command_queue_mode_t, mode)
GET_OF_IMMEDIATE(newer_zeCommandListImmediateGetPriority, ze_command_queue_priority_t, priority)

static ze_result_t append_event(ze_command_list_handle_t list, ze_event_handle_t signal,
				uint32_t wait_count, ze_event_handle_t *waits)
{
	return soft_ze_list_append(list, soft_ze_command_create(SOFT_ZE_BARRIER), signal,
				   wait_count, waits);
}

ze_result_t newer_zeCommandListImmediateAppendCommandListsExp(
	ze_command_list_handle_t handle, uint32_t count, ze_command_list_handle_t *lists,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct soft_ze_queue *q = find_queue(handle);
	ze_result_t status = ZE_RESULT_SUCCESS;

	if (!q || !count || !lists)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < count; i++) {
		const struct soft_ze_list *l = soft_ze_check(lists[i], SOFT_ZE_LIST);
		if (!l || l->queue || !l->closed)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	}
	if (wait_count)
		status = append_event(handle, NULL, wait_count, waits);
	for (uint32_t i = 0; i < count && !status; i++)
		status = soft_ze_submit(q, ((struct soft_ze_list *)lists[i])->first, false, NULL);
	if (signal && !status)
		status = append_event(handle, signal, 0, NULL);
	return status;
}

ze_result_t newer_zeCommandListImmediateAppendCommandListsWithParameters(
	ze_command_list_handle_t handle, uint32_t count, ze_command_list_handle_t *lists,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	return newer_zeCommandListImmediateAppendCommandListsExp(handle, count, lists, signal,
								 wait_count, waits);
}
