/* SPDX-License-Identifier: MIT */
/* For threads that sleep nearly always, do little, and must do it at once when they are woken. */
#ifndef GPUTAP_UTIL_SHORT_SLICE_H
#define GPUTAP_UTIL_SHORT_SLICE_H

#include <stdbool.h>

/**
 * gt_short_slice_take() - the calling thread asks the scheduler for short slices
 * Linux 6.12 and later run a thread that wakes up before others whose slices are longer; it gets no
 * more time by that, and needs no privilege. What it starts gets usual slices. Older kernels take
 * no notice. A process that filters system calls (seccomp) is left as it is: the filter may kill
 * whoever makes this one.
 * Return: false: it was not taken.   Signal: safe; errno stays.
 */
bool gt_short_slice_take(void);
/* The same for another thread, of any process of this user. */
bool gt_short_slice_give(int tid);

#endif
