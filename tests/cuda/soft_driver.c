/* SPDX-License-Identifier: MIT */
/* Programs of the driver API, for the software driver: each scene prints what it found.
 *
 *   soft_driver MODULE SCENE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/cuda/cuda_api.h"

enum { NUMBERS = 1000 };

#define CHECK(call)                                         \
	do {                                                \
		int status_ = (call);                       \
		if (status_) {                              \
			printf("%s: %d\n", #call, status_); \
			fflush(stdout);                     \
			_exit(1);                           \
		}                                           \
	} while (0)

static CUcontext context;
static CUmodule module;
static CUfunction add;
static CUstream stream, other;
static CUdeviceptr memory;
static int *numbers, one = 1, two = 2, count = NUMBERS;
static void *add_one[] = {&memory, &count, &one}, *add_two[] = {&memory, &count, &two};
static const char *module_file;

static void start(void)
{
	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, 0));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoad(&module, module_file));
	CHECK(cuModuleGetFunction(&add, module, "add_numbers"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc_v2(&memory, NUMBERS * sizeof(int)));
	CHECK(cuMemsetD32_v2(memory, 0, NUMBERS));
	CHECK(cuMemHostAlloc((void **)&numbers, NUMBERS * sizeof(int), 0));
	memset(numbers, 0, NUMBERS * sizeof(int));
}

static void show_numbers(const char *what)
{
	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpyDtoH_v2(numbers, memory, NUMBERS * sizeof(int)));
	for (int i = 1; i < NUMBERS; i++)
		if (numbers[i] != numbers[0])
			printf("number %d is %d\n", i, numbers[i]);
	printf("%s: %d\n", what, numbers[0]);
}

/* Graphs ---------------------------------------------------------------------------- */

static int host_calls;

static void count_host(void *data)
{
	host_calls += *(int *)data;
}

static CUDA_KERNEL_NODE_PARAMS kernel_node(void **arguments)
{
	return (CUDA_KERNEL_NODE_PARAMS){.func = add,
					 .gridDimX = 4,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = 256,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .kernelParams = arguments};
}

/* set to 5 -> add 1 -> add 2, host -> copy of 10 bytes */
static CUgraph build_graph(CUgraphNode nodes[5])
{
	const CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 5, 4, NUMBERS, 1};
	const CUDA_KERNEL_NODE_PARAMS first = kernel_node(add_one), second = kernel_node(add_two);
	const CUDA_HOST_NODE_PARAMS host = {count_host, &one};
	const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
				    .srcDevice = memory,
				    .dstMemoryType = CU_MEMORYTYPE_HOST,
				    .dstHost = numbers,
				    .WidthInBytes = 10,
				    .Height = 1,
				    .Depth = 1};
	CUgraph graph;

	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set, context));
	CHECK(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &first));
	CHECK(cuGraphAddKernelNode(&nodes[2], graph, NULL, 0, &second));
	CHECK(cuGraphAddDependencies(graph, &nodes[1], &nodes[2], 1));
	CHECK(cuGraphAddHostNode(&nodes[3], graph, &nodes[1], 1, &host));
	CHECK(cuGraphAddMemcpyNode(&nodes[4], graph, &nodes[2], 2, &copy, context));
	return graph;
}

static void show_graph(void)
{
	CUgraphNode nodes[5], found[10], to[10];
	CUgraph graph = build_graph(nodes), clone;
	CUDA_KERNEL_NODE_PARAMS changed = kernel_node(add_two);
	CUgraphExecUpdateResultInfo result;
	CUgraphExec exec;
	size_t n = 10, roots, edges = 10;
	int type;

	CHECK(cuGraphGetNodes(graph, found, &n));
	CHECK(cuGraphGetRootNodes(graph, NULL, &roots));
	CHECK(cuGraphGetEdges(graph, found, to, &edges));
	CHECK(cuGraphNodeGetType(nodes[4], &type));
	printf("%zu nodes, %zu roots, %zu edges, the last one's type %d\n", n, roots, edges, type);
	printf("a circle: %d\n", cuGraphAddDependencies(graph, &nodes[4], &nodes[0], 1));
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuGraphLaunch(exec, stream));
	show_numbers("launched twice");
	printf("host calls: %d\n", host_calls);
	CHECK(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &changed));
	CHECK(cuGraphLaunch(exec, stream));
	show_numbers("with other arguments");
	CHECK(cuGraphNodeSetEnabled(exec, nodes[1], 0));
	CHECK(cuGraphLaunch(exec, stream));
	show_numbers("a node less");
	CHECK(cuGraphClone(&clone, graph));
	CHECK(cuGraphNodeFindInClone(&found[0], nodes[1], clone));
	CHECK(cuGraphKernelNodeSetParams_v2(found[0], &changed));
	CHECK(cuGraphExecUpdate_v2(exec, clone, &result));
	CHECK(cuGraphUpload(exec, stream));
	CHECK(cuGraphLaunch(exec, stream));
	show_numbers("updated");
	CHECK(cuGraphAddEmptyNode(&found[0], clone, NULL, 0));
	printf("another shape: %d", cuGraphExecUpdate_v2(exec, clone, &result));
	printf(", result %d\n", result.result);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(clone));
	CHECK(cuGraphDestroy(graph));
	printf("destroyed again: %d\n", cuGraphDestroy(graph));
}

