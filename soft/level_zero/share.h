/* SPDX-License-Identifier: MIT */
/* Memory that other processes can map, and the handles that name it between processes.
 *
 * A handle has 64 bytes for its user. Its first four are a file descriptor of the process that made
 * it: a program may send them to another process as a descriptor (SCM_RIGHTS) and put the number
 * that came out there in their place, or send the 64 bytes as they are. */
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
	uint32_t kind;   /* SOFT_SHARE_MEMORY .. */
	uint32_t detail; /* the type of memory; a pool's flags */
	uint32_t count;  /* of a pool's events */
	uint64_t inode, offset, bytes;
};

/* Pages of this process's one file, zeroed, at @alignment (a power of two). Return: NULL: there is
 * no memory, or no room for one more mapping. */
void *soft_share_allocate(size_t bytes, size_t alignment, uint64_t *offset);
/* What was exported stays for those who have it open. */
void soft_share_free(void *memory, size_t bytes, uint64_t offset, bool exported);
/* A descriptor that names this part of the file for other processes, and its handle. Return: there
 * was one left. */
bool soft_share_export(struct soft_share_handle *handle);
/* Maps what @handle names, also when it is only a descriptor, and fills in the rest of it. Return:
 * NULL: it is no handle, or its process has gone. */
void *soft_share_open(struct soft_share_handle *handle, uint32_t kind);
void soft_share_close(void *memory, size_t bytes);
/* Fills in a handle that is only a descriptor. */
bool soft_share_complete(struct soft_share_handle *handle);
/* A descriptor of this process for @handle, the caller's; -1: it is no handle. */
int soft_share_descriptor(struct soft_share_handle *handle);

#endif
