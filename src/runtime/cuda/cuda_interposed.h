/* SPDX-License-Identifier: MIT */
/* Library of CUDA that is interposed in addition to the driver (see api/cuda.api for that one):
 * CUPTI, identified through its function that allows one user per process. Included by
 * runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_CUDA_INTERPOSED_H
#define GPUTAP_RUNTIME_CUDA_INTERPOSED_H

/* Same form as GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_CUDA(X) X(cupti, "cuptiSubscribe", NULL, NULL, gt_wants_unregistered, true)

#endif
