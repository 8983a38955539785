/* SPDX-License-Identifier: MIT */
/* A small accelerator for the tests of PTI's callback API: gpu_level_zero.c or gpu_opencl.c. */
#ifndef GPUTAP_TESTS_PTI_GPU_H
#define GPUTAP_TESTS_PTI_GPU_H

#include <stdbool.h>

enum { GPU_OPERATIONS = 4 }; /* operations in a round: fill, copy, kernel, barrier */

/* @how: for Level Zero, the kind of list: "immediate" or "regular" */
void gpu_open(const char *how);
void gpu_close(void);
/* Run @rounds on a queue of the calling thread, and wait at the end. */
void gpu_run(int rounds);
/* Create and destroy one kernel. */
void gpu_make_kernel(void);
/* Make a call without other effects. */
void gpu_call(void);
/* Look up a function that gputap does not know. Return false if there is no such function. */
bool gpu_get_unknown(const char *name);
/* Make a call with a handle that was never created. Return false if that is not possible. */
bool gpu_call_with_foreign_handle(void);
/* Return the context of the calls, and the kernel that gpu_run() launches. */
void *gpu_context(void);
void *gpu_kernel(void);
/* Ids of the function that gpu_call() calls, of the launching function, and of the function that
 * gpu_call_with_foreign_handle() calls; their group. */
extern const unsigned gpu_call_id, gpu_launch_id, gpu_foreign_id, gpu_group;

#endif
