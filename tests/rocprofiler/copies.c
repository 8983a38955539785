/* SPDX-License-Identifier: MIT */
/* Eight copies of 64 KiB to a GPU and back. */
#include <hip/hip_runtime_api.h>
#include <stdlib.h>

int main(void)
{
	char *host = calloc(1, 65536);
	void *device;

	if (hipMalloc(&device, 65536) != hipSuccess)
		return 1;
	for (int i = 0; i < 4; i++)
		if (hipMemcpyAsync(device, host, 65536, hipMemcpyHostToDevice, NULL) != hipSuccess ||
		    hipMemcpyAsync(host, device, 65536, hipMemcpyDeviceToHost, NULL) != hipSuccess)
			return 1;
	return hipDeviceSynchronize() != hipSuccess || hipFree(device) != hipSuccess;
}
