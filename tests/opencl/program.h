/* SPDX-License-Identifier: MIT */
/* Shared by the OpenCL test programs: creates a context, builds a program, and ends the process
 * with a message on errors. Everything is static, because each test program consists of one file
 * and this header. */
#ifndef GPUTAP_TESTS_OPENCL_PROGRAM_H
#define GPUTAP_TESTS_OPENCL_PROGRAM_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED __attribute__((unused))

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;

static inline void ok_(cl_int error, int line, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "line %d: %s: error %d\n", line, what, error);
	exit(1);
}
#define OK(call) ok_((call), __LINE__, #call)
#define EXPECT(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

static UNUSED void open_device(void)
{
	cl_int error;

	OK(clGetPlatformIDs(1, &platform, NULL));
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	OK(error);
}

static UNUSED cl_command_queue open_queue(cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue q = clCreateCommandQueue(context, device, properties, &error);

	OK(error);
	return q;
}

static UNUSED cl_program build_program(const char *source)
{
	cl_int error;
	cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &error);

	OK(error);
	OK(clBuildProgram(p, 0, NULL, "", NULL, NULL));
	return p;
}

static UNUSED cl_kernel open_kernel(cl_program p, const char *name)
{
	cl_int error;
	cl_kernel k = clCreateKernel(p, name, &error);

	OK(error);
	return k;
}

static UNUSED cl_mem open_buffer(size_t bytes)
{
	cl_int error;
	cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);

	OK(error);
	return m;
}

#endif
