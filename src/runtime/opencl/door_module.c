/* SPDX-License-Identifier: MIT */
/* Which libraries are really mapped: the loader that the program uses, the drivers behind it. */
#include "runtime/opencl/door.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"

enum { SEEN_MAX = 32 };

/* Load addresses of libraries that have a record. */
static void *seen[SEEN_MAX];

static bool is_new(void *base)
{
	bool fresh = false;

	gt_core_lock();
	for (int i = 0; i < SEEN_MAX && seen[i] != base; i++)
		if (!seen[i]) {
			seen[i] = base;
			fresh = true;
			break;
		}
	gt_core_unlock();
	return fresh;
}

/* What both ICD loaders call clGetICDLoaderInfoOCLICD: number 1 is the API's version, 2 the loader's, 3 its name. */
static void add_loader_info(struct gt_text *text, const char *path)
{
	static const struct { int number; const char *key; } infos[] = {{2, "version"}, {3, "name"}, {1, "api"}};
	int (*info)(int, size_t, void *, size_t *);
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	char value[128];

	if (!handle)
		return;
	*(void **)&info = dlsym(handle, "clGetICDLoaderInfoOCLICD");
	for (size_t i = 0; info && i < sizeof infos / sizeof *infos; i++) {
		size_t bytes = 0;

		if (info(infos[i].number, sizeof value, value, &bytes) == 0 && bytes > 0 && bytes <= sizeof value)
			gt_text_add_bytes(text, infos[i].key, value, bytes);
	}
	dlclose(handle);
}

void gt_opencl_module_seen(const void *function, const char *door)
{
	int saved = errno;
	char path[PATH_MAX];
	struct gt_text text = {0};
	Dl_info where;

	if (gt_recording.session && dladdr(function, &where) && where.dli_fname && is_new(where.dli_fbase)) {
		gt_text_add(&text, "path", realpath(where.dli_fname, path) ? path : where.dli_fname);
		gt_text_add(&text, "door", door);
		if (strcmp(door, "driver") != 0)
			add_loader_info(&text, where.dli_fname);
		gt_module_add(GT_DOMAIN_OPENCL, (uint64_t)(uintptr_t)where.dli_fbase, &text);
	}
	errno = saved;
}

void gt_opencl_driver_seen(const void *object)
{
	const void *const *const *functions = object;

	if (functions && *functions)
		gt_opencl_module_seen((*functions)[0], "driver");
}
