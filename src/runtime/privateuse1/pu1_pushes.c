/* SPDX-License-Identifier: MIT */
/* Passes the program's pushes to each plug-in's stacks, in the program's thread. The records of
 * activities that the thread submits meanwhile contain the pushed ids:
 *
 *   gputap_range_begin(), torch's operators   RANGE | number of the range   operators' stack
 *   gputap_external_push(.., OPERATION, id)   GIVEN | id                    operators' stack
 *   gputap_external_push(.., USER, id)        GIVEN | id                    the user's stack
 *
 * The upper bits distinguish gputap's ids from other ids, because torch.profiler's bridge pushes
 * its own ids. While the bridge has a profile open, gputap pushes no ids, because a record has only
 * one id.
 * The contract in docs/tools/vendor-plugin.md requires that pushes and pops take no lock and make
 * no system call. */
#include "core/external.h"
#include "runtime/privateuse1/pu1_parts.h"

#define RANGE    (UINT64_C(2) << 62)
#define GIVEN    (UINT64_C(3) << 62)
#define OWN_BITS (UINT64_C(3) << 62)

static const struct gputap_plugin_stacks *_Atomic stacks;
static int (*is_session_active)(void);
static _Atomic uint64_t notified; /* one bit per plug-in */

static void push_plugins(enum gt_pushed what, uint64_t id)
{
	const struct gputap_plugin_stacks *s = atomic_load_explicit(&stacks, memory_order_acquire);
	uint64_t mask = atomic_load_explicit(&notified, memory_order_relaxed);

	if (id & OWN_BITS || is_session_active())
		id = 0; /* push 0 instead of an id, so that pushes and pops stay balanced */
	else
		id |= what == GT_PUSHED_RANGE ? RANGE : GIVEN;
	for (uint32_t i = 0; mask; mask >>= 1, i++)
		if (mask & 1)
			(what == GT_PUSHED_USER ? s[i].push_user : s[i].push)(id);
}

static void pop_plugins(enum gt_pushed what)
{
	const struct gputap_plugin_stacks *s = atomic_load_explicit(&stacks, memory_order_acquire);
	uint64_t mask = atomic_load_explicit(&notified, memory_order_relaxed);

	for (uint32_t i = 0; mask; mask >>= 1, i++)
		if (mask & 1)
			(what == GT_PUSHED_USER ? s[i].pop_user : s[i].pop)();
}

void gt_pu1_push_to(const struct gt_pu1_functions *f, uint32_t index)
{
	is_session_active = f->gputap_plugins_session_active;
	atomic_store_explicit(&stacks, f->gputap_plugins_stacks(), memory_order_release);
	atomic_fetch_or(&notified, UINT64_C(1) << index);
	atomic_store_explicit(&gt_push_hooks.pop, pop_plugins, memory_order_release);
	atomic_store_explicit(&gt_push_hooks.push, push_plugins, memory_order_release);
}

void gt_pu1_push_to_none(void)
{
	atomic_store_explicit(&gt_push_hooks.push, NULL, memory_order_relaxed);
	atomic_store_explicit(&gt_push_hooks.pop, NULL, memory_order_relaxed);
}

uint64_t gt_pu1_range_of(uint64_t external)
{
	return (external & OWN_BITS) == RANGE ? external & ~OWN_BITS : 0;
}

uint64_t gt_pu1_external_of(uint64_t external)
{
	return (external & OWN_BITS) == GIVEN ? external & ~OWN_BITS : 0;
}
