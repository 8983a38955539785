/* SPDX-License-Identifier: MIT */
/* A program for the sample of PTI's callback API (sdk/samples/callback/client.cc), in place of the
 * sample's own program, which needs a SYCL compiler: sample_main N launches N kernels on an
 * immediate list, each with a copy. */
#include <level_zero/ze_api.h>

#include <cstdio>
#include <cstdlib>

#include "client.h"

/* bench/ has the C version */
#include "level_zero_module.h"

static void check(ze_result_t status, const char *what)
{
	if (status == ZE_RESULT_SUCCESS)
		return;
	std::fprintf(stderr, "%s: 0x%x\n", what, status);
	std::exit(1);
}

#define DO(name, ...) check(name(__VA_ARGS__), #name)

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, char *memory, int n)
{
	const ze_group_count_t groups = {1, 1, 1};

	for (int i = 0; i < n; i++) {
		DO(zeCommandListAppendLaunchKernel, list, kernel, &groups, nullptr, 0, nullptr);
		DO(zeCommandListAppendMemoryCopy, list, memory, memory + 64, 64, nullptr, 0,
		   nullptr);
	}
}

int main(int argc, char **argv)
{
	ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
	ze_command_queue_desc_t queue_desc = {};
	ze_module_desc_t module_desc = {};
	ze_kernel_desc_t kernel_desc = {};
	ze_host_mem_alloc_desc_t memory_desc = {};
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_command_list_handle_t list;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	uint32_t one = 1;
	void *memory;

	StartProfiling();
	queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
	queue_desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
	module_desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
	module_desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
	module_desc.inputSize = sizeof module_words;
	module_desc.pInputModule = reinterpret_cast<const uint8_t *>(module_words);
	kernel_desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
	kernel_desc.pKernelName = "none";
	memory_desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
	DO(zeInit, 0);
	DO(zeDriverGet, &one, &driver);
	DO(zeDeviceGet, driver, &one, &device);
	DO(zeContextCreate, driver, &context_desc, &context);
	DO(zeMemAllocHost, context, &memory_desc, 128, 64, &memory);
	DO(zeModuleCreate, context, device, &module_desc, &module, nullptr);
	DO(zeKernelCreate, module, &kernel_desc, &kernel);
	DO(zeKernelSetGroupSize, kernel, 1, 1, 1);
	DO(zeCommandListCreateImmediate, context, device, &queue_desc, &list);
	launch(list, kernel, static_cast<char *>(memory), argc > 1 ? std::atoi(argv[1]) : 1);
	DO(zeCommandListDestroy, list);
	DO(zeKernelDestroy, kernel);
	DO(zeModuleDestroy, module);
	StopProfiling();
	return 0;
}
