/* SPDX-License-Identifier: MIT */
/* Allocates memory on two HIP devices. Second device: 3 MiB, freed while the first device is
 * current, 64 KiB from its pool, and an array of 64 x 32 elements of 4 bytes. First device: 1 MiB.
 * Prints 1 if the array was allocated. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define DO(call)                                                                      \
	do {                                                                          \
		hipError_t status_ = (call);                                          \
		if (status_) {                                                        \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(status_)); \
			exit(3);                                                      \
		}                                                                     \
	} while (0)

int main(void)
{
	const hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
	void *first, *second, *pooled;
	hipArray *array;
	hipStream_t stream;
	int there;

	DO(hipSetDevice(1));
	DO(hipMalloc(&second, 3 << 20));
	DO(hipStreamCreate(&stream));
	DO(hipMallocAsync(&pooled, 64 << 10, stream));
	there = !hipMallocArray(&array, &format, 64, 32, hipArrayDefault);
	DO(hipStreamSynchronize(stream));
	DO(hipSetDevice(0));
	DO(hipMalloc(&first, 1 << 20));
	DO(hipFree(second));
	printf("%d\n", there);
	return 0;
}
