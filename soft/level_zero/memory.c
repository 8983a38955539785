/* SPDX-License-Identifier: MIT */
/* Host, device and shared memory. Device and host memory can be passed to other processes
 * (share.c).
 * Other memory is on the heap of this process.
 *
 * Allocations are in an array sorted by address, under a read-write lock, because SYCL queries a
 * pointer several times for each kernel. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

enum { PAGE = 4096, LEAST_ALIGNMENT = 64 };

struct allocation {
	char *start;
	size_t bytes;
	ze_memory_type_t type;
	uint64_t id;
	struct soft_ze_device *device; /* NULL: host memory */
	uint64_t offset;               /* offset in the shared file; 0: on the heap */
	struct soft_share_handle *exported;
	bool imported; /* true if the memory belongs to another process */
	/* the program's setting for atomic access, which has no effect but is returned by
	 * queries */
	uint32_t atomics;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct allocation *all;
static size_t count, room;
static uint64_t last_id;

/* Return the index of the first allocation that starts above @memory. */
static size_t find_behind(const void *memory)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (all[middle].start <= (const char *)memory)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the allocation that contains @memory, or NULL. */
static struct allocation *find_allocation(const void *memory)
{
	size_t behind = find_behind(memory);
	struct allocation *a = behind ? &all[behind - 1] : NULL;

	return a && (const char *)memory < a->start + a->bytes ? a : NULL;
}

static bool enter(struct allocation a)
{
	bool good = true;
	size_t at;

	pthread_rwlock_wrlock(&lock);
	if (count == room) {
		struct allocation *more = realloc(all, (room ? 2 * room : 64) * sizeof *more);
		good = more != NULL;
		all = more ? more : all;
		room = more ? (room ? 2 * room : 64) : room;
	}
	if (good) {
		at = find_behind(a.start);
		memmove(&all[at + 1], &all[at], (count - at) * sizeof *all);
		a.id = ++last_id;
		all[at] = a;
		count++;
	}
	pthread_rwlock_unlock(&lock);
	return good;
}

/* Remove an allocation. @imported: true for memory of another process, false for memory of this
 * process. Return false if no such allocation starts there. */
static bool leave(const void *memory, bool imported, struct allocation *out)
{
	struct allocation *a;
	bool good;

	pthread_rwlock_wrlock(&lock);
	a = find_allocation(memory);
	good = a && a->start == (const char *)memory && a->imported == imported;
	if (good) {
		*out = *a;
		memmove(a, a + 1, (size_t)(all + count - (a + 1)) * sizeof *a);
		count--;
	}
	pthread_rwlock_unlock(&lock);
	return good;
}

/* Allocate memory. Memory that the program may share is in the shared file as long as mappings are
 * available, which suffices because SYCL's pools request few large blocks. */
static void *find_room(struct allocation *a, size_t alignment)
{
	void *memory = NULL;

	if (a->type != ZE_MEMORY_TYPE_SHARED)
		memory = soft_share_allocate(a->bytes, alignment, &a->offset);
	if (memory)
		return memory;
	a->offset = 0;
	return posix_memalign(&memory, alignment, a->bytes) ? NULL : memory;
}

static void give_back(const struct allocation *a)
{
	if (a->exported)
		close(a->exported->file);
	if (a->offset)
		soft_share_free(a->start, a->bytes, a->offset, a->exported != NULL);
	else
		free(a->start);
	free(a->exported);
}

static ze_result_t allocate(ze_context_handle_t context, ze_memory_type_t type,
			    struct soft_ze_device *device, size_t bytes, size_t alignment,
			    void **out)
{
	struct allocation a = {.bytes = bytes, .type = type, .device = device};

	if (!soft_ze_check(context, SOFT_ZE_CONTEXT))
		return soft_ze_refuse(context);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!bytes)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	if (alignment > bytes && alignment & (alignment - 1))
		return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
	if (soft_ze_fails(SOFT_ZE_FAIL_ALLOCATE) || !soft_ze_budget_take(device, bytes))
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	if (alignment < LEAST_ALIGNMENT)
		alignment = bytes >= PAGE ? PAGE : LEAST_ALIGNMENT;
	/* for any size, because the API's conformance tests request an alignment equal to the
	 * size */
	while (alignment & (alignment - 1))
		alignment += alignment & -alignment;
	a.start = find_room(&a, alignment);
	if (a.start) {
		if (enter(a)) {
			*out = a.start;
			return ZE_RESULT_SUCCESS;
		}
		give_back(&a);
	}
	soft_ze_budget_give(device, bytes);
	return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *device,
			     const ze_host_mem_alloc_desc_t *host, size_t bytes, size_t alignment,
			     ze_device_handle_t handle, void **out)
{
	if (!device || !host)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (handle && !soft_ze_check(handle, SOFT_ZE_DEVICE))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	return allocate(context, ZE_MEMORY_TYPE_SHARED, (struct soft_ze_device *)handle, bytes,
			alignment, out);
}

ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
			     size_t bytes, size_t alignment, ze_device_handle_t handle, void **out)
{
	SOFT_ZE_OBJECT(device, soft_ze_device, handle, SOFT_ZE_DEVICE);

	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return allocate(context, ZE_MEMORY_TYPE_DEVICE, device, bytes, alignment, out);
}

ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
			   size_t bytes, size_t alignment, void **out)
{
	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return allocate(context, ZE_MEMORY_TYPE_HOST, NULL, bytes, alignment, out);
}

