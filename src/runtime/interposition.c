/* SPDX-License-Identifier: MIT */
/* libgputap.so's half of interposition, for all domains: taking over what the audit library has armed. */
#include "runtime/interposition.h"

#include "core/emit.h"

bool gt_door_adopt(struct gt_door_state *state)
{
	return atomic_load_explicit(&state->state, memory_order_acquire) == GT_DOOR_ARMED &&
	       !atomic_exchange_explicit(&state->adopted, 1, memory_order_relaxed);
}

void gt_door_tell_missed(struct gt_door_state *states, enum gt_domain domain, const char *text)
{
	if (atomic_exchange_explicit(&states[0].missed, 0, memory_order_relaxed))
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, domain, 0, text);
}
