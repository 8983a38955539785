/* SPDX-License-Identifier: MIT */
/* A program of the CUDA driver API to which gputap is attached while it runs. The program takes the
 * addresses of functions as programs do: in a table of an object (dlsym(), cuGetProcAddress_v2()),
 * and in the heap, where gputap does not change them.
 *
 *   late_program MODULE      commands on standard input, each answered by a line:
 *     attach LIBRARY FOLDER  dlopen(LIBRARY), gputap_attach(FOLDER); prints its status
 *     work N                 N rounds of each call, in two threads; prints the counts as JSON
 *     fork LIBRARY FOLDER    attach in a child, which then ends; prints its status
 *     profile LIBRARY        start the profiler of late_profiler.c; prints its status
 *     stop                   stop it; prints its number of kernels
 *     wait                   launch until CUPTI has left, for half a second
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft/cuda/cuda_api.h"

enum { BYTES = 1 << 16, OLD = 4096 };

#define FUNCTIONS(X)                   \
	X(cuInit)                      \
	X(cuDeviceGet)                 \
	X(cuCtxCreate_v2)              \
	X(cuCtxSetCurrent)             \
	X(cuCtxSynchronize)            \
	X(cuModuleLoad)                \
	X(cuModuleGetFunction)         \
	X(cuStreamCreate)              \
	X(cuStreamBeginCapture_v2)     \
	X(cuStreamEndCapture)          \
	X(cuStreamQuery)               \
	X(cuGraphInstantiateWithFlags) \
	X(cuGraphLaunch)               \
	X(cuMemAlloc_v2)               \
	X(cuMemFree_v2)                \
	X(cuMemcpyHtoDAsync_v2)        \
	X(cuMemsetD8Async)             \
	X(cuLaunchKernel)

struct functions {
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
};

static struct functions by_name, by_address; /* dlsym(), cuGetProcAddress_v2() */
static struct functions *in_heap;

static CUcontext context;
static CUfunction function;
static CUstream stream;
static CUgraphExec graph;
static CUdeviceptr memory, old;
static char host[BYTES];

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			exit(3);                                            \
		}                                                           \
	} while (0)

static void look_up(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(cuGetProcAddress_v2) *get = NULL;
	unsigned int found;

	if (!library)
		exit(4);
	*(void **)&get = dlsym(library, "cuGetProcAddress_v2");
	in_heap = malloc(sizeof *in_heap);
#define X(name) *(void **)&by_name.name = dlsym(library, #name);
	FUNCTIONS(X)
#undef X
	*in_heap = by_address = by_name;
	/* the names are those of the first forms */
	DO(get("cuLaunchKernel", (void **)&by_address.cuLaunchKernel, 12000, 0, &found));
	DO(get("cuMemAlloc", (void **)&by_address.cuMemAlloc_v2, 12000, 0, &found));
	DO(get("cuMemFree", (void **)&by_address.cuMemFree_v2, 12000, 0, &found));
}

static void launch(const struct functions *f, unsigned block)
{
	CUdeviceptr numbers = memory;
	int count = 0, more = 1;
	void *arguments[] = {&numbers, &count, &more};

	DO(f->cuLaunchKernel(function, 1, 1, 1, block, 1, 1, 0, stream, arguments, NULL));
}

static CUgraphExec make_graph(const struct functions *f)
{
	CUgraphExec exec;
	CUgraph built;

	DO(f->cuStreamBeginCapture_v2(stream, 0));
	launch(f, 41);
	DO(f->cuMemcpyHtoDAsync_v2(memory, host, 41 * 8, stream));
	launch(f, 42);
	DO(f->cuStreamEndCapture(stream, &built));
	DO(f->cuGraphInstantiateWithFlags(&exec, built, 0));
	return exec;
}

static void open_device(const char *path)
{
	CUmodule module;
	CUdevice device;

	DO(by_name.cuInit(0));
	DO(by_name.cuDeviceGet(&device, 0));
	DO(by_name.cuCtxCreate_v2(&context, 0, device));
	DO(by_name.cuModuleLoad(&module, path));
	DO(by_name.cuModuleGetFunction(&function, module, "add_numbers"));
	DO(by_name.cuStreamCreate(&stream, 1));
	DO(by_name.cuMemAlloc_v2(&memory, BYTES));
	DO(by_name.cuMemAlloc_v2(&old, OLD));
	graph = make_graph(&by_name);
}

