/* SPDX-License-Identifier: MIT */
/* Ranges across pauses of the program. Each range fills a buffer on an OpenCL device a different
 * number of times. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>

#include "compat/roctx/roctx.h"
#include "gputap/gputap.h"

static cl_command_queue queue;
static cl_mem buffer;

static void fill(int times)
{
	for (int i = 0; i < times; i++)
		if (clEnqueueFillBuffer(queue, buffer, &i, sizeof i, 0, 1 << 20, 0, NULL, NULL))
			exit(2);
}

static void begin(const char *name)
{
	gputap_range_begin(name, (uintptr_t)name, NULL);
}

static void end(const char *name)
{
	gputap_range_end((uintptr_t)name);
}

int main(void)
{
	static const char around[] = "around", before[] = "before", within[] = "within",
			  late[] = "late", inner[] = "inner", between[] = "between";
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_int status;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	queue = clCreateCommandQueue(context, device, 0, &status);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, NULL, &status);

	begin(around); /* contains the pause */
	fill(1);
	begin(before); /* ends in the pause */
	fill(2);
	roctxProfilerPause(0);
	fill(1);
	end(before);
	begin(within); /* lies in the pause */
	fill(1);
	end(within);
	begin(late); /* begins in the pause */
	begin(inner);
	fill(1);
	roctxProfilerResume(0);
	fill(4);
	end(inner);
	fill(8);
	end(late);
	roctxProfilerPause(0);
	begin(between); /* begins in one pause, ends in the next */
	roctxProfilerResume(0);
	fill(16);
	roctxProfilerPause(0);
	end(between);
	roctxProfilerResume(0);
	roctxProfilerResume(0); /* one resume more than pauses */
	begin(within);
	end(within);
	end(around);
	clFinish(queue);
	return 0;
}
