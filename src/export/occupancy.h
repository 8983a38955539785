/* SPDX-License-Identifier: MIT */
/* How much of a CUDA device a kernel can fill, from what the device's and the kernel's rows say:
 * the numbers that torch.profiler gives beside a kernel. From compute capability 7.0 on. */
#ifndef GPUTAP_EXPORT_OCCUPANCY_H
#define GPUTAP_EXPORT_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

/* Of a device; 0: not known. */
struct gt_occupancy_device {
	uint32_t multiprocessors, warp_size, major;
	/* of a multiprocessor; reserved: shared memory that each block takes besides */
	uint32_t threads, blocks, registers, shared_bytes, reserved_bytes;
};

struct gt_occupancy_kernel {
	uint32_t registers; /* of a thread */
	uint32_t shared_bytes, block_threads;
	uint64_t blocks;
};

void gt_occupancy_device_read(struct gt_occupancy_device *d, const struct gt_object_info *device);

/* Blocks that a multiprocessor runs at once. Return: false: not known. */
bool gt_occupancy_blocks(const struct gt_occupancy_device *d, const struct gt_occupancy_kernel *k,
			 uint32_t *blocks);

/* Per cent of a multiprocessor's threads, rounded; blocks that the grid does not have count as
 * missing. Return: false: not known. */
bool gt_occupancy_percent(const struct gt_occupancy_device *d, const struct gt_occupancy_kernel *k,
			  uint32_t *percent);

#endif