/* Make the same calls through each table. */
static void work_with(const struct functions *f, int rounds)
{
	DO(f->cuCtxSetCurrent(context));
	for (int i = 0; i < rounds; i++) {
		CUdeviceptr more;

		launch(f, 7);
		DO(f->cuMemcpyHtoDAsync_v2(memory, host, 800, stream));
		DO(f->cuMemcpyHtoDAsync_v2(memory, host, 0, stream));
		DO(f->cuMemsetD8Async(memory, 7, 804, stream));
		DO(f->cuGraphLaunch(graph, stream));
		DO(f->cuMemAlloc_v2(&more, 1000));
		DO(f->cuMemFree_v2(more));
		f->cuStreamQuery(stream);
	}
	DO(f->cuCtxSynchronize());
}

static void *work(void *rounds)
{
	work_with(&by_name, *(int *)rounds);
	work_with(&by_address, *(int *)rounds);
	work_with(in_heap, *(int *)rounds);
	return NULL;
}

/* Print the numbers of calls, and of GPU activities: two kernels and a memcpy in the graph. The
 * software driver also executes a memcpy of 0 bytes. */
static void count(int rounds)
{
	const int n = rounds * 3 * 2; /* tables, threads */

	printf("{\"calls\": {\"cuCtxSetCurrent\": 6, \"cuCtxSynchronize\": 6, "
	       "\"cuLaunchKernel\": %d, \"cuMemcpyHtoDAsync_v2\": %d, \"cuMemsetD8Async\": %d, "
	       "\"cuGraphLaunch\": %d, \"cuMemAlloc_v2\": %d, \"cuMemFree_v2\": %d, "
	       "\"cuStreamQuery\": %d}, \"kernels\": %d, \"copies\": %d, \"sets\": %d}\n",
	       n, 2 * n, n, n, n, n, n, 3 * n, 3 * n, n);
}

static void work_in_threads(int rounds)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &rounds);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	count(rounds);
}

static int attach(const char *library, const char *folder)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*join)(const char *) = NULL;

	if (handle)
		*(void **)&join = dlsym(handle, "gputap_attach");
	return join ? join(folder) : 1;
}

static int attach_child(const char *library, const char *folder)
{
	pid_t child = fork();
	int status;

	if (!child)
		exit(-attach(library, folder));
	waitpid(child, &status, 0);
	return status;
}

static void launch_for_half_a_second(void)
{
	for (int i = 0; i < 50; i++) {
		launch(&by_name, 3);
		usleep(10000);
	}
	DO(by_name.cuCtxSynchronize());
	puts("waited");
}

static int (*profiler_stop)(void);

static int start_profiler(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*profiler_start)(void) = NULL;

	if (handle) {
		*(void **)&profiler_start = dlsym(handle, "profiler_start");
		*(void **)&profiler_stop = dlsym(handle, "profiler_stop");
	}
	return profiler_start ? profiler_start() : 1;
}

int main(int argc, char **argv)
{
	char line[1024], library[512], folder[512];
	int rounds;

	if (argc != 2)
		return 2;
	look_up();
	open_device(argv[1]);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "attach %511s %511s", library, folder) == 2)
			printf("%d\n", attach(library, folder));
		else if (sscanf(line, "fork %511s %511s", library, folder) == 2)
			printf("%d\n", attach_child(library, folder));
		else if (sscanf(line, "work %d", &rounds) == 1)
			work_in_threads(rounds);
		else if (sscanf(line, "profile %511s", library) == 1)
			printf("%d\n", start_profiler(library));
		else if (!strcmp(line, "stop\n"))
			printf("%d\n", profiler_stop());
		else if (!strcmp(line, "wait\n"))
			launch_for_half_a_second();
		else if (!strcmp(line, "free\n"))
			printf("%d\n", by_name.cuMemFree_v2(old));
		fflush(stdout);
	}
	return 0;
}
