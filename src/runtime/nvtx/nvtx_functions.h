/* SPDX-License-Identifier: MIT */
/* gputap's functions, in the order of NVTX's tables. If an entry is NULL, the program's function
 * stays in place. */
#ifndef GPUTAP_NVTX_FUNCTIONS_H
#define GPUTAP_NVTX_FUNCTIONS_H

#include <stddef.h>

#include "runtime/nvtx/nvtx_abi.h"

enum { GT_NVTX_MODULES = NVTX_SYNC + 1 };

struct gt_nvtx_functions {
	const nvtx_function *list;
	size_t count;
};

/* indexed by enum nvtx_module */
extern const struct gt_nvtx_functions gt_nvtx_modules[GT_NVTX_MODULES];
extern const struct gt_nvtx_functions gt_nvtx_payload_slots;

#endif
