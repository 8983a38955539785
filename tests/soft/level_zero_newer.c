/* SPDX-License-Identifier: MIT */
/* Tests functions of the software driver that Debian 12's loader does not know, obtained from the
 * driver's tables as a current loader does. level_zero_newer DRIVER WHAT [KERNELS]; prints failed
 * checks. */
#include <dlfcn.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/level_zero_newer.h"

#define EXPECT(condition)                                                 \
	do {                                                              \
		if (!(condition)) {                                       \
			printf("%d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                          \
		}                                                         \
	} while (0)
#define CHECK(call) EXPECT((call) == ZE_RESULT_SUCCESS)

/* Declare each table as a structure. */
#define TABLE(export)         \
	struct export##_table \
	{
#define HAS(since, name)   __typeof__(&name) name;
#define NEWER(since, name) __typeof__(&newer_##name) name;
#define LACKS(since, name) ze_result_t (*name)(void);
#define END \
	}   \
	;
#define REFUSED(export, ...)
#include "soft/level_zero/driver_tables.inc"

static struct zeGetGlobalProcAddrTable_table global;
static struct zeGetDriverProcAddrTable_table drivers;
static struct zeGetDeviceProcAddrTable_table devices;
static struct zeGetCommandQueueProcAddrTable_table queues;
static struct zeGetCommandListProcAddrTable_table lists;
static struct zeGetCommandListExpProcAddrTable_table lists_exp;
static struct zeGetMemProcAddrTable_table memory;
/* for tracers, because loaders request all tables */
static struct zeGetEventPoolProcAddrTable_table pools;
static struct zeGetEventProcAddrTable_table events;
static struct zeGetModuleProcAddrTable_table modules;
static struct zeGetKernelProcAddrTable_table kernels;

typedef ze_result_t (*fill_function)(ze_api_version_t version, void *table);

static void *library;
static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static fill_function find(const char *name)
{
	fill_function fill;

	*(void **)&fill = dlsym(library, name);
	EXPECT(fill);
	return fill;
}

#define FILL(table, name) CHECK(find(name)((ze_api_version_t)NEWER_API_VERSION, &(table)))

static void start(void)
{
	uint32_t count = 1;

	FILL(global, "zeGetGlobalProcAddrTable");
	FILL(drivers, "zeGetDriverProcAddrTable");
	FILL(devices, "zeGetDeviceProcAddrTable");
	FILL(queues, "zeGetCommandQueueProcAddrTable");
	FILL(lists, "zeGetCommandListProcAddrTable");
	FILL(lists_exp, "zeGetCommandListExpProcAddrTable");
	FILL(memory, "zeGetMemProcAddrTable");
	FILL(pools, "zeGetEventPoolProcAddrTable");
	FILL(events, "zeGetEventProcAddrTable");
	FILL(modules, "zeGetModuleProcAddrTable");
	FILL(kernels, "zeGetKernelProcAddrTable");
	CHECK(global.zeInitDrivers(&count, &driver, NULL));
	count = 1;
	CHECK(devices.zeDeviceGet(driver, &count, &device));
	context = drivers.zeDriverGetDefaultContext(driver);
	EXPECT(context);
}

static uint32_t *allocate(void)
{
	ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	void *out;

	CHECK(memory.zeMemAllocHost(context, &desc, 4096, 0, &out));
	return memset(out, 0, 4096);
}

static uint32_t list_flags; /* flags of immediate lists */

static ze_command_list_handle_t make_immediate(void)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.flags = list_flags};
	ze_command_list_handle_t list;

	CHECK(lists.zeCommandListCreateImmediate(context, device, &desc, &list));
	return list;
}

static ze_command_list_handle_t make_list(const void *next)
{
	ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .pNext = next};
	ze_command_list_handle_t list;

	CHECK(lists.zeCommandListCreate(context, device, &desc, &list));
	return list;
}

static bool without_times; /* events of make_event() */

static ze_event_handle_t make_event(void)
{
	struct newer_counter_based_desc desc = {
		.flags = without_times ? 0 : NEWER_COUNTER_DEVICE_TIMES};
	ze_event_handle_t event;

	CHECK(events.zeEventCounterBasedCreate(context, device, &desc, &event));
	return event;
}

