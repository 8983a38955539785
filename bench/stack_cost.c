/* SPDX-License-Identifier: MIT */
/* stack_cost DEPTH COUNT [WAYS]: measures a fill without a buffer, which the runtime refuses. The
 * fill is called DEPTH functions below main(), through WAYS (1) different stacks. Prints the median
 * of the ns per call. Compiled without frame pointers. bench/stacks.py runs this program. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static cl_command_queue queue;
static uint64_t *times;
static size_t count, taken;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Time ten calls together, because reading the clock takes as long as one call. */
static __attribute__((noinline)) void launch(void)
{
	const uint64_t begin = now_ns();

	for (int i = 0; i < 10; i++)
		clEnqueueFillBuffer(queue, NULL, &queue, 1, 0, 1, 0, NULL, NULL);
	if (taken < count)
		times[taken++] = now_ns() - begin;
}

/* Call through a path that @bits selects: each value gives a different stack. */
static __attribute__((noinline)) void descend(unsigned depth, unsigned bits)
{
	volatile char room[48];

	room[0] = (char)depth;
	if (!depth)
		launch();
	else if (bits & 1)
		descend(depth - 1, bits >> 1);
	else
		descend(depth - 1, bits >> 1);
	room[1] = room[0];
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void set_up(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		exit(1);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
}

int main(int argc, char **argv)
{
	const unsigned depth = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	const unsigned ways = argc > 3 ? (unsigned)atoi(argv[3]) : 1;

	count = argc > 2 ? (size_t)atol(argv[2]) : 20000;
	times = calloc(count, sizeof *times);
	if (!times || !ways)
		return 1;
	set_up();
	for (size_t i = 0; i < count; i++)
		descend(depth, (unsigned)i % ways);
	qsort(times, taken, sizeof *times, compare);
	printf("%.1f\n", (double)times[taken / 2] / 10);
	return 0;
}
