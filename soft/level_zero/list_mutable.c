/* SPDX-License-Identifier: MIT */
/* Mutable command lists: the program requests an id for the command that it appends next, and
 * changes that command between two runs of the list. */
#include <string.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

enum { WAITS_MOST = 256 };

static struct soft_ze_command *find_command(ze_command_list_handle_t handle, uint64_t id)
{
	struct soft_ze_list *l = soft_ze_check(handle, SOFT_ZE_LIST);

	for (struct soft_ze_command *c = l ? l->first : NULL; c && id; c = c->next)
		if (c->id == id)
			return c;
	return NULL;
}

ze_result_t newer_zeCommandListGetNextCommandIdExp(ze_command_list_handle_t handle,
						   const struct newer_mutable_id *desc,
						   uint64_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!l->is_mutable)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*out = l->next_id = ++l->last_id;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandListGetNextCommandIdWithKernelsExp(ze_command_list_handle_t handle,
							      const struct newer_mutable_id *desc,
							      uint32_t count,
							      ze_kernel_handle_t *kernels,
							      uint64_t *out)
{
	for (uint32_t i = 0; kernels && i < count; i++)
		if (!soft_ze_check(kernels[i], SOFT_ZE_KERNEL))
			return soft_ze_refuse(kernels[i]);
	return newer_zeCommandListGetNextCommandIdExp(handle, desc, out);
}

static ze_result_t change_launch(struct soft_ze_launch *l, const struct newer_mutable *change)
{
	const struct newer_mutable_argument *argument = (const void *)change;
	const struct newer_mutable_groups *groups = (const void *)change;
	const struct newer_mutable_triple *triple = (const void *)change;

	switch ((int)change->stype) {
	case NEWER_STYPE_MUTABLE_ARGUMENT:
		return soft_ze_launch_set(l, argument->index, argument->bytes, argument->value);
	case NEWER_STYPE_MUTABLE_GROUPS:
		if (!groups->groups)
			return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
		l->groups[0] = groups->groups->groupCountX;
		l->groups[1] = groups->groups->groupCountY;
		l->groups[2] = groups->groups->groupCountZ;
		return ZE_RESULT_SUCCESS;
	case NEWER_STYPE_MUTABLE_GROUP_SIZE: memcpy(l->group, &triple->x, sizeof l->group); break;
	case NEWER_STYPE_MUTABLE_OFFSET: memcpy(l->offset, &triple->x, sizeof l->offset); break;
	default: return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	}
	return ZE_RESULT_SUCCESS;
}

/* A list that was changed must be closed again by the program. */
ze_result_t newer_zeCommandListUpdateMutableCommandsExp(ze_command_list_handle_t handle,
							const struct newer_mutable_commands *desc)
{
	ze_result_t status = ZE_RESULT_SUCCESS;

	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);
	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	l->closed = false;
	for (const struct newer_mutable *m = desc->pNext; m && !status; m = m->pNext) {
		struct soft_ze_command *c = find_command(handle, m->command);
		status = c && c->launch ? change_launch(c->launch, m)
					: ZE_RESULT_ERROR_INVALID_ARGUMENT;
	}
	return status;
}

ze_result_t newer_zeCommandListUpdateMutableCommandSignalEventExp(ze_command_list_handle_t handle,
								  uint64_t command,
								  ze_event_handle_t signal)
{
	struct soft_ze_command *c = find_command(handle, command);

	if (!c || !soft_ze_command_set_signal(c, signal))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	((struct soft_ze_list *)handle)->closed = false;
	return ZE_RESULT_SUCCESS;
}

/* A NULL event removes a wait; a NULL array removes all waits. */
ze_result_t newer_zeCommandListUpdateMutableCommandWaitEventsExp(ze_command_list_handle_t handle,
								 uint64_t command,
								 uint32_t wait_count,
								 ze_event_handle_t *waits)
{
	struct soft_ze_command *c = find_command(handle, command);
	ze_event_handle_t left[WAITS_MOST];
	uint32_t count = 0;

	if (wait_count > WAITS_MOST)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	if (!c || wait_count != (c->wait_slots ? c->wait_slots : c->wait_count))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	c->wait_slots = wait_count;
	for (uint32_t i = 0; waits && i < wait_count; i++)
		if (waits[i])
			left[count++] = waits[i];
	if (!soft_ze_command_set_waits(c, count, left))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	((struct soft_ze_list *)handle)->closed = false;
	return ZE_RESULT_SUCCESS;
}

/* The new kernel starts with its own arguments and group size, and with the group count of the old
 * kernel. */
ze_result_t newer_zeCommandListUpdateMutableCommandKernelsExp(ze_command_list_handle_t handle,
							      uint32_t count, uint64_t *commands,
							      ze_kernel_handle_t *kernels)
{
	for (uint32_t i = 0; i < count; i++) {
		struct soft_ze_command *c = find_command(handle, commands[i]);
		struct soft_ze_kernel *k = soft_ze_check(kernels[i], SOFT_ZE_KERNEL);
		struct soft_ze_launch *launch;
		if (!c || !c->launch || !k)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		launch = soft_ze_launch_create(k, c->launch->groups, k->group, NULL);
		if (!launch)
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		soft_ze_launch_destroy(c->launch);
		c->launch = launch;
		((struct soft_ze_list *)handle)->closed = false;
	}
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeCommandListIsMutableExp(ze_command_list_handle_t handle, ze_bool_t *out)
{
	SOFT_ZE_OBJECT(l, soft_ze_list, handle, SOFT_ZE_LIST);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = l->is_mutable;
	return ZE_RESULT_SUCCESS;
}
