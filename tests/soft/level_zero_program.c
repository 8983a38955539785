/* SPDX-License-Identifier: MIT */
/* A plain program for Level Zero, for tests of the software devices and of their tracing.
 *
 *   level_zero_program memory            copies, fills, regions, host calls: lists of both kinds
 *   level_zero_program addresses         reserved addresses, and physical memory mapped there
 *   level_zero_program events            events, pools, fences, waits, stamps
 *   level_zero_program counters|shared   commands with counter-based events, or with events from a
 *                                        pool for other processes
 *   level_zero_program kernels FILE      kernels in FILE (SPIR-V or text)
 *   level_zero_program several FILE      two kernels in one command
 *   level_zero_program log FILE          whether FILE builds, and its build log
 *   level_zero_program devices           the devices
 *   level_zero_program system            the first device in system management and tools
 *   level_zero_program attributes FILE KERNEL   group size attributes in the source of KERNEL
 *   level_zero_program errors            refused arguments, and their errors
 *   level_zero_program stamps            stamps of a copy, valid bits, and a pair of both clocks
 *   level_zero_program launches FILE N   N launches of "spin", each with an event */
#include <inttypes.h>
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                       \
	do {                                                                              \
		ze_result_t check_status = (call);                                        \
		if (check_status) {                                                       \
			printf("%d: %s: %#x\n", __LINE__, #call, (unsigned)check_status); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)
#define EXPECT(condition)                                                 \
	do {                                                              \
		if (!(condition)) {                                       \
			printf("%d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                          \
		}                                                         \
	} while (0)

enum { NUMBERS = 1 << 14, GROUP = 64 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_event_pool_handle_t pool;
static uint32_t next_event;

static void start(void)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
					  .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
						   ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
					  .count = 64};
	uint32_t count = 1;

	CHECK(zeInit(0));
	CHECK(zeDriverGet(&count, &driver));
	count = 1;
	CHECK(zeDeviceGet(driver, &count, &device));
	CHECK(zeContextCreate(driver, &desc, &context));
	CHECK(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool));
}

static void stop(void)
{
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeContextDestroy(context));
}

static ze_event_handle_t make_event(void)
{
	ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = next_event++};
	ze_event_handle_t event;

	CHECK(zeEventCreate(pool, &desc, &event));
	return event;
}

static ze_command_queue_handle_t make_queue(uint32_t ordinal)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.ordinal = ordinal,
					.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	ze_command_queue_handle_t queue;

	CHECK(zeCommandQueueCreate(context, device, &desc, &queue));
	return queue;
}

static ze_command_list_handle_t make_list(uint32_t ordinal)
{
	ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
				       .commandQueueGroupOrdinal = ordinal};
	ze_command_list_handle_t list;

	CHECK(zeCommandListCreate(context, device, &desc, &list));
	return list;
}

static ze_command_list_handle_t make_immediate(ze_command_queue_mode_t mode)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.mode = mode};
	ze_command_list_handle_t list;

	CHECK(zeCommandListCreateImmediate(context, device, &desc, &list));
	return list;
}

static void *allocate(size_t bytes)
{
	ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	void *memory;

	CHECK(zeMemAllocShared(context, &desc, &host, bytes, 64, device, &memory));
	return memory;
}

