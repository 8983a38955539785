/* SPDX-License-Identifier: MIT */
/* Records driver calls from CUPTI's callbacks, in a program that gputap was attached to:
 * cuda_driver_calls.h. */
#include <string.h>

#include "record/operation.h"
#include "runtime/announced.h"
#include "runtime/cuda/cuda_driver_calls.h"
#include "runtime/cuda/cuda_parts.h"
#include "tool/tool.h"

/* Return true if a tap records the call, or notifies tools of it. @at: the call's position in the
 * stack */
static bool is_tapped(uint32_t index, uintptr_t at)
{
	const struct gt_thread *t = &gt_thread;
	const struct gt_tool_frame *f;

	if (t->api_id && gt_thread_is_inside(t, at))
		return true;
	f = gt_tool_frame ? gt_tool_frame_live(gt_tool_frame, at) : NULL;
	return f && f->at == (uintptr_t)f && f->op == gt_cuda_table()->operations[index].op;
}

void gt_cuda_calls_callback(uint32_t id, const struct cupti_callback *c)
{
	struct gt_announcement a;
	struct gt_facts facts;
	int32_t status = 0;

	const uint32_t place = gt_thread.internal ? 0 : gt_cuda_calls_find(id);

	if (!place)
		return;
	a = (struct gt_announcement){.table = gt_cuda_table(),
				     .index = place - 1,
				     .arguments = c->parameters,
				     .key = c->correlation};
	if (c->site == CUPTI_ENTER) {
		a.at = gt_cuda_find_place(c);
		if (!is_tapped(a.index, a.at))
			gt_announced_begin(&a);
		return;
	}
	if (c->return_value)
		memcpy(&status, c->return_value, sizeof status);
	if (gt_announced_is_open(&a) && !status &&
	    gt_cuda_ask_parameters(gt_cuda_table(), a.index, c->parameters, &facts))
		a.facts = &facts;
	gt_announced_end(&a, status);
}
