/* SPDX-License-Identifier: MIT */
/* lz_loader HOW DRIVER.so [OTHER.so]: a program that itself gets the tables from drivers, as
 * loaders of version 1.15 do.
 *
 *   handles    also queries whether the driver's handles have their own tables (DDI handles), as
 *              loaders since 2025 do if there are several drivers, and prints the answer; if so,
 *              calls through those tables
 *   strangers  passes each driver events, kernels and pools of the other driver, and NULL
 *   unknown    calls unknown entries in the table of fences
 *   versions   requests versions that do not exist, and a table at NULL
 *
 * Prints statuses. Built against Debian's libze-dev. */
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = ZE_MAKE_VERSION(1, 15), ENTRIES = 256, DDI_HANDLES_PROPERTIES = 0x20027 };

/* Positions in the tables that a handle points to, as in loader 1.32. */
enum {
	GLOBAL = 5,
	DRIVER = 6,
	DEVICE = 8,
	CONTEXT = 10,
	LIST = 12,
	MEM = 16,
	FENCE = 18,
	POOL = 19,
	EVENT = 20,
	MODULE = 22,
	KERNEL = 24,
	TABLES = 40
};
static const char *const parts[TABLES] = {
	[GLOBAL] = "Global",    [DRIVER] = "Driver", [DEVICE] = "Device", [CONTEXT] = "Context",
	[LIST] = "CommandList", [MEM] = "Mem",       [FENCE] = "Fence",   [POOL] = "EventPool",
	[EVENT] = "Event",      [MODULE] = "Module", [KERNEL] = "Kernel"};
enum { DEFAULT_CONTEXT = 8, UNKNOWN = 10, FAR = 20 /* entries */ };

typedef ze_result_t get_table_fn(ze_api_version_t, void *);

struct one {
	void *library;
	void *tables[TABLES][ENTRIES];
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_command_list_handle_t list;
	ze_event_pool_handle_t pool;
	ze_event_handle_t event;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
};
static struct one ones[2];

#define T(o, part, type) ((type *)(void *)(o)->tables[part])
#define LISTS(o)         T(o, LIST, ze_command_list_dditable_t)
#define EVENTS(o)        T(o, EVENT, ze_event_dditable_t)

static void check(ze_result_t status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "%s: 0x%x\n", what, (unsigned)status);
	exit(1);
}

static get_table_fn *find_getter(struct one *o, unsigned part)
{
	get_table_fn *get = NULL;
	char name[64];

	snprintf(name, sizeof name, "zeGet%sProcAddrTable", parts[part]);
	if (o->library)
		*(void **)&get = dlsym(o->library, name);
	if (!get)
		check(ZE_RESULT_ERROR_UNINITIALIZED, name);
	return get;
}

static void load(struct one *o, const char *path)
{
	uint32_t count = 1;

	o->library = dlopen(path, RTLD_NOW);
	for (unsigned i = 0; i < TABLES; i++)
		if (parts[i])
			check(find_getter(o, i)((ze_api_version_t)VERSION, o->tables[i]), parts[i]);
	check(T(o, GLOBAL, ze_global_dditable_t)->pfnInit(0), "zeInit");
	check(T(o, DRIVER, ze_driver_dditable_t)->pfnGet(&count, &o->driver), "zeDriverGet");
}

static unsigned use_tables_of_handles(struct one *o)
{
	struct {
		uint32_t type;
		void *next;
		uint32_t flags;
	} handles = {DDI_HANDLES_PROPERTIES, NULL, 0};
	ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
					     .pNext = &handles};
	void **core;

	check(T(o, DRIVER, ze_driver_dditable_t)->pfnGetProperties(o->driver, &properties),
	      "zeDriverGetProperties");
	core = handles.flags ? *(void ***)o->driver : NULL;
	for (unsigned i = 0; core && i < TABLES; i++)
		if (parts[i])
			memcpy(o->tables[i], core[i], 128 * sizeof(void *));
	return handles.flags;
}

static void make_list(struct one *o)
{
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	uint32_t count = 1;

	check(T(o, DEVICE, ze_device_dditable_t)->pfnGet(o->driver, &count, &o->device),
	      "zeDeviceGet");
	o->context =
		((ze_context_handle_t(*)(ze_driver_handle_t))o->tables[DRIVER][DEFAULT_CONTEXT])(
			o->driver);
	check(LISTS(o)->pfnCreateImmediate(o->context, o->device, &queue, &o->list), "list");
}

static void run_handles(struct one *o)
{
	printf("handles have tables: %u\n", use_tables_of_handles(o));
	make_list(o);
	for (int i = 0; i < 5; i++)
		check(LISTS(o)->pfnAppendBarrier(o->list, NULL, 0, NULL), "append");
	check(LISTS(o)->pfnDestroy(o->list), "destroy");
}

