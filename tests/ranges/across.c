/* SPDX-License-Identifier: MIT */
/* Fills a buffer on an OpenCL device inside started ranges of ROCTx or NVTX: a range that its own
 * thread stops, a range that another thread stops, a range that is never stopped. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef NVTX
#include "nvtx_client.h"
#define START(text) nvtxRangeStartA(text)
#define STOP(id)    nvtxRangeEnd(id)
#else
#include "compat/roctx/roctx.h"
#define START(text) roctxRangeStartA(text)
#define STOP(id)    roctxRangeStop(id)
#endif

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
	STOP(*(uint64_t *)id);
	return NULL;
}

int main(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	uint64_t own, others;
	pthread_t thread;
	cl_int status;

#ifdef NVTX
	if (!open_nvtx())
		return 3;
#endif
	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	queue = clCreateCommandQueue(context, device, 0, &status);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, NULL, &status);
	own = START("own");
	fill(2);
	others = START("others"); /* this range overlaps the first range */
	fill(1);
	STOP(own);
	fill(4);
	pthread_create(&thread, NULL, stop, &others);
	pthread_join(thread, NULL);
	fill(8);
	START("never stopped");
	fill(16);
	clFinish(queue);
	return 0;
}
