/* SPDX-License-Identifier: MIT */
/* Idle time of HIP's device 0, of one cause: idle_hip CODE host|synchronising|event|allocating|
 * freeing|compiling|copying|copy_here|other_call|launching|held|started_late. Its GPU activities
 * are empty kernels; device 1 has one that runs until it is released. CODE: a code object */
#include <hip/hip_runtime.h>
#include <pthread.h>

#include "tests/idle/slow_page.h"

#define OK(call) EXPECT((call) == hipSuccess)

enum { BYTES = 4096, LARGE = 32 << 20 };

extern "C" __global__ void nothing(int *)
{
}

extern "C" __global__ void long_one(volatile int *ended)
{
	while (!*ended)
		__builtin_amdgcn_s_sleep(100);
}

static hipStream_t first, second; /* of devices 0 and 1 */
static hipEvent_t event;
static int *ended, *memory;
static const char *code_path;

static void launch_nothing()
{
	nothing<<<1, 1, 0, first>>>(memory);
}

static void launch_long()
{
	OK(hipSetDevice(1));
	*(volatile int *)ended = 0;
	long_one<<<1, 1, 0, second>>>(ended);
}

static uint64_t from, to;

static void *end_long(void *)
{
	sleep_ms(PROVOKED_MS);
	to = now_ns();
	*(volatile int *)ended = 1;
	return NULL;
}

static pthread_t begin_to_end()
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, end_long, NULL));
	from = now_ns();
	return thread;
}

/* The host does something unrelated. */
static void provoke_host()
{
	from = now_ns();
	sleep_ms(PROVOKED_MS);
	say_stamps("host", from, now_ns());
}

/* The host waits for another device: for its stream, or for an event there. */
static void provoke_synchronising()
{
	launch_long();
	pthread_t thread = begin_to_end();
	OK(hipStreamSynchronize(second));
	pthread_join(thread, NULL);
	OK(hipSetDevice(0));
	say_stamps("synchronising", from, to);
}

static void provoke_event()
{
	launch_long();
	OK(hipEventRecord(event, second));
	pthread_t thread = begin_to_end();
	OK(hipEventSynchronize(event));
	pthread_join(thread, NULL);
	OK(hipSetDevice(0));
	say_stamps("synchronising", from, to);
}

static void provoke_allocating()
{
	void **more = (void **)make_slow(NULL, sizeof *more);

	OK(hipMalloc(more, BYTES));
	say_slow("allocating");
	OK(hipFree(*more));
}

/* Free used memory, so that the system takes back its pages individually. */
static void provoke_freeing()
{
	void *more;

	OK(hipHostMalloc(&more, LARGE, 0));
	memset(more, 1, LARGE);
	from = now_ns();
	OK(hipHostFree(more));
	say_stamps("freeing", from, now_ns());
}

static void provoke_compiling()
{
	static char image[1 << 20];
	FILE *file = fopen(code_path, "r");
	hipModule_t module;

	EXPECT(file && fread(image, 1, sizeof image, file) && !fclose(file));
	OK(hipModuleLoadData(&module, make_slow(image, sizeof image)));
	say_slow("compiling");
	OK(hipModuleUnload(module));
}

/* Copy to another device. */
static void provoke_copying()
{
	static void *there;
	const void *here = make_slow(NULL, BYTES);

	OK(hipSetDevice(1));
	if (!there)
		OK(hipMalloc(&there, BYTES));
	OK(hipMemcpy(there, here, BYTES, hipMemcpyHostToDevice));
	OK(hipSetDevice(0));
	say_slow("copying");
}

/* Copy to this device: the copy itself ends the gap. */
static void provoke_copy_here()
{
	OK(hipMemcpy(memory, make_slow(NULL, BYTES), BYTES, hipMemcpyHostToDevice));
	say_slow("copying");
}

static void provoke_other_call()
{
	size_t *bytes = (size_t *)make_slow(NULL, 2 * sizeof *bytes);

	OK(hipMemGetInfo(&bytes[0], &bytes[1]));
	say_slow("other_call");
}

static void provoke_launching()
{
	void *const content[] = {&memory};
	void **arguments = (void **)make_slow(content, sizeof content);

	OK(hipLaunchKernel((const void *)nothing, dim3(1), dim3(1), arguments, 0, first));
	OK(hipStreamSynchronize(first));
	say_slow("launching");
}

/* The next kernel waits for one of another device. */
static void provoke_held()
{
	launch_long();
	OK(hipEventRecord(event, second));
	OK(hipSetDevice(0));
	OK(hipStreamWaitEvent(first, event, 0));
	launch_nothing();
	pthread_t thread = begin_to_end();
	OK(hipStreamSynchronize(first));
	pthread_join(thread, NULL);
	say_stamps("blocked", from, to);
}

/* The stream itself is busy first, with a host function that is not recorded. */
static void work_in_stream(hipStream_t, hipError_t, void *)
{
	from = now_ns();
	sleep_ms(PROVOKED_MS);
	to = now_ns();
}

static void provoke_started_late()
{
	OK(hipStreamAddCallback(first, work_in_stream, NULL, 0));
	launch_nothing();
	OK(hipStreamSynchronize(first));
	say_stamps("started_late", from, to);
}

static const struct {
	const char *name;
	void (*provoke)();
} rules[] = {
	{"host", provoke_host},
	{"synchronising", provoke_synchronising},
	{"event", provoke_event},
	{"allocating", provoke_allocating},
	{"freeing", provoke_freeing},
	{"compiling", provoke_compiling},
	{"copying", provoke_copying},
	{"copy_here", provoke_copy_here},
	{"other_call", provoke_other_call},
	{"launching", provoke_launching},
	{"blocked", provoke_held},
	{"started_late", provoke_started_late},
};

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "";
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	code_path = argv[1];
	catch_slow_accesses();
	OK(hipHostMalloc((void **)&ended, sizeof *ended, hipHostMallocPortable));
	OK(hipMalloc((void **)&memory, BYTES));
	OK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
	OK(hipSetDevice(1));
	OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	OK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	OK(hipSetDevice(0));
	for (unsigned i = 0; i < TIMES; i++) {
		launch_nothing();
		OK(hipStreamSynchronize(first));
		rules[rule].provoke();
		launch_nothing();
		OK(hipStreamSynchronize(first));
	}
	return 0;
}
