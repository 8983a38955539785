/* SPDX-License-Identifier: MIT */
/* A small accelerator for the tests of PTI's callback API: gpu_level_zero.c or gpu_opencl.c. */
#ifndef GPUTAP_TESTS_PTI_GPU_H
#define GPUTAP_TESTS_PTI_GPU_H

#include <stdbool.h>

enum { GPU_OPERATIONS = 4 }; /* of a round: fill, copy, kernel, barrier */

/* @how: of Level Zero: "immediate", "regular" */
void gpu_open(const char *how);
void gpu_close(void);
/* A queue of the calling thread's: @rounds, waited for at the end. */
void gpu_run(int rounds);
/* One kernel is created and destroyed. */
void gpu_make_kernel(void);
/* A call that does nothing else. */
void gpu_call(void);
/* The program obtains a function that gputap does not know; false: there is none. */
bool gpu_get_unknown(const char *name);
/* A call with a handle that nobody has created; false: there is no such call. */
bool gpu_call_with_foreign_handle(void);
/* What calls are made in, and what gpu_run() launches. */
void *gpu_context(void);
void *gpu_kernel(void);
/* Ids of functions: that gpu_call() calls, that launches, that gpu_call_with_foreign_handle()
 * calls; their group. */
extern const unsigned gpu_call_id, gpu_launch_id, gpu_foreign_id, gpu_group;

#endif
