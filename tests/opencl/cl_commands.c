/* SPDX-License-Identifier: MIT */
/* Launches a command buffer of two kernels and a copy three times and checks the results. Then
 * launches a command buffer on a queue that differs from its own queue only in profiling. */
#define CL_ENABLE_BETA_EXTENSIONS /* headers since 2023 require this for command buffers */
#include "program.h"

static const char source[] = "kernel void advance(global int *x) { x[get_global_id(0)] += 3; }\n"
			     "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n";

/* Declared as in the runtimes. Headers of extension version 0.9.5 and later insert an argument in
 * the middle. */
typedef cl_int (*copy_fn)(cl_command_buffer_khr, cl_command_queue, cl_mem, cl_mem, size_t, size_t,
			  size_t, cl_uint, const cl_sync_point_khr *, cl_sync_point_khr *,
			  cl_mutable_command_khr *);

#define FUNCTION(f) f##_fn f = (f##_fn)clGetExtensionFunctionAddressForPlatform(platform, #f)

int main(void)
{
	enum { N = 256 };
	static int x[N], y[N];
	size_t global = N;
	cl_command_buffer_khr b;
	cl_sync_point_khr s[3];
	cl_command_queue q, other;
	cl_program p;
	cl_kernel advance, twice;
	cl_mem a, c;
	cl_event e;
	cl_int error;

	open_device();
	FUNCTION(clCreateCommandBufferKHR);
	FUNCTION(clCommandNDRangeKernelKHR);
	copy_fn copy = (copy_fn)clGetExtensionFunctionAddressForPlatform(platform,
									 "clCommandCopyBufferKHR");
	FUNCTION(clFinalizeCommandBufferKHR);
	FUNCTION(clEnqueueCommandBufferKHR);
	FUNCTION(clReleaseCommandBufferKHR);
	if (!clCreateCommandBufferKHR)
		return 77;
	EXPECT(clGetExtensionFunctionAddressForPlatform(platform, "clNoSuchFunctionXYZ") == NULL);
	EXPECT(clGetExtensionFunctionAddressForPlatform(platform, "clSetContentSizeBufferPoCL") !=
	       NULL);
	EXPECT(clGetExtensionFunctionAddressForPlatform(platform, "clSetContentSizeBufferPoCL") !=
	       NULL);
	q = open_queue(0);
	other = open_queue(CL_QUEUE_PROFILING_ENABLE);
	p = build_program(source);
	advance = open_kernel(p, "advance");
	twice = open_kernel(p, "twice");
	a = open_buffer(sizeof x);
	c = open_buffer(sizeof x);
	OK(clSetKernelArg(advance, 0, sizeof a, &a));
	OK(clSetKernelArg(twice, 0, sizeof a, &a));
	OK(clEnqueueWriteBuffer(q, a, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL));
	b = clCreateCommandBufferKHR(1, &q, NULL, &error);
	OK(error);
	OK(clCommandNDRangeKernelKHR(b, NULL, NULL, advance, 1, NULL, &global, NULL, 0, NULL, &s[0],
				     NULL));
	OK(clCommandNDRangeKernelKHR(b, NULL, NULL, advance, 1, NULL, &global, NULL, 1, s, &s[1],
				     NULL));
	OK(clCommandNDRangeKernelKHR(b, NULL, NULL, twice, 1, NULL, &global, NULL, 1, &s[1], &s[2],
				     NULL));
	OK(copy(b, NULL, a, c, 0, 0, sizeof x, 1, &s[2], NULL, NULL));
	OK(clFinalizeCommandBufferKHR(b));
	for (int i = 0; i < 3; i++) {
		OK(clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, i == 1 ? &e : NULL));
		OK(clFinish(q));
	}
	OK(clReleaseEvent(e));
	OK(clEnqueueReadBuffer(q, c, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL));
	EXPECT(y[5] == ((0 + 6) * 2 + 6) * 2 * 2 + 12);
	printf("other queue: %d\n", clEnqueueCommandBufferKHR(1, &other, b, 0, NULL, NULL));
	printf("wrong count: %d\n", clEnqueueCommandBufferKHR(2, &other, b, 0, NULL, NULL));
	OK(clReleaseCommandBufferKHR(b));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseCommandQueue(other));
	return 0;
}
