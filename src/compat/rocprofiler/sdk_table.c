/* SPDX-License-Identifier: MIT */
/* Passes the runtimes' tables to clients that requested them, and reports each table's registration
 * as the initialisation of its runtime.
 *
 * HSA's table is the runtime's own table, with its size and order. gputap only passes it on, under
 * a name. gputap has one table for ROCTx. Clients get the three tables of upstream, and the entries
 * that clients change are copied back. */
#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

enum {
	SUBSCRIBERS = 64,
	INSTANCES = 16,
	OFFERED = 15,
	FIRST_OFFERED = 16 /* bit */,
	KNOWN_TABLES = 2 * ROCPROFILER_TABLE_LAST - 1,
	PASSED = 64
};

static struct {
	rocprofiler_intercept_library_cb_t fn;
	uint32_t libs;
	void *user;
} subscribers[SUBSCRIBERS];
static _Atomic int subscriber_count;

/* HSA's table, up to the last member read here. AMD's releases add members at the end. */
struct hsa_tables {
	struct {
		uint32_t major, size, step, reserved;
	} version;
	void *core, *amd_ext, *finalizer, *image, *tools;
};

/* A table that was passed to clients, or a runtime that was initialised, for clients that are
 * forced later. Protected by sdk_lock(). */
struct passed {
	rocprofiler_intercept_table_t type; /* 0: a runtime */
	rocprofiler_runtime_initialization_operation_t operation;
	uint64_t version, instance;
	void *table;
};
static struct passed all_passed[PASSED];
static int passed_count;

static void remember(const struct passed *p)
{
	bool is_known = false;

	sdk_lock();
	for (int i = 0; i < passed_count; i++)
		is_known |=
			all_passed[i].type == p->type && all_passed[i].operation == p->operation &&
			all_passed[i].instance == p->instance && all_passed[i].table == p->table;
	if (!is_known && passed_count < PASSED)
		all_passed[passed_count++] = *p;
	sdk_unlock();
}

static void pass_table(const struct passed *p, int first)
{
	void *tables[1] = {p->table};

	for (int i = first; i < atomic_load(&subscriber_count); i++)
		if (subscribers[i].libs & (uint32_t)p->type)
			subscribers[i].fn(p->type, p->version, p->instance, tables, 1,
					  subscribers[i].user);
}

static void hand_out(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void *table)
{
	const struct passed p = {.type = type,
				 .version = version,
				 .instance = instance,
				 .table = table};

	remember(&p);
	pass_table(&p, 0);
}

/* Version of a runtime ---------------------------------------------------------------- */

struct library_version {
	const char *name;
	uint64_t version;
};

/* Find the version of a library: "/usr/lib/libamdhip64.so.5.2.21153" gives 50200. A third number of
 * 100 or more is a build count and is ignored. */
static int is_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library_version *l = data;
	const char *found = strstr(info->dlpi_name, l->name);
	uint64_t parts[3] = {0, 0, 0};
	char *path, *at;

	(void)size;
	if (!found)
		return 0;
	path = realpath(info->dlpi_name, NULL);
	at = path ? strstr(path, ".so.") : NULL;
	for (int i = 0; at && i < 3; i++) {
		at += i == 0 ? 4 : 1;
		parts[i] = strtoull(at, &at, 10);
		if (*at != '.')
			break;
	}
	l->version = 10000 * parts[0] + 100 * parts[1] + (parts[2] < 100 ? parts[2] : 0);
	free(path);
	return 1;
}

/* Return the version that the runtime passed, or the version in its file name. Never return 0,
 * because 0 means "missing" to clients. */
static uint64_t version_of(const struct gputap_table *table, const char *name)
{
	struct library_version l = {name, 0};

	if (table->version)
		return table->version;
	dl_iterate_phdr(is_library, &l);
	return l.version ? l.version : 1;
}

/* Tables -------------------------------------------------------------------------------- */

/* Handle HSA's own table, including the members before its functions. */
static void on_hsa(const struct gputap_table *table)
{
	uint64_t version = version_of(table, "libhsa-runtime64");
	const struct hsa_tables *t = (const struct hsa_tables *)(const void *)table->entries;

	if (!table->instance &&
	    t->version.size >= offsetof(struct hsa_tables, tools) + sizeof t->tools && t->tools)
		sdk_scratch_table(t->tools);
	sdk_on_runtime(ROCPROFILER_RUNTIME_INITIALIZATION_HSA, version, table->instance);
	hand_out(ROCPROFILER_HSA_TABLE, version, table->instance, table->entries);
}

/* Names of the tables that separate libraries offer, indexed by bit. */
static _Atomic(const char *) offered[OFFERED];

const char *sdk_offered_name(uint32_t type)
{
	for (int i = 0; i < OFFERED; i++)
		if (type == 1u << (FIRST_OFFERED + i))
			return atomic_load(&offered[i]);
	return NULL;
}

