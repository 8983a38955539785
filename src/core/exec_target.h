/* SPDX-License-Identifier: MIT */
/* Can a program that is about to be executed be traced? */
#ifndef GPUTAP_CORE_EXEC_TARGET_H
#define GPUTAP_CORE_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/* The file, whatever it leads to: no waiting for a pipe's writer, no terminal of our own. @fd:
 * folder for a relative @path. */
int gt_exec_open(int fd, const char *path);

/**
 * gt_exec_obstacle() - why the dynamic linker will not let us into the program in @fd
 * Return: half a sentence; NULL: nothing speaks against it, or the file cannot be looked at (then
 * exec fails or says so). Only system calls: it may run in the child of a vfork.
 */
const char *gt_exec_obstacle(int fd);

/* What such a program does is missing from the capture: an errno, the event's value. 0: not so;
 * one that is statically linked uses no runtime. */
int gt_exec_loss(const char *obstacle);

/* The program's dynamic linker takes no libraries of ours. That of another machine or word size
 * reports on stderr that it ignores them, musl's ends the program. */
bool gt_exec_complains(const char *obstacle);

/**
 * gt_exec_is_readable() - can a list of texts that ends with NULL be read, to the end of each text?
 * An invalid pointer in it is for the kernel to refuse, with EFAULT. Only system calls, one for
 * each page that is met.
 */
bool gt_exec_is_readable(char *const *list);

#endif
