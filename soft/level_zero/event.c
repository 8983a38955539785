/* SPDX-License-Identifier: MIT */
/* Event pools, events, fences. The program and the commands that use an event hold references to
 * it, so that destroying an event too early does no harm. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

#define NS_PER_S   1000000000u
#define POOL_TIMES (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | NEWER_POOL_FLAG_MAPPED_TIMESTAMP)

/* Pools ------------------------------------------------------------------------------ */

static bool refuses_times(uint32_t flags, uint32_t times)
{
	return flags & times && soft_ze_fails(SOFT_ZE_FAIL_TIMES);
}

static struct soft_ze_event_share *create_share(uint32_t count)
{
	struct soft_ze_event_share *share = calloc(1, sizeof *share);

	if (!share)
		return NULL;
	share->users = 1;
	share->bytes = count * sizeof *share->states;
	share->states = soft_share_allocate(share->bytes, 0, &share->offset);
	if (share->states)
		return share;
	free(share);
	return NULL;
}

static struct soft_ze_event_share *get_share(struct soft_ze_event_share *share)
{
	if (share)
		__atomic_add_fetch(&share->users, 1, __ATOMIC_RELAXED);
	return share;
}

static void put_share(struct soft_ze_event_share *share)
{
	if (!share || __atomic_sub_fetch(&share->users, 1, __ATOMIC_ACQ_REL))
		return;
	if (share->imported)
		soft_share_close(share->states, share->bytes);
	else
		soft_share_free(share->states, share->bytes, share->offset, share->is_exported);
	if (share->is_exported)
		close(share->handle.file);
	if (share->is_exported || share->imported)
		__atomic_sub_fetch(&soft_ze_shared_pools, 1, __ATOMIC_RELAXED);
	free(share);
}

