/* SPDX-License-Identifier: MIT */
/* Makes the same calls and GPU activities on every run: one queue, one command at a time, with a
 * wait for each, and three calls that fail. gputap's output for this program is compared with
 * tests/golden/real.*. */
#include "program.h"

static const char source[] =
	"kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n"
	"kernel void plus(global int *x, int n) { x[get_global_id(0)] += n; }\n";

enum { N = 4096, ROUNDS = 3 };

/* Make calls that the runtime must refuse, each with a different error. */
static void fail(cl_command_queue q, cl_program p, cl_mem a)
{
	int word = 0;
	cl_int error;

	EXPECT(clEnqueueReadBuffer(q, a, CL_TRUE, N * sizeof(int), sizeof word, &word, 0, NULL,
				   NULL) == CL_INVALID_VALUE);
	EXPECT(!clCreateKernel(p, "absent", &error) && error == CL_INVALID_KERNEL_NAME);
	for (int i = 0; i < 2; i++)
		EXPECT(!clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &error) &&
		       error == CL_INVALID_BUFFER_SIZE);
}

static void compute(cl_command_queue q, cl_kernel twice, cl_kernel plus, cl_mem a, cl_mem b)
{
	static int data[N], copy[N];
	size_t global = N, local = 64;

	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < N; i++)
			data[i] = i + r;
		OK(clEnqueueWriteBuffer(q, a, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
		OK(clEnqueueNDRangeKernel(q, twice, 1, NULL, &global, &local, 0, NULL, NULL));
		OK(clFinish(q));
		OK(clEnqueueNDRangeKernel(q, plus, 1, NULL, &global, NULL, 0, NULL, NULL));
		OK(clFinish(q));
		OK(clEnqueueCopyBuffer(q, a, b, 0, 0, sizeof data, 0, NULL, NULL));
		OK(clFinish(q));
		OK(clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof copy, copy, 0, NULL, NULL));
		for (int i = 0; i < N; i++)
			EXPECT(copy[i] == (i + r) * 2 + 7);
	}
}

/* Submit the other kinds of activities, once each. */
static void others(cl_command_queue q, cl_mem a)
{
	int pattern = 5, *mapped;
	cl_int error;

	OK(clEnqueueFillBuffer(q, a, &pattern, sizeof pattern, 1024, 2048, 0, NULL, NULL));
	OK(clFinish(q));
	mapped = clEnqueueMapBuffer(q, a, CL_TRUE, CL_MAP_READ, 1024, 512, 0, NULL, NULL, &error);
	OK(error);
	EXPECT(mapped[0] == pattern);
	OK(clEnqueueUnmapMemObject(q, a, mapped, 0, NULL, NULL));
	OK(clFinish(q));
	OK(clEnqueueMarkerWithWaitList(q, 0, NULL, NULL));
	OK(clFinish(q));
}

int main(void)
{
	int seven = 7;
	cl_command_queue q;
	cl_program p;
	cl_kernel twice, plus;
	cl_mem a, b;

	open_device();
	q = open_queue(0);
	p = build_program(source);
	twice = open_kernel(p, "twice");
	plus = open_kernel(p, "plus");
	a = open_buffer(N * sizeof(int));
	b = open_buffer(N * sizeof(int));
	OK(clSetKernelArg(twice, 0, sizeof a, &a));
	OK(clSetKernelArg(plus, 0, sizeof a, &a));
	OK(clSetKernelArg(plus, 1, sizeof seven, &seven));
	compute(q, twice, plus, a, b);
	others(q, a);
	fail(q, p, a);
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseKernel(twice));
	OK(clReleaseKernel(plus));
	OK(clReleaseProgram(p));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(context));
	return 0;
}
