/* SPDX-License-Identifier: MIT */
/* Checks whether a program that is about to be executed can be traced. */
#ifndef GPUTAP_CORE_EXEC_TARGET_H
#define GPUTAP_CORE_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/* Open a file of any type without waiting for a pipe's writer and without acquiring a terminal.
 * @fd: folder for a relative @path. */
int gt_exec_open(int fd, const char *path);

/**
 * gt_exec_obstacle() - return why the dynamic linker will not load gputap's library into the
 * program in @fd
 * Return: a clause; NULL: no obstacle, or the file cannot be read, so that exec fails or reports
 *         the obstacle.
 * Makes system calls only, so that the child of a vfork may call it.
 */
const char *gt_exec_obstacle(int fd);

/* Return the errno for the event if the program's calls will be missing from the capture. 0: no
 * calls will be missing. A statically linked program uses no runtime. */
int gt_exec_loss(const char *obstacle);

/* Return true if the program's dynamic linker cannot load gputap's libraries. A linker for another
 * machine or word size prints on stderr that it ignores the libraries; musl's linker terminates the
 * program. */
bool gt_exec_complains(const char *obstacle);

/**
 * gt_exec_is_readable() - return true if a NULL-terminated list of texts can be read, to the end of
 * each text
 * If the list contains an invalid pointer, the caller passes the list to the kernel, which refuses
 * it with EFAULT. Makes one system call for each page touched.
 */
bool gt_exec_is_readable(char *const *list);

#endif