ze_result_t zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
			      uint32_t device_count, ze_device_handle_t *devices,
			      ze_event_pool_handle_t *out)
{
	SOFT_ZE_OBJECT(c, soft_ze_context, context, SOFT_ZE_CONTEXT);
	struct soft_ze_pool *pool;

	(void)device_count, (void)devices;
	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!desc->count)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	if (refuses_times(desc->flags, POOL_TIMES))
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	pool = soft_ze_object_create(SOFT_ZE_POOL, sizeof *pool);
	if (!pool)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	pool->context = c;
	pool->count = desc->count;
	pool->flags = desc->flags;
	if (desc->flags & ZE_EVENT_POOL_FLAG_IPC) {
		pool->share = create_share(desc->count);
		if (!pool->share) {
			soft_ze_object_destroy(pool, SOFT_ZE_POOL);
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		}
	}
	for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext)
		if ((int)next->stype == NEWER_STYPE_COUNTER_BASED_POOL)
			pool->counter_based = true;
	*out = (ze_event_pool_handle_t)pool;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t handle)
{
	SOFT_ZE_OBJECT(pool, soft_ze_pool, handle, SOFT_ZE_POOL);

	put_share(pool->share);
	soft_ze_object_destroy(pool, SOFT_ZE_POOL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeEventPoolGetContextHandle(ze_event_pool_handle_t handle,
					      ze_context_handle_t *out)
{
	SOFT_ZE_OBJECT(pool, soft_ze_pool, handle, SOFT_ZE_POOL);

	*out = (ze_context_handle_t)pool->context;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeEventPoolGetFlags(ze_event_pool_handle_t handle, ze_event_pool_flags_t *out)
{
	SOFT_ZE_OBJECT(pool, soft_ze_pool, handle, SOFT_ZE_POOL);

	*out = pool->flags;
	return ZE_RESULT_SUCCESS;
}

/* Pools of several processes ------------------------------------------------------------- */

_Static_assert(sizeof(struct soft_share_handle) <= sizeof(ze_ipc_event_pool_handle_t), "it fits");

ze_result_t zeEventPoolGetIpcHandle(ze_event_pool_handle_t handle, ze_ipc_event_pool_handle_t *out)
{
	SOFT_ZE_OBJECT(pool, soft_ze_pool, handle, SOFT_ZE_POOL);
	struct soft_ze_event_share *share = pool->share;
	ze_result_t status = ZE_RESULT_SUCCESS;

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!share || share->imported)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&soft_ze_lock);
	if (!share->is_exported) {
		share->handle = (struct soft_share_handle){.kind = SOFT_SHARE_EVENTS,
							   .detail = pool->flags,
							   .count = pool->count,
							   .offset = share->offset,
							   .bytes = share->bytes};
		share->is_exported = soft_share_export(&share->handle);
		if (share->is_exported)
			__atomic_add_fetch(&soft_ze_shared_pools, 1, __ATOMIC_RELAXED);
		else
			status = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	memset(out, 0, sizeof *out);
	memcpy(out->data, &share->handle, sizeof share->handle);
	/* waiters for events of the pool poll from now on */
	pthread_cond_broadcast(&soft_ze_changed);
	pthread_mutex_unlock(&soft_ze_lock);
	return status;
}

/* The pool and its events keep the descriptor open. */
ze_result_t newer_zeEventPoolPutIpcHandle(ze_context_handle_t context,
					  ze_ipc_event_pool_handle_t handle)
{
	struct soft_share_handle h;

	SOFT_ZE_VALID(context, SOFT_ZE_CONTEXT);
	memcpy(&h, handle.data, sizeof h);
	return h.kind == SOFT_SHARE_EVENTS ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t context, ze_ipc_event_pool_handle_t handle,
				     ze_event_pool_handle_t *out)
{
	SOFT_ZE_OBJECT(c, soft_ze_context, context, SOFT_ZE_CONTEXT);
	struct soft_share_handle h;
	struct soft_ze_event_share *share;
	struct soft_ze_pool *pool;

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	memcpy(&h, handle.data, sizeof h);
	share = calloc(1, sizeof *share);
	pool = soft_ze_object_create(SOFT_ZE_POOL, sizeof *pool);
	if (share)
		share->states = soft_share_open(&h, SOFT_SHARE_EVENTS);
	if (!share || !pool || !share->states) {
		if (pool)
			soft_ze_object_destroy(pool, SOFT_ZE_POOL);
		free(share);
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	}
	share->users = 1;
	share->imported = true;
	share->bytes = h.bytes;
	pool->context = c;
	pool->count = h.count;
	pool->flags = h.detail;
	pool->share = share;
	__atomic_add_fetch(&soft_ze_shared_pools, 1, __ATOMIC_RELAXED);
	*out = (ze_event_pool_handle_t)pool;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t handle)
{
	SOFT_ZE_OBJECT(pool, soft_ze_pool, handle, SOFT_ZE_POOL);

	return pool->share && pool->share->imported ? zeEventPoolDestroy(handle)
						    : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* Events ------------------------------------------------------------------------------- */

struct soft_ze_event *soft_ze_event_get(struct soft_ze_event *event)
{
	__atomic_add_fetch(&event->users, 1, __ATOMIC_RELAXED);
	return event;
}

void soft_ze_event_put(struct soft_ze_event *event)
{
	if (!event || __atomic_sub_fetch(&event->users, 1, __ATOMIC_ACQ_REL))
		return;
	put_share(event->share);
	soft_ze_object_destroy(event, SOFT_ZE_EVENT);
}

bool soft_ze_event_is_done(const struct soft_ze_event *e, uint64_t number)
{
	const struct soft_ze_turn *t = e->pending;

	if (!e->counter_based)
		return __atomic_load_n(&e->state->signalled, __ATOMIC_ACQUIRE) != 0;
	while (t && t->number != number)
		t = t->next;
	return !t;
}

/* For host queries: return true if the signal that was appended last is done. Call without the
 * lock. */
static bool is_done(void *argument)
{
	const struct soft_ze_event_state *s = ((struct soft_ze_event *)argument)->state;

	if (!((struct soft_ze_event *)argument)->counter_based)
		return __atomic_load_n(&s->signalled, __ATOMIC_ACQUIRE) != 0;
	return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE) >=
	       __atomic_load_n(&s->target, __ATOMIC_ACQUIRE);
}

static uint64_t keep_valid_bits(uint64_t ticks)
{
	unsigned bits = soft_ze_config.kernel_bits;

	return bits < 64 ? ticks & ((UINT64_C(1) << bits) - 1) : ticks;
}

void soft_ze_event_expect(struct soft_ze_event *e, struct soft_ze_turn *turn)
{
	turn->number = __atomic_add_fetch(&e->state->target, 1, __ATOMIC_RELEASE);
	turn->next = e->pending;
	e->pending = turn;
}

/* Remove a turn. If the host has already signalled the event, the turn is not in the list. */
static void forget_turn(struct soft_ze_event *e, const struct soft_ze_turn *turn)
{
	struct soft_ze_turn **at = &e->pending;

	while (*at && *at != turn)
		at = &(*at)->next;
	if (*at)
		*at = turn->next;
}

struct soft_ze_times soft_ze_times_until_now(uint64_t start)
{
	uint64_t now = soft_ze_host_ns(), end = soft_clock_ticks(&soft_ze_config.clock, now);

	if (end <= start)
		end = start + 1;
	return (struct soft_ze_times){.start = keep_valid_bits(start),
				      .end = keep_valid_bits(end),
				      .host_start_ns = now - (end - start) * NS_PER_S /
								     soft_ze_config.clock.hz,
				      .host_end_ns = now};
}

void soft_ze_event_signal(struct soft_ze_event *e, struct soft_ze_turn *turn, ze_result_t status,
			  const struct soft_ze_times *times)
{
	if (e->counter_based) {
		forget_turn(e, turn);
		if (turn->number < e->state->done) /* keep the times of the command that ran last */
			return;
	}
	e->state->times = *times;
	e->state->status = status;
	if (e->counter_based)
		__atomic_store_n(&e->state->done, turn->number, __ATOMIC_RELEASE);
	__atomic_store_n(&e->state->signalled, 1, __ATOMIC_RELEASE);
}

void soft_ze_event_read_times(const struct soft_ze_event *e, ze_kernel_timestamp_result_t *out)
{
	out->global.kernelStart = out->context.kernelStart = e->state->times.start;
	out->global.kernelEnd = out->context.kernelEnd = e->state->times.end;
}

static ze_result_t create_event(struct soft_ze_pool *pool, bool counter_based, bool stamped,
				ze_event_handle_t *out)
{
	struct soft_ze_event *e;

	if (soft_ze_fails(SOFT_ZE_FAIL_EVENT))
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	e = soft_ze_object_create(SOFT_ZE_EVENT, sizeof *e);
	if (!e)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	e->users = 1;
	e->state = &e->own;
	e->pool = pool;
	e->counter_based = counter_based;
	e->stamped = stamped;
	*out = (ze_event_handle_t)e;
	return ZE_RESULT_SUCCESS;
}

ze_result_t soft_ze_event_create_counter_based(bool stamped, ze_event_handle_t *out)
{
	return create_event(NULL, true, stamped, out);
}

/* Use the shared state. Only the process that made the pool resets it. */
static void share_state(struct soft_ze_event *e, struct soft_ze_event_share *share, uint32_t index)
{
	if (!share)
		return;
	e->share = get_share(share);
	e->state = &share->states[index];
	if (!share->imported)
		*e->state = (struct soft_ze_event_state){0};
}

ze_result_t zeEventCreate(ze_event_pool_handle_t handle, const ze_event_desc_t *desc,
			  ze_event_handle_t *out)
{
	SOFT_ZE_OBJECT(pool, soft_ze_pool, handle, SOFT_ZE_POOL);
	struct soft_ze_event *e;
	ze_result_t status;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->index >= pool->count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	status = create_event(pool, pool->counter_based, pool->flags & POOL_TIMES, out);
	if (!status) {
		e = (struct soft_ze_event *)*out;
		e->signal_scope = desc->signal;
		e->wait_scope = desc->wait;
		share_state(e, pool->share, desc->index);
	}
	return status;
}

ze_result_t newer_zeEventCounterBasedCreate(ze_context_handle_t context, ze_device_handle_t device,
					    const struct newer_counter_based_desc *desc,
					    ze_event_handle_t *out)
{
	const uint32_t times = NEWER_COUNTER_DEVICE_TIMES | NEWER_COUNTER_HOST_TIMES;

	(void)context, (void)device;
	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (refuses_times(desc->flags, times))
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	return soft_ze_event_create_counter_based(desc->flags & times, out);
}

ze_result_t zeEventDestroy(ze_event_handle_t handle)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	e->kind = 0;
	soft_ze_event_put(e);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	if (!is_done(e) && !soft_ze_wait(is_done, e, timeout))
		return ZE_RESULT_NOT_READY;
	return e->state->status;
}

ze_result_t zeEventQueryStatus(ze_event_handle_t handle)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	return is_done(e) ? e->state->status : ZE_RESULT_NOT_READY;
}

