/* SPDX-License-Identifier: MIT */
/* peer_pti TRIALS: measures a launch in a plain Level Zero program under its loader, with a tool:
 * Intel's PTI (preloaded, tests/soft/pti_views.c), gputap, or none. bench/run.py interleaves the
 * three. It uses the software driver, without threads and without executing kernels.
 *
 * Launches go to an immediate list, with an event each. After every 100 launches the program waits
 * for all events and resets them. Each trial makes 2,000 launches. Prints "launch_us", the us per
 * launch in the fastest trial. */
#include <level_zero/ze_api.h>

#include "level_zero_module.h"
#include "measure.h"

enum { LAUNCHES = 2000, BATCH = 100 };

#define DO(call)                                                             \
	do {                                                                 \
		ze_result_t do_status = (call);                              \
		if (do_status) {                                             \
			fprintf(stderr, "%s: %#x\n", #call, (int)do_status); \
			exit(1);                                             \
		}                                                            \
	} while (0)

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_kernel_handle_t kernel;
static ze_command_list_handle_t list;
static ze_event_handle_t events[BATCH];

static void make_kernel(void)
{
	ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				 .format = ZE_MODULE_FORMAT_IL_SPIRV,
				 .inputSize = sizeof module_words,
				 .pInputModule = (const uint8_t *)module_words};
	ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					.pKernelName = "none"};
	ze_module_handle_t module;

	DO(zeModuleCreate(context, device, &desc, &module, NULL));
	DO(zeKernelCreate(module, &kernel_desc, &kernel));
	DO(zeKernelSetGroupSize(kernel, 1, 1, 1));
}

static void make_events(void)
{
	ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
				     .count = BATCH};
	ze_event_pool_handle_t pool;

	DO(zeEventPoolCreate(context, &desc, 1, &device, &pool));
	for (uint32_t i = 0; i < BATCH; i++) {
		ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};

		DO(zeEventCreate(pool, &event, &events[i]));
	}
}

static void start(void)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	uint32_t count = 1;

	DO(zeInit(0));
	DO(zeDriverGet(&count, &driver));
	count = 1;
	DO(zeDeviceGet(driver, &count, &device));
	DO(zeContextCreate(driver, &desc, &context));
	DO(zeCommandListCreateImmediate(context, device, &queue, &list));
	make_kernel();
	make_events();
}

static double run_trial(void)
{
	const ze_group_count_t groups = {1, 1, 1};
	uint64_t begin = bench_now_ns();

	for (int done = 0; done < LAUNCHES; done += BATCH) {
		for (int i = 0; i < BATCH; i++)
			DO(zeCommandListAppendLaunchKernel(list, kernel, &groups, events[i], 0,
							   NULL));
		for (int i = 0; i < BATCH; i++) {
			DO(zeEventHostSynchronize(events[i], UINT64_MAX));
			DO(zeEventHostReset(events[i]));
		}
	}
	return (double)(bench_now_ns() - begin) / LAUNCHES / 1000;
}

int main(int argc, char **argv)
{
	int trials = argc > 1 ? atoi(argv[1]) : 100;
	double least;

	start();
	least = run_trial();
	for (int i = 0; i < trials; i++) {
		double us = run_trial();

		least = us < least ? us : least;
	}
	bench_print("launch_us", least, "us");
	return 0;
}
