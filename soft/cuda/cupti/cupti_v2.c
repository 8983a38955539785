/* SPDX-License-Identifier: MIT */
/* The _v2 functions, which take a subscriber. NVIDIA's library supports several subscribers at
 * once, each with separate buffers. NEEDSWORK: this library supports one, without selected fields.
 * As in NVIDIA's library, these functions and the functions of the first form exclude each
 * other. */
#include "soft/cuda/cupti/cupti_parts.h"

static CUpti_BuffersCallbackRequestFunc_v2 request;   /* atomic */
static CUpti_BuffersCallbackCompleteFunc_v2 complete; /* atomic */

int cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user,
		      CUpti_SubscriberParams *parameters)
{
	const int status = subscriber && parameters ? soft_cupti_attach("cuptiSubscribe_v2")
						    : CUPTI_ERROR_INVALID_PARAMETER;

	if (status)
		return status;
	if (soft_cupti_config.cupti_version < SOFT_CUPTI_13_5)
		return CUPTI_ERROR_NOT_SUPPORTED;
	return callback && soft_cupti_take_form(SOFT_CUPTI_V2)
		       ? soft_cupti_subscribe(subscriber, callback, user)
		       : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

int cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, uint64_t *timestamp)
{
	const int status = soft_cupti_check_subscriber("cuptiGetTimestamp_v2", subscriber);

	return status ? status : cuptiGetTimestamp(timestamp);
}

static void request_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
	CUpti_BufferCallbackRequestInfo info = {.structSize = sizeof info};

	__atomic_load_n(&request, __ATOMIC_ACQUIRE)(buffer, size, records, &info);
}

static void complete_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	CUpti_BufferCallbackCompleteInfo info = {.structSize = sizeof info,
						 .threadId = soft_cupti_thread_id()};

	(void)context;
	(void)stream;
	__atomic_load_n(&complete, __ATOMIC_ACQUIRE)(buffer, size, valid, &info);
}

int cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber,
				      CUpti_BuffersCallbackRequestFunc_v2 requested,
				      CUpti_BuffersCallbackCompleteFunc_v2 completed)
{
	const int status =
		requested && completed
			? soft_cupti_check_subscriber("cuptiActivityRegisterCallbacks_v2",
						      subscriber)
			: CUPTI_ERROR_INVALID_PARAMETER;

	if (status)
		return status;
	__atomic_store_n(&request, requested, __ATOMIC_RELEASE);
	__atomic_store_n(&complete, completed, __ATOMIC_RELEASE);
	return soft_cupti_register(request_buffer, complete_buffer);
}

int cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, int kind, void *config)
{
	const int status = soft_cupti_check_subscriber("cuptiActivityEnable_v2", subscriber);

	(void)config;
	return status ? status : soft_cupti_enable(kind);
}

int cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, int kind, void *config)
{
	const int status = soft_cupti_check_subscriber("cuptiActivityDisable_v2", subscriber);

	(void)config;
	return status ? status : soft_cupti_disable(kind);
}

int cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *buffer, size_t valid,
				  CUpti_Activity **record)
{
	(void)subscriber;
	return cuptiActivityGetNextRecord(buffer, valid, record);
}

int cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext context,
					 uint32_t stream, size_t *dropped)
{
	(void)subscriber;
	return cuptiActivityGetNumDroppedRecords(context, stream, dropped);
}