/* The driver fills as many entries as the table in the installed headers has. In releases 1.8 and
 * 1.11 the tables are longer than other tables of the same version. */
static void compare(const char *name, size_t bytes)
{
	unsigned minor = ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT), filled = 0;
	void *table[128] = {NULL};

	CHECK(find(name)(ZE_API_VERSION_CURRENT, table));
	while (table[filled])
		filled++;
	EXPECT(filled * sizeof *table <= bytes);
	EXPECT(filled * sizeof *table == bytes || minor == 8 || minor == 11);
}

static void compare_with_headers(void)
{
	if (ZE_API_VERSION_CURRENT > (int)NEWER_API_VERSION)
		return;
	compare("zeGetGlobalProcAddrTable", sizeof(ze_global_dditable_t));
	compare("zeGetDriverProcAddrTable", sizeof(ze_driver_dditable_t));
	compare("zeGetDeviceProcAddrTable", sizeof(ze_device_dditable_t));
	compare("zeGetContextProcAddrTable", sizeof(ze_context_dditable_t));
	compare("zeGetCommandQueueProcAddrTable", sizeof(ze_command_queue_dditable_t));
	compare("zeGetCommandListProcAddrTable", sizeof(ze_command_list_dditable_t));
	compare("zeGetEventProcAddrTable", sizeof(ze_event_dditable_t));
	compare("zeGetEventPoolProcAddrTable", sizeof(ze_event_pool_dditable_t));
	compare("zeGetMemProcAddrTable", sizeof(ze_mem_dditable_t));
	compare("zeGetModuleProcAddrTable", sizeof(ze_module_dditable_t));
	compare("zeGetKernelProcAddrTable", sizeof(ze_kernel_dditable_t));
	compare("zetGetDebugProcAddrTable", sizeof(zet_debug_dditable_t));
	compare("zetGetMetricGroupProcAddrTable", sizeof(zet_metric_group_dditable_t));
	compare("zesGetDeviceProcAddrTable", sizeof(zes_device_dditable_t));
	compare("zesGetPowerProcAddrTable", sizeof(zes_power_dditable_t));
	compare("zesGetFrequencyProcAddrTable", sizeof(zes_frequency_dditable_t));
}

