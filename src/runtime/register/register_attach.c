/* SPDX-License-Identifier: MIT */
/* Attaches to ROCm 6 and later: its libraries offer their tables of functions through
 * librocprofiler-register to the library that exports rocprofiler_set_api_table(). libgputap is the
 * exporting library, because it comes first. A librocprofiler-sdk that would have received the
 * tables gets them after libgputap, so its functions precede the taps: program, SDK, tap, runtime.
 *
 * This code runs during the runtime's initialisation, so it copies and patches tables without
 * calling any runtime. During that time, librocprofiler-register would refuse another registration,
 * nested or from another thread, and that registration would be lost. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/emit.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/subscriber.h"
#include "core/table.h"
#include "gputap/tool.h"
#include "runtime/module.h"
#include "runtime/registered.h"
#include "runtime/roctx_offer.h"
#include "generated/rccl_taps.h"
#include "tool/tool_load.h"
#include "util/environ_publish.h"

#pragma weak gputap_tool_add /* unit tests link without this function */

#define SDK_NAME      "librocprofiler-sdk.so"
#define REGISTER_NAME "librocprofiler-register.so"

/* rocprofiler_status_t */
enum { SUCCESS = 0, INVALID_ARGUMENT = 19, NOT_AVAILABLE = 37 };

typedef gt_set_api_table_fn set_api_table_fn;
__attribute__((visibility("default"))) set_api_table_fn rocprofiler_set_api_table;

/* Provider for RCCL, which has no separate folder. */
static _Atomic(void *) taken_rccl[GT_INSTANCES];
GT_PROVIDE(gt_registered) = {
	.name = "rccl",
	.domain = GT_DOMAIN_RCCL,
	.library = "RCCL",
	.tables = gt_rccl_tables,
	.taken = taken_rccl,
};

/* true while librocprofiler-register passes on tables that it has passed on before */
static _Atomic bool is_repeated;

/* Take one table, which starts with its size in bytes. */
static int take_sized(const struct gt_registered *r, uint64_t version, void *theirs)
{
	const size_t size = *(const uint64_t *)theirs;
	char text[96];

	if (!gt_recording.session)
		return 0;
	for (uint32_t i = 0; i < GT_INSTANCES; i++)
		if (atomic_load(&r->taken[i]) == theirs) {
			gt_table_extend(&r->tables[i], theirs);
			return 0;
		}
	for (uint32_t i = 0; i < GT_INSTANCES; i++) {
		if (r->may_take && !r->may_take(r->domain, i))
			continue;
		r->tables[i].version = version;
		if (gt_table_register(&r->tables[i], theirs, size, theirs) != 0)
			continue;
		atomic_store(&r->taken[i], theirs);
		gt_runtime_module_of(r->domain, theirs, "rocprofiler-register", version);
		return 0;
	}
	snprintf(text, sizeof text, "a copy of the %s library, because too many copies are loaded",
		 r->library);
	gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, r->domain, 0, text);
	return -ENOSPC;
}

/* Offer a table of functions that gputap does not know, unchanged, to subscribers to tables. */
static int offer_unknown_table(const char *name, uint64_t version, uint64_t instance, void *theirs)
{
	if (gt_recording.session && !atomic_load(&is_repeated))
		gt_subscribers_offer(name, (uint32_t)instance, version, theirs,
				     *(const uint64_t *)theirs);
	return 0;
}

static int take_tables(const char *name, uint64_t version, uint64_t instance, void **tables,
		       uint64_t count)
{
	for (const struct gt_registered *r = GT_PROVIDED(gt_registered);
	     r < GT_PROVIDED_END(gt_registered); r++)
		if (!strcmp(name, r->name))
			return r->take ? r->take(version, tables, count)
				       : take_sized(r, version, tables[0]);
	return offer_unknown_table(name, version, instance, tables[0]);
}

/* SDK -------------------------------------------------------------------- */

struct library_search {
	const char *name;
	char path[PATH_MAX];
};

