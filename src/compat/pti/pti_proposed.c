/* SPDX-License-Identifier: MIT */
/* PTI's callback API in the proposed form: every function of each driver, and critical events. */
#include <pti/pti_callback.h>

#include "pti.h"

enum { TEXT_BYTES = 512 };

static void notify_call(const struct gputap_call *call, uint64_t *data, void *subscriber)
{
	const struct pti_subscriber *s = subscriber;
	const pti_callback_function fn = (pti_callback_function)s->callback;
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);
	const uint32_t group = pti_group_of(call->domain);
	const bool is_exit = call->phase == GPUTAP_CALL_PHASE_EXIT;
	pti_apicall_callback_data d = {
		._site = is_exit ? PTI_SITE_EXIT : PTI_SITE_ENTER,
		._api_name = pti_operation_name(call->domain, call->operation),
		._args = call->args,
		._kernel_name = pti_kernel_name_of(op, call),
		._return_code = is_exit && group == PTI_LEVEL_ZERO ? call->ret : NULL,
		._backend_context_handle = pti_context_of(op, call),
		._correlation_id = (uint32_t)call->correlation,
		._local_data = data,
	};

	fn(s->user, group == PTI_SYCL ? PTI_DOMAIN_RUNTIME_API : PTI_DOMAIN_DRIVER_API,
	   (pti_api_group_id)group, op->id, &d);
}

static void notify_event(struct pti_subscriber *s, const struct gputap_event *event)
{
	const pti_callback_function fn = (pti_callback_function)s->callback;
	char text[TEXT_BYTES];
	pti_critical_event_callback_data d = {(pti_result)pti_event_result(event->code), text};

	pti_event_text(event, text, sizeof text);
	fn(s->user, PTI_DOMAIN_PTI_CRITICAL_EVENT, PTI_API_GROUP_RESERVED, 0, &d);
}

static const struct pti_form proposed = {notify_call, notify_event};

PTI_EXPORT pti_result ptiCallbackSubscribe(pti_callback_subscriber *subscriber,
					   pti_callback_function callback, void *user_data)
{
	return (pti_result)pti_subscriber_create((void **)subscriber, &proposed,
						 (void (*)(void))callback, user_data);
}

/* Unsubscribe a subscriber of either form. */
PTI_EXPORT pti_result ptiCallbackUnsubscribe(pti_callback_subscriber subscriber)
{
	return (pti_result)pti_subscriber_destroy(subscriber);
}

/* Enable the functions of the drivers or of the runtime. */
static uint32_t enable_functions(struct pti_subscriber *s, bool enable, bool runtime)
{
	uint32_t result = PTI_OK;

	for (unsigned d = 0; d < PTI_DOMAINS && result == PTI_OK; d++)
		if ((pti_group_of(pti_domains[d]) == PTI_SYCL) == runtime)
			result = pti_subscriber_select(s, pti_domains[d], NULL, 0, enable);
	return result;
}

PTI_EXPORT pti_result ptiCallbackEnableDomain(uint32_t enable, pti_callback_subscriber subscriber,
					      pti_callback_domain domain)
{
	struct pti_subscriber *s = pti_subscriber_get(subscriber, &proposed);
	uint32_t result = PTI_BAD_ARGUMENT;

	if (!s)
		return PTI_ERROR_BAD_ARGUMENT;
	if (domain == PTI_DOMAIN_DRIVER_API || domain == PTI_DOMAIN_RUNTIME_API)
		result = enable_functions(s, enable != 0, domain == PTI_DOMAIN_RUNTIME_API);
	else if (domain == PTI_DOMAIN_PTI_CRITICAL_EVENT) {
		atomic_store(&s->events, enable != 0);
		result = PTI_OK;
	}
	pti_subscriber_put();
	return (pti_result)result;
}

static uint32_t enable_one(struct pti_subscriber *s, bool enable, uint32_t group, uint32_t id)
{
	uint32_t domain, operation;

	if (group != PTI_LEVEL_ZERO && group != PTI_OPENCL && group != PTI_SYCL)
		return PTI_BAD_ARGUMENT;
	if (!pti_operation_find(group, id, &domain, &operation))
		return PTI_BAD_ID;
	return pti_subscriber_select(s, domain, &operation, 1, enable);
}

PTI_EXPORT pti_result ptiCallbackEnable(uint32_t enable, pti_callback_subscriber subscriber,
					pti_api_group_id api_group_id, pti_api_id api_id)
{
	struct pti_subscriber *s = pti_subscriber_get(subscriber, &proposed);
	uint32_t result;

	if (!s)
		return PTI_ERROR_BAD_ARGUMENT;
	result = enable_one(s, enable != 0, api_group_id, api_id);
	pti_subscriber_put();
	return (pti_result)result;
}
