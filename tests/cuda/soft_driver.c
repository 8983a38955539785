/* SPDX-License-Identifier: MIT */
/* Programs for the driver API on the software driver. Each scene prints its results.
 *
 *   soft_driver MODULE SCENE */
#include <pthread.h>
#include <stdatomic.h>
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

/* memset to 5 -> add 1 -> add 2; memcpy of 10 bytes from the host */
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
	CUDA_KERNEL_NODE_PARAMS changed = kernel_node(add_two), known;
	CUgraphExecUpdateResultInfo result;
	CUgraphExec exec;
	size_t n = 10, roots, edges = 10;
	int type;

	CHECK(cuGraphGetNodes(graph, found, &n));
	CHECK(cuGraphGetRootNodes(graph, NULL, &roots));
	CHECK(cuGraphGetEdges(graph, found, to, &edges));
	CHECK(cuGraphNodeGetType(nodes[4], &type));
	printf("%zu nodes, %zu roots, %zu edges, the last one's type %d\n", n, roots, edges, type);
	n = roots = 10;
	CHECK(cuGraphNodeGetDependencies(nodes[4], found, &n));
	CHECK(cuGraphNodeGetDependentNodes(nodes[1], found, &roots));
	CHECK(cuGraphKernelNodeGetParams_v2(nodes[2], &known));
	printf("%zu before it, %zu behind the first kernel, a kernel adds %d in blocks of %u\n", n,
	       roots, *(int *)known.kernelParams[2], known.blockDimX);
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

/* Two streams: the second forks off the first and joins it again. */
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

static void show_barrier(void)
{
	void *arguments[] = {&memory};
	CUfunction sum;

	CHECK(cuModuleGetFunction(&sum, module, "sum_block"));
	CHECK(cuLaunchKernel(sum, 3, 1, 1, 64, 1, 1, 64 * sizeof(int), stream, arguments, NULL));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemcpyDtoH_v2(numbers, memory, 3 * sizeof(int)));
	printf("sums: %d %d %d\n", numbers[0], numbers[1], numbers[2]);
}

static void show_fault_behind_a_barrier(void)
{
	CUdeviceptr nowhere = 16;
	void *arguments[] = {&nowhere};
	CUfunction f;

	CHECK(cuModuleGetFunction(&f, module, "fault_block"));
	CHECK(cuLaunchKernel(f, 2, 1, 1, 8, 1, 1, 0, stream, arguments, NULL));
	printf("faulted: %d\n", cuStreamSynchronize(stream));
	printf("and stays so: %d\n", cuMemAlloc_v2(&memory, 16));
	CHECK(cuDevicePrimaryCtxReset_v2(0));
	printf("after the reset: %d\n", cuMemAlloc_v2(&memory, 16));
	CHECK(cuDevicePrimaryCtxRetain(&context, 0));
	CHECK(cuCtxSetCurrent(context));
	printf("a new one: %d\n", cuMemAlloc_v2(&memory, 16));
}

static void show_cooperative(void)
{
	CUlaunchConfig config = {4, 1, 1, 256, 1, 1, 0, stream, NULL, 0};

	CHECK(cuLaunchCooperativeKernel(add, 4, 1, 1, 256, 1, 1, 0, stream, add_one));
	printf("too many: %d\n",
	       cuLaunchCooperativeKernel(add, 1000, 1, 1, 256, 1, 1, 0, stream, add_one));
	CHECK(cuLaunchKernelEx(&config, add, add_two, NULL));
	show_numbers("both ran");
}

/* Kernels ---------------------------------------------------------------------------- */

static size_t get_shared(int block)
{
	return (size_t)block * 64;
}

