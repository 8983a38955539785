/* SPDX-License-Identifier: MIT */
/* Idle time of an OpenCL device with one cause: idle_opencl host|compiling|allocating|
 * unknown|held|barrier|starved. The GPU activities are short kernels. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/idle/stamps.h"
#undef EXPECT
#undef UNUSED
#include "tests/opencl/program.h"

enum { ALLOCATED = 64 << 20 };

static cl_command_queue queue;
static cl_kernel little;

static cl_command_queue other_queue;
static cl_kernel long_one;

/* The context contains both devices: POCL_DEVICES="pthread pthread". */
static void open_other_device(void)
{
	static const char source[] = "kernel void long_one(global volatile float *p)"
				     "{ for (int i = 0; i < 20000000; i++) p[0] += 1; }";
	cl_device_id both[2];
	cl_mem memory;
	cl_int error;

	OK(clReleaseContext(context));
	OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, both, NULL));
	device = both[0];
	context = clCreateContext(NULL, 2, both, NULL, NULL, &error);
	OK(error);
	other_queue = clCreateCommandQueue(context, both[1], CL_QUEUE_PROFILING_ENABLE, &error);
	OK(error);
	long_one = open_kernel(build_program(source), "long_one");
	memory = open_buffer(sizeof(float));
	OK(clSetKernelArg(long_one, 0, sizeof memory, &memory));
}

static void run_little(cl_uint waits, const cl_event *list)
{
	const size_t one = 1;

	OK(clEnqueueNDRangeKernel(queue, little, 1, NULL, &one, &one, waits, list, NULL));
}

/* The host runs unrelated code. */
static void provoke_host(void)
{
	uint64_t from = now_ns();

	sleep_ms(PROVOKED_MS);
	say_stamps("host", from, now_ns());
}

/* Build a different program each time, so that no cache contains it. */
static void provoke_compiling(void)
{
	char source[256], *text = source;
	cl_program program;
	uint64_t from;
	cl_int error;

	snprintf(source, sizeof source, "kernel void other_%llu(global int *p) { p[0] += %llu; }",
		 (unsigned long long)now_ns(), (unsigned long long)now_ns());
	program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
	OK(error);
	from = now_ns();
	OK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	say_stamps("compiling", from, now_ns());
	OK(clReleaseProgram(program));
}

static cl_mem allocated;

static void provoke_allocating(void)
{
	static char *content;
	uint64_t from;
	cl_int error;

	if (!content)
		content = calloc(1, ALLOCATED);
	EXPECT(content);
	from = now_ns();
	allocated = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, ALLOCATED, content, &error);
	OK(error);
	say_stamps("allocating", from, now_ns());
}

/* After a kernel, free the memory that provoke_allocating() allocated. */
static void provoke_freeing(void)
{
	uint64_t from = now_ns();

	OK(clReleaseMemObject(allocated));
	say_stamps("freeing", from, now_ns());
}

static void allocate_and_free(void)
{
	provoke_allocating();
	run_little(0, NULL);
	OK(clFinish(queue));
	provoke_freeing();
}

/* The next kernel waits for an event that only the program signals. */
static cl_event own;
static uint64_t own_from;

static void *set_own(void *unused)
{
	sleep_ms(PROVOKED_MS);
	OK(clSetUserEventStatus(own, CL_COMPLETE));
	say_stamps("unknown", own_from, now_ns());
	return unused;
}

static void provoke_unknown(void)
{
	pthread_t thread;
	cl_int error;

	own = clCreateUserEvent(context, &error);
	OK(error);
	run_little(1, &own);
	OK(clFlush(queue));
	own_from = now_ns();
	EXPECT(!pthread_create(&thread, NULL, set_own, NULL));
	EXPECT(!pthread_join(thread, NULL));
	OK(clFinish(queue));
	OK(clReleaseEvent(own));
}

/* The next kernel waits for a long kernel on another device, directly or through a barrier. */
static cl_event run_long(void)
{
	const size_t one = 1;
	cl_event event;

	OK(clEnqueueNDRangeKernel(other_queue, long_one, 1, NULL, &one, &one, 0, NULL, &event));
	OK(clFlush(other_queue));
	return event;
}

static void say_times(cl_event event)
{
	cl_ulong start, end;

	OK(clFinish(queue));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
	say_stamps("blocked", start, end);
	OK(clReleaseEvent(event));
}

static void provoke_held(void)
{
	cl_event event = run_long();

	run_little(1, &event);
	say_times(event);
}

static void provoke_held_by_barrier(void)
{
	cl_event event = run_long();

	OK(clEnqueueBarrierWithWaitList(queue, 1, &event, NULL));
	run_little(0, NULL);
	say_times(event);
}

/* The threads of the runtime have a low priority, and share a processor with two busy processes. */
static cpu_set_t shared_cpu;
static pid_t busy[2];

static void *open_device_starved(void *unused)
{
	const struct sched_param none = {0};

	/* threads that the runtime starts inherit this; such a thread does not replace others */
	EXPECT(!sched_setscheduler(0, SCHED_BATCH, &none));
	EXPECT(!setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19));
	EXPECT(!sched_setaffinity(0, sizeof shared_cpu, &shared_cpu));
	open_device();
	return unused;
}

static void open_starved(void)
{
	cpu_set_t all;
	pthread_t thread;
	int cpu = 0;

	EXPECT(!sched_getaffinity(0, sizeof all, &all));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&shared_cpu);
	CPU_SET(cpu, &shared_cpu);
	EXPECT(!pthread_create(&thread, NULL, open_device_starved, NULL));
	EXPECT(!pthread_join(thread, NULL));
}

static void begin_busy(void)
{
	for (int i = 0; i < 2; i++) {
		busy[i] = fork();
		EXPECT(busy[i] >= 0);
		if (busy[i])
			continue;
		EXPECT(!sched_setaffinity(0, sizeof shared_cpu, &shared_cpu));
		alarm(60);
		for (volatile unsigned n = 0;; n++)
			continue;
	}
	sleep_ms(PROVOKED_MS);
}

static void end_busy(void)
{
	for (int i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		EXPECT(waitpid(busy[i], NULL, 0) == busy[i]);
	}
}

/* The kernel and the end of the call wait for a thread of the runtime. Try until it took long,
 * because the scheduler may also run the thread at once. */
static void provoke_starved(void)
{
	enum { TRIES = 20, LONG_NS = 10000000 };
	uint64_t from, to = 0;

	begin_busy();
	for (int i = 0; i < TRIES; i++) {
		from = now_ns();
		run_little(0, NULL);
		OK(clFinish(queue));
		to = now_ns();
		if (to - from < LONG_NS)
			continue;
		say_stamps("host_runnable", from, to);
		break;
	}
	end_busy();
}

static const struct {
	const char *name;
	void (*provoke)(void);
} rules[] = {
	{"host", provoke_host},
	{"compiling", provoke_compiling},
	{"allocating", allocate_and_free},
	{"unknown", provoke_unknown},
	{"blocked", provoke_held},
	{"barrier", provoke_held_by_barrier},
	{"starved", provoke_starved},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	if (strcmp(name, "starved") == 0)
		open_starved();
	else
		open_device();
	if (strcmp(name, "blocked") == 0 || strcmp(name, "barrier") == 0)
		open_other_device();
	queue = open_queue(0);
	little = open_kernel(build_program("kernel void little(void) {}"), "little");
	for (unsigned i = 0; i < TIMES; i++) {
		run_little(0, NULL);
		OK(clFinish(queue));
		rules[rule].provoke();
		run_little(0, NULL);
		OK(clFinish(queue));
	}
	return 0;
}
