/* SPDX-License-Identifier: MIT */
/* Short scheduler slices for threads that sleep nearly always, do little, and must run immediately
 * after waking. */
#ifndef GPUTAP_UTIL_SHORT_SLICE_H
#define GPUTAP_UTIL_SHORT_SLICE_H

#include <stdbool.h>

/**
 * gt_short_slice_take() - request short scheduler slices for the calling thread
 * On Linux 6.12 and later, a waking thread runs before other threads with longer slices. The thread
 * gets no more time and needs no privilege. Threads and processes that it starts get normal slices.
 * Older kernels ignore the request. A process with a system call filter (seccomp) is left
 * unchanged, because the filter may kill a process that makes this call.
 * Return: true on success.   Signal: safe; keeps errno.
 */
bool gt_short_slice_take(void);
/* Request short slices for another thread in any process of this user. */
bool gt_short_slice_give(int tid);

#endif