static void show_library(void)
{
	CUlibrary library, of;
	CUkernel kernel;
	CUfunction function;
	CUmodule inner;
	CUdeviceptr variable;
	const char *name;
	size_t bytes, offset;
	int value, grid, block;

	CHECK(cuLibraryLoadFromFile(&library, module_file, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cuLibraryGetKernel(&kernel, library, "add_numbers"));
	printf("no kernel: %d\n", cuLibraryGetKernel(&function, library, "nothing"));
	CHECK(cuKernelGetFunction(&function, kernel));
	CHECK(cuKernelGetName(&name, kernel));
	CHECK(cuKernelGetLibrary(&of, kernel));
	CHECK(cuLibraryGetModule(&inner, library));
	CHECK(cuLibraryGetGlobal(&variable, &bytes, library, "launches_seen"));
	printf("%s of its library: %d, variable of %zu bytes\n", name, of == library, bytes);
	printf("its module is not ours to unload: %d\n", cuModuleUnload(inner));
	CHECK(cuFuncGetAttribute(&value, 0, function));
	printf("threads %d", value);
	CHECK(cuFuncSetAttribute(function, 8, 65536));
	CHECK(cuKernelGetAttribute(&value, 8, kernel, 0));
	printf(" shared %d", value);
	CHECK(cuFuncGetAttribute(&value, 4, function));
	printf(" registers %d\n", value);
	CHECK(cuFuncGetParamInfo(function, 2, &offset, &bytes));
	printf("parameter 2 at %zu, %zu bytes; a fourth: %d\n", offset, bytes,
	       cuFuncGetParamInfo(function, 3, &offset, &bytes));
	CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0));
	CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, get_shared, 0, 300));
	printf("blocks %d, best grid %d of %d\n", value, grid, block);
	add = (CUfunction)kernel;
	CHECK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, stream, add_one, NULL));
	show_numbers("ran");
	CHECK(cuLibraryUnload(library));
}

/* Memory ----------------------------------------------------------------------------- */

