/* SPDX-License-Identifier: MIT */
/* A program for the CUDA driver API whose GPU activities can each be identified: kernels from their
 * block size, memcpys and memsets from their bytes. Linked with the software driver's
 * libcuda.so.1.
 *
 *   activity_program MODULE identities N 4 threads that share 3 streams, N activities each
 *   activity_program MODULE fork         a child without CUDA, then a child that tries to use it
 *   activity_program MODULE leave        _exit() when all activities are done
 *   activity_program MODULE kill         SIGKILL to itself, half a second after all are done
 *   activity_program MODULE destroy      destroy the context at once, and create it again
 *   activity_program MODULE graph N      two graphs of kernel, memcpy, memset; N launches of each
 *   activity_program MODULE nothing      a memcpy and a memset of 0 bytes, and a disabled node
 *   activity_program MODULE peer         a memcpy of 4,000 bytes from the second to the first one
 *   activity_program MODULE long N       a kernel of 4 s, and meanwhile N activities in each thread
 *   activity_program MODULE pauses ROCTX [MS]  before, during and after a pause of MS */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft/cuda/cuda_api.h"

enum { THREADS = 4, STREAMS = 3, BYTES = 1 << 20 };

static CUcontext context;
static CUmodule module;
static CUfunction function;
static CUstream streams[STREAMS];
static CUdeviceptr memory;
static char host[BYTES];
static int items;

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			exit(3);                                            \
		}                                                           \
	} while (0)

static void open_device(const char *path)
{
	CUdevice device;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoad(&module, path));
	DO(cuModuleGetFunction(&function, module, "add_numbers"));
	for (int i = 0; i < STREAMS; i++)
		DO(cuStreamCreate(&streams[i], 0));
	DO(cuMemAlloc_v2(&memory, BYTES));
}

static void launch(unsigned block, CUstream stream)
{
	CUdeviceptr numbers = memory;
	int count = 0, more = 1;
	void *arguments[] = {&numbers, &count, &more};

	DO(cuLaunchKernel(function, 1, 1, 1, block, 1, 1, 0, stream, arguments, NULL));
}

static void *work(void *arg)
{
	int thread = (int)(intptr_t)arg;

	DO(cuCtxSetCurrent(context));
	for (int i = 0; i < items; i++) {
		unsigned identity = (unsigned)(i * THREADS + thread) % 1000 + 1;
		CUstream stream = streams[(i * 7 + thread) % STREAMS];

		if (i % 10 == 3)
			DO(cuMemcpyHtoDAsync_v2(memory, host, identity * 8, stream));
		else if (i % 10 == 7)
			DO(cuMemsetD8Async(memory, 7, identity * 8 + 4, stream));
		else
			launch(identity, stream);
	}
	return NULL;
}

static void work_in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	DO(cuCtxSynchronize());
}

static void fork_children(void)
{
	int status;

	launch(11, streams[0]);
	DO(cuCtxSynchronize());
	if (fork() == 0)
		exit(0); /* so that the child runs its exit handlers */
	wait(&status);
	if (status)
		exit(4);
	if (fork() == 0) {
		CUdeviceptr more;

		exit(cuMemAlloc_v2(&more, 8) ? 0 : 5);
	}
	wait(&status);
	if (status)
		exit(6);
	launch(12, streams[1]);
	DO(cuCtxSynchronize());
}

/* Capture: calls on a stream that is being captured submit no GPU activity. */
static CUgraphExec make_graph(unsigned block)
{
	CUgraph graph;
	CUgraphExec exec;

	DO(cuStreamBeginCapture_v2(streams[0], 0));
	launch(block, streams[0]);
	DO(cuMemcpyHtoDAsync_v2(memory, host, block * 8, streams[0]));
	DO(cuMemsetD8Async(memory, 7, block * 8 + 4, streams[0]));
	DO(cuStreamEndCapture(streams[0], &graph));
	DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	DO(cuGraphDestroy(graph));
	return exec;
}

