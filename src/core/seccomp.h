/* SPDX-License-Identifier: MIT */
/* Tracks restrictions that the program sets for itself with seccomp. */
#ifndef GPUTAP_CORE_SECCOMP_H
#define GPUTAP_CORE_SECCOMP_H

#include <stdatomic.h>
#include <stdbool.h>

/* Set for a process that a seccomp filter may kill for calling prctl(). The filter is the process's
 * own, or was inherited from a traced program that executed the process. */
#define GT_FILTERED_ENV "GPUTAP_FILTERED"

/* True once the program has installed a filter. Defined in recording_state.c. */
extern _Atomic bool gt_seccomp_filtered __attribute__((visibility("hidden")));

/* Return true if a filter may kill the process for calling prctl(). */
static inline bool gt_seccomp_is_filtered(void)
{
	return atomic_load_explicit(&gt_seccomp_filtered, memory_order_relaxed);
}

/* Call before and after the program's system call @number, which is prctl() or seccomp(), with its
 * first arguments. @result: return value of the system call. */
void gt_seccomp_before(long number, unsigned long a, unsigned long b);
void gt_seccomp_after(long number, unsigned long a, unsigned long b, long result);

/* Call in a program that gputap attaches to, before gputap makes a call that the filters of the
 * calling thread may not know. */
void gt_seccomp_attach(void);

#endif
