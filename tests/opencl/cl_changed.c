/* SPDX-License-Identifier: MIT */
/* A loop with one known change, for tests of `gputap diff`. Each step writes a buffer, runs three
 * kernels, reads the buffer and waits.
 *
 *   cl_changed STEPS [CHANGE]
 *
 *   sync, few     a second clFinish in each step, in every 20th step
 *   launch        kernel work_c runs twice
 *   copy          a second read
 *   alloc         a buffer is created and released in each step
 *   grid          kernel work_b has twice the work-items
 *   slow          kernel work_b takes twice as long
 *   pause         the host computes for 1 ms in each step
 *   rename        kernel work_b is called work_b_v2
 *   added, gone   kernel work_d runs as well, kernel work_c does not run
 *   fill          the buffer is filled after the copy */
#include "program.h"

#include <time.h>

enum { ITEMS = 1 << 12 };

#define WORK(name)                                       \
	"kernel void " name "(global float *x, int n)\n" \
	"{\n"                                            \
	"	int i = get_global_id(0) % 4096;\n"            \
	"	float y = x[i];\n"                             \
	"	for (int k = 0; k < n; k++)\n"                 \
	"		y = y * 0.999f + 0.001f;\n"                   \
	"	x[i] = y;\n"                                   \
	"}\n"
static const char source[] =
	WORK("work_a") WORK("work_b") WORK("work_b_v2") WORK("work_c") WORK("work_d");

static cl_mem memory;
static cl_program program;

static cl_kernel find(const char *name)
{
	cl_int error;
	cl_kernel kernel = clCreateKernel(program, name, &error);

	OK(error);
	OK(clSetKernelArg(kernel, 0, sizeof memory, &memory));
	return kernel;
}

static void launch(cl_command_queue queue, cl_kernel kernel, size_t items, int loops)
{
	OK(clSetKernelArg(kernel, 1, sizeof loops, &loops));
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
}

static void compute_ns(long ns)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ns);
}

int main(int argc, char **argv)
{
	static float host[ITEMS];
	const char *change = argc > 2 ? argv[2] : "", *text = source;
	cl_command_queue queue;
	cl_kernel a, b, c, d;
	cl_int error;

	if (argc < 2)
		return 2;
	open_device();
	queue = open_queue(0);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	OK(error);
	OK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, &error);
	OK(error);
	a = find("work_a");
	b = find(!strcmp(change, "rename") ? "work_b_v2" : "work_b");
	c = find("work_c");
	d = find("work_d");
	for (int i = 0; i < atoi(argv[1]); i++) {
		OK(clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, sizeof host, host, 0, NULL,
					NULL));
		if (!strcmp(change, "fill"))
			OK(clEnqueueFillBuffer(queue, memory, &(float){1}, sizeof(float), 0,
					       sizeof host, 0, NULL, NULL));
		launch(queue, a, ITEMS, 1000);
		launch(queue, b, ITEMS << !strcmp(change, "grid"), 2000 << !strcmp(change, "slow"));
		if (strcmp(change, "gone"))
			launch(queue, c, ITEMS, 500);
		if (!strcmp(change, "launch"))
			launch(queue, c, ITEMS, 500);
		if (!strcmp(change, "added"))
			launch(queue, d, ITEMS, 500);
		if (!strcmp(change, "alloc")) {
			cl_mem more = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL,
						     &error);

			OK(error);
			OK(clReleaseMemObject(more));
		}
		OK(clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, sizeof host, host, 0, NULL,
				       NULL));
		if (!strcmp(change, "copy"))
			OK(clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, sizeof host, host, 0,
					       NULL, NULL));
		OK(clFinish(queue));
		if (!strcmp(change, "sync") || (!strcmp(change, "few") && i % 20 == 0))
			OK(clFinish(queue));
		compute_ns(!strcmp(change, "pause") ? 1000000 : 50000);
	}
	return 0;
}
