/* SPDX-License-Identifier: MIT */
/* The part of interposition in libgputap.so, for all domains: adopts entries that the audit library
 * has armed. */
#include "runtime/interposition.h"

#include <stdio.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "core/tool_opened.h"
#include "runtime/module.h"

GT_AT_START_CODE void gt_attach_begin(void (*attached)(void))
{
	gt_recording_init();
	atomic_store_explicit(&gputap_attach_tools.ready, 1, memory_order_relaxed);
	if (atomic_load_explicit(&gputap_attach_tools.armed, memory_order_relaxed))
		attached();
}

bool gt_attach_adopt(struct gt_attach_state *state)
{
	return atomic_load_explicit(&state->state, memory_order_acquire) == GT_ATTACH_ARMED &&
	       !atomic_exchange_explicit(&state->adopted, 1, memory_order_relaxed);
}

static void report_missed(struct gt_attach_state *states, enum gt_domain domain,
			  const char *library)
{
	char text[96];

	if (!atomic_exchange_explicit(&states[0].missed, 0, memory_order_relaxed))
		return;
	snprintf(text, sizeof text, "a copy of the %s library, because too many copies are loaded",
		 library);
	gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, domain, 0, text);
}

bool gt_attach_adopt_all(struct gt_attach_state *states, struct gt_table *tables,
			 uint32_t instances, enum gt_domain domain, const char *library)
{
	bool any = false;

	for (uint32_t i = 0; i < instances; i++) {
		if (!gt_attach_adopt(&states[i]))
			continue;
		any = true;
		gt_table_adopt(&tables[i]);
		if (library)
			gt_runtime_module_named(domain, states[i].path, states[i].base,
						"interposition", 0);
	}
	if (library)
		report_missed(states, domain, library);
	return any;
}

void gputap_attach_tools_failed(uint32_t domain, uint64_t count, const char *const *names)
{
	for (uint64_t i = 0; gt_recording.session && i < count; i++)
		gt_event_write(gt_thread_own(), GT_EVENT_TOOL, (enum gt_domain)domain, 0, names[i]);
}
