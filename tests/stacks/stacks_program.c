/* SPDX-License-Identifier: MIT */
/* Makes OpenCL calls from known stacks: stacks_program WAY [N]. Each way launches fills from
 * functions whose names tests/test_stacks.py knows. The test compiles this file in several ways. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __cplusplus
#define OUTER extern "C" __attribute__((noinline))
#else
#define OUTER __attribute__((noinline))
#endif
/* prevents that the preceding call is the last instruction and becomes a jump */
#define AFTER() __asm__ volatile("" ::: "memory")

static cl_command_queue queue;
static cl_mem buffer;

static void set_up(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		exit(77);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
}

OUTER void launch_fill(void)
{
	const char zero = 0;

	if (clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, 4096, 0, NULL, NULL))
		exit(1);
	AFTER();
}

OUTER void middle(int n)
{
	volatile char room[100];

	room[n % 100] = 1;
	launch_fill();
	AFTER();
}

OUTER void outer(int n)
{
	middle(n + 1);
	AFTER();
}

OUTER void other(int n)
{
	middle(n + 2);
	AFTER();
}

/* An aligned frame, and a frame whose size is unknown at compile time. */
OUTER void aligned(int n)
{
	_Alignas(64) volatile char room[256];
	volatile char *more = (volatile char *)alloca((size_t)n * 16 + 16);

	room[0] = more[0] = 1;
	launch_fill();
	AFTER();
}

OUTER void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		launch_fill();
	AFTER();
}

static inline __attribute__((always_inline)) void inlined_helper(void)
{
	launch_fill();
	AFTER();
}

OUTER void around(int n)
{
	volatile char room[16];

	room[n % 16] = 1;
	inlined_helper();
	AFTER();
}

/* Two libraries, loaded one after the other at the same address. */
OUTER void through_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*enter)(void (*)(void));

	if (!library)
		exit(1);
	*(void **)&enter = dlsym(library, "enter_library");
	enter(launch_fill);
	dlclose(library);
}

/* Each value of @bits gives a different path. */
OUTER void path(unsigned bits, int depth)
{
	if (!depth)
		launch_fill();
	else if (bits & 1)
		path(bits >> 1, depth - 1);
	else
		path(bits >> 1, depth - 1);
	__asm__ volatile("" ::"r"(bits) : "memory");
}

static void on_signal(int number)
{
	(void)number;
	launch_fill();
	AFTER();
}

OUTER void raise_signal(void)
{
	raise(SIGUSR1);
	AFTER();
}

static void run_signal(void)
{
	struct sigaction action;
	stack_t stack;

	memset(&action, 0, sizeof action);
	memset(&stack, 0, sizeof stack);
	stack.ss_size = 1 << 20;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise_signal();
}

static ucontext_t home, fiber;

OUTER void fiber_main(void)
{
	outer(1);
	AFTER();
}

/* A stack at the end of a mapping: accesses beyond the mapping fault. */
OUTER void run_fiber(void)
{
	const size_t bytes = 256 << 10;
	char *memory = (char *)mmap(NULL, bytes + 65536, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory + bytes, 65536, PROT_NONE);
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = memory;
	fiber.uc_stack.ss_size = bytes;
	fiber.uc_link = &home;
	makecontext(&fiber, fiber_main, 0);
	swapcontext(&home, &fiber);
	outer(1); /* back on the thread's own stack */
	AFTER();
}

static void *thread_main(void *arg)
{
	(void)arg;
	other(1);
	return NULL;
}

static void run_threads(int count)
{
	pthread_t threads[64];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* The runtime itself needs little stack for this call. */
OUTER void retain_and_release(void)
{
	clRetainMemObject(buffer);
	clReleaseMemObject(buffer);
	AFTER();
}

static void *small_main(void *arg)
{
	retain_and_release();
	return arg;
}

static void run_small(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) ||
	    pthread_create(&thread, &attributes, small_main, NULL))
		exit(77);
	pthread_join(thread, NULL);
}

OUTER void wait_long(void)
{
	clFinish(queue);
	AFTER();
}

static void run_fork(void)
{
	pid_t child;

	outer(1);
	clFinish(queue);
	child = fork();
	if (!child) {
		/* the runtime does not work in the child, so make a call that does not use the
		 * runtime */
		cl_uint count;

		clGetPlatformIDs(0, NULL, &count);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Wait until killed. */
OUTER void launch_and_wait(void)
{
	outer(1);
	clFinish(queue);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* Call after 20 ms without calls. */
OUTER void after_pause(void)
{
	usleep(20000);
	clFlush(queue);
	__asm__ volatile("" ::: "memory");
}

static void run_gaps(int n)
{
	launch_fill();
	for (int i = 0; i < n; i++)
		after_pause();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;

	set_up();
	if (!strcmp(way, "plain"))
		for (int i = 0; i < n; i++) {
			outer(i);
			other(i);
		}
	else if (!strcmp(way, "inlined"))
		around(n);
	else if (!strcmp(way, "libraries"))
		for (int i = 2; i < argc; i++)
			through_library(argv[i]);
	else if (!strcmp(way, "aligned"))
		aligned(n);
	else if (!strcmp(way, "deep"))
		recurse(n);
	else if (!strcmp(way, "many"))
		for (int i = 0; i < n; i++)
			path((unsigned)i, 14);
	else if (!strcmp(way, "gaps"))
		run_gaps(n);
	else if (!strcmp(way, "signal"))
		run_signal();
	else if (!strcmp(way, "fiber"))
		run_fiber();
	else if (!strcmp(way, "threads"))
		run_threads(n);
	else if (!strcmp(way, "small"))
		run_small();
	else if (!strcmp(way, "fork"))
		run_fork();
	else if (!strcmp(way, "wait"))
		launch_and_wait();
	else
		return 2;
	wait_long();
	return 0;
}