/* Check that a table of an older version is filled up to the end of that version. */
static void try_versions(void)
{
	enum { ENTRIES = 128 };
	void *table[ENTRIES];
	static const struct {
		unsigned minor, entries;
	} steps[] = {{0, 26}, {5, 28}, {6, 29}, {9, 34}, {12, 36}, {14, 38}, {17, 52}};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		unsigned filled = 0;
		memset(table, 0, sizeof table);
		CHECK(find("zeGetCommandListProcAddrTable")(
			(ze_api_version_t)ZE_MAKE_VERSION(1, steps[i].minor), table));
		while (filled < ENTRIES && table[filled])
			filled++;
		EXPECT(filled == steps[i].entries);
		for (unsigned k = filled; k < ENTRIES; k++)
			EXPECT(!table[k]);
	}
	EXPECT(find("zeGetDriverProcAddrTable")((ze_api_version_t)ZE_MAKE_VERSION(2, 0), table) ==
	       ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
	EXPECT(lists.zeCommandListBeginGraphCaptureExt() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

static void wait_for_gate(void *data)
{
	while (!__atomic_load_n((uint32_t *)data, __ATOMIC_ACQUIRE))
		;
}

/* Check that an event in a list that runs twice is done when the last run is done, and that a wait
 * refers to the commands that were appended before the wait. */
static void try_counters(void)
{
	ze_command_list_handle_t one = make_immediate(), list = make_list(NULL), two;
	ze_event_handle_t event = make_event(), gate = make_event();
	uint32_t *data = allocate(), number = 7;
	ze_kernel_timestamp_result_t times;

	two = make_immediate();
	CHECK(lists.zeCommandListAppendHostFunction(one, wait_for_gate, data, NULL, gate, 0, NULL));
	CHECK(lists.zeCommandListAppendMemoryCopy(list, data + 1, &number, 4, event, 1, &gate));
	CHECK(lists.zeCommandListClose(list));
	CHECK(lists_exp.zeCommandListImmediateAppendCommandListsExp(two, 1, &list, NULL, 0, NULL));
	EXPECT(events.zeEventQueryStatus(event) == ZE_RESULT_NOT_READY);
	EXPECT(lists.zeCommandListHostSynchronize(two, 1000000) == ZE_RESULT_NOT_READY);
	__atomic_store_n(data, 1, __ATOMIC_RELEASE);
	CHECK(events.zeEventHostSynchronize(event, UINT64_MAX));
	EXPECT(data[1] == 7);
	CHECK(events.zeEventQueryKernelTimestamp(event, &times));
	EXPECT(times.global.kernelStart < times.global.kernelEnd);
	__atomic_store_n(data, 0, __ATOMIC_RELEASE);
	CHECK(lists.zeCommandListAppendHostFunction(two, wait_for_gate, data, NULL, NULL, 0, NULL));
	CHECK(lists_exp.zeCommandListImmediateAppendCommandListsExp(two, 1, &list, NULL, 0, NULL));
	/* the second run is in progress */
	EXPECT(events.zeEventQueryStatus(event) == ZE_RESULT_NOT_READY);
	__atomic_store_n(data, 1, __ATOMIC_RELEASE);
	CHECK(devices.zeDeviceSynchronize(device));
	CHECK(events.zeEventQueryStatus(event));
	CHECK(lists.zeCommandListDestroy(one));
	CHECK(lists.zeCommandListDestroy(two));
	CHECK(lists.zeCommandListDestroy(list));
	CHECK(events.zeEventDestroy(event));
	CHECK(events.zeEventDestroy(gate));
	CHECK(memory.zeMemFree(context, data));
}

static ze_event_handle_t make_regular_event(ze_event_pool_handle_t *pool)
{
	ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
				     .count = 1};
	ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
	ze_event_handle_t event;

	CHECK(pools.zeEventPoolCreate(context, &desc, 1, &device, pool));
	CHECK(events.zeEventCreate(*pool, &event_desc, &event));
	return event;
}

/* Reuse an event while the command of its first use has not started, as SYCL does. The second use
 * ends first: the host and later waiters see the second use; earlier waiters wait for the first
 * use. */
static void try_again(void)
{
	ze_command_list_handle_t one = make_immediate(), two = make_immediate(),
				 three = make_immediate();
	ze_event_handle_t event = make_event(), last = make_event(), gate;
	ze_kernel_timestamp_result_t times, times_later;
	ze_event_pool_handle_t pool;
	uint32_t *data = allocate();

	gate = make_regular_event(&pool);
	data[0] = 7;
	CHECK(lists.zeCommandListAppendMemoryCopy(one, data + 1, data, 4, event, 1, &gate));
	CHECK(lists.zeCommandListAppendMemoryCopy(two, data + 2, data + 1, 4, last, 1, &event));
	CHECK(lists.zeCommandListAppendMemoryCopy(three, data + 3, data, 4, event, 0, NULL));
	CHECK(lists.zeCommandListAppendMemoryCopy(three, data + 4, data + 3, 4, NULL, 1, &event));
	CHECK(events.zeEventHostSynchronize(event, UINT64_MAX));
	CHECK(lists.zeCommandListHostSynchronize(three, UINT64_MAX));
	EXPECT(data[4] == 7);
	EXPECT(without_times || !events.zeEventQueryKernelTimestamp(event, &times));
	EXPECT(events.zeEventHostSynchronize(last, 20000000) == ZE_RESULT_NOT_READY);
	CHECK(events.zeEventHostSignal(gate));
	CHECK(events.zeEventHostSynchronize(last, UINT64_MAX));
	EXPECT(data[2] == 7);
	EXPECT(without_times || !events.zeEventQueryKernelTimestamp(event, &times_later));
	EXPECT(without_times || !memcmp(&times, &times_later, sizeof times));
	CHECK(lists.zeCommandListDestroy(one));
	CHECK(lists.zeCommandListDestroy(two));
	CHECK(lists.zeCommandListDestroy(three));
	CHECK(events.zeEventDestroy(event));
	CHECK(events.zeEventDestroy(last));
	CHECK(events.zeEventDestroy(gate));
	CHECK(pools.zeEventPoolDestroy(pool));
	CHECK(memory.zeMemFree(context, data));
}

/* Kernels ------------------------------------------------------------------------------ */

static ze_kernel_handle_t make_kernel(const char *path, const char *name,
				      ze_module_handle_t *module)
{
	static char text[1 << 16];
	ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				 .format = ZE_MODULE_FORMAT_NATIVE,
				 .pInputModule = (const uint8_t *)text};
	ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					.pKernelName = name};
	FILE *file = fopen(path, "rb");
	ze_kernel_handle_t kernel;

	EXPECT(file);
	desc.inputSize = fread(text, 1, sizeof text, file);
	fclose(file);
	CHECK(modules.zeModuleCreate(context, device, &desc, module, NULL));
	CHECK(kernels.zeKernelCreate(*module, &kernel_desc, &kernel));
	return kernel;
}

