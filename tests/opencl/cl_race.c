/* SPDX-License-Identifier: MIT */
/* Eight threads make the first request for the platform's devices at the same time. A thread that
 * gets a device uses it. PoCL fails here with errors that gputap does not cause. Prints how many
 * threads finished. */
#include "program.h"

#include <pthread.h>

enum { THREADS = 8 };

static pthread_barrier_t barrier;
static _Atomic int made;

static void *work(void *arg)
{
	cl_device_id d = NULL;
	cl_command_queue q;
	cl_platform_id p;
	cl_context c;
	cl_int error;

	pthread_barrier_wait(&barrier);
	if (clGetPlatformIDs(1, &p, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL) != CL_SUCCESS)
		return arg;
	c = clCreateContext(NULL, 1, &d, NULL, NULL, &error);
	q = error == CL_SUCCESS ? clCreateCommandQueue(c, d, 0, &error) : NULL;
	if (q && clEnqueueMarkerWithWaitList(q, 0, NULL, NULL) == CL_SUCCESS &&
	    clFinish(q) == CL_SUCCESS)
		made++;
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&threads[i], NULL, work, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("made %d\n", made);
	return 0;
}
