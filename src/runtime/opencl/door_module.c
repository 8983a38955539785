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
#include "runtime/opencl/taps.h"

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

void gt_opencl_module_named(const char *name, uint64_t base, const char *door)
{
	int saved = errno;
	char path[PATH_MAX];
	struct gt_text text = {0};

	if (gt_recording.session && is_new((void *)(uintptr_t)base)) {
		gt_text_add(&text, "path", realpath(name, path) ? path : name);
		gt_text_add(&text, "door", door);
		gt_module_add(GT_DOMAIN_OPENCL, base, &text);
	}
	errno = saved;
}

void gt_opencl_module_seen(const void *function, const char *door)
{
	Dl_info where;

	if (gt_recording.session && dladdr(function, &where) && where.dli_fname)
		gt_opencl_module_named(where.dli_fname, (uintptr_t)where.dli_fbase, door);
}

static void keep_mapped(const void *function)
{
	Dl_info where;

	/* the handle is not needed: NODELETE stays */
	if (function && dladdr(function, &where) && where.dli_fname)
		dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void gt_opencl_used(const struct gt_table *table, const void *object)
{
	const void *const *const *functions = object;
	const void *function = functions && *functions ? (*functions)[GT_OPENCL_clFinish] : NULL;
	int saved = errno;

	if (!function)
		return;
	gt_opencl_module_seen(function, "driver");
	keep_mapped(function);
	keep_mapped(table->taps[GT_OPENCL_INDEX_clFinish].real);
	errno = saved;
}
