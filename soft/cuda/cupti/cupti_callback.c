/* SPDX-License-Identifier: MIT */
/* Callbacks: the process's only subscriber, and the callbacks that it has enabled. EnableDomain(0)
 * also disables ids that were enabled singly. */
#include <stdlib.h>
#include <string.h>

#include "generated/cuda_driver_ops.h"
#include "soft/cuda/cupti/cupti_parts.h"

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback; /* atomic; NULL: none */
	void *user;
};

static struct CUpti_Subscriber_st the_one;

/* NVIDIA's library has a list of subscriptions, of at most one element, in a heap object. */
struct node {
	struct node *next, *previous;
	struct CUpti_Subscriber_st *subscriber;
};
static struct registry {
	void *others[5];
	struct {
		struct node *next, *previous;
	} list;
} *volatile registry;
static uint8_t enabled[CUPTI_CB_DOMAIN_SIZE][SOFT_CUPTI_NUMBERS]; /* atomic */

static const char *const driver_names[SOFT_CUPTI_NUMBERS] = {
#define X(name, text) [GT_CUDA_DRIVER_##name] = (text),
#include "generated/cuda_driver_exports.inc"
#undef X
};

/* CUPTI uses no ids from this number on. */
enum { DRIVER_IDS = 896 };

static const char *const resource_names[] = {
	[SOFT_CU_CONTEXT_CREATED] = "CONTEXT_CREATED",
	[SOFT_CU_CONTEXT_DESTROYED] = "CONTEXT_DESTROY_STARTING",
	[SOFT_CU_STREAM_CREATED] = "STREAM_CREATED",
	[SOFT_CU_STREAM_DESTROYED] = "STREAM_DESTROY_STARTING",
	[SOFT_CU_INIT_FINISHED] = "CU_INIT_FINISHED",
	[SOFT_CU_MODULE_LOADED] = "MODULE_LOADED",
	[SOFT_CU_MODULE_UNLOADED] = "MODULE_UNLOAD_STARTING",
	[SOFT_CU_GRAPH_CREATED] = "GRAPH_CREATED",
	[SOFT_CU_GRAPH_DESTROYED] = "GRAPH_DESTROY_STARTING",
	[SOFT_CU_GRAPH_CLONED] = "GRAPH_CLONED",
	[SOFT_CU_NODE_CREATED] = "GRAPHNODE_CREATED",
	[SOFT_CU_EXEC_CREATED] = "GRAPHEXEC_CREATED",
	[SOFT_CU_EXEC_DESTROYED] = "GRAPHEXEC_DESTROY_STARTING",
	[SOFT_CU_NODE_CLONED] = "GRAPHNODE_CLONED",
};

enum { RESOURCES = sizeof resource_names / sizeof *resource_names };

int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
	if (!name)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = NULL;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < DRIVER_IDS)
		*name = driver_names[id];
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id < RESOURCES)
		*name = resource_names[id];
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