static int is_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library_search *l = data;
	const char *slash = strrchr(info->dlpi_name, '/'),
		   *base = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (strncmp(base, l->name, strlen(l->name)) || strlen(info->dlpi_name) >= sizeof l->path)
		return 0;
	strcpy(l->path, info->dlpi_name);
	return 1;
}

/* Find a mapped library by name, in any version. */
static bool find_mapped(const char *name, char *path)
{
	struct library_search l = {.name = name};

	if (!dl_iterate_phdr(is_library, &l))
		return false;
	strcpy(path, l.path);
	return true;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool is_true(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0") && strcasecmp(value, "off") &&
	       strcasecmp(value, "false") && strcasecmp(value, "no") && strcasecmp(value, "n") &&
	       strcasecmp(value, "f");
}

/* Return true if librocprofiler-register would have detected a tool without libgputap. `gputap run`
 * has saved the user's value of ROCPROFILER_REGISTER_FORCE_LOAD in a variable of gputap. */
static bool has_tool(void)
{
	return is_set("ROCP_TOOL_LIBRARIES") || is_set("ROCPROFILER_REGISTER_LIBRARY") ||
	       is_true("GPUTAP_REGISTER_FORCE_LOAD") ||
	       dlsym(RTLD_DEFAULT, "rocprofiler_configure");
}

/* Open the SDK as librocprofiler-register would: the library that the user names, otherwise a
 * library in the folder of librocprofiler-register. Return NULL if there is none. */
static void *open_sdk(void)
{
	const char *named = getenv("ROCPROFILER_REGISTER_LIBRARY");
	char path[PATH_MAX];
	void *handle;

	if (find_mapped(SDK_NAME, path))
		return dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!has_tool())
		return NULL;
	handle = dlopen(named && *named ? named : SDK_NAME, RTLD_LAZY | RTLD_GLOBAL);
	if (!handle && find_mapped(REGISTER_NAME, path)) {
		char *slash = strrchr(path, '/');

		if (slash && (size_t)(slash - path) + sizeof "/" SDK_NAME <= sizeof path) {
			strcpy(slash + 1, SDK_NAME);
			handle = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
		}
	}
	if (!handle)
		gt_event_write(gt_thread_own(), GT_EVENT_TOOL, GT_DOMAIN_NONE, 0,
			       named && *named ? named : SDK_NAME);
	return handle;
}

/* Add the SDK as a tool if it is gputap's own SDK, because its requests must be known before tables
 * are taken. gputap's SDK does not export rocprofiler_set_api_table(). */
static void let_in(void *handle)
{
	const struct gputap_tool *(*describe)(uint32_t) = NULL, *tool;

	*(void **)&describe = dlsym(handle, "gputap_tool_describe");
	tool = describe ? describe(gputap_version()) : NULL;
	if (tool && gputap_tool_add)
		gputap_tool_add(tool);
}

static set_api_table_fn *find_sdk(void)
{
	static _Atomic(set_api_table_fn *) known;
	set_api_table_fn *fn = atomic_load_explicit(&known, memory_order_acquire);
	void *handle;

	if (fn)
		return fn;
	handle = open_sdk();
	if (handle)
		let_in(handle);
	fn = handle ? (set_api_table_fn *)(uintptr_t)dlsym(handle, "rocprofiler_set_api_table")
		    : NULL;
	if (fn == rocprofiler_set_api_table)
		fn = NULL;
	atomic_store_explicit(&known, fn, memory_order_release);
	return fn;
}

/* Attaching by AMD's rocattach, which librocprofiler-register asks of the library that takes the
 * tables. The SDK does it. */

__attribute__((visibility("default"))) int rocprofiler_attach(void);
__attribute__((visibility("default"))) int rocprofiler_detach(void);

