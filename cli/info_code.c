/* SPDX-License-Identifier: MIT */
/* Tables of code objects and kernel symbols, see info_code.h. The numbers in a kernel's row are the
 * resources that its code requests. */
#include "cli/info_code.h"

#include <stdlib.h>
#include <string.h>

#include "record/operation.h"
#include "util/demangle.h"

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* Number of leading columns that are omitted if dispatches were not counted. */
enum { COUNTED_OF_OBJECT = 1, COUNTED_OF_KERNEL = 2 };

const struct grid_column info_code_object_columns[] = {
	{"dispatches", "dispatches", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 0, false},
	{"code", "code", GRID_ID, GRID_ALWAYS, 0, false},
	{"device", "device", GRID_ID, GRID_ALWAYS, 0, false},
	{"kernels", "kernels", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"bytes", "size", GRID_BYTES, GRID_ALWAYS, 3, false},
	{"load_base", "loaded at", GRID_TEXT, GRID_ALWAYS, 4, false},
	{"loaded_ns", "from", GRID_NS, GRID_ALWAYS, 0, false},
	{"unloaded_ns", "until", GRID_NS, GRID_IF_ANY, 0, false},
	{"storage", "storage", GRID_TEXT, GRID_DATA, 0, false},
	{"uri", "from where", GRID_TEXT, GRID_ALWAYS, 5, false},
};

