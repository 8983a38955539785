/* SPDX-License-Identifier: MIT */
/* A Level Zero program for tests: lz_program HOW N [DRIVERS]
 *
 *   immediate   N times on an immediate list: fill, copy, two kernels, a barrier, without
 *               events; then a wait
 *   events      like immediate, but each command has an event, which the program waits for, reads
 *               and resets; with LZ_PLAIN the events are created without times
 *   regular     the same commands in a list, closed once and run N times, with a wait each time
 *   replays     like regular, but with a single wait, at the end
 *   again       like regular, but each call executes the list twice, with one wait
 *   elsewhere   like regular, but the list runs on two queues at once
 *   reused      N kernels on an immediate list that all signal one event, without waits in between
 *   stale       like reused, but with a wait for each kernel, and the event never reset
 *   signalled   like regular, with events that the program never resets, and a wait for each run
 *   resets      a list of two kernels with one event, which the list resets between them; run N
 *               times, with one wait
 *   ipc         N times on an immediate in-order list, and once in a regular in-order list, with
 *               events for other processes; the program waits for each event and resets it
 *   mapped      like ipc, with events that have mapped times
 *   unordered   like ipc, on lists that are not in order
 *   paused      regular; the list is built and run once, or twice, while the program pauses its
 *               recording with functions of the library that LZ_ROCTX names
 *   graphs      two kernels are captured into a graph, with functions found from their names;
 *               the graph is launched N times, then the kernels are run once without it
 *   several     both kernels in one command, N times on an immediate list
 *   directions  N copies in each direction: from host memory (malloc, USM) to device memory and
 *               back, within each, and from shared memory to host memory
 *   images      N times an image is copied from memory, a part within the image, a part to memory
 *   threads     immediate, in four threads with a list each
 *   earlier     lists and a queue exist when gputap attaches (LZ_ATTACH): N times an immediate list
 *               and a regular list, then a list that is created afterwards
 *   names       functions that the program looks up by name
 *   errors      calls that fail
 *   absent      a call without a function in the driver
 *   sysman      one call of zes that takes doubles
 *
 * Prints the results that the device computed. With LZ_DLOPEN it opens the loader itself. LZ_LATE
 * names a library with a tool (lz_tool.c), which the program opens and adds before it creates
 * queues and lists. LZ_ATTACH names libgputap and a session, to which the program attaches at that
 * point. With LZ_DEFAULT it uses the driver's default context, which newer loaders have. */
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(X) \
	X(zeCommandListAppendBarrier) X(zeCommandListAppendEventReset) \
	X(zeCommandListAppendImageCopyFromMemory) X(zeCommandListAppendImageCopyRegion) \
	X(zeCommandListAppendImageCopyToMemory) X(zeImageCreate) X(zeImageDestroy) \
	X(zeCommandListAppendLaunchKernel) X(zeCommandListAppendLaunchMultipleKernelsIndirect) \
	X(zeCommandListAppendMemoryCopy) X(zeCommandListAppendMemoryFill) \
	X(zeCommandListClose) X(zeCommandListCreate) X(zeCommandListCreateImmediate) \
	X(zeCommandListDestroy) X(zeCommandQueueCreate) X(zeCommandQueueDestroy) \
	X(zeCommandQueueExecuteCommandLists) X(zeCommandQueueSynchronize) \
	X(zeContextCreate) X(zeContextDestroy) X(zeDeviceGet) X(zeDriverGet) \
	X(zeDriverGetExtensionFunctionAddress) X(zeKernelSetIndirectAccess) \
	X(zeEventCreate) X(zeEventDestroy) X(zeEventHostReset) X(zeEventHostSynchronize) \
	X(zeEventPoolCreate) X(zeEventPoolDestroy) X(zeEventQueryKernelTimestamp) \
	X(zeInit) X(zeKernelCreate) X(zeKernelDestroy) X(zeKernelSetArgumentValue) \
	X(zeKernelSetGroupSize) X(zeMemAllocDevice) X(zeMemAllocHost) \
	X(zeMemAllocShared) X(zeMemFree) X(zeModuleCreate) X(zeModuleDestroy) \
	X(zesFrequencyOcSetVoltageTarget)
