/* SPDX-License-Identifier: MIT */
/* Graphs whose nodes can be recognised from outside: node i of a graph is a kernel of i + 1
 * work-groups, so that a dispatch's grid is the number of its node. graphs SHAPE REPLAYS [STREAMS];
 * the program checks the results. Shapes:
 *   chain N   kernels one after the other, created explicitly
 *   held N    the same, but the last one waits for the host, which prints BOOTTIME in ns: before
 *             the launch, while the last one waits, 20 ms later, just before it releases it, and
 *             after its end
 *   fork      a fill, four branches of three kernels, a copy, a kernel that joins them, a copy to
 *             the host
 *   capture   two streams captured into one graph, with a fill and a copy between
 *   child     a graph that holds another one twice, between two kernels
 *   shuffle   nodes created in another order than that of their dependences
 *   leaves    ends of branches created before the nodes that they depend on
 *   random N  as many nodes as N's last two digits, and edges that depend on N */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hip/hip_runtime.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define CHECK(call)                                                                    \
	do {                                                                           \
		hipError_t error_ = (call);                                            \
		if (error_ != hipSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_)); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

__global__ void count(unsigned *at, unsigned node)
{
	if (threadIdx.x == 0 && blockIdx.x == 0)
		atomicAdd(&at[node], 1u);
}

__global__ void other(unsigned *at, unsigned node)
{
	if (threadIdx.x == 0 && blockIdx.x == 0)
		atomicAdd(&at[node], 1u);
}

__global__ void wait_for_the_host(volatile unsigned *gate)
{
	gate[0] = 1;
	while (!gate[1])
		;
}

enum { NODES = 4096 };
static unsigned *counts;
static unsigned next_node;

static hipGraphNode_t kernel(hipGraph_t g, std::vector<hipGraphNode_t> after, bool is_other = false)
{
	unsigned node = next_node++;
	void *args[] = {&counts, &node};
	hipKernelNodeParams p = {};
	hipGraphNode_t n;

	p.func = is_other ? (void *)other : (void *)count;
	p.gridDim = dim3(node + 1);
	p.blockDim = dim3(64);
	p.kernelParams = args;
	CHECK(hipGraphAddKernelNode(&n, g, after.data(), after.size(), &p));
	return n;
}

static hipGraphNode_t fill(hipGraph_t g, std::vector<hipGraphNode_t> after, void *to, size_t bytes)
{
	hipMemsetParams p = {};
	hipGraphNode_t n;

	next_node++;
	p.dst = to;
	p.elementSize = 1;
	p.width = bytes;
	p.height = 1;
	CHECK(hipGraphAddMemsetNode(&n, g, after.data(), after.size(), &p));
	return n;
}

static hipGraphNode_t copy(hipGraph_t g, std::vector<hipGraphNode_t> after, void *to,
			   const void *from, size_t bytes, hipMemcpyKind kind)
{
	hipGraphNode_t n;

	next_node++;
	CHECK(hipGraphAddMemcpyNode1D(&n, g, after.data(), after.size(), to, from, bytes, kind));
	return n;
}

static void *scratch, *host;

static void make_fork(hipGraph_t g)
{
	hipGraphNode_t first = fill(g, {}, scratch, 4096), c;
	std::vector<hipGraphNode_t> ends;

	for (int b = 0; b < 4; b++) {
		hipGraphNode_t n = first;
		for (int i = 0; i < 3; i++)
			n = kernel(g, {n}, (b + i) % 2);
		ends.push_back(n);
	}
	c = copy(g, {ends[0]}, (char *)scratch + 8192, scratch, 4096, hipMemcpyDeviceToDevice);
	ends[0] = c;
	c = kernel(g, ends);
	copy(g, {c}, host, scratch, 4096, hipMemcpyDeviceToHost);
}

static void make_capture(hipGraph_t *g)
{
	hipStream_t a, b;
	hipEvent_t e, f;

	CHECK(hipStreamCreate(&a));
	CHECK(hipStreamCreate(&b));
	CHECK(hipEventCreate(&e));
	CHECK(hipEventCreate(&f));
	CHECK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
	count<<<next_node + 1, 64, 0, a>>>(counts, next_node), next_node++;
	CHECK(hipEventRecord(e, a));
	CHECK(hipStreamWaitEvent(b, e, 0));
	other<<<next_node + 1, 64, 0, b>>>(counts, next_node), next_node++;
	count<<<next_node + 1, 64, 0, a>>>(counts, next_node), next_node++;
	CHECK(hipMemsetAsync(scratch, 7, 4096, b));
	next_node++;
	CHECK(hipMemcpyAsync((char *)scratch + 8192, scratch, 4096, hipMemcpyDeviceToDevice, b));
	next_node++;
	CHECK(hipEventRecord(f, b));
	CHECK(hipStreamWaitEvent(a, f, 0));
	count<<<next_node + 1, 64, 0, a>>>(counts, next_node), next_node++;
	CHECK(hipStreamEndCapture(a, g));
}

/* Ordinals of a child's nodes follow that of the node that holds it; both copies launch the kernels
 * that it was created with. */
