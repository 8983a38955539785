/* SPDX-License-Identifier: MIT */
/* Scratch memory of queues (hsa_scratch.c). */
#ifndef GPUTAP_RUNTIME_HSA_SCRATCH_H
#define GPUTAP_RUNTIME_HSA_SCRATCH_H

#include "runtime/hsa/hsa_runtime.h"

/* Insert gputap's functions into the runtime's table for tools, which is new each time the runtime
 * starts. Makes no call into the runtime. */
void gt_hsa_scratch_attach(const struct gt_hsa_runtime *runtime);

#endif