/* clang-format on */

/* Functions of the loader that the program is linked with, or of the loader that it opens. */
static struct {
#define X(name) __typeof__(&name) name##_;
	FUNCTIONS(X)
#undef X
} ze;

/* MAPPED: a pool flag that has no name in the headers of loader 1.8. */
enum { COUNT = 256, COMMANDS = 5, MAPPED = 8 };

static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_kernel_handle_t scale, add;
static float *shared, *on_device, *on_host;
static ze_event_pool_flags_t pool_flags;
static uint32_t queue_flags, list_flags;
static __thread ze_event_pool_handle_t pool;
static __thread ze_event_handle_t events[COMMANDS];

static void check(ze_result_t status, const char *what)
{
	if (status == ZE_RESULT_SUCCESS)
		return;
	fprintf(stderr, "%s: 0x%x\n", what, status);
	exit(1);
}

#define DO(name, ...) check(ze.name##_(__VA_ARGS__), #name)

static void load(void)
{
	void *library =
		getenv("LZ_DLOPEN") ? dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;

#define X(name)            \
	ze.name##_ = name; \
	if (library)       \
		*(void **)&ze.name##_ = dlsym(library, #name);
	FUNCTIONS(X)
#undef X
}

static void add_tool(const char *path)
{
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*add)(void) = NULL;

	if (library)
		*(void **)&add = dlsym(library, "lz_tool_add");
	if (path && (!add || add()))
		check(ZE_RESULT_ERROR_UNKNOWN, path);
}

/* Attach to a session: "LIBRARY FOLDER". */
static void attach(const char *text)
{
	char path[512], folder[512];
	int (*attach_to)(const char *) = NULL;
	void *library = NULL;

	if (text && sscanf(text, "%511s %511s", path, folder) == 2)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library)
		*(void **)&attach_to = dlsym(library, "gputap_attach");
	if (text && (!attach_to || attach_to(folder)))
		check(ZE_RESULT_ERROR_UNKNOWN, text);
}

static void find_context(ze_driver_handle_t driver)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_context_handle_t (*get_default)(ze_driver_handle_t) = NULL;

	if (getenv("LZ_DEFAULT"))
		*(void **)&get_default = dlsym(RTLD_DEFAULT, "zeDriverGetDefaultContext");
	if (get_default)
		context = get_default(driver);
	else
		DO(zeContextCreate, driver, &desc, &context);
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name, float by)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
	uint32_t n = COUNT;
	ze_kernel_handle_t kernel;

	DO(zeKernelCreate, module, &desc, &kernel);
	DO(zeKernelSetGroupSize, kernel, 32, 1, 1);
	DO(zeKernelSetArgumentValue, kernel, 0, sizeof shared, &shared);
	DO(zeKernelSetArgumentValue, kernel, 1, sizeof by, &by);
	DO(zeKernelSetArgumentValue, kernel, 2, sizeof n, &n);
	return kernel;
}

static void append_commands(ze_command_list_handle_t list, ze_event_handle_t *e)
{
	const ze_group_count_t groups = {COUNT / 32, 1, 1};
	const float one = 1;

	DO(zeCommandListAppendMemoryFill, list, on_device, &one, sizeof one, COUNT * sizeof one,
	   e ? e[0] : NULL, 0, NULL);
	DO(zeCommandListAppendMemoryCopy, list, shared, on_device, COUNT * sizeof one,
	   e ? e[1] : NULL, 0, NULL);
	DO(zeCommandListAppendLaunchKernel, list, scale, &groups, e ? e[2] : NULL, 0, NULL);
	DO(zeCommandListAppendBarrier, list, e ? e[3] : NULL, 0, NULL);
	DO(zeCommandListAppendLaunchKernel, list, add, &groups, e ? e[4] : NULL, e ? 1 : 0,
	   e ? &e[2] : NULL);
}

static ze_command_list_handle_t make_immediate(ze_command_queue_mode_t mode)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.flags = queue_flags,
					.mode = mode};
	ze_command_list_handle_t list;

	DO(zeCommandListCreateImmediate, context, device, &desc, &list);
	return list;
}

