/* SPDX-License-Identifier: MIT */
/* CUDA_INJECTION64_PATH: a library that the driver opens in the first cuInit(), before it has done
 * anything else. A tool's user names libgputap.so.0 there where nothing can be preloaded.
 *
 *   cuInit() ─► dlopen(libgputap.so.0)      its constructor finds tools and looks at what is mapped
 *          ─► InitializeInjection()         here: libcuda.so.1 is interposed, if it is not yet
 *
 * What the program has bound by then leads to taps from then on, and so does what it looks up later
 * (runtime/mapped.c).
 * NEEDSWORK: libcudart, and each copy of it, has all its functions' addresses before it calls
 * cuInit(), in variables of its own. Its calls are not seen in this way; they are where
 * libgputap.so.0 is preloaded or linked, and under gputap run. */
#include "runtime/tool_attach.h"
#include "tool/tool_load.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

/* Return: 1, as NVIDIA's own libraries do. */
int InitializeInjection(void)
{
	if (gt_tools_expected())
		gt_tool_attach_begin();
	return 1;
}
