/* SPDX-License-Identifier: MIT */
/* Records code objects and their kernels: names for dispatches, and objects with exact lifetimes
 * for readers of a capture.
 *
 * Steps:
 *   1. The program freezes an executable. gputap lists its loaded code objects, and the kernel
 *      symbols for each agent. Each kernel gets an entry with the address that dispatch packets
 *      contain; the address is written after the rest of the entry (release).
 *   2. The thread that handles a packet finds the entry by that address (acquire), without a lock.
 *   3. The program destroys the executable. Before the real call, gputap stores 0 (release) as the
 *      address in each entry of the executable's kernels, because the next module of the same size
 *      may be loaded at the same address and then takes over the entries.
 *
 * Numbers of objects are never reused. GT_RECORD_LIFETIME contains the time range in which each
 * object was loaded.
 * Locking: steps 1 and 3 change the table under gt_core_lock(). */
#include "runtime/hsa/hsa_code.h"

#include <string.h>

#include "core/kernels.h"
#include "core/recording.h"
#include "runtime/hsa/hsa_agent.h"

enum { NAME_BYTES = 8192, PATH_BYTES = 1024 };

_Atomic(struct gt_hsa_kernel *) gt_hsa_kernel_buckets[1 << GT_HSA_KERNEL_BUCKET_BITS];

/* A loaded code object. */
struct code_object {
	struct code_object *next;
	uint64_t executable;
	struct gt_fork_replay *replay;
	struct gt_tool_object *object; /* for tools */
	bool unnotified;
};
static struct code_object *loaded, *spare;

/* Allocate an entry from blocks that are never freed. */
static void *take_entry(size_t bytes)
{
	static char *row, *end;
	void *p;

	if (row + bytes > end) {
		row = gt_hsa_alloc(1 << 16);
		end = row ? row + (1 << 16) : NULL;
		if (!row)
			return NULL;
	}
	p = row;
	row += (bytes + 15) & ~(size_t)15;
	return p;
}

/* Return the kind of a kernel, determined from its name, because HIP copies and fills with internal
 * kernels. */
static enum gt_graph_part get_part(const char *name, size_t bytes)
{
	static const struct {
		const char *prefix;
		enum gt_graph_part part;
	} known[] = {
		{"__amd_rocclr_copy", GT_GRAPH_COPY},
		{"__amd_rocclr_fill", GT_GRAPH_FILL},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (bytes >= strlen(known[i].prefix) &&
		    memcmp(name, known[i].prefix, strlen(known[i].prefix)) == 0)
			return known[i].part;
	return GT_GRAPH_KERNEL;
}

/* Return an unused entry in the bucket of @object, or a new one. The caller must hold the lock. */
static struct gt_hsa_kernel *get_kernel_entry(uint64_t object)
{
	_Atomic(struct gt_hsa_kernel *) *bucket = gt_hsa_kernel_bucket(object);
	struct gt_hsa_kernel *k = atomic_load_explicit(bucket, memory_order_relaxed), *free = NULL;

