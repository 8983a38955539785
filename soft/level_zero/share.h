/* SPDX-License-Identifier: MIT */
/* Memory that other processes can map, and the handles that identify it between processes.
 *
 * A handle has 64 bytes for its user. The first four bytes are a file descriptor of the process
 * that made the handle. A program may send that descriptor to another process (SCM_RIGHTS) and
 * replace it with the received number, or send the 64 bytes unchanged. */
#ifndef SOFT_LEVEL_ZERO_SHARE_H
#define SOFT_LEVEL_ZERO_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOFT_SHARE_MEMORY = 1, SOFT_SHARE_EVENTS };

struct soft_share_handle {
	int32_t file;
	uint32_t magic;
	int32_t process;
	uint32_t kind;   /* SOFT_SHARE_MEMORY, ... */
	uint32_t detail; /* type of the memory, or flags of a pool */
	uint32_t count;  /* number of events in a pool */
	uint64_t inode, offset, bytes;
};

/* Allocate zeroed pages of this process's file, aligned to @alignment (a power of two). Return NULL
 * if out of memory or mappings. */
void *soft_share_allocate(size_t bytes, size_t alignment, uint64_t *offset);
/* Free memory. Exported memory stays valid for processes that have it open. */
void soft_share_free(void *memory, size_t bytes, uint64_t offset, bool exported);
/* Make a descriptor that identifies this part of the file to other processes, and a handle that
 * contains the descriptor. Return false if out of descriptors. */
bool soft_share_export(struct soft_share_handle *handle);
/* Map the memory of @handle, even if the handle contains only a descriptor, and complete the
 * handle.
 * Return NULL if the handle is invalid or its process is gone. */
void *soft_share_open(struct soft_share_handle *handle, uint32_t kind);
void soft_share_close(void *memory, size_t bytes);
/* Complete a handle that contains only a descriptor. */
bool soft_share_complete(struct soft_share_handle *handle);
/* Return a descriptor for @handle in this process, which the caller owns, or -1 if the handle is
 * invalid. */
int soft_share_descriptor(struct soft_share_handle *handle);

#endif
