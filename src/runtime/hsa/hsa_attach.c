/* SPDX-License-Identifier: MIT */
/* HSA's tables are converted from the runtime's order to the canonical order (ROCm 7.2's, whose
 * positions are the operation numbers), registered, and the taps are written back into the
 * runtime's tables.
 *
 *   runtime's AmdExtTable (48 entries in ROCm 5.2) ─► canonical copy (76) ─► gt_table_register()
 *   changed entries ─► back into the runtime's table
 *
 * The core and AMD extension tables are required. The tables for images and for a finalizer are
 * optional. hsa_system_get_major_extension_table() returns the library's exported functions, which
 * also call through the tables.
 *
 * ROCr offers its tables twice: to the tools in HSA_TOOLS_LIB (OnLoad(), all versions) and, since
 * ROCm 6.1, to the library that exports rocprofiler_set_api_table(). gputap accepts the first offer
 * of each copy of the runtime and ignores the other.
 *
 * A wrap is a function gt_hsa_core_wrap_<name>() or gt_hsa_amd_ext_wrap_<name>() with the prototype
 * in generated/hsa_*_wraps.h, for operations with `wrap` in api/hsa-*.api. gt_hsa_runtime_of(call)
 * returns the runtime of a wrap's call.
 *
 * This is the highest-level file of this folder; hsa_runtime.h describes the order.
 * Locking: gt_core_lock() protects the choice of an instance. This file makes no call into the
 * runtime. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "core/table.h"
#include "runtime/hsa/hsa_attach.h"
#include "runtime/hsa/hsa_helper.h"
#include "runtime/hsa/hsa_runtime.h"
#include "runtime/hsa/hsa_scratch.h"
#include "runtime/hsa/hsa_tables.h"
#include "runtime/module.h"
#include "runtime/registered.h"
#include "tool/tool_load.h"

enum {
	CORE_ENTRIES = 125,
	AMD_EXT_ENTRIES = 76,
	IMAGE_ENTRIES = 14,
	FINALIZER_ENTRIES = 6,
	/* hsa_amd_memory_async_copy_on_engine, hsa_amd_memory_copy_engine_status */
	NOT_BEFORE_5_6 = 16,
	NOT_BEFORE_5_5 = 49, /* hsa_amd_spm_acquire, _release, _set_dest_buffer */
};

/* The operation number equals the position in the canonical table. */
static_assert(GT_HSA_CORE_hsa_executable_iterate_program_symbols == CORE_ENTRIES - 1,
	      "api/hsa-core.api");
static_assert(GT_HSA_AMD_EXT_hsa_amd_ais_file_read == AMD_EXT_ENTRIES - 1, "api/hsa-amd-ext.api");
static_assert((int)GT_HSA_IMAGE_EXT_hsa_ext_sampler_create_v2 == IMAGE_ENTRIES - 1,
	      "api/hsa-image-ext.api");
static_assert((int)GT_HSA_FINALIZE_EXT_hsa_ext_program_finalize == FINALIZER_ENTRIES - 1,
	      "api/hsa-finalize-ext.api");
static_assert((int)GT_HSA_AMD_EXT_hsa_amd_memory_async_copy_on_engine == (int)NOT_BEFORE_5_6 &&
		      (int)GT_HSA_AMD_EXT_hsa_amd_memory_copy_engine_status == NOT_BEFORE_5_6 + 1,
	      "api/hsa-amd-ext.api");
static_assert((int)GT_HSA_AMD_EXT_hsa_amd_spm_acquire == (int)NOT_BEFORE_5_5 &&
		      (int)GT_HSA_AMD_EXT_hsa_amd_spm_set_dest_buffer == NOT_BEFORE_5_5 + 2,
	      "api/hsa-amd-ext.api");
static_assert(sizeof(struct gt_hsa_version) == 16 &&
		      offsetof(struct gt_hsa_tables, pc_sampling) == 56,
	      "ROCr's ABI");

/* A function table in the runtime's layout. */
struct function_table {
	struct gt_hsa_version version;
	void *entries[];
};

/* The runtime's original functions in canonical order, and their replacements. */
struct canonical_table {
	struct gt_hsa_version version;
	void *entries[CORE_ENTRIES];
};

struct table_pair {
	struct canonical_table real, taps;
};

/* A kind of table that the runtime has. */
struct table_kind {
	size_t member;           /* offset in struct gt_hsa_tables */
	struct gt_table *tables; /* gputap's tables, indexed by instance */
	struct table_pair *both; /* indexed by instance */
	uint32_t count;          /* number of known operations */
	uint32_t (*position)(uint32_t number, uint32_t count);
	bool (*is_known)(uint32_t count);
};

