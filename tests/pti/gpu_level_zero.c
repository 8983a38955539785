/* SPDX-License-Identifier: MIT */
/* Implements gpu.h on Level Zero, with the kernels in tests/level_zero/lz_driver.c. */
#include "gpu.h"

#include <level_zero/ze_api.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256 };

const unsigned gpu_call_id = zeDeviceGet_id, gpu_group = 1,
	       gpu_launch_id = zeCommandListAppendLaunchKernel_id,
	       gpu_foreign_id = zeEventQueryStatus_id;

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static float *shared, *on_device;
static int is_regular;

static void check(ze_result_t status, const char *what)
{
	if (status == ZE_RESULT_SUCCESS)
		return;
	fprintf(stderr, "%s: 0x%x\n", what, status);
	exit(1);
}

#define DO(name, ...) check(name(__VA_ARGS__), #name)

void gpu_open(const char *how)
{
	ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_device_mem_alloc_desc_t dd = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t hd = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
					.inputSize = 1,
					.pInputModule = (const uint8_t *)""};
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "scale"};
	uint32_t one = 1, n = COUNT;
	float by = 1;

	is_regular = strcmp(how, "regular") == 0;
	DO(zeInit, 0);
	DO(zeDriverGet, &one, &driver);
	DO(zeDeviceGet, driver, &one, &device);
	DO(zeContextCreate, driver, &context_desc, &context);
	DO(zeMemAllocShared, context, &dd, &hd, COUNT * sizeof *shared, 64, device,
	   (void **)&shared);
	DO(zeMemAllocDevice, context, &dd, COUNT * sizeof *shared, 64, device, (void **)&on_device);
	DO(zeModuleCreate, context, device, &module_desc, &module, NULL);
	DO(zeKernelCreate, module, &desc, &kernel);
	DO(zeKernelSetGroupSize, kernel, 32, 1, 1);
	DO(zeKernelSetArgumentValue, kernel, 0, sizeof shared, &shared);
	DO(zeKernelSetArgumentValue, kernel, 1, sizeof by, &by);
	DO(zeKernelSetArgumentValue, kernel, 2, sizeof n, &n);
}

void gpu_close(void)
{
	DO(zeKernelDestroy, kernel);
	DO(zeModuleDestroy, module);
	DO(zeMemFree, context, shared);
	DO(zeMemFree, context, on_device);
	DO(zeContextDestroy, context);
}

static void append(ze_command_list_handle_t list, int rounds)
{
	const ze_group_count_t groups = {COUNT / 32, 1, 1};
	const float one = 1;

	for (int i = 0; i < rounds; i++) {
		DO(zeCommandListAppendMemoryFill, list, on_device, &one, sizeof one,
		   COUNT * sizeof one, NULL, 0, NULL);
		DO(zeCommandListAppendMemoryCopy, list, shared, on_device, COUNT * sizeof one, NULL,
		   0, NULL);
		DO(zeCommandListAppendLaunchKernel, list, kernel, &groups, NULL, 0, NULL);
		DO(zeCommandListAppendBarrier, list, NULL, 0, NULL);
	}
}

static void run_immediate(int rounds)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
					  .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
					  .count = 1};
	ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
	ze_command_list_handle_t list;
	ze_event_pool_handle_t pool;
	ze_event_handle_t event;

	DO(zeCommandListCreateImmediate, context, device, &desc, &list);
	DO(zeEventPoolCreate, context, &pool_desc, 0, NULL, &pool);
	DO(zeEventCreate, pool, &event_desc, &event);
	append(list, rounds);
	DO(zeCommandListAppendSignalEvent, list, event);
	DO(zeEventHostSynchronize, event, UINT64_MAX);
	DO(zeEventDestroy, event);
	DO(zeEventPoolDestroy, pool);
	DO(zeCommandListDestroy, list);
}

static void run_regular(int rounds)
{
	ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
	ze_command_list_handle_t lists[2];
	ze_command_queue_handle_t queue;

	DO(zeCommandQueueCreate, context, device, &queue_desc, &queue);
	for (int i = 0; i < 2; i++) {
		DO(zeCommandListCreate, context, device, &desc, &lists[i]);
		append(lists[i], i ? rounds / 2 : rounds - rounds / 2);
		DO(zeCommandListClose, lists[i]);
	}
	DO(zeCommandQueueExecuteCommandLists, queue, 2, lists, NULL);
	DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	for (int i = 0; i < 2; i++)
		DO(zeCommandListDestroy, lists[i]);
	DO(zeCommandQueueDestroy, queue);
}

void gpu_run(int rounds)
{
	if (is_regular)
		run_regular(rounds);
	else
		run_immediate(rounds);
}

void gpu_make_kernel(void)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "add"};
	ze_kernel_handle_t made;

	DO(zeKernelCreate, module, &desc, &made);
	DO(zeKernelDestroy, made);
}

void gpu_call(void)
{
	ze_device_handle_t again;
	uint32_t one = 1;

	DO(zeDeviceGet, driver, &one, &again);
}

/* With LZ_FAULT=names. */
bool gpu_get_unknown(const char *name)
{
	void *function;

	DO(zeDriverGetExtensionFunctionAddress, driver, name, &function);
	return true;
}

/* The handle points to real memory, so that the driver can read it. */
bool gpu_call_with_foreign_handle(void)
{
	static char foreign[4096];

	zeEventQueryStatus((ze_event_handle_t)(void *)foreign);
	return true;
}

void *gpu_context(void)
{
	return context;
}

void *gpu_kernel(void)
{
	return kernel;
}
