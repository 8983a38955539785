/* SPDX-License-Identifier: MIT */
/* opencl_loop KEY WHAT COUNT [BATCH]: a real OpenCL program on the first device. Prints ns per
 * call.
 * WHAT: kernels[:N]    kernels of N work-items (1) on one queue, finished every BATCH (64)
 *       profiling[:N]  like kernels, on a queue with profiling
 *       events[:N]     like profiling, with an event for each kernel, released after the finish
 *       times[:N]      like events, and reads the four times of each event
 *       calls          clGetContextInfo(), which does nearly nothing
 *       none           no such calls, for the time of start and exit alone */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>

#include "measure.h"

enum { BATCH_MAX = 10000 };

static uint64_t batch_size = 64; /* kernels between two calls of clFinish() */

enum what { NONE, CALLS, KERNELS, PROFILING, EVENTS, TIMES };
static const char *const names[] = {"none", "calls", "kernels", "profiling", "events", "times"};

static int fail(const char *what, cl_int error)
{
	fprintf(stderr, "opencl_loop: %s: %d\n", what, error);
	return 1;
}

static cl_int settle(cl_event *events, uint64_t count, bool times)
{
	cl_ulong t[4];
	cl_int error = CL_SUCCESS;

	for (uint64_t i = 0; i < count; i++) {
		for (cl_uint what = 0; times && what < 4; what++)
			error |= clGetEventProfilingInfo(events[i],
							 CL_PROFILING_COMMAND_QUEUED + what,
							 sizeof t[what], &t[what], NULL);
		error |= clReleaseEvent(events[i]);
	}
	return error;
}

static cl_int launch(enum what what, cl_command_queue queue, cl_kernel kernel, size_t items,
		     uint64_t count)
{
	static cl_event events[BATCH_MAX];
	cl_int error = CL_SUCCESS;
	uint64_t left = count;

	while (left && !error) {
		uint64_t batch = left < batch_size ? left : batch_size;

		for (uint64_t i = 0; i < batch; i++)
			error |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items,
							items == 1 ? &items : NULL, 0, NULL,
							what >= EVENTS ? &events[i] : NULL);
		error |= clFinish(queue);
		if (what >= EVENTS && !error)
			error = settle(events, batch, what == TIMES);
		left -= batch;
	}
	return error;
}

int main(int argc, char **argv)
{
	static const char *source =
		"kernel void fill(global int *a, int v) { a[get_global_id(0)] = v; }";
	size_t items = 1, length;
	cl_platform_id platform;
	cl_device_id device;
	cl_int error, value = 7;
	cl_uint references;
	uint64_t count, start;
	enum what what = NONE;

	if (argc == 5)
		batch_size = strtoull(argv[4], NULL, 0);
	if (argc == 4 || argc == 5) {
		length = strcspn(argv[2], ":");
		for (what = TIMES; what && (strlen(names[what]) != length ||
					    strncmp(argv[2], names[what], length));
		     what--)
			;
		if (argv[2][length])
			items = strtoull(argv[2] + length + 1, NULL, 0);
	}
	if (argc < 4 || argc > 5 || !batch_size || batch_size > BATCH_MAX ||
	    (!what && strcmp(argv[2], "none")))
		return fail("usage: opencl_loop KEY "
			    "kernels[:ITEMS]|profiling[:ITEMS]|events[:ITEMS]|times[:ITEMS]|calls|"
			    "none COUNT [BATCH]",
			    0);
	count = strtoull(argv[3], NULL, 0);
	if ((error = clGetPlatformIDs(1, &platform, NULL)))
		return fail("clGetPlatformIDs", error);
	if ((error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)))
		return fail("clGetDeviceIDs", error);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	cl_command_queue queue =
		clCreateCommandQueue(context, device,
				     what >= PROFILING ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	if ((error = clBuildProgram(program, 1, &device, "", NULL, NULL)))
		return fail("clBuildProgram", error);
	cl_kernel kernel = clCreateKernel(program, "fill", &error);
	cl_mem buffer =
		clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof value, NULL, &error);
	clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
	clSetKernelArg(kernel, 1, sizeof value, &value);

	start = bench_now_ns();
	if (what >= KERNELS && (error = launch(what, queue, kernel, items, count)))
		return fail("a kernel", error);
	if (what == CALLS)
		for (uint64_t i = 0; i < count; i++)
			clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references,
					 &references, NULL);
	clFinish(queue);
	bench_print(argv[1], count ? (double)(bench_now_ns() - start) / (double)count : 0, "ns");

	clReleaseMemObject(buffer);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
