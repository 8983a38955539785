/* SPDX-License-Identifier: MIT */
/* Loops on the reference accelerator, each with one pattern: patterns_refdev
 * plain|random|short_kernels|small_copies|blocking_copies|wait_each|allocations|polling|copy_runs|pause|host|
 * graph STEPS. Each step launches eight kernels: a b b c d d d e. */
#include <stdlib.h>
#include <string.h>

#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"

#define OK(call) EXPECT((call) == refdevSuccess)

enum { KERNELS = 5, LAUNCHES = 8, COPIES = 200, QUERIES = 3000, ALLOCATIONS = 300, BYTES = 4096 };

static const refdevDim3 one = {1, 1, 1};
static const char order[] = "abbcddde";
static refdevKernel_t kernels[KERNELS];
static refdevStream_t stream;
static refdevGraphExec_t graph;
static void *memory;
static char *host;
static uint64_t kernel_ns = 50000;

/* A kernel of 50 us, so that devices have work while the host launches the next, or of 1 us. */
static void run(const refdevGroup *group, const void *arguments)
{
	const uint64_t until = now_ns() + kernel_ns;

	(void)group;
	(void)arguments;
	while (now_ns() < until)
		;
}

static void compute_us(unsigned us)
{
	const uint64_t until = now_ns() + us * UINT64_C(1000);

	while (now_ns() < until)
		;
}

static void launch(unsigned i)
{
	OK(refdevLaunchKernel(kernels[order[i] - 'a'], one, one, NULL, 0, stream));
}

static void launch_all(const char *mode)
{
	for (unsigned i = 0; i < LAUNCHES; i++) {
		launch(i);
		if (!strcmp(mode, "short_kernels"))
			compute_us(90);
		if (!strcmp(mode, "wait_each"))
			OK(refdevStreamSynchronize(stream));
	}
}

/* Launch kernels in an order that does not repeat. */
static void launch_any(void)
{
	static uint32_t seed = 1;

	for (unsigned i = 0; i < LAUNCHES; i++) {
		seed = seed * 1664525u + 1013904223u;
		launch((seed >> 16) % LAUNCHES);
	}
}

static void capture(void)
{
	refdevGraph_t captured;

	OK(refdevStreamBeginCapture(stream));
	launch_all("");
	OK(refdevStreamEndCapture(stream, &captured));
	OK(refdevGraphInstantiate(&graph, captured));
	OK(refdevGraphDestroy(captured));
}

static void step(const char *mode)
{
	void *more;

	if (!strcmp(mode, "graph"))
		OK(refdevGraphLaunch(graph, stream));
	else if (!strcmp(mode, "random"))
		launch_any();
	else
		launch_all(mode);
	for (unsigned i = 0; i < ALLOCATIONS && !strcmp(mode, "allocations"); i++) {
		OK(refdevMalloc(&more, 64 * BYTES));
		memset(more, 1, 64 * BYTES);
		OK(refdevFree(more));
	}
	if (!strcmp(mode, "copy_runs"))
		for (unsigned i = 0; i < COPIES; i++)
			OK(refdevMemcpyAsync(memory, host, 512, refdevMemcpyHostToDevice, stream));
	if (!strcmp(mode, "polling"))
		for (unsigned i = 0; i < QUERIES; i++)
			refdevStreamQuery(stream);
	if (!strcmp(mode, "blocking_copies"))
		OK(refdevMemcpy(host, memory, 4, refdevMemcpyDeviceToHost));
	if (!strcmp(mode, "small_copies"))
		OK(refdevMemcpyAsync(host, memory, 4, refdevMemcpyDeviceToHost, stream));
	if (!strcmp(mode, "short_kernels"))
		return;
	OK(refdevStreamSynchronize(stream));
	if (!strcmp(mode, "host"))
		sleep_ms(2);
}

int main(int argc, char **argv)
{
	const unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 40;

	EXPECT(argc > 1);
	if (!strcmp(argv[1], "short_kernels"))
		kernel_ns = 1000;
	for (unsigned i = 0; i < KERNELS; i++) {
		const char name[] = {(char)('a' + i), 0};

		OK(refdevRegisterKernel(&kernels[i], name, run));
	}
	OK(refdevStreamCreate(&stream));
	OK(refdevMalloc(&memory, BYTES));
	OK(refdevMallocHost((void **)&host, BYTES));
	if (!strcmp(argv[1], "graph"))
		capture();
	for (unsigned i = 0; i < steps; i++) {
		step(argv[1]);
		if (!strcmp(argv[1], "pause") && i == steps / 2)
			sleep_ms(300);
	}
	OK(refdevStreamDestroy(stream));
	return 0;
}