/* Run a closed list once, with a fence. */
static void run_list(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
	ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
	ze_fence_handle_t fence;

	CHECK(zeFenceCreate(queue, &desc, &fence));
	CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
	CHECK(zeFenceHostSynchronize(fence, UINT64_MAX));
	CHECK(zeFenceQueryStatus(fence));
	CHECK(zeFenceReset(fence));
	EXPECT(zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
	CHECK(zeFenceDestroy(fence));
}

/* Memory ------------------------------------------------------------------------------- */

static void append_memory(ze_command_list_handle_t list, uint32_t *a, uint32_t *b,
			  ze_event_handle_t end)
{
	ze_copy_region_t from = {.originX = 8, .originY = 1, .width = 16, .height = 3};
	ze_copy_region_t to = {.width = 16, .height = 3};
	uint32_t pattern = 0x01020304;

	CHECK(zeCommandListAppendMemoryFill(list, a, &pattern, sizeof pattern, NUMBERS * 4, NULL, 0,
					    NULL));
	CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
	CHECK(zeCommandListAppendMemoryCopy(list, b, a, NUMBERS * 4, NULL, 0, NULL));
	CHECK(zeCommandListAppendMemoryCopyRegion(list, b + 1024, &to, 16, 0, a, &from, 64, 0, end,
						  0, NULL));
}

static void check_memory(const uint32_t *b)
{
	for (int i = 0; i < NUMBERS; i++)
		EXPECT(b[i] == 0x01020304);
}

static void ask_memory(void *memory)
{
	ze_memory_allocation_properties_t about = {
		.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
	ze_device_handle_t owner;
	void *first;
	size_t bytes;

	CHECK(zeMemGetAllocProperties(context, (char *)memory + 5, &about, &owner));
	EXPECT(about.type == ZE_MEMORY_TYPE_SHARED && owner == device);
	CHECK(zeMemGetAddressRange(context, (char *)memory + 5, &first, &bytes));
	EXPECT(first == memory && bytes == NUMBERS * 4);
	CHECK(zeMemGetAllocProperties(context, &bytes, &about, &owner));
	EXPECT(about.type == ZE_MEMORY_TYPE_UNKNOWN && !owner);
}

static void try_memory(void)
{
	uint32_t *a = allocate(NUMBERS * 4), *b = allocate(NUMBERS * 4);
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t event = make_event();

	ask_memory(a);
	append_memory(list, a, b, event);
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	check_memory(b);
	CHECK(zeCommandListDestroy(list));
	for (uint32_t ordinal = 0; ordinal < 2; ordinal++) { /* compute engine and copy engine */
		ze_command_queue_handle_t queue = make_queue(ordinal);
		memset(b, 0, NUMBERS * 4);
		list = make_list(ordinal);
		append_memory(list, a, b, NULL);
		CHECK(zeCommandListClose(list));
		run_list(queue, list);
		check_memory(b);
		memset(b, 0, NUMBERS * 4);
		run_list(queue, list); /* once more */
		check_memory(b);
		CHECK(zeCommandListReset(list));
		CHECK(zeCommandListDestroy(list));
		CHECK(zeCommandQueueDestroy(queue));
	}
	list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	memset(b, 0, NUMBERS * 4);
	append_memory(list, a, b, NULL);
	check_memory(b);
	CHECK(zeCommandListDestroy(list));
	CHECK(zeEventDestroy(event));
	CHECK(zeMemFree(context, a));
	CHECK(zeMemFree(context, b));
}

/* Addresses ---------------------------------------------------------------------------- */

enum { PAGES = 4 };

static void expect_access(const void *at, size_t bytes, ze_memory_access_attribute_t wanted,
			  size_t wanted_bytes)
{
	ze_memory_access_attribute_t access;
	size_t same;

	CHECK(zeVirtualMemGetAccessAttribute(context, at, bytes, &access, &same));
	EXPECT(access == wanted && same == wanted_bytes);
}

static void try_wrong_addresses(char *start, size_t page, ze_physical_mem_handle_t physical)
{
	ze_memory_access_attribute_t write = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
	void *none;

	EXPECT(zeVirtualMemReserve(context, NULL, page + 1, &none) ==
	       ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
	EXPECT(zeVirtualMemMap(context, start + 1, page, physical, 0, write) ==
	       ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
	EXPECT(zeVirtualMemMap(context, start, 3 * page, physical, 0, write) ==
	       ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
	EXPECT(zeVirtualMemMap(context, start + PAGES * page, page, physical, 0, write) ==
	       ZE_RESULT_ERROR_INVALID_ARGUMENT);
	EXPECT(zeVirtualMemSetAccessAttribute(context, start + 3 * page, page, write) ==
	       ZE_RESULT_ERROR_INVALID_ARGUMENT); /* this page has no mapping */
	EXPECT(zeVirtualMemFree(context, start + page, page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

/* Map two pages of memory at two addresses each: data written at one address is read at the other
 * address. */
static void try_addresses(void)
{
	ze_memory_access_attribute_t write = ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE;
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
	ze_physical_mem_handle_t physical;
	char *start, *copy = allocate(100);
	size_t page;

	CHECK(zeVirtualMemQueryPageSize(context, device, 1, &page));
	desc.size = 2 * page;
	CHECK(zePhysicalMemCreate(context, device, &desc, &physical));
	CHECK(zeVirtualMemReserve(context, NULL, PAGES * page, (void **)&start));
	expect_access(start, PAGES * page, ZE_MEMORY_ACCESS_ATTRIBUTE_NONE, PAGES * page);
	CHECK(zeVirtualMemMap(context, start, 2 * page, physical, 0, write));
	CHECK(zeVirtualMemMap(context, start + 2 * page, page, physical, page, write));
	expect_access(start, PAGES * page, write, 3 * page);
	CHECK(zeCommandListAppendMemoryFill(list, start, "x", 1, 2 * page, NULL, 0, NULL));
	CHECK(zeCommandListAppendMemoryCopy(list, copy, start + 2 * page, 100, NULL, 0, NULL));
	EXPECT(copy[0] == 'x' && copy[99] == 'x');
	CHECK(zeVirtualMemSetAccessAttribute(context, start + page, page,
					     ZE_MEMORY_ACCESS_ATTRIBUTE_NONE));
	expect_access(start, PAGES * page, write, page);
	try_wrong_addresses(start, page, physical);
	CHECK(zeVirtualMemUnmap(context, start, 2 * page));
	CHECK(zePhysicalMemDestroy(context, physical));
	EXPECT(start[2 * page] == 'x'); /* the mapping stays */
	CHECK(zeVirtualMemFree(context, start, PAGES * page));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeMemFree(context, copy));
}

/* Events ------------------------------------------------------------------------------- */

static void try_waits(void)
{
	ze_command_list_handle_t one = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_command_list_handle_t two = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t gate = make_event(), first = make_event(), second = make_event();
	uint32_t *data = allocate(8), both[2] = {1, 2};

	data[0] = data[1] = 0;
	/* two waits for one event, whose command waits for the host */
	CHECK(zeCommandListAppendMemoryCopy(two, data + 1, both + 1, 4, second, 1, &first));
	CHECK(zeCommandListAppendMemoryCopy(one, data, both, 4, first, 1, &gate));
	EXPECT(zeEventHostSynchronize(second, 1000000) == ZE_RESULT_NOT_READY);
	EXPECT(zeEventQueryStatus(first) == ZE_RESULT_NOT_READY && !data[0]);
	CHECK(zeEventHostSignal(gate));
	CHECK(zeEventHostSynchronize(second, UINT64_MAX));
	EXPECT(data[0] == 1 && data[1] == 2);
	CHECK(zeEventHostReset(first));
	EXPECT(zeEventQueryStatus(first) == ZE_RESULT_NOT_READY);
	CHECK(zeCommandListAppendSignalEvent(one, first));
	CHECK(zeCommandListAppendEventReset(one, second));
	CHECK(zeEventHostReset(gate));
	CHECK(zeCommandListAppendSignalEvent(one, gate));
	CHECK(zeEventHostSynchronize(gate, UINT64_MAX));
	CHECK(zeEventQueryStatus(first));
	EXPECT(zeEventQueryStatus(second) == ZE_RESULT_NOT_READY);
	CHECK(zeCommandListDestroy(one));
	CHECK(zeCommandListDestroy(two));
	CHECK(zeEventDestroy(gate));
	CHECK(zeEventDestroy(first));
	CHECK(zeEventDestroy(second));
	CHECK(zeMemFree(context, data));
}

static void try_stamps(void)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t events[2] = {make_event(), make_event()}, end = make_event();
	ze_kernel_timestamp_result_t *times = allocate(2 * sizeof *times), one;
	uint64_t *when = allocate(16);
	char *bytes = allocate(1000);

	CHECK(zeCommandListAppendWriteGlobalTimestamp(list, when, NULL, 0, NULL));
	for (int i = 0; i < 2; i++)
		CHECK(zeCommandListAppendMemoryFill(list, bytes, "a", 1, 1000, events[i], 0, NULL));
	CHECK(zeCommandListAppendQueryKernelTimestamps(list, 2, events, times, NULL, NULL, 0,
						       NULL));
	CHECK(zeCommandListAppendWriteGlobalTimestamp(list, when + 1, end, 0, NULL));
	CHECK(zeEventHostSynchronize(end, UINT64_MAX));
	CHECK(zeEventQueryKernelTimestamp(events[1], &one));
	EXPECT(!memcmp(&one.global, &times[1].global, sizeof one.global));
	EXPECT(times[0].global.kernelStart < times[0].global.kernelEnd);
	EXPECT(times[0].global.kernelEnd <= times[1].global.kernelEnd);
	EXPECT(when[0] <= when[1]);
	EXPECT((uint32_t)(times[0].global.kernelStart - when[0]) < 1u << 31);
	CHECK(zeCommandListDestroy(list));
	for (int i = 0; i < 2; i++)
		CHECK(zeEventDestroy(events[i]));
	CHECK(zeEventDestroy(end));
	CHECK(zeMemFree(context, times));
	CHECK(zeMemFree(context, when));
	CHECK(zeMemFree(context, bytes));
}

/* As defined in version 1.7. */
struct counter_based_pool_desc {
	uint32_t stype;
	const void *next;
	uint32_t flags;
};

/* Signal both events of the pool twice; counter-based events are not reset in between. */
static void try_pool(ze_event_pool_flags_t flags, const struct counter_based_pool_desc *next)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				     .pNext = next,
				     .flags = flags,
				     .count = 2};
	ze_event_pool_handle_t own_pool;
	ze_event_handle_t events[2];
	char *bytes = allocate(2000);

	CHECK(zeEventPoolCreate(context, &desc, 1, &device, &own_pool));
	for (uint32_t i = 0; i < 2; i++) {
		ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};

		CHECK(zeEventCreate(own_pool, &event, &events[i]));
	}
	for (int round = 0; round < 2; round++) {
		CHECK(zeCommandListAppendMemoryFill(list, bytes, "a", 1, 1000, events[0], 0, NULL));
		CHECK(zeCommandListAppendMemoryCopy(list, bytes + 1000, bytes, 1000, events[1], 1,
						    events));
		CHECK(zeEventHostSynchronize(events[1], UINT64_MAX));
		for (int i = 0; i < 2 && !next; i++)
			CHECK(zeEventHostReset(events[i]));
	}
	EXPECT(!memcmp(bytes, bytes + 1000, 1000));
	CHECK(zeCommandListDestroy(list));
	for (int i = 0; i < 2; i++)
		CHECK(zeEventDestroy(events[i]));
	CHECK(zeEventPoolDestroy(own_pool));
	CHECK(zeMemFree(context, bytes));
}

/* Kernels ------------------------------------------------------------------------------ */

static void *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	void *all = malloc(1 << 20);

	EXPECT(file && all);
	*bytes = fread(all, 1, 1 << 20, file);
	fclose(file);
	return all;
}

static ze_result_t build(const char *path, ze_module_handle_t *module,
			 ze_module_build_log_handle_t *log)
{
	ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				 .format = strstr(path, ".spv") ? ZE_MODULE_FORMAT_IL_SPIRV
								: ZE_MODULE_FORMAT_NATIVE};
	void *all = read_file(path, &desc.inputSize);
	ze_result_t status;

	desc.pInputModule = all;
	status = zeModuleCreate(context, device, &desc, module, log);
	free(all);
	return status;
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
	ze_kernel_handle_t kernel;

	CHECK(zeKernelCreate(module, &desc, &kernel));
	return kernel;
}

static void check_saxpy(const float *y)
{
	for (int i = 0; i < NUMBERS; i++)
		EXPECT(y[i] == 1 + 3 * 2.0f * (float)i);
}

static void try_saxpy(ze_module_handle_t module)
{
	float *x = allocate(NUMBERS * 4), *y = allocate(NUMBERS * 4), a = 2;
	ze_kernel_handle_t kernel = make_kernel(module, "saxpy");
	ze_group_count_t groups = {NUMBERS / GROUP, 1, 1};
	ze_command_list_handle_t list = make_list(0);
	ze_command_queue_handle_t queue = make_queue(0);

	for (int i = 0; i < NUMBERS; i++) {
		x[i] = (float)i;
		y[i] = 1;
	}
	CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof y, &y));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof x, &x));
	CHECK(zeKernelSetArgumentValue(kernel, 2, sizeof a, &a));
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	a = 4; /* commands that were appended keep their arguments */
	CHECK(zeKernelSetArgumentValue(kernel, 2, sizeof a, &a));
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	CHECK(zeCommandListClose(list));
	run_list(queue, list);
	check_saxpy(y);
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
	CHECK(zeMemFree(context, x));
	CHECK(zeMemFree(context, y));
}

