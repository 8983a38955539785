/* SPDX-License-Identifier: MIT */
/* Implements the driver's side of tools.h: the attached tool and its notifications. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static const struct soft_cu_tool *attached; /* atomic */
_Thread_local struct soft_cu_call *soft_cu_call;

/* Notices to be sent at the end of the thread's call. in_tool: true while the tool is called;
 * driver calls that the tool then makes are not reported. */
struct waiting_notice {
	struct waiting_notice *next;
	struct soft_cu_resource_notice notice;
};
static _Thread_local struct waiting_notice *notices;
static _Thread_local bool in_tool;

const struct soft_cu_tool *soft_cu_get_tool(void)
{
	return soft_cu_is_forked || in_tool ? NULL : __atomic_load_n(&attached, __ATOMIC_ACQUIRE);
}

/* Calls ---------------------------------------------------------------------------- */

static void set_context(struct soft_cu_call *call)
{
	CUcontext context = soft_cu_current();

	pthread_mutex_lock(&soft_cu_lock);
	call->context = soft_cu_knows_context(context) ? context : NULL;
	call->context_id = call->context ? call->context->id : 0;
	pthread_mutex_unlock(&soft_cu_lock);
}

bool soft_cu_begin_call(struct soft_cu_call *call)
{
	const struct soft_cu_tool *tool = soft_cu_get_tool();

	if (!tool)
		return false;
	set_context(call);
	/* a runtime call has no outer call; if one is still set, it was left with a jump */
	call->outer = call->domain == SOFT_CU_RUNTIME_CALLS ? NULL : soft_cu_call;
	in_tool = true;
	tool->begin_call(call);
	in_tool = false;
	soft_cu_call = call;
	return true;
}

void soft_cu_end_call(struct soft_cu_call *call, const void *result)
{
	const struct soft_cu_tool *tool;

	soft_cu_call = call->outer;
	tool = soft_cu_get_tool();
	if (!tool)
		return;
	set_context(call);
	call->result = result;
	in_tool = true;
	tool->end_call(call);
	in_tool = false;
}

void soft_cu_trace_task(struct soft_cu_stream *s, struct soft_cu_task *t)
{
	static const struct {
		enum soft_cu_kind task;
		enum soft_cu_activity_kind activity;
	} kinds[] = {
		{SOFT_CU_TASK_KERNEL, SOFT_CU_ACTIVITY_KERNEL},
		{SOFT_CU_TASK_COPY, SOFT_CU_ACTIVITY_COPY},
		{SOFT_CU_TASK_SET, SOFT_CU_ACTIVITY_SET},
		{SOFT_CU_TASK_GRAPH, SOFT_CU_ACTIVITY_GRAPH},
	};

	if (!soft_cu_call || !soft_cu_call->is_traced)
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].task == t->kind) {
			t->is_traced = true;
			t->activity.kind = kinds[i].activity;
		}
	t->activity.correlation = soft_cu_call->correlation;
	t->activity.kinds = soft_cu_call->kinds;
	t->activity.device = (uint32_t)s->context->device;
	t->activity.context_id = s->context->id;
	t->activity.stream_id = s->id;
	t->activity.priority = s->priority;
}

/* Resources ------------------------------------------------------------------------ */

void soft_cu_notify_resource(const struct soft_cu_resource_notice *notice)
{
	const struct soft_cu_tool *tool = soft_cu_get_tool();

	if (!tool)
		return;
	in_tool = true;
	tool->notify_resource(notice);
	in_tool = false;
}

void soft_cu_note_resource(const struct soft_cu_resource_notice *notice)
{
	struct waiting_notice *n = soft_cu_get_tool() ? malloc(sizeof *n) : NULL, **link = &notices;

	if (!n)
		return;
	*n = (struct waiting_notice){NULL, *notice};
	while (*link)
		link = &(*link)->next;
	*link = n;
}

void soft_cu_send_notices(void)
{
	while (notices) {
		struct waiting_notice *n = notices;

		notices = n->next;
		soft_cu_notify_resource(&n->notice);
		free(n);
	}
}

/* The first stream in a process has number 7, as in NVIDIA's driver. */
unsigned soft_cu_new_stream_id(void)
{
	static unsigned ids = 6;

	return ++ids;
}

unsigned soft_cu_new_graph_id(void)
{
	static unsigned ids;

	return ++ids;
}

/* The attached tool ---------------------------------------------------------------- */

bool soft_cu_attach_tool(const struct soft_cu_tool *tool)
{
	const struct soft_cu_tool *expected = NULL;

	return __atomic_compare_exchange_n(&attached, &expected, tool, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE) ||
	       expected == tool;
}

void soft_cu_detach_tool(const struct soft_cu_tool *tool)
{
	const struct soft_cu_tool *expected = tool;

	__atomic_compare_exchange_n(&attached, &expected, NULL, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
}
