/* SPDX-License-Identifier: MIT */
/* Finds, configures, initialises and finalises clients.
 *
 *   found (all) ─► configured (all): "do you want to take part?"
 *               ─► initialised (all): contexts, services ─► ... ─► finalised
 *
 * Clients are found in this order, each function once: the forced client; ROCP_TOOL_LIBRARIES; the
 * globally visible symbol; all mapped libraries. gputap starts this library at the first call of a
 * runtime; rocprofiler_force_configure() starts the library at once. Like upstream, the library
 * ends in an exit() handler that is registered before the first client is configured. If a client
 * fails, a line is printed on stderr and only that client is disabled.
 *
 * No lock is held while a client's function runs, because the function may call anything, including
 * functions that finalise the client. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk.h"

/* The linker exports an executable's symbol if a library on the link line refers to the symbol.
 * This reference therefore makes the function visible in an executable linked without -rdynamic. */
#pragma weak rocprofiler_configure

struct client {
	rocprofiler_configure_func_t configure;
	rocprofiler_tool_configure_result_t *result; /* NULL: the client does not take part */
	/* id passed to the client, which may have changed its contents */
	rocprofiler_client_id_t *id;
	uint32_t handle;
	char from[PATH_MAX];
};

static struct client clients[SDK_CLIENTS];
static unsigned client_count;
static rocprofiler_configure_func_t forced;
/* true once rocprofiler_force_configure() was called, even without a tool */
static _Atomic bool is_forced;

/* Finding ------------------------------------------------------------------------------- */

static void add_client(rocprofiler_configure_func_t configure, const char *from)
{
	struct client *c = &clients[client_count];

	for (unsigned i = 0; i < client_count; i++)
		if (clients[i].configure == configure)
			return;
	if (client_count == SDK_CLIENTS) {
		sdk_report("%s is not used: %d tools are loaded already", from, SDK_CLIENTS);
		return;
	}
	c->configure = configure;
	snprintf(c->from, sizeof c->from, "%s", from && *from ? from : "(the program)");
	client_count++;
}

static const char *object_of(const void *function, struct link_map **map)
{
	Dl_info where;

	return dladdr1(function, &where, (void **)map, RTLD_DL_LINKMAP) ? where.dli_fname : NULL;
}

static rocprofiler_configure_func_t look_up(void *handle)
{
	return (rocprofiler_configure_func_t)(uintptr_t)dlsym(handle, "rocprofiler_configure");
}

/* Find a function that the library itself exports, not a function of a library that it is linked
 * with. */
static rocprofiler_configure_func_t find_own_configure(void *handle)
{
	rocprofiler_configure_func_t fn = look_up(handle);
	struct link_map *its, *of = NULL;

	return fn && dlinfo(handle, RTLD_DI_LINKMAP, &its) == 0 &&
			       object_of((const void *)(uintptr_t)fn, &of) && of == its
		       ? fn
		       : NULL;
}

static void find_named(const char *path)
{
	rocprofiler_configure_func_t fn;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL); /* stays open */
	if (!handle) {
		sdk_report("ROCP_TOOL_LIBRARIES: %s", dlerror());
		return;
	}
	fn = find_own_configure(handle);
	if (fn)
		add_client(fn, path);
	else
		sdk_report("ROCP_TOOL_LIBRARIES: %s is not a tool: it has no function "
			   "rocprofiler_configure()",
			   path);
}

static void find_in_list(const char *list)
{
	char path[PATH_MAX];

	for (size_t n; list && *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ":");
		if (n == 0 || n >= sizeof path)
			continue;
		memcpy(path, list, n);
		path[n] = '\0';
		find_named(path);
	}
}

static void find_mapped(void)
{
	struct link_map *map = NULL;
	void *program = dlopen(NULL, RTLD_LAZY), *handle;
	rocprofiler_configure_func_t fn;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0)
		return;
	for (; map; map = map->l_next) {
		handle = map->l_name && *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD)
						     : NULL;
		if (handle && (fn = find_own_configure(handle)) != NULL)
			add_client(fn, map->l_name);
		if (handle)
			dlclose(handle);
	}
	dlclose(program);
}

static void find_clients(void)
{
	struct link_map *map;
	rocprofiler_configure_func_t fn;

	if (forced)
		add_client(forced, "(forced)");
	find_in_list(getenv("ROCP_TOOL_LIBRARIES"));
	fn = look_up(RTLD_DEFAULT);
	fn = fn ? fn : rocprofiler_configure;
	if (!fn)
		return;
	add_client(fn, object_of((const void *)(uintptr_t)fn, &map));
	fn = look_up(RTLD_NEXT);
	if (fn)
		add_client(fn, object_of((const void *)(uintptr_t)fn, &map));
	find_mapped();
}

/* Initialising ----------------------------------------------------------------------------- */

static void finalize_client(rocprofiler_client_id_t id);

