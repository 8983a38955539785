/* SPDX-License-Identifier: MIT */
/* Virtual memory: reserved addresses, and physical memory that programs map there, possibly more
 * than once.
 *
 *   physical memory   a file in memory, private to this process
 *   reservation       inaccessible pages; a mapping replaces them with pages of that file, with
 *                     the requested access; `access` stores the access of each page
 *
 * Locking: one mutex for the reservations. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

enum { PAGE = 4096, UNMAPPED = 0, HOST_FLAG = 1 << 1 };

struct physical {
	uint32_t kind;
	struct soft_ze_device *device;
	size_t bytes;
	uint64_t id;
	int file;
};

struct reservation {
	struct reservation *next;
	char *start;
	size_t bytes;
	unsigned char *access; /* attribute + 1 of each page, or UNMAPPED */
};

/* Pages that take no memory until they are written. */
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reservation *reservations;
static uint64_t last_id;

/* Physical memory ------------------------------------------------------------------------ */

ze_result_t zePhysicalMemCreate(ze_context_handle_t context, ze_device_handle_t device,
				ze_physical_mem_desc_t *desc, ze_physical_mem_handle_t *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	struct soft_ze_device *d = soft_ze_check(device, SOFT_ZE_DEVICE);
	struct physical *p;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!d && (device || !(desc->flags & HOST_FLAG)))
		return soft_ze_refuse(device);
	if (!desc->size || desc->size % PAGE)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	if (soft_ze_fails(SOFT_ZE_FAIL_ALLOCATE) || !soft_ze_budget_take(d, desc->size))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	p = soft_ze_object_create(SOFT_ZE_PHYSICAL, sizeof *p);
	if (p)
		p->file = memfd_create("level zero", MFD_CLOEXEC);
	if (!p || p->file < 0 || ftruncate(p->file, (off_t)desc->size)) {
		if (p && p->file >= 0)
			close(p->file);
		if (p)
			soft_ze_object_destroy(p, SOFT_ZE_PHYSICAL);
		soft_ze_budget_give(d, desc->size);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	p->device = d;
	p->bytes = desc->size;
	p->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	*out = (ze_physical_mem_handle_t)p;
	return ZE_RESULT_SUCCESS;
}

/* Destroy physical memory. Existing mappings stay. */
ze_result_t zePhysicalMemDestroy(ze_context_handle_t context, ze_physical_mem_handle_t handle)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(p, physical, handle, SOFT_ZE_PHYSICAL);

	soft_ze_budget_give(p->device, p->bytes);
	close(p->file);
	soft_ze_object_destroy(p, SOFT_ZE_PHYSICAL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zePhysicalMemGetProperties(ze_context_handle_t context,
					     ze_physical_mem_handle_t handle,
					     struct newer_physical_properties *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(p, physical, handle, SOFT_ZE_PHYSICAL);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->id = p->id;
	out->bytes = p->bytes;
	return ZE_RESULT_SUCCESS;
}

/* Addresses ------------------------------------------------------------------------------ */

ze_result_t zeVirtualMemQueryPageSize(ze_context_handle_t context, ze_device_handle_t device,
				      size_t bytes, size_t *out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_VALID(device, SOFT_ZE_DEVICE);
	(void)bytes; /* 0 is also valid, because the API's conformance tests pass it */
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = PAGE;
	return ZE_RESULT_SUCCESS;
}

static void destroy_reservation(struct reservation *r)
{
	if (r->start != MAP_FAILED)
		munmap(r->start, r->bytes);
	if (r->access != MAP_FAILED)
		munmap(r->access, r->bytes / PAGE);
	free(r);
}

ze_result_t zeVirtualMemReserve(ze_context_handle_t context, const void *wish, size_t bytes,
				void **out)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	struct reservation *r;

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!bytes || bytes % PAGE)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	r = calloc(1, sizeof *r);
	if (!r)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	r->bytes = bytes;
	r->start = mmap((void *)wish, bytes, PROT_NONE, RESERVED, -1, 0);
	r->access = mmap(NULL, bytes / PAGE, PROT_READ | PROT_WRITE, RESERVED, -1, 0);
	if (r->start == MAP_FAILED || r->access == MAP_FAILED) {
		destroy_reservation(r);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	pthread_mutex_lock(&lock);
	r->next = reservations;
	reservations = r;
	pthread_mutex_unlock(&lock);
	*out = r->start;
	return ZE_RESULT_SUCCESS;
}

/* Find the reservation that contains the whole range, and the first page of the range. Call with
 * the lock held. */
