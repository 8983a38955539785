/* SPDX-License-Identifier: MIT */
/* Restrictions that the program sets for itself with seccomp. */
#ifndef GPUTAP_CORE_SECCOMP_H
#define GPUTAP_CORE_SECCOMP_H

#include <stdatomic.h>
#include <stdbool.h>

/* Set for a process whose filter, or that of a traced program that executed it, may kill it for
 * calling prctl(). */
#define GT_FILTERED_ENV "GPUTAP_FILTERED"

/* Set once the program has installed any filter; recording_state.c. */
extern _Atomic bool gt_seccomp_filtered __attribute__((visibility("hidden")));

/* Return true if a filter may kill the process for calling prctl(). */
static inline bool gt_seccomp_is_filtered(void)
{
	return atomic_load_explicit(&gt_seccomp_filtered, memory_order_relaxed);
}

/* Call around system call @number, prctl() or seccomp(), of the program, with its first arguments:
 * @result is that of the call. */
void gt_seccomp_before(long number, unsigned long a, unsigned long b);
void gt_seccomp_after(long number, unsigned long a, unsigned long b, long result);

#endif
