/* SPDX-License-Identifier: MIT */
/* What the program forbids itself by seccomp. */
#ifndef GPUTAP_CORE_SECCOMP_H
#define GPUTAP_CORE_SECCOMP_H

#include <stdatomic.h>
#include <stdbool.h>

/* Set for a process whose own filter, or that of a traced program that executed it, may kill for
 * prctl(). */
#define GT_FILTERED_ENV "GPUTAP_FILTERED"

/* Set once the program has installed any filter; recording_state.c. */
extern _Atomic bool gt_seccomp_filtered __attribute__((visibility("hidden")));

/* May a filter kill the process for a call of prctl()? */
static inline bool gt_seccomp_is_filtered(void)
{
	return atomic_load_explicit(&gt_seccomp_filtered, memory_order_relaxed);
}

/* Around system call @number, prctl() or seccomp(), with its first arguments, by the program:
 * @result is that of the call. */
void gt_seccomp_before(long number, unsigned long a, unsigned long b);
void gt_seccomp_after(long number, unsigned long a, unsigned long b, long result);

#endif
