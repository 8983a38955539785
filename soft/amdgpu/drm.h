/* SPDX-License-Identifier: MIT */
/* libdrm's structure that ROCr reads the rate of a GPU's clock from. */
#ifndef SOFT_AMDGPU_DRM_H
#define SOFT_AMDGPU_DRM_H

#include <stdint.h>

struct soft_drm_gpu_info { /* up to what ROCr reads; more follows */
	uint32_t ids[4];
	uint64_t clocks[3];
	uint32_t shape[8];
	uint32_t counter_khz; /* of the clock that stamps are of */
};

#endif
