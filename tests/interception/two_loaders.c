/* SPDX-License-Identifier: MIT */
/* two_loaders LIBRARY ...: calls the functions of each loader in turn, two times. Prints one line
 * per call. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	for (int round = 0; round < 2; round++)
		for (int i = 1; i < argc; i++) {
			void *loader = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
			__typeof__(&clGetPlatformIDs) ids;
			__typeof__(&clGetPlatformInfo) info;
			cl_platform_id platform;
			char name[256];

			if (!loader) {
				puts(dlerror());
				return 2;
			}
			*(void **)&ids = dlsym(loader, "clGetPlatformIDs");
			*(void **)&info = dlsym(loader, "clGetPlatformInfo");
			if (ids(1, &platform, NULL) ||
			    info(platform, CL_PLATFORM_NAME, sizeof name, name, NULL))
				return 3;
			puts("clGetPlatformIDs\nclGetPlatformInfo");
		}
	return 0;
}
