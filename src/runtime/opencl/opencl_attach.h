/* SPDX-License-Identifier: MIT */
/* Declarations shared between OpenCL's interception methods and the rest of this folder. */
#ifndef GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H
#define GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct gt_table;

/**
 * gt_opencl_used() - record the libraries that provide a device, and keep them mapped
 * @object: object of a driver: its first word points to the driver's functions, where ICD loaders
 *          look them up
 * Records the driver's library. Keeps the loader and the driver mapped, because gputap holds events
 * of their queues and queries them from a separate thread, which would crash if a dlclose()
 * unmapped a library.
 */
void gt_opencl_used(const struct gt_table *table, const void *object);

/* Reserve an instance for the layer. Return false if interposition uses the instance. */
bool gt_opencl_attach_take(uint32_t instance);

/* Return true if the library that contains @function is interposed. */
bool gt_opencl_attach_armed(const void *function);

/* Return true if a loader uses gputap as a layer. */
bool gt_opencl_has_layer(void);

#endif
