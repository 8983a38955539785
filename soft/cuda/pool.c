/* SPDX-License-Identifier: MIT */
/* Counts the memory of pools. When memory is freed, a pool retains as much as its threshold allows.
 * This retention exists only in the counters, because the memory itself is returned to the host's
 * allocator. */
#include <stdlib.h>

#include "soft/cuda/cuda_parts.h"

static struct soft_cu_pool *pools;
static struct soft_cu_pool defaults[SOFT_CU_DEVICES_MOST];
static CUmemoryPool current[SOFT_CU_DEVICES_MOST]; /* NULL: the default pool */

CUmemoryPool soft_cu_get_pool(CUdevice device)
{
	return current[device] ? current[device] : &defaults[device];
}

bool soft_cu_knows_pool(CUmemoryPool pool)
{
	const struct soft_cu_pool *p = pools;

	if (pool >= defaults && pool < defaults + SOFT_CU_DEVICES_MOST)
		return true;
	while (p && p != pool)
		p = p->next;
	return p != NULL;
}

static void trim(CUmemoryPool p, uint64_t kept)
{
	const uint64_t least = p->used > kept ? p->used : kept;

	if (p->reserved > least)
		p->reserved = least;
}

void soft_cu_change_pool(CUmemoryPool p, int64_t bytes)
{
	p->used += (uint64_t)bytes;
	if (p->used_high < p->used)
		p->used_high = p->used;
	if (p->reserved < p->used)
		p->reserved = p->used;
	if (p->reserved_high < p->reserved)
		p->reserved_high = p->reserved;
	if (bytes < 0)
		trim(p, p->threshold);
}

/* Returns with the lock held unless it fails. */
static int enter_pool(CUmemoryPool pool)
{
	const int status = pool ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	return soft_cu_knows_pool(pool) ? CUDA_SUCCESS : soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
}

int soft_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	enum { ON_DEVICE = 1 };
	CUdevice device;
	int status = pool && properties && properties->location.type == ON_DEVICE
			     ? soft_cuDeviceGet(&device, properties->location.id)
			     : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*pool = calloc(1, sizeof **pool);
	if (!*pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*pool)->device = device;
	pthread_mutex_lock(&soft_cu_lock);
	(*pool)->next = pools;
	pools = *pool;
	return soft_cu_leave(CUDA_SUCCESS);
}

/* NEEDSWORK: NVIDIA's pool stays until its last allocation is freed. This call fails until then. */
int soft_cuMemPoolDestroy(CUmemoryPool pool)
{
	struct soft_cu_pool **link = &pools;
	const int status = enter_pool(pool);

	if (status)
		return status;
	while (*link && *link != pool)
		link = &(*link)->next;
	if (!*link || pool->used) /* not for a default pool */
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	*link = pool->next;
	if (current[pool->device] == pool)
		current[pool->device] = NULL;
	free(pool);
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
	const int status = enter_pool(pool);

	if (status)
		return status;
	trim(pool, bytes);
	return soft_cu_leave(CUDA_SUCCESS);
}

/* Numbers are those of CUmemPool_attribute; 1 to 3 are ints. */
static uint64_t *find_figure(CUmemoryPool p, int attribute)
{
	enum { THRESHOLD = 4, RESERVED, RESERVED_HIGH, USED, USED_HIGH };

	switch (attribute) {
	case THRESHOLD: return &p->threshold;
	case RESERVED: return &p->reserved;
	case RESERVED_HIGH: return &p->reserved_high;
	case USED: return &p->used;
	case USED_HIGH: return &p->used_high;
	default: return NULL;
	}
}

int soft_cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
	int status = value ? enter_pool(pool) : CUDA_ERROR_INVALID_VALUE;
	const uint64_t *figure;

	if (status)
		return status;
	figure = find_figure(pool, attribute);
	if (figure)
		*(uint64_t *)value = *figure;
	else if (attribute >= 1 && attribute <= 3)
		*(int *)value = pool->reuse[attribute - 1];
	else
		status = CUDA_ERROR_INVALID_VALUE;
	return soft_cu_leave(status);
}

/* High-water marks can only be reset to 0. */
int soft_cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
	int status = value ? enter_pool(pool) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	if (attribute >= 1 && attribute <= 3)
		pool->reuse[attribute - 1] = *(const int *)value;
	else if (attribute == 4)
		pool->threshold = *(const uint64_t *)value;
	else if (attribute == 6 && !*(const uint64_t *)value)
		pool->reserved_high = pool->reserved;
	else if (attribute == 8 && !*(const uint64_t *)value)
		pool->used_high = pool->used;
	else
		status = CUDA_ERROR_INVALID_VALUE;
	return soft_cu_leave(status);
}

/* Every device can access every pool. */
int soft_cuMemPoolSetAccess(CUmemoryPool pool, const void *accesses, size_t count)
{
	const int status = accesses || !count ? enter_pool(pool) : CUDA_ERROR_INVALID_VALUE;

	return status ? status : soft_cu_leave(CUDA_SUCCESS);
}

static int get_pool(CUmemoryPool *pool, CUdevice device, bool by_default)
{
	CUdevice known;
	const int status = pool ? soft_cuDeviceGet(&known, device) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	*pool = by_default ? &defaults[device] : soft_cu_get_pool(device);
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	return get_pool(pool, device, true);
}

int soft_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	return get_pool(pool, device, false);
}

int soft_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	CUdevice known;
	int status = soft_cuDeviceGet(&known, device);

	status = status ? status : enter_pool(pool);
	if (status)
		return status;
	current[device] = pool == &defaults[device] ? NULL : pool;
	return soft_cu_leave(CUDA_SUCCESS);
}
