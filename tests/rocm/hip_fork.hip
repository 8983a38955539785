/* SPDX-License-Identifier: MIT */
/* A fork's child launches 200 kernels, its parent 100, each with a separate runtime. */
#include <hip/hip_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void kernel(int)
{
}

int main()
{
	pid_t child = fork();
	int status = 0;

	for (int i = 0; i < (child ? 100 : 200); i++)
		kernel<<<1, 64>>>(i);
	if (hipDeviceSynchronize() != hipSuccess)
		return 1;
	if (child)
		waitpid(child, &status, 0);
	return status != 0;
}