/* As on hardware, time stamps are kept, and the call does not wait. */
ze_result_t zeEventHostReset(ze_event_handle_t handle)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	__atomic_store_n(&e->state->signalled, 0, __ATOMIC_RELEASE);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *out)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!e->stamped)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!is_done(e))
		return ZE_RESULT_NOT_READY;
	soft_ze_event_read_times(e, out);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventQueryTimestampsExp(ze_event_handle_t event, ze_device_handle_t device,
				      uint32_t *count, ze_kernel_timestamp_result_t *out)
{
	(void)device;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!*count || !out) {
		*count = 1;
		return ZE_RESULT_SUCCESS;
	}
	*count = 1;
	return zeEventQueryKernelTimestamp(event, out);
}

/* Every command has one packet of time stamps. */
ze_result_t newer_zeEventQueryKernelTimestampsExt(ze_event_handle_t handle,
						  ze_device_handle_t device, uint32_t *count,
						  struct newer_event_times *out)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);
	SOFT_ZE_VALID(device, SOFT_ZE_DEVICE);
	ze_result_t status = ZE_RESULT_SUCCESS;
	bool asks;

	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	asks = !*count || !out;
	*count = 1;
	if (asks)
		return ZE_RESULT_SUCCESS;
	if (!e->stamped)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!is_done(e))
		return ZE_RESULT_NOT_READY;
	if (out->ticks)
		soft_ze_event_read_times(e, out->ticks);
	if (out->host) {
		out->host->global.start = e->state->times.host_start_ns;
		out->host->global.end = e->state->times.host_end_ns;
		out->host->context = out->host->global;
	}
	return status;
}

