/* SPDX-License-Identifier: MIT */
/* CUDA_INJECTION64_PATH names a library that the driver opens at the start of the first cuInit(). A
 * tool's user can set this variable to libgputap.so.0 if preloading is not possible.
 *
 *   cuInit() ─► dlopen(libgputap.so.0)      its constructor finds tools, interposes libraries
 *          ─► InitializeInjection()         here: interpose libcuda.so.1 if not yet interposed
 *
 * From then on, the program's existing bindings and later lookups lead to taps (runtime/mapped.c).
 * NEEDSWORK: before calling cuInit(), each copy of libcudart stores the addresses of all driver
 * functions in private variables, so this method does not trace libcudart's calls. Such calls are
 * traced if libgputap.so.0 is preloaded or linked, and under gputap run. */
#include "runtime/tool_attach.h"
#include "tool/tool_load.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

/* Return 1, like NVIDIA's own libraries. */
int InitializeInjection(void)
{
	if (gt_tools_expected())
		gt_tool_attach_begin();
	return 1;
}
