/* SPDX-License-Identifier: MIT */
/* Records the names that a program gives to its threads and to CUDA objects through NVTX. */
#ifndef GPUTAP_NVTX_NAMES_H
#define GPUTAP_NVTX_NAMES_H

#include <stdint.h>

#include "runtime/nvtx/nvtx_abi.h"

void gt_nvtx_name_thread(uint32_t tid, const char *name);
void gt_nvtx_name_device(int device, const char *name);
void gt_nvtx_name_context(uint64_t handle, const char *name);
void gt_nvtx_name_stream(uint64_t handle, const char *name);
void gt_nvtx_name_event(uint64_t handle, const char *name);
/* Handle nvtxDomainResourceCreate(). Objects of the kinds above are named. All other objects have a
 * meaning only to the program. Return a nonzero handle. */
uint64_t gt_nvtx_name_resource(const struct nvtx_resource_attributes *a, const char *name);

#endif
