/* SPDX-License-Identifier: MIT */
/* A few OpenCL calls, reached in one of the ways that programs use:
 *   (nothing)   linked: through the PLT
 *   VIA_TABLE   linked: through a constant table of pointers (data relocations)
 *   VIA_DLSYM   dlopen() of the loader, dlsym() of each function
 * As a program it makes the calls once. As a plug-in (PLUGIN) it exports work(). Prints the names
 * of the calls, in order. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define FUNCTIONS(X) \
	X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clCreateContext) \
	X(clCreateCommandQueue) X(clCreateBuffer) X(clEnqueueWriteBuffer) X(clFinish) \
	X(clReleaseMemObject) X(clReleaseCommandQueue) X(clReleaseContext)
/* clang-format on */

#if defined(VIA_TABLE)
#define X(f) __typeof__(&f) f##_;
static const struct {
	FUNCTIONS(X)
} volatile table = {
#undef X
#define X(f) f,
	FUNCTIONS(X)
#undef X
};
#define CALL(f) (puts(#f), table.f##_)
#elif defined(VIA_DLSYM)
static void *loader;
#define CALL(f) (puts(#f), (__typeof__(&f))dlsym(loader, #f))
#else
#define CALL(f) (puts(#f), f)
#endif

int work(void);
int work(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_mem buffer;
	char text[4096] = "", name[256];
	cl_int status;

#ifdef VIA_DLSYM
	loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!loader)
		return 2;
#endif
	if (CALL(clGetPlatformIDs)(1, &platform, NULL) ||
	    CALL(clGetPlatformInfo)(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) ||
	    CALL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 3;
	context = CALL(clCreateContext)(NULL, 1, &device, NULL, NULL, &status);
	queue = CALL(clCreateCommandQueue)(context, device, 0, &status);
	buffer = CALL(clCreateBuffer)(context, CL_MEM_READ_WRITE, sizeof text, NULL, &status);
	if (CALL(clEnqueueWriteBuffer)(queue, buffer, CL_TRUE, 0, sizeof text, text, 0, NULL,
				       NULL) ||
	    CALL(clFinish)(queue))
		return 4;
	CALL(clReleaseMemObject)(buffer);
	CALL(clReleaseCommandQueue)(queue);
	CALL(clReleaseContext)(context);
	return 0;
}

#ifndef PLUGIN
int main(int argc, char **argv)
{
	int (*plugin)(void) = NULL;

	if (argc == 1)
		return work();
	/* path of the plug-in, and the way to open it */
	for (int i = 2; i < argc; i++) {
		int how = argv[i][0] == 'g'   ? RTLD_GLOBAL
			  : argv[i][0] == 'd' ? RTLD_LOCAL | RTLD_DEEPBIND
					      : RTLD_LOCAL;
		void *handle = dlopen(argv[1], RTLD_NOW | how);

		if (handle)
			*(void **)&plugin = dlsym(handle, "work");
		if (!plugin) {
			puts(dlerror());
			return 5;
		}
		if (plugin())
			return 6;
		dlclose(handle);
	}
	return 0;
}
#endif
