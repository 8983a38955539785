/* SPDX-License-Identifier: MIT */
/* Counts the memory in use on a device: allocations on the device and its tiles, images, and
 * physical memory. */
#include "soft/level_zero/level_zero_parts.h"

bool soft_ze_budget_take(struct soft_ze_device *device, size_t bytes)
{
	struct soft_ze_device *whole = device && device->parent ? device->parent : device;
	uint64_t most = soft_ze_config.memory_bytes;

	if (!whole)
		return true;
	if (bytes > most ||
	    __atomic_add_fetch(&whole->used_bytes, bytes, __ATOMIC_RELAXED) > most) {
		if (bytes <= most)
			__atomic_sub_fetch(&whole->used_bytes, bytes, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

void soft_ze_budget_give(struct soft_ze_device *device, size_t bytes)
{
	struct soft_ze_device *whole = device && device->parent ? device->parent : device;

	if (whole)
		__atomic_sub_fetch(&whole->used_bytes, bytes, __ATOMIC_RELAXED);
}
