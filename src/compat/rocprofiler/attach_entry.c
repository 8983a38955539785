/* SPDX-License-Identifier: MIT */
/* gputap_rocattach(): attaches tools in a running program. gputap's rocattach (src/rocattach) calls
 * it there, in a separate thread with all signals blocked.
 *
 *   1. open gputap's librocprofiler-sdk.so.1. It finds no tool yet, so the program is unchanged
 *   2. librocprofiler-register that can attach (ROCm 7): mark this process as attachable, and let
 *      the library set the variables, pass on all tables and call rocprofiler_attach()
 *      otherwise: set the variables, let an older librocprofiler-register pass on all tables, and
 *      call rocprofiler_attach(), which takes over what is mapped
 *
 * librocprofiler-register is never called in a way that ends the program: it reads a null pointer
 * in a process that is not marked (0.5.0), and aborts if it finds no SDK.
 *
 * setenv() in a running program is unsafe if another thread is in getenv() at the same moment and
 * glibc is older than 2.41. AMD's library does the same; tools read their settings there. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach_entry.h"
#include "attach_listener.h"

#define SDK_NAME      "librocprofiler-sdk.so.1"
#define REGISTER_NAME "librocprofiler-register.so.0"
#define SDK_VARIABLE  "ROCPROFILER_REGISTER_LIBRARY"

enum { SUCCESS, DEADLOCK = 2, ERROR = 6, INVALID_ARGUMENT = 8, TRIES = 100, PAUSE_NS = 1000000 };

struct info {
	size_t size;
	const char *common_name;
	uint32_t lib_version;
	uint64_t api_table_length;
};

/* librocprofiler-register; NULL: not mapped, or an older version without the function */
struct functions {
	attach_register_fn *add;
	int (*iterate)(int (*each)(struct info *, void *), void *data);
	int (*attach)(const char *environment, const char *tools);
	int (*detach)(void);
	int (*invoke_all)(void);
};

struct request {
	pid_t client;
	const char *sdk, *tools;
	const char *pairs; /* NAME=VALUE <1> NAME=VALUE ... */
};

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static char *text; /* of the request, so far */
static size_t text_bytes;
static char *tools_before;
static int (*detach)(void); /* set while tools are attached */
static pid_t client;        /* that has attached them */

ATTACH_EXPORT int gputap_rocattach(const char *argument);

/* librocprofiler-register --------------------------------------------------------------------- */

static void find_register(struct functions *f)
{
	void *library = dlopen(REGISTER_NAME, RTLD_LAZY | RTLD_NOLOAD);

	*f = (struct functions){.add = NULL};
	if (!library)
		return;
	*(void **)&f->add = dlsym(library, "rocprofiler_register_library_api_table");
	*(void **)&f->iterate = dlsym(library, "rocprofiler_register_iterate_registration_info");
	*(void **)&f->attach = dlsym(library, "rocprofiler_register_attach");
	*(void **)&f->detach = dlsym(library, "rocprofiler_register_detach");
	*(void **)&f->invoke_all = dlsym(library, "rocprofiler_register_invoke_all_registrations");
	dlclose(library);
}

static int look_for_mark(struct info *info, void *data)
{
	bool *is_marked = data;

	*is_marked |= !strcmp(info->common_name, "rocattach");
	return *is_marked;
}

static bool is_marked(const struct functions *f)
{
	bool marked = false;

	f->iterate(look_for_mark, &marked);
	return marked;
}

/* Return false if the library cannot attach. */
static bool prepare_register(const struct functions *f)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (!f->add || !f->iterate || !f->attach || !f->detach)
		return false;
	/* refused while another library is registering */
	for (int i = 0; i < TRIES && !is_marked(f) && attach_mark(f->add) == DEADLOCK; i++)
		nanosleep(&pause, NULL);
	return is_marked(f);
}

/* Environment --------------------------------------------------------------------------------- */

/* Split the pairs into names and values. Return their number. */
static uint32_t split_pairs(char *pairs)
{
	uint32_t count = 0;

	while (*pairs) {
		char *end = strchrnul(pairs, ATTACH_SEPARATOR), *equals = strchr(pairs, '=');
		const bool is_last = !*end;

		*end = '\0';
		if (!equals)
			return count;
		*equals = '\0';
		count++;
		pairs = end + !is_last;
	}
	return count;
}

/* Make the buffer that rocprofiler_register_attach() reads: a count, and names and values that end
 * with NUL. */
static char *make_buffer(const struct request *r)
{
	const size_t bytes = strlen(r->pairs) + 1;
	char *buffer = calloc(1, sizeof(uint32_t) + bytes + 1);
	uint32_t count;

	if (!buffer)
		return NULL;
	memcpy(buffer + sizeof count, r->pairs, bytes);
	count = split_pairs(buffer + sizeof count);
	memcpy(buffer, &count, sizeof count);
	return buffer;
}

static void set_variables(const char *buffer)
{
	uint32_t count;

	memcpy(&count, buffer, sizeof count);
	for (const char *name = buffer + sizeof count, *value; count--;
	     name = value + strlen(value) + 1) {
		value = name + strlen(name) + 1;
		setenv(name, value, 1);
	}
}

/* Attaching ----------------------------------------------------------------------------------- */

/* Let librocprofiler-register find gputap's SDK during a call. */
static char *name_sdk(const char *path)
{
	const char *users = getenv(SDK_VARIABLE);
	char *saved = users ? strdup(users) : NULL;

	setenv(SDK_VARIABLE, path, 1);
	return saved;
}