static void wait_for_events(ze_event_handle_t *e)
{
	for (int i = 0; i < COMMANDS; i++) {
		ze_kernel_timestamp_result_t times;

		DO(zeEventHostSynchronize, e[i], UINT64_MAX);
		if (getenv("LZ_PLAIN") || pool_flags)
			continue;
		DO(zeEventQueryKernelTimestamp, e[i], &times);
		if (!times.global.kernelEnd)
			check(ZE_RESULT_ERROR_UNKNOWN, "no times");
	}
}

static void make_events(void)
{
	ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
					      ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
				     .count = COMMANDS};

	if (getenv("LZ_PLAIN"))
		desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
	if (pool_flags)
		desc.flags = pool_flags;
	DO(zeEventPoolCreate, context, &desc, 0, NULL, &pool);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};

		DO(zeEventCreate, pool, &event, &events[i]);
	}
}

static void destroy_events(void)
{
	for (int i = 0; i < COMMANDS; i++)
		DO(zeEventDestroy, events[i]);
	DO(zeEventPoolDestroy, pool);
}

static void run_immediate(int n, ze_event_handle_t *e)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

	for (int i = 0; i < n; i++) {
		append_commands(list, e);
		if (e)
			wait_for_events(e);
		for (int k = 0; e && k < COMMANDS; k++)
			DO(zeEventHostReset, e[k]);
	}
	/* 1.8 can wait for an immediate list only with an event */
	make_events();
	DO(zeCommandListAppendBarrier, list, events[0], 0, NULL);
	DO(zeEventHostSynchronize, events[0], UINT64_MAX);
	destroy_events();
	DO(zeCommandListDestroy, list);
}

static ze_command_queue_handle_t make_queue(void)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	ze_command_queue_handle_t queue;

	DO(zeCommandQueueCreate, context, device, &desc, &queue);
	return queue;
}

static ze_command_list_handle_t make_regular(void)
{
	ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
				       .flags = list_flags};
	ze_command_list_handle_t list;

	DO(zeCommandListCreate, context, device, &desc, &list);
	return list;
}

static void run_regular(int n, const char *how)
{
	int again = !strcmp(how, "again"), elsewhere = !strcmp(how, "elsewhere");
	int signalled = !strcmp(how, "signalled");
	ze_command_queue_handle_t queue = make_queue(), other = elsewhere ? make_queue() : NULL;
	ze_command_list_handle_t list = make_regular(), lists[2] = {list, list};

	if (signalled)
		make_events();
	append_commands(list, signalled ? events : NULL);
	DO(zeCommandListClose, list);
	for (int i = 0; i < n; i++) {
		DO(zeCommandQueueExecuteCommandLists, queue, again ? 2 : 1, lists, NULL);
		if (elsewhere)
			DO(zeCommandQueueExecuteCommandLists, other, 1, lists, NULL);
		if (strcmp(how, "replays"))
			DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
		if (elsewhere)
			DO(zeCommandQueueSynchronize, other, UINT64_MAX);
	}
	DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	DO(zeCommandListDestroy, list);
	DO(zeCommandQueueDestroy, queue);
	if (elsewhere)
		DO(zeCommandQueueDestroy, other);
	if (signalled)
		destroy_events();
}

