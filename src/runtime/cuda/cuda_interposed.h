/* SPDX-License-Identifier: MIT */
/* Which library of CUDA's is interposed besides the driver (api/cuda.api says which that is):
 * CUPTI, by the function that has one user in a process. Included by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_CUDA_INTERPOSED_H
#define GPUTAP_RUNTIME_CUDA_INTERPOSED_H

/* As GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_CUDA(X) X(cupti, "cuptiSubscribe", NULL, NULL, gt_wants_unregistered, true)

#endif
