/* SPDX-License-Identifier: MIT */
/* A program that works in steps, like a training loop. Each step loads a batch on the host, copies
 * it to the device, runs kernels and reads a number back. Each step is a range "step", and its
 * parts are nested ranges. One step can be made slow. docs/guides/questions.md uses this program.
 *   steps [COUNT [SLOW]]    run COUNT steps (default 10, 0: endlessly); step SLOW, from 1, loads
 *                           its batch 30 ms longer */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gputap/gputap.h"

enum { ITEMS = 1 << 14, LAYERS = 4 };

static const char source[] = "kernel void forward(global float *x, float w)\n"
			     "{\n"
			     "	int i = get_global_id(0);\n"
			     "	float y = x[i];\n"
			     "	for (int k = 0; k < 64; k++)\n"
			     "		y = y * w + 0.001f;\n"
			     "	x[i] = y;\n"
			     "}\n"
			     "kernel void backward(global float *x, float w)\n"
			     "{\n"
			     "	int i = get_global_id(0);\n"
			     "	float y = x[i];\n"
			     "	for (int k = 0; k < 128; k++)\n"
			     "		y = y * w - 0.001f;\n"
			     "	x[i] = y;\n"
			     "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_kernel forward, backward;
static cl_mem values;
static float batch[ITEMS];

static void check(cl_int status, const char *what)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "steps: %s: OpenCL's error %d\n", what, status);
	exit(1);
}

static void set_up(void)
{
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;
	cl_program program;
	cl_int status;

	check(clGetPlatformIDs(1, &platform, NULL), "no platform");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "no device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &status);
	check(status, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
	check(status, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	forward = clCreateKernel(program, "forward", &status);
	check(status, "clCreateKernel");
	backward = clCreateKernel(program, "backward", &status);
	check(status, "clCreateKernel");
	values = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof batch, NULL, &status);
	check(status, "clCreateBuffer");
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void load_batch(int step, int slow)
{
	gputap_range_push("load");
	for (int i = 0; i < ITEMS; i++)
		batch[i] = (float)(step + i % 7);
	sleep_ms(step == slow ? 31 : 1);
	check(clEnqueueWriteBuffer(queue, values, CL_FALSE, 0, sizeof batch, batch, 0, NULL, NULL),
	      "clEnqueueWriteBuffer");
	gputap_range_pop();
}

static void run_layers(const char *name, cl_kernel kernel)
{
	const size_t items = ITEMS;
	const float weight = 0.5f;

	gputap_range_push(name);
	check(clSetKernelArg(kernel, 0, sizeof values, &values), "clSetKernelArg");
	check(clSetKernelArg(kernel, 1, sizeof weight, &weight), "clSetKernelArg");
	for (int i = 0; i < LAYERS; i++)
		check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
		      "clEnqueueNDRangeKernel");
	gputap_range_pop();
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10, slow = argc > 2 ? atoi(argv[2]) : 0;
	float loss = 0;

	set_up();
	for (int step = 1; !count || step <= count; step++) {
		gputap_range_push("step");
		load_batch(step, slow);
		run_layers("forward", forward);
		run_layers("backward", backward);
		check(clEnqueueReadBuffer(queue, values, CL_TRUE, 0, sizeof loss, &loss, 0, NULL,
					  NULL),
		      "clEnqueueReadBuffer");
		gputap_range_pop();
	}
	printf("loss %g\n", (double)loss);
	return 0;
}
