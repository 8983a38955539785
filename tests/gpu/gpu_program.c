/* SPDX-License-Identifier: MIT */
/* Programs for the driver API, for the checks on a GPU. The last line on standard output is JSON.
 *
 *   gpu_program MODULE identity N   4 threads share 3 streams, N operations per thread, each with a
 *                                   unique identity: threads of a kernel, bytes
 *   gpu_program MODULE count N      N kernels in total, from 4 threads on 3 streams
 *   gpu_program MODULE shapes       one of each: launches, memcpys, memsets, with their sizes
 *   gpu_program MODULE clock N      N times a kernel of 20 us and cuCtxSynchronize()
 *   gpu_program MODULE end N WAY    N kernels, synchronised; then the end: exit, _exit_at_once,
 *                                   fault, destroy, reset, fork; 300 ms later: _exit, kill, abort
 *   gpu_program MODULE graph N      N launches of a graph of 10 kernels, a memcpy, a memset
 *   gpu_program MODULE peer         two devices: kernels on both, memcpys between them
 *   gpu_program MODULE cost WHAT R [PAUSES]    ns of each of R rounds: nothing, launch, graph,
 *                                   stamp (reading the time stamp counter).
 *                                   PAUSES is libroctx64 or gpu_cupti.so, whose recording is paused
 *                                   in every other round */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "tests/gpu/gpu_driver.h"

enum { THREADS = 4, STREAMS = 3, PAUSE_US = 300000 };

static const char *module_file;
static CUcontext context;
static CUmodule module;
static CUfunction tiny;
static CUstream stream[STREAMS];
static CUdeviceptr memory;
static void *host;
static long operations;

static CUfunction find_kernel(const char *name)
{
	CUfunction found;

	CALL(cuModuleGetFunction, &found, module, name);
	return found;
}

static void start(size_t bytes)
{
	CUdevice device;

	open_driver();
	CALL(cuInit, 0);
	CALL(cuDeviceGet, &device, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, device);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoad, &module, module_file);
	tiny = find_kernel("tiny");
	for (int i = 0; i < STREAMS; i++)
		CALL(cuStreamCreate, &stream[i], CU_STREAM_NON_BLOCKING);
	CALL(cuMemAlloc, &memory, bytes);
	CALL(cuMemAllocHost, &host, bytes);
}

static void launch(CUfunction kernel, unsigned grid, unsigned block, CUstream on)
{
	void *pointer = NULL, *arguments[] = {&pointer};

	CALL(cuLaunchKernel, kernel, grid, 1, 1, block, 1, 1, 0, on, arguments, NULL);
}

static void run_threads(void *(*body)(void *))
{
	pthread_t thread[THREADS];

	for (long k = 0; k < THREADS; k++)
		pthread_create(&thread[k], NULL, body, (void *)k);
	for (int k = 0; k < THREADS; k++)
		pthread_join(thread[k], NULL);
	CALL(cuCtxSynchronize);
}

/* Work ------------------------------------------------------------------------------ */

static void *identity_thread(void *data)
{
	const long k = (long)data;

	CALL(cuCtxSetCurrent, context);
	for (long i = 0; i < operations; i++) {
		const unsigned id = i * THREADS + k;
		const CUstream on = stream[(i * 7 + k) % STREAMS];

		if (i % 10 == 3)
			CALL(cuMemcpyHtoDAsync, memory, host, id + 1, on);
		else if (i % 10 == 7)
			CALL(cuMemsetD8Async, memory, 0, id + 1, on);
		else
			launch(tiny, id / 1024 + 1, id % 1024 + 1, on);
		if (i % 5 == 0)
			driver.cuStreamQuery(on);
	}
	return NULL;
}

static int identity(void)
{
	start(operations * THREADS + 1);
	run_threads(identity_thread);
	printf("{\"operations\": %ld}\n", operations * THREADS);
	return 0;
}

static void *count_thread(void *data)
{
	const long k = (long)data;

	CALL(cuCtxSetCurrent, context);
	for (long i = 0; i < operations / THREADS; i++)
		launch(tiny, 1, 32, stream[(i + k) % STREAMS]);
	return NULL;
}

static int count(void)
{
	uint64_t begin;

	start(4096);
	begin = now_ns();
	run_threads(count_thread);
	printf("{\"kernels\": %ld, \"seconds\": %.3f}\n", operations / THREADS * THREADS,
	       (now_ns() - begin) / 1e9);
	return 0;
}

