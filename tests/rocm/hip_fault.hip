/* SPDX-License-Identifier: MIT */
/* Fifty correct kernels, then one that stores to unmapped memory: the runtime ends the program. */
#include <hip/hip_runtime.h>

__global__ void fine(int)
{
}

__global__ void wild(int *at)
{
	*at = 1;
}

int main()
{
	for (int i = 0; i < 50; i++)
		fine<<<1, 64>>>(i);
	if (hipDeviceSynchronize() != hipSuccess)
		return 1;
	wild<<<1, 1>>>((int *)0x123456789000);
	return hipDeviceSynchronize() == hipSuccess;
}
