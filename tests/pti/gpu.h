/* SPDX-License-Identifier: MIT */
/* A small accelerator for the tests of PTI's callback API: gpu_level_zero.c or gpu_opencl.c. */
#ifndef GPUTAP_TESTS_PTI_GPU_H
#define GPUTAP_TESTS_PTI_GPU_H

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
/* Id of the function that gpu_call() calls, and its group. */
extern const unsigned gpu_call_id, gpu_group, gpu_launch_id;

#endif