static void make_child(hipGraph_t g)
{
	hipGraph_t child;
	hipGraphNode_t first = kernel(g, {}), one, two, n;

	CHECK(hipGraphCreate(&child, 0));
	next_node = 2;
	n = kernel(child, {});
	kernel(child, {n}, true);
	kernel(child, {n});
	next_node = 1;
	CHECK(hipGraphAddChildGraphNode(&one, g, &first, 1, child));
	next_node = 5;
	CHECK(hipGraphAddChildGraphNode(&two, g, &one, 1, child));
	next_node = 9;
	kernel(g, {two});
}

static void make_of_edges(hipGraph_t g, int count, const std::vector<std::pair<int, int>> &edges)
{
	std::vector<hipGraphNode_t> n;

	for (int i = 0; i < count; i++)
		n.push_back(kernel(g, {}, i % 3 == 0));
	for (auto &e : edges)
		CHECK(hipGraphAddDependencies(g, &n[e.first], &n[e.second], 1));
}

/* Edges follow an order of the nodes that is not that of their creation. */
static void make_random(hipGraph_t g, unsigned seed)
{
	int count = (int)(seed % 100);
	std::vector<std::pair<int, int>> edges;
	std::vector<int> order;
	auto random = [&]() { return (seed = seed * 1664525 + 1013904223) >> 16; };

	for (int i = 0; i < count; i++)
		order.insert(order.begin() + (int)(random() % (unsigned)(i + 1)), i);
	for (int i = 1; i < count; i++)
		for (int j = i - 1; j >= 0 && j >= i - 4; j--)
			if (random() % 3 == 0)
				edges.push_back({order[(size_t)j], order[(size_t)i]});
	make_of_edges(g, count, edges);
}

static void add_gate(hipGraph_t g, hipGraphNode_t last)
{
	void *args[] = {&host};
	hipKernelNodeParams p = {};
	hipGraphNode_t n;

	p.func = (void *)wait_for_the_host;
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	CHECK(hipGraphAddKernelNode(&n, g, &last, 1, &p));
}

static void say_now(char end)
{
	timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	printf("%lld%c", (long long)t.tv_sec * 1000000000 + t.tv_nsec, end);
}

static void launch_held(hipGraphExec_t exec, hipStream_t s)
{
	volatile unsigned *gate = (volatile unsigned *)host;

	gate[0] = gate[1] = 0;
	say_now(' ');
	CHECK(hipGraphLaunch(exec, s));
	while (!gate[0])
		usleep(100);
	say_now(' ');
	usleep(20000);
	say_now(' ');
	gate[1] = 1;
	CHECK(hipStreamSynchronize(s));
	say_now('\n');
}

int main(int argc, char **argv)
{
	const char *shape = argc > 1 ? argv[1] : "chain";
	int replays = argc > 2 ? atoi(argv[2]) : 3, streams = argc > 3 ? atoi(argv[3]) : 1,
	    length = argc > 4 ? atoi(argv[4]) : 20;
	std::vector<hipGraphNode_t> last;
	hipGraph_t g;
	unsigned bad = 0, got[NODES];

	CHECK(hipMalloc(&counts, sizeof got));
	CHECK(hipMalloc(&scratch, 1 << 16));
	CHECK(hipHostMalloc(&host, 4096));
	CHECK(hipMemset(counts, 0, sizeof got));
	if (!strcmp(shape, "capture")) {
		make_capture(&g);
	} else {
		CHECK(hipGraphCreate(&g, 0));
		if (!strcmp(shape, "fork"))
			make_fork(g);
		else if (!strcmp(shape, "child"))
			make_child(g);
		else if (!strcmp(shape, "shuffle"))
			make_of_edges(
				g, 7,
				{{4, 0}, {2, 0}, {0, 1}, {4, 3}, {3, 5}, {2, 5}, {1, 6}, {5, 6}});
		else if (!strcmp(shape, "leaves"))
			make_of_edges(g, 8, {{3, 1}, {5, 0}, {3, 5}, {4, 2}, {7, 6}});
		else if (!strcmp(shape, "random"))
			make_random(g, (unsigned)length);
		else
			for (int i = 0; i < length; i++)
				last = {kernel(g, last, i % 7 == 3)};
		if (!strcmp(shape, "held"))
			add_gate(g, last[0]);
	}
	auto run = [&]() {
		hipGraphExec_t exec;
		hipStream_t s;
		CHECK(hipGraphInstantiate(&exec, g, NULL, NULL, 0));
		CHECK(hipStreamCreate(&s));
		for (int r = 0; r < replays; r++) {
			if (!strcmp(shape, "held"))
				launch_held(exec, s);
			else
				CHECK(hipGraphLaunch(exec, s));
		}
		CHECK(hipStreamSynchronize(s));
		CHECK(hipGraphExecDestroy(exec));
	};
	if (streams == 1) {
		run();
	} else { /* several threads, whose streams share queues */
		std::vector<std::thread> threads;
		for (int i = 0; i < streams; i++)
			threads.emplace_back(run);
		for (auto &t : threads)
			t.join();
	}
	CHECK(hipMemcpy(got, counts, sizeof got, hipMemcpyDeviceToHost));
	for (int i = 0; i < NODES; i++)
		bad += got[i] && got[i] % (unsigned)(replays * streams);
	for (int i = 0; i < 1; i++)
		bad += !strcmp(shape, "chain") && got[length - 1] != (unsigned)(replays * streams);
	printf("%s: %s\n", shape, bad ? "WRONG" : "right");
	return bad != 0;
}