/* Return the number of entries in the runtime's table; 0 if @table cannot be a table. */
static uint32_t count_functions(const struct function_table *table)
{
	return table->version.size < sizeof table->version
		       ? 0
		       : (table->version.size - sizeof table->version) / sizeof(void *);
}

/* Return the position of an operation in an AmdExtTable of @count entries; UINT32_MAX if the
 * operation has no entry. Until ROCm 5.6 new entries were inserted in the middle; since then tables
 * grow only at their end. */
static uint32_t amd_ext_position(uint32_t number, uint32_t count)
{
	uint32_t position = number;

	if (count < 55 && number >= NOT_BEFORE_5_6) {
		if (number < NOT_BEFORE_5_6 + 2 || count > 51 || (count > 48 && count < 51))
			return UINT32_MAX; /* 49, 50, 52 to 54 occur in no release */
		position -= 2;
		if (count <= 48 && number >= NOT_BEFORE_5_5) {
			if (number < NOT_BEFORE_5_5 + 3)
				return UINT32_MAX;
			position -= 3;
		}
	}
	return position < count ? position : UINT32_MAX;
}

static bool amd_ext_known(uint32_t count)
{
	return count <= 48 || count == 51 || (count >= 55 && count <= AMD_EXT_ENTRIES);
}

/* Return the position of an operation in a table that has grown only at its end. */
static uint32_t same_position(uint32_t number, uint32_t count)
{
	return number < count ? number : UINT32_MAX;
}

static bool core_known(uint32_t count)
{
	return count == CORE_ENTRIES;
}

static bool image_known(uint32_t count)
{
	/* the second size precedes ROCm 7 */
	return count == IMAGE_ENTRIES || count == IMAGE_ENTRIES - 1;
}

static bool finalizer_known(uint32_t count)
{
	return count == FINALIZER_ENTRIES;
}

static struct table_pair core[GT_INSTANCES], amd_ext[GT_INSTANCES], image[GT_INSTANCES],
	finalizer[GT_INSTANCES];

#define MEMBER(m) offsetof(struct gt_hsa_tables, m)
static const struct table_kind parts[] = {
	{MEMBER(core), gt_hsa_core_tables, core, CORE_ENTRIES, same_position, core_known},
	{MEMBER(amd_ext), gt_hsa_amd_ext_tables, amd_ext, AMD_EXT_ENTRIES, amd_ext_position,
	 amd_ext_known},
	{MEMBER(image), gt_hsa_image_ext_tables, image, IMAGE_ENTRIES, same_position, image_known},
	{MEMBER(finalizer), gt_hsa_finalize_ext_tables, finalizer, FINALIZER_ENTRIES, same_position,
	 finalizer_known},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Return the runtime's table. Return NULL if there is none, or if it has no entries, as in ROCr 5
 * without a finalizer. */
static struct function_table *get_table(const struct gt_hsa_tables *tables,
					const struct table_kind *p)
{
	struct function_table *table = NULL;

	if (p->member + sizeof table <= tables->version.size)
		memcpy(&table, (const char *)tables + p->member, sizeof table);
	return table && count_functions(table) ? table : NULL;
}

/* Return the entry of an operation in the runtime's table, or NULL. */
static void **get_place(struct function_table *table, const struct table_kind *p, uint32_t number)
{
	uint32_t at = table ? p->position(number, count_functions(table)) : UINT32_MAX;

	return at == UINT32_MAX ? NULL : &table->entries[at];
}

static void copy_table(struct function_table *table, const struct table_kind *p,
		       struct canonical_table *out)
{
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < p->count; i++) {
		void **entry = get_place(table, p, i);

		if (entry)
			out->entries[i] = *entry;
	}
}