static void show_child(void)
{
	CUgraphNode nodes[5], child, before, after, inner;
	CUgraph graph = build_graph(nodes), outer;
	CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(add_two);
	CUevent event;
	CUgraphExec exec;

	CHECK(cuEventCreate(&event, 0));
	CHECK(cuGraphCreate(&outer, 0));
	CHECK(cuGraphAddKernelNode_v2(&before, outer, NULL, 0, &kernel));
	CHECK(cuGraphAddChildGraphNode(&child, outer, &before, 1, graph));
	CHECK(cuGraphAddKernelNode_v2(&after, outer, &child, 1, &kernel));
	CHECK(cuGraphAddEventRecordNode(&inner, outer, &after, 1, event));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphInstantiate_v2(&exec, outer, NULL, NULL, 0));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuEventSynchronize(event));
	show_numbers("child and one more");
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(outer));
	CHECK(cuEventDestroy_v2(event));
}

static void launch(CUstream s, void **arguments)
{
	CHECK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, s, arguments, NULL));
}

/* Two streams: one forks off and joins again. */
static void show_capture(void)
{
	CUgraphExec exec;
	CUgraph graph;
	CUevent forked, joined;
	size_t n, edges;
	int status;

	CHECK(cuEventCreate(&forked, 0));
	CHECK(cuEventCreate(&joined, 0));
	CHECK(cuStreamBeginCapture_v2(stream, 0));
	CHECK(cuMemsetD32Async(memory, 1, NUMBERS, stream));
	CHECK(cuEventRecord(forked, stream));
	CHECK(cuStreamWaitEvent(other, forked, 0));
	CHECK(cuLaunchHostFunc(other, count_host, &one));
	launch(stream, add_one);
	CHECK(cuEventRecord(joined, other));
	CHECK(cuStreamWaitEvent(stream, joined, 0));
	launch(stream, add_two);
	CHECK(cuMemcpyDtoHAsync_v2(numbers, memory, 100, stream));
	CHECK(cuStreamIsCapturing(other, &status));
	printf("the other captures: %d\n", status);
	CHECK(cuStreamEndCapture(stream, &graph));
	CHECK(cuStreamIsCapturing(other, &status));
	printf("and now: %d\n", status);
	CHECK(cuGraphGetNodes(graph, NULL, &n));
	CHECK(cuGraphGetEdges(graph, NULL, NULL, &edges));
	printf("%zu nodes, %zu edges\n", n, edges);
	show_numbers("nothing ran");
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cuGraphLaunch(exec, stream));
	show_numbers("ran");
	printf("host calls: %d\n", host_calls);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));

	CHECK(cuStreamBeginCapture_v2(stream, 0));
	printf("synchronized: %d\n", cuStreamSynchronize(stream));
	printf("ended: %d\n", cuStreamEndCapture(stream, &graph));
	CHECK(cuStreamBeginCapture_v2(stream, 0));
	launch(stream, add_one);
	CHECK(cuEventRecord(forked, stream));
	CHECK(cuStreamWaitEvent(other, forked, 0));
	launch(other, add_one);
	printf("the other's end: %d\n", cuStreamEndCapture(other, &graph));
	CHECK(cuStreamBeginCapture_v2(stream, 0));
	launch(stream, add_one);
	CHECK(cuEventRecord(forked, stream));
	CHECK(cuStreamWaitEvent(other, forked, 0));
	launch(other, add_one);
	printf("not joined: %d\n", cuStreamEndCapture(stream, &graph));
	printf("null stream: %d\n", cuStreamBeginCapture_v2(NULL, 0));
}

/* Launches --------------------------------------------------------------------------- */

static void show_extra(void)
{
	struct {
		CUdeviceptr memory;
		int count, value;
	} arguments = {memory, NUMBERS, 7};
	size_t bytes = sizeof arguments;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE,
			 &bytes, CU_LAUNCH_PARAM_END};

	CHECK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
	show_numbers("by a buffer");
	bytes = 8;
	printf("too short: %d\n", cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*show)(void);
	} scenes[] = {
		{"graph", show_graph},
		{"child", show_child},
		{"capture", show_capture},
		{"extra", show_extra},
	};

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (argc < 3)
		return 2;
	module_file = argv[1];
	start();
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (!strcmp(scenes[i].name, argv[2])) {
			scenes[i].show();
			return 0;
		}
	return 2;
}