/* Create an id on the heap, because clients keep a pointer to the id, and the struct has a const
 * member. */
static rocprofiler_client_id_t *new_id(uint32_t handle)
{
	const rocprofiler_client_id_t made = {sizeof made, NULL, handle};
	rocprofiler_client_id_t *id = malloc(sizeof *id);

	if (id)
		memcpy(id, &made, sizeof made);
	return id;
}

static void drop_client(struct client *c)
{
	sdk_contexts_stop(c->handle);
	sdk_contexts_drop(c->handle);
	c->result = NULL;
}

static void configure(struct client *c, unsigned number)
{
	c->handle = SDK_FIRST_HANDLE + number;
	c->id = new_id(c->handle);
	if (!c->id)
		return;
	sdk_enter_client(c->handle);
	c->result =
		c->configure(10000 * ROCPROFILER_VERSION_MAJOR + 100 * ROCPROFILER_VERSION_MINOR +
				     ROCPROFILER_VERSION_PATCH,
			     ROCPROFILER_VERSION_STRING, number, c->id);
	sdk_leave_client();
	if (!c->result)
		drop_client(c);
}

static void initialize(struct client *c)
{
	int rc = 0;

	sdk_enter_client(c->handle);
	if (c->result->initialize)
		rc = c->result->initialize(finalize_client, c->result->tool_data);
	sdk_leave_client();
	if (rc == 0) {
		sdk_contexts_commit(c->handle);
		return;
	}
	sdk_report("%s is not used: its initialize() returned %d",
		   c->id->name ? c->id->name : c->from, rc);
	drop_client(c);
}

/* Initialise all clients if any client is found. Otherwise leave the state unchanged, so that a
 * later rocprofiler_force_configure() can initialise. */
static int start_clients(void *user)
{
	int before = SDK_NOT_YET;

	(void)user;
	if (!atomic_compare_exchange_strong(&sdk_initialized, &before, SDK_IN_IT))
		return 0;
	/* search again, because a client may have been forced, or a library opened, in the
	 * meantime */
	client_count = 0;
	find_clients();
	if (client_count)
		sdk_agents_init();
	for (unsigned i = 0; i < client_count; i++)
		configure(&clients[i], i);
	for (unsigned i = 0; i < client_count; i++)
		if (clients[i].result)
			initialize(&clients[i]);
	atomic_store(&sdk_initialized,
		     client_count || atomic_load(&is_forced) ? SDK_DONE : SDK_NOT_YET);
	return 0;
}

/* Finalising --------------------------------------------------------------------------------- */

static void finalize(struct client *c)
{
	rocprofiler_tool_configure_result_t *result = c->result;

	if (!result)
		return;
	sdk_contexts_settle(c->handle);
	sdk_contexts_stop(c->handle);
	if (result->finalize)
		result->finalize(result->tool_data);
	drop_client(c);
}

/* Finalise all clients, once. Nested calls from the clients' functions do nothing. */
static void finalize_all(void)
{
	int before = SDK_NOT_YET;

	if (!atomic_compare_exchange_strong(&sdk_finalized, &before, SDK_IN_IT))
		return;
	for (unsigned i = 0; i < client_count; i++)
		finalize(&clients[i]);
	atomic_store(&sdk_finalized, SDK_DONE);
}

static void finalize_client(rocprofiler_client_id_t id)
{
	struct client *found = NULL;
	unsigned left = 0;

	if (atomic_load(&sdk_finalized) != SDK_NOT_YET)
		return;
	for (unsigned i = 0; i < client_count; i++)
		if (clients[i].result) {
			left++;
			if (clients[i].handle == id.handle)
				found = &clients[i];
		}
	if (found && left == 1)
		finalize_all();
	else if (found)
		finalize(found);
}

static void finish_clients(void *user)
{
	(void)user;
	finalize_all();
}

/* Registration as gputap's tool ------------------------------------------------------------ */

static const struct gputap_tool tool = {
	.size = sizeof tool,
	.abi = GPUTAP_TOOL_ABI,
	.name = "librocprofiler-sdk",
	.start = start_clients,
	.finish = finish_clients,
	.flags = GPUTAP_TOOL_ON_FIRST_CALL,
};

SDK_EXPORT const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	(void)version;
	if (!client_count && atomic_load(&sdk_initialized) == SDK_NOT_YET)
		find_clients();
	return client_count ? &tool : NULL; /* without a client the program is left unchanged */
}

SDK_EXPORT rocprofiler_status_t
rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
{
	if (atomic_load(&sdk_initialized) != SDK_NOT_YET || atomic_exchange(&is_forced, true))
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	forced = configure_func;
	setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
	if (gputap_tool_add(&tool) == -EALREADY)
		start_clients(NULL); /* the earlier start found no client, so initialise now */
	return ROCPROFILER_STATUS_SUCCESS;
}