	for (; k; k = k->next) {
		uint64_t has = atomic_load_explicit(&k->object, memory_order_relaxed);

		if (has == object)
			return k;
		if (!has)
			free = k;
	}
	if (free)
		return free;
	k = take_entry(sizeof *k);
	if (!k)
		return NULL;
	k->next = atomic_load_explicit(bucket, memory_order_relaxed);
	atomic_store_explicit(bucket, k, memory_order_release);
	return k;
}

static void add_kernel(const struct gt_hsa_kernel *new, uint64_t object)
{
	struct gt_hsa_kernel *k;

	gt_core_lock();
	k = get_kernel_entry(object);
	if (k) {
		k->executable = new->executable;
		k->symbol = new->symbol;
		k->info = new->info;
		k->kernarg_bytes = new->kernarg_bytes;
		k->internal = new->internal;
		k->replay = new->replay;
		k->text = new->text;
		atomic_store_explicit(&k->object, object, memory_order_release);
	}
	gt_core_unlock();
}

/* Freezing ---------------------------------------------------------------------- */

struct freeze {
	struct gt_hsa_runtime *runtime;
	struct gt_thread *thread;
	uint64_t executable, agent, code_object;
	const struct gt_hsa_loader *loader;
	struct gt_tool_object *object; /* the code object's tool object */
	char isa[64];                  /* instruction set of the code object's agent */
};

static void add_symbol_number(struct gt_text *text, const char *key, const struct freeze *f,
			      uint64_t symbol, enum gt_hsa_symbol_info what)
{
	uint32_t value = 0;

	if (GT_HSA_CORE(f->runtime, hsa_executable_symbol_get_info)(symbol, what, &value) ==
	    GT_HSA_SUCCESS)
		gt_text_add_number(text, key, value);
}

/* A kernel descriptor (amdhsa_kernel_descriptor) in the host's copy of the code object. */
struct descriptor {
	uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
	int64_t code_offset;
	uint32_t reserved1[5];
	uint32_t rsrc3, rsrc1, rsrc2;
};
static_assert(offsetof(struct descriptor, rsrc1) == 48, "amdhsa_kernel_descriptor");

static bool get_descriptor(const struct freeze *f, uint64_t object, struct descriptor *d)
{
	const void *host = NULL;

	if (!f->loader->query_host_address ||
	    f->loader->query_host_address((const void *)(uintptr_t)object, &host) !=
		    GT_HSA_SUCCESS ||
	    !host)
		return false;
	memcpy(d, host, sizeof *d);
	return true;
}

static void add_registers(struct gt_text *text, const struct descriptor *d)
{
	gt_text_add_number(text, "vgpr_granules", (d->rsrc1 & 63) + 1);
	gt_text_add_number(text, "sgpr_granules", (d->rsrc1 >> 6 & 15) + 1);
}

/* Set the register counts. The granule size depends on the device. */
static void set_registers(struct gputap_object *o, const struct descriptor *d, const char *isa)
{
	uint32_t granules = (d->rsrc1 & 63) + 1;
	bool unified = strncmp(isa, "gfx90a", 6) == 0 || strncmp(isa, "gfx94", 5) == 0 ||
		       strncmp(isa, "gfx95", 5) == 0;
	bool gfx10_on = strncmp(isa, "gfx1", 4) == 0;

	o->sgprs = gfx10_on ? 128 : ((d->rsrc1 >> 6 & 15) / 2 + 1) * 16;
	o->vgprs = unified ? ((d->rsrc3 & 63) + 1) * 4 : granules * (gfx10_on ? 8 : 4);
	if (unified)
		o->accum_vgprs = granules * 8 > o->vgprs ? granules * 8 - o->vgprs : 0;
	else if (strncmp(isa, "gfx908", 6) == 0)
		o->accum_vgprs = o->vgprs;
}

static void add_tool_symbol(const struct freeze *f, uint64_t symbol, const struct gt_hsa_kernel *k,
			    uint64_t object, const char *name, uint32_t bytes,
			    const struct descriptor *d)
{
	gt_hsa_core_hsa_executable_symbol_get_info_fn *info =
		GT_HSA_CORE(f->runtime, hsa_executable_symbol_get_info);
	struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_HSA_CORE,
		.type = GPUTAP_OBJECT_KERNEL_SYMBOL,
		.number = k->symbol,
		.parent = f->code_object,
		.handle = object,
		.device_handle = f->agent,
		.name = gt_tool_text(name, bytes),
		.storage_file = -1,
	};

	if (!f->object)
		return;
	info(symbol, GT_HSA_SYMBOL_KERNARG_BYTES, &o.kernarg_bytes);
	info(symbol, GT_HSA_SYMBOL_KERNARG_ALIGNMENT, &o.kernarg_align);
	info(symbol, GT_HSA_SYMBOL_GROUP_BYTES, &o.group_bytes);
	info(symbol, GT_HSA_SYMBOL_PRIVATE_BYTES, &o.private_bytes);
	if (d) {
		set_registers(&o, d, f->isa);
		o.code_offset = d->code_offset;
		o.code_address = object + (uint64_t)d->code_offset;
	}
	gt_tool_object_add(&o, f->object);
}

