/* SPDX-License-Identifier: MIT */
/* Declarations shared between OpenCL's interception methods and the rest of this folder. */
#ifndef GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H
#define GPUTAP_RUNTIME_OPENCL_OPENCL_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct gt_table;
struct _cl_platform_id;

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

/* Reserve an unused instance for a driver's table. Return false if the instance is in use. */
bool gt_opencl_attach_take_for_table(uint32_t instance);

/* Return true if the library that contains @function is interposed. */
bool gt_opencl_attach_armed(const void *function);

/* Return true if a loader uses gputap as a layer. */
bool gt_opencl_has_layer(void);

/* Keep the library that contains a function mapped. */
void gt_opencl_keep_mapped(const void *function);

/* Take over the tables of all mapped drivers. Called in a thread of gputap, when a session attaches
 * to a running program. */
void gt_opencl_tables_attach(void);
/* Give the tables the drivers' functions again.
 * @hides: keep the taps that hide queues' profiling from the program */
void gt_opencl_tables_detach(bool hides);

/* Take over the table of a platform, if gputap was attached to the running program and the table is
 * not known yet. The caller must hold no lock. */
void gt_opencl_tables_meet(struct _cl_platform_id *platform);

/* Return the instance of the driver that contains a function. GT_INSTANCES: not a driver whose
 * table was taken over. */
uint32_t gt_opencl_tables_instance(const void *function);

/* Return the driver's function in an object's table, without a tap, by function number. NULL:
 * the table was not taken over, or has no such function. */
void *gt_opencl_tables_function(const void *object, uint32_t number);

#endif
