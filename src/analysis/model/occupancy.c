/* SPDX-License-Identifier: MIT */
/* See occupancy.h. Implements the rules of NVIDIA's programming guide: a block occupies whole
 * warps; registers are allocated per warp from one of four parts of the multiprocessor; shared
 * memory is allocated in steps. */
#include "analysis/model/occupancy.h"

#include <stdlib.h>

enum {
	MAJOR_LEAST = 7,
	PARTS = 4,             /* parts of a multiprocessor's register file */
	REGISTERS_STEP = 256,  /* per warp */
	SHARED_STEP = 128,     /* from compute capability 8.0 on */
	SHARED_STEP_OLD = 256, /* before 8.0 */
	REGISTERS_MAX = 255,   /* per thread */
};

static uint32_t number(const struct gt_object_info *device, const char *key)
{
	const char *text = gt_object_value(device, key);

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

void gt_occupancy_device_read(struct gt_occupancy_device *d, const struct gt_object_info *device)
{
	*d = (struct gt_occupancy_device){
		.multiprocessors = number(device, "numSms"),
		.warp_size = number(device, "warpSize"),
		.major = number(device, "computeMajor"),
		.threads = number(device, "maxThreadsPerMultiprocessor"),
		.blocks = number(device, "maxBlocksPerMultiprocessor"),
		.registers = number(device, "regsPerMultiprocessor"),
		.shared_bytes = number(device, "sharedMemPerMultiprocessor"),
		.reserved_bytes = number(device, "reservedSharedMemPerBlock"),
	};
}

static uint32_t round_up(uint32_t n, uint32_t step)
{
	return (n + step - 1) / step * step;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t blocks_by_registers(const struct gt_occupancy_device *d,
				    const struct gt_occupancy_kernel *k, uint32_t warps)
{
	uint32_t of_warp = round_up(k->registers * d->warp_size, REGISTERS_STEP);

	return d->registers / PARTS / of_warp * PARTS / warps;
}

bool gt_occupancy_blocks(const struct gt_occupancy_device *d, const struct gt_occupancy_kernel *k,
			 uint32_t *blocks)
{
	uint32_t warps, shared;

	if (d->major < MAJOR_LEAST || !d->warp_size || !d->threads || !d->blocks || !d->registers ||
	    !d->shared_bytes || !k->registers || k->registers > REGISTERS_MAX ||
	    !k->block_threads || k->block_threads > d->threads)
		return false;
	warps = round_up(k->block_threads, d->warp_size) / d->warp_size;
	*blocks = least(d->blocks, d->threads / d->warp_size / warps);
	*blocks = least(*blocks, blocks_by_registers(d, k, warps));
	shared = round_up(k->shared_bytes + d->reserved_bytes,
			  d->major > MAJOR_LEAST ? SHARED_STEP : SHARED_STEP_OLD);
	if (shared)
		*blocks = least(*blocks, d->shared_bytes / shared);
	return true;
}

bool gt_occupancy_percent(const struct gt_occupancy_device *d, const struct gt_occupancy_kernel *k,
			  uint32_t *percent)
{
	double at_once;
	uint32_t blocks;

	if (!d->multiprocessors || !gt_occupancy_blocks(d, k, &blocks))
		return false;
	at_once = (double)k->blocks / d->multiprocessors;
	if (at_once > blocks)
		at_once = blocks;
	*percent = (uint32_t)(0.5 + 100 * at_once * k->block_threads / d->threads);
	return true;
}
