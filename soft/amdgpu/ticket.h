/* SPDX-License-Identifier: MIT */
/* A buffer of device memory as a file descriptor, like the real driver's DMA buffer. The descriptor
 * is a small memfd that names the process, its file of device memory, and the buffer's offset. A
 * process that may open /proc/PID/fd/N may use the buffer. */
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
	int32_t process, descriptor; /* descriptor of the file of device memory */
	uint32_t node;
	uint64_t offset, bytes;
	uint64_t handle; /* handle of the allocation in the process that made the ticket */
	/* true if another process uses the buffer; its pages then stay after the buffer is freed */
	uint32_t taken;
	uint32_t reserved;
	uint32_t metadata[70]; /* libdrm's struct amdgpu_bo_metadata, which ROCr fills in */
};

static inline bool soft_ticket_read(int fd, struct soft_ticket *t)
{
	return pread(fd, t, sizeof *t, 0) == sizeof *t && t->magic == SOFT_TICKET_MAGIC;
}

/* Mark the ticket as taken, and open the file of device memory that the ticket names, which belongs
 * to another process. Return a descriptor, or -1. */
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
