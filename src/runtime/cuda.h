/* SPDX-License-Identifier: MIT */
/* What other folders ask of CUDA's objects: names that the program gives by NVTX. Without the
 * folder that knows there is no name. */
#ifndef GPUTAP_RUNTIME_CUDA_H
#define GPUTAP_RUNTIME_CUDA_H

#include <stdint.h>

#include "core/thread.h"
#include "util/provided.h"

/* The program has named an object. One that is not known yet has the name when it is. */
struct gt_cuda_names {
	void (*device)(struct gt_thread *t, int device, const char *name); /* CUdevice */
	/* CUcontext, CUstream, CUevent */
	void (*context)(struct gt_thread *t, uint64_t handle, const char *name);
	void (*stream)(struct gt_thread *t, uint64_t handle, const char *name);
	void (*event)(struct gt_thread *t, uint64_t handle, const char *name);
};
GT_INTERFACE(gt_cuda_names);

#endif
