/* SPDX-License-Identifier: MIT */
/* The libdrm functions that ROCr 7 looks up in libdtif.so: for explicitly mapped memory
 * (hipMemCreate, hipMemMap; HIP 7's pools use it), and for buffers that are passed to other
 * processes as descriptors.
 *
 *   hsaKmtAllocMemory(NoAddress) ─► handle ─ hsaKmtExportDMABufHandle() ─► ticket
 *   ticket ─ amdgpu_bo_import() ─► buffer
 *   hsaKmtAllocMemoryAlign(OnlyAddress) ─► addresses ◄─ amdgpu_bo_va_op(MAP) ─ buffer
 *
 * All GPUs and the host share one address space here. The first GPU that maps a buffer maps it for
 * all, and the last GPU that unmaps a buffer removes the mapping. ROCr itself maps the buffer on
 * the host, from the device's file at the offset that GEM_MMAP returns. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/drm.h"
#include "soft/amdgpu/ticket.h"

#define DTIF_API __attribute__((visibility("default")))

enum { HANDLE_KMS = 1, HANDLE_DMA_BUF = 2 }; /* types of an exported buffer */
enum { VA_MAP = 1, VA_UNMAP = 2 };
enum { GEM_MMAP = 1 }; /* the only device command that is implemented */
enum { PAGE_READABLE = 2, PAGE_WRITEABLE = 4 };
#define FOREIGN_HANDLE   UINT32_MAX
#define BEYOND_ALL_FILES (1ull << 46) /* accessing a mapping at this offset gives SIGBUS */

struct buffer {
	/* @file: closed with the buffer if another process owns the buffer */
	int file, ticket;
	bool foreign;
	uint64_t offset, bytes;
};

struct mapping {
	struct mapping *next;
	uint64_t address, bytes;
	unsigned count;
};

struct imported {
	struct buffer *buffer;
	uint64_t bytes;
};

struct metadata {
	uint64_t flags, tiling;
	uint32_t bytes, words[64];
};

struct drm_buffer_info {
	uint64_t bytes, alignment;
	uint32_t heap;
	uint64_t flags;
	struct metadata metadata;
};

_Static_assert(sizeof(struct metadata) == sizeof(((struct soft_ticket *)0)->metadata),
	       "kept in the ticket");

DTIF_API int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device);
DTIF_API int amdgpu_device_deinitialize(void *device);
DTIF_API int amdgpu_query_gpu_info(void *device, struct soft_drm_gpu_info *info);
DTIF_API int amdgpu_bo_import(void *device, uint32_t type, uint32_t handle, struct imported *out);
DTIF_API int amdgpu_bo_export(struct buffer *b, uint32_t type, uint32_t *handle);
DTIF_API int amdgpu_bo_free(struct buffer *b);
DTIF_API int amdgpu_bo_cpu_map(struct buffer *b, void **out);
DTIF_API int amdgpu_bo_va_op(struct buffer *b, uint64_t offset, uint64_t bytes, uint64_t address,
			     uint64_t flags, uint32_t operation);
DTIF_API int amdgpu_bo_query_info(struct buffer *b, struct drm_buffer_info *info);
DTIF_API int amdgpu_bo_set_metadata(struct buffer *b, const struct metadata *metadata);
DTIF_API int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long bytes);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;
static pid_t mapped_in; /* process that made the mappings; fork children have none */

/* ROCr gets its devices from hsaKmtGetAMDGPUDeviceHandle(). */
int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device)
{
	(void)fd;
	(void)major;
	(void)minor;
	(void)device;
	return -ENODEV;
}

int amdgpu_device_deinitialize(void *device)
{
	(void)device;
	return 0;
}

int amdgpu_query_gpu_info(void *device, struct soft_drm_gpu_info *info)
{
	(void)device;
	*info = (struct soft_drm_gpu_info){.counter_khz = SOFT_AMDGPU_CLOCK_HZ / 1000};
	return 0;
}

int amdgpu_bo_import(void *device, uint32_t type, uint32_t handle, struct imported *out)
{
	struct soft_ticket t;
	struct buffer *b;

	(void)device; /* all devices reach all memory */
	if (type != HANDLE_DMA_BUF || !soft_ticket_read((int)handle, &t))
		return -EINVAL;
	b = calloc(1, sizeof *b);
	if (!b)
		return -ENOMEM;
	b->foreign = t.process != getpid();
	b->offset = t.offset;
	b->bytes = t.bytes;
	b->file = b->foreign ? soft_ticket_open((int)handle, &t) : soft_dtif_file();
	b->ticket = fcntl((int)handle, F_DUPFD_CLOEXEC, 0);
	if (b->file < 0 || b->ticket < 0) {
		amdgpu_bo_free(b);
		return -EINVAL;
	}
	*out = (struct imported){b, b->bytes};
	return 0;
}