const struct grid_column info_code_kernel_columns[] = {
	{"dispatches", "dispatches", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"symbols", "made", GRID_COUNT, GRID_DATA, 0, false},
	{"pid", "pid", GRID_ID, GRID_ALWAYS, 0, false},
	{"code", "code", GRID_ID, GRID_IF_ANY, 0, false},
	{"device", "device", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"kernarg_bytes", "arguments", GRID_BYTES, GRID_IF_ANY, 3, false},
	{"group_bytes", "local memory", GRID_BYTES, GRID_IF_ANY, 0, false},
	{"private_bytes", "scratch", GRID_BYTES, GRID_IF_ANY, 0, false},
	{"vgprs", "VGPRs", GRID_COUNT, GRID_IF_ANY, 4, false},
	{"sgprs", "SGPRs", GRID_COUNT, GRID_IF_ANY, 4, false},
	{"vgpr_granules", "vgpr granules", GRID_COUNT, GRID_DATA, 0, false},
	{"sgpr_granules", "sgpr granules", GRID_COUNT, GRID_DATA, 0, false},
	{"spill_bytes", "spilled", GRID_BYTES, GRID_IF_ANY, 0, false},
	{"registers", "registers", GRID_COUNT, GRID_IF_ANY, 0, false},
	{"simd", "SIMD", GRID_COUNT, GRID_IF_ANY, 0, false},
	{"loaded_ns", "from", GRID_NS, GRID_DATA, 0, false},
	{"unloaded_ns", "until", GRID_NS, GRID_DATA, 0, false},
	{"object", "kernel object", GRID_TEXT, GRID_DATA, 0, false},
	{"mangled", "symbol", GRID_TEXT, GRID_DATA, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static struct grid_cell since_start(const struct gt_capture *capture, uint64_t ns)
{
	uint64_t start_ns = gt_capture_session(capture)->start_ns;

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

static const struct gt_object_info *find_device(const struct gt_capture *capture,
						const struct gt_object_info *code)
{
	return code ? gt_capture_object_find(capture, code->process, GT_OBJECT_DEVICE, code->parent)
		    : NULL;
}

/* Compute a number of registers. Descriptors count registers in granules. The size of a granule
 * depends on the processor. If it also depends on the wave size, return an empty cell. */
static struct grid_cell registers(const struct gt_object_info *kernel,
				  const struct gt_object_info *device, const char *key, bool vector)
{
	const char *isa = device ? gt_object_value(device, "isa") : NULL,
		   *text = gt_object_value(kernel, key);
	bool gfx9 = isa && !strncmp(isa, "gfx9", 4) && strlen(isa) == 6,
	     large = gfx9 && (!strcmp(isa, "gfx90a") || isa[4] >= '4');

	return gfx9 && text ? cell_count(strtoull(text, NULL, 0) * (vector && !large ? 4 : 8))
			    : cell_none();
}

static struct grid_cell device_of(const struct gt_capture *capture,
				  const struct gt_object_info *code)
{
	const struct gt_object_info *device = find_device(capture, code);

	return device && device->device_index != UINT32_MAX ? cell_count(device->device_index)
							    : cell_none();
}

struct kernels_in {
	uint64_t count, dispatches;
};

/* Count the kernels in a code object. Objects are sorted by process and type. @at: start position
 * for the search in the process. */
static struct kernels_in kernels_in(const struct info_code *code,
				    const struct gt_object_info *object, size_t at)
{
	struct kernels_in sum = {0};
	const struct gt_object_info *o;

	for (; (o = gt_capture_object(code->capture, at)) != NULL &&
	       o->process == object->process && o->type <= GT_OBJECT_KERNEL_SYMBOL;
	     at++) {
		if (o->type != GT_OBJECT_KERNEL_SYMBOL || o->parent != object->number)
			continue;
		sum.count++;
		sum.dispatches += code->dispatches ? dispatches_of(code->dispatches, o) : 0;
	}
	return sum;
}

/* Initialise all columns, or all except the first @counted columns. */
static void init_columns(struct grid *g, const struct info_code *code, const char *name,
			 const struct grid_column *columns, unsigned count, unsigned counted)
{
	unsigned without = code->dispatches ? 0 : counted;

	grid_init(g, name, columns + without, count - without);
}

void info_code_objects(struct grid *g, const struct info_code *code)
{
	const struct gt_capture *capture = code->capture;

	init_columns(g, code, "code_objects", info_code_object_columns,
		     COUNT_OF(info_code_object_columns), COUNTED_OF_OBJECT);
	g->heading = "Loaded device code";
	for (size_t k = 0; capture && k < gt_capture_object_count(capture); k++) {
		const struct gt_object_info *o = gt_capture_object(capture, k);
		const char *base = gt_object_value(o, "load_base");
		struct kernels_in kernels;
		struct grid_cell *cell;
		if (o->type != GT_OBJECT_CODE_OBJECT)
			continue;
		kernels = kernels_in(code, o, k + 1);
		cell = grid_row(g);
		if (code->dispatches)
			*cell++ = cell_count(kernels.dispatches);
		*cell++ = pid_of(capture, o);
		*cell++ = cell_count(o->number);
		*cell++ = device_of(capture, o);
		*cell++ = cell_count(kernels.count);
		*cell++ = number(o, "load_bytes");
		*cell++ = base ? address(g, strtoull(base, NULL, 0)) : cell_none();
		*cell++ = since_start(capture, o->begin_ns);
		*cell++ = since_start(capture, o->end_ns);
		*cell++ = cell_text(gt_object_value(o, "storage"));
		*cell++ = cell_text(gt_object_value(o, "uri"));
	}
}

/* Kernels ---------------------------------------------------------------------------- */

/* A kernel. In a report, an entry also combines kernels that differ only in their handles, because
 * programs create kernels repeatedly. */
struct kernel_row {
	const struct gt_object_info *first;
	uint64_t dispatches, symbols;
	/* start of the first kernel and end of the last one; end 0: none */
	uint64_t begin_ns, end_ns;
};

struct kernel_rows {
	struct kernel_row *rows;
	uint32_t count, room;
	struct idmap ids; /* hash -> row; rows with equal hashes use the next numbers as keys */
};

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static const char *const told_apart_by[] = {"name",          "kernarg_bytes", "group_bytes",
					    "private_bytes", "vgpr_granules", "sgpr_granules",
					    "spill_bytes",   "registers",     "simd"};

static bool is_same_kernel(const struct gt_object_info *a, const struct gt_object_info *b)
{
	bool same = a->process == b->process && a->parent == b->parent;

	for (unsigned i = 0; same && i < COUNT_OF(told_apart_by); i++)
		same = is_same_text(gt_object_value(a, told_apart_by[i]),
				    gt_object_value(b, told_apart_by[i]));
	return same;
}

static uint64_t hash_kernel(const struct gt_object_info *o)
{
	uint64_t hash = (uint64_t)o->process << 32 ^ o->parent;

	for (unsigned i = 0; i < COUNT_OF(told_apart_by); i++)
		for (const char *c = gt_object_value(o, told_apart_by[i]); c && *c; c++)
			hash = hash * 31 + (unsigned char)*c;
	return lookup_mix(hash);
}

/* Return the row for @o. If it does not exist, add it. */
static struct kernel_row *find_kernel_row(struct kernel_rows *all, const struct gt_object_info *o,
					  bool merge)
{
	uint64_t hash = merge ? hash_kernel(o) : all->count;
	uint32_t at;

	for (; (at = idmap_get(&all->ids, hash)) != LOOKUP_NONE; hash++)
		if (is_same_kernel(all->rows[at].first, o))
			return &all->rows[at];
	GROW_LIST(all->rows, all->count, all->room);
	idmap_put(&all->ids, hash, all->count);
	all->rows[all->count] =
		(struct kernel_row){.first = o, .begin_ns = o->begin_ns, .end_ns = o->end_ns};
	return &all->rows[all->count++];
}

static void add_kernel(struct kernel_rows *all, const struct info_code *code,
		       const struct gt_object_info *o)
{
	struct kernel_row *row = find_kernel_row(all, o, code->dispatches != NULL);

	row->symbols++;
	row->dispatches += code->dispatches ? dispatches_of(code->dispatches, o) : 0;
	if (o->begin_ns < row->begin_ns)
		row->begin_ns = o->begin_ns;
	row->end_ns = !o->end_ns || !row->end_ns ? 0
		      : o->end_ns > row->end_ns  ? o->end_ns
						 : row->end_ns;
}

static void put_kernel(struct grid *g, const struct info_code *code, const struct kernel_row *row)
{
	const struct gt_capture *capture = code->capture;
	const struct gt_object_info *o = row->first, *object;
	const char *name = gt_object_value(o, "name");
	struct grid_cell *cell = grid_row(g);
	char *readable;

	object = gt_capture_object_find(capture, o->process, GT_OBJECT_CODE_OBJECT, o->parent);
	if (code->dispatches) {
		*cell++ = cell_count(row->dispatches);
		*cell++ = cell_count(row->symbols);
	}
	*cell++ = pid_of(capture, o);
	*cell++ = o->parent ? cell_count(o->parent) : cell_none();
	*cell++ = device_of(capture, object);
	*cell++ = number(o, "kernarg_bytes");
	*cell++ = number(o, "group_bytes");
	*cell++ = number(o, "private_bytes");
	*cell++ = registers(o, find_device(capture, object), "vgpr_granules", true);
	*cell++ = registers(o, find_device(capture, object), "sgpr_granules", false);
	*cell++ = number(o, "vgpr_granules");
	*cell++ = number(o, "sgpr_granules");
	*cell++ = number(o, "spill_bytes");
	*cell++ = number(o, "registers");
	*cell++ = number(o, "simd");
	*cell++ = since_start(capture, row->begin_ns);
	*cell++ = since_start(capture, row->end_ns);
	*cell++ = row->symbols > 1 ? cell_none() : address(g, o->handle);
	*cell++ = cell_text(name);
	readable = name && !code->mangled ? gt_demangle(name) : NULL;
	*cell++ = cell_text(readable ? grid_keep(g, "%s", readable) : name);
	free(readable);
}

void info_code_kernels(struct grid *g, const struct info_code *code)
{
	const struct gt_capture *capture = code->capture;
	struct kernel_rows all = {0};

	init_columns(g, code, "kernel_symbols", info_code_kernel_columns,
		     COUNT_OF(info_code_kernel_columns), COUNTED_OF_KERNEL);
	g->heading = "Kernels in loaded code, and the resources they use";
	for (size_t k = 0; capture && k < gt_capture_object_count(capture); k++) {
		const struct gt_object_info *o = gt_capture_object(capture, k);

		if (o->type == GT_OBJECT_KERNEL_SYMBOL)
			add_kernel(&all, code, o);
	}
	for (uint32_t i = 0; i < all.count; i++) {
		put_kernel(g, code, &all.rows[i]);
		if (all.rows[i].symbols > 1)
			g->always |= UINT64_C(1) << (unsigned)grid_column(g, "symbols");
	}
	free(all.rows);
	idmap_fini(&all.ids);
}
