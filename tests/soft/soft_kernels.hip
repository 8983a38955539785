/* SPDX-License-Identifier: MIT */
/* Kernels for programs that load code objects. They have C names, which the tests use. */
#include <hip/hip_runtime.h>

extern "C" {

__global__ void nothing()
{
}

__global__ void store_index(int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = i + 1;
}

__global__ void count(int *out)
{
	atomicAdd(out, 1);
}

/* Wait until the host, or another kernel, stores to the flag. */
__global__ void wait_for(volatile int *flag)
{
	while (!*flag)
		;
}

__global__ void set_flag(volatile int *flag)
{
	*flag = 1;
	__threadfence_system();
}

__global__ void touch_nothing(int *out)
{
	int *wild = (int *)0x123456789000;
	*wild = *out;
}

/* An instruction that no GPU has. */
__global__ void no_instruction(int *out)
{
	asm volatile(".long 0xbf9f0000");
	*out = 1;
}

__global__ void trap(int *out)
{
	if (!*out)
		__builtin_trap();
}
}