static void launch_graphs(int launches)
{
	CUgraphExec execs[2] = {make_graph(41), make_graph(42)};

	for (int i = 0; i < launches; i++)
		for (int k = 0; k < 2; k++)
			DO(cuGraphLaunch(execs[k], streams[1 + k]));
	DO(cuCtxSynchronize());
	for (int k = 0; k < 2; k++)
		DO(cuGraphExecDestroy(execs[k]));
}

static void do_nothing(void)
{
	CUgraphExec exec;
	CUgraph graph;
	CUgraphNode nodes[3];
	size_t count = 3;

	DO(cuMemcpyHtoDAsync_v2(memory, host, 0, streams[0]));
	DO(cuMemsetD8Async(memory, 7, 0, streams[0]));
	DO(cuStreamBeginCapture_v2(streams[0], 0));
	launch(51, streams[0]);
	launch(52, streams[0]);
	DO(cuStreamEndCapture(streams[0], &graph));
	DO(cuGraphGetNodes(graph, nodes, &count));
	DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	DO(cuGraphNodeSetEnabled(exec, nodes[0], 0));
	DO(cuGraphLaunch(exec, streams[0]));
	DO(cuCtxSynchronize());
}

static void copy_from_peer(void)
{
	CUcontext other;
	CUdeviceptr there;
	CUdevice device;

	DO(cuDeviceGet(&device, 1));
	DO(cuCtxCreate_v2(&other, 0, device));
	DO(cuMemAlloc_v2(&there, 4000));
	DO(cuCtxSetCurrent(context));
	DO(cuMemcpyPeer(memory, context, there, other, 4000));
	DO(cuCtxSynchronize());
}

/* Launch a kernel of 4 s, and during the kernel more activities than the number of cached links. */
static void launch_long(void)
{
	int us = 4000000;
	void *arguments[] = {&us};
	CUfunction nap;
	CUstream own;

	DO(cuModuleGetFunction(&nap, module, "nap"));
	DO(cuStreamCreate(&own, 1));
	DO(cuLaunchKernel(nap, 1, 1, 1, 1, 1, 1, 0, own, arguments, NULL));
	work_in_threads();
}

static void pause_and_go_on(const char *library, unsigned ms)
{
	void *found = dlopen(library, RTLD_NOW);
	int (*pause_it)(uint64_t), (*resume_it)(uint64_t);

	if (!found)
		exit(7);
	*(void **)&pause_it = dlsym(found, "roctxProfilerPause");
	*(void **)&resume_it = dlsym(found, "roctxProfilerResume");
	launch(21, streams[0]);
	pause_it(0);
	for (int i = 0; i < 5; i++) {
		launch(22, streams[0]);
		usleep(ms * 200);
	}
	DO(cuCtxSynchronize());
	resume_it(0);
	launch(23, streams[0]);
	DO(cuCtxSynchronize());
}

int main(int count, char **words)
{
	const char *scene = count > 2 ? words[2] : "";

	if (count < 3)
		return 2;
	open_device(words[1]);
	if (!strcmp(scene, "identities")) {
		items = atoi(words[3]);
		work_in_threads();
	} else if (!strcmp(scene, "fork")) {
		fork_children();
	} else if (!strcmp(scene, "leave") || !strcmp(scene, "kill")) {
		items = 50;
		work_in_threads();
		if (!strcmp(scene, "leave"))
			_exit(0);
		usleep(500000);
		kill(getpid(), SIGKILL);
	} else if (!strcmp(scene, "destroy")) {
		for (int i = 0; i < 3; i++) {
			launch(31, streams[0]);
			DO(cuCtxDestroy_v2(context));
			open_device(words[1]);
		}
	} else if (!strcmp(scene, "graph")) {
		launch_graphs(atoi(words[3]));
	} else if (!strcmp(scene, "nothing")) {
		do_nothing();
	} else if (!strcmp(scene, "peer")) {
		copy_from_peer();
	} else if (!strcmp(scene, "long")) {
		items = atoi(words[3]);
		launch_long();
	} else if (!strcmp(scene, "pauses")) {
		pause_and_go_on(words[3], count > 4 ? (unsigned)atoi(words[4]) : 0);
	} else {
		return 2;
	}
	puts("done");
	return 0;
}
