/* SPDX-License-Identifier: MIT */
/* How runtimes come to tools where no `gputap run` has prepared the process: the variables that
 * it would have set (see collector/environment.c), and interposition of what is mapped
 * (runtime/mapped.h). Under `gputap run` all that is there. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording.h"
#include "runtime/hip/hip_attach.h"
#include "runtime/mapped.h"
#include "tool/tool_load.h"

/* Where this library is. NULL: nobody knows. */
static const char *own_path(void)
{
	static char path[PATH_MAX];
	Dl_info where;

	if (!path[0] &&
	    (!dladdr(path, &where) || !where.dli_fname || !realpath(where.dli_fname, path)))
		return NULL;
	return path;
}

static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* "ours", or "ours<separator>users", and ours again at the end if @twice. */
static void put_first(const char *name, const char *ours, char separator, bool twice)
{
	const char *users = value_of(name);
	char text[3 * PATH_MAX];
	int n;

	if (strstr(users, ours))
		return;
	if (!*users)
		n = snprintf(text, sizeof text, "%s", ours);
	else if (twice)
		n = snprintf(text, sizeof text, "%s%c%s%c%s", ours, separator, users, separator,
			     ours);
	else
		n = snprintf(text, sizeof text, "%s%c%s", ours, separator, users);
	if (n < (int)sizeof text)
		setenv(name, text, 1);
}

static void set_environment(void)
{
	const char *path = own_path();

	if (!path)
		return;
	/* a loader that has looked already is interposed, and so are all later ones: in a
	 * running program, or when a library's constructor has called it */
	if (!gt_tools_late() && !strchr(path, ':') && !gt_mapped_opencl_has_begun())
		put_first("OPENCL_LAYERS", path, ':', false);
	if (!getenv("HSA_TOOLS_ROCPROFILER_V1_TOOLS") && *value_of("HSA_TOOLS_LIB"))
		setenv("HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1", 1);
	if (!strpbrk(path, " \"\\"))
		put_first("HSA_TOOLS_LIB", path, ' ', true);
	if (!getenv("GPUTAP_REGISTER_FORCE_LOAD")) {
		setenv("GPUTAP_REGISTER_FORCE_LOAD", value_of("ROCPROFILER_REGISTER_FORCE_LOAD"),
		       1);
		setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
	}
}

static void attach_all(void)
{
	const char *path = own_path();

	if (!gt_recording_is_run())
		set_environment();
	if (path && !gt_tools_late() && strstr(value_of("OPENCL_LAYERS"), path))
		gt_mapped_layers_named();
	gt_mapped_watch();
}

void gt_tool_attach_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, attach_all);
	gt_mapped_look();
}

void gt_tool_attach_look(void)
{
	gt_mapped_look();
	gt_hip_fronts_tell();
}

void gt_tools_meet_runtime(bool mapped)
{
	void (*start)(void) = atomic_load(&gt_recording.pending);

	if (start)
		start();
	if (!atomic_load(&gt_recording.tools))
		return;
	if (mapped)
		gt_tool_attach_look();
	gt_tools_finish_at_exit();
}