static void try_arguments(const char *path)
{
	ze_module_handle_t module;
	ze_kernel_handle_t kernel = make_kernel(path, "saxpy", &module);
	ze_command_list_handle_t list = make_immediate();
	uint32_t *data = allocate();
	float *y = (float *)data, *x = y + 64, a = 2;
	void *arguments[] = {&y, &x, &a};

	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	CHECK(lists.zeCommandListAppendLaunchKernelWithArguments(
		list, kernel, (ze_group_count_t){4, 1, 1}, (struct newer_group_size){16, 1, 1},
		arguments, NULL, NULL, 0, NULL));
	CHECK(lists.zeCommandListHostSynchronize(list, UINT64_MAX));
	for (int i = 0; i < 64; i++)
		EXPECT(y[i] == 2.0f * (float)i);
	CHECK(lists.zeCommandListDestroy(list));
	CHECK(kernels.zeKernelDestroy(kernel));
	CHECK(modules.zeModuleDestroy(module));
	CHECK(memory.zeMemFree(context, data));
}

static void run_list(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
	CHECK(lists.zeCommandListClose(list));
	CHECK(queues.zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	CHECK(queues.zeCommandQueueSynchronize(queue, UINT64_MAX));
}

/* Change one command between runs of its list: first an argument, then the group count. */
static void try_mutable(const char *path)
{
	struct newer_mutable_id about = {.flags = 0x7f},
				wanted = {NEWER_STYPE_MUTABLE_LIST, NULL, 0};
	ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	ze_module_handle_t module;
	ze_kernel_handle_t kernel = make_kernel(path, "saxpy", &module);
	ze_command_list_handle_t list = make_list(&wanted), plain = make_list(NULL);
	ze_group_count_t groups = {1, 1, 1}, more = {2, 1, 1};
	ze_command_queue_handle_t queue;
	uint32_t *data = allocate();
	float *y = (float *)data, *x = y + 64, a = 1, b = 10;
	struct newer_mutable_groups change_groups = {{NEWER_STYPE_MUTABLE_GROUPS, NULL, 0}, &more};
	struct newer_mutable_argument change = {{NEWER_STYPE_MUTABLE_ARGUMENT, NULL, 0},
						2,
						sizeof b,
						&b};
	struct newer_mutable_commands all = {0, &change, 0};
	uint64_t id;
	ze_bool_t is;

	CHECK(queues.zeCommandQueueCreate(context, device, &queue_desc, &queue));
	for (int i = 0; i < 64; i++)
		x[i] = 1;
	CHECK(kernels.zeKernelSetGroupSize(kernel, 32, 1, 1));
	CHECK(kernels.zeKernelSetArgumentValue(kernel, 0, sizeof y, &y));
	CHECK(kernels.zeKernelSetArgumentValue(kernel, 1, sizeof x, &x));
	CHECK(kernels.zeKernelSetArgumentValue(kernel, 2, sizeof a, &a));
	EXPECT(lists_exp.zeCommandListGetNextCommandIdExp(plain, &about, &id) != ZE_RESULT_SUCCESS);
	CHECK(lists_exp.zeCommandListGetNextCommandIdExp(list, &about, &id));
	CHECK(lists_exp.zeCommandListIsMutableExp(list, &is));
	EXPECT(is);
	CHECK(lists.zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	run_list(queue, list);
	EXPECT(y[0] == 1 && y[32] == 0);
	change.head.command = change_groups.head.command = id;
	change.head.pNext = &change_groups;
	CHECK(lists_exp.zeCommandListUpdateMutableCommandsExp(list, &all));
	run_list(queue, list);
	EXPECT(y[0] == 11 && y[32] == 10);
	change.head.command = id + 1;
	EXPECT(lists_exp.zeCommandListUpdateMutableCommandsExp(list, &all) ==
	       ZE_RESULT_ERROR_INVALID_ARGUMENT);
	CHECK(lists.zeCommandListDestroy(list));
	CHECK(lists.zeCommandListDestroy(plain));
	CHECK(queues.zeCommandQueueDestroy(queue));
	CHECK(kernels.zeKernelDestroy(kernel));
	CHECK(modules.zeModuleDestroy(module));
	CHECK(memory.zeMemFree(context, data));
}

/* Check that a command does not wait after its waits are removed. The event that it waited for is
 * never signalled. */
static void try_waits(void)
{
	struct newer_mutable_id about = {.flags = 0x7f},
				wanted = {NEWER_STYPE_MUTABLE_LIST, NULL, 0};
	ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	ze_command_list_handle_t list = make_list(&wanted);
	ze_command_queue_handle_t queue;
	ze_event_pool_handle_t pool;
	ze_event_handle_t event = make_regular_event(&pool), none = NULL;
	uint32_t *data = allocate();
	uint64_t id;

	CHECK(queues.zeCommandQueueCreate(context, device, &queue_desc, &queue));
	CHECK(lists_exp.zeCommandListGetNextCommandIdExp(list, &about, &id));
	CHECK(lists.zeCommandListAppendMemoryFill(list, data, "a", 1, 16, NULL, 1, &event));
	CHECK(lists_exp.zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, NULL));
	run_list(queue, list);
	EXPECT(data[0] == 0x61616161);
	CHECK(lists_exp.zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 1, &none));
	EXPECT(lists_exp.zeCommandListUpdateMutableCommandWaitEventsExp(list, id, 2, NULL) ==
	       ZE_RESULT_ERROR_INVALID_ARGUMENT);
	run_list(queue, list);
	CHECK(lists.zeCommandListDestroy(list));
	CHECK(queues.zeCommandQueueDestroy(queue));
	CHECK(events.zeEventDestroy(event));
	CHECK(pools.zeEventPoolDestroy(pool));
	CHECK(memory.zeMemFree(context, data));
}

