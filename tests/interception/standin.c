/* SPDX-License-Identifier: MIT */
/* A libOpenCL.so.1 without layers, like NVIDIA's and older Khronos loaders: exports the functions
 * of the table, and forwards each call to the driver through the object in the call's first
 * argument. The only driver is PoCL, or the driver that STANDIN_DRIVER names. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

/* The first argument is an object whose first word points to the driver's table. Weak, because some
 * functions are defined differently below. */
#define X(name, exported)                                                                      \
	__attribute__((naked, weak, visibility("default"))) void forward_##name(void) __asm__( \
		#name);                                                                        \
	__attribute__((naked, weak, visibility("default"))) void forward_##name(void)          \
	{                                                                                      \
		__asm__("movq (%%rdi), %%rax; jmpq *%c0(%%rax)"                                \
			:                                                                      \
			: "i"(offsetof(struct _cl_icd_dispatch, name)));                       \
	}
#ifdef FORWARD
#include "generated/opencl_exports.inc"
#else

struct object {
	const cl_icd_dispatch *dispatch;
};
#define OF(handle) (((struct object *)(handle))->dispatch)

static void *(*driver_function)(const char *);

static cl_int (*platforms(void))(cl_uint, cl_platform_id *, cl_uint *)
{
	static cl_int (*get)(cl_uint, cl_platform_id *, cl_uint *);

	if (!get) {
		const char *name = getenv("STANDIN_DRIVER");
		void *driver = dlopen(name ? name : "libpocl.so.2", RTLD_NOW | RTLD_LOCAL);

		if (!driver)
			return NULL;
		*(void **)&driver_function = dlsym(driver, "clGetExtensionFunctionAddress");
		if (driver_function)
			*(void **)&get = driver_function("clIcdGetPlatformIDsKHR");
	}
	return get;
}

static const cl_icd_dispatch *first(void)
{
	cl_platform_id platform;

	return platforms() && platforms()(1, &platform, NULL) == CL_SUCCESS ? OF(platform) : NULL;
}

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *ids, cl_uint *count)
{
	return platforms() ? platforms()(n, ids, count) : -1001;
}

cl_context clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *devices,
			   void (*notify)(const char *, const void *, size_t, void *), void *data,
			   cl_int *status)
{
	return OF(devices[0])->clCreateContext(p, n, devices, notify, data, status);
}

cl_context clCreateContextFromType(const cl_context_properties *p, cl_device_type type,
				   void (*notify)(const char *, const void *, size_t, void *),
				   void *data, cl_int *status)
{
	return first()->clCreateContextFromType(p, type, notify, data, status);
}

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
	return OF(events[0])->clWaitForEvents(n, events);
}

cl_int clUnloadCompiler(void)
{
	return first()->clUnloadCompiler();
}

void *clGetExtensionFunctionAddress(const char *name)
{
	return platforms() ? driver_function(name) : NULL;
}

#ifdef DRIVER
CL_API_ENTRY cl_int clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *ids, cl_uint *count)
{
	return platforms() ? platforms()(n, ids, count) : -1001;
}
#endif
#endif
