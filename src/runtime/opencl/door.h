/* SPDX-License-Identifier: MIT */
/* What OpenCL's doors share with the rest of the runtime's folder. */
#ifndef GPUTAP_RUNTIME_OPENCL_DOOR_H
#define GPUTAP_RUNTIME_OPENCL_DOOR_H

#include <stdbool.h>
#include <stdint.h>

/* A platform, device or other object that a driver made: record the driver's library, once per library.
 * Its first word points to the driver's functions: that is how ICD loaders find them. */
void gt_opencl_driver_seen(const void *object);

/* Record the library that holds @function. @door: "layer", "interposition", or "driver" for what is behind them. */
void gt_opencl_module_seen(const void *function, const char *door);
/* The same for one that must not be asked for now: the dynamic linker is busy with it. */
void gt_opencl_module_named(const char *path, uint64_t base, const char *door);

/* The layer door takes an instance. False: interposition has it. */
bool gt_opencl_door_take(uint32_t instance);

#endif
