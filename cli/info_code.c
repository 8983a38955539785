// SPDX-License-Identifier: MIT
/* Code objects and kernel symbols, see info_code.h. Numbers of a kernel are what its code asks for. */
#include "cli/info_code.h"

#include <stdlib.h>
#include <string.h>

#include "record/operation.h"
#include "util/demangle.h"

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static const struct grid_column code_columns[] = {
	{ "pid", "pid", GRID_ID, GRID_ALWAYS, 0, false },
	{ "code", "code", GRID_ID, GRID_ALWAYS, 0, false },
	{ "device", "device", GRID_ID, GRID_ALWAYS, 0, false },
	{ "kernels", "kernels", GRID_COUNT, GRID_ALWAYS, 0, false },
	{ "bytes", "size", GRID_BYTES, GRID_ALWAYS, 3, false },
	{ "load_base", "loaded at", GRID_TEXT, GRID_ALWAYS, 4, false },
	{ "loaded_ns", "from", GRID_NS, GRID_ALWAYS, 0, false },
	{ "unloaded_ns", "until", GRID_NS, GRID_IF_ANY, 0, false },
	{ "storage", "storage", GRID_TEXT, GRID_DATA, 0, false },
	{ "uri", "from where", GRID_TEXT, GRID_ALWAYS, 5, false },
};

static const struct grid_column kernel_columns[] = {
	{ "pid", "pid", GRID_ID, GRID_ALWAYS, 0, false },
	{ "code", "code", GRID_ID, GRID_ALWAYS, 0, false },
	{ "device", "device", GRID_ID, GRID_IF_DIFFER, 0, false },
	{ "kernarg_bytes", "arguments", GRID_BYTES, GRID_ALWAYS, 3, false },
	{ "group_bytes", "local memory", GRID_BYTES, GRID_IF_ANY, 0, false },
	{ "private_bytes", "scratch", GRID_BYTES, GRID_IF_ANY, 0, false },
	{ "vgprs", "VGPRs", GRID_COUNT, GRID_IF_ANY, 4, false },
	{ "sgprs", "SGPRs", GRID_COUNT, GRID_IF_ANY, 4, false },
	{ "vgpr_granules", "vgpr granules", GRID_COUNT, GRID_DATA, 0, false },
	{ "sgpr_granules", "sgpr granules", GRID_COUNT, GRID_DATA, 0, false },
	{ "loaded_ns", "from", GRID_NS, GRID_DATA, 0, false },
	{ "unloaded_ns", "until", GRID_NS, GRID_DATA, 0, false },
	{ "object", "kernel object", GRID_TEXT, GRID_DATA, 0, false },
	{ "mangled", "symbol", GRID_TEXT, GRID_DATA, 0, false },
	{ "name", "name", GRID_TEXT, GRID_ALWAYS, 0, false },
};

static struct grid_cell since(uint64_t start_ns, uint64_t ns)
{
	return ns ? cell_count(ns > start_ns ? ns - start_ns : 0) : cell_none();
}

static struct grid_cell number(const struct gt_object_info *o, const char *key)
{
	const char *text = gt_object_value(o, key);

	return text ? cell_count(strtoull(text, NULL, 0)) : cell_none();
}

static struct grid_cell address(struct grid *g, uint64_t value)
{
	return cell_text(grid_keep(g, "0x%llx", (unsigned long long)value));
}

static struct grid_cell pid_of(const struct gt_capture *capture, const struct gt_object_info *o)
{
	const struct gt_process_info *p = gt_capture_process(capture, o->process);

	return p ? cell_count(p->pid) : cell_none();
}

static const struct gt_object_info *find_device(const struct gt_capture *capture, const struct gt_object_info *code)
{
	return code ? gt_capture_object_find(capture, code->process, GT_OBJECT_DEVICE, code->parent) : NULL;
}

