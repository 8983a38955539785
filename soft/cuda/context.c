/* SPDX-License-Identifier: MIT */
/* Contexts: the primary context of each device, contexts that the program creates, and each
 * thread's stack of contexts. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static unsigned primary_flags[SOFT_CU_DEVICES_MOST];

/* Create a context. Call with the lock held. Return NULL if out of memory. */
static CUcontext make_context(CUdevice device, unsigned flags, bool is_primary)
{
	static unsigned ids;
	CUcontext c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	*c = (struct soft_cu_context){.next = soft_cu_contexts,
				      .device = device,
				      .id = ++ids,
				      .flags = flags,
				      .is_primary = is_primary,
				      .limits = {1024, 1 << 20, 8 << 20}};
	c->legacy.context = c;
	c->legacy.id = soft_cu_new_stream_id();
	soft_cu_contexts = c;
	soft_cu_note_resource(&(struct soft_cu_resource_notice){
		.what = SOFT_CU_CONTEXT_CREATED,
		.context = c,
		.context_id = c->id,
		.device = device,
		.stream_id = c->legacy.id,
	});
	return c;
}

/* Destroy a context after its tasks have finished. Call with the lock held; this function
 * temporarily releases it. */
static void destroy_context(CUcontext context)
{
	struct soft_cu_context **link = &soft_cu_contexts;

	soft_cu_drain_context(context);
	pthread_mutex_unlock(&soft_cu_lock);
	soft_cu_notify_resource(&(struct soft_cu_resource_notice){
		.what = SOFT_CU_CONTEXT_DESTROYED,
		.context = context,
		.context_id = context->id,
		.device = context->device,
	});
	pthread_mutex_lock(&soft_cu_lock);
	soft_cu_close_streams(context);
	soft_cu_free_allocations(context);
	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
	free(context);
}

static CUcontext find_primary(CUdevice device)
{
	struct soft_cu_context *c = soft_cu_contexts;

	while (c && !(c->is_primary && c->device == device))
		c = c->next;
	return c;
}

static int check_device(CUdevice device)
{
	CUdevice known;

	return soft_cuDeviceGet(&known, device);
}

/* Primary contexts ---------------------------------------------------------------- */

int soft_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	const int status = context ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	*context = find_primary(device);
	if (!*context)
		*context = make_context(device, primary_flags[device], true);
	if (*context)
		(*context)->retained++;
	return soft_cu_leave(*context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static int drop_primary(CUdevice device, bool all)
{
	const int status = check_device(device);
	CUcontext context;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	context = find_primary(device);
	if (!context)
		return soft_cu_leave(all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
	if (all || !--context->retained)
		destroy_context(context);
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	return drop_primary(device, false);
}

int soft_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	return drop_primary(device, true);
}

int soft_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	const int status = flags && active ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	*flags = primary_flags[device];
	*active = find_primary(device) != NULL;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
	const int status = check_device(device);

	if (!status) {
		pthread_mutex_lock(&soft_cu_lock);
		primary_flags[device] = flags;
		pthread_mutex_unlock(&soft_cu_lock);
	}
	return status;
}

/* The thread's stack -------------------------------------------------------------- */

int soft_cuCtxPushCurrent_v2(CUcontext context)
{
	const int status = soft_cu_check_driver();

	if (status)
		return status;
	if (!context || soft_cu_stack.depth == SOFT_CU_STACK)
		return CUDA_ERROR_INVALID_VALUE;
	soft_cu_stack.at[soft_cu_stack.depth++] = context;
	return CUDA_SUCCESS;
}

int soft_cuCtxPopCurrent_v2(CUcontext *context)
{
	const int status = soft_cu_check_driver();

	if (status)
		return status;
	if (!soft_cu_stack.depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	soft_cu_stack.depth--;
	if (context)
		*context = soft_cu_stack.at[soft_cu_stack.depth];
	return CUDA_SUCCESS;
}

int soft_cuCtxSetCurrent(CUcontext context)
{
	const int status = soft_cu_check_driver();

	if (status)
		return status;
	if (!context)
		soft_cu_stack.depth -= soft_cu_stack.depth > 0;
	else if (soft_cu_stack.depth)
		soft_cu_stack.at[soft_cu_stack.depth - 1] = context;
	else
		soft_cu_stack.at[soft_cu_stack.depth++] = context;
	return CUDA_SUCCESS;
}

int soft_cuCtxGetCurrent(CUcontext *context)
{
	const int status = context ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		*context = soft_cu_current();
	return status;
}

/* Contexts ------------------------------------------------------------------------ */

int soft_cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	const int status = context ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	if (soft_cu_stack.depth == SOFT_CU_STACK)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&soft_cu_lock);
	*context = make_context(device, flags, false);
	pthread_mutex_unlock(&soft_cu_lock);
	return *context ? soft_cuCtxPushCurrent_v2(*context) : CUDA_ERROR_OUT_OF_MEMORY;
}