ze_result_t zeMemFree(ze_context_handle_t context, void *memory)
{
	struct allocation a;

	if (!soft_ze_check(context, SOFT_ZE_CONTEXT))
		return soft_ze_refuse(context);
	if (!memory)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!leave(memory, false, &a))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	soft_ze_budget_give(a.device, a.bytes);
	give_back(&a);
	return ZE_RESULT_SUCCESS;
}

/* Both policies, block and defer, wait for unfinished commands. */
ze_result_t zeMemFreeExt(ze_context_handle_t context, const ze_memory_free_ext_desc_t *desc,
			 void *memory)
{
	if (!desc)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	soft_ze_device_wait(NULL);
	return zeMemFree(context, memory);
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t context, const void *memory,
				    ze_memory_allocation_properties_t *out,
				    ze_device_handle_t *device)
{
	const struct allocation *a;

	if (!soft_ze_check(context, SOFT_ZE_CONTEXT))
		return soft_ze_refuse(context);
	if (!memory || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	pthread_rwlock_rdlock(&lock);
	a = find_allocation(memory);
	out->type = a ? a->type : ZE_MEMORY_TYPE_UNKNOWN;
	out->id = a ? a->id : 0;
	out->pageSize = a ? PAGE : 0;
	if (device)
		*device = a ? (ze_device_handle_t)a->device : NULL;
	pthread_rwlock_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t context, const void *memory, void **start,
				 size_t *bytes)
{
	const struct allocation *a;

	if (!soft_ze_check(context, SOFT_ZE_CONTEXT))
		return soft_ze_refuse(context);
	pthread_rwlock_rdlock(&lock);
	a = find_allocation(memory);
	if (a && start)
		*start = a->start;
	if (a && bytes)
		*bytes = a->bytes;
	pthread_rwlock_unlock(&lock);
	return a ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static ze_result_t use_atomics(ze_context_handle_t context, ze_device_handle_t device,
			       const void *memory, const uint32_t *set, uint32_t *get)
{
	struct allocation *a;

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	SOFT_ZE_VALID(device, SOFT_ZE_DEVICE);
	if (!memory || (!set && !get))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	pthread_rwlock_wrlock(&lock);
	a = find_allocation(memory);
	if (a && set)
		a->atomics = *set;
	if (a && get)
		*get = a->atomics;
	pthread_rwlock_unlock(&lock);
	return a ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t newer_zeMemSetAtomicAccessAttributeExp(ze_context_handle_t context,
						   ze_device_handle_t device, const void *memory,
						   size_t bytes, uint32_t flags)
{
	(void)bytes;
	return use_atomics(context, device, memory, &flags, NULL);
}

ze_result_t newer_zeMemGetAtomicAccessAttributeExp(ze_context_handle_t context,
						   ze_device_handle_t device, const void *memory,
						   size_t bytes, uint32_t *out)
{
	(void)bytes;
	return use_atomics(context, device, memory, NULL, out);
}

/* Between processes ---------------------------------------------------------------------- */

ze_result_t soft_ze_memory_export(const void *memory, struct soft_share_handle *out)
{
	ze_result_t status = ZE_RESULT_SUCCESS;
	struct allocation *a;

	pthread_rwlock_wrlock(&lock);
	a = find_allocation(memory);
	if (!a || !a->offset || a->imported)
		status = ZE_RESULT_ERROR_INVALID_ARGUMENT;
	else if (!a->exported) {
		out->detail = a->type;
		out->offset = a->offset;
		out->bytes = a->bytes;
		a->exported = malloc(sizeof *a->exported);
		if (!a->exported || !soft_share_export(out)) {
			free(a->exported);
			a->exported = NULL;
			status = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		} else
			*a->exported = *out;
	} else
		*out = *a->exported;
	pthread_rwlock_unlock(&lock);
	return status;
}

ze_result_t soft_ze_memory_import(struct soft_share_handle *handle, struct soft_ze_device *device,
				  void **out)
{
	struct allocation a = {.imported = true};

	a.start = soft_share_open(handle, SOFT_SHARE_MEMORY);
	if (!a.start)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	a.bytes = handle->bytes;
	a.type = handle->detail;
	a.device = a.type == ZE_MEMORY_TYPE_HOST ? NULL : device;
	if (!enter(a)) {
		soft_share_close(a.start, a.bytes);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	*out = a.start;
	return ZE_RESULT_SUCCESS;
}

ze_result_t soft_ze_memory_close(const void *memory)
{
	struct allocation a;

	if (!leave(memory, true, &a))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	soft_share_close(a.start, a.bytes);
	return ZE_RESULT_SUCCESS;
}
