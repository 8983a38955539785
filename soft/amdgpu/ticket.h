/* SPDX-License-Identifier: MIT */
/* A buffer of device memory as a file descriptor, where the real driver has a DMA buffer: the
 * content of a small memfd, which says where in which process' file of device memory the buffer
 * lies. Whoever may open /proc/PID/fd/N may have it. */
#ifndef SOFT_AMDGPU_TICKET_H
#define SOFT_AMDGPU_TICKET_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define SOFT_TICKET_MAGIC 0x6b636974 /* "tick" */

struct soft_ticket {
	uint32_t magic;
	int32_t process, descriptor; /* of the file of device memory */
	uint32_t node;
	uint64_t offset, bytes;
	uint64_t handle; /* what the process that made it calls the allocation */
	uint32_t taken;  /* another process uses it: its pages stay when it is freed */
	uint32_t reserved;
	uint32_t metadata[70]; /* libdrm's struct amdgpu_bo_metadata, ROCr's to fill */
};

static inline bool soft_ticket_read(int fd, struct soft_ticket *t)
{
	return pread(fd, t, sizeof *t, 0) == sizeof *t && t->magic == SOFT_TICKET_MAGIC;
}

/* The file of device memory that the ticket is of, if it is another process'. Return: a
 * descriptor, or -1. */
static inline int soft_ticket_open(int fd, struct soft_ticket *t)
{
	char path[64];

	t->taken = 1;
	if (pwrite(fd, t, sizeof *t, 0) != sizeof *t)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", t->process, t->descriptor);
	return open(path, O_RDWR | O_CLOEXEC);
}

#endif
