/* SPDX-License-Identifier: MIT */
/* CUDA_INJECTION64_PATH: a library that the driver opens in the first cuInit(), before it has done
 * anything else. A tool's user can name libgputap.so.0 there if preloading is not possible.
 *
 *   cuInit() ─► dlopen(libgputap.so.0)      its constructor finds tools, interposes libraries
 *          ─► InitializeInjection()         here: libcuda.so.1 is interposed, if it is not yet
 *
 * The program's existing bindings lead to taps from then on, as do later lookups
 * (runtime/mapped.c).
 * NEEDSWORK: libcudart, and each copy of it, stores all its functions' addresses in private
 * variables before it calls cuInit(). Its calls are not seen with this method; they are seen if
 * libgputap.so.0 is preloaded or linked, and under gputap run. */
#include "runtime/tool_attach.h"
#include "tool/tool_load.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

/* Return 1, as NVIDIA's own libraries do. */
int InitializeInjection(void)
{
	if (gt_tools_expected())
		gt_tool_attach_begin();
	return 1;
}
