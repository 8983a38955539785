/* SPDX-License-Identifier: MIT */
/* Kernels that bench/soft_isa.c interprets. All take (in, in2, out, n). */
#include <hip/hip_runtime.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = INDEX;
	if (i < n)
		c[i] = a[i] + b[i];
}

/* Arithmetic only: the throughput of the lane loops. */
__global__ void polynomial(const float *a, const float *b, float *c, int n)
{
	int i = INDEX;
	float x = a[i], y = b[i], r = 0;
	for (int k = 0; k < 200; k++)
		r = r * x + y;
	c[i] = r;
}

/* Integers, with a branch that half of the lanes take. */
__global__ void hash(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
	int i = INDEX;
	unsigned h = a[i];
	for (int k = 0; k < 50; k++) {
		h ^= h >> 16;
		h *= 0x7feb352du;
		if (h & 1)
			h += b[i] ^ k;
		h ^= h >> 15;
	}
	c[i] = h;
}

/* Sums of workgroups, through LDS. */
__global__ void reduce(const float *a, const float *, float *c, int)
{
	__shared__ float part[256];
	part[threadIdx.x] = a[INDEX];
	__syncthreads();
	for (int step = 128; step; step /= 2) {
		if (threadIdx.x < step)
			part[threadIdx.x] += part[threadIdx.x + step];
		__syncthreads();
	}
	if (!threadIdx.x)
		c[blockIdx.x] = part[0];
}

__global__ void matmul(const float *a, const float *b, float *c, int)
{
	const int width = 256;
	int i = INDEX, row = i / width, column = i % width;
	float sum = 0;
	for (int k = 0; k < width; k++)
		sum += a[row * width + k] * b[k * width + column];
	c[i] = sum;
}

__global__ void copy_words(const unsigned *a, const unsigned *, unsigned *c, int n)
{
	int i = INDEX;
	if (i < n)
		c[i] = a[i];
}

__global__ void copy_bytes(const unsigned char *a, const unsigned char *, unsigned char *c, int n)
{
	int i = INDEX;
	if (i < n)
		c[i] = a[i];
}

__global__ void copy_quads(const uint4 *a, const uint4 *, uint4 *c, int n)
{
	int i = INDEX;
	if (i < n)
		c[i] = a[i];
}
}
