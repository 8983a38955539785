/* SPDX-License-Identifier: MIT */
/* Programs with known dependencies, to compare predictions of `gputap what-if` with a program that
 * was really changed: what_if_program SCENE FACTOR. FACTOR multiplies the time of the kernel "gemm"
 * (or of the fills); with 0, the program does not launch it. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gputap/gputap.h"
#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"

#define OK(call) EXPECT((call) == refdevSuccess)

enum { ROUNDS = 30, FILLED = 48 << 20 };

static const refdevDim3 one = {1, 1, 1};
static refdevStream_t first, second;
static refdevKernel_t gemm, relu;
static double factor;

static void wait_ns(uint64_t ns)
{
	const uint64_t end = now_ns() + ns;
	struct timespec until = {.tv_sec = (time_t)(end / 1000000000),
				 .tv_nsec = (long)(end % 1000000000)};

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL))
		;
}

static void run(const refdevGroup *group, const void *arguments)
{
	uint64_t ns;

	(void)group;
	memcpy(&ns, arguments, sizeof ns);
	wait_ns(ns);
}

static void launch_gemm(double ms, refdevStream_t stream)
{
	const uint64_t ns = (uint64_t)(ms * factor * 1e6);

	if (factor > 0)
		OK(refdevLaunchKernel(gemm, one, one, &ns, sizeof ns, stream));
}

static void launch_relu(double ms, refdevStream_t stream)
{
	const uint64_t ns = (uint64_t)(ms * 1e6);

	OK(refdevLaunchKernel(relu, one, one, &ns, sizeof ns, stream));
}

static void think(double ms)
{
	wait_ns((uint64_t)(ms * 1e6));
}

/* The host waits for each kernel. Each round is a range. */
static void scene_synchronous(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		gputap_range_push("step");
		launch_gemm(4, first);
		OK(refdevStreamSynchronize(first));
		think(2);
		gputap_range_pop();
		think(1);
	}
}

/* The device is always busy; the host waits at the end. */
static void scene_queued(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		launch_gemm(4, first);
		launch_relu(2, first);
	}
	OK(refdevDeviceSynchronize());
}

/* The device waits for the host. */
static void scene_host_bound(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		think(5);
		launch_gemm(2, first);
	}
	OK(refdevStreamSynchronize(first));
}

/* The device is behind the host in the first half of each round, and the host is behind it in the
 * second half. A kernel that is twice as fast moves the border. */
static void scene_mixed(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		launch_gemm(6, first);
		think(4);
		launch_relu(1, first);
		think(1);
		OK(refdevStreamSynchronize(first));
	}
}

/* The kernel of one stream waits for the kernel of another. */
static void scene_events(void)
{
	refdevEvent_t done;

	OK(refdevEventCreate(&done));
	for (int i = 0; i < ROUNDS; i++) {
		launch_gemm(4, first);
		OK(refdevEventRecord(done, first));
		OK(refdevStreamWaitEvent(second, done));
		launch_relu(3, second);
		think(5);
	}
	OK(refdevDeviceSynchronize());
	OK(refdevEventDestroy(done));
}

/* Two streams, without a dependency. The slower one decides. */
static void scene_two_streams(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		launch_gemm(6, first);
		launch_relu(4, second);
		OK(refdevDeviceSynchronize());
	}
}

static void scene_graph(void)
{
	const uint64_t ns[2] = {(uint64_t)(2e6 * factor), 1000000};
	refdevGraph_t graph;
	refdevGraphExec_t exec;

	OK(refdevGraphCreate(&graph));
	for (int i = 0; i < 3; i++) {
		OK(refdevGraphAddKernelNode(graph, gemm, one, one, &ns[0], sizeof ns[0]));
		OK(refdevGraphAddKernelNode(graph, relu, one, one, &ns[1], sizeof ns[1]));
	}
	OK(refdevGraphInstantiate(&exec, graph));
	for (int i = 0; i < ROUNDS / 2; i++) {
		OK(refdevGraphLaunch(exec, first));
		launch_relu(1, first);
		OK(refdevStreamSynchronize(first));
	}
	OK(refdevGraphExecDestroy(exec));
	OK(refdevGraphDestroy(graph));
}

