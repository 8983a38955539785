/* SPDX-License-Identifier: MIT */
/* Threads with their own queues and a shared queue. The global size of each kernel is the number of
 * its call. usage: cl_threads THREADS KERNELS. Thread n uses global sizes n * KERNELS + 1 to (n +
 * 1) * KERNELS. */
#include "program.h"

#include <pthread.h>

static const char source[] =
	"kernel void number(global int *x) { if (get_global_id(0) == 0) x[0] = 1; }\n";

static cl_command_queue shared;
static cl_program program;
static int kernels;

static void *work(void *arg)
{
	size_t base = (size_t)(uintptr_t)arg * (size_t)kernels;
	cl_command_queue own = open_queue(0);
	cl_kernel k = open_kernel(program, "number");
	cl_mem m = open_buffer(64);
	cl_event e;

	OK(clSetKernelArg(k, 0, sizeof m, &m));
	for (int i = 0; i < kernels; i++) {
		size_t global = base + (size_t)i + 1;
		cl_command_queue q = i % 2 ? shared : own;

		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL,
					  i % 3 ? NULL : &e));
		if (i % 3 == 0) {
			if (i % 9 == 0)
				OK(clWaitForEvents(1, &e));
			OK(clReleaseEvent(e));
		}
		if (i % 50 == 49)
			OK(clFinish(q));
	}
	OK(clFinish(own));
	OK(clFinish(shared));
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
	OK(clReleaseCommandQueue(own));
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t ids[64];

	kernels = argc > 2 ? atoi(argv[2]) : 200;
	open_device();
	shared = open_queue(0);
	program = build_program(source);
	for (int i = 0; i < threads && i < 64; i++)
		EXPECT(pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i) == 0);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(ids[i], NULL);
	OK(clReleaseCommandQueue(shared));
	OK(clReleaseProgram(program));
	OK(clReleaseContext(context));
	puts("right");
	return 0;
}