ze_result_t newer_zeEventGetEventPool(ze_event_handle_t handle, ze_event_pool_handle_t *out)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	*out = (ze_event_pool_handle_t)e->pool;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeEventGetSignalScope(ze_event_handle_t handle, ze_event_scope_flags_t *out)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	*out = e->signal_scope;
	return ZE_RESULT_SUCCESS;
}

ze_result_t newer_zeEventGetWaitScope(ze_event_handle_t handle, ze_event_scope_flags_t *out)
{
	SOFT_ZE_OBJECT(e, soft_ze_event, handle, SOFT_ZE_EVENT);

	*out = e->wait_scope;
	return ZE_RESULT_SUCCESS;
}

/* Fences ------------------------------------------------------------------------------- */

ze_result_t zeFenceCreate(ze_command_queue_handle_t queue, const ze_fence_desc_t *desc,
			  ze_fence_handle_t *out)
{
	struct soft_ze_fence *fence;

	if (!soft_ze_check(queue, SOFT_ZE_QUEUE))
		return soft_ze_refuse(queue);
	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	fence = soft_ze_object_create(SOFT_ZE_FENCE, sizeof *fence);
	if (!fence)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	fence->signalled = !!(desc->flags & ZE_FENCE_FLAG_SIGNALED);
	*out = (ze_fence_handle_t)fence;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeFenceDestroy(ze_fence_handle_t handle)
{
	SOFT_ZE_OBJECT(fence, soft_ze_fence, handle, SOFT_ZE_FENCE);

	soft_ze_object_destroy(fence, SOFT_ZE_FENCE);
	return ZE_RESULT_SUCCESS;
}

static bool is_signalled(void *argument)
{
	return __atomic_load_n(&((struct soft_ze_fence *)argument)->signalled, __ATOMIC_ACQUIRE);
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t handle, uint64_t timeout)
{
	SOFT_ZE_OBJECT(fence, soft_ze_fence, handle, SOFT_ZE_FENCE);

	if (!is_signalled(fence) && !soft_ze_wait(is_signalled, fence, timeout))
		return ZE_RESULT_NOT_READY;
	return fence->status;
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t handle)
{
	SOFT_ZE_OBJECT(fence, soft_ze_fence, handle, SOFT_ZE_FENCE);

	return is_signalled(fence) ? fence->status : ZE_RESULT_NOT_READY;
}

ze_result_t zeFenceReset(ze_fence_handle_t handle)
{
	SOFT_ZE_OBJECT(fence, soft_ze_fence, handle, SOFT_ZE_FENCE);

	pthread_mutex_lock(&soft_ze_lock);
	fence->signalled = 0;
	pthread_mutex_unlock(&soft_ze_lock);
	return ZE_RESULT_SUCCESS;
}