/* Call a function of the SDK. @own: the function of this library, which must not call itself */
static int call_sdk(const char *name, int (*own)(void))
{
	void *handle = open_sdk();
	int (*fn)(void) = NULL;

	if (handle)
		*(void **)&fn = dlsym(handle, name);
	return fn && fn != own ? fn() : NOT_AVAILABLE;
}

/* Return: rocprofiler_status_t. */
int rocprofiler_attach(void)
{
	return call_sdk("rocprofiler_attach", rocprofiler_attach);
}

int rocprofiler_detach(void)
{
	return call_sdk("rocprofiler_detach", rocprofiler_detach);
}

static int offer_tables(const char *name, uint64_t version, uint64_t instance, void **tables,
			uint64_t count)
{
	static const char *const names[] = {"hsa",     "hip",       "hip_compiler", "roctx",
					    "rccl",    "rocdecode", "rocjpeg",      "rocshmem",
					    "hipFile", "rocattach"};
	int saved = errno, status = INVALID_ARGUMENT;
	set_api_table_fn *next;

	gt_recording_init();
	gt_tools_meet_runtime(false);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			status = SUCCESS;
	next = atomic_load(&is_repeated) ? NULL : find_sdk();
	/* the table of AMD's library for attaching is for AMD's SDK only */
	if (status == SUCCESS && strcmp(name, "rocattach"))
		take_tables(name, version, instance, tables, count);
	if (next)
		status = next(name, version, instance, tables, count);
	errno = saved;
	return status;
}

/* Receive the tables of a library. @instance: counts from 0 for each name. An instance that cannot
 * be traced is reported in an event. This is not an error, because the program can continue.
 * Return: 0, or the status of the SDK. */
int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t count)
{
	int status;

	if (!name || !tables || !count || !tables[0])
		return INVALID_ARGUMENT;
	gt_tools_take_tables(true);
	status = offer_tables(name, version, instance, tables, count);
	gt_tools_take_tables(false);
	return status;
}

/* In a running program ------------------------------------------------------------- */

/* librocprofiler-register keeps the tables that libraries have registered, and has a function for
 * attaching tools that passes them on again (since ROCm 6.2). It looks for the receiver as at a
 * registration: in variables of the environment, and then in the library that they name. */

#define INVOKE "rocprofiler_register_invoke_all_registrations"
enum { REGISTER_SUCCESS = 0, REGISTER_DEADLOCK = 2, TRIES = 100, PAUSE_NS = 1000000 };
enum { REGISTER_NO_VARIABLES = -1 }; /* the variables could not be set */

static const char force[] = "ROCPROFILER_REGISTER_FORCE_LOAD=1",
		  receiver[] = "ROCPROFILER_REGISTER_LIBRARY=";
enum { FORCE, RECEIVER, REGISTER_VARIABLES };

/* Return the name under which dlopen() finds this library, or NULL if another copy would be
 * opened. */
static const char *own_name(void)
{
	set_api_table_fn *found;
	Dl_info where;
	void *handle;

	if (!dladdr(force, &where) || !where.dli_fname)
		return NULL;
	handle = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = (set_api_table_fn *)(uintptr_t)dlsym(handle, "rocprofiler_set_api_table");
	dlclose(handle);
	return found == rocprofiler_set_api_table ? where.dli_fname : NULL;
}

/* Let librocprofiler-register pass on all tables. Another library may be registering, which is
 * refused at the same time. */
static int invoke_all(int (*invoke)(void))
{
	const struct timespec pause = {0, PAUSE_NS};
	int status = REGISTER_DEADLOCK;

	for (int i = 0; i < TRIES && status == REGISTER_DEADLOCK; i++) {
		status = invoke();
		if (status == REGISTER_DEADLOCK)
			nanosleep(&pause, NULL);
	}
	return status;
}

/* Call @invoke with the variables set, and restore them, because children of the program inherit
 * them. Other threads may call getenv() (util/environ_publish.h). */
