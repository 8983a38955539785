/* SPDX-License-Identifier: MIT */
/* Defines the table of contexts, and the lock for all tables and configuration. sdk_context.c
 * operates on contexts.
 *
 * A context's handle is stored last (release) and looked up without the lock (acquire). A dropped
 * context has the handle 0. */
#include <pthread.h>
#include <string.h>

#include "sdk.h"

struct sdk_context sdk_contexts[SDK_CONTEXTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t handles = SDK_FIRST_HANDLE;

void sdk_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void sdk_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

struct sdk_context *sdk_context_of(rocprofiler_context_id_t id)
{
	for (int i = 0; id.handle && i < SDK_CONTEXTS; i++)
		if (__atomic_load_n(&sdk_contexts[i].handle, __ATOMIC_ACQUIRE) == id.handle)
			return &sdk_contexts[i];
	return NULL;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t *context_id)
{
	struct sdk_context *c = NULL;

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (context_id->handle)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO;
	sdk_lock();
	for (int i = 0; i < SDK_CONTEXTS && !c; i++)
		if (!sdk_contexts[i].handle)
			c = &sdk_contexts[i];
	if (c) {
		memset(c, 0, sizeof *c);
		c->client = sdk_current_client();
		__atomic_store_n(&c->handle, handles++, __ATOMIC_RELEASE);
		context_id->handle = c->handle;
	}
	sdk_unlock();
	return c ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id,
							      int *status)
{
	struct sdk_context *c = sdk_context_of(context_id);

	*status = c && atomic_load(&c->active);
	return c ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_context_is_valid(rocprofiler_context_id_t context_id,
							     int *status)
{
	struct sdk_context *c = sdk_context_of(context_id);

	*status = c != NULL;
	return c ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}