static int add_each_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	struct freeze *f = data;
	gt_hsa_core_hsa_executable_symbol_get_info_fn *info =
		GT_HSA_CORE(f->runtime, hsa_executable_symbol_get_info);
	struct gt_text text = {0};
	char name[NAME_BYTES];
	struct gt_hsa_kernel kernel = {.executable = executable};
	uint32_t type = 0, bytes = 0, whole;
	uint64_t object = 0;
	struct descriptor d;
	bool described;

	(void)agent;
	if (info(symbol, GT_HSA_SYMBOL_TYPE, &type) != GT_HSA_SUCCESS ||
	    type != GT_HSA_SYMBOL_KERNEL ||
	    info(symbol, GT_HSA_SYMBOL_KERNEL_OBJECT, &object) != GT_HSA_SUCCESS ||
	    info(symbol, GT_HSA_SYMBOL_NAME_LENGTH, &bytes) != GT_HSA_SUCCESS || !object)
		return GT_HSA_SUCCESS;
	if (bytes >= sizeof name || info(symbol, GT_HSA_SYMBOL_NAME, name) != GT_HSA_SUCCESS)
		bytes = 0;
	whole = bytes;
	if (bytes > 3 && memcmp(name + bytes - 3, ".kd", 3) == 0)
		bytes -= 3;
	kernel.info.name = bytes ? gt_string_id(f->thread, name, bytes) : 0;
	kernel.symbol = gt_object_number(GT_OBJECT_KERNEL_SYMBOL);
	gt_text_add_bytes(&text, "name", name, bytes);
	add_symbol_number(&text, "kernarg_bytes", f, symbol, GT_HSA_SYMBOL_KERNARG_BYTES);
	add_symbol_number(&text, "kernarg_alignment", f, symbol, GT_HSA_SYMBOL_KERNARG_ALIGNMENT);
	add_symbol_number(&text, "group_bytes", f, symbol, GT_HSA_SYMBOL_GROUP_BYTES);
	add_symbol_number(&text, "private_bytes", f, symbol, GT_HSA_SYMBOL_PRIVATE_BYTES);
	described = get_descriptor(f, object, &d);
	if (described)
		add_registers(&text, &d);
	kernel.text = bytes ? gt_tool_text(name, bytes) : NULL;
	kernel.info.part = (uint16_t)get_part(name, bytes);
	kernel.internal = kernel.info.part == GT_GRAPH_KERNEL && bytes > 13 &&
			  memcmp(name, "__amd_rocclr_", 13) == 0;
	info(symbol, GT_HSA_SYMBOL_KERNARG_BYTES, &kernel.kernarg_bytes);
	kernel.info.unwanted = !gt_kernel_wanted(name, bytes);
	kernel.replay =
		gt_fork_replay_add(f->thread,
				   &(struct gt_object){GT_OBJECT_KERNEL_SYMBOL, GT_DOMAIN_HSA_CORE,
						       kernel.symbol, object, f->code_object, true},
				   &text);
	add_kernel(&kernel, object);
	add_tool_symbol(f, symbol, &kernel, object, name, whole, described ? &d : NULL);
	return GT_HSA_SUCCESS;
}

/* Add the URI to the text. Return it in the form for tools; NULL: the code object has no URI. */
static const char *add_uri(struct gt_text *text, const struct freeze *f, uint64_t object)
{
	char uri[PATH_BYTES];
	uint32_t bytes = 0;

	if (f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_URI_LENGTH, &bytes) !=
		    GT_HSA_SUCCESS ||
	    !bytes || bytes >= sizeof uri ||
	    f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_URI, uri) !=
		    GT_HSA_SUCCESS)
		return NULL;
	gt_text_add_bytes(text, "uri", uri, bytes);
	return gt_tool_text(uri, strnlen(uri, bytes));
}

/* Add the origin of a code object, then its tool object. */
static void add_object(struct freeze *f, uint64_t object, struct gputap_object *o, uint32_t storage)
{
	gt_hsa_core_hsa_agent_get_info_fn *info = GT_HSA_CORE(f->runtime, hsa_agent_get_info);

	o->domain = GPUTAP_DOMAIN_HSA_CORE;
	o->type = GPUTAP_OBJECT_CODE_OBJECT;
	o->number = f->code_object;
	o->handle = object;
	o->device_handle = f->agent;
	o->storage_file = -1;
	if (storage == 1)
		f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_FILE,
						       &o->storage_file);
	if (storage == 2) {
		f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_MEMORY_BASE,
						       &o->storage_base);
		f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_MEMORY_BYTES,
						       &o->storage_bytes);
	}
	f->isa[0] = '\0';
	info(f->agent, GT_HSA_AGENT_NAME, f->isa);
	f->object = gt_tool_object_add(o, NULL);
}

