/* SPDX-License-Identifier: MIT */
/* opencl_paced THREADS CALLS_PER_SECOND SECONDS: starts threads that make cheap OpenCL calls at a
 * steady rate, independently. Prints the achieved rate. Run this program under `gputap run` to
 * check whether calls are lost at that rate. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>

#include "measure.h"

enum { BURST = 64 }; /* calls between two reads of the clock */

static cl_context context;
static double rate, seconds;

static void *worker(void *arg)
{
	uint64_t *calls = arg, total = (uint64_t)(rate * seconds), start = bench_now_ns();
	cl_uint references;

	for (*calls = 0; *calls < total; *calls += BURST) {
		while ((double)(bench_now_ns() - start) * rate < (double)*calls * 1e9)
			;
		for (int i = 0; i < BURST; i++)
			clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references,
					 &references, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t calls[16], start, sum = 0;
	pthread_t threads[16];
	cl_platform_id platform;
	cl_device_id device;
	cl_int error;
	int count;

	if (argc != 4 || (count = atoi(argv[1])) < 1 || count > 16 || (rate = atof(argv[2])) <= 0 ||
	    (seconds = atof(argv[3])) <= 0) {
		fprintf(stderr, "usage: opencl_paced THREADS CALLS_PER_SECOND SECONDS\n");
		return 2;
	}
	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
		fprintf(stderr, "opencl_paced: no OpenCL device\n");
		return 1;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	if (!context)
		return 1;
	start = bench_now_ns();
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, &calls[i]))
			return 1;
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += calls[i];
	}
	bench_print("paced_reached", (double)sum * 1e3 / (double)(bench_now_ns() - start), "M/s");
	clReleaseContext(context);
	return 0;
}
