/* SPDX-License-Identifier: MIT */
/* Finds out if a thread's filters of system calls (seccomp) allow what the worker does, by running
 * them here. A filter may kill the process for a call that it does not know. */
#ifndef GPUTAP_COLLECTOR_INJECT_SECCOMP_H
#define GPUTAP_COLLECTOR_INJECT_SECCOMP_H

#include "collector/inject_target.h"

/* Find out if all threads are in the same mode, without stopping one: a new thread inherits the
 * filters of the thread that creates it, but gputap's library works in all threads. Return 0 or a
 * status. */
int gt_inject_check_modes(pid_t pid, struct gt_inject_why *why);
/* Check the filters of a thread that the caller has stopped. Return 0 or a status. */
int gt_inject_check_filters(pid_t pid, pid_t tid, struct gt_inject_why *why);

#endif
