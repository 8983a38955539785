/* SPDX-License-Identifier: MIT */
/* A program for the reference accelerator:
 *
 *     refdev_program steps N     each step: a memcpy, two kernels on two streams with an event
 *                                between, a memset, a 2D memcpy, a three-node graph; results are
 *                                checked
 *     refdev_program driver N    the same kernels through the driver API
 *     refdev_program errors      calls that fail, each with a different error
 *     refdev_program fork        a child that finds no device
 *     refdev_program threads N   four threads, each with a stream and N kernels
 *     refdev_program idle N      N times, compare the state of a stream with that of its last event
 *     refdev_program clock       compare the stamps of an event pair with the host clock */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <soft/refdev/refdev.h>

#define GOOD(call)                                                                         \
	do {                                                                               \
		refdevError_t status_ = (call);                                            \
		if (status_) {                                                             \
			fprintf(stderr, "%s: %s\n", #call, refdevGetErrorString(status_)); \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

enum { COUNT = 256, BLOCK = 32 };

struct scale {
	float *data;
	float by;
};

static const refdevDim3 grid = {COUNT / BLOCK, 1, 1}, block = {BLOCK, 1, 1};

static void scale(const refdevGroup *g, const void *arguments)
{
	const struct scale *s = arguments;

	for (uint32_t i = 0; i < g->block.x; i++)
		s->data[g->index.x * g->block.x + i] *= s->by;
}

static void add(const refdevGroup *g, const void *arguments)
{
	const struct scale *s = arguments;

	for (uint32_t i = 0; i < g->block.x; i++)
		s->data[g->index.x * g->block.x + i] += s->by;
}

static void fault(const refdevGroup *g, const void *arguments)
{
	(void)arguments;
	*(volatile int *)(uintptr_t)(16 + g->index.x) = 1;
}

static refdevKernel_t kernel(const char *name, refdevFunction function)
{
	refdevKernel_t k;

	GOOD(refdevRegisterKernel(&k, name, function));
	return k;
}

static refdevGraphExec_t make_graph(refdevStream_t stream, refdevKernel_t k, struct scale *s)
{
	refdevGraphExec_t exec;
	refdevGraph_t graph;

	GOOD(refdevStreamBeginCapture(stream));
	GOOD(refdevLaunchKernel(k, grid, block, s, sizeof *s, stream));
	GOOD(refdevLaunchKernel(k, grid, block, s, sizeof *s, stream));
	GOOD(refdevStreamEndCapture(stream, &graph));
	GOOD(refdevGraphAddMemsetNode(graph, s->data + COUNT, 0, COUNT));
	GOOD(refdevGraphInstantiate(&exec, graph));
	GOOD(refdevGraphDestroy(graph));
	return exec;
}

static void check(const float *host, float wanted)
{
	for (int i = 0; i < COUNT; i++)
		if (host[i] != wanted) {
			fprintf(stderr, "element %d is %g, not %g\n", i, (double)host[i],
				(double)wanted);
			exit(1);
		}
}

static void steps(int count)
{
	refdevKernel_t times = kernel("scale", scale), plus = kernel("add", add);
	float host[COUNT], back[2 * COUNT];
	refdevStream_t one, two;
	refdevGraphExec_t exec;
	refdevEvent_t event;
	struct scale s, t;

	for (int i = 0; i < COUNT; i++)
		host[i] = 3;
	GOOD(refdevStreamCreate(&one));
	GOOD(refdevStreamCreate(&two));
	GOOD(refdevEventCreate(&event));
	GOOD(refdevMalloc((void **)&s.data, 2 * sizeof host));
	s.by = 2;
	t = (struct scale){s.data, 1};
	exec = make_graph(two, plus, &t);
	for (int i = 0; i < count; i++) {
		GOOD(refdevMemcpyAsync(s.data, host, sizeof host, refdevMemcpyHostToDevice, one));
		GOOD(refdevLaunchKernel(times, grid, block, &s, sizeof s, one));
		GOOD(refdevEventRecord(event, one));
		GOOD(refdevStreamWaitEvent(two, event));
		GOOD(refdevLaunchKernel(plus, grid, block, &t, sizeof t, two));
		GOOD(refdevGraphLaunch(exec, two));
		GOOD(refdevStreamSynchronize(two));
		GOOD(refdevMemset2D(s.data + COUNT, 64, 0, 32, 4));
		GOOD(refdevMemcpy2D(back, 32, s.data, 32, 32, sizeof host / 32,
				    refdevMemcpyDeviceToHost));
		check(back, 9); /* 3 * 2 + 1, plus 2 from the graph */
	}
	GOOD(refdevDeviceSynchronize());
	GOOD(refdevGraphExecDestroy(exec));
	GOOD(refdevEventDestroy(event));
	GOOD(refdevFree(s.data));
	GOOD(refdevStreamDestroy(one));
	GOOD(refdevStreamDestroy(two));
}

static void driver(int count)
{
	refdevKernel_t times = kernel("scale", scale);
	float host[COUNT];
	refdevStream_t stream;
	struct scale s = {.by = 2};

	for (int i = 0; i < COUNT; i++)
		host[i] = 1;
	GOOD(refdevStreamCreate(&stream));
	GOOD(refdevDrvMemAlloc((void **)&s.data, sizeof host, 0));
	for (int i = 0; i < count; i++) {
		GOOD(refdevDrvMemcpy2D(s.data, sizeof host, host, sizeof host, sizeof host, 1,
				       refdevMemcpyHostToDevice, stream));
		GOOD(refdevDrvLaunchKernel(times, grid, block, &s, sizeof s, stream));
		GOOD(refdevDrvStreamSynchronize(stream));
		check(s.data, 2);
	}
	GOOD(refdevDrvMemFree(s.data));
	GOOD(refdevStreamDestroy(stream));
}

static void say(const char *what, refdevError_t status)
{
	printf("%s: %s\n", what, refdevGetErrorString(status));
}

static void errors(void)
{
	refdevKernel_t bad = kernel("fault", fault);
	refdevDim3 none = {0, 1, 1};
	refdevGraph_t graph;
	void *memory = NULL;
	size_t available, total;
	int device;

	say("launch of nothing", refdevLaunchKernel(NULL, grid, block, NULL, 0, NULL));
	say("grid of 0", refdevLaunchKernel(bad, none, block, NULL, 0, NULL));
	say("copy from nowhere", refdevMemcpy(&device, NULL, 4, refdevMemcpyHostToDevice));
	say("too much memory", refdevMalloc(&memory, (size_t)1 << 60));
	say("device 99", refdevSetDevice(99));
	say("free of a stranger", refdevFree((char *)&device + 1));
	say("end without begin", refdevStreamEndCapture(NULL, &graph));
	say("kernel that faults", refdevLaunchKernel(bad, grid, block, NULL, 0, NULL));
	say("its stream", refdevStreamSynchronize(NULL));
	say("afterwards", refdevStreamSynchronize(NULL));
	say("memory", refdevMalloc(&memory, 1000));
	GOOD(refdevMemGetInfo(&available, &total));
	printf("used %zu\n", total - available);
	say("twice the third", refdevMalloc(&memory, 1000));
	say("freed", refdevFree(memory));
}

static void forks(void)
{
	int status;

	steps(1);
	if (!fork()) {
		void *memory;

		say("child", refdevMalloc(&memory, 10));
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	steps(1);
}

static void *run_thread(void *data)
{
	refdevKernel_t times = kernel("scale", scale);
	refdevStream_t stream;
	struct scale s = {.by = 1};

	GOOD(refdevStreamCreate(&stream));
	GOOD(refdevMalloc((void **)&s.data, COUNT * sizeof(float)));
	for (int i = 0; i < *(int *)data; i++)
		GOOD(refdevLaunchKernel(times, grid, block, &s, sizeof s, stream));
	GOOD(refdevStreamSynchronize(stream));
	GOOD(refdevFree(s.data));
	GOOD(refdevStreamDestroy(stream));
	return NULL;
}

static void threads(int count)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, run_thread, &count);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

/* The kernel has one trivial group, so that the wait ends while the stream's thread is still
 * processing the end of the kernel. */
static void idle(int count)
{
	refdevKernel_t plus = kernel("add", add);
	const refdevDim3 one = {1, 1, 1};
	int busy = 0, open = 0;
	float data[1] = {0};
	struct scale s = {data, 1};
	refdevStream_t stream;
	refdevEvent_t event;

	GOOD(refdevStreamCreate(&stream));
	GOOD(refdevEventCreate(&event));
	for (int i = 0; i < count; i++) {
		GOOD(refdevLaunchKernel(plus, one, one, &s, sizeof s, stream));
		GOOD(refdevEventRecord(event, stream));
		while (refdevEventQuery(event) == refdevErrorNotReady)
			;
		busy += refdevStreamQuery(stream) != refdevSuccess;
		GOOD(refdevEventRecord(event, stream));
		GOOD(refdevStreamSynchronize(stream));
		open += refdevEventQuery(event) != refdevSuccess;
	}
	printf("busy %d, open %d\n", busy, open);
	GOOD(refdevEventDestroy(event));
	GOOD(refdevStreamDestroy(stream));
}

static void clocks(void)
{
	uint64_t before, ticks, after;

	for (int i = 0; i < 2; i++) {
		GOOD(refdevReadClock(0, &before, &ticks, &after));
		printf("%llu %llu %llu\n", (unsigned long long)before, (unsigned long long)ticks,
		       (unsigned long long)after);
		usleep(50000);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "steps";
	int count = argc > 2 ? atoi(argv[2]) : 3;

	if (!strcmp(what, "steps"))
		steps(count);
	else if (!strcmp(what, "driver"))
		driver(count);
	else if (!strcmp(what, "errors"))
		errors();
	else if (!strcmp(what, "fork"))
		forks();
	else if (!strcmp(what, "threads"))
		threads(count);
	else if (!strcmp(what, "idle"))
		idle(count);
	else if (!strcmp(what, "clock"))
		clocks();
	else
		return 2;
	return 0;
}
