/* SPDX-License-Identifier: MIT */
/* A program that ends as soon as its wait is over. usage: cl_killed ORDER WAIT END
 *   ORDER in, out: order of its queue
 *   WAIT   finish; list: for all events at once; last: for the last 10, after 390 that cannot run
 *          yet; queues: for an event on each of 100 queues; marker, read, map: with a command that
 *          waits for the other commands
 *   END    kill, _exit
 * First prints the number of kernels that it has waited for. */
#include "program.h"

#include <signal.h>
#include <unistd.h>

enum { KERNELS = 400, LAST = 10, QUEUES = 100 };

static cl_command_queue q;
static cl_command_queue_properties order;
static cl_kernel kernel;
static cl_mem m;
static cl_event events[KERNELS];

static void enqueue(cl_command_queue queue, const cl_event *after, cl_event *event)
{
	size_t global = 16;

	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, after != NULL, after,
				  event));
}

static void wait_for_last(void)
{
	cl_int error;
	cl_event gate = clCreateUserEvent(context, &error);

	OK(error);
	for (int i = 0; i < KERNELS; i++)
		enqueue(q, i < KERNELS - LAST ? &gate : NULL, &events[i]);
	OK(clWaitForEvents(LAST, &events[KERNELS - LAST]));
}

static void wait_for_queues(void)
{
	for (int i = 0; i < QUEUES; i++) {
		cl_command_queue other = open_queue(order);

		enqueue(other, NULL, &events[i]);
		OK(clFlush(other));
	}
	OK(clWaitForEvents(QUEUES, events));
}

static void wait_by_command(const char *how)
{
	cl_event done;
	int value;

	for (int i = 0; i < KERNELS; i++)
		enqueue(q, NULL, &events[i]);
	if (!strcmp(how, "read")) {
		OK(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof value, &value, KERNELS, events,
				       NULL));
	} else if (!strcmp(how, "map")) {
		cl_int error;

		clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ, 0, sizeof value, KERNELS, events,
				   NULL, &error);
		OK(error);
	} else if (!strcmp(how, "marker")) {
		OK(clEnqueueMarkerWithWaitList(q, 0, NULL, &done));
		OK(clWaitForEvents(1, &done));
	} else if (!strcmp(how, "list")) {
		OK(clWaitForEvents(KERNELS, events));
	} else {
		OK(clFinish(q));
	}
}

int main(int argc, char **argv)
{
	int waited = KERNELS;

	if (argc != 4)
		return 2;
	open_device();
	order = !strcmp(argv[1], "out") ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
	q = open_queue(order);
	kernel = open_kernel(
		build_program("kernel void add(global int *x) { x[get_global_id(0)] += 1; }\n"),
		"add");
	m = open_buffer(4096);
	OK(clSetKernelArg(kernel, 0, sizeof m, &m));
	if (!strcmp(argv[2], "last")) {
		wait_for_last();
		waited = LAST;
	} else if (!strcmp(argv[2], "queues")) {
		wait_for_queues();
		waited = QUEUES;
	} else {
		wait_by_command(argv[2]);
	}
	printf("%d\n", waited);
	fflush(stdout);
	if (!strcmp(argv[3], "kill"))
		raise(SIGKILL);
	_exit(0);
}
