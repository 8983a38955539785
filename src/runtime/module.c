/* SPDX-License-Identifier: MIT */
#include "runtime/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"

/* Load addresses of libraries that have a record. Protected by gt_core_lock(). Entries are never
 * removed. */
static struct seen {
	struct seen *next;
	uint64_t base;
	enum gt_domain domain;
} * seen;

/* Return false if the library already has a record. If memory for the entry cannot be allocated,
 * the library gets another record each time. */
static bool is_new(enum gt_domain domain, uint64_t base)
{
	struct seen *s;

	gt_core_lock();
	for (s = seen; s && !(s->base == base && s->domain == domain);)
		s = s->next;
	if (s) {
		gt_core_unlock();
		return false;
	}
	s = gt_arena_take(sizeof *s);
	if (s) {
		*s = (struct seen){seen, base, domain};
		seen = s;
	}
	gt_core_unlock();
	return true;
}

/* Return "5.2.21153" for libamdhip64.so.5.2.21153. Return NULL for a single number, which is an
 * interface version. */
static const char *version_in(const char *path)
{
	const char *at = strstr(path, ".so.");

	return at && strchr(at + 4, '.') && !at[4 + strspn(at + 4, "0123456789.")] ? at + 4 : NULL;
}

/* Get the real path of gputap's ROCTx library, because the dynamic linker reports this library
 * under the path where it last searched for another library. */
static bool stand_in(const char *name, char *path)
{
	const char *folder = getenv("GPUTAP_COMPAT"), *slash = strrchr(name, '/');
	char at[PATH_MAX];

	return folder && *folder && slash &&
	       snprintf(at, sizeof at, "%s%s", folder, slash) < (int)sizeof at &&
	       realpath(at, path);
}

void gt_runtime_module_named(enum gt_domain domain, const char *name, uint64_t base,
			     const char *way, uint64_t version)
{
	int saved = errno;
	char path[PATH_MAX], version_text[32];
	const char *file = path, *version_name = version_text;
	struct gt_text text = {0};

	if (gt_recording.session && is_new(domain, base)) {
		if (!realpath(name, path) && !stand_in(name, path))
			file = name;
		if (version)
			snprintf(version_text, sizeof version_text, "%u.%u.%u",
				 (unsigned)(version / 10000), (unsigned)(version / 100 % 100),
				 (unsigned)(version % 100));
		else
			version_name = version_in(file);
		gt_text_add(&text, "path", file);
		if (version_name)
			gt_text_add(&text, "version", version_name);
		gt_text_add(&text, "method", way);
		gt_module_add(gt_thread_own(), domain, base, &text);
	}
	errno = saved;
}

void gt_runtime_module_of(enum gt_domain domain, const void *function, const char *way,
			  uint64_t version)
{
	Dl_info where;

	if (gt_recording.session && dladdr(function, &where) && where.dli_fname)
		gt_runtime_module_named(domain, where.dli_fname, (uintptr_t)where.dli_fbase, way,
					version);
}
