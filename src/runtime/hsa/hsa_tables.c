/* SPDX-License-Identifier: MIT */
/* See hsa_tables.h. A runtime passes its tables to tools only during its initialisation. Later, the
 * tables are found through their form: each table starts with its size, and HsaApiTable points to
 * the others.
 *
 *   data of the library:  | HsaApiTable: version, core, amd_ext, ... | core: 1016, functions | ...
 *                               └────────────────────────────────────► size 1016
 *
 * The runtime has two sets of tables of that form: tables that tools change, and a copy of the
 * original. To find out which set is used, the entry of hsa_status_string() is replaced for the
 * duration of one call of the export. In the right set, the call reaches the replacement. The
 * function only looks up a text, and may be called at any time; calls of other threads are passed
 * to the former function. */
#include "runtime/hsa/hsa_tables.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/elf.h"

enum {
	CORE_BYTES = 1016, /* unchanged since ROCm 2 */
	AMD_EXT_LEAST = 256,
	AMD_EXT_MOST = 4096,
	TABLES_LEAST = 32, /* up to the AMD extension */
	TABLES_MOST = 256,
	CANDIDATES = 4,
};

/* A copy of the runtime, and what may be its tables. */
struct copy {
	struct gt_elf object;
	gt_hsa_core_hsa_status_string_fn *status_string;
	gt_hsa_core_hsa_system_get_info_fn *get_info;
	struct gt_hsa_tables *candidates[CANDIDATES];
	unsigned count;
};

struct search {
	struct copy copies[GT_INSTANCES];
	size_t count;
};

static void *find_function(const struct gt_symbols *s, const char *name)
{
	const ElfW(Sym) *symbol = gt_symbol_find(s, name);

	return symbol ? (void *)(s->base + symbol->st_value) : NULL;
}

/* Return true if [at, at + bytes) lies in the object's initialised or zeroed data. */
static bool is_data(const struct gt_elf *o, const void *at, size_t bytes)
{
	const ElfW(Phdr) *h = gt_elf_segment(o, at);

	return h && h->p_flags & PF_W && !((uintptr_t)at % sizeof(void *)) &&
	       (uintptr_t)at + bytes <= o->base + h->p_vaddr + h->p_memsz;
}

static bool is_table(const struct gt_elf *o, const void *at, size_t least, size_t most)
{
	const struct gt_hsa_version *version = at;

	return is_data(o, at, sizeof *version) && version->size >= least && version->size <= most &&
	       version->size % sizeof(void *) == 0 && is_data(o, at, version->size);
}

static bool is_complete(const struct gt_hsa_version *table)
{
	void *const *entries = (void *const *)(table + 1);

	for (size_t i = 0; i < (table->size - sizeof *table) / sizeof(void *); i++)
		if (!entries[i])
			return false;
	return true;
}

static bool are_tables(const struct gt_elf *o, const struct gt_hsa_tables *t)
{
	return t->version.size >= TABLES_LEAST && t->version.size <= TABLES_MOST &&
	       t->version.size % sizeof(void *) == 0 && is_data(o, t, t->version.size) &&
	       is_table(o, t->core, CORE_BYTES, CORE_BYTES) && is_complete(t->core) &&
	       is_table(o, t->amd_ext, AMD_EXT_LEAST, AMD_EXT_MOST);
}

static void search_data(struct copy *c, const ElfW(Phdr) * h)
{
	const uintptr_t from = (c->object.base + h->p_vaddr + 7) & ~(uintptr_t)7,
			to = c->object.base + h->p_vaddr + h->p_memsz;

	for (uintptr_t at = from; at + TABLES_LEAST <= to && c->count < CANDIDATES; at += 8)
		if (are_tables(&c->object, (const struct gt_hsa_tables *)at))
			c->candidates[c->count++] = (struct gt_hsa_tables *)at;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct copy *c = &search->copies[search->count];
	struct gt_symbols symbols;

	(void)size;
	*c = (struct copy){.object = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, NULL,
				      info->dlpi_name}};
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			c->object.dynamic =
				(const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (!gt_symbols_of(&c->object, &symbols))
		return 0;
	*(void **)&c->status_string = find_function(&symbols, "hsa_status_string");
	*(void **)&c->get_info = find_function(&symbols, "hsa_system_get_info");
	if (!c->status_string || !c->get_info)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_W)
			search_data(c, &info->dlpi_phdr[i]);
	search->count++;
	return search->count == GT_INSTANCES;
}

/* Probe ------------------------------------------------------------------------------ */

static _Atomic(gt_hsa_core_hsa_status_string_fn *) probed_function;
static _Thread_local bool is_reached __attribute__((tls_model("initial-exec")));

static int reach_probe(int status, const char **text)
{
	is_reached = true;
	return atomic_load(&probed_function)(status, text);
}

/* Return true if the export calls through these tables. */
static bool is_called_through(const struct copy *c, const struct gt_hsa_tables *t)
{
	void **entry = (void **)((struct gt_hsa_version *)t->core + 1) +
		       GT_HSA_CORE_hsa_status_string,
	     *former, *ours;
	gt_hsa_core_hsa_status_string_fn *probe = reach_probe;
	const char *text;

	ours = *(void **)&probe;
	former = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
	atomic_store(&probed_function, *(gt_hsa_core_hsa_status_string_fn **)&former);
	is_reached = false;
	if (!__atomic_compare_exchange_n(entry, &former, ours, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	c->status_string(GT_HSA_SUCCESS, &text);
	/* another tool that has changed the entry meanwhile calls the probe from now on */
	__atomic_compare_exchange_n(entry, &ours, former, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_RELAXED);
	return is_reached;
}

static bool is_initialised(const struct copy *c)
{
	uint64_t version = 0;

	return c->get_info(0 /* HSA_SYSTEM_INFO_VERSION_MAJOR */, &version) == GT_HSA_SUCCESS;
}

size_t gt_hsa_tables_find(struct gt_hsa_mapped *found, size_t most)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct search search = {.count = 0};
	size_t count = 0;

	pthread_mutex_lock(&one);
	dl_iterate_phdr(look_at_object, &search);
	for (size_t i = 0; i < search.count && count < most; i++) {
		const struct copy *c = &search.copies[i];

		if (!dlopen(c->object.path, RTLD_LAZY | RTLD_NOLOAD))
			continue; /* closed meanwhile */
		found[count] = (struct gt_hsa_mapped){c->object.base, NULL, is_initialised(c)};
		for (unsigned n = 0; n < c->count && !found[count].tables; n++)
			if (is_called_through(c, c->candidates[n]))
				found[count].tables = c->candidates[n];
		count++;
	}
	pthread_mutex_unlock(&one);
	return count;
}