static void on_offered(const struct gputap_table *table)
{
	int i = 0;

	sdk_lock();
	while (i < OFFERED && atomic_load(&offered[i]) &&
	       strcmp(atomic_load(&offered[i]), table->name))
		i++;
	if (i < OFFERED && !atomic_load(&offered[i]))
		atomic_store(&offered[i], strdup(table->name));
	sdk_unlock();
	if (i == OFFERED)
		sdk_report("the table of %s is not passed to tools: %d tables were passed already",
			   table->name, OFFERED);
	else
		hand_out((rocprofiler_intercept_table_t)(1u << (FIRST_OFFERED + i)),
			 table->version ? table->version : 1, table->instance, table->entries);
}

/* Positions of ROCTx's three tables in gputap's one table, after the sizes. */
static const struct {
	rocprofiler_intercept_table_t type;
	uint32_t from, count;
} markers[] = {
	{ROCPROFILER_MARKER_CORE_TABLE, 0, ROCPROFILER_MARKER_CORE_API_ID_LAST},
	{ROCPROFILER_MARKER_CONTROL_TABLE, 8, ROCPROFILER_MARKER_CONTROL_API_ID_LAST},
	{ROCPROFILER_MARKER_NAME_TABLE, 16, ROCPROFILER_MARKER_NAME_API_ID_LAST},
};

static void on_marker(const struct gputap_table *table)
{
	static struct {
		uint64_t size;
		void *entries[8];
	} all[INSTANCES][3];
	const uint64_t version = table->version ? table->version : 10000 * 4 + 100 * 1;

	sdk_on_runtime(ROCPROFILER_RUNTIME_INITIALIZATION_MARKER, version, table->instance);
	for (int i = 0; i < 3; i++) {
		void **entries = table->entries + 1 + markers[i].from,
		     **ours = all[table->instance % INSTANCES][i].entries;

		if (table->bytes < (1 + markers[i].from + markers[i].count) * sizeof *entries)
			continue;
		all[table->instance % INSTANCES][i].size = (1 + markers[i].count) * sizeof *entries;
		memcpy(ours, entries, markers[i].count * sizeof *entries);
		hand_out(markers[i].type, version, table->instance,
			 &all[table->instance % INSTANCES][i]);
		memcpy(entries, ours, markers[i].count * sizeof *entries);
	}
}

/* Runtimes whose calls this library does not know. Clients can intercept the calls through the
 * runtimes' tables. */
static const struct unknown {
	const char *name;
	rocprofiler_runtime_initialization_operation_t operation;
	rocprofiler_intercept_table_t type;
} unknown[] = {
	{"rocdecode", ROCPROFILER_RUNTIME_INITIALIZATION_ROCDECODE, ROCPROFILER_ROCDECODE_TABLE},
	{"rocjpeg", ROCPROFILER_RUNTIME_INITIALIZATION_ROCJPEG, ROCPROFILER_ROCJPEG_TABLE},
};

static void on_named(const struct gputap_table *table)
{
	if (!strcmp(table->name, "HsaApiTable")) {
		on_hsa(table);
		return;
	}
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		if (!strcmp(table->name, unknown[i].name)) {
			sdk_on_runtime(unknown[i].operation, table->version, table->instance);
			hand_out(unknown[i].type, table->version, table->instance, table->entries);
			return;
		}
	on_offered(table);
}

static void on_table(const struct gputap_table *table, void *user)
{
	(void)user;
	switch (table->domain) {
	case 0: on_named(table); break;
	case GPUTAP_DOMAIN_HIP: {
		uint64_t version = version_of(table, "libamdhip64");

		sdk_on_runtime(ROCPROFILER_RUNTIME_INITIALIZATION_HIP, version, table->instance);
		hand_out(ROCPROFILER_HIP_RUNTIME_TABLE, version, table->instance, table->entries);
		break;
	}
	case GPUTAP_DOMAIN_HIP_COMPILER:
		hand_out(ROCPROFILER_HIP_COMPILER_TABLE, version_of(table, "libamdhip64"),
			 table->instance, table->entries);
		break;
	case GPUTAP_DOMAIN_ROCTX: on_marker(table); break;
	case GPUTAP_DOMAIN_RCCL:
		sdk_on_runtime(ROCPROFILER_RUNTIME_INITIALIZATION_RCCL,
			       version_of(table, "librccl"), table->instance);
		hand_out(ROCPROFILER_RCCL_TABLE, version_of(table, "librccl"), table->instance,
			 table->entries);
		break;
	default: break;
	}
}

static void subscribe_to_tables(void)
{
	gputap_table_subscribe(on_table, NULL);
}

void sdk_tables_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, subscribe_to_tables);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_at_intercept_table_registration(
	rocprofiler_intercept_library_cb_t callback, int libs, void *data)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	int n;

	if (!callback || libs & ~(KNOWN_TABLES | ROCPROFILER_GPUTAP_OFFERED_TABLES))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (atomic_load(&sdk_initialized) == SDK_DONE)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	sdk_lock();
	n = atomic_load(&subscriber_count);
	if (n < SUBSCRIBERS) {
		subscribers[n].fn = callback;
		subscribers[n].libs = libs ? (uint32_t)libs : KNOWN_TABLES;
		subscribers[n].user = data;
		atomic_store(&subscriber_count, n + 1);
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	sdk_unlock();
	sdk_tables_init();
	return status;
}

