/* SPDX-License-Identifier: MIT */
/* For all samples: if a call fails, end the program with the name of the call. */
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MUST(call)                                                                     \
	do {                                                                           \
		hipError_t error_ = (call);                                            \
		if (error_ != hipSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_)); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

template <class T> T *device_memory(size_t count)
{
	void *p;

	MUST(hipMalloc(&p, count * sizeof(T)));
	return (T *)p;
}
