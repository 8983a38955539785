/* SPDX-License-Identifier: MIT */
/* Idle time of Level Zero's first device with one cause: idle_level_zero host|synchronising|queue|
 * allocating|freeing|compiling|other_call|launching|held|barrier|wait|unknown. The GPU activities
 * are empty kernels. The second device has a kernel that runs until it is released. */
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <string.h>

#include "tests/idle/slow_page.h"

#define OK(call) EXPECT((call) == ZE_RESULT_SUCCESS)

enum { LARGE = 32 << 20, EVENTS = 8 };

static const char source[] = "// OpenCL C: kernels for the software devices of Level Zero, which "
			     "take this text as their native\n"
			     "kernel void nothing(global int *p) {}"
			     "kernel void long_one(global volatile int *p) { while (!*p); }";

static ze_context_handle_t context;
static ze_device_handle_t devices[2];
static ze_command_list_handle_t first, second; /* lists for these kernels: immediate, in order */
static ze_command_queue_handle_t queue;        /* queue of the second device, with one list */
static ze_command_list_handle_t queued;
static ze_kernel_handle_t nothing, long_one;
static ze_event_handle_t done, long_done, own;
static volatile int *ended; /* set by long_one */
static const ze_group_count_t one = {1, 1, 1};
static uint64_t from, to;

static void wait_for(ze_event_handle_t event)
{
	OK(zeEventHostSynchronize(event, UINT64_MAX));
	OK(zeEventHostReset(event));
}

static void run_nothing(uint32_t count, ze_event_handle_t *waits)
{
	OK(zeCommandListAppendLaunchKernel(first, nothing, &one, done, count, waits));
}

static void launch_long(void)
{
	*ended = 0;
	OK(zeCommandListAppendLaunchKernel(second, long_one, &one, long_done, 0, NULL));
}

static void *end_long(void *unused)
{
	sleep_ms(PROVOKED_MS);
	to = now_ns();
	*ended = 1;
	return unused;
}

static pthread_t begin_to_end(void *(*end)(void *))
{
	pthread_t thread;

	from = now_ns();
	EXPECT(!pthread_create(&thread, NULL, end, NULL));
	return thread;
}

/* The host runs unrelated code. */
static void provoke_host(void)
{
	from = now_ns();
	sleep_ms(PROVOKED_MS);
	say_stamps("host", from, now_ns());
}

/* The host waits for another device: for an event on it, or for its queue. */
static void provoke_synchronising(void)
{
	pthread_t thread;

	launch_long();
	thread = begin_to_end(end_long);
	wait_for(long_done);
	pthread_join(thread, NULL);
	say_stamps("synchronising", from, to);
}

static void provoke_queue(void)
{
	pthread_t thread;

	*ended = 0;
	OK(zeCommandQueueExecuteCommandLists(queue, 1, &queued, NULL));
	thread = begin_to_end(end_long);
	OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
	pthread_join(thread, NULL);
	say_stamps("synchronising", from, to);
}

static void *allocate(void **out)
{
	ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};

	OK(zeMemAllocDevice(context, &desc, 4096, 64, devices[0], out));
	return *out;
}

static void provoke_allocating(void)
{
	void *more = allocate(make_slow(NULL, sizeof more));

	say_slow("allocating");
	OK(zeMemFree(context, more));
}

/* Free memory that was used, which the system then reclaims page by page. */
static void provoke_freeing(void)
{
	ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	void *more;

	OK(zeMemAllocHost(context, &desc, LARGE, 64, &more));
	memset(more, 1, LARGE);
	from = now_ns();
	OK(zeMemFree(context, more));
	say_stamps("freeing", from, now_ns());
}

static ze_module_handle_t build(ze_device_handle_t device, const char *text)
{
	ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				 .format = ZE_MODULE_FORMAT_NATIVE,
				 .pInputModule = (const uint8_t *)text,
				 .inputSize = strlen(source)};
	ze_module_handle_t module;

	OK(zeModuleCreate(context, device, &desc, &module, NULL));
	return module;
}

static void provoke_compiling(void)
{
	ze_module_handle_t module;

	from = now_ns();
	module = build(devices[0], make_slow(source, sizeof source));
	say_stamps("compiling", from, now_ns());
	OK(zeModuleDestroy(module));
}

static void provoke_other_call(void)
{
	uint64_t *times = make_slow(NULL, 2 * sizeof *times);

	OK(zeDeviceGetGlobalTimestamps(devices[0], &times[0], &times[1]));
	say_slow("other_call");
}