/* Write a tap into its entry, unless another tool has changed the entry meanwhile. */
static void write_tap(struct function_table *table, const struct table_kind *p,
		      const struct table_pair *b, uint32_t number)
{
	void **entry = b->taps.entries[number] != b->real.entries[number]
			       ? get_place(table, p, number)
			       : NULL,
	     *real = b->real.entries[number];

	if (entry)
		__atomic_compare_exchange_n(entry, &real, b->taps.entries[number], false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Write the taps into all entries that contain a function. The program may be calling the table's
 * functions: hsa_queue_create() comes last, because the program must use the queue that its tap
 * returns through other taps. */
static void write_taps(struct function_table *table, const struct table_kind *p,
		       const struct table_pair *b)
{
	const uint32_t last = p->both == core ? (uint32_t)GT_HSA_CORE_hsa_queue_create : UINT32_MAX;

	for (uint32_t i = 0; i < p->count; i++)
		if (i != last)
			write_tap(table, p, b, i);
	if (last != UINT32_MAX)
		write_tap(table, p, b, last);
}

/* Return true if an entry that gputap changed has its former value again, and no entry contains a
 * tap. The runtime was then shut down and restarted. The second condition alone does not suffice,
 * because another tool's function may precede each tap. If a tap were mistaken for a real function,
 * calls would recurse endlessly. */
static bool is_reset(struct function_table *table, const struct table_kind *p,
		     const struct table_pair *b)
{
	bool as_before = false;

	for (uint32_t i = 0; i < p->count; i++) {
		void **entry =
			b->taps.entries[i] != b->real.entries[i] ? get_place(table, p, i) : NULL;

		if (!entry)
			continue;
		if (*entry == b->taps.entries[i])
			return false;
		as_before |= *entry == b->real.entries[i];
	}
	return as_before;
}

/* Return true if the table contains none of gputap's taps. Also returns true if no tap was ever
 * written, because none was wanted. */
static bool is_untouched(struct function_table *table, const struct table_kind *p,
			 const struct table_pair *b)
{
	for (uint32_t i = 0; i < p->count; i++) {
		void **entry =
			b->taps.entries[i] != b->real.entries[i] ? get_place(table, p, i) : NULL;

		if (entry && *entry == b->taps.entries[i])
			return false;
	}
	return true;
}

/* Return true if known tables belong to a new hsa_init(); false if they come through the other
 * interception method during the same hsa_init(). */
static bool is_new_load(const struct gt_hsa_runtime *r, const char *way)
{
	bool reset = false, untouched = true;

	for (const struct table_kind *p = parts; p < parts + PARTS; p++) {
		reset |= is_reset(get_table(r->tables, p), p, &p->both[r->instance]);
		untouched &= is_untouched(get_table(r->tables, p), p, &p->both[r->instance]);
	}
	/* in a running program, the functions of another tool may precede all taps */
	return reset || (untouched && !strcmp(r->way, way) && strcmp(way, GT_HSA_IN_PLACE));
}

static void register_part(const struct gt_hsa_runtime *r, const struct table_kind *p,
			  uint64_t version)
{
	const size_t bytes = sizeof(struct gt_hsa_version) + p->count * sizeof(void *);
	struct function_table *table = get_table(r->tables, p);
	struct gt_table *ours = &p->tables[r->instance];
	struct table_pair *b = &p->both[r->instance];

	copy_table(table, p, &b->real);
	b->taps = b->real;
	if (!table)
		return;
	ours->version = version;
	gt_table_register(ours, (const void *const *)&b->real, bytes, (void **)&b->taps);
	if (!p->is_known(count_functions(table)))
		gt_event_write(gt_thread_own(), GT_EVENT_TABLE, ours->domain,
			       count_functions(table), ours->name);
}

static void unregister_tables(struct gt_hsa_runtime *r)
{
	for (const struct table_kind *p = parts; p < parts + PARTS; p++)
		gt_table_unregister(&p->tables[r->instance]);
}

/* Return the instance of these tables, or a free instance, or NULL. *known: set to true if an
 * instance has the tables already */
static struct gt_hsa_runtime *get_instance(struct gt_hsa_tables *tables, bool *known)
{
	struct gt_hsa_runtime *found = NULL;

	*known = false;
	gt_core_lock();
	for (uint32_t i = GT_INSTANCES; i-- > 0 && !*known;) {
		struct gt_hsa_runtime *r = &gt_hsa_runtimes[i];

		*known = r->tables == tables;
		if (*known || !r->tables)
			found = r;
	}
	if (found && !*known) {
		found->tables = tables;
		found->instance = (uint32_t)(found - gt_hsa_runtimes);
	}
	gt_core_unlock();
	return found;
}

static void write_module(struct gt_hsa_runtime *r, const char *way, uint64_t version)
{
	Dl_info where;

	/* The tables are data of the library. Their entries may be functions of another tool. */
	r->base = dladdr(r->tables, &where) ? (uintptr_t)where.dli_fbase : 0;
	if (r->base)
		gt_runtime_module_named(GT_DOMAIN_HSA_CORE, where.dli_fname, r->base, way, version);
}

/* Add the taps of operations that an earlier session did not request. */
static void extend_tables(struct gt_hsa_runtime *r)
{
	for (const struct table_kind *p = parts + PARTS; p-- > parts;) {
		struct function_table *table = get_table(r->tables, p);
		struct table_pair *b = &p->both[r->instance];

		if (!table)
			continue;
		gt_table_extend(&p->tables[r->instance], (void **)&b->taps);
		write_taps(table, p, b);
	}
}

int gt_hsa_attach_tables(struct gt_hsa_tables *tables, const char *way, uint64_t version)
{
	struct gt_hsa_runtime *r;
	bool known;

	if (!gt_recording.session)
		return 0;
	if (!gt_hsa_has(tables, core) || !gt_hsa_has(tables, amd_ext))
		return -EINVAL;
	r = get_instance(tables, &known);
	if (!r) {
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_HSA_CORE, 0,
			       "a copy of the HSA runtime, because too many copies are loaded");
		return -ENOSPC;
	}
	if (known) {
		if (!is_new_load(r, way)) { /* attached through another interception method */
			extend_tables(r);
			return 0;
		}
		unregister_tables(r);
	}
	r->loads++;
	r->way = way;
	for (const struct table_kind *p = parts; p < parts + PARTS; p++)
		register_part(r, p, version);
	write_module(r, way, version);
	gt_hsa_scratch_attach(r);
	for (const struct table_kind *p = parts + PARTS; p-- > parts;) /* the core table last */
		write_taps(get_table(tables, p), p, &p->both[r->instance]);
	gt_subscribers_offer("HsaApiTable", r->instance, version, (void **)tables,
			     tables->version.size);
	return 0;
}

static int take_registered(uint64_t version, void **tables, uint64_t count)
{
	(void)count;
	return gt_hsa_attach_tables(tables[0], "rocprofiler-register", version);
}

GT_PROVIDE(gt_registered) = {.name = "hsa", .take = take_registered};

/* Functions that ROCr looks up in each library of HSA_TOOLS_LIB. */
#define EXPORT __attribute__((visibility("default")))
EXPORT bool OnLoad(struct gt_hsa_tables *tables, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

/* Attach the runtime that loads this library as a tool. Always returns true, because ROCr 5 unmaps
 * a tool that returns false, and still calls the tool's OnUnload(). */
bool OnLoad(struct gt_hsa_tables *tables, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	(void)runtime_version;
	(void)failed_count; /* 0, because this library is the first */
	(void)failed_names;
	gt_tools_take_tables(true);
	gt_tools_meet_runtime(true);
	if (tables && gt_recording.session)
		gt_hsa_attach_tables(tables, "HSA_TOOLS_LIB", 0);
	gt_tools_take_tables(false);
	return true;
}

/* Find the copies that are initialised and not attached: hsa_init() offers them no more. @missing:
 * count only those whose tables are not found in their memory. */
static size_t count_unattached(bool missing)
{
	struct gt_hsa_mapped copies[GT_INSTANCES];
	size_t n = gt_hsa_tables_find(copies, GT_INSTANCES), count = 0;

	for (size_t i = 0; i < n; i++) {
		bool attached = false;

		for (uint32_t k = 0; k < GT_INSTANCES; k++)
			attached |= gt_hsa_runtimes[k].tables &&
				    gt_hsa_runtimes[k].base == copies[i].base;
		count += copies[i].is_initialised && !attached && !(missing && copies[i].tables);
	}
	return count;
}

static const char *find_missed(void)
{
	return count_unattached(true) ? "HSA calls, and kernels and copies of HSA and HIP" : NULL;
}

static bool is_bypassing(void)
{
	return count_unattached(false) != 0;
}

GT_PROVIDE(gt_tool_attach) = {
	.missed = find_missed,
	.domain = GT_DOMAIN_HSA_CORE,
	.is_bypassing = is_bypassing,
};

/* Detach the calling runtime, identified through the caller's address. If a library calls its own
 * function named OnUnload(), gputap's function may be called instead, because gputap is first in
 * the search order. Such a call is forwarded. */
void OnUnload(void)
{
	Dl_info where;
	bool found = dladdr(__builtin_return_address(0), &where) != 0;

	for (uint32_t i = 0; found && i < GT_INSTANCES; i++) {
		struct gt_hsa_runtime *r = &gt_hsa_runtimes[i];

		if (!r->tables || r->base != (uintptr_t)where.dli_fbase)
			continue;
		gt_hsa_helper_leave(r, true);
		unregister_tables(r);
		gt_core_lock();
		r->tables = NULL;
		gt_core_unlock();
		return;
	}
}
