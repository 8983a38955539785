/* SPDX-License-Identifier: MIT */
/* Puts gputap's functions into a copy of NVTX. */
#ifndef GPUTAP_NVTX_INJECT_H
#define GPUTAP_NVTX_INJECT_H

#include <stdbool.h>

#include "runtime/nvtx/nvtx_abi.h"

/* Return false if nothing is recorded; the copy is then unchanged. */
bool gt_nvtx_inject(const struct nvtx_callbacks *copy);

#endif
