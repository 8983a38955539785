/* SPDX-License-Identifier: MIT */
/* Fills a buffer on an OpenCL device inside and outside ranges. The program does not print the
 * number of fills; the test expects the numbers in this file. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>

#include "gputap/gputap.h"

static cl_command_queue queue;
static cl_mem buffer;

static void fill(int times)
{
	for (int i = 0; i < times; i++)
		if (clEnqueueFillBuffer(queue, buffer, &i, sizeof i, 0, 1 << 20, 0, NULL, NULL))
			exit(2);
}

static void begin(enum gputap_range_kind kind, const char *name, uint64_t key)
{
	gputap_range_begin(name, key,
			   &(struct gputap_range_opts){.size = sizeof(struct gputap_range_opts),
						       .kind = kind});
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
	queue = clCreateCommandQueue(context, device, 0, &status);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, NULL, &status);
	fill(1);
	begin(GPUTAP_RANGE_USER, "step", 1);
	fill(2);
	for (int i = 0; i < 3; i++) {
		begin(GPUTAP_RANGE_OPERATOR, "outer", 2);
		begin(GPUTAP_RANGE_OPERATOR, "inner", 3);
		fill(4);
		begin(GPUTAP_RANGE_OPERATOR, "inner", 4);
		fill(1);
		gputap_range_end(4);
		gputap_range_end(3);
		fill(1);
		begin(GPUTAP_RANGE_OPERATOR, "idle", 5);
		gputap_range_end(5);
		gputap_range_end(2);
	}
	gputap_range_end(1);
	fill(1);
	clFinish(queue);
	return 0;
}
