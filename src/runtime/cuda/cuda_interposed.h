/* SPDX-License-Identifier: MIT */
/* Lists the CUDA library that is interposed in addition to the driver (api/cuda.api describes the
 * driver): CUPTI, identified by cuptiSubscribe(), which allows one user per process. Included by
 * runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_CUDA_INTERPOSED_H
#define GPUTAP_RUNTIME_CUDA_INTERPOSED_H

/* Has the form of GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_CUDA(X) X(cupti, "cuptiSubscribe", NULL, NULL, gt_wants_unregistered, true)

#endif