static void try_reverse(ze_module_handle_t module)
{
	ze_kernel_handle_t kernel = make_kernel(module, "reverse");
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t event = make_event();
	ze_group_count_t *groups = allocate(sizeof *groups);
	int32_t *data = allocate(NUMBERS * 4);

	*groups = (ze_group_count_t){NUMBERS / GROUP, 1, 1};
	for (int i = 0; i < NUMBERS; i++)
		data[i] = i;
	CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof data, &data));
	CHECK(zeKernelSetArgumentValue(kernel, 1, GROUP * sizeof *data, NULL));
	CHECK(zeCommandListAppendLaunchKernelIndirect(list, kernel, groups, event, 0, NULL));
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	for (int i = 0; i < NUMBERS; i++)
		EXPECT(data[i] == i / GROUP * GROUP + GROUP - 1 - i % GROUP);
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeEventDestroy(event));
	CHECK(zeMemFree(context, groups));
	CHECK(zeMemFree(context, data));
}

/* Launch two kernels with a count that the device reads as 1, so that only the first kernel
 * runs. */
static void try_several(const char *path)
{
	ze_module_handle_t module;
	ze_kernel_handle_t kernels[2];
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_group_count_t *groups = allocate(2 * sizeof *groups);
	ze_event_handle_t event = make_event();
	uint32_t *count = allocate(sizeof *count);
	float *data = allocate(4 * GROUP * sizeof *data), a = 1;

	CHECK(build(path, &module, NULL));
	kernels[0] = make_kernel(module, "saxpy");
	kernels[1] = make_kernel(module, "saxpy");
	*count = 1;
	for (int i = 0; i < 4 * GROUP; i++)
		data[i] = 1;
	for (int i = 0; i < 2; i++) {
		float *x = data + 2 * i * GROUP, *y = x + GROUP;
		groups[i] = (ze_group_count_t){1, 1, 1};
		CHECK(zeKernelSetGroupSize(kernels[i], GROUP, 1, 1));
		CHECK(zeKernelSetArgumentValue(kernels[i], 0, sizeof y, &y));
		CHECK(zeKernelSetArgumentValue(kernels[i], 1, sizeof x, &x));
		CHECK(zeKernelSetArgumentValue(kernels[i], 2, sizeof a, &a));
	}
	CHECK(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, kernels, count, groups,
							       event, 0, NULL));
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	EXPECT(data[GROUP] == 2 && data[2 * GROUP - 1] == 2);
	EXPECT(data[3 * GROUP] == 1 && data[4 * GROUP - 1] == 1);
	CHECK(zeKernelDestroy(kernels[0]));
	CHECK(zeKernelDestroy(kernels[1]));
	CHECK(zeModuleDestroy(module));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeEventDestroy(event));
	CHECK(zeMemFree(context, groups));
	CHECK(zeMemFree(context, count));
	CHECK(zeMemFree(context, data));
}

