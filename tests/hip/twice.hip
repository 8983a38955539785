/* SPDX-License-Identifier: MIT */
// HIP activities next to torch, called through ctypes: hip_twice() doubles numbers on the device
// with a kernel.
#include <hip/hip_runtime.h>

__global__ void twice(float *x, int n)
{
	const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		x[i] += x[i];
}

extern "C" int hip_twice(float *numbers, int n, int times)
{
	const size_t bytes = (size_t)n * sizeof *numbers;
	float *x;

	if (hipMalloc((void **)&x, bytes) || hipMemcpy(x, numbers, bytes, hipMemcpyHostToDevice))
		return 1;
	for (int i = 0; i < times; i++)
		twice<<<(n + 63) / 64, 64>>>(x, n);
	return hipDeviceSynchronize() || hipMemcpy(numbers, x, bytes, hipMemcpyDeviceToHost) ||
	       hipFree(x);
}
