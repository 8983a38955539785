/* SPDX-License-Identifier: MIT */
/* Reads the call stacks of threads on request (`gputap status --stacks`, `gputap snapshot
 * --stacks`).
 *
 * A separate thread reads them while the caller waits. If it ends while one of its threads has not
 * stopped yet, the kernel detaches that thread, so that it does not stay stopped. */
#ifndef GPUTAP_COLLECTOR_THREAD_STACKS_H
#define GPUTAP_COLLECTOR_THREAD_STACKS_H

#include <stdio.h>

#include "collector/process.h"
#include "collector/sample_stacks.h"

/**
 * gt_thread_stack_fn - receives the result for one thread
 * @index: of the thread in the list
 * @error: 0, or why there is no stack: EPERM the kernel does not permit it, ESRCH the thread has
 *         ended, ETIMEDOUT it did not stop in time, EAGAIN it ran during each attempt, EXDEV
 *         another pid namespace, ENOMEM
 * @stack: NULL if there is an error; valid during the call, as @stacks and @memory
 */
typedef void gt_thread_stack_fn(void *data, size_t index, int error,
				struct gt_sample_stacks *stacks, struct gt_remote_memory *memory,
				const struct gt_sample_stack *stack);

/**
 * gt_thread_stacks_read() - read the stacks of threads of a process
 * @until_ns: CLOCK_MONOTONIC; threads that are not read by then get ETIMEDOUT
 * @skipped: numbers of stacks that @each must not write, because they are in use. Increased by the
 *           numbers that it has used. NULL: @each writes no stacks
 * @each: called for all threads, in the order of the list, while the caller waits
 */
void gt_thread_stacks_read(const struct gt_process *process, const uint32_t *tids, size_t count,
			   uint64_t until_ns, uint32_t *skipped, gt_thread_stack_fn *each,
			   void *data);

/* Print a stack as lines for the control socket, innermost frame first:
 *   frame=N module=PATH build=ID address=(in the file)
 *   frame=N address=(in memory, in no file)
 *   frame=N python=NAME file=PATH line=N entry=yes|no
 * Python frames follow the native frames. */
void gt_thread_stack_put(struct gt_sample_stacks *stacks, struct gt_remote_memory *memory,
			 const struct gt_sample_stack *stack, FILE *out);

#endif