static void try_offsets(ze_module_handle_t module)
{
	ze_kernel_handle_t kernel = make_kernel(module, "offsets");
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	ze_group_count_t groups = {1, 1, 1};
	int32_t *data = allocate(GROUP * 4);
	struct {
		int32_t first;
		float second;
	} both = {100, 200};
	uint32_t four[4] = {0, 0, 0, 1000};
	int8_t narrow = -1;

	CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof data, &data));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof narrow, &narrow));
	CHECK(zeKernelSetArgumentValue(kernel, 2, sizeof both, &both));
	CHECK(zeKernelSetArgumentValue(kernel, 3, sizeof four, four));
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	for (int i = 0; i < GROUP; i++)
		EXPECT(data[i] == i + 1299);
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeMemFree(context, data));
}

static void tell_kernels(ze_module_handle_t module)
{
	ze_kernel_properties_t about = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
	uint32_t count = 0;
	const char **names;

	CHECK(zeModuleGetKernelNames(module, &count, NULL));
	names = calloc(count, sizeof(char *));
	EXPECT(names);
	CHECK(zeModuleGetKernelNames(module, &count, names));
	for (uint32_t i = 0; i < count; i++) {
		ze_kernel_handle_t kernel = make_kernel(module, names[i]);
		CHECK(zeKernelGetProperties(kernel, &about));
		printf("%s: %u arguments\n", names[i], about.numKernelArgs);
		CHECK(zeKernelDestroy(kernel));
	}
	free(names);
}

