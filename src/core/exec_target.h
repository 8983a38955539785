/* SPDX-License-Identifier: MIT */
/* Checks whether a program that is about to be executed can be traced. */
#ifndef GPUTAP_CORE_EXEC_TARGET_H
#define GPUTAP_CORE_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/* Open the file safely, of any type: without waiting for a pipe's writer or acquiring a terminal.
 * @fd: folder for a relative @path. */
int gt_exec_open(int fd, const char *path);

/**
 * gt_exec_obstacle() - say why the dynamic linker will not load our library into the program in @fd
 * Return: half a sentence; NULL: no obstacle, or the file cannot be read (then exec fails or
 * reports it). Makes system calls only: it may run in the child of a vfork.
 */
const char *gt_exec_obstacle(int fd);

/* Return the errno for the event if the program's calls are missing from the capture. 0: none are
 * missing; a statically linked program uses no runtime. */
int gt_exec_loss(const char *obstacle);

/* Return true if the program's dynamic linker cannot load our libraries. One of another machine or
 * word size prints on stderr that it ignores them, musl's terminates the program. */
bool gt_exec_complains(const char *obstacle);

/**
 * gt_exec_is_readable() - check that a NULL-terminated list of texts can be read, to the end of
 * each text
 * If it contains an invalid pointer, the caller leaves it to the kernel, which refuses it with
 * EFAULT. Makes one system call for each page touched.
 */
bool gt_exec_is_readable(char *const *list);

#endif
