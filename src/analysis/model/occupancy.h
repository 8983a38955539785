/* SPDX-License-Identifier: MIT */
/* Computes how far a kernel can fill a CUDA device, from properties of the kernel and the device.
 * torch.profiler reports the same numbers. Supports compute capability 7.0 and later. */
#ifndef GPUTAP_ANALYSIS_MODEL_OCCUPANCY_H
#define GPUTAP_ANALYSIS_MODEL_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

/* Properties of a device; 0: not known. */
struct gt_occupancy_device {
	uint32_t multiprocessors, warp_size, major;
	/* per multiprocessor; reserved_bytes: additional shared memory per block */
	uint32_t threads, blocks, registers, shared_bytes, reserved_bytes;
};

struct gt_occupancy_kernel {
	uint32_t registers; /* per thread */
	uint32_t shared_bytes, block_threads;
	uint64_t blocks;
};

void gt_occupancy_device_read(struct gt_occupancy_device *d, const struct gt_object_info *device);

/* Compute how many blocks a multiprocessor runs concurrently. Return false if not known. */
bool gt_occupancy_blocks(const struct gt_occupancy_device *d, const struct gt_occupancy_kernel *k,
			 uint32_t *blocks);

/* Compute the percentage of a multiprocessor's threads that are used, rounded. If the grid has too
 * few blocks, the missing blocks count as unused. Return false if not known. */
bool gt_occupancy_percent(const struct gt_occupancy_device *d, const struct gt_occupancy_kernel *k,
			  uint32_t *percent);

#endif