/* Descriptors count registers in granules, whose size is the processor's. Empty where it also depends on the wave's size. */
static struct grid_cell registers(const struct gt_object_info *kernel, const struct gt_object_info *device, const char *key, bool vector)
{
	const char *isa = device ? gt_object_value(device, "isa") : NULL, *text = gt_object_value(kernel, key);
	bool gfx9 = isa && !strncmp(isa, "gfx9", 4) && strlen(isa) == 6, large = gfx9 && (!strcmp(isa, "gfx90a") || isa[4] >= '4');

	return gfx9 && text ? cell_count(strtoull(text, NULL, 0) * (vector && !large ? 4 : 8)) : cell_none();
}

static struct grid_cell device_of(const struct gt_capture *capture, const struct gt_object_info *code)
{
	const struct gt_object_info *device = find_device(capture, code);

	return device && device->device_index != UINT32_MAX ? cell_count(device->device_index) : cell_none();
}

/* Objects lie sorted by process and type; @at: where the kernels of the process begin to be looked for. */
static uint64_t kernels_in(const struct gt_capture *capture, const struct gt_object_info *code, size_t at)
{
	uint64_t count = 0;
	const struct gt_object_info *o;

	for (; (o = gt_capture_object(capture, at)) != NULL && o->process == code->process && o->type <= GT_OBJECT_KERNEL_SYMBOL; at++)
		count += o->type == GT_OBJECT_KERNEL_SYMBOL && o->parent == code->number;
	return count;
}

void info_code_objects(struct grid *g, const struct gt_capture *capture, uint64_t start_ns)
{
	grid_init(g, "code_objects", code_columns, COUNT_OF(code_columns));
	g->heading = "Device code that was loaded";
	for (size_t k = 0; k < gt_capture_object_count(capture); k++) {
		const struct gt_object_info *o = gt_capture_object(capture, k);
		const char *base = gt_object_value(o, "load_base");
		struct grid_cell *cell;
		if (o->type != GT_OBJECT_CODE_OBJECT)
			continue;
		cell = grid_row(g);
		*cell++ = pid_of(capture, o);
		*cell++ = cell_count(o->number);
		*cell++ = device_of(capture, o);
		*cell++ = cell_count(kernels_in(capture, o, k + 1));
		*cell++ = number(o, "load_bytes");
		*cell++ = base ? address(g, strtoull(base, NULL, 0)) : cell_none();
		*cell++ = since(start_ns, o->begin_ns);
		*cell++ = since(start_ns, o->end_ns);
		*cell++ = cell_text(gt_object_value(o, "storage"));
		*cell++ = cell_text(gt_object_value(o, "uri"));
	}
}

void info_kernel_symbols(struct grid *g, const struct gt_capture *capture, uint64_t start_ns)
{
	grid_init(g, "kernel_symbols", kernel_columns, COUNT_OF(kernel_columns));
	g->heading = "Kernels in it, and what their code asks for";
	for (size_t k = 0; k < gt_capture_object_count(capture); k++) {
		const struct gt_object_info *o = gt_capture_object(capture, k);
		const char *name = gt_object_value(o, "name");
		const struct gt_object_info *code;
		struct grid_cell *cell;
		char *readable;
		if (o->type != GT_OBJECT_KERNEL_SYMBOL)
			continue;
		code = gt_capture_object_find(capture, o->process, GT_OBJECT_CODE_OBJECT, o->parent);
		cell = grid_row(g);
		*cell++ = pid_of(capture, o);
		*cell++ = cell_count(o->parent);
		*cell++ = device_of(capture, code);
		*cell++ = number(o, "kernarg_bytes");
		*cell++ = number(o, "group_bytes");
		*cell++ = number(o, "private_bytes");
		*cell++ = registers(o, find_device(capture, code), "vgpr_granules", true);
		*cell++ = registers(o, find_device(capture, code), "sgpr_granules", false);
		*cell++ = number(o, "vgpr_granules");
		*cell++ = number(o, "sgpr_granules");
		*cell++ = since(start_ns, o->begin_ns);
		*cell++ = since(start_ns, o->end_ns);
		*cell++ = address(g, o->handle);
		*cell++ = cell_text(name);
		readable = name ? gt_demangle(name) : NULL;
		*cell++ = cell_text(readable ? grid_keep(g, "%s", readable) : name);
		free(readable);
	}
}
