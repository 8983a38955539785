/* SPDX-License-Identifier: MIT */
/* See cupti_library.h. CUPTI works with any driver that is at least as new as CUPTI, and usually
 * with older drivers, so any release from 11.8 on is usable. Two copies in one process do not work
 * together, so the copy that the program has mapped is preferred. */
#define _GNU_SOURCE 1
#include "runtime/cuda/cupti_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cupti_client.h"

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};

enum { NAMES = sizeof names / sizeof *names, PATH_BYTES = 480 };

static void *find_function(void *handle, const char *name)
{
	void *function = dlsym(handle, name);

	return function ? gt_cupti_real(function) : NULL;
}

/* Return the name of a missing function, or NULL if all needed functions exist. */
static const char *fill(struct gt_cupti_library *l, void *handle)
{
	const char *lacks = NULL;

	l->handle = handle;
#define FILL(name)                                                      \
	l->name = (name##_fn *)(uintptr_t)find_function(handle, #name); \
	if (!l->name)                                                   \
		lacks = #name;
	GT_CUPTI_FUNCTIONS(FILL)
#undef FILL
#define FILL(name) l->name = (name##_fn *)(uintptr_t)find_function(handle, #name);
	GT_CUPTI_MORE_FUNCTIONS(FILL)
#undef FILL
	return lacks;
}

static void *open_at(const char *folder, const char *name)
{
	char path[PATH_BYTES];

	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return NULL;
	return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

static void *open_mapped(void)
{
	void *handle = NULL;

	for (int i = 0; i < NAMES && !handle; i++)
		handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
	return handle;
}

/* A mapped CUDA library. CUPTI may be in the library's folder (in the toolkit or in
 * nvidia/cu13/lib), or in the folder of CUPTI's own package (nvidia/cuda_cupti/lib next to
 * nvidia/cuda_runtime/lib). */
struct neighbour {
	const char *name;
	char folder[PATH_BYTES];
};

static int look_at_library(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct neighbour *n = user;
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t length;

	(void)bytes;
	if (!name || strncmp(name + 1, n->name, strlen(n->name)) != 0)
		return 0;
	length = (size_t)(name - info->dlpi_name);
	if (length >= sizeof n->folder)
		return 0;
	memcpy(n->folder, info->dlpi_name, length);
	n->folder[length] = '\0';
	return 1;
}

static void *open_beside(const char *library)
{
	static const char *const ways[] = {"", "/../../cuda_cupti/lib", "/../../cu13/lib",
					   "/../extras/CUPTI/lib64"};
	struct neighbour n = {.name = library};
	void *handle = NULL;

	if (!dl_iterate_phdr(look_at_library, &n))
		return NULL;
	for (size_t way = 0; way < sizeof ways / sizeof *ways && !handle; way++)
		for (int i = 0; i < NAMES && !handle; i++) {
			char folder[PATH_BYTES];

			if ((size_t)snprintf(folder, sizeof folder, "%s%s", n.folder, ways[way]) <
			    sizeof folder)
				handle = open_at(folder, names[i]);
		}
	return handle;
}

static void *open_found(void)
{
	static const char *const beside[] = {"libcudart.so", "libcublasLt.so", "libnvrtc.so"};
	static const char *const toolkit[] = {"/usr/local/cuda/lib64",
					      "/usr/local/cuda/extras/CUPTI/lib64",
					      "/opt/cuda/extras/CUPTI/lib64"};
	void *handle = NULL;

	for (size_t i = 0; i < sizeof beside / sizeof *beside && !handle; i++)
		handle = open_beside(beside[i]);
	for (int i = 0; i < NAMES && !handle; i++)
		handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	for (size_t at = 0; at < sizeof toolkit / sizeof *toolkit && !handle; at++)
		for (int i = 0; i < NAMES && !handle; i++)
			handle = open_at(toolkit[at], names[i]);
	return handle;
}

static void *open_any(char text[256])
{
	const char *named = getenv("GPUTAP_CUPTI");
	void *handle;

	if (named && *named) {
		handle = dlopen(named, RTLD_LAZY | RTLD_LOCAL);
		if (!handle)
			snprintf(text, 256,
				 "cannot open %.150s (GPUTAP_CUPTI); calls are recorded without "
				 "GPU activities",
				 named);
		return handle;
	}
	handle = open_mapped();
	if (!handle)
		handle = open_found();
	if (!handle)
		snprintf(text, 256,
			 "no libcupti.so.13, .12 or .11.8 found, so no GPU activities are "
			 "recorded: install CUPTI (pip install nvidia-cuda-cupti), or name its "
			 "library in GPUTAP_CUPTI");
	return handle;
}

static void note_place(struct gt_cupti_library *l, const void *function)
{
	Dl_info info;

	l->path[0] = '\0';
	l->base = 0;
	if (!dladdr(function, &info))
		return;
	l->base = (uint64_t)(uintptr_t)info.dli_fbase;
	snprintf(l->path, sizeof l->path, "%s", info.dli_fname ? info.dli_fname : "");
}

bool gt_cupti_library_open(struct gt_cupti_library *l, uint64_t base, char text[256])
{
	void *handle = base ? open_mapped() : open_any(text);
	const char *lacks;

	if (!handle)
		return false;
	lacks = fill(l, handle);
	if (l->cuptiGetVersion)
		note_place(l, (const void *)(uintptr_t)l->cuptiGetVersion);
	if (base && l->base != base) {
		dlclose(handle);
		return false;
	}
	if (lacks || l->cuptiGetVersion(&l->version) || l->version < CUPTI_VERSION_OLDEST) {
		snprintf(text, 256,
			 "%.120s is older than CUPTI of CUDA 11.8, so no GPU activities are "
			 "recorded: name a newer CUPTI in GPUTAP_CUPTI",
			 l->path[0] ? l->path : "this libcupti");
		dlclose(handle);
		return false;
	}
	return true;
}
