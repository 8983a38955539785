/* SPDX-License-Identifier: MIT */
/* libdrm's structure with the GPU clock rate, which ROCr reads. */
#ifndef SOFT_AMDGPU_DRM_H
#define SOFT_AMDGPU_DRM_H

#include <stdint.h>

struct soft_drm_gpu_info { /* the members that ROCr reads; more follow */
	uint32_t ids[4];
	uint64_t clocks[3];
	uint32_t shape[8];
	uint32_t counter_khz; /* rate of the clock that stamps are taken from */
};

#endif