/* gpu_activity.py contains the expected results. */
static int shapes(void)
{
	const CUlaunchConfig config = {5, 3, 2, 16, 4, 2, 1024, NULL, NULL, 0};
	void *pointer = NULL, *arguments[] = {&pointer};
	CUdeviceptr other;

	start(1 << 20);
	CALL(cuMemAlloc, &other, 1 << 20);
	CALL(cuLaunchKernel, tiny, 7, 2, 1, 32, 2, 1, 512, stream[0], arguments, NULL);
	CALL(cuLaunchKernelEx, &config, find_kernel("second"), arguments, NULL);
	CALL(cuMemcpyHtoD, memory, host, 1001);
	CALL(cuMemcpyDtoH, host, memory, 1002);
	CALL(cuMemcpyDtoD, other, memory, 1003);
	CALL(cuMemcpyHtoDAsync, memory, host, 1004, stream[0]);
	CALL(cuMemcpyDtoHAsync, host, memory, 1005, stream[1]);
	CALL(cuMemcpyDtoDAsync, other, memory, 1006, stream[2]);
	CALL(cuMemsetD8, memory, 1, 2001);
	CALL(cuMemsetD8Async, memory, 1, 2002, stream[0]);
	CALL(cuMemsetD16Async, memory, 1, 2003, stream[1]);
	CALL(cuMemsetD32Async, memory, 1, 2004, stream[2]);
	CALL(cuCtxSynchronize);
	printf("{\"kernels\": 2, \"copies\": 6, \"sets\": 4}\n");
	return 0;
}

static int clock_check(void)
{
	long long ns = 20000;
	void *arguments[] = {&ns};
	CUfunction spin;

	start(4096);
	spin = find_kernel("spin");
	for (long i = 0; i < operations; i++) {
		CALL(cuLaunchKernel, spin, 1, 1, 1, 1, 1, 1, 0, stream[0], arguments, NULL);
		CALL(cuCtxSynchronize);
	}
	printf("{\"kernels\": %ld}\n", operations);
	return 0;
}

/* Ends ------------------------------------------------------------------------------ */

static void say_done(void)
{
	printf("{\"kernels\": %ld}\n", operations);
	fflush(stdout);
}

/* Return the status of the program, whose output is the same with and without gputap. */
static int fault_and_go_on(void)
{
	CUdeviceptr nowhere = 16, more;
	void *arguments[] = {&nowhere};
	int launched, synchronised, allocated;

	launched = driver.cuLaunchKernel(find_kernel("fault"), 1, 1, 1, 1, 1, 1, 0, stream[0],
					 arguments, NULL);
	synchronised = driver.cuCtxSynchronize();
	allocated = driver.cuMemAlloc(&more, 16);
	printf("{\"kernels\": %ld, \"launch\": %d, \"synchronise\": %d, \"allocate\": %d}\n",
	       operations, launched, synchronised, allocated);
	return 0;
}

static int fork_and_wait(void)
{
	int status = 1;
	const pid_t child = fork();

	if (!child)
		/* CUDA does not work in a fork child of a process that has used CUDA */
		exit(driver.cuMemAlloc(&memory, 16) == 0);
	waitpid(child, &status, 0);
	for (long i = 0; i < operations; i++)
		launch(tiny, 1, 32, stream[0]);
	CALL(cuCtxSynchronize);
	printf("{\"kernels\": %ld, \"child\": %d}\n", 2 * operations, status);
	return 0;
}

/* Destroy the context with everything in it, then create a new context and repeat the work. */
static int reset_and_go_on(void)
{
	CALL(cuDevicePrimaryCtxReset, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, 0);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoad, &module, module_file);
	tiny = find_kernel("tiny");
	for (long i = 0; i < operations; i++)
		launch(tiny, 1, 32, NULL);
	CALL(cuCtxSynchronize);
	printf("{\"kernels\": %ld}\n", 2 * operations);
	return 0;
}

/* Destroy a separate context with activities that may not have been delivered. */
static int destroy_and_go_on(void)
{
	int (*create)(CUcontext *, unsigned, CUdevice) =
		(__typeof__(create))find_driver_function("cuCtxCreate_v2");
	CUcontext own;
	CUmodule loaded;
	CUfunction kernel;

	check_status("cuCtxCreate_v2", create(&own, 0, 0));
	CALL(cuModuleLoad, &loaded, module_file);
	CALL(cuModuleGetFunction, &kernel, loaded, "second");
	for (long i = 0; i < operations; i++)
		launch(kernel, 1, 32, NULL);
	CALL(cuCtxSynchronize);
	CALL(cuCtxDestroy, own);
	CALL(cuCtxSetCurrent, context);
	printf("{\"kernels\": %ld}\n", 2 * operations);
	return 0;
}

