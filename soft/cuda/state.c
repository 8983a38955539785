/* SPDX-License-Identifier: MIT */
/* State shared by the whole driver: its lock, whether it has started, and each thread's stack of
 * contexts. */
#include "soft/cuda/cuda_parts.h"

pthread_mutex_t soft_cu_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t soft_cu_changed = PTHREAD_COND_INITIALIZER;
struct soft_cu_config soft_cu_config;
bool soft_cu_is_initialized, soft_cu_is_forked;
struct soft_cu_context *soft_cu_contexts;
_Thread_local struct soft_cu_stack soft_cu_stack;

int soft_cu_check_driver(void)
{
	return soft_cu_is_initialized && !soft_cu_is_forked ? CUDA_SUCCESS
							    : CUDA_ERROR_NOT_INITIALIZED;
}

bool soft_cu_fails(enum soft_cu_fault fault)
{
	return soft_fault_now(&soft_cu_config.faults[fault]);
}

bool soft_cu_knows_context(CUcontext context)
{
	for (struct soft_cu_context *c = soft_cu_contexts; c; c = c->next)
		if (c == context)
			return true;
	return false;
}

CUcontext soft_cu_current(void)
{
	return soft_cu_stack.depth ? soft_cu_stack.at[soft_cu_stack.depth - 1] : NULL;
}

int soft_cu_enter(CUcontext *context)
{
	const int status = soft_cu_check_driver();

	*context = soft_cu_current();
	if (status)
		return status;
	if (!*context)
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&soft_cu_lock);
	if (!soft_cu_knows_context(*context))
		return soft_cu_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
	return (*context)->failed ? soft_cu_leave((*context)->failed) : CUDA_SUCCESS;
}
