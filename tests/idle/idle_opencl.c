/* SPDX-License-Identifier: MIT */
/* Idle time of an OpenCL device, of one cause: idle_opencl host|compiling|allocating|
 * unknown. Its work are kernels that do little. */
#include <pthread.h>
#include <string.h>

#include "tests/idle/stamps.h"
#undef EXPECT
#undef UNUSED
#include "tests/opencl/program.h"

enum { ALLOCATED = 64 << 20 };

static cl_command_queue queue;
static cl_kernel little;

static void run_little(cl_uint waits, const cl_event *list)
{
	const size_t one = 1;

	OK(clEnqueueNDRangeKernel(queue, little, 1, NULL, &one, &one, waits, list, NULL));
}

/* The host does something else. */
static void provoke_host(void)
{
	uint64_t from = now_ns();

	sleep_ms(PROVOKED_MS);
	say_stamps("host", from, now_ns());
}

/* Each time another program, which no cache has. */
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

/* What provoke_allocating() has allocated, behind a kernel. */
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

/* The next kernel waits for what nobody but the program knows. */
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

static const struct {
	const char *name;
	void (*provoke)(void);
} rules[] = {
	{"host", provoke_host},
	{"compiling", provoke_compiling},
	{"allocating", allocate_and_free},
	{"unknown", provoke_unknown},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	open_device();
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
