/* SPDX-License-Identifier: MIT */
/* Kernels of the reference accelerator. */
#include <soft/refdev/refdev.h>

#include "control.h"

static refdevStream_t stream;
static refdevKernel_t kernels[KERNELS];

static void nothing(const refdevGroup *g, const void *arguments)
{
	(void)g;
	(void)arguments;
}

static void prepare(void)
{
	static const char *const called[KERNELS] = {"a", "b", "c", "d"};

	refdevStreamCreate(&stream);
	for (int i = 0; i < KERNELS; i++)
		refdevRegisterKernel(&kernels[i], called[i], nothing);
}

void run_kernel(char name, int count)
{
	refdevDim3 one = {1, 1, 1};

	if (!stream)
		prepare();
	for (int i = 0; i < count; i++)
		refdevLaunchKernel(kernels[name - 'a'], one, one, NULL, 0, stream);
	refdevStreamSynchronize(stream);
}