static int end(const char *way)
{
	start(4096);
	for (long i = 0; i < operations; i++)
		launch(tiny, 1, 32, stream[i % STREAMS]);
	CALL(cuCtxSynchronize);
	if (!strcmp(way, "fork"))
		return fork_and_wait();
	if (!strcmp(way, "reset"))
		return reset_and_go_on();
	if (!strcmp(way, "destroy"))
		return destroy_and_go_on();
	if (!strcmp(way, "fault"))
		return fault_and_go_on();
	say_done();
	if (!strcmp(way, "exit"))
		return 0;
	if (!strcmp(way, "_exit_at_once"))
		_exit(0);
	usleep(PAUSE_US);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "kill"))
		raise(SIGKILL);
	if (!strcmp(way, "abort"))
		abort();
	return 2;
}

/* Two devices ----------------------------------------------------------------------- */

static int peer(void)
{
	int (*copy)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream) = NULL;
	CUcontext second_context;
	CUdeviceptr there;
	CUmodule loaded;
	CUfunction kernel;
	int devices;

	start(1 << 20);
	CALL(cuDeviceGetCount, &devices);
	if (devices < 2) {
		printf("{\"devices\": %d}\n", devices);
		return 0;
	}
	copy = (__typeof__(copy))find_driver_function("cuMemcpyPeerAsync");
	CALL(cuDevicePrimaryCtxRetain, &second_context, 1);
	CALL(cuCtxSetCurrent, second_context);
	CALL(cuModuleLoad, &loaded, module_file);
	CALL(cuModuleGetFunction, &kernel, loaded, "second");
	CALL(cuMemAlloc, &there, 1 << 20);
	for (int i = 0; i < 100; i++)
		launch(kernel, 1, 32, NULL);
	CALL(cuCtxSynchronize);
	CALL(cuCtxSetCurrent, context);
	for (int i = 0; i < 200; i++)
		launch(tiny, 1, 32, stream[0]);
	for (int i = 0; i < 50; i++)
		check_status("cuMemcpyPeerAsync",
			     copy(there, second_context, memory, context, 5000 + i, stream[0]));
	CALL(cuCtxSynchronize);
	printf("{\"devices\": %d, \"tiny\": 200, \"second\": 100, \"copies\": 50}\n", devices);
	return 0;
}

/* Costs ----------------------------------------------------------------------------- */

enum { NOTHING_CALLS = 20000, LAUNCH_BURSTS = 4, LAUNCH_BURST = 250, GRAPH_LAUNCHES = 40 };

static void *graph;
static int (*launch_graph)(void *, CUstream);

/* ns of host time per call */
static double nothing_round(void)
{
	const uint64_t begin = now_ns();
	CUcontext current;

	for (int i = 0; i < NOTHING_CALLS; i++)
		driver.cuCtxGetCurrent(&current);
	return (double)(now_ns() - begin) / NOTHING_CALLS;
}

static double stamp_round(void)
{
	const uint64_t begin = now_ns();
	static volatile uint64_t last;

	for (int i = 0; i < NOTHING_CALLS; i++)
		last = __rdtsc();
	return (double)(now_ns() - begin) / NOTHING_CALLS;
}

static double launch_round(void)
{
	uint64_t sum = 0;

	for (int b = 0; b < LAUNCH_BURSTS; b++) {
		const uint64_t begin = now_ns();

		for (int i = 0; i < LAUNCH_BURST; i++)
			launch(tiny, 1, 32, stream[0]);
		sum += now_ns() - begin;
		CALL(cuStreamSynchronize, stream[0]);
	}
	return (double)sum / (LAUNCH_BURSTS * LAUNCH_BURST);
}

static double graph_round(void)
{
	const uint64_t begin = now_ns();
	uint64_t end_ns;

	for (int i = 0; i < GRAPH_LAUNCHES; i++)
		check_status("cuGraphLaunch", launch_graph(graph, stream[0]));
	end_ns = now_ns();
	CALL(cuStreamSynchronize, stream[0]);
	return (double)(end_ns - begin) / GRAPH_LAUNCHES;
}