static struct reservation *find_range(const void *start, size_t bytes, size_t *page)
{
	for (struct reservation *r = reservations; r; r = r->next) {
		size_t at = (size_t)((const char *)start - r->start);

		if ((const char *)start < r->start || at >= r->bytes || bytes > r->bytes - at)
			continue;
		*page = at / PAGE;
		return r;
	}
	return NULL;
}

static ze_result_t check_range(ze_context_handle_t context, const void *start, size_t bytes)
{
	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	if (!start)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if ((uintptr_t)start % PAGE)
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	return bytes && bytes % PAGE == 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
}

ze_result_t zeVirtualMemFree(ze_context_handle_t context, const void *start, size_t bytes)
{
	ze_result_t status = check_range(context, start, bytes);
	struct reservation **at, *found;

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	for (at = &reservations; *at && (*at)->start != start; at = &(*at)->next)
		;
	found = *at && (*at)->bytes == bytes ? *at : NULL;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&lock);
	if (!found)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	destroy_reservation(found);
	return ZE_RESULT_SUCCESS;
}

/* Return the protection for a value of `access`. Read-only access has no effect, as on any device
 * that does not report support for it. */
static int protection_of(unsigned char access)
{
	return access > ZE_MEMORY_ACCESS_ATTRIBUTE_NONE + 1 ? PROT_READ | PROT_WRITE : PROT_NONE;
}

enum { NOTHING = -1, WHAT_IS_THERE = -2 };

/* Map @file from @offset on, map NOTHING, or change the access of WHAT_IS_THERE. */
static ze_result_t change_range(void *start, size_t bytes, int file, uint64_t offset,
				unsigned char access)
{
	int protection = protection_of(access);
	int flags = MAP_FIXED | (file < 0 ? RESERVED : MAP_SHARED);
	ze_result_t status = ZE_RESULT_ERROR_INVALID_ARGUMENT;
	struct reservation *r;
	size_t page = 0;

	pthread_mutex_lock(&lock);
	r = find_range(start, bytes, &page);
	if (r && file == WHAT_IS_THERE && memchr(r->access + page, UNMAPPED, bytes / PAGE))
		r = NULL;
	if (r) {
		bool good = file == WHAT_IS_THERE ? !mprotect(start, bytes, protection)
						  : mmap(start, bytes, protection, flags, file,
							 (off_t)offset) != MAP_FAILED;
		status = good ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		if (good)
			memset(r->access + page, access, bytes / PAGE);
	}
	pthread_mutex_unlock(&lock);
	return status;
}

ze_result_t zeVirtualMemMap(ze_context_handle_t context, const void *start, size_t bytes,
			    ze_physical_mem_handle_t handle, size_t offset,
			    ze_memory_access_attribute_t access)
{
	SOFT_ZE_OBJECT(p, physical, handle, SOFT_ZE_PHYSICAL);
	ze_result_t status = check_range(context, start, bytes);

	if (status)
		return status;
	if (access > ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (offset % PAGE)
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	if (offset >= p->bytes || bytes > p->bytes - offset)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	return change_range((void *)start, bytes, p->file, offset, (unsigned char)(access + 1));
}

ze_result_t zeVirtualMemUnmap(ze_context_handle_t context, const void *start, size_t bytes)
{
	ze_result_t status = check_range(context, start, bytes);

	return status ? status : change_range((void *)start, bytes, NOTHING, 0, UNMAPPED);
}

ze_result_t zeVirtualMemSetAccessAttribute(ze_context_handle_t context, const void *start,
					   size_t bytes, ze_memory_access_attribute_t access)
{
	ze_result_t status = check_range(context, start, bytes);

	if (status)
		return status;
	if (access > ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	return change_range((void *)start, bytes, WHAT_IS_THERE, 0, (unsigned char)(access + 1));
}

ze_result_t zeVirtualMemGetAccessAttribute(ze_context_handle_t context, const void *start,
					   size_t bytes, ze_memory_access_attribute_t *access,
					   size_t *same_bytes)
{
	ze_result_t status = check_range(context, start, bytes);
	const struct reservation *r;
	size_t page = 0, n = 1;

	if (status)
		return status;
	if (!access || !same_bytes)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	pthread_mutex_lock(&lock);
	r = find_range(start, bytes, &page);
	if (r) {
		while (n < bytes / PAGE && r->access[page + n] == r->access[page])
			n++;
		*access = r->access[page] == UNMAPPED ? ZE_MEMORY_ACCESS_ATTRIBUTE_NONE
						      : r->access[page] - 1;
		*same_bytes = n * PAGE;
	}
	pthread_mutex_unlock(&lock);
	return r ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
