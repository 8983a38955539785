/* SPDX-License-Identifier: MIT */
/* A HIP program that opens the given library ("-": none), copies to a device and back, and ends.
 * With a second argument it uses HIP before opening the library. */
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static char there[4096], back[4096];
	void *memory;

	if (argc > 2 && hipMalloc(&memory, sizeof there) != hipSuccess)
		return 4;
	if (argc > 1 && argv[1][0] != '-') {
		if (!dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
			return 1;
		fputs("opened\n", stderr);
	}
	if (hipMalloc(&memory, sizeof there) != hipSuccess ||
	    hipMemcpy(memory, there, sizeof there, hipMemcpyHostToDevice) != hipSuccess)
		return 2;
	return hipMemcpy(back, memory, sizeof back, hipMemcpyDeviceToHost) == hipSuccess ? 0 : 3;
}