static void try_kernels(const char *path)
{
	ze_module_handle_t module;

	CHECK(build(path, &module, NULL));
	tell_kernels(module);
	try_saxpy(module);
	try_reverse(module);
	try_offsets(module);
	CHECK(zeModuleDestroy(module));
}

static void tell_log(const char *path)
{
	ze_module_handle_t module;
	ze_module_build_log_handle_t log;
	ze_result_t status = build(path, &module, &log);
	size_t bytes = 0;
	char *text;

	CHECK(zeModuleBuildLogGetString(log, &bytes, NULL));
	text = malloc(bytes);
	CHECK(zeModuleBuildLogGetString(log, &bytes, text));
	printf("%#x: %s\n", (unsigned)status, text);
	free(text);
	CHECK(zeModuleBuildLogDestroy(log));
	if (!status)
		CHECK(zeModuleDestroy(module));
}

static void launch_many(const char *path, unsigned count)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_group_count_t groups = {4, 1, 1};
	ze_event_handle_t event = make_event();
	uint32_t *out = allocate(4 * GROUP * 4), steps = 1000;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;

	CHECK(build(path, &module, NULL));
	kernel = make_kernel(module, "spin");
	CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof steps, &steps));
	for (unsigned i = 0; i < count; i++) {
		CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
		CHECK(zeEventHostSynchronize(event, UINT64_MAX));
		CHECK(zeEventHostReset(event));
	}
	CHECK(zeCommandListDestroy(list));
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeModuleDestroy(module));
	CHECK(zeEventDestroy(event));
	CHECK(zeMemFree(context, out));
}

