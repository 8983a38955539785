/* SPDX-License-Identifier: MIT */
/* Finds the OpenCL driver that runs kernels: see opencl.h.
 *
 * Locking: `found` guards the search. */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/opencl_parts.h"

#define VENDORS    "/etc/OpenCL/vendors"
#define WITH_SPIRV "libintelocl.so"

static struct soft_cl_runtime runtimes[SOFT_CL_LANGUAGES];
static bool searched[SOFT_CL_LANGUAGES];
static pthread_mutex_t found = PTHREAD_MUTEX_INITIALIZER;

/* Search ----------------------------------------------------------------------------- */

static bool takes_spirv(const struct soft_cl_runtime *r)
{
	char text[256] = "";

	return !r->call->clGetDeviceInfo(r->device, CL_DEVICE_IL_VERSION, sizeof text - 1, text,
					 NULL) &&
	       strstr(text, "SPIR-V");
}

static bool open_platform(struct soft_cl_runtime *r, void *library)
{
	clIcdGetPlatformIDsKHR_fn list;
	void *(*find)(const char *);
	cl_uint count = 0;

	*(void **)&list = dlsym(library, "clIcdGetPlatformIDsKHR");
	*(void **)&find = dlsym(library, "clGetExtensionFunctionAddress");
	if (!list && find)
		*(void **)&list = find("clIcdGetPlatformIDsKHR");
	if (!list || list(1, &r->platform, &count) || !count)
		return false;
	r->call = *(const cl_icd_dispatch **)r->platform;
	return !r->call->clGetDeviceIDs(r->platform, CL_DEVICE_TYPE_CPU, 1, &r->device, &count) &&
	       count;
}

static bool try_library(const char *path, enum soft_cl_language language)
{
	struct soft_cl_runtime r = {.index = language};
	cl_int status = 0;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	/* a library that was examined stays loaded, because many libraries cannot be unloaded */
	if (!library || !open_platform(&r, library) ||
	    (language == SOFT_CL_SPIRV && !takes_spirv(&r)))
		return false;
	r.context = r.call->clCreateContext(NULL, 1, &r.device, NULL, NULL, &status);
	if (status)
		return false;
	*(void **)&r.set_pointer =
		r.call->clGetExtensionFunctionAddressForPlatform(r.platform,
								 "clSetKernelArgMemPointerINTEL");
	runtimes[language] = r;
	return true;
}

static bool try_icd(const char *folder, const char *name, enum soft_cl_language language)
{
	char path[PATH_MAX], line[PATH_MAX] = "";
	FILE *file;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof line, file))
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\r\n")] = '\0';
	return *line && try_library(line, language);
}

static bool try_vendors(enum soft_cl_language language)
{
	const char *folder = getenv("OCL_ICD_VENDORS");
	struct dirent *entry;
	bool done = false;
	DIR *dir;

	if (!folder || !*folder)
		folder = VENDORS;
	dir = opendir(folder);
	while (dir && !done && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);
		done = n > 4 && !strcmp(entry->d_name + n - 4, ".icd") &&
		       try_icd(folder, entry->d_name, language);
	}
	if (dir)
		closedir(dir);
	return done;
}

static bool try_environment(enum soft_cl_language language)
{
	const char *folder = getenv("VIRTUAL_ENV");
	char path[PATH_MAX];

	if (!folder ||
	    snprintf(path, sizeof path, "%s/lib/" WITH_SPIRV, folder) >= (int)sizeof path)
		return false;
	return try_library(path, language);
}

static void copy_runtime(enum soft_cl_language to, enum soft_cl_language from)
{
	runtimes[to] = runtimes[from];
	runtimes[to].index = to;
}

const struct soft_cl_runtime *soft_cl_find_runtime(const char *opencl,
						   enum soft_cl_language language)
{
	const struct soft_cl_runtime *r = &runtimes[language];

	pthread_mutex_lock(&found);
	if (!searched[language]) {
		searched[language] = true;
		if (opencl)
			try_library(opencl, language);
		else if (language == SOFT_CL_TEXT && runtimes[SOFT_CL_SPIRV].call)
			copy_runtime(SOFT_CL_TEXT, SOFT_CL_SPIRV);
		else if (language == SOFT_CL_TEXT)
			(void)(try_vendors(language) || try_library(WITH_SPIRV, language));
		else
			(void)(try_library(WITH_SPIRV, language) || try_environment(language) ||
			       try_vendors(language));
	}
	pthread_mutex_unlock(&found);
	return r->call ? r : NULL;
}

bool soft_cl_is_there(const char *opencl, enum soft_cl_language language)
{
	return soft_cl_find_runtime(opencl, language) != NULL;
}
