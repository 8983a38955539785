/* SPDX-License-Identifier: MIT */
/* Enqueues commands whose end the program does not wait for, or waits for in an unusual way. usage:
 * cl_ways_to_end WAY. Prints the number of enqueued commands. */
#include "program.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char source[] = "kernel void small(global int *x) { x[get_global_id(0)] += 1; }\n"
			     "kernel void large(global int *x) { int a = x[0]; for (int i = 0; i < "
			     "100000000; i++) a = a * 3 + i; x[0] = a; }\n";

static cl_command_queue q;
static cl_kernel small_kernel, large_kernel;
static cl_mem m;
static unsigned count;

static void enqueue(cl_uint waits, const cl_event *list, cl_event *event)
{
	size_t global = 16;

	OK(clEnqueueNDRangeKernel(q, small_kernel, 1, NULL, &global, NULL, waits, list, event));
	count++;
}

static cl_event user_event(void)
{
	cl_int error;
	cl_event e = clCreateUserEvent(context, &error);

	OK(error);
	return e;
}

static void nap(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void tell(void)
{
	printf("%u\n", count);
	fflush(stdout);
}

/* Release events before their commands have started. */
static void early_release(void)
{
	cl_event gate = user_event(), e[100];

	for (int i = 0; i < 100; i++)
		enqueue(1, &gate, &e[i]);
	for (int i = 0; i < 100; i++)
		OK(clReleaseEvent(e[i]));
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clReleaseEvent(gate));
	OK(clFinish(q));
}

/* The program does not wait for the commands, and ends with exit(). */
static void no_finish(void)
{
	for (int i = 0; i < 100; i++)
		enqueue(0, NULL, NULL);
	OK(clFlush(q));
	nap(300);
}

/* The commands never run. */
static void never(void)
{
	cl_event gate = user_event();

	for (int i = 0; i < 10; i++)
		enqueue(1, &gate, NULL);
	OK(clFlush(q));
}

/* All commands complete, and the process then ends without running exit handlers. */
static void finish_then_kill(void)
{
	for (int i = 0; i < 1000; i++)
		enqueue(0, NULL, NULL);
	OK(clFinish(q));
	tell();
	raise(SIGKILL);
}

/* Enqueue a command now and then, without ever waiting or stopping. */
static void fed_then_kill(void)
{
	for (int i = 0; i < 200; i++) {
		enqueue(0, NULL, NULL);
		OK(clFlush(q));
		nap(5);
	}
	tell();
	raise(SIGKILL);
}

static void finish_then_exit_now(void)
{
	for (int i = 0; i < 1000; i++)
		enqueue(0, NULL, NULL);
	OK(clFinish(q));
	tell();
	_exit(0);
}

/* The first of many commands does not complete for a long time. */
static void out_of_order(void)
{
	cl_event gate = user_event();

	OK(clReleaseCommandQueue(q));
	q = open_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	enqueue(1, &gate, NULL);
	for (int i = 0; i < 400; i++)
		enqueue(0, NULL, NULL);
	nap(300); /* meanwhile, gputap harvests all commands except the first */
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clFinish(q));
}

/* Fork a child while commands are in progress; the child makes a query, then ends. */
static void forked(void)
{
	cl_event gate = user_event();
	cl_uint references = 0;
	int status;
	pid_t child;

	for (int i = 0; i < 100; i++)
		enqueue(1, &gate, NULL);
	child = fork();
	if (child == 0) {
		OK(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references,
				    &references, NULL));
		exit(references > 0 ? 0 : 9);
	}
	EXPECT(waitpid(child, &status, 0) == child);
	EXPECT(status == 0);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clFinish(q));
}

/* Create and release queues, so that handles are reused. */
static void many_queues(void)
{
	for (int i = 0; i < 300; i++) {
		cl_command_queue other = open_queue(i % 2 ? CL_QUEUE_PROFILING_ENABLE : 0);
		cl_command_queue kept = q;

		q = other;
		enqueue(0, NULL, NULL);
		if (i % 3)
			OK(clFinish(q));
		OK(clReleaseCommandQueue(q));
		q = kept;
	}
	nap(300);
}

static void in_exit_handler(void)
{
	for (int i = 0; i < 10; i++)
		enqueue(0, NULL, NULL);
	OK(clFinish(q));
	tell();
}

/* Use an exit handler that was registered before any runtime was loaded. It runs after gputap's
 * handler. */
static void exit_handler(void)
{
	enqueue(0, NULL, NULL);
	exit(0);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"early_release", early_release},
	{"no_finish", no_finish},
	{"never", never},
	{"finish_then_kill", finish_then_kill},
	{"fed_then_kill", fed_then_kill},
	{"finish_then_exit_now", finish_then_exit_now},
	{"out_of_order", out_of_order},
	{"forked", forked},
	{"many_queues", many_queues},
	{"exit_handler", exit_handler},
};

int main(int argc, char **argv)
{
	cl_program p;

	if (argc > 1 && !strcmp(argv[1], "exit_handler"))
		atexit(in_exit_handler);
	open_device();
	q = open_queue(0);
	p = build_program(source);
	small_kernel = open_kernel(p, "small");
	large_kernel = open_kernel(p, "large");
	m = open_buffer(4096);
	OK(clSetKernelArg(small_kernel, 0, sizeof m, &m));
	OK(clSetKernelArg(large_kernel, 0, sizeof m, &m));
	for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			tell();
			return 0;
		}
	fprintf(stderr, "no such way\n");
	return 2;
}
