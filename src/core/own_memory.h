/* SPDX-License-Identifier: MIT */
/* Reads memory of this process that may be unmapped or unreadable, without a fault. */
#ifndef GPUTAP_CORE_OWN_MEMORY_H
#define GPUTAP_CORE_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * gt_own_memory_read() - copy memory of this process
 * Return: number of bytes copied, less than @bytes if a page cannot be read; -1 with errno.
 * Thread: any; makes one system call, or three where a container forbids process_vm_readv().
 */
ssize_t gt_own_memory_read(uintptr_t from, void *to, size_t bytes);

/* Return true if a result of gt_own_memory_read() says that the process may not read memory this
 * way at all. */
bool gt_own_memory_refused(ssize_t result);

#endif
