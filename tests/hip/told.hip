/* SPDX-License-Identifier: MIT */
/* Uses HIP, and then does what the lines of standard input say. Knows nothing of gputap.
 *   NUMBER  launches this number of kernels on a stream that exists since the start, waits for
 *           them, and prints "done"
 * Prints "ready" first. */
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

extern "C" __global__ void told(int)
{
}

#define MUST(call)                                                         \
	do {                                                               \
		hipError_t e_ = call;                                      \
		if (e_ != hipSuccess) {                                    \
			fprintf(stderr, "told: %s: %d\n", #call, (int)e_); \
			exit(3);                                           \
		}                                                          \
	} while (0)

int main()
{
	hipStream_t stream;
	char line[64];

	MUST(hipStreamCreate(&stream));
	hipLaunchKernelGGL(told, 1, 1, 0, stream, 0);
	MUST(hipStreamSynchronize(stream));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		for (int i = atoi(line); i > 0; i--)
			hipLaunchKernelGGL(told, 1, 1, 0, stream, i);
		MUST(hipStreamSynchronize(stream));
		puts("done");
		fflush(stdout);
	}
	return 0;
}