static int invoke_with_variables(int (*invoke)(void), const char *own)
{
	static char receiver_entry[sizeof receiver + PATH_MAX]; /* written once */
	struct gt_environ_change changes[REGISTER_VARIABLES] = {
		[FORCE] = {.name = "ROCPROFILER_REGISTER_FORCE_LOAD", .entry = force},
		[RECEIVER] = {.name = "ROCPROFILER_REGISTER_LIBRARY", .entry = receiver_entry},
	};
	const char *saved[REGISTER_VARIABLES];
	int status = REGISTER_NO_VARIABLES;

	if (!receiver_entry[0])
		snprintf(receiver_entry, sizeof receiver_entry, "%s%s", receiver, own);
	for (int i = 0; i < REGISTER_VARIABLES; i++)
		saved[i] = gt_environ_entry(changes[i].name);
	if (gt_environ_publish(changes, REGISTER_VARIABLES))
		status = invoke_all(invoke);
	for (int i = 0; i < REGISTER_VARIABLES; i++) {
		changes[i].only_if = changes[i].entry;
		changes[i].entry = saved[i];
	}
	gt_environ_publish(changes, REGISTER_VARIABLES);
	return status;
}

/* Return why the tables were not passed on; NULL: they were. */
static const char *phrase_of(int status)
{
	switch (status) {
	case REGISTER_SUCCESS: return NULL;
	case REGISTER_NO_VARIABLES: return "the environment could not be changed";
	default: return "librocprofiler-register refused to pass on their tables";
	}
}

/* Add the taps that an earlier session did not request. Return false if no table is known. */
static bool extend_taken(void)
{
	bool found = false;

	for (const struct gt_registered *r = GT_PROVIDED(gt_registered);
	     r < GT_PROVIDED_END(gt_registered); r++)
		for (uint32_t i = 0; r->taken && i < GT_INSTANCES; i++) {
			void *theirs = atomic_load(&r->taken[i]);

			if (theirs)
				gt_table_extend(&r->tables[i], theirs);
			found |= theirs != NULL;
		}
	return found;
}

/* Let gputap's ROCTx library offer its tables again, which it has done at its first call. */
static void attach_roctx(const char *name)
{
	char path[PATH_MAX];
	void *handle = find_mapped(name, path) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	const struct gt_roctx_offer *ours = handle ? dlsym(handle, "gputap_roctx") : NULL;
	const ElfW(Sym) *symbol = NULL;
	Dl_info where;

	if (ours && dladdr1(ours, &where, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	    symbol->st_size >= sizeof *ours)
		ours->offer(rocprofiler_set_api_table);
	if (handle)
		dlclose(handle);
}

static void attach_kept(void)
{
	char path[PATH_MAX], sdk[PATH_MAX];
	int (*invoke)(void) = NULL;
	const char *own = own_name(), *why = NULL;
	bool is_known = extend_taken();
	void *handle =
		find_mapped(REGISTER_NAME, path) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	if (!handle)
		return;
	*(void **)&invoke = dlsym(handle, INVOKE);
	if (!invoke)
		why = "this version of librocprofiler-register does not pass on tables again";
	else if (find_mapped(SDK_NAME, sdk))
		why = is_known ? "" : "a librocprofiler-sdk has taken their tables";
	else if (!own)
		why = "libgputap cannot be opened by its name";
	atomic_store(&is_repeated, true);
	if (!why)
		why = phrase_of(invoke_with_variables(invoke, own));
	atomic_store(&is_repeated, false);
	dlclose(handle);
	if (why && *why) {
		snprintf(
			path, sizeof path,
			"calls of ROCm libraries that register their tables (HIP, ROCTx, RCCL): %s",
			why);
		gt_late_missing(GT_DOMAIN_HIP, path);
	}
}

static void attach_registered(void)
{
	attach_roctx("libroctx64.so");
	attach_roctx("librocprofiler-sdk-roctx.so");
	attach_kept();
}

GT_PROVIDE(gt_late) = {.name = "rocprofiler-register", .attach = attach_registered};