/* Check that the times of an event on the host clock lie between the host's readings before and
 * after. */
static void try_times(void)
{
	struct newer_kernel_times kinds = {.stype = NEWER_STYPE_KERNEL_TIMES};
	ze_device_properties_t about = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
					.pNext = &kinds};
	ze_command_list_handle_t list = make_immediate();
	ze_event_handle_t event = make_event();
	ze_kernel_timestamp_result_t ticks;
	struct newer_host_times host;
	struct newer_event_times times = {.ticks = &ticks, .host = &host};
	uint64_t before, after, unused;
	uint32_t count = 0, *data = allocate();

	CHECK(devices.zeDeviceGetProperties(device, &about));
	EXPECT(kinds.flags == 3);
	CHECK(devices.zeDeviceGetGlobalTimestamps(device, &before, &unused));
	CHECK(lists.zeCommandListAppendMemoryFill(list, data, "a", 1, 4096, event, 0, NULL));
	CHECK(events.zeEventHostSynchronize(event, UINT64_MAX));
	CHECK(devices.zeDeviceGetGlobalTimestamps(device, &after, &unused));
	CHECK(events.zeEventQueryKernelTimestampsExt(event, device, &count, NULL));
	EXPECT(count == 1);
	CHECK(events.zeEventQueryKernelTimestampsExt(event, device, &count, &times));
	EXPECT(ticks.global.kernelStart != ticks.global.kernelEnd);
	/* a tick is 80 ns, and a duration is at least one */
	EXPECT(before <= host.global.start + 200 && host.global.start < host.global.end);
	EXPECT(host.global.end <= after);
	CHECK(events.zeEventDestroy(event));
	CHECK(lists.zeCommandListDestroy(list));
	CHECK(memory.zeMemFree(context, data));
}