static void run_earlier(int n)
{
	ze_command_list_handle_t immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
				 list = make_regular(), later;
	ze_command_queue_handle_t queue = make_queue();

	append_commands(list, NULL);
	DO(zeCommandListClose, list);
	attach(getenv("LZ_ATTACH"));
	for (int i = 0; i < n; i++) {
		append_commands(immediate, NULL);
		DO(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
		DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	}
	later = make_regular();
	append_commands(later, NULL);
	DO(zeCommandListClose, later);
	DO(zeCommandQueueExecuteCommandLists, queue, 1, &later, NULL);
	DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	make_events();
	DO(zeCommandListAppendBarrier, immediate, events[0], 0, NULL);
	DO(zeEventHostSynchronize, events[0], UINT64_MAX);
	destroy_events();
	DO(zeCommandListDestroy, immediate);
	DO(zeCommandListDestroy, list);
	DO(zeCommandListDestroy, later);
	DO(zeCommandQueueDestroy, queue);
}

/* Only the device resets this event. */
static void run_resets(int n)
{
	const ze_group_count_t groups = {COUNT / 32, 1, 1};
	ze_command_queue_handle_t queue = make_queue();
	ze_command_list_handle_t list = make_regular();

	make_events();
	DO(zeCommandListAppendEventReset, list, events[0]);
	DO(zeCommandListAppendLaunchKernel, list, scale, &groups, events[0], 0, NULL);
	DO(zeCommandListAppendEventReset, list, events[0]);
	DO(zeCommandListAppendLaunchKernel, list, add, &groups, events[0], 0, NULL);
	DO(zeCommandListClose, list);
	for (int i = 0; i < n; i++)
		DO(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
	DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	DO(zeCommandListDestroy, list);
	DO(zeCommandQueueDestroy, queue);
	destroy_events();
}

static void run_reused(int n, int wait_each)
{
	const ze_group_count_t groups = {COUNT / 32, 1, 1};
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

	make_events();
	for (int i = 0; i < n; i++) {
		DO(zeCommandListAppendLaunchKernel, list, scale, &groups, events[0], 0, NULL);
		if (!wait_each)
			continue;
		DO(zeCommandListAppendBarrier, list, events[1], 0, NULL);
		DO(zeEventHostSynchronize, events[1], UINT64_MAX);
		DO(zeEventHostReset, events[1]);
	}
	DO(zeCommandListAppendBarrier, list, events[2], 0, NULL);
	DO(zeEventHostSynchronize, events[2], UINT64_MAX);
	DO(zeCommandListDestroy, list);
	destroy_events();
}

static void wait_for_list(ze_command_list_handle_t list)
{
	DO(zeCommandListAppendBarrier, list, events[0], 0, NULL);
	DO(zeEventHostSynchronize, events[0], UINT64_MAX);
	DO(zeCommandListDestroy, list);
	destroy_events();
}

static void wait_and_reset(void)
{
	wait_for_events(events);
	for (int i = 0; i < COMMANDS; i++)
		DO(zeEventHostReset, events[i]);
}

/* Flags of in-order lists have no names in the headers of loader 1.8. */
static void run_with_events_of(ze_event_pool_flags_t flags, int in_order, int n)
{
	ze_command_list_handle_t list, regular;
	ze_command_queue_handle_t queue = make_queue();

	pool_flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags;
	queue_flags = in_order ? 2 : 0;
	list_flags = in_order ? 8 : 0;
	list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	regular = make_regular();
	make_events();
	for (int i = 0; i < n; i++) {
		append_commands(list, events);
		wait_and_reset();
	}
	append_commands(regular, events);
	DO(zeCommandListClose, regular);
	DO(zeCommandQueueExecuteCommandLists, queue, 1, &regular, NULL);
	wait_and_reset();
	DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	DO(zeCommandListDestroy, list);
	DO(zeCommandListDestroy, regular);
	DO(zeCommandQueueDestroy, queue);
	destroy_events();
}

/* The last run during the pause may still be in progress when the pause ends. */
static void run_paused(int n)
{
	void *library = dlopen(getenv("LZ_ROCTX"), RTLD_NOW | RTLD_LOCAL);
	int (*pause)(uint64_t) = NULL, (*resume)(uint64_t) = NULL;
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;

	if (library) {
		*(void **)&pause = dlsym(library, "roctxProfilerPause");
		*(void **)&resume = dlsym(library, "roctxProfilerResume");
	}
	if (!pause || !resume)
		check(ZE_RESULT_ERROR_UNKNOWN, "LZ_ROCTX");
	pause(0);
	queue = make_queue();
	list = make_regular();
	append_commands(list, NULL);
	DO(zeCommandListClose, list);
	DO(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
	DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	DO(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
	resume(0);
	for (int i = 0; i < n; i++) {
		DO(zeCommandQueueExecuteCommandLists, queue, 1, &list, NULL);
		DO(zeCommandQueueSynchronize, queue, UINT64_MAX);
	}
	DO(zeCommandListDestroy, list);
	DO(zeCommandQueueDestroy, queue);
}

static void *named_function(ze_driver_handle_t driver, const char *name)
{
	void *function;

	DO(zeDriverGetExtensionFunctionAddress, driver, name, &function);
	return function;
}

static void run_graphs(int n, ze_driver_handle_t driver)
{
	const ze_group_count_t groups = {COUNT / 32, 1, 1};
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_result_t (*begin)(void *, const void *), (*end)(void *, const void *, void **);
	ze_result_t (*launch)(void *, void *, const void *, ze_event_handle_t, uint32_t,
			      ze_event_handle_t *);
	void *graph;

	*(void **)&begin = named_function(driver, "zeCommandListBeginGraphCaptureExt");
	*(void **)&end = named_function(driver, "zeCommandListEndGraphCaptureExt");
	*(void **)&launch = named_function(driver, "zeCommandListAppendGraphExt");
	make_events();
	check(begin(list, NULL), "begin");
	for (int i = 0; i < 2; i++) {
		DO(zeCommandListAppendLaunchKernel, list, scale, &groups, NULL, 0, NULL);
		DO(zeCommandListAppendLaunchKernel, list, add, &groups, NULL, 0, NULL);
		if (i == 0)
			check(end(list, NULL, &graph), "end");
	}
	for (int i = 0; i < n; i++)
		check(launch(list, graph, NULL, i ? NULL : events[1], 0, NULL), "launch");
	wait_for_list(list);
}

static void run_several(int n)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_group_count_t groups[] = {{COUNT / 32, 1, 1}, {COUNT / 32, 1, 1}};
	ze_kernel_handle_t both[] = {scale, add};
	const uint32_t count = 2;

	make_events();
	for (int i = 0; i < n; i++)
		DO(zeCommandListAppendLaunchMultipleKernelsIndirect, list, 2, both, &count, groups,
		   NULL, 0, NULL);
	wait_for_list(list);
}

static void run_directions(int n)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	float *plain = calloc(COUNT, sizeof *plain), *half = on_device + COUNT;
	float *pairs[][2] = {{on_device, plain}, {half + 8, on_host}, {plain, on_device},
			     {on_host, half},    {on_device, half},   {on_host, plain},
			     {plain, shared},    {shared, on_device}};

	make_events();
	for (int i = 0; i < n; i++)
		for (unsigned k = 0; k < sizeof pairs / sizeof *pairs; k++)
			DO(zeCommandListAppendMemoryCopy, list, pairs[k][0], pairs[k][1],
			   sizeof *plain << k, NULL, 0, NULL);
	wait_for_list(list);
	free(plain);
}

static void run_images(int n)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	const ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
				      .type = ZE_IMAGE_TYPE_2D,
				      .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8},
				      .width = 16,
				      .height = 8};
	const ze_image_region_t part = {0, 1, 0, 4, 2, 1}, other = {8, 4, 0, 4, 2, 1};
	ze_image_handle_t image;

	make_events();
	DO(zeImageCreate, context, device, &desc, &image);
	for (int i = 0; i < n; i++) {
		DO(zeCommandListAppendImageCopyFromMemory, list, image, on_host, NULL, NULL, 0,
		   NULL);
		DO(zeCommandListAppendImageCopyRegion, list, image, image, &part, &other, NULL, 0,
		   NULL);
		DO(zeCommandListAppendImageCopyToMemory, list, on_host, image, &part, NULL, 0,
		   NULL);
	}
	wait_for_list(list);
	DO(zeImageDestroy, image);
}

