/* SPDX-License-Identifier: MIT */
/* Idle time of CUDA's device 0 with one cause: idle_cuda MODULE
 * host|synchronising|event|allocating|
 * freeing|compiling|copying|pageable|other_call|launching|held|started_late. The GPU activities are
 * empty kernels. For causes that need another device, device 1 runs a long kernel. */
#include <string.h>

#include "soft/cuda/cuda_api.h"
#include "tests/idle/slow_page.h"

#define OK(call) EXPECT((call) == CUDA_SUCCESS)

enum { BYTES = 4096, LARGE = 64 << 20 };

static CUcontext contexts[2]; /* streams of devices 0 and 1 */
static CUstream first, second;
static CUfunction nothing, long_one;
static CUdeviceptr memory;
static CUevent event;
static const char *module_path;
static uint64_t *stamps; /* written by long_one */

static void launch_nothing(void)
{
	int unused = 0;
	void *arguments[] = {&unused};

	OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, first, arguments, NULL));
}

static void launch_long(void)
{
	void *arguments[] = {&stamps};

	OK(cuCtxSetCurrent(contexts[1]));
	OK(cuLaunchKernel(long_one, 1, 1, 1, 1, 1, 1, 0, second, arguments, NULL));
}

static void go_back(void)
{
	OK(cuCtxSetCurrent(contexts[0]));
}

/* The host runs unrelated code. */
static void provoke_host(void)
{
	uint64_t from = now_ns();

	sleep_ms(PROVOKED_MS);
	say_stamps("host", from, now_ns());
}

/* The host waits for another device: for its stream, or for an event on it. */
static void provoke_synchronising(void)
{
	launch_long();
	OK(cuStreamSynchronize(second));
	go_back();
	say_stamps("synchronising", stamps[0], stamps[1]);
}

static void provoke_event(void)
{
	launch_long();
	OK(cuEventRecord(event, second));
	OK(cuEventSynchronize(event));
	go_back();
	say_stamps("synchronising", stamps[0], stamps[1]);
}

static void provoke_allocating(void)
{
	CUdeviceptr *more = make_slow(NULL, sizeof *more);

	OK(cuMemAlloc_v2(more, BYTES));
	say_slow("allocating");
	OK(cuMemFree_v2(*more));
}

/* Free memory that was used, which the system then reclaims page by page. */
static void provoke_freeing(void)
{
	CUdeviceptr more;
	uint64_t from;

	OK(cuMemAlloc_v2(&more, LARGE));
	memset((void *)(uintptr_t)more, 1, LARGE);
	from = now_ns();
	OK(cuMemFree_v2(more));
	say_stamps("freeing", from, now_ns());
}

static void provoke_compiling(void)
{
	static char image[1 << 20];
	FILE *file = fopen(module_path, "r");
	CUmodule more;

	EXPECT(file && fread(image, 1, sizeof image, file) && !fclose(file));
	OK(cuModuleLoadData(&more, make_slow(image, sizeof image)));
	say_slow("compiling");
	OK(cuModuleUnload(more));
}

/* Copy to another device. */
static void provoke_copying(void)
{
	static CUdeviceptr there;
	static char *here;
	uint64_t from;

	OK(cuCtxSetCurrent(contexts[1]));
	if (!there) {
		OK(cuMemAlloc_v2(&there, LARGE));
		EXPECT((here = calloc(1, LARGE)));
	}
	from = now_ns();
	OK(cuMemcpyHtoD_v2(there, here, LARGE));
	say_stamps("copying", from, now_ns());
	go_back();
}

/* Copy to this device, so that the copy itself ends the gap. */
static void provoke_pageable(void)
{
	static const char content[BYTES];
	const void *here = make_slow(content, BYTES);

	OK(cuMemcpyHtoDAsync_v2(memory, here, BYTES, first));
	OK(cuStreamSynchronize(first));
	say_slow("pageable");
}

static void provoke_other_call(void)
{
	size_t *bytes = make_slow(NULL, 2 * sizeof *bytes);

	OK(cuMemGetInfo_v2(&bytes[0], &bytes[1]));
	say_slow("other_call");
}

static void provoke_launching(void)
{
	static int unused;
	void *const content[] = {&unused};
	void **arguments = make_slow(content, sizeof content);

	OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, first, arguments, NULL));
	OK(cuStreamSynchronize(first));
	say_slow("launching");
}

/* The next kernel waits for a kernel on another device. */
static void provoke_held(void)
{
	launch_long();
	OK(cuEventRecord(event, second));
	go_back();
	OK(cuStreamWaitEvent(first, event, 0));
	launch_nothing();
	OK(cuStreamSynchronize(first));
	say_stamps("blocked", stamps[0], stamps[1]);
}

/* Before the kernel, the stream runs a host function, which CUPTI does not report. */
static uint64_t in_stream[2];

static void work_in_stream(void *unused)
{
	(void)unused;
	in_stream[0] = now_ns();
	sleep_ms(PROVOKED_MS);
	in_stream[1] = now_ns();
}

static void provoke_started_late(void)
{
	OK(cuLaunchHostFunc(first, work_in_stream, NULL));
	launch_nothing();
	OK(cuStreamSynchronize(first));
	say_stamps("started_late", in_stream[0], in_stream[1]);
}

static const struct {
	const char *name;
	void (*provoke)(void);
} rules[] = {
	{"host", provoke_host},
	{"synchronising", provoke_synchronising},
	{"event", provoke_event},
	{"allocating", provoke_allocating},
	{"freeing", provoke_freeing},
	{"compiling", provoke_compiling},
	{"copying", provoke_copying},
	{"pageable", provoke_pageable},
	{"other_call", provoke_other_call},
	{"launching", provoke_launching},
	{"blocked", provoke_held},
	{"started_late", provoke_started_late},
};

static void open_devices(void)
{
	CUmodule module;
	CUdevice device;

	OK(cuInit(0));
	for (int d = 0; d < 2; d++) {
		OK(cuDeviceGet(&device, d));
		OK(cuCtxCreate_v2(&contexts[d], 0, device));
		OK(cuModuleLoad(&module, module_path));
		if (d == 1)
			OK(cuModuleGetFunction(&long_one, module, "long_one"));
		else
			OK(cuModuleGetFunction(&nothing, module, "nothing"));
		OK(cuStreamCreate(d ? &second : &first, 1));
		if (d == 1)
			OK(cuEventCreate(&event, 0));
	}
	go_back();
	OK(cuMemAlloc_v2(&memory, BYTES));
	OK(cuMemAllocHost_v2((void **)&stamps, 2 * sizeof *stamps));
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "";
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	module_path = argv[1];
	catch_slow_accesses();
	open_devices();
	for (unsigned i = 0; i < TIMES; i++) {
		launch_nothing();
		OK(cuStreamSynchronize(first));
		rules[rule].provoke();
		launch_nothing();
		OK(cuStreamSynchronize(first));
	}
	return 0;
}
