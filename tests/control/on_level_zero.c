/* SPDX-License-Identifier: MIT */
/* Kernels for Level Zero on an immediate list, from the source text that CONTROL_KERNELS names,
 * which the software device accepts. */
#include <level_zero/ze_api.h>

#include <stdio.h>
#include <stdlib.h>

#include "control.h"

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_command_list_handle_t list;
static ze_kernel_handle_t kernels[KERNELS];

static void check(ze_result_t status)
{
	if (status == ZE_RESULT_SUCCESS)
		return;
	fprintf(stderr, "Level Zero's error 0x%x\n", status);
	exit(1);
}

static ze_module_handle_t load_module(void)
{
	static uint8_t text[1 << 16];
	FILE *f = fopen(getenv("CONTROL_KERNELS"), "rb");
	ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				 .format = ZE_MODULE_FORMAT_NATIVE,
				 .pInputModule = text};
	ze_module_handle_t module;

	desc.inputSize = fread(text, 1, sizeof text, f);
	fclose(f);
	check(zeModuleCreate(context, device, &desc, &module, NULL));
	return module;
}

static void prepare(void)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
	ze_module_handle_t module;
	ze_driver_handle_t driver;
	uint32_t one = 1;

	check(zeInit(0));
	check(zeDriverGet(&one, &driver));
	check(zeDeviceGet(driver, &one, &device));
	check(zeContextCreate(driver, &desc, &context));
	module = load_module();
	for (int i = 0; i < KERNELS; i++) {
		const char name[2] = {(char)('a' + i), '\0'};
		ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					   .pKernelName = name};
		int x = 0;

		check(zeKernelCreate(module, &kernel, &kernels[i]));
		check(zeKernelSetGroupSize(kernels[i], 1, 1, 1));
		check(zeKernelSetArgumentValue(kernels[i], 0, sizeof x, &x));
	}
	check(zeCommandListCreateImmediate(context, device, &queue, &list));
}

void run_kernel(char name, int count)
{
	const ze_group_count_t one = {1, 1, 1};

	if (!list)
		prepare();
	for (int i = 0; i < count; i++)
		check(zeCommandListAppendLaunchKernel(list, kernels[name - 'a'], &one, NULL, 0,
						      NULL));
}
