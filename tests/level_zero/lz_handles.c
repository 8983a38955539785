/* SPDX-License-Identifier: MIT */
/* lz_handles DRIVER.so: a program that calls a driver as loaders from 2025 on do where there are
 * several: it asks for the driver's tables, and whether its handles have tables of their own (DDI
 * handles); if so, it calls through those. Prints the driver's answer. Built against Debian's
 * libze-dev. */
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = ZE_MAKE_VERSION(1, 15), ENTRIES = 128, DDI_HANDLES_PROPERTIES = 0x20027 };

/* Places in what a handle leads to, as loader 1.32 has it. */
static const struct {
	unsigned place;
	const char *name;
} parts[] = {{5, "Global"},   {6, "Driver"},        {8, "Device"},
	     {10, "Context"}, {11, "CommandQueue"}, {12, "CommandList"},
	     {16, "Mem"},     {19, "EventPool"},    {20, "Event"}};
enum { PARTS = sizeof parts / sizeof *parts, TABLES = 40, DEFAULT_CONTEXT = 8 };

static void *tables[TABLES][ENTRIES];

static void check(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "%s: 0x%x\n", what, status);
	exit(1);
}

int main(int argc, char **argv)
{
	struct {
		uint32_t type;
		void *next;
		uint32_t flags;
	} handles = {DDI_HANDLES_PROPERTIES, NULL, 0};
	ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
					     .pNext = &handles};
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	ze_driver_dditable_t *drivers = (void *)tables[6];
	ze_command_list_dditable_t *lists;
	ze_context_handle_t context;
	ze_command_list_handle_t list;
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	uint32_t one = 1;
	void **core;

	for (unsigned i = 0; i < PARTS; i++) {
		char name[64];
		ze_result_t (*get)(ze_api_version_t, void **);

		snprintf(name, sizeof name, "zeGet%sProcAddrTable", parts[i].name);
		*(void **)&get = library ? dlsym(library, name) : NULL;
		check(!get || get((ze_api_version_t)VERSION, tables[parts[i].place]), name);
	}
	check(((ze_global_dditable_t *)tables[5])->pfnInit(0), "zeInit");
	check(drivers->pfnGet(&one, &driver), "zeDriverGet");
	check(drivers->pfnGetProperties(driver, &properties), "zeDriverGetProperties");
	printf("handles have tables: %u\n", handles.flags);
	core = handles.flags ? *(void ***)driver : NULL;
	for (unsigned i = 0; core && i < PARTS; i++)
		memcpy(tables[parts[i].place], core[parts[i].place], sizeof *tables);
	check(((ze_device_dditable_t *)tables[8])->pfnGet(driver, &one, &device), "zeDeviceGet");
	context = ((ze_context_handle_t(*)(ze_driver_handle_t))tables[6][DEFAULT_CONTEXT])(driver);
	lists = (void *)tables[12];
	check(lists->pfnCreateImmediate(context, device, &queue, &list), "create");
	for (int i = 0; i < 5; i++)
		check(lists->pfnAppendBarrier(list, NULL, 0, NULL), "append");
	check(lists->pfnDestroy(list), "destroy");
	return 0;
}