static unsigned long long get_figure(CUmemoryPool pool, int attribute)
{
	uint64_t value = 0;

	CHECK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static void show_pool(void)
{
	const CUmemPoolProps properties = {.allocType = 1, .location = {1, 0}};
	uint64_t threshold = 4096;
	CUmemoryPool pool, found;
	CUdeviceptr a, b;

	CHECK(cuMemPoolCreate(&pool, &properties));
	CHECK(cuMemPoolSetAttribute(pool, 4, &threshold));
	CHECK(cuMemAllocFromPoolAsync(&a, 4096, pool, stream));
	CHECK(cuMemAllocFromPoolAsync(&b, 8192, pool, stream));
	printf("used %llu reserved %llu\n", get_figure(pool, 7), get_figure(pool, 5));
	CHECK(cuPointerGetAttribute(&found, 17, b));
	printf("its pool: %d\n", found == pool);
	printf("not empty: %d\n", cuMemPoolDestroy(pool));
	CHECK(cuMemFreeAsync(a, stream));
	CHECK(cuMemFreeAsync(b, stream));
	printf("used %llu reserved %llu high %llu\n", get_figure(pool, 7), get_figure(pool, 5),
	       get_figure(pool, 8));
	CHECK(cuMemPoolTrimTo(pool, 0));
	printf("trimmed: %llu\n", get_figure(pool, 5));
	CHECK(cuDeviceSetMemPool(0, pool));
	CHECK(cuMemAllocAsync(&a, 100, stream));
	CHECK(cuDeviceGetDefaultMemPool(&found, 0));
	printf("used %llu, by default %llu\n", get_figure(pool, 7), get_figure(found, 7));
	CHECK(cuMemFreeAsync(a, stream));
	CHECK(cuMemPoolDestroy(pool));
	CHECK(cuDeviceGetMemPool(&pool, 0));
	printf("the default one again: %d\n", pool == found);
}

static void show_peers(void)
{
	CUcontext second;
	CUdeviceptr there;
	int can;

	CHECK(cuDeviceCanAccessPeer(&can, 0, 1));
	printf("can: %d\n", can);
	CHECK(cuCtxCreate_v2(&second, 0, 1));
	CHECK(cuMemAlloc_v2(&there, 4096));
	CHECK(cuMemsetD32_v2(there, 9, 1024));
	CHECK(cuCtxSetCurrent(context));
	printf("not yet: %d\n", cuCtxDisablePeerAccess(second));
	CHECK(cuCtxEnablePeerAccess(second, 0));
	printf("again: %d\n", cuCtxEnablePeerAccess(second, 0));
	CHECK(cuMemcpyPeerAsync(memory, context, there, second, 4000, stream));
	show_numbers("copied");
	CHECK(cuCtxDestroy_v2(second));
}

static void show_memory(void)
{
	static char pageable[64][64];
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = pageable,
			      .srcPitch = 64,
			      .srcXInBytes = 8,
			      .srcY = 1,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstDevice = memory,
			      .dstPitch = 32,
			      .WidthInBytes = 16,
			      .Height = 3};
	int attributes[] = {2, 8, 9}, type, is_managed, device;
	void *values[] = {&type, &is_managed, &device};
	CUdeviceptr managed;
	unsigned flags;
	size_t limit;

	for (int y = 0; y < 64; y++)
		for (int x = 0; x < 64; x++)
			pageable[y][x] = (char)(y * 10 + x);
	CHECK(cuMemcpy2D_v2(&copy));
	CHECK(cuMemcpyDtoH_v2(numbers, memory, 128));
	printf("rows begin with %d %d %d\n", ((char *)numbers)[0], ((char *)numbers)[32],
	       ((char *)numbers)[64]);
	CHECK(cuMemsetD32_v2(memory, 0, 32));
	CHECK(cuMemsetD2D16Async(memory, 32, 0x0101, 4, 2, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemcpyDtoH_v2(numbers, memory, 128));
	printf("set: %x %x %x %x\n", numbers[0], numbers[2], numbers[8], numbers[16]);
	CHECK(cuMemAllocManaged(&managed, 4096, 1));
	((int *)(uintptr_t)managed)[0] = 5;
	CHECK(cuMemPrefetchAsync(managed, 4096, 0, stream));
	CHECK(cuMemPrefetchAsync_v2(managed, 4096, (CUmemLocation){1, 0}, 0, stream));
	CHECK(cuMemAdvise(managed, 4096, 1, 0));
	printf("not managed: %d\n", cuMemPrefetchAsync(memory, 4, 0, stream));
	CHECK(cuPointerGetAttributes(3, attributes, values, managed));
	printf("type %d managed %d device %d\n", type, is_managed, device);
	CHECK(cuPointerGetAttributes(3, attributes, values, (uintptr_t)&type));
	printf("of nobody: type %d managed %d device %d\n", type, is_managed, device);
	CHECK(cuMemHostRegister_v2(pageable, sizeof pageable, 2));
	CHECK(cuMemHostGetFlags(&flags, &pageable[3]));
	printf("flags %u, twice: %d\n", flags, cuMemHostRegister_v2(pageable, 64, 0));
	CHECK(cuMemHostUnregister(pageable));
	printf("no longer: %d\n", cuMemHostUnregister(pageable));
	CHECK(cuCtxSetLimit(0, 2048));
	CHECK(cuCtxGetLimit(&limit, 0));
	printf("limit %zu\n", limit);
	CHECK(cuMemFree_v2(managed));
}

/* Threads ----------------------------------------------------------------------------- */

enum { STREAMS = 150 };

static _Atomic int is_over;

static void *synchronize_always(void *unused)
{
	CHECK(cuCtxSetCurrent(context));
	while (!is_over)
		CHECK(cuCtxSynchronize());
	return unused;
}

/* While another thread waits for all work in the context, create and destroy streams. */
static void show_streams(void)
{
	pthread_t waiter;

	pthread_create(&waiter, NULL, synchronize_always, NULL);
	for (int i = 0; i < STREAMS; i++) {
		CUstream one_more;

		CHECK(cuStreamCreate(&one_more, i % 2 ? CU_STREAM_NON_BLOCKING : 0));
		CHECK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, one_more, add_one, NULL));
		CHECK(cuStreamDestroy_v2(one_more));
	}
	is_over = 1;
	pthread_join(waiter, NULL);
	show_numbers("added");
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
		{"barrier", show_barrier},
		{"fault", show_fault_behind_a_barrier},
		{"cooperative", show_cooperative},
		{"library", show_library},
		{"pool", show_pool},
		{"peers", show_peers},
		{"memory", show_memory},
		{"streams", show_streams},
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
