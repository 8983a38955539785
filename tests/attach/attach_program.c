/* SPDX-License-Identifier: MIT */
/* An OpenCL program that knows nothing of gputap. It executes the lines of its standard input and
 * answers each with "ok":
 *
 *     run N       enqueue N kernels and wait for them: N + 1 calls
 *     loop        enqueue kernels in a thread, from now on
 *     fork        fork a child, which executes the following lines until "exit"
 *     exec, system, popen, spawn
 *                 start this program, which executes the following lines until "exit"
 *     exit        end with status 0 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_command_queue queue;
static cl_kernel kernel;

static void check(cl_int status)
{
	if (status == CL_SUCCESS)
		return;
	fprintf(stderr, "OpenCL's error %d\n", status);
	exit(1);
}

static void prepare(void)
{
	const char *text = "kernel void late(int x) {}\n";
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	const int x = 0;
	cl_int status;

	check(clGetPlatformIDs(1, &platform, NULL));
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status);
	queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
	check(status);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
	check(status);
	check(clBuildProgram(program, 1, &device, "", NULL, NULL));
	kernel = clCreateKernel(program, "late", &status);
	check(status);
	check(clSetKernelArg(kernel, 0, sizeof x, &x));
}

static void run(int count)
{
	const size_t one = 1;

	if (!queue)
		prepare();
	for (int i = 0; i < count; i++)
		check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
	check(clFinish(queue));
}

static void *loop(void *arg)
{
	for (;;) {
		run(10);
		usleep(1000);
	}
	return arg;
}

/* Wait until a child has ended. */
static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(1);
}

static void answer(void)
{
	printf("ok\n");
	fflush(stdout);
}

/* Start this program in one of several ways, and wait until it has ended. Return false if @way is
 * none of them. */
static bool start(const char *way, char *program)
{
	char *const arguments[] = {program, NULL}, *const environment[] = {"LANG=C", NULL};
	FILE *stream;
	pid_t pid;

	if (!strcmp(way, "exec")) {
		answer();
		pid = fork();
		if (pid == 0) {
			execl(program, program, (char *)NULL);
			_exit(127);
		}
		wait_for(pid);
	} else if (!strcmp(way, "system")) {
		answer();
		if (system(program))
			exit(1);
	} else if (!strcmp(way, "popen")) {
		answer();
		stream = popen(program, "r"); /* the child answers through this pipe */
		for (char line[8]; stream && fgets(line, sizeof line, stream);)
			answer();
		if (!stream || pclose(stream))
			exit(1);
	} else if (!strcmp(way, "spawn")) {
		answer();
		if (posix_spawn(&pid, program, NULL, NULL, arguments, environment))
			exit(1);
		wait_for(pid);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	char line[256];
	pthread_t thread;
	pid_t pid;

	(void)argc;
	setvbuf(stdin, NULL, _IONBF, 0); /* children read the same lines */
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "run ", 4)) {
			run(atoi(line + 4));
		} else if (!strcmp(line, "loop")) {
			run(1);
			if (pthread_create(&thread, NULL, loop, NULL))
				return 1;
		} else if (!strcmp(line, "fork")) {
			pid = fork();
			if (pid) { /* the child answers */
				wait_for(pid);
				continue;
			}
		} else if (!strcmp(line, "exit")) {
			answer();
			return 0;
		} else if (start(line, argv[0])) {
			continue;
		}
		answer();
	}
	return 0;
}