int soft_cuCtxDestroy_v2(CUcontext context)
{
	const int status = soft_cu_check_driver();

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	if (!soft_cu_knows_context(context) || context->is_primary)
		return soft_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
	destroy_context(context);
	if (soft_cu_current() == context)
		soft_cu_stack.depth--;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxGetDevice(CUdevice *device)
{
	CUcontext context;
	const int status = device ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*device = context->device;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxGetFlags(unsigned int *flags)
{
	CUcontext context;
	const int status = flags ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*flags = context->flags;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
	(void)context;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = 3020;
	return soft_cu_check_driver();
}

int soft_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return soft_cu_check_driver();
}

int soft_cuCtxSynchronize(void)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	soft_cu_drain_context(context);
	return soft_cu_leave(context->failed);
}

/* The parameters of newer kinds of contexts are ignored. */
int soft_cuCtxCreate_v4(CUcontext *context, void *parameters __attribute__((unused)),
			unsigned int flags, CUdevice device)
{
	return soft_cuCtxCreate_v2(context, flags, device);
}

/* Enter @context; NULL means the thread's current context. Returns with the lock held unless it
 * fails. */
static int enter_named(CUcontext *context)
{
	int status = soft_cu_check_driver();

	if (!*context)
		return soft_cu_enter(context);
	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	return soft_cu_knows_context(*context) ? CUDA_SUCCESS
					       : soft_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
}

int soft_cuCtxGetId(CUcontext context, unsigned long long *id)
{
	const int status = id ? enter_named(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*id = context->id;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
	const int status = device ? enter_named(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*device = context->device;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxSynchronize_v2(CUcontext context)
{
	const int status = enter_named(&context);

	if (status)
		return status;
	soft_cu_drain_context(context);
	return soft_cu_leave(context->failed);
}

/* Limits and the cache split are stored but have no effect. */

enum { LIMITS = sizeof((CUcontext)0)->limits / sizeof *((CUcontext)0)->limits };

int soft_cuCtxGetLimit(size_t *value, int limit)
{
	CUcontext context;
	const int status = value && limit >= 0 && limit < LIMITS ? soft_cu_enter(&context)
								 : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*value = context->limits[limit];
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxSetLimit(int limit, size_t value)
{
	CUcontext context;
	const int status =
		limit >= 0 && limit < LIMITS ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	context->limits[limit] = value;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxGetCacheConfig(int *config)
{
	CUcontext context;
	const int status = config ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*config = context->cache_config;
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuCtxSetCacheConfig(int config)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	context->cache_config = config;
	return soft_cu_leave(CUDA_SUCCESS);
}

/* Peers: every device reaches the memory of every other device, but a context must enable it.
 * ---- */

int soft_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	int status = can ? check_device(device) : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		status = check_device(peer);
	if (!status)
		*can = device != peer;
	return status;
}

int soft_cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to)
{
	enum { RANK = 1, ARRAYS = 4 };
	int status = value && attribute >= RANK && attribute <= ARRAYS ? check_device(from)
								       : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		status = check_device(to);
	if (!status)
		*value = attribute != RANK;
	return status;
}

static int change_peer(CUcontext peer, bool enable)
{
	CUcontext context;
	int status = soft_cu_enter(&context);
	uint32_t bit;

	if (status)
		return status;
	if (!soft_cu_knows_context(peer) || peer->device == context->device)
		return soft_cu_leave(peer == context || !soft_cu_knows_context(peer)
					     ? CUDA_ERROR_INVALID_CONTEXT
					     : CUDA_ERROR_INVALID_DEVICE);
	bit = UINT32_C(1) << peer->device;
	if (!(context->peers & bit) == !enable)
		status = enable ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
				: CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	else
		context->peers ^= bit;
	return soft_cu_leave(status);
}

int soft_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : change_peer(peer, true);
}

int soft_cuCtxDisablePeerAccess(CUcontext peer)
{
	return change_peer(peer, false);
}