/* Read the group size attributes in the source of the kernel. */
static void tell_attributes(const char *path, const char *name)
{
	char text[200] = "", *at = text;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	uint32_t bytes = 0;

	CHECK(build(path, &module, NULL));
	kernel = make_kernel(module, name);
	CHECK(zeKernelGetSourceAttributes(kernel, &bytes, NULL));
	EXPECT(bytes <= sizeof text);
	CHECK(zeKernelGetSourceAttributes(kernel, &bytes, &at));
	printf("%s\n", text);
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeModuleDestroy(module));
}

/* Devices, errors, clocks ----------------------------------------------------------------- */

static void tell_devices(void)
{
	ze_device_properties_t about = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
	ze_device_handle_t all[8], tiles[4];
	uint32_t count = 8;

	CHECK(zeDeviceGet(driver, &count, all));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parts = 4;
		CHECK(zeDeviceGetProperties(all[i], &about));
		CHECK(zeDeviceGetSubDevices(all[i], &parts, tiles));
		printf("%s: %u tiles, %" PRIu64 " ticks a second, %u bits\n", about.name, parts,
		       about.timerResolution, about.kernelTimestampValidBits);
		for (uint32_t k = 0; k < parts; k++) {
			CHECK(zeDeviceGetProperties(tiles[k], &about));
			EXPECT(about.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
			EXPECT(about.subdeviceId == k);
		}
	}
}

/* Print the properties that programs query before they compute anything. */
static void tell_system(void)
{
	ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	zes_device_properties_t about = {.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};
	zes_mem_state_t state = {.stype = ZES_STRUCTURE_TYPE_MEM_STATE};
	zes_device_handle_t system = (zes_device_handle_t)device;
	zes_mem_handle_t module;
	uint32_t one = 1, fans = 7, groups = 7;
	void *memory;

	CHECK(zesDeviceGetProperties(system, &about));
	CHECK(zesDeviceEnumMemoryModules(system, &one, &module));
	CHECK(zesMemoryGetState(module, &state));
	printf("%s: %" PRIu64 " MiB, %" PRIu64 " free", about.core.name, state.size >> 20,
	       state.free >> 20);
	CHECK(zeMemAllocDevice(context, &desc, 64 << 20, 64, device, &memory));
	CHECK(zesMemoryGetState(module, &state));
	CHECK(zesDeviceEnumFans(system, &fans, NULL));
	CHECK(zetMetricGroupGet((zet_device_handle_t)device, &groups, NULL));
	printf(", then %" PRIu64 "; %u fans, %u groups of metrics\n", state.free >> 20, fans,
	       groups);
	CHECK(zeMemFree(context, memory));
}

