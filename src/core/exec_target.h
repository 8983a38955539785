/* SPDX-License-Identifier: MIT */
/* Can a program that is about to be executed be traced? */
#ifndef GPUTAP_CORE_EXEC_TARGET_H
#define GPUTAP_CORE_EXEC_TARGET_H

#include <stddef.h>

/**
 * gt_exec_obstacle() - why the dynamic linker will not let us into a program
 * @path:  the file; NULL: @fd is
 * @fd:    open descriptor, or directory for a relative @path (AT_FDCWD)
 * Return: half a sentence; NULL: nothing speaks against it, or the file cannot be looked at (then exec fails or says so).
 * Only system calls: it may run in the child of a vfork.
 */
const char *gt_exec_obstacle(int fd, const char *path);

#endif
