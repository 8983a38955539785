/* SPDX-License-Identifier: MIT */
/* Lets other folders name CUDA's objects, for names that the program assigns through NVTX. Without
 * the CUDA folder, objects have no names. */
#ifndef GPUTAP_RUNTIME_CUDA_H
#define GPUTAP_RUNTIME_CUDA_H

#include <stdint.h>

#include "core/thread.h"
#include "util/provided.h"

/* Called when the program names an object. A name for an unknown object is applied once the object
 * is known. */
struct gt_cuda_names {
	void (*device)(struct gt_thread *t, int device, const char *name); /* CUdevice */
	/* CUcontext, CUstream, CUevent */
	void (*context)(struct gt_thread *t, uint64_t handle, const char *name);
	void (*stream)(struct gt_thread *t, uint64_t handle, const char *name);
	void (*event)(struct gt_thread *t, uint64_t handle, const char *name);
};
GT_INTERFACE(gt_cuda_names);

#endif
