/* SPDX-License-Identifier: MIT */
/* flushed flush|stop: 40 times, launch kernels, wait for them, then flush the client's buffer
 * (stop: after its context has been stopped). Prints how often kernels were missing. */
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>

extern "C" void flushed_start(void);
extern "C" void flushed_stop(void);
extern "C" unsigned flushed_count(void);

enum { ROUNDS = 40, KERNELS = 25 };

extern "C" __global__ void step(volatile unsigned *done)
{
	++*done;
}

int main(int argc, char **argv)
{
	bool stop = argc > 1 && !strcmp(argv[1], "stop");
	unsigned expected = 0, wrong = 0;
	volatile unsigned *done;

	if (hipHostMalloc((void **)&done, sizeof *done, 0) != hipSuccess)
		return 3;
	*done = 0;
	for (int round = 0; round < ROUNDS; round++) {
		flushed_start();
		for (int i = 0; i < KERNELS; i++)
			step<<<1, 1>>>((unsigned *)done);
		if (hipDeviceSynchronize() != hipSuccess)
			return 3;
		if (stop)
			flushed_stop();
		expected += KERNELS;
		wrong += flushed_count() != expected;
	}
	printf("wrong %u of %d, %u\n", wrong, ROUNDS, *done);
	return 0;
}
