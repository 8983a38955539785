/* SPDX-License-Identifier: MIT */
/* Launch kernels in every possible way, and check the results. tests/test_hip_calls.py compiles
 * this twice: as a program, and (--genco) as the module that it loads: launches MODULE. Prints the
 * names of its HIP calls, in order. */
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

enum { N = 1024, BLOCK = 64 };

extern "C" __global__ void add(int *data, int value)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

#define CALL(f, ...) (puts(#f), f(__VA_ARGS__))
#define CHECK(call)                                                 \
	do {                                                        \
		hipError_t e = call;                                \
		if (e) {                                            \
			fprintf(stderr, "%s: %d\n", #call, (int)e); \
			exit(3);                                    \
		}                                                   \
	} while (0)

/* Print the calls that a compiler makes of <<<>>>. */
static void tell_launch()
{
	puts("__hipPushCallConfiguration\n__hipPopCallConfiguration\nhipLaunchKernel");
}

static void from_module(const char *path, int *data, hipStream_t stream)
{
	hipModule_t module;
	hipFunction_t f;
	int value = 100;
	void *args[] = {&data, &value};

	CHECK(CALL(hipModuleLoad, &module, path));
	if (CALL(hipModuleGetFunction, &f, module, "sub") != hipErrorNotFound)
		exit(6);
	CHECK(CALL(hipModuleGetFunction, &f, module, "add"));
	CHECK(CALL(hipModuleLaunchKernel, f, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, args,
		   nullptr));
	CHECK(CALL(hipExtModuleLaunchKernel, f, N, 1, 1, BLOCK, 1, 1, 0, stream, args, nullptr,
		   nullptr, nullptr, 0));
	CHECK(CALL(hipStreamSynchronize, stream));
	CHECK(CALL(hipModuleUnload, module));
}

static void from_graph(int *data, hipStream_t stream)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	CHECK(CALL(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal));
	tell_launch();
	add<<<N / BLOCK, BLOCK, 0, stream>>>(data, 1000);
	tell_launch();
	add<<<N / BLOCK, BLOCK, 0, stream>>>(data, 2000);
	CHECK(CALL(hipStreamEndCapture, stream, &graph));
	CHECK(CALL(hipGraphInstantiate, &exec, graph, nullptr, nullptr, 0));
	CHECK(CALL(hipGraphLaunch, exec, stream));
	CHECK(CALL(hipGraphLaunch, exec, stream));
	CHECK(CALL(hipStreamSynchronize, stream));
	CHECK(CALL(hipGraphExecDestroy, exec));
	CHECK(CALL(hipGraphDestroy, graph));
}

int main(int argc, char **argv)
{
	static int host[N];
	int *data, value = 10;
	hipStream_t stream;
	void *args[] = {&data, &value};

	CHECK(CALL(hipMalloc, (void **)&data, sizeof host));
	CHECK(CALL(hipStreamCreate, &stream));
	CHECK(CALL(hipMemsetAsync, data, 0, sizeof host, stream));
	tell_launch();
	add<<<N / BLOCK, BLOCK, 0, stream>>>(data, 1);
	CHECK(CALL(hipLaunchKernel, (const void *)add, dim3(N / BLOCK), dim3(BLOCK), args, 0,
		   stream));
	CHECK(CALL(hipExtLaunchKernel, (const void *)add, dim3(N / BLOCK), dim3(BLOCK), args, 0,
		   stream, nullptr, nullptr, 0));
	if (argc > 1)
		from_module(argv[1], data, stream);
	from_graph(data, stream);
	CHECK(CALL(hipMemcpy, host, data, sizeof host, hipMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		if (host[i] != 1 + 10 + 10 + 2 * 100 * (argc > 1) + 2 * 3000) {
			fprintf(stderr, "element %d is %d\n", i, host[i]);
			return 4;
		}
	if (CALL(hipFree, host) == hipSuccess) // memory that HIP did not allocate
		return 5;
	CHECK(CALL(hipStreamDestroy, stream));
	CHECK(CALL(hipFree, data));
	fflush(stdout);
	return 0;
}
