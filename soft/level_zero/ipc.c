/* SPDX-License-Identifier: MIT */
/* Handles through which other processes map device and host memory of this process. Handles of
 * event pools are in event.c. */
#include <string.h>
#include <unistd.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

_Static_assert(sizeof(struct soft_share_handle) <= sizeof(ze_ipc_mem_handle_t), "it fits");

static struct soft_share_handle read_handle(const ze_ipc_mem_handle_t *handle)
{
	struct soft_share_handle h;

	memcpy(&h, handle->data, sizeof h);
	return h;
}

static void write_handle(ze_ipc_mem_handle_t *out, const struct soft_share_handle *h)
{
	memset(out, 0, sizeof *out);
	memcpy(out->data, h, sizeof *h);
}

ze_result_t zeMemGetIpcHandle(ze_context_handle_t context, const void *memory,
			      ze_ipc_mem_handle_t *out)
{
	struct soft_share_handle h = {.kind = SOFT_SHARE_MEMORY};
	ze_result_t status;

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	if (!memory || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	status = soft_ze_memory_export(memory, &h);
	if (!status)
		write_handle(out, &h);
	return status;
}

ze_result_t newer_zeMemGetIpcHandleWithProperties(ze_context_handle_t context, const void *memory,
						  void *next, ze_ipc_mem_handle_t *out)
{
	(void)next;
	return zeMemGetIpcHandle(context, memory, out);
}

/* The memory keeps the descriptor open. */
ze_result_t newer_zeMemPutIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle)
{
	struct soft_share_handle h = read_handle(&handle);

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	return h.kind == SOFT_SHARE_MEMORY ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t newer_zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t context,
							 uint64_t descriptor,
							 ze_ipc_mem_handle_t *out)
{
	struct soft_share_handle h = {.file = (int32_t)descriptor};

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!soft_share_complete(&h))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	write_handle(out, &h);
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t context,
							 ze_ipc_mem_handle_t handle, uint64_t *out)
{
	struct soft_share_handle h = read_handle(&handle);
	int descriptor;

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (h.process == getpid()) {
		*out = (uint64_t)h.file;
		return ZE_RESULT_SUCCESS;
	}
	descriptor = soft_share_descriptor(&h);
	if (descriptor < 0)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*out = (uint64_t)descriptor;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemOpenIpcHandle(ze_context_handle_t context, ze_device_handle_t device,
			       ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags, void **out)
{
	struct soft_share_handle h = read_handle(&handle);

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(d, soft_ze_device, device, SOFT_ZE_DEVICE);
	(void)flags;
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return soft_ze_memory_import(&h, d, out);
}

ze_result_t zeMemCloseIpcHandle(ze_context_handle_t context, const void *memory)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	return memory ? soft_ze_memory_close(memory) : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}
