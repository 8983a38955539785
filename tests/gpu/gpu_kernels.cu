// SPDX-License-Identifier: MIT
// Kernels of the checks on a GPU; gpu_soft_kernels.c replaces them on the software driver.

extern "C" __global__ void tiny(int *p)
{
	if (p && threadIdx.x == 4096)
		*p = 1;
}

extern "C" __global__ void second(int *p)
{
	if (p && threadIdx.x == 4096)
		*p = 2;
}

// Run for that many nanoseconds of the device's timer.
extern "C" __global__ void spin(long long ns)
{
	long long begin, now;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

extern "C" __global__ void fault(int *p)
{
	*p = 1;
}