/* Initialisation as a service ---------------------------------------------------------------- */

/* Notify the contexts of @client, or all contexts if @client is 0. */
static void notify_runtime(rocprofiler_runtime_initialization_operation_t operation,
			   uint64_t version, uint64_t instance, uint32_t client)
{
	rocprofiler_callback_tracing_runtime_initialization_data_t data = {sizeof data, version,
									   instance};
	rocprofiler_user_data_t nothing = {0};
	rocprofiler_thread_id_t tid;

	rocprofiler_get_thread_id(&tid);
	for (int i = 0; i < SDK_CONTEXTS; i++) {
		struct sdk_context *c = &sdk_contexts[i];
		const struct sdk_service *service =
			&c->called[ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION];
		const struct sdk_recorded *to =
			&c->recorded[ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION];
		const rocprofiler_callback_tracing_record_t r = {
			.context_id = {c->handle},
			.thread_id = tid,
			.kind = ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION,
			.operation = operation,
			.phase = ROCPROFILER_CALLBACK_PHASE_NONE,
			.payload = &data,
		};
		const rocprofiler_buffer_tracing_runtime_initialization_record_t b = {
			.size = sizeof b,
			.kind = ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,
			.operation = operation,
			.thread_id = tid,
			.timestamp = gputap_now(),
			.version = version,
			.instance = instance,
		};

		if (!c->handle || !atomic_load(&c->active) || (client && c->client != client))
			continue;
		if (sdk_asks(&service->ops, (uint32_t)operation))
			service->fn(r, &nothing, service->user);
		if (sdk_asks(&to->ops, (uint32_t)operation))
			sdk_buffer_write(to->buffer,
					 ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION, &b,
					 sizeof b, false);
	}
}

void sdk_on_runtime(rocprofiler_runtime_initialization_operation_t operation, uint64_t version,
		    uint64_t instance)
{
	const struct passed p = {.operation = operation, .version = version, .instance = instance};

	remember(&p);
	notify_runtime(operation, version, instance, 0);
}

int sdk_tables_subscribers(void)
{
	return atomic_load(&subscriber_count);
}

void sdk_tables_replay(uint32_t client, int first)
{
	struct passed all[PASSED];
	int count;

	sdk_lock();
	count = passed_count;
	memcpy(all, all_passed, sizeof all);
	sdk_unlock();
	if (!count && atomic_load(&subscriber_count) > first)
		sdk_report("a tool was forced after others were initialised: it gets only the "
			   "tables that runtimes register from now on");
	for (int i = 0; i < count; i++)
		if (all[i].type)
			pass_table(&all[i], first);
		else
			notify_runtime(all[i].operation, all[i].version, all[i].instance, client);
}

/* Registered libraries ----------------------------------------------------------------------- */

/* The function of librocprofiler-register, whose struct has the same members. */
typedef int iterate_fn(rocprofiler_runtime_registration_info_cb_t callback, void *data);

static iterate_fn *find_iterate(void)
{
	void *handle = dlopen("librocprofiler-register.so.0", RTLD_LAZY | RTLD_NOLOAD);
	iterate_fn *fn = NULL;

	if (!handle)
		return NULL;
	*(void **)&fn = dlsym(handle, "rocprofiler_register_iterate_registration_info");
	dlclose(handle); /* a library that has registered keeps it mapped */
	return fn;
}

static const char *common_name(rocprofiler_intercept_table_t type)
{
	switch ((uint32_t)type) {
	case ROCPROFILER_HSA_TABLE: return "hsa";
	case ROCPROFILER_HIP_RUNTIME_TABLE: return "hip";
	case ROCPROFILER_HIP_COMPILER_TABLE: return "hip_compiler";
	case ROCPROFILER_MARKER_CORE_TABLE: return "roctx";
	case ROCPROFILER_RCCL_TABLE: return "rccl";
	case ROCPROFILER_ROCDECODE_TABLE: return "rocdecode";
	case ROCPROFILER_ROCJPEG_TABLE: return "rocjpeg";
	default: return NULL;
	}
}

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_runtime_registration_info(
	rocprofiler_runtime_registration_info_cb_t callback, void *data)
{
	struct passed all[PASSED];
	iterate_fn *iterate;
	int count, stop = 0;

	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	iterate = find_iterate();
	if (iterate) {
		iterate(callback, data);
		return ROCPROFILER_STATUS_SUCCESS;
	}
	sdk_lock();
	count = passed_count;
	memcpy(all, all_passed, sizeof all);
	sdk_unlock();
	for (int i = 0; i < count && !stop; i++) {
		rocprofiler_runtime_registration_info_t info = {sizeof info,
								common_name(all[i].type),
								(uint32_t)all[i].version, 1};

		if (info.common_name)
			stop = callback(&info, data);
	}
	return ROCPROFILER_STATUS_SUCCESS;
}
