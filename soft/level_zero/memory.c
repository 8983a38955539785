/* SPDX-License-Identifier: MIT */
/* Memory of hosts, devices, and both: all of it is this process's.
 *
 * Allocations stand in an array in the order of their addresses, under a lock for readers and
 * writers: SYCL asks what a pointer is several times for each kernel. */
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/level_zero_parts.h"

enum { PAGE = 4096, LEAST_ALIGNMENT = 64 };

struct allocation {
	char *start;
	size_t bytes;
	ze_memory_type_t type;
	uint64_t id;
	struct soft_ze_device *device; /* NULL: the host's */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct allocation *all;
static size_t count, room;
static uint64_t last_id;

/* The index of the first one that starts behind @memory. */
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

/* The one that @memory lies in; NULL: none. */
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

/* Return: false: there is none that starts there. */
static bool leave(const void *memory, struct allocation *out)
{
	struct allocation *a;
	bool good;

	pthread_rwlock_wrlock(&lock);
	a = find_allocation(memory);
	good = a && a->start == (const char *)memory;
	if (good) {
		*out = *a;
		memmove(a, a + 1, (size_t)(all + count - (a + 1)) * sizeof *a);
		count--;
	}
	pthread_rwlock_unlock(&lock);
	return good;
}

static ze_result_t allocate(ze_context_handle_t context, ze_memory_type_t type,
			    struct soft_ze_device *device, size_t bytes, size_t alignment,
			    void **out)
{
	struct allocation a = {.bytes = bytes, .type = type, .device = device};
	void *memory = NULL;

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
	/* the API's own conformance tests ask for an alignment of the size, whatever that is */
	while (alignment & (alignment - 1))
		alignment += alignment & -alignment;
	if (!posix_memalign(&memory, alignment, bytes)) {
		a.start = memory;
		if (enter(a)) {
			*out = memory;
			return ZE_RESULT_SUCCESS;
		}
		free(memory);
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
	if (!leave(memory, &a))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	soft_ze_budget_give(a.device, a.bytes);
	free(a.start);
	return ZE_RESULT_SUCCESS;
}

/* Both policies, to block and to defer, are to wait for what is under way. */
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
