/* SPDX-License-Identifier: MIT */
/* Implements gpu.h on OpenCL. */
#include "gpu.h"

#include <pti/pti_driver_opencl_api_ids.h>

#include "../opencl/program.h"

enum { COUNT = 256 };

const unsigned gpu_call_id = clGetPlatformIDs_id, gpu_group = 2,
	       gpu_launch_id = clEnqueueNDRangeKernel_id, gpu_foreign_id = clRetainKernel_id;

static const char source[] = "kernel void scale(global float *x) { x[get_global_id(0)] *= 2; }\n"
			     "kernel void add(global float *x) { x[get_global_id(0)] += 1; }\n";
static cl_program program;
static cl_kernel kernel;
static cl_mem a, b;

void gpu_open(const char *how)
{
	(void)how;
	open_device();
	program = build_program(source);
	kernel = open_kernel(program, "scale");
	a = open_buffer(COUNT * sizeof(float));
	b = open_buffer(COUNT * sizeof(float));
	OK(clSetKernelArg(kernel, 0, sizeof a, &a));
}

void gpu_close(void)
{
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseKernel(kernel));
	OK(clReleaseProgram(program));
	OK(clReleaseContext(context));
}

void gpu_run(int rounds)
{
	cl_command_queue q = open_queue(0);
	const float one = 1;
	size_t global = COUNT;

	for (int i = 0; i < rounds; i++) {
		OK(clEnqueueFillBuffer(q, b, &one, sizeof one, 0, COUNT * sizeof one, 0, NULL,
				       NULL));
		OK(clEnqueueCopyBuffer(q, b, a, 0, 0, COUNT * sizeof one, 0, NULL, NULL));
		OK(clEnqueueNDRangeKernel(q, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
		OK(clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
	}
	OK(clFinish(q));
	OK(clReleaseCommandQueue(q));
}

void gpu_make_kernel(void)
{
	OK(clReleaseKernel(open_kernel(program, "add")));
}

void gpu_call(void)
{
	cl_uint n;

	OK(clGetPlatformIDs(0, NULL, &n));
}

bool gpu_get_unknown(const char *name)
{
	(void)name;
	return false;
}

/* The loader reads handles, so a foreign handle would crash it. */
bool gpu_call_with_foreign_handle(void)
{
	return false;
}

void *gpu_context(void)
{
	return context;
}

void *gpu_kernel(void)
{
	return kernel;
}