static void tell(const char *what, ze_result_t status)
{
	printf("%s: %#x\n", what, (unsigned)status);
}

static void try_errors(void)
{
	ze_command_list_handle_t copies = make_list(1), list = make_list(0);
	ze_command_queue_handle_t queue = make_queue(0);
	ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_event_handle_t event = make_event();
	ze_command_list_handle_t lost = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	int number = 0;
	void *memory;

	tell("no handle", zeCommandListClose(NULL));
	tell("handle of another kind", zeCommandListClose((ze_command_list_handle_t)device));
	tell("too much memory",
	     zeMemAllocDevice(context, &desc, UINT64_C(1) << 41, 64, device, &memory));
	tell("free of a stranger", zeMemFree(context, &number));
	tell("list that is open", zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	CHECK(zeCommandListClose(copies));
	tell("list of another engine", zeCommandQueueExecuteCommandLists(queue, 1, &copies, NULL));
	tell("append to a closed list", zeCommandListAppendBarrier(copies, NULL, 0, NULL));
	tell("stamp of an event that is not done",
	     zeEventQueryKernelTimestamp(event, &(ze_kernel_timestamp_result_t){0}));
	CHECK(zeCommandListAppendMemoryCopy(lost, &number, (void *)8, 4, event, 0, NULL));
	tell("copy from nowhere", zeEventHostSynchronize(event, UINT64_MAX));
	CHECK(zeCommandListDestroy(lost));
	CHECK(zeCommandListDestroy(copies));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
	CHECK(zeEventDestroy(event));
	tell("list that was destroyed", zeCommandListClose(list));
	tell("event that was destroyed", zeEventDestroy(event));
}

static void tell_stamps(void)
{
	ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	ze_event_handle_t event = make_event();
	ze_kernel_timestamp_result_t times;
	uint64_t host[2], ticks[2];
	char *bytes = allocate(100);

	CHECK(zeDeviceGetGlobalTimestamps(device, &host[0], &ticks[0]));
	CHECK(zeCommandListAppendMemoryFill(list, bytes, "a", 1, 100, event, 0, NULL));
	CHECK(zeDeviceGetGlobalTimestamps(device, &host[1], &ticks[1]));
	CHECK(zeEventQueryKernelTimestamp(event, &times));
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", host[0],
	       ticks[0], times.global.kernelStart, times.global.kernelEnd, host[1], ticks[1]);
	CHECK(zeCommandListDestroy(list));
	CHECK(zeEventDestroy(event));
	CHECK(zeMemFree(context, bytes));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
	struct counter_based_pool_desc counters = {.stype = 0x20014, .flags = 1};

	start();
	if (!strcmp(what, "memory"))
		try_memory();
	else if (!strcmp(what, "addresses"))
		try_addresses();
	else if (!strcmp(what, "events")) {
		try_waits();
		try_stamps();
	} else if (!strcmp(what, "counters"))
		try_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, &counters);
	else if (!strcmp(what, "shared"))
		try_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC, NULL);
	else if (!strcmp(what, "kernels"))
		try_kernels(path);
	else if (!strcmp(what, "several"))
		try_several(path);
	else if (!strcmp(what, "log"))
		tell_log(path);
	else if (!strcmp(what, "launches"))
		launch_many(path, argc > 3 ? (unsigned)atoi(argv[3]) : 1);
	else if (!strcmp(what, "devices"))
		tell_devices();
	else if (!strcmp(what, "system"))
		tell_system();
	else if (!strcmp(what, "attributes") && argc > 3)
		tell_attributes(path, argv[3]);
	else if (!strcmp(what, "errors"))
		try_errors();
	else if (!strcmp(what, "stamps"))
		tell_stamps();
	else
		return 2;
	stop();
	return 0;
}
