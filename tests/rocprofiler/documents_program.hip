/* SPDX-License-Identifier: MIT */
/* The program that documents_client.cpp observes: documents_program MODULE, which is this file
 * compiled with --genco. It prints on stderr when it executes the module's kernel, so that this can
 * be placed among the tool's messages. */
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
#include <hsa/hsa.h>

enum { N = 384 };

extern "C" __global__ void twice(int *data)
{
	unsigned row = blockIdx.y * gridDim.x + blockIdx.x;

	data[row * blockDim.x + threadIdx.x] *= 2;
}

/* Not called: it gives the code object several symbols. */
extern "C" __global__ void nothing(int *)
{
}

static void check(hipError_t status, int line)
{
	if (status == hipSuccess)
		return;
	fprintf(stderr, "line %d: %s\n", line, hipGetErrorName(status));
	exit(1);
}
#define CHECK(call) check(call, __LINE__)

static void with_module(const char *path, int *data)
{
	hipModule_t module;
	hipFunction_t f;
	void *args[] = {&data};

	CHECK(hipModuleLoad(&module, path));
	CHECK(hipModuleGetFunction(&f, module, "twice"));
	CHECK(hipModuleLaunchKernel(f, 3, 2, 1, 64, 1, 1, 0, nullptr, args, nullptr));
	CHECK(hipDeviceSynchronize());
	fprintf(stderr, "executed\n");
	CHECK(hipModuleUnload(module));
}

int main(int argc, char **argv)
{
	static int host[N];
	int *data, device = -1, values = 0;
	hipStream_t stream;

	if (argc != 2)
		return 2;
	for (int i = 0; i < N; i++)
		host[i] = i;
	CHECK(hipSetDevice(0));
	CHECK(hipGetDevice(&device));
	CHECK(hipStreamCreate(&stream));
	CHECK(hipMalloc((void **)&data, sizeof host));
	CHECK(hipMemcpy(data, host, sizeof host, hipMemcpyHostToDevice));
	twice<<<dim3(3, 2), dim3(64), 0, stream>>>(data);
	CHECK(hipMemcpyAsync(host, data, sizeof host, hipMemcpyDeviceToHost, stream));
	CHECK(hipStreamSynchronize(stream));
	fprintf(stderr, "program: %p %p %p\n", (void *)host, (void *)data, (void *)stream);
	with_module(argv[1], data);
	with_module(argv[1], data);
	fprintf(stderr, "fails: %d\n", (int)hsa_queue_destroy(nullptr));
	for (int i = 0; i < N; i++)
		values += host[i] == 2 * i;
	CHECK(hipStreamDestroy(stream));
	CHECK(hipFree(data));
	return device != 0 || values != N;
}