/* Strangers ------------------------------------------------------------------------------- */

static void make_objects(struct one *o)
{
	ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 4};
	ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
	ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
	ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "scale"};

	make_list(o);
	check(T(o, POOL, ze_event_pool_dditable_t)->pfnCreate(o->context, &pool, 0, NULL, &o->pool),
	      "pool");
	check(EVENTS(o)->pfnCreate(o->pool, &event, &o->event), "event");
	check(T(o, MODULE, ze_module_dditable_t)
		      ->pfnCreate(o->context, o->device, &module, &o->module, NULL),
	      "module");
	check(T(o, KERNEL, ze_kernel_dditable_t)->pfnCreate(o->module, &kernel, &o->kernel),
	      "kernel");
}

static void give(struct one *o, const char *what, ze_command_list_handle_t list,
		 ze_kernel_handle_t kernel, ze_event_handle_t event)
{
	static const uint64_t pattern;
	static uint64_t to[4];
	ze_group_count_t groups = {0, 0, 0};
	unsigned status[] = {
		LISTS(o)->pfnAppendLaunchKernel(list, kernel, &groups, event, 0, NULL),
		LISTS(o)->pfnAppendBarrier(list, event, 0, NULL),
		LISTS(o)->pfnAppendMemoryFill(list, to, &pattern, sizeof pattern, sizeof to, event,
					      0, NULL),
		event && list ? EVENTS(o)->pfnHostSynchronize(event, UINT64_MAX) : 0,
		EVENTS(o)->pfnQueryStatus(event),
	};

	printf("%s:", what);
	for (unsigned i = 0; i < sizeof status / sizeof *status; i++)
		printf(" 0x%x", status[i]);
	printf("\n");
}

static void run_strangers(struct one *a, struct one *b)
{
	make_objects(a);
	make_objects(b);
	give(a, "own", a->list, a->kernel, a->event);
	give(a, "event of the other", a->list, a->kernel, b->event);
	give(b, "kernel of the other", b->list, a->kernel, b->event);
	give(a, "no kernel", a->list, NULL, a->event);
	give(a, "no list", NULL, a->kernel, a->event);
	give(a, "nothing", NULL, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		struct one *o = i ? b : a, *other = i ? a : b;

		check(LISTS(o)->pfnDestroy(o->list), "list");
		check(EVENTS(o)->pfnDestroy(other->event), "event");
		check(T(o, KERNEL, ze_kernel_dditable_t)->pfnDestroy(other->kernel), "kernel");
		check(T(o, POOL, ze_event_pool_dditable_t)->pfnDestroy(other->pool), "pool");
	}
}

/* Tables ---------------------------------------------------------------------------------- */

static void run_unknown(struct one *o)
{
	typedef ze_context_handle_t unknown_fn(ze_driver_handle_t);

	for (int i = 0; i < 3; i++) {
		ze_context_handle_t a = ((unknown_fn *)o->tables[FENCE][UNKNOWN])(o->driver),
				    b = ((unknown_fn *)o->tables[FENCE][FAR])(o->driver);

		printf("unknown: %d\n", a && a == b);
	}
}

static void run_versions(const char *path)
{
	static const unsigned versions[] = {
		0,       ZE_MAKE_VERSION(0, 9), ZE_MAKE_VERSION(1, 0), ZE_MAKE_VERSION(1, 4),
		VERSION, ZE_MAKE_VERSION(2, 0)};
	struct one *o = &ones[0];

	o->library = dlopen(path, RTLD_NOW);
	for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++) {
		void *table[ENTRIES] = {NULL};
		unsigned status = find_getter(o, LIST)((ze_api_version_t)versions[i], table),
			 count = 0;

		for (unsigned k = 0; k < ENTRIES; k++)
			count += table[k] != NULL;
		printf("0x%x: 0x%x, %u entries\n", versions[i], status, count);
	}
	printf("NULL: 0x%x\n", find_getter(o, LIST)((ze_api_version_t)VERSION, NULL));
}

int main(int argc, char **argv)
{
	const char *how = argv[1];

	if (strcmp(how, "versions") == 0) {
		run_versions(argv[2]);
		return 0;
	}
	for (int i = 2; i < argc; i++)
		load(&ones[i - 2], argv[i]);
	if (strcmp(how, "handles") == 0)
		run_handles(&ones[0]);
	else if (strcmp(how, "strangers") == 0)
		run_strangers(&ones[0], &ones[1]);
	else
		run_unknown(&ones[0]);
	return 0;
}
