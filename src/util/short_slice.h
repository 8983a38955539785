/* SPDX-License-Identifier: MIT */
/* Short scheduler slices for threads that nearly always sleep, do little, and must run at once when
 * woken. */
#ifndef GPUTAP_UTIL_SHORT_SLICE_H
#define GPUTAP_UTIL_SHORT_SLICE_H

#include <stdbool.h>

/**
 * gt_short_slice_take() - request short scheduler slices for the calling thread
 * Linux 6.12 and later run a thread that wakes up before others whose slices are longer. The
 * thread gets no more time and needs no privilege. Threads and processes that it starts get usual
 * slices. Older kernels ignore the request. A process that filters system calls (seccomp) is left
 * as it is: the filter may kill a process that makes this call.
 * Return: true if taken.   Signal: safe; keeps errno.
 */
bool gt_short_slice_take(void);
/* Do the same for another thread, of any process of this user. */
bool gt_short_slice_give(int tid);

#endif
