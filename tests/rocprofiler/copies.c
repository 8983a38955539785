/* SPDX-License-Identifier: MIT */
/* Copies 64 KiB to a GPU and back: eight times, or as often as the argument says. */
#include <hip/hip_runtime_api.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char *host = calloc(1, 65536);
	void *device;

	if (hipMalloc(&device, 65536) != hipSuccess)
		return 1;
	for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 4; i < n; i++)
		if (hipMemcpyAsync(device, host, 65536, hipMemcpyHostToDevice, NULL) !=
			    hipSuccess ||
		    hipMemcpyAsync(host, device, 65536, hipMemcpyDeviceToHost, NULL) != hipSuccess)
			return 1;
	return hipDeviceSynchronize() != hipSuccess || hipFree(device) != hipSuccess;
}