static int add_each_code_object(uint64_t executable, uint64_t object, void *data)
{
	static const char *const storages[] = {"none", "file", "memory"};
	struct freeze *f = data;
	struct gt_text text = {0};
	struct gt_hsa_agent *agent;
	struct code_object *c;
	struct gt_fork_replay *replay;
	struct gputap_object o = {0};
	uint32_t storage = 0;

	if (f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_AGENT, &f->agent) !=
		    GT_HSA_SUCCESS ||
	    !f->agent)
		return GT_HSA_SUCCESS;
	f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_BASE, &o.load_base);
	f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_BYTES, &o.load_bytes);
	f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_DELTA, &o.load_delta);
	f->loader->loaded_code_object_get_info(object, GT_HSA_LOADED_STORAGE_TYPE, &storage);
	o.uri = add_uri(&text, f, object);
	gt_text_add(&text, "storage", storage < 3 ? storages[storage] : "");
	gt_text_add_number(&text, "load_base", o.load_base);
	gt_text_add_number(&text, "load_bytes", o.load_bytes);
	gt_text_add_number(&text, "load_delta", (uint64_t)o.load_delta);
	agent = gt_hsa_agent_get(f->runtime, f->thread, f->agent);
	f->code_object = gt_object_number(GT_OBJECT_CODE_OBJECT);
	replay = gt_fork_replay_add(f->thread,
				    &(struct gt_object){GT_OBJECT_CODE_OBJECT, GT_DOMAIN_HSA_CORE,
							f->code_object, object,
							agent ? agent->number : 0, true},
				    &text);
	o.parent = agent ? agent->number : 0;
	add_object(f, object, &o, storage);
	gt_core_lock();
	c = spare ? spare : take_entry(sizeof *c);
	if (c) {
		if (c == spare)
			spare = c->next;
		*c = (struct code_object){loaded, executable, replay, f->object, true};
		loaded = c;
	}
	gt_core_unlock();
	GT_HSA_CORE(f->runtime, hsa_executable_iterate_agent_symbols)
	(executable, f->agent, (void *)(uintptr_t)add_each_symbol, f);
	return GT_HSA_SUCCESS;
}

/* Notify tools of loaded code objects in load order. Call after the iteration, which holds locks of
 * the runtime. */
static void notify_loaded(uint64_t executable)
{
	struct gt_tool_object *object;

	gt_hsa_notify_agents();
	do {
		struct code_object *oldest = NULL;

		gt_core_lock();
		for (struct code_object *c = loaded; c; c = c->next)
			if (c->executable == executable && c->unnotified)
				oldest = c;
		object = oldest ? oldest->object : NULL;
		if (oldest)
			oldest->unnotified = false;
		gt_core_unlock();
		gt_tool_object_loaded(object);
	} while (object);
}

/* Get the loader's functions. Return false if the runtime lacks them. */
static bool get_loader(const struct gt_hsa_runtime *r, struct gt_hsa_loader *loader)
{
	const size_t least = offsetof(struct gt_hsa_loader, create_reader);
	gt_hsa_core_hsa_system_get_major_extension_table_fn *table =
		GT_HSA_CORE(r, hsa_system_get_major_extension_table);

	memset(loader, 0, sizeof *loader);
	return table &&
	       (table(GT_HSA_EXTENSION_AMD_LOADER, 1, sizeof *loader, loader) == GT_HSA_SUCCESS ||
		table(GT_HSA_EXTENSION_AMD_LOADER, 1, least, loader) == GT_HSA_SUCCESS) &&
	       loader->loaded_code_object_get_info;
}

static void add_executable(struct gt_hsa_runtime *r, const struct gt_hsa_loader *loader,
			   uint64_t executable)
{
	struct freeze f = {.runtime = r,
			   .thread = gt_thread_own(),
			   .executable = executable,
			   .loader = loader};

	if (!f.thread)
		return;
	loader->iterate_loaded_code_objects(executable, add_each_code_object, &f);
}

