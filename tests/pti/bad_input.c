/* SPDX-License-Identifier: MIT */
/* Checks the results of PTI's callback API in its proposed form for invalid input. Prints errors
 * only. */
#include <pti/pti_callback.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <pti/pti_driver_opencl_api_ids.h>
#include <pti/pti_runtime_sycl_api_ids.h>
#include <stdio.h>

static int failures;

#define IS(call, expected)                                                       \
	do {                                                                     \
		pti_result it = (call);                                          \
		if (it != (expected)) {                                          \
			printf("line %d: %s is %d\n", __LINE__, #call, (int)it); \
			failures++;                                              \
		}                                                                \
	} while (0)

static void on_callback(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			void *data)
{
	(void)user, (void)domain, (void)group, (void)id, (void)data;
}

/* Pass an invalid subscriber to all functions that take a subscriber. */
static void refuse(pti_callback_subscriber s)
{
	IS(ptiCallbackUnsubscribe(s), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackEnableDomain(1, s, PTI_DOMAIN_DRIVER_API), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_LEVELZERO, zeInit_id), PTI_ERROR_BAD_ARGUMENT);
}

static void take(pti_callback_subscriber s)
{
	const pti_callback_domain past = (pti_callback_domain)4;
	const pti_api_group_id group = (pti_api_group_id)6;

	IS(ptiCallbackEnableDomain(1, s, PTI_DOMAIN_INVALID), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackEnableDomain(1, s, past), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_RESERVED, 1), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackEnable(1, s, group, 1), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_SYCL, 0), PTI_ERROR_BAD_API_ID);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_SYCL, 500), PTI_ERROR_BAD_API_ID);
	/* published, but no longer implemented */
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_SYCL, urEnqueueKernelLaunch_id),
	   PTI_ERROR_BAD_API_ID);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_LEVELZERO, 0), PTI_ERROR_BAD_API_ID);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_LEVELZERO, 0xffffffff), PTI_ERROR_BAD_API_ID);
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_OPENCL, 60000), PTI_ERROR_BAD_API_ID);
	/* an id of another group */
	IS(ptiCallbackEnable(1, s, PTI_API_GROUP_OPENCL, zetMetricGroupGet_id),
	   PTI_ERROR_BAD_API_ID);
	/* twice */
	for (int i = 0; i < 2; i++) {
		IS(ptiCallbackEnable(1, s, PTI_API_GROUP_LEVELZERO, zeInit_id), PTI_SUCCESS);
		IS(ptiCallbackEnable(1, s, PTI_API_GROUP_OPENCL, clFinish_id), PTI_SUCCESS);
		IS(ptiCallbackEnable(1, s, PTI_API_GROUP_SYCL, urQueueFinish_id), PTI_SUCCESS);
		IS(ptiCallbackEnableDomain(1, s, PTI_DOMAIN_PTI_CRITICAL_EVENT), PTI_SUCCESS);
	}
	for (int i = 0; i < 2; i++) {
		IS(ptiCallbackEnable(0, s, PTI_API_GROUP_LEVELZERO, zeInit_id), PTI_SUCCESS);
		IS(ptiCallbackEnableDomain(0, s, PTI_DOMAIN_DRIVER_API), PTI_SUCCESS);
		IS(ptiCallbackEnableDomain(0, s, PTI_DOMAIN_RUNTIME_API), PTI_SUCCESS);
		IS(ptiCallbackEnableDomain(0, s, PTI_DOMAIN_PTI_CRITICAL_EVENT), PTI_SUCCESS);
	}
}

/* Subscribe as often as possible. One more subscription is refused and changes nothing. */
static void fill(void)
{
	pti_callback_subscriber all[80] = {NULL}, none = NULL;
	int count = 0;

	while (count < 80 && ptiCallbackSubscribe(&all[count], on_callback, NULL) == PTI_SUCCESS)
		count++;
	if (count < 32 || count == 80) {
		printf("%d subscribers\n", count);
		failures++;
	}
	IS(ptiCallbackSubscribe(&none, on_callback, NULL), PTI_ERROR_INTERNAL);
	if (none)
		failures++;
	while (count-- > 0)
		IS(ptiCallbackUnsubscribe(all[count]), PTI_SUCCESS);
}

int main(void)
{
	pti_callback_subscriber s = NULL, other = NULL, again = NULL;
	int on_stack;

	IS(ptiCallbackSubscribe(NULL, on_callback, NULL), PTI_ERROR_BAD_ARGUMENT);
	IS(ptiCallbackSubscribe(&s, NULL, NULL), PTI_ERROR_BAD_ARGUMENT);
	refuse(NULL);
	refuse((pti_callback_subscriber)(void *)&on_stack);
	IS(ptiCallbackSubscribe(&s, on_callback, NULL), PTI_SUCCESS);
	take(s);
	IS(ptiCallbackSubscribe(&other, on_callback, NULL), PTI_SUCCESS);
	IS(ptiCallbackUnsubscribe(s), PTI_SUCCESS);
	refuse(s); /* gone */
	take(other);
	/* once more, as another subscriber */
	IS(ptiCallbackSubscribe(&again, on_callback, NULL), PTI_SUCCESS);
	if (again == other)
		failures++;
	IS(ptiCallbackUnsubscribe(again), PTI_SUCCESS);
	take(other);
	IS(ptiCallbackUnsubscribe(other), PTI_SUCCESS);
	refuse(other);
	fill();
	return failures != 0;
}