/* Make a graph of 10 kernels, a memcpy and a memset that run in sequence. */
static void make_graph(void)
{
	int (*begin)(CUstream, int) =
		(__typeof__(begin))find_driver_function("cuStreamBeginCapture_v2");
	int (*finish)(CUstream, void **) =
		(__typeof__(finish))find_driver_function("cuStreamEndCapture");
	int (*instantiate)(void **, void *, unsigned long long) =
		(__typeof__(instantiate))find_driver_function("cuGraphInstantiateWithFlags");
	void *built;

	launch_graph = (__typeof__(launch_graph))find_driver_function("cuGraphLaunch");
	check_status("cuStreamBeginCapture_v2", begin(stream[0], 0));
	for (int i = 0; i < 10; i++)
		launch(tiny, i + 1, 32, stream[0]);
	CALL(cuMemcpyHtoDAsync, memory, host, 1024, stream[0]);
	CALL(cuMemsetD32Async, memory, 1, 64, stream[0]);
	check_status("cuStreamEndCapture", finish(stream[0], &built));
	check_status("cuGraphInstantiateWithFlags", instantiate(&graph, built, 0));
}

static int replay(void)
{
	start(4096);
	make_graph();
	for (long i = 0; i < operations; i++)
		check_status("cuGraphLaunch", launch_graph(graph, stream[0]));
	CALL(cuCtxSynchronize);
	printf("{\"launches\": %ld, \"kernels\": %ld, \"copies\": %ld, \"sets\": %ld}\n",
	       operations, 10 * operations, operations, operations);
	return 0;
}

/* Resume or pause the recording of gputap or of gpu_cupti.c. */
static void (*pause_recording)(uint64_t thread), (*resume_recording)(uint64_t thread);

static void find_pauses(const char *library)
{
	void *found = dlopen(library, RTLD_NOW);
	const int is_cupti = found && dlsym(found, "gpu_cupti_stop");

	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(4);
	}
	pause_recording =
		(__typeof__(pause_recording))dlsym(found, is_cupti ? "gpu_cupti_stop"
								   : "roctxProfilerPause");
	resume_recording =
		(__typeof__(resume_recording))dlsym(found, is_cupti ? "gpu_cupti_start"
								    : "roctxProfilerResume");
}

/* Return how many pages this process has touched for the first time. */
static long page_faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_minflt;
}

static void print_rounds(const char *name, const double *ns, int rounds)
{
	printf("\"%s\": [", name);
	for (int i = 0; i < rounds; i++)
		printf("%s%.1f", i ? ", " : "", ns[i]);
	printf("], ");
}

/* Print the ns of each round as {"on": [...], "off": [...], "never": [...], "faults": N}. "never"
 * contains the rounds before recording started for the first time, and "faults" is the number of
 * page faults in a round of "on". Without pauses, all rounds are in "on". */
static int cost(const char *what, int rounds, const char *pauses)
{
	double (*measure)(void) = !strcmp(what, "nothing") ? nothing_round
				  : !strcmp(what, "stamp") ? stamp_round
				  : !strcmp(what, "graph") ? graph_round
							   : launch_round;
	double *off = calloc(rounds, sizeof *off), *on = calloc(rounds, sizeof *on);
	double *never = calloc(rounds, sizeof *never);
	long faults = 0;

	if (pauses) {
		find_pauses(pauses);
		pause_recording(0);
	}
	start(1 << 20);
	if (measure == graph_round)
		make_graph();
	for (int i = 0; i < 3; i++)
		measure();
	for (int i = 0; pauses && i < rounds; i++)
		never[i] = measure();
	if (pauses)
		resume_recording(0);
	for (int i = 0; i < rounds; i++) {
		if (pauses) {
			pause_recording(0);
			measure(); /* the round after the change is not measured */
			off[i] = measure();
			resume_recording(0);
		}
		measure();
		faults -= page_faults();
		on[i] = measure();
		faults += page_faults();
	}
	printf("{");
	print_rounds("on", on, rounds);
	print_rounds("off", off, pauses ? rounds : 0);
	print_rounds("never", never, pauses ? rounds : 0);
	printf("\"faults\": %.2f}\n", (double)faults / rounds);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	module_file = argv[1];
	operations = argc > 3 ? atol(argv[3]) : 0;
	if (!strcmp(what, "identity"))
		return identity();
	if (!strcmp(what, "count"))
		return count();
	if (!strcmp(what, "shapes"))
		return shapes();
	if (!strcmp(what, "clock"))
		return clock_check();
	if (!strcmp(what, "end") && argc > 4)
		return end(argv[4]);
	if (!strcmp(what, "graph"))
		return replay();
	if (!strcmp(what, "peer"))
		return peer();
	if (!strcmp(what, "cost") && argc > 4)
		return cost(argv[3], atoi(argv[4]), argc > 5 ? argv[5] : NULL);
	fprintf(stderr, "see the head of gpu_program.c\n");
	return 2;
}