int gt_hsa_core_wrap_hsa_executable_freeze(const struct gt_call *call, uint64_t executable,
					   const char *options)
{
	int status = ((gt_hsa_core_hsa_executable_freeze_fn *)call->tap->real)(executable, options);
	struct gt_hsa_runtime *r = gt_hsa_runtime_of(call);
	struct gt_hsa_loader loader;

	if (status == GT_HSA_SUCCESS && get_loader(r, &loader)) {
		add_executable(r, &loader, executable);
		notify_loaded(executable);
	}
	return status;
}

/* Executables of a running program -------------------------------------------------- */

struct finding {
	struct gt_hsa_runtime *runtime;
	struct gt_hsa_loader loader;
};

static bool is_known(uint64_t executable)
{
	const struct code_object *c;

	gt_core_lock();
	for (c = loaded; c && c->executable != executable;)
		c = c->next;
	gt_core_unlock();
	return c;
}

static bool is_frozen(const struct gt_hsa_runtime *r, uint64_t executable)
{
	uint32_t state = 0;

	return GT_HSA_CORE(r, hsa_executable_get_info)(executable, GT_HSA_EXECUTABLE_STATE,
						       &state) == GT_HSA_SUCCESS &&
	       state == GT_HSA_EXECUTABLE_FROZEN;
}

/* Add an executable. The loader holds its lock during the iteration, so that no executable is
 * destroyed. @executable: 0 in the place of a destroyed one, in some releases */
static int add_each_executable(uint64_t executable, void *data)
{
	const struct finding *f = data;

	if (executable && !is_known(executable) && is_frozen(f->runtime, executable))
		add_executable(f->runtime, &f->loader, executable);
	return GT_HSA_SUCCESS;
}

/* Return a loaded executable whose code objects tools have not been notified of; 0: none. */
static uint64_t find_unnotified(void)
{
	uint64_t executable = 0;

	gt_core_lock();
	for (const struct code_object *c = loaded; c; c = c->next)
		if (c->unnotified)
			executable = c->executable;
	gt_core_unlock();
	return executable;
}

bool gt_hsa_code_find_loaded(struct gt_hsa_runtime *r)
{
	struct finding f = {.runtime = r};
	uint64_t executable;

	if (!get_loader(r, &f.loader) || !f.loader.iterate_executables)
		return false;
	/* would wait for the loader's lock; without it, register counts are not known */
	f.loader.query_host_address = NULL;
	if (f.loader.iterate_executables(add_each_executable, &f) != GT_HSA_SUCCESS)
		return false;
	while ((executable = find_unnotified()) != 0)
		notify_loaded(executable);
	return true;
}

/* Mark the kernels and code objects of an executable as unloaded. */
static void unload_executable(uint64_t executable, struct gt_thread *t)
{
	struct code_object *gone = NULL, **end = &gone;

	gt_core_lock();
	for (size_t i = 0; i < sizeof gt_hsa_kernel_buckets / sizeof gt_hsa_kernel_buckets[0]; i++)
		for (struct gt_hsa_kernel *k =
			     atomic_load_explicit(&gt_hsa_kernel_buckets[i], memory_order_relaxed);
		     k; k = k->next)
			if (k->executable == executable &&
			    atomic_load_explicit(&k->object, memory_order_relaxed)) {
				atomic_store_explicit(&k->object, 0, memory_order_release);
				gt_fork_replay_remove(t, k->replay);
			}
	for (struct code_object **at = &loaded; *at;) {
		struct code_object *c = *at;

		if (c->executable != executable) {
			at = &c->next;
			continue;
		}
		gt_fork_replay_remove(t, c->replay);
		*at = c->next;
		c->next = NULL;
		*end = c;
		end = &c->next;
	}
	gt_core_unlock();
	for (struct code_object *c = gone; c; c = c->next) /* in reverse load order */
		gt_tool_object_unload(c->object);
	gt_core_lock();
	*end = spare;
	spare = gone;
	gt_core_unlock();
}

/* Unload the code objects before the real call, because the next code object may be loaded at the
 * same address. */
int gt_hsa_core_wrap_hsa_executable_destroy(const struct gt_call *call, uint64_t executable)
{
	unload_executable(executable, gt_thread_own());
	return ((gt_hsa_core_hsa_executable_destroy_fn *)call->tap->real)(executable);
}