int amdgpu_bo_free(struct buffer *b)
{
	if (b->foreign && b->file >= 0)
		close(b->file);
	if (b->ticket >= 0)
		close(b->ticket);
	free(b);
	return 0;
}

/* Export a buffer for mapping on the host. A buffer of another process can be mapped only on GPUs,
 * because its offset refers to that process's device file. */
int amdgpu_bo_export(struct buffer *b, uint32_t type, uint32_t *handle)
{
	if (type != HANDLE_KMS)
		return -EINVAL;
	*handle = b->foreign ? FOREIGN_HANDLE : (uint32_t)(b->offset / SOFT_PAGE);
	return 0;
}

int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long bytes)
{
	uint32_t handle;
	uint64_t place;

	(void)fd;
	if (command != GEM_MMAP || bytes < sizeof place)
		return -EINVAL;
	memcpy(&handle, data, sizeof handle);
	place = handle == FOREIGN_HANDLE ? BEYOND_ALL_FILES : handle * SOFT_PAGE;
	memcpy(data, &place, sizeof place);
	return 0;
}

int amdgpu_bo_cpu_map(struct buffer *b, void **out)
{
	void *pages = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			   b->file, (off_t)b->offset);

	if (pages == MAP_FAILED)
		return -errno;
	madvise(pages, b->bytes, MADV_DONTFORK);
	*out = pages;
	return 0;
}

static int map_buffer(const struct buffer *b, uint64_t offset, uint64_t bytes, uint64_t address,
		      uint64_t flags)
{
	int protection = (flags & PAGE_READABLE ? PROT_READ : 0) |
			 (flags & PAGE_WRITEABLE ? PROT_READ | PROT_WRITE : 0);
	struct mapping *m = calloc(1, sizeof *m);

	if (!m)
		return -ENOMEM;
	if (mmap((void *)address, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
		 b->file, (off_t)(b->offset + offset)) == MAP_FAILED) {
		free(m);
		return -errno;
	}
	madvise((void *)address, bytes, MADV_DONTFORK);
	*m = (struct mapping){mappings, address, bytes, 1};
	mappings = m;
	return 0;
}

/* Unmap a buffer. The addresses stay reserved. */
static int unmap_buffer(struct mapping **at)
{
	struct mapping *m = *at;

	if (--m->count)
		return 0;
	if (mmap((void *)m->address, m->bytes, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		return -errno;
	*at = m->next;
	free(m);
	return 0;
}

int amdgpu_bo_va_op(struct buffer *b, uint64_t offset, uint64_t bytes, uint64_t address,
		    uint64_t flags, uint32_t operation)
{
	struct mapping **at = &mappings;
	int error = 0;

	if (operation != VA_MAP && operation != VA_UNMAP)
		return -EINVAL;
	if (offset > b->bytes || bytes > b->bytes - offset)
		return -EINVAL;
	bytes = (bytes + SOFT_PAGE - 1) & ~(SOFT_PAGE - 1);
	pthread_mutex_lock(&lock);
	if (mapped_in != getpid()) {
		mapped_in = getpid();
		mappings = NULL;
	}
	while (*at && (*at)->address != address)
		at = &(*at)->next;
	if (operation == VA_UNMAP)
		error = *at ? unmap_buffer(at) : -ENOENT;
	else if (*at)
		(*at)->count++;
	else
		error = map_buffer(b, offset, bytes, address, flags);
	pthread_mutex_unlock(&lock);
	return error;
}

int amdgpu_bo_query_info(struct buffer *b, struct drm_buffer_info *info)
{
	struct soft_ticket t;

	if (!soft_ticket_read(b->ticket, &t))
		return -EINVAL;
	*info = (struct drm_buffer_info){.bytes = b->bytes, .alignment = SOFT_PAGE};
	memcpy(&info->metadata, t.metadata, sizeof info->metadata);
	return 0;
}

int amdgpu_bo_set_metadata(struct buffer *b, const struct metadata *metadata)
{
	struct soft_ticket t;

	if (!soft_ticket_read(b->ticket, &t))
		return -EINVAL;
	memcpy(t.metadata, metadata, sizeof t.metadata);
	return pwrite(b->ticket, &t, sizeof t, 0) == sizeof t ? 0 : -EIO;
}
