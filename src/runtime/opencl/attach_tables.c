/* SPDX-License-Identifier: MIT */
/* Attaches OpenCL in a running program, through the tables that a driver's objects point to.
 *
 *   caller that is bound to the loader ──► tap (mapped.c) ─► loader ─┐
 *   pointer in the heap ─────────────────────────────────► loader ───┤
 *   loader that is linked into the program ──────────────────────────┴─► table ─► tap ─► driver
 *
 * Objects begin with a pointer to a table of functions, through which loaders call the driver. All
 * objects of a driver share one table. gputap replaces the table's entries in place, and then sees
 * every call on an object. Each table is an instance with separate taps.
 *
 * The first tap of a call records it. Inside an open call, further calls of OpenCL belong to the
 * runtime (gt_skip_nested). The second tap therefore records nothing, and neither do the calls that
 * the driver makes through the table. Two limits follow. gputap records a call that a thread of the
 * driver makes through the table. gputap does not record the calls of a callback if the program
 * registered the callback before the attach and the runtime calls it inside another call.
 *
 * Loaders answer a few functions themselves (clGetPlatformIDs, clGetExtensionFunctionAddress).
 * gputap sees calls of these functions if the caller is bound to them, or holds their address in
 * the data of an object.
 *
 * gputap finds the tables by asking the mapped drivers for their platforms. It does not ask
 * loaders, because a loader would open all installed drivers.
 *
 * With cl_khr_icd2, the loader owns the table. The first entry of the driver's table is a tag, and
 * the second word of each object points to the loader's table. gputap replaces both.
 *
 * At detach, gputap restores the entries, except the few that hide queues' profiling from the
 * program. A new session replaces the entries again.
 *
 * Locking: one lock, for changes of `tables`; look-ups take none. Never here: a call of a driver
 * while a lock of the dynamic linker is held. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/elf.h"
#include "core/emit.h"
#include "core/late.h"
#include "core/own_maps.h"
#include "core/recording.h"
#include "core/table.h"
#include "record/operation.h"
#include "runtime/held_pointers.h"
#include "runtime/mapped.h"
#include "runtime/opencl/activity.h"
#include "runtime/opencl/opencl_attach.h"
#include "generated/opencl_taps.h"

enum {
	ENTRIES = GT_OPENCL_clSetContextDestructorCallback + 1,
	DRIVERS = 32,
	PLATFORMS = 16,
	VERSION_BYTES = 128,
};
#define ICD2_TAG UINT64_C(0x4F50454E434C3331)

typedef cl_int platforms_fn(cl_uint count, cl_platform_id *platforms, cl_uint *found);
typedef void *look_up_fn(const char *name);

/* A table whose entries are taps, or were. Never removed: a driver's library stays mapped. */
static struct patched {
	/* NULL: unused. Set when the other members are filled in (release) */
	void **_Atomic table;
	uint32_t instance, count;
	void *real[ENTRIES]; /* the driver's functions */
	void *tap[ENTRIES];  /* same as `real` in entries without a tap */
} tables[GT_INSTANCES];
static struct gt_cl_lock tables_lock;

/* Memory ---------------------------------------------------------------------- */

/* Copy from an address that may not be mapped. */
static bool read_memory(const void *from, void *to, size_t bytes)
{
	const struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};

	return syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1, &remote, 1, 0) ==
	       (long)bytes;
}

/* Words, and which of them are addresses of functions. */
struct words {
	void *const *word;
	size_t count;
	bool *is_code;
};

static int mark_code(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct words *w = data;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const uintptr_t from = info->dlpi_addr + h->p_vaddr;

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		for (size_t n = 0; n < w->count; n++)
			w->is_code[n] |= (uintptr_t)w->word[n] - from < h->p_memsz;
	}
	return 0;
}

/* Replace entries that contain @from[i] with @to[i]. Other entries were changed by others, and are
 * left. Return false if the table cannot be written. */
