/* SPDX-License-Identifier: MIT */
/* opencl_loop KEY WHAT COUNT: a real OpenCL program on the first device. Prints ns per call.
 * WHAT: kernels   kernels of one work-item on one queue, finished every 64
 *       kernels:N the same of N work-items
 *       calls     clGetContextInfo, a call that does nearly nothing
 *       none      nothing: start and end only (for start-up time) */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "measure.h"

static int fail(const char *what, cl_int error)
{
	fprintf(stderr, "opencl_loop: %s: %d\n", what, error);
	return 1;
}

int main(int argc, char **argv)
{
	static const char *source = "kernel void fill(global int *a, int v) { a[get_global_id(0)] = v; }";
	size_t items = 1;
	cl_platform_id platform;
	cl_device_id device;
	cl_int error, value = 7;
	cl_uint references;
	uint64_t count, start;

	if (argc != 4)
		return fail("usage: opencl_loop KEY kernels[:ITEMS]|calls|none COUNT", 0);
	count = strtoull(argv[3], NULL, 0);
	if (!strncmp(argv[2], "kernels:", 8))
		items = strtoull(argv[2] + 8, NULL, 0);
	if ((error = clGetPlatformIDs(1, &platform, NULL)))
		return fail("clGetPlatformIDs", error);
	if ((error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
		return fail("clGetDeviceIDs", error);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	if ((error = clBuildProgram(program, 1, &device, "", NULL, NULL)))
		return fail("clBuildProgram", error);
	cl_kernel kernel = clCreateKernel(program, "fill", &error);
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof value, NULL, &error);
	clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
	clSetKernelArg(kernel, 1, sizeof value, &value);

	start = bench_now_ns();
	if (!strncmp(argv[2], "kernels", 7))
		for (uint64_t i = 0; i < count; i++) {
			if ((error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, items == 1 ? &items : NULL, 0, NULL, NULL)))
				return fail("clEnqueueNDRangeKernel", error);
			if (i % 64 == 63)
				clFinish(queue);
		}
	else if (!strcmp(argv[2], "calls"))
		for (uint64_t i = 0; i < count; i++)
			clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL);
	clFinish(queue);
	bench_print(argv[1], count ? (double)(bench_now_ns() - start) / (double)count : 0, "ns");

	clReleaseMemObject(buffer);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