static void provoke_launching(void)
{
	const ze_group_count_t *group = make_slow(&one, sizeof one);

	OK(zeCommandListAppendLaunchKernel(first, nothing, group, done, 0, NULL));
	wait_for(done);
	say_slow("launching");
}

/* The next kernel, or a command before it in its list, waits for a kernel on another device. */
static void finish_held(const char *cause, void *(*end)(void *))
{
	pthread_t thread = begin_to_end(end);

	wait_for(done);
	pthread_join(thread, NULL);
	say_stamps(cause, from, to);
}

static void provoke_held(void)
{
	launch_long();
	run_nothing(1, &long_done);
	finish_held("blocked", end_long);
	wait_for(long_done);
}

static void provoke_barrier(void)
{
	launch_long();
	OK(zeCommandListAppendBarrier(first, NULL, 1, &long_done));
	run_nothing(0, NULL);
	finish_held("blocked", end_long);
	wait_for(long_done);
}

static void provoke_wait(void)
{
	launch_long();
	OK(zeCommandListAppendWaitOnEvents(first, 1, &long_done));
	run_nothing(0, NULL);
	finish_held("blocked", end_long);
	wait_for(long_done);
}

/* An event that only the program signals. */
static void *signal_own(void *unused)
{
	sleep_ms(PROVOKED_MS);
	to = now_ns();
	OK(zeEventHostSignal(own));
	return unused;
}

static void provoke_unknown(void)
{
	run_nothing(1, &own);
	finish_held("unknown", signal_own);
	OK(zeEventHostReset(own));
}

static const struct {
	const char *name;
	void (*provoke)(void);
} rules[] = {
	{"host", provoke_host},
	{"synchronising", provoke_synchronising},
	{"queue", provoke_queue},
	{"allocating", provoke_allocating},
	{"freeing", provoke_freeing},
	{"compiling", provoke_compiling},
	{"other_call", provoke_other_call},
	{"launching", provoke_launching},
	{"blocked", provoke_held},
	{"barrier", provoke_barrier},
	{"wait", provoke_wait},
	{"unknown", provoke_unknown},
};

static ze_event_handle_t make_event(void)
{
	static ze_event_pool_handle_t pool;
	static uint32_t next;
	const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
						.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
						.count = EVENTS};
	const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = next++};
	ze_event_handle_t event;

	if (!pool)
		OK(zeEventPoolCreate(context, &pool_desc, 2, devices, &pool));
	OK(zeEventCreate(pool, &desc, &event));
	return event;
}

static ze_kernel_handle_t make_kernel(ze_device_handle_t device, const char *name)
{
	const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
	void *argument = (void *)ended;
	ze_kernel_handle_t kernel;

	OK(zeKernelCreate(build(device, source), &desc, &kernel));
	OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
	OK(zeKernelSetArgumentValue(kernel, 0, sizeof argument, &argument));
	return kernel;
}

static void open_devices(void)
{
	const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	const ze_command_queue_desc_t queue_desc = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
	};
	const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
	ze_driver_handle_t driver;
	uint32_t count = 1;

	OK(zeInit(0));
	OK(zeDriverGet(&count, &driver));
	count = 2;
	OK(zeDeviceGet(driver, &count, devices));
	EXPECT(count == 2);
	OK(zeContextCreate(driver, &desc, &context));
	OK(zeMemAllocHost(context, &host, sizeof *ended, 64, (void **)&ended));
	nothing = make_kernel(devices[0], "nothing");
	long_one = make_kernel(devices[1], "long_one");
	OK(zeCommandListCreateImmediate(context, devices[0], &queue_desc, &first));
	OK(zeCommandListCreateImmediate(context, devices[1], &queue_desc, &second));
	OK(zeCommandQueueCreate(context, devices[1], &queue_desc, &queue));
	OK(zeCommandListCreate(context, devices[1], &list_desc, &queued));
	OK(zeCommandListAppendLaunchKernel(queued, long_one, &one, NULL, 0, NULL));
	OK(zeCommandListClose(queued));
	done = make_event();
	long_done = make_event();
	own = make_event();
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	catch_slow_accesses();
	open_devices();
	for (unsigned i = 0; i < TIMES; i++) {
		run_nothing(0, NULL);
		wait_for(done);
		rules[rule].provoke();
		run_nothing(0, NULL);
		wait_for(done);
	}
	return 0;
}
