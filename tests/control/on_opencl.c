/* SPDX-License-Identifier: MIT */
/* Kernels of the first OpenCL device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

#include "control.h"

static cl_command_queue queue;
static cl_kernel kernels[KERNELS];

static void check(cl_int status)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "OpenCL's error %d\n", status);
	exit(1);
}

static void prepare(void)
{
	const char *text = "kernel void a(int x) {}\nkernel void b(int x) {}\n"
			   "kernel void c(int x) {}\nkernel void d(int x) {}\n";
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	cl_int status;

	check(clGetPlatformIDs(1, &platform, NULL));
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status);
	queue = clCreateCommandQueue(context, device, 0, &status);
	check(status);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
	check(status);
	check(clBuildProgram(program, 1, &device, "", NULL, NULL));
	for (int i = 0; i < KERNELS; i++) {
		const char name[2] = {(char)('a' + i), '\0'};
		const int x = 0;

		kernels[i] = clCreateKernel(program, name, &status);
		check(status);
		check(clSetKernelArg(kernels[i], 0, sizeof x, &x));
	}
}

void run_kernel(char name, int count)
{
	const size_t one = 1;

	if (!queue)
		prepare();
	for (int i = 0; i < count; i++)
		check(clEnqueueNDRangeKernel(queue, kernels[name - 'a'], 1, NULL, &one, NULL, 0,
					     NULL, NULL));
	check(clFinish(queue));
}