static bool replace_entries(void **table, size_t count, void *const *from, void *const *to)
{
	const uintptr_t page = GT_ELF_PAGE, low = (uintptr_t)table & -page,
			high = ((uintptr_t)(table + count) + page - 1) & -page;
	struct gt_own_map map;
	char name[8];
	bool is_locked;

	if (!gt_own_map_find((uintptr_t)table, &map, name, sizeof name) || map.high < high)
		return false;
	is_locked = !map.writable;
	if (is_locked && mprotect((void *)low, high - low, PROT_READ | PROT_WRITE) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		void *expected = from[i];

		if (from[i] != to[i])
			__atomic_compare_exchange_n(&table[i], &expected, to[i], false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	if (is_locked)
		mprotect((void *)low, high - low, PROT_READ);
	return true;
}

void gt_opencl_keep_mapped(const void *function)
{
	Dl_info where;

	/* the handle is not needed, because NODELETE is permanent */
	if (function && dladdr(function, &where) && where.dli_fname)
		dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Tables ---------------------------------------------------------------------- */

/* Return the number of entries that the tables of an OpenCL version have at least. */
static size_t entries_of_version(const char *version)
{
	static const struct {
		char version[12];
		uint32_t entries;
	} known[] = {
		{"OpenCL 1.0", GT_OPENCL_clGetGLContextInfoKHR + 1},
		{"OpenCL 1.1", GT_OPENCL_clEnqueueCopyBufferRect + 1},
		{"OpenCL 1.2", GT_OPENCL_clCreateEventFromEGLSyncKHR + 1},
		{"OpenCL 2.0", GT_OPENCL_clGetKernelSubGroupInfoKHR + 1},
		{"OpenCL 2.1", GT_OPENCL_clSetDefaultDeviceCommandQueue + 1},
		{"OpenCL 2.2", GT_OPENCL_clSetProgramSpecializationConstant + 1},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strncmp(version, known[i].version, strlen(known[i].version)) == 0)
			return known[i].entries;
	return ENTRIES;
}

/* Return the table that a tap's instance replaces in place; NULL: another method, or free. */
static struct patched *find_patched(void *const *table)
{
	for (unsigned i = 0; i < GT_INSTANCES; i++)
		if (atomic_load_explicit(&tables[i].table, memory_order_acquire) == table)
			return &tables[i];
	return NULL;
}

static struct patched *add_patched(void)
{
	unsigned unused = 0;

	while (unused < GT_INSTANCES && tables[unused].table)
		unused++;
	for (uint32_t i = 0; unused < GT_INSTANCES && i < GT_INSTANCES; i++)
		if (gt_opencl_attach_take_for_table(i)) {
			tables[unused].instance = i;
			return &tables[unused];
		}
	return NULL;
}

/* Read a table's entries. Return their number, or 0 if the words are not functions. */
static size_t read_entries(void *const *table, const char *version, void **entry)
{
	bool is_code[ENTRIES] = {false};
	size_t count = entries_of_version(version);
	const struct words w = {entry, count, is_code};

	if (!read_memory(table, entry, count * sizeof *entry))
		return 0;
	dl_iterate_phdr(mark_code, (void *)(uintptr_t)&w);
	for (size_t i = 0; i < count; i++)
		if (entry[i] && !is_code[i]) {
			if (i)
				return i < GT_OPENCL_clFinish ? 0 : i;
			entry[i] = NULL; /* cl_khr_icd2 */
		}
	return entry[GT_OPENCL_clFinish] ? count : 0;
}

/* Replace the entries of a table with taps. */
static void patch_table(void **table, const char *version)
{
	struct patched *p = find_patched(table);
	void *entry[ENTRIES];
	size_t count = read_entries(table, version, entry);

	if (!count)
		return;
	if (!p && !(p = add_patched())) {
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_OPENCL, 0,
			       "a driver of OpenCL, because too many copies are loaded");
		return;
	}
	for (size_t i = 0; i < count; i++)
		p->real[i] = entry[i] == p->tap[i] ? p->real[i] : entry[i];
	p->count = (uint32_t)count;
	memcpy(p->tap, p->real, sizeof p->tap);
	/* An open call must be recognised before the first tap can be reached through another. */
	gt_skip_nested[GT_DOMAIN_OPENCL] = UINT32_MAX;
	gt_table_part(&gt_opencl_tables[p->instance], 0, (uint32_t)count, p->tap, true);
	atomic_store_explicit(&p->table, table, memory_order_release);
	if (!replace_entries(table, count, p->real, p->tap))
		gt_late_missing(GT_DOMAIN_OPENCL, "calls through pointers in the heap: the "
						  "driver's table of functions is read-only");
}

/* Platforms ------------------------------------------------------------------- */

static look_up_fn *look_up_of(const struct patched *p)
{
	return (look_up_fn *)p->real[GT_OPENCL_clGetExtensionFunctionAddress];
}

/* Return the driver's function of this name, without a tap. */
static void *look_up(const struct patched *p, cl_platform_id platform, const char *name)
{
	__typeof__(&clGetExtensionFunctionAddressForPlatform) look =
		(__typeof__(look))p->real[GT_OPENCL_clGetExtensionFunctionAddressForPlatform];
	void *function = look ? look(platform, name) : NULL;

	return function || !look_up_of(p) ? function : look_up_of(p)(name);
}

/* Give taps to the functions that programs may have looked up earlier. */
static void meet_extensions(const struct patched *p, cl_platform_id platform)
{
	struct gt_table *own[] = {&gt_opencl_tables[p->instance]};

	for (uint32_t f = 0; f < GT_OPENCL_INDEX_COUNT; f++) {
		const char *name = gt_operation_text(gt_opencl_operations[f].op);
		bool unknown;
		void *real;

		if (gt_opencl_operations[f].table_offset != UINT32_MAX)
			continue;
		real = look_up(p, platform, name);
		if (real)
			gt_table_extension(own, 1, name, real, &unknown);
	}
}

static void meet_platform(cl_platform_id platform)
{
	void *word[2], **table, *first = NULL;
	__typeof__(&clGetPlatformInfo) ask;
	char version[VERSION_BYTES] = "";
	const struct patched *p;

	if (!platform || !read_memory(platform, word, sizeof word))
		return;
	table = word[0];
	if (!read_memory(table, &first, sizeof first) ||
	    !read_memory(table + GT_OPENCL_clGetPlatformInfo, &ask, sizeof ask) || !ask ||
	    ask(platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL) != CL_SUCCESS)
		return;
	patch_table(table, version);
	if ((uintptr_t)first == ICD2_TAG && word[1])
		patch_table(word[1], version);
	p = find_patched(table);
	if (!p)
		return;
	gt_opencl_keep_mapped(p->real[GT_OPENCL_clFinish]);
	meet_extensions(p, platform);
}

void gt_opencl_tables_meet(cl_platform_id platform)
{
	void *table;

	if (!gt_is_late() || !platform || gt_opencl_has_layer() ||
	    !read_memory(platform, &table, sizeof table) || find_patched(table) ||
	    !gt_cl_lock_try(&tables_lock, gt_recording_process()))
		return;
	gt_internal_enter();
	if (!find_patched(table))
		meet_platform(platform);
	gt_internal_leave();
	gt_cl_lock_release(&tables_lock);
}

/* Drivers --------------------------------------------------------------------- */

struct drivers {
	struct {
		void *function;
		bool looks_up; /* a look_up_fn, not a platforms_fn */
	} driver[DRIVERS];
	size_t count;
};

/* Add an object if it is a driver: it lists its own platforms, for loaders. */
static int add_driver(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gt_elf o = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL,
			   info->dlpi_name};
	struct drivers *d = data;
	struct gt_symbols s;
	const ElfW(Sym) * symbol;

	(void)size;
	for (unsigned i = 0; i < o.header_count; i++)
		if (o.headers[i].p_type == PT_DYNAMIC)
			o.dynamic = (const ElfW(Dyn) *)(o.base + o.headers[i].p_vaddr);
	if (d->count == DRIVERS || !gt_symbols_of(&o, &s))
		return 0;
	symbol = gt_symbol_find(&s, "clIcdGetPlatformIDsKHR");
	d->driver[d->count].looks_up = !symbol;
	if (!symbol && !gt_symbol_find(&s, "clGetPlatformIDs"))
		symbol = gt_symbol_find(&s, "clGetExtensionFunctionAddress");
	if (symbol)
		d->driver[d->count++].function = (void *)(o.base + symbol->st_value);
	return 0;
}

static void meet_driver(platforms_fn *get)
{
	cl_platform_id list[PLATFORMS];
	cl_uint count = 0;

	if (get(PLATFORMS, list, &count) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < count && i < PLATFORMS; i++)
		meet_platform(list[i]);
}

static void meet_drivers(void)
{
	struct drivers d = {.count = 0};

	dl_iterate_phdr(add_driver, &d);
	for (size_t i = 0; i < d.count; i++) {
		void *function = d.driver[i].function;
		Dl_info where;

		/* Waits until the library is initialised, if another thread is opening it. */
		if (!dladdr(function, &where))
			continue;
		if (d.driver[i].looks_up)
			function = ((look_up_fn *)function)("clIcdGetPlatformIDsKHR");
		if (function)
			meet_driver((platforms_fn *)function);
	}
}

/* Pointers to functions that the program has looked up earlier ------------------ */

/* Return the tap of a driver's extension function. */
static uintptr_t target_of_extension(uintptr_t value, void *data)
{
	(void)data;
	for (unsigned n = 0; n < GT_INSTANCES && tables[n].table; n++)
		for (uint32_t f = 0; f < GT_OPENCL_INDEX_COUNT; f++) {
			const uint32_t i = tables[n].instance;

			if (gt_opencl_operations[f].table_offset == UINT32_MAX &&
			    (uintptr_t)gt_opencl_taps[i][f].real == value)
				return (uintptr_t)gt_table_tap(&gt_opencl_tables[i], f);
		}
	return 0;
}

static void replace_held(void)
{
	uintptr_t left[GT_INSTANCES + 1];
	struct gt_held_pointers held = {.low = UINTPTR_MAX,
					.left = left,
					.target = target_of_extension};
	Dl_info where;

	if (!dladdr(tables, &where))
		return;
	left[held.left_count++] = (uintptr_t)where.dli_fbase; /* taps hold the functions */
	for (unsigned n = 0; n < GT_INSTANCES && tables[n].table; n++) {
		const struct gt_tap *taps = gt_opencl_taps[tables[n].instance];

		for (uint32_t f = 0; f < GT_OPENCL_INDEX_COUNT; f++) {
			const uintptr_t real = (uintptr_t)taps[f].real;

			if (gt_opencl_operations[f].table_offset != UINT32_MAX || !real)
				continue;
			held.low = real < held.low ? real : held.low;
			held.high = real + 1 > held.high ? real + 1 : held.high;
		}
		if (dladdr(tables[n].real[GT_OPENCL_clFinish], &where))
			left[held.left_count++] = (uintptr_t)where.dli_fbase;
	}
	if (held.high)
		gt_mapped_replace_held(&held);
}

/* Attach, detach -------------------------------------------------------------- */

uint32_t gt_opencl_tables_instance(const void *function)
{
	Dl_info where, driver;

	if (!function || !dladdr(function, &where))
		return GT_INSTANCES;
	for (unsigned n = 0; n < GT_INSTANCES && tables[n].table; n++)
		if (dladdr(tables[n].real[GT_OPENCL_clFinish], &driver) &&
		    driver.dli_fbase == where.dli_fbase)
			return tables[n].instance;
	return GT_INSTANCES;
}

void *gt_opencl_tables_function(const void *object, uint32_t number)
{
	void *const *const *table = object;
	const struct patched *p = find_patched(*table);

	return p ? p->real[number] : NULL;
}

/* Take the lock. A thread of the program holds it for some milliseconds at most. */
static void lock_tables(void)
{
	while (gt_cl_lock_take(&tables_lock, gt_recording_process()) == GT_CL_LOCK_FAILED)
		;
}

void gt_opencl_tables_attach(void)
{
	lock_tables();
	gt_internal_enter();
	meet_drivers();
	replace_held();
	gt_internal_leave();
	gt_cl_lock_release(&tables_lock);
}

/* Return true for functions that keep hiding the profiling of queues from the program. */
static bool is_hiding(size_t entry)
{
	return entry == GT_OPENCL_clCreateCommandQueue ||
	       entry == GT_OPENCL_clCreateCommandQueueWithProperties ||
	       entry == GT_OPENCL_clGetCommandQueueInfo ||
	       entry == GT_OPENCL_clSetCommandQueueProperty ||
	       entry == GT_OPENCL_clGetEventProfilingInfo;
}

static void restore_table(const struct patched *p, bool hides)
{
	void *now[ENTRIES], *to[ENTRIES];

	if (!read_memory(p->table, now, p->count * sizeof *now))
		return;
	for (size_t i = 0; i < p->count; i++)
		to[i] = hides && is_hiding(i) ? p->tap[i] : p->real[i];
	replace_entries(p->table, p->count, p->tap, to);
}

void gt_opencl_tables_detach(bool hides)
{
	lock_tables();
	for (unsigned n = 0; n < GT_INSTANCES && tables[n].table; n++)
		restore_table(&tables[n], hides);
	gt_cl_lock_release(&tables_lock);
}