static void *run_thread(void *n)
{
	run_immediate(*(int *)n, NULL);
	return NULL;
}

static void run_threads(int n)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_thread, &n);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void run_errors(ze_module_handle_t module)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "none"};
	ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_kernel_handle_t kernel;
	void *p;

	printf("kernel 0x%x\n", ze.zeKernelCreate_(module, &desc, &kernel));
	printf("memory 0x%x\n", ze.zeMemAllocDevice_(context, &memory, 0, 1, device, &p));
}

int main(int argc, char **argv)
{
	ze_device_mem_alloc_desc_t dd = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t hd = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
					.inputSize = 1,
					.pInputModule = (const uint8_t *)""};
	const char *how = argc > 1 ? argv[1] : "immediate";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	ze_driver_handle_t drivers[4];
	ze_module_handle_t module;
	uint32_t count = 4;

	load();
	DO(zeInit, 0);
	DO(zeDriverGet, &count, drivers);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t one = 1;

		DO(zeDeviceGet, drivers[i], &one, &device);
		find_context(drivers[i]);
		DO(zeMemAllocShared, context, &dd, &hd, COUNT * sizeof *shared, 64, device,
		   (void **)&shared);
		DO(zeMemAllocDevice, context, &dd, 2 * COUNT * sizeof *shared, 64, device,
		   (void **)&on_device);
		DO(zeMemAllocHost, context, &hd, 3 * COUNT * sizeof *shared, 64, (void **)&on_host);
		DO(zeModuleCreate, context, device, &module_desc, &module, NULL);
		scale = make_kernel(module, "scale", 3);
		add = make_kernel(module, "add", 0.5f);
		add_tool(i ? NULL : getenv("LZ_LATE"));
		if (strcmp(how, "earlier"))
			attach(i ? NULL : getenv("LZ_ATTACH"));
		if (strcmp(how, "events") == 0) {
			ze_event_handle_t own[COMMANDS];
			ze_event_pool_handle_t own_pool;

			make_events();
			memcpy(own, events, sizeof own);
			own_pool = pool;
			run_immediate(n, own);
			memcpy(events, own, sizeof own);
			pool = own_pool;
			destroy_events();
		} else if (strstr("regular replays again elsewhere signalled", how)) {
			run_regular(n, how);
		} else if (strcmp(how, "earlier") == 0) {
			run_earlier(n);
		} else if (strcmp(how, "resets") == 0) {
			run_resets(n);
		} else if (strcmp(how, "reused") == 0 || strcmp(how, "stale") == 0) {
			run_reused(n, how[0] == 's');
		} else if (strcmp(how, "images") == 0) {
			run_images(n);
		} else if (strcmp(how, "ipc") == 0 || strcmp(how, "unordered") == 0) {
			run_with_events_of(ZE_EVENT_POOL_FLAG_IPC, how[0] == 'i', n);
		} else if (strcmp(how, "mapped") == 0) {
			run_with_events_of(MAPPED, 0, n);
		} else if (strcmp(how, "paused") == 0) {
			run_paused(n);
		} else if (strcmp(how, "graphs") == 0) {
			run_graphs(n, drivers[i]);
		} else if (strcmp(how, "several") == 0) {
			run_several(n);
		} else if (strcmp(how, "directions") == 0) {
			run_directions(n);
		} else if (strcmp(how, "remade") == 0) {
			for (int k = 0; k < n; k++) {
				run_immediate(1, NULL);
				DO(zeKernelDestroy, add);
				add = make_kernel(module, "add", 0.5f);
			}
		} else if (strcmp(how, "threads") == 0) {
			run_threads(n);
		} else if (strcmp(how, "names") == 0) {
			void *function;

			for (int k = 0; k < n; k++)
				printf("0x%x\n", ze.zeDriverGetExtensionFunctionAddress_(
							 drivers[i], "zexOfTomorrow", &function));
		} else if (strcmp(how, "absent") == 0) {
			for (int k = 0; k < n; k++)
				printf("absent 0x%x\n",
				       ze.zeKernelSetIndirectAccess_(
					       scale, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST));
		} else if (strcmp(how, "errors") == 0) {
			run_errors(module);
		} else if (strcmp(how, "sysman") == 0) {
			DO(zesFrequencyOcSetVoltageTarget, (zes_freq_handle_t)&module, 1.25, -0.5);
		} else {
			run_immediate(n, NULL);
		}
		if (strcmp(how, "names") && strcmp(how, "absent") && strcmp(how, "errors") &&
		    strcmp(how, "sysman") && strcmp(how, "threads"))
			printf("driver %u: %g %g\n", i, shared[0], shared[COUNT - 1]);
		DO(zeKernelDestroy, scale);
		DO(zeKernelDestroy, add);
		DO(zeModuleDestroy, module);
		DO(zeMemFree, context, shared);
		DO(zeMemFree, context, on_device);
		DO(zeMemFree, context, on_host);
		DO(zeContextDestroy, context);
	}
	return 0;
}
