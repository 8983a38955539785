/* SPDX-License-Identifier: MIT */
/* What OpenCL's ways to attach share with the rest of the runtime's folder. */
#ifndef GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H
#define GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct gt_table;

/**
 * gt_opencl_used() - activity has met a device: what it needs of the libraries that made it
 * @object: made by a driver: its first word points to the driver's functions, that is how ICD
 * loaders find them Records the driver's library. Keeps both libraries mapped from now on: gputap
 * holds events of their queues and looks at them from a thread of its own, which a dlclose() of the
 * program's last user would pull the ground from under.
 */
void gt_opencl_used(const struct gt_table *table, const void *object);

/* The layer takes an instance. False: interposition has it. */
bool gt_opencl_attach_take(uint32_t instance);

/* Is the library with that function interposed? */
bool gt_opencl_attach_armed(const void *function);

/* Has a loader us for a layer? */
bool gt_opencl_has_layer(void);

#endif
