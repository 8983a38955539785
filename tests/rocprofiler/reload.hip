/* SPDX-License-Identifier: MIT */
/* reload MODULE [TIMES]: load, launch and unload it, three times. reload N: make that many calls
 * that do nothing. */
#include <hip/hip_runtime.h>
#include <stdlib.h>

extern "C" __global__ void again(void)
{
}

int main(int argc, char **argv)
{
	hipModule_t module;
	hipFunction_t function;
	int device;

	if (argc < 2)
		return 1;
	if (long n = atol(argv[1])) {
		while (n-- > 0)
			if (hipGetDevice(&device) != hipSuccess)
				return 1;
		return 0;
	}
	for (int i = 0, n = argc > 2 ? atoi(argv[2]) : 3; i < n; i++)
		if (hipModuleLoad(&module, argv[1]) ||
		    hipModuleGetFunction(&function, module, "again") ||
		    hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr,
					  nullptr) ||
		    hipDeviceSynchronize() || hipModuleUnload(module))
			return 1;
	return 0;
}