/* Check that system management (zesInit()) reports the same device as the core API. */
static void try_system(void)
{
	struct zesGetGlobalProcAddrTable_table system;
	struct zesGetDriverProcAddrTable_table system_drivers;
	struct zesGetDeviceProcAddrTable_table system_devices;
	zes_device_handle_t found;
	zes_driver_handle_t one;
	uint32_t count = 1;

	FILL(system, "zesGetGlobalProcAddrTable");
	FILL(system_drivers, "zesGetDriverProcAddrTable");
	FILL(system_devices, "zesGetDeviceProcAddrTable");
	CHECK(system.zesInit(0));
	CHECK(system_drivers.zesDriverGet(&count, &one));
	CHECK(system_devices.zesDeviceGet(one, &count, &found));
	EXPECT(count == 1 && (void *)found == (void *)device);
	CHECK(system_devices.zesDeviceEnumPowerDomains(found, &count, NULL));
	EXPECT(count == 0);
	EXPECT(system_devices.zesDeviceReset() == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

/* Check that access attributes that a program sets for atomics are returned. */
static void try_atomics(void)
{
	struct zeGetMemExpProcAddrTable_table memory_exp;
	uint32_t *data = allocate(), flags = 0;

	FILL(memory_exp, "zeGetMemExpProcAddrTable");
	CHECK(memory_exp.zeMemSetAtomicAccessAttributeExp(context, device, data, 4096, 2));
	CHECK(memory_exp.zeMemGetAtomicAccessAttributeExp(context, device, data, 4096, &flags));
	EXPECT(flags == 2);
	EXPECT(memory_exp.zeMemSetAtomicAccessAttributeExp(context, device, &flags, 4, 2) ==
	       ZE_RESULT_ERROR_INVALID_ARGUMENT);
	CHECK(memory.zeMemFree(context, data));
}

/* Check that the compute engine fills with any pattern, the copy engine only with short
 * patterns. */
static void try_patterns(void)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.ordinal = 1};
	ze_command_list_handle_t list = make_immediate(), copies;
	char *data = (char *)allocate(), pattern[1024] = {0};

	pattern[1023] = 'x';
	CHECK(lists.zeCommandListAppendMemoryFill(list, data, pattern, 1024, 4096, NULL, 0, NULL));
	CHECK(lists.zeCommandListHostSynchronize(list, UINT64_MAX));
	EXPECT(data[1023] == 'x' && data[4095] == 'x' && !data[1024]);
	CHECK(lists.zeCommandListCreateImmediate(context, device, &desc, &copies));
	EXPECT(lists.zeCommandListAppendMemoryFill(copies, data, pattern, 1024, 4096, NULL, 0,
						   NULL) == ZE_RESULT_ERROR_INVALID_SIZE);
	CHECK(lists.zeCommandListDestroy(copies));
	CHECK(lists.zeCommandListDestroy(list));
	CHECK(memory.zeMemFree(context, data));
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "", *path = argc > 3 ? argv[3] : "";

	library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	EXPECT(library);
	start();
	if (!strcmp(what, "versions")) {
		try_versions();
		compare_with_headers();
	} else if (!strcmp(what, "times"))
		try_times();
	else if (!strcmp(what, "waits"))
		try_waits();
	else if (!strcmp(what, "system"))
		try_system();
	else if (!strcmp(what, "atomics"))
		try_atomics();
	else if (!strcmp(what, "patterns"))
		try_patterns();
	else if (!strcmp(what, "counters"))
		try_counters();
	else if (!strcmp(what, "again"))
		try_again();
	else if (!strcmp(what, "again in order")) { /* events as SYCL's adapter V2 creates them */
		list_flags = 2;                     /* ZE_COMMAND_QUEUE_FLAG_IN_ORDER */
		without_times = true;
		try_again();
	} else if (!strcmp(what, "arguments"))
		try_arguments(path);
	else if (!strcmp(what, "mutable"))
		try_mutable(path);
	else
		return 2;
	return 0;
}
