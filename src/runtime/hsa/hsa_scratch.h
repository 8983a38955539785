/* SPDX-License-Identifier: MIT */
/* Scratch memory of queues (hsa_scratch.c). */
#ifndef GPUTAP_RUNTIME_HSA_SCRATCH_H
#define GPUTAP_RUNTIME_HSA_SCRATCH_H

#include "runtime/hsa/hsa_runtime.h"

/* The runtime begins: our functions go into its table for tools, which is as new each time. No
 * call into the runtime. */
void gt_hsa_scratch_attach(const struct gt_hsa_runtime *runtime);

#endif