static void restore_sdk(char *saved)
{
	if (saved)
		setenv(SDK_VARIABLE, saved, 1);
	else
		unsetenv(SDK_VARIABLE);
	free(saved);
}

static int attach_by_register(const struct functions *f, const struct request *r,
			      const char *buffer)
{
	char *saved = name_sdk(r->sdk);
	int status = f->attach(buffer, r->tools);

	restore_sdk(saved);
	if (status == SUCCESS)
		detach = f->detach;
	return status == INVALID_ARGUMENT ? -EALREADY : status ? ATTACH_REGISTER + status : 0;
}

static int attach_by_sdk(const struct functions *f, const struct request *r, const char *buffer,
			 void *sdk)
{
	int (*attach)(void) = NULL, (*its_detach)(void) = NULL;
	int status;

	*(void **)&attach = dlsym(sdk, "rocprofiler_attach");
	*(void **)&its_detach = dlsym(sdk, "rocprofiler_detach");
	if (!attach || !its_detach)
		return -EEXIST;
	set_variables(buffer);
	setenv("ROCP_TOOL_LIBRARIES", r->tools, 1);
	if (f->invoke_all && !tools_before) {
		char *saved = name_sdk(r->sdk);

		status = f->invoke_all();
		restore_sdk(saved);
		if (status != SUCCESS)
			return ATTACH_REGISTER + status;
	}
	status = attach();
	if (status == SUCCESS)
		detach = its_detach;
	return status;
}

/* Open gputap's SDK. @status: receives the reason for NULL. */
static void *open_sdk(const struct request *r, int *status)
{
	void *sdk = dlopen(SDK_NAME, RTLD_LAZY | RTLD_NOLOAD);

	if (!sdk)
		sdk = dlopen(r->sdk, RTLD_LAZY | RTLD_GLOBAL); /* as librocprofiler-register does */
	if (!sdk) {
		fprintf(stderr, "gputap: rocattach: %s\n", dlerror());
		*status = -ENOENT;
	} else if (!dlsym(sdk, "gputap_tool_describe")) {
		sdk = NULL; /* AMD's; the reference does not matter */
		*status = -EEXIST;
	}
	return sdk;
}

static int attach(const struct request *r)
{
	struct functions f;
	int status = 0;
	void *sdk;
	char *buffer;

	if (tools_before && strcmp(tools_before, r->tools) != 0)
		return -EALREADY;
	sdk = open_sdk(r, &status);
	if (!sdk)
		return status;
	buffer = make_buffer(r);
	if (!buffer)
		return -ENOMEM;
	find_register(&f);
	status = prepare_register(&f) ? attach_by_register(&f, r, buffer)
				      : attach_by_sdk(&f, r, buffer, sdk);
	if (!status && !tools_before)
		tools_before = strdup(r->tools);
	free(buffer);
	return status;
}

/* Requests ------------------------------------------------------------------------------------ */

static char *cut_part(char **at)
{
	char *part = *at, *end = part ? strchr(part, ATTACH_SEPARATOR) : NULL;

	if (end)
		*end = '\0';
	*at = end ? end + 1 : NULL;
	return part;
}

static bool parse_request(struct request *r)
{
	char *at = text;

	r->client = (pid_t)atoi(cut_part(&at));
	r->sdk = cut_part(&at);
	r->tools = cut_part(&at);
	r->pairs = at ? at : text + strlen(text);
	return r->tools != NULL;
}

static void forget_text(void)
{
	free(text);
	text = NULL;
	text_bytes = 0;
}

static bool add_text(const char *part)
{
	const size_t bytes = strlen(part);
	char *more = realloc(text, text_bytes + bytes + 1);

	if (!more)
		return false;
	text = more;
	memcpy(text + text_bytes, part, bytes + 1);
	text_bytes += bytes;
	return true;
}

static int detach_tools(void)
{
	int (*fn)(void) = detach;

	detach = NULL;
	return fn ? fn() : -EINVAL;
}

/* Return false if the client that has attached still runs, and would detach a new one's tools. */
static bool end_earlier_client(void)
{
	if (!detach)
		return true;
	if (kill(client, 0) == 0 || errno == EPERM)
		return false;
	detach_tools();
	return true;
}

static int serve_text(void)
{
	struct request r;
	int status;

	if (!parse_request(&r))
		return -EINVAL;
	if (!end_earlier_client())
		return -EBUSY;
	status = attach(&r);
	if (!status)
		client = r.client;
	return status;
}

static int serve(const char *argument)
{
	int status;

	if (argument[0] == ATTACH_DETACH)
		return detach_tools();
	if ((argument[0] != ATTACH_BEGIN && argument[0] != ATTACH_MORE) || !argument[1])
		return -EINVAL;
	if (argument[0] == ATTACH_BEGIN)
		forget_text();
	if (!add_text(argument + 2))
		return -ENOMEM;
	if (argument[1] == ATTACH_PART)
		return 0;
	status = serve_text();
	forget_text();
	return status;
}

/**
 * gputap_rocattach() - attach tools to this process, or detach them
 * @argument: see attach_entry.h
 * Return: see attach_entry.h.
 * Thread: any that holds no lock of a runtime.
 */
int gputap_rocattach(const char *argument)
{
	int status;

	pthread_mutex_lock(&one);
	status = serve(argument);
	pthread_mutex_unlock(&one);
	return status;
}
