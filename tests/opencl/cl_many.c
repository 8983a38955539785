/* SPDX-License-Identifier: MIT */
/* Many small kernels. usage: cl_many KERNELS [FINISH_EVERY [ITEMS [QUEUE_PROPERTIES]]]. Prints on
 * standard error, in ns per kernel: wall time, time to enqueue, CPU time of the process and of this
 * thread. */
#include "program.h"

#include <sys/resource.h>
#include <time.h>

static const char source[] = "kernel void small(global int *x) { x[get_global_id(0)] += 1; }\n";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double processor(int whose)
{
	struct rusage r;

	getrusage(whose, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e9 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000, every = argc > 2 ? atoi(argv[2]) : 0;
	size_t global = argc > 3 ? (size_t)atoi(argv[3]) : 64, local = 64;
	cl_command_queue q;
	cl_kernel k;
	cl_mem m;
	double start, queued, all, mine;

	open_device();
	q = open_queue(argc > 4 ? (cl_command_queue_properties)atoi(argv[4]) : 0);
	k = open_kernel(build_program(source), "small");
	m = open_buffer(global * sizeof(int));
	OK(clSetKernelArg(k, 0, sizeof m, &m));
	for (int i = 0; i < 100; i++)
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, NULL));
	OK(clFinish(q));
	all = processor(RUSAGE_SELF);
	mine = processor(RUSAGE_THREAD);
	start = now();
	for (int i = 0; i < n; i++) {
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, NULL));
		if (every && i % every == every - 1)
			OK(clFinish(q));
	}
	queued = now();
	OK(clFinish(q));
	fprintf(stderr, "%.0f %.0f %.0f %.0f\n", (now() - start) / n, (queued - start) / n,
		(processor(RUSAGE_SELF) - all) / n, (processor(RUSAGE_THREAD) - mine) / n);
	return 0;
}
