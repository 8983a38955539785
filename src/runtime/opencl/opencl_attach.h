/* SPDX-License-Identifier: MIT */
/* Shared between OpenCL's ways to attach and the rest of this folder. */
#ifndef GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H
#define GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct gt_table;

/**
 * gt_opencl_used() - record and keep the libraries of a device that was met
 * @object: made in a driver: its first word points to the driver's functions, which is how ICD
 *         loaders find them
 * Records the driver's library. Keeps both libraries mapped from now on: gputap holds events of
 * their queues and queries them from a separate thread, which would crash if a dlclose() unmapped
 * the library.
 */
void gt_opencl_used(const struct gt_table *table, const void *object);

/* Take an instance for the layer. Return false if interposition uses it. */
bool gt_opencl_attach_take(uint32_t instance);

/* Return true if the library with that function is interposed. */
bool gt_opencl_attach_armed(const void *function);

/* Return true if a loader uses gputap as a layer. */
bool gt_opencl_has_layer(void);

#endif
