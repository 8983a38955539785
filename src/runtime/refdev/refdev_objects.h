/* SPDX-License-Identifier: MIT */
/* Numbers the reference accelerator's devices, streams and graphs, and writes each as an object
 * when an activity first refers to it. */
#ifndef GPUTAP_RUNTIME_REFDEV_OBJECTS_H
#define GPUTAP_RUNTIME_REFDEV_OBJECTS_H

#include "core/emit.h"
#include "core/tap.h"
#include "soft/refdev/refdev.h"

/* The runtime's own function, below all taps. */
#define GT_REFDEV_REAL(table, name) \
	((gt_refdev_##name##_fn *)(table)->taps[GT_REFDEV_INDEX_##name].real)

/* Return the numbers of the objects, or 0 if out of memory or if nothing is recorded. Thread:
 * any. */
uint64_t gt_refdev_device(const struct gt_table *table, struct gt_thread *t, int device);
uint64_t gt_refdev_stream(const struct gt_table *table, struct gt_thread *t,
			  const refdevActivity *a);
uint32_t gt_refdev_graph(const struct gt_table *table, struct gt_thread *t, uint64_t graph);

/* Read a device's clock if the last reading is old enough. */
void gt_refdev_read_clock(const struct gt_table *table, struct gt_thread *t, int device);

#endif
