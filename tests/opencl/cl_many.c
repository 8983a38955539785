/* SPDX-License-Identifier: MIT */
/* Many small kernels. usage: cl_many KERNELS [FINISH_EVERY]. Prints ns per kernel on standard error. */
#include "program.h"

#include <time.h>

static const char source[] = "kernel void small(global int *x) { x[get_global_id(0)] += 1; }\n";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000, every = argc > 2 ? atoi(argv[2]) : 0;
	size_t global = 64, local = 64;
	cl_command_queue q;
	cl_kernel k;
	cl_mem m;
	double start, queued;

	open_device();
	q = open_queue(0);
	k = open_kernel(build_program(source), "small");
	m = open_buffer(4096);
	OK(clSetKernelArg(k, 0, sizeof m, &m));
	for (int i = 0; i < 100; i++)
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, NULL));
	OK(clFinish(q));
	start = now();
	for (int i = 0; i < n; i++) {
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, NULL));
		if (every && i % every == every - 1)
			OK(clFinish(q));
	}
	queued = now();
	OK(clFinish(q));
	fprintf(stderr, "%.0f %.0f\n", (now() - start) / n, (queued - start) / n);
	return 0;
}
