/* SPDX-License-Identifier: MIT */
/* naps N: runs N refdev kernels that last at least 2 ms, one after the other. */
#include <stdlib.h>
#include <time.h>

#include "soft/refdev/refdev.h"

static void nap(const refdevGroup *group, const void *arguments)
{
	const struct timespec t = {0, 2000000};

	(void)group, (void)arguments;
	nanosleep(&t, NULL);
}

static int launch(refdevKernel_t kernel, refdevStream_t stream)
{
	const refdevDim3 one = {1, 1, 1};

	return refdevLaunchKernel(kernel, one, one, NULL, 0, stream);
}

int main(int argc, char **argv)
{
	refdevStream_t stream;
	refdevKernel_t kernel;

	if (argc < 2 || refdevRegisterKernel(&kernel, "nap", nap) || refdevStreamCreate(&stream))
		return 2;
	for (int i = 0; i < atoi(argv[1]); i++)
		if (launch(kernel, stream))
			return 3;
	return refdevStreamSynchronize(stream);
}
