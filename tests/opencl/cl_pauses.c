/* SPDX-License-Identifier: MIT */
/* Activities around a pause of the recording, as in tests/hip/pauses.hip: a kernel `held` is
 * enqueued before the pause, waits for a user event, and runs during the pause. */
#include "program.h"

#include "compat/roctx/roctx.h"

enum { BEFORE = 5, WITHIN = 600, AFTER = 7, N = 256 };

static const char source[] = "kernel void before(global int *x) { x[get_global_id(0)]++; }\n"
			     "kernel void held(global int *x) { x[get_global_id(0)]++; }\n"
			     "kernel void within(global int *x) { x[get_global_id(0)]++; }\n"
			     "kernel void after(global int *x) { x[get_global_id(0)]++; }\n";
static cl_command_queue queue;
static cl_program program;
static cl_mem memory;

static void enqueue(const char *name, int count, const cl_event *wait)
{
	cl_kernel k = open_kernel(program, name);
	size_t global = N;

	OK(clSetKernelArg(k, 0, sizeof memory, &memory));
	for (int i = 0; i < count; i++)
		OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, wait != NULL, wait,
					  NULL));
	OK(clReleaseKernel(k));
}

int main(void)
{
	static int data[N];
	cl_event go;
	cl_int error;

	open_device();
	queue = open_queue(0);
	program = build_program(source);
	memory = open_buffer(sizeof data);
	OK(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
	enqueue("before", BEFORE, NULL);
	go = clCreateUserEvent(context, &error);
	OK(error);
	enqueue("held", 1, &go);
	roctxProfilerPause(0);
	enqueue("within", WITHIN, NULL);
	OK(clSetUserEventStatus(go, CL_COMPLETE));
	OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
	OK(clFinish(queue));
	enqueue("within", WITHIN, NULL);
	roctxProfilerResume(0);
	enqueue("after", AFTER, NULL);
	OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
	printf("%d\n", data[0]);
	return 0;
}
