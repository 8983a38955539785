/* SPDX-License-Identifier: MIT */
/* Measures the cost of calls while recording is paused: the ns per call, in the fastest of many
 * turns, and the cost of a process's first call, which starts the thread that follows the session.
 * Prints lines "name ns". bench/paused.py runs this program bare and paused. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compat/roctx/roctx.h"
#include "gputap/gputap.h"
#include "soft/refdev/refdev.h"

enum { TURNS = 300, CALLS = 2000, CHILDREN = 200 };

static cl_mem buffer;
static refdevStream_t stream;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void call_opencl(void)
{
	clRetainMemObject(buffer);
}

static void call_refdev(void)
{
	refdevStreamQuery(stream);
}

static void call_roctx(void)
{
	roctxRangePushA("range");
	roctxRangePop();
}

static void call_range(void)
{
	gputap_range_push("range");
	gputap_range_pop();
}

static void measure(const char *name, void (*call)(void))
{
	uint64_t best = UINT64_MAX;

	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t begin = now_ns(), taken;

		for (int i = 0; i < CALLS; i++)
			call();
		taken = now_ns() - begin;
		best = taken < best ? taken : best;
	}
	printf("%s %.2f\n", name, (double)best / CALLS);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Measure in a fork child, in which the thread that follows the session does not run yet. */
static void measure_first(void)
{
	uint64_t taken[CHILDREN];
	int ends[2];

	for (int i = 0; i < CHILDREN; i++) {
		if (pipe(ends))
			exit(1);
		if (fork() == 0) {
			uint64_t begin = now_ns(), end;

			call_refdev();
			end = now_ns() - begin;
			_exit(write(ends[1], &end, sizeof end) != sizeof end);
		}
		if (read(ends[0], &taken[i], sizeof taken[i]) != sizeof taken[i])
			exit(1);
		close(ends[0]);
		close(ends[1]);
		wait(NULL);
	}
	qsort(taken, CHILDREN, sizeof *taken, compare);
	printf("first-call %.0f\n", (double)taken[CHILDREN / 2]);
}

int main(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_int status;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &status);
	refdevStreamCreate(&stream);
	measure("clRetainMemObject", call_opencl);
	measure("refdevStreamQuery", call_refdev);
	measure("roctx-range", call_roctx);
	measure("gputap-range", call_range);
	fflush(stdout);
	measure_first();
	return 0;
}
