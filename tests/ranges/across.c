/* SPDX-License-Identifier: MIT */
/* Fills a buffer on an OpenCL device inside of ROCTx's started ranges: one that its own thread
 * stops, one that another thread stops, one that nobody stops. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdlib.h>

#include "compat/roctx/roctx.h"

static cl_command_queue queue;
static cl_mem buffer;

static void fill(int times)
{
	for (int i = 0; i < times; i++)
		if (clEnqueueFillBuffer(queue, buffer, &i, sizeof i, 0, 1 << 20, 0, NULL, NULL))
			exit(2);
}

static void *stop(void *id)
{
	roctxRangeStop(*(roctx_range_id_t *)id);
	return NULL;
}

int main(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	roctx_range_id_t own, others;
	pthread_t thread;
	cl_int status;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	queue = clCreateCommandQueue(context, device, 0, &status);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, NULL, &status);
	own = roctxRangeStartA("own");
	fill(2);
	others = roctxRangeStartA("others"); /* overlaps the first one */
	fill(1);
	roctxRangeStop(own);
	fill(4);
	pthread_create(&thread, NULL, stop, &others);
	pthread_join(thread, NULL);
	fill(8);
	roctxRangeStartA("never stopped");
	fill(16);
	clFinish(queue);
	return 0;
}
