/* SPDX-License-Identifier: MIT */
/* Runs two kernels and memcpys in both directions, and checks the results. usage: cl_basic
 * [ROUNDS] */
#include "program.h"

static const char source[] =
	"kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n"
	"kernel void plus(global int *x, int n) { x[get_global_id(0)] += n; }\n";

int main(int argc, char **argv)
{
	enum { N = 4096 };
	static int data[N], copy[N];
	int rounds = argc > 1 ? atoi(argv[1]) : 1, seven = 7;
	size_t global = N, local = 64;
	cl_command_queue q;
	cl_program p;
	cl_kernel twice, plus;
	cl_mem a, b;

	open_device();
	q = open_queue(0);
	p = build_program(source);
	twice = open_kernel(p, "twice");
	plus = open_kernel(p, "plus");
	a = open_buffer(sizeof data);
	b = open_buffer(sizeof data);
	OK(clSetKernelArg(twice, 0, sizeof a, &a));
	OK(clSetKernelArg(plus, 0, sizeof a, &a));
	OK(clSetKernelArg(plus, 1, sizeof seven, &seven));
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < N; i++)
			data[i] = i + r;
		OK(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, sizeof data, data, 0, NULL, NULL));
		OK(clEnqueueNDRangeKernel(q, twice, 1, NULL, &global, &local, 0, NULL, NULL));
		OK(clEnqueueNDRangeKernel(q, plus, 1, NULL, &global, NULL, 0, NULL, NULL));
		OK(clEnqueueCopyBuffer(q, a, b, 0, 0, sizeof data, 0, NULL, NULL));
		OK(clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof copy, copy, 0, NULL, NULL));
		for (int i = 0; i < N; i++)
			EXPECT(copy[i] == (i + r) * 2 + 7);
	}
	OK(clFinish(q));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseKernel(twice));
	OK(clReleaseKernel(plus));
	OK(clReleaseProgram(p));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(context));
	puts("right");
	return 0;
}
