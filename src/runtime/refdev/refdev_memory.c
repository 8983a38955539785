/* SPDX-License-Identifier: MIT */
/* Finds the device that holds a call's allocation. */
#include "generated/refdev_taps.h"
#include "generated/refdev_wraps.h"
#include "runtime/refdev/refdev_objects.h"

void gt_refdev_ask(struct gt_thread *t, const struct gt_table *table, unsigned index,
		   const uint64_t *values, struct gt_facts *facts)
{
	int device = (int)values[0];

	if (!gt_tap_options.follow_devices)
		return;
	if (index == GT_REFDEV_INDEX_refdevMalloc &&
	    (!GT_REFDEV_REAL(table, refdevGetDevice) ||
	     GT_REFDEV_REAL(table, refdevGetDevice)(&device)))
		return;
	facts->device = (uint32_t)gt_refdev_device(table, t, device);
}
