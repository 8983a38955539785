/* SPDX-License-Identifier: MIT */
/* Allocates memory on two reference accelerators. Second device: 3 MiB, freed while the first
 * device is current. First device: 1 MiB, and 2 MiB through the driver API. Also 4 KiB of host
 * memory. */
#include <stdio.h>
#include <stdlib.h>

#include <soft/refdev/refdev.h>

#define DO(call)                                                                           \
	do {                                                                               \
		refdevError_t status_ = (call);                                            \
		if (status_) {                                                             \
			fprintf(stderr, "%s: %s\n", #call, refdevGetErrorString(status_)); \
			exit(3);                                                           \
		}                                                                          \
	} while (0)

int main(void)
{
	void *first, *second, *driver, *host;

	DO(refdevMalloc(&first, 1 << 20));
	DO(refdevSetDevice(1));
	DO(refdevMalloc(&second, 3 << 20));
	DO(refdevDrvMemAlloc(&driver, 2 << 20, 0));
	DO(refdevMallocHost(&host, 4096));
	DO(refdevSetDevice(0));
	DO(refdevFree(second));
	return 0;
}