bool soft_cupti_launches(uint32_t number)
{
	static const char *const begins[] = {"cuLaunch", "cuMemcpy", "cuMemset", "cuGraphLaunch",
					     "cuMemPrefetch"};
	const char *name = number < SOFT_CUPTI_NUMBERS ? driver_names[number] : NULL;

	for (size_t i = 0; name && i < sizeof begins / sizeof *begins; i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* The subscriber -------------------------------------------------------------------- */

static void register_subscriber(void)
{
	struct registry *r = registry ? registry : calloc(1, sizeof *r);
	struct node *node = r && !r->list.next ? calloc(1, sizeof *node) : NULL;

	if (node) {
		node->next = node->previous = (struct node *)(void *)&r->list;
		node->subscriber = &the_one;
		r->list.next = r->list.previous = node;
	}
	registry = r;
}

int soft_cupti_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			 void *user)
{
	CUpti_CallbackFunc none = NULL;

	if (soft_cupti_fails(SOFT_CUPTI_FAIL_SUBSCRIBE) ||
	    __atomic_load_n(&the_one.callback, __ATOMIC_ACQUIRE))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	the_one.user = user;
	if (!__atomic_compare_exchange_n(&the_one.callback, &none, callback, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	register_subscriber();
	*subscriber = &the_one;
	return CUPTI_SUCCESS;
}

int cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user)
{
	const int status = subscriber && callback ? soft_cupti_attach("cuptiSubscribe")
						  : CUPTI_ERROR_INVALID_PARAMETER;

	if (status)
		return status;
	return soft_cupti_take_form(SOFT_CUPTI_V1)
		       ? soft_cupti_subscribe(subscriber, callback, user)
		       : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

static void switch_domain(int domain, uint32_t enable)
{
	for (size_t i = 1; i < SOFT_CUPTI_NUMBERS; i++)
		__atomic_store_n(&enabled[domain][i], enable != 0, __ATOMIC_RELAXED);
}

void soft_cupti_drop_subscriber(void)
{
	__atomic_store_n(&the_one.callback, NULL, __ATOMIC_RELEASE);
	for (int i = 1; i < CUPTI_CB_DOMAIN_SIZE; i++)
		switch_domain(i, 0);
}

int soft_cupti_check_subscriber(const char *function, CUpti_SubscriberHandle subscriber)
{
	const int status = soft_cupti_open(function);

	if (status)
		return status;
	return subscriber == &the_one && __atomic_load_n(&the_one.callback, __ATOMIC_ACQUIRE)
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	const int status = soft_cupti_check_subscriber("cuptiUnsubscribe", subscriber);

	if (!status)
		soft_cupti_drop_subscriber();
	return status;
}

int cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber, int domain,
			CUpti_CallbackId id)
{
	const int status = soft_cupti_check_subscriber("cuptiEnableCallback", subscriber);

	if (status)
		return status;
	if (domain < 1 || domain >= CUPTI_CB_DOMAIN_SIZE || !id || id >= SOFT_CUPTI_NUMBERS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&enabled[domain][id], enable != 0, __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

int cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber, int domain)
{
	const int status = soft_cupti_check_subscriber("cuptiEnableDomain", subscriber);

	if (status)
		return status;
	if (domain < 1 || domain >= CUPTI_CB_DOMAIN_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch_domain(domain, enable);
	return CUPTI_SUCCESS;
}

int cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber)
{
	const int status = soft_cupti_check_subscriber("cuptiEnableAllDomains", subscriber);

	for (int i = 1; !status && i < CUPTI_CB_DOMAIN_SIZE; i++)
		switch_domain(i, enable);
	return status;
}

int cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber, int domain,
			  CUpti_CallbackId id)
{
	const int status = soft_cupti_check_subscriber("cuptiGetCallbackState", subscriber);

	if (status)
		return status;
	if (!enable || domain < 1 || domain >= CUPTI_CB_DOMAIN_SIZE || !id ||
	    id >= SOFT_CUPTI_NUMBERS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = __atomic_load_n(&enabled[domain][id], __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}

/* Notifications from the driver ------------------------------------------------------ */

bool soft_cupti_has_callback(int domain, uint32_t id)
{
	return id < SOFT_CUPTI_NUMBERS && __atomic_load_n(&enabled[domain][id], __ATOMIC_RELAXED);
}

static void call(int domain, uint32_t id, const void *data)
{
	const CUpti_CallbackFunc callback = __atomic_load_n(&the_one.callback, __ATOMIC_ACQUIRE);

	if (callback && soft_cupti_has_callback(domain, id))
		callback(the_one.user, domain, id, data);
}

void soft_cupti_call_back(int site, struct soft_cu_call *c)
{
	const CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = c->name,
		.functionParams = c->parameters,
		.functionReturnValue = (void *)(uintptr_t)c->result,
		.symbolName = c->symbol,
		.context = c->context,
		.contextUid = c->context_id,
		.correlationData = &c->data,
		.correlationId = c->correlation,
	};

	call((int)c->domain, c->number, &data);
}

void soft_cupti_call_resource(const struct soft_cu_resource_notice *n)
{
	CUpti_GraphData graph = {
		.graph = n->graph,
		.originalGraph = n->original,
		.node = n->node,
		.originalNode = n->original_node,
		.nodeType = n->node_type,
		.graphExec = n->exec,
	};
	const CUpti_ResourceData data = {
		.context = n->context,
		.stream = n->handle,
		.resourceDescriptor = n->what >= SOFT_CU_GRAPH_CREATED ? &graph : NULL,
	};

	call(CUPTI_CB_DOMAIN_RESOURCE, n->what, &data);
}

void soft_cupti_call_synchronize(const struct soft_cu_call *c)
{
	enum { STREAM = 1, CONTEXT = 2 };
	CUpti_SynchronizeData data = {.context = c->context};

	if (c->domain != SOFT_CU_DRIVER_CALLS)
		return;
	switch (c->number) {
	case GT_CUDA_DRIVER_cuStreamSynchronize:
	case GT_CUDA_DRIVER_cuStreamSynchronize_ptsz:
		memcpy(&data.stream, c->parameters, sizeof data.stream);
		call(CUPTI_CB_DOMAIN_SYNCHRONIZE, STREAM, &data);
		break;
	case GT_CUDA_DRIVER_cuCtxSynchronize:
		call(CUPTI_CB_DOMAIN_SYNCHRONIZE, CONTEXT, &data);
		break;
	default: break;
	}
}