static void *launch_in_thread(void *data)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (data)
			launch_gemm(5, first);
		else
			launch_relu(3, second);
		OK(refdevStreamSynchronize(data ? first : second));
		think(1);
	}
	return NULL;
}

/* Two threads with a stream each; the program ends when both have ended. */
static void scene_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		EXPECT(!pthread_create(&threads[i], NULL, launch_in_thread, i ? &first : NULL));
	for (int i = 0; i < 2; i++)
		EXPECT(!pthread_join(threads[i], NULL));
	think(5);
	OK(refdevDeviceSynchronize());
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

/* Hold the lock for the time of a kernel and of the host. */
static void *hold_lock(void *data)
{
	(void)data;
	for (int i = 0; i < ROUNDS / 5; i++) {
		EXPECT(!pthread_mutex_lock(&lock));
		pthread_barrier_wait(&both);
		launch_gemm(40, second);
		OK(refdevStreamSynchronize(second));
		think(10);
		EXPECT(!pthread_mutex_unlock(&lock));
		pthread_barrier_wait(&both);
	}
	return NULL;
}

/* A thread waits for a lock that another thread holds while it waits for a kernel. */
static void scene_lock(void)
{
	pthread_t thread;

	EXPECT(!pthread_barrier_init(&both, NULL, 2));
	EXPECT(!pthread_create(&thread, NULL, hold_lock, NULL));
	for (int i = 0; i < ROUNDS / 5; i++) {
		pthread_barrier_wait(&both);
		launch_relu(5, first);
		OK(refdevStreamSynchronize(first));
		EXPECT(!pthread_mutex_lock(&lock));
		EXPECT(!pthread_mutex_unlock(&lock));
		launch_relu(10, first);
		OK(refdevStreamSynchronize(first));
		pthread_barrier_wait(&both);
	}
	EXPECT(!pthread_join(thread, NULL));
}

/* The host never runs more than two rounds ahead of the device. */
static void scene_two_ahead(void)
{
	refdevEvent_t done[2];

	for (int i = 0; i < 2; i++)
		OK(refdevEventCreate(&done[i]));
	for (int i = 0; i < ROUNDS; i++) {
		if (i >= 2)
			OK(refdevEventSynchronize(done[i % 2]));
		think(3);
		launch_gemm(5, first);
		OK(refdevEventRecord(done[i % 2], first));
	}
	OK(refdevStreamSynchronize(first));
	for (int i = 0; i < 2; i++)
		OK(refdevEventDestroy(done[i]));
}

/* A copy to the host waits for the kernel, and the host for the copy. */
static void scene_blocking_copy(void)
{
	static char host[4096];
	void *memory;

	OK(refdevMalloc(&memory, sizeof host));
	for (int i = 0; i < ROUNDS; i++) {
		launch_gemm(4, NULL);
		OK(refdevMemcpy(host, memory, sizeof host, refdevMemcpyDeviceToHost));
		think(1);
	}
	OK(refdevFree(memory));
}

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {
	{"synchronous", scene_synchronous},
	{"queued", scene_queued},
	{"host_bound", scene_host_bound},
	{"mixed", scene_mixed},
	{"events", scene_events},
	{"two_streams", scene_two_streams},
	{"graph", scene_graph},
	{"threads", scene_threads},
	{"lock", scene_lock},
	{"two_ahead", scene_two_ahead},
	{"blocking_copy", scene_blocking_copy},
};

int main(int argc, char **argv)
{
	EXPECT(argc == 3);
	factor = strtod(argv[2], NULL);
	OK(refdevSetDevice(0));
	OK(refdevStreamCreate(&first));
	OK(refdevStreamCreate(&second));
	OK(refdevRegisterKernel(&gemm, "gemm", run));
	OK(refdevRegisterKernel(&relu, "relu", run));
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (!strcmp(argv[1], scenes[i].name)) {
			scenes[i].run();
			return 0;
		}
	return 2;
}
