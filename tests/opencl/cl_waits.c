/* SPDX-License-Identifier: MIT */
/* cl_waits [ROUNDS [TURNS]]: makes waits whose reasons are known, TURNS times (3), on two in-order
 * queues:
 *
 *   "behind" KERNELS kernels of ROUNDS rounds each, followed by a blocking read of one word
 *   "alone"   a blocking write of 4 MiB on an idle queue
 *   "finish"  KERNELS kernels on each queue, and a clFinish() for each
 *   "later"   a non-blocking read, and a wait for it with clWaitForEvents() */
#include "program.h"

enum { KERNELS = 4, BYTES = 4 << 20 };

static const char source[] = "kernel void spin(global uint *x, uint rounds)\n"
			     "{\n"
			     "	uint v = x[0];\n"
			     "	for (uint i = 0; i < rounds; i++)\n"
			     "		v = v * 1664525 + (v >> 7) + i;\n"
			     "	x[0] = v;\n"
			     "}\n";

static cl_kernel spin;
static cl_uint rounds = 100000;

static cl_mem new_buffer(void)
{
	cl_int error;
	cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);

	OK(error);
	return m;
}

static void enqueue_kernels(cl_command_queue q, cl_mem m)
{
	size_t one = 1;

	OK(clSetKernelArg(spin, 0, sizeof m, &m));
	OK(clSetKernelArg(spin, 1, sizeof rounds, &rounds));
	for (int i = 0; i < KERNELS; i++)
		OK(clEnqueueNDRangeKernel(q, spin, 1, NULL, &one, NULL, 0, NULL, NULL));
}

static void take_turn(cl_command_queue a, cl_command_queue b, cl_mem of_a, cl_mem of_b, void *data)
{
	cl_uint word;
	cl_event event;

	enqueue_kernels(a, of_a);
	OK(clEnqueueReadBuffer(a, of_a, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL));
	OK(clEnqueueWriteBuffer(b, of_b, CL_TRUE, 0, BYTES, data, 0, NULL, NULL));
	enqueue_kernels(a, of_a);
	enqueue_kernels(b, of_b);
	OK(clFinish(a));
	OK(clFinish(b));
	OK(clEnqueueReadBuffer(a, of_a, CL_FALSE, 0, sizeof word, &word, 0, NULL, &event));
	OK(clWaitForEvents(1, &event));
	OK(clReleaseEvent(event));
}

int main(int argc, char **argv)
{
	int turns = argc > 2 ? atoi(argv[2]) : 3;
	void *data = calloc(1, BYTES);
	cl_command_queue a, b;
	cl_mem of_a, of_b;
	cl_program program;
	cl_int error;

	if (argc > 1)
		rounds = (cl_uint)strtoul(argv[1], NULL, 10);
	open_device();
	a = open_queue(0);
	b = open_queue(0);
	program = build_program(source);
	spin = clCreateKernel(program, "spin", &error);
	OK(error);
	of_a = new_buffer();
	of_b = new_buffer();
	OK(clEnqueueWriteBuffer(a, of_a, CL_TRUE, 0, BYTES, data, 0, NULL, NULL));
	for (int i = 0; i < turns; i++)
		take_turn(a, b, of_a, of_b, data);
	clReleaseMemObject(of_a);
	clReleaseMemObject(of_b);
	clReleaseKernel(spin);
	clReleaseProgram(program);
	clReleaseCommandQueue(a);
	clReleaseCommandQueue(b);
	clReleaseContext(context);
	free(data);
	return 0;
}
