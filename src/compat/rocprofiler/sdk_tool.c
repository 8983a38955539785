/* SPDX-License-Identifier: MIT */
/* Finds, configures, initialises and finalises clients.
 *
 *   found (all) ─► configured (all): "do you want to take part?"
 *               ─► initialised (all): contexts, services ─► ... ─► finalised
 *   forced later (one) ─► configured ─► initialised ─► ... ─► finalised
 *   attached ⇄ detached (all that have functions for it): rocprofiler_attach()
 *
 * A client that is forced after the others were initialised is a separate gputap tool, so that
 * gputap takes over for it what the others had not requested.
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
#include "util/environ_publish.h"

/* The linker exports an executable's symbol if a library on the link line refers to the symbol.
 * This reference therefore makes the function visible in an executable linked without -rdynamic. */
#pragma weak rocprofiler_configure

struct client {
	rocprofiler_configure_func_t configure;
	rocprofiler_tool_configure_attach_result_t attach; /* size 0: cannot be attached */
	struct gputap_tool tool;                           /* of a client that is forced later */
	rocprofiler_tool_configure_result_t *result;       /* NULL: the client does not take part */
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

/* Find a function of the library that contains the client's configure function. */
static rocprofiler_configure_attach_func_t find_configure_attach(const struct client *c)
{
	struct link_map *its = NULL, *of = NULL;
	rocprofiler_configure_attach_func_t fn = NULL;
	const char *path = object_of((const void *)(uintptr_t)c->configure, &its);
	void *handle = path && its ? dlopen(its->l_name && *its->l_name ? its->l_name : NULL,
					    RTLD_LAZY | RTLD_NOLOAD)
				   : NULL;

	if (!handle)
		return NULL;
	*(void **)&fn = dlsym(handle, "rocprofiler_configure_attach");
	if (fn && (!object_of((const void *)(uintptr_t)fn, &of) || of != its))
		fn = NULL;
	dlclose(handle);
	return fn;
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

static void configure_attach(struct client *c, uint32_t version, unsigned number)
{
	rocprofiler_configure_attach_func_t fn = find_configure_attach(c);
	const rocprofiler_tool_configure_attach_result_t *result =
		fn ? fn(version, ROCPROFILER_VERSION_STRING, number, c->id) : NULL;

	if (result && result->size >= sizeof *result)
		c->attach = *result;
}

static void configure(struct client *c, unsigned number)
{
	const uint32_t version = 10000 * ROCPROFILER_VERSION_MAJOR +
				 100 * ROCPROFILER_VERSION_MINOR + ROCPROFILER_VERSION_PATCH;

	c->attach = (rocprofiler_tool_configure_attach_result_t){.size = 0};
	c->handle = SDK_FIRST_HANDLE + number;
	c->id = new_id(c->handle);
	if (!c->id)
		return;
	sdk_enter_client(c->handle);
	c->result = c->configure(version, ROCPROFILER_VERSION_STRING, number, c->id);
	if (c->result)
		configure_attach(c, version, number);
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

/* Anytime initialisation ------------------------------------------------------------------- */

static int start_client(void *user)
{
	struct client *c = user;
	int subscribers = sdk_tables_subscribers();

	configure(c, (unsigned)(c - clients));
	if (c->result)
		initialize(c);
	if (c->result)
		sdk_tables_replay(c->handle, subscribers);
	return 0;
}

static void finish_client(void *user)
{
	if (atomic_load(&sdk_finalized) == SDK_NOT_YET)
		finalize(user);
}

/* Add a client after the others were initialised. As in upstream, the library counts as being
 * initialised meanwhile. */
static rocprofiler_status_t add_later(rocprofiler_configure_func_t configure_func)
{
	int before = SDK_DONE, rc = -ENOSPC;
	const unsigned count = client_count;
	struct client *c = &clients[count];

	if (!configure_func || atomic_load(&sdk_finalized) != SDK_NOT_YET ||
	    !atomic_compare_exchange_strong(&sdk_initialized, &before, SDK_IN_IT))
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	add_client(configure_func, "(forced)");
	if (client_count > count) {
		c->tool = (struct gputap_tool){
			.size = sizeof c->tool,
			.abi = GPUTAP_TOOL_ABI,
			.name = "librocprofiler-sdk",
			.user = c,
			.start = start_client,
			.finish = finish_client,
			.flags = GPUTAP_TOOL_ON_FIRST_CALL,
		};
		rc = gputap_tool_add(&c->tool);
	}
	atomic_store(&sdk_initialized, SDK_DONE);
	if (client_count == count && count < SDK_CLIENTS) /* known already */
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	return rc ? ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES : ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t
rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
{
	static const struct gt_environ_change force = {
		.name = "ROCPROFILER_REGISTER_FORCE_LOAD",
		.entry = "ROCPROFILER_REGISTER_FORCE_LOAD=1",
	};

	if (atomic_load(&sdk_initialized) == SDK_DONE)
		return add_later(configure_func);
	if (atomic_load(&sdk_initialized) != SDK_NOT_YET || atomic_exchange(&is_forced, true))
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	forced = configure_func;
	gt_environ_publish(&force, 1); /* other threads may call getenv() */
	if (gputap_tool_add(&tool) == -EALREADY)
		start_clients(NULL); /* the earlier start found no client, so initialise now */
	return ROCPROFILER_STATUS_SUCCESS;
}

/* Attaching ----------------------------------------------------------------------------------- */

/* Return the number of the client's contexts that are stored in @ids. */
static uint64_t list_contexts(const struct client *c, rocprofiler_context_id_t *ids)
{
	uint64_t count = 0;

	for (int i = 0; i < SDK_CONTEXTS; i++)
		if (sdk_contexts[i].handle && sdk_contexts[i].client == c->handle)
			ids[count++] = (rocprofiler_context_id_t){sdk_contexts[i].handle};
	return count;
}

/* Attach all clients. librocprofiler-register calls this function in a program that AMD's
 * `rocprofv3 --attach` has attached to, after it has named the tool in ROCP_TOOL_LIBRARIES and has
 * passed on the tables. Return: rocprofiler_status_t. */
SDK_EXPORT int rocprofiler_attach(void)
{
	rocprofiler_context_id_t ids[SDK_CONTEXTS];
	int status = ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;

	if (atomic_load(&sdk_finalized) != SDK_NOT_YET)
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	/* without a client nothing is added, so that another tool can be attached later */
	if (atomic_load(&sdk_initialized) == SDK_NOT_YET && gputap_tool_describe(0))
		gputap_tool_add(&tool);
	for (unsigned i = 0; i < client_count; i++) {
		struct client *c = &clients[i];

		if (!c->result || !c->attach.tool_attach)
			continue;
		c->attach.tool_attach(NULL, ids, list_contexts(c, ids), c->attach.tool_data);
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	if (status != ROCPROFILER_STATUS_SUCCESS)
		sdk_report("nothing is attached: no tool in ROCP_TOOL_LIBRARIES has a function "
			   "rocprofiler_configure_attach()");
	return status;
}

/* Detach all clients. Return: rocprofiler_status_t. */
SDK_EXPORT int rocprofiler_detach(void)
{
	int status = ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;

	if (atomic_load(&sdk_finalized) != SDK_NOT_YET)
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	for (unsigned i = 0; i < client_count; i++) {
		struct client *c = &clients[i];

		if (!c->result || !c->attach.tool_detach)
			continue;
		sdk_contexts_stop(c->handle);
		c->attach.tool_detach(c->attach.tool_data);
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	return status;
}

/* libgputap may be mapped already, and then cannot notice that this library is opened. */
__attribute__((constructor)) static void start_at_load(void)
{
	gputap_tool_opened();
}
