/* SPDX-License-Identifier: MIT */
/* An OpenCL program that knows nothing of gputap. It executes the lines of its standard input and
 * answers each with "ok":
 *
 *     run N       enqueue N kernels and wait for them: N + 1 calls
 *     loop        enqueue kernels in a thread, from now on
 *     fork        fork a child, which executes the following lines until "exit"
 *     exec FILE   start FILE, or this program, which executes the following lines until "exit"
 *     exit        end with status 0
 *     abort       end by a signal */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <pthread.h>
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

/* Run a child until it ends. */
static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(1);
}

int main(int argc, char **argv)
{
	char line[256];
	pthread_t thread;

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
		} else if (!strcmp(line, "fork") || !strcmp(line, "exec")) {
			bool is_exec = !strcmp(line, "exec");
			pid_t pid = fork();

			if (pid > 0) { /* the child answers */
				wait_for(pid);
				continue;
			}
			if (is_exec) {
				printf("ok\n");
				fflush(stdout);
				execl(argv[0], argv[0], "executed", (char *)NULL);
				_exit(127);
			}
		} else if (!strcmp(line, "abort")) {
			abort();
		} else if (!strcmp(line, "exit")) {
			printf("ok\n");
			return 0;
		}
		printf("ok\n");
		fflush(stdout);
	}
	return 0;
}
