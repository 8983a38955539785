/* SPDX-License-Identifier: MIT */
/* An OpenCL program that waits in clFinish() for a user event, which a second thread completes when
 * the file "stop" exists. Prints "ready" shortly before, and "done" at its end. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *complete(void *event)
{
	while (access("stop", F_OK))
		usleep(2000);
	clSetUserEventStatus(event, CL_COMPLETE);
	return NULL;
}

int main(void)
{
	const int zero = 0;
	cl_command_queue queue;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	pthread_t thread;
	cl_event event;
	cl_mem buffer;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	event = clCreateUserEvent(context, NULL);
	if (!event ||
	    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, 4096, 0, NULL, NULL) ||
	    clFinish(queue) || pthread_create(&thread, NULL, complete, event) ||
	    clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, 4096, 1, &event, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	if (clFinish(queue) || pthread_join(thread, NULL))
		return 1;
	clReleaseEvent(event);
	clReleaseMemObject(buffer);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	puts("done");
	return 0;
}
