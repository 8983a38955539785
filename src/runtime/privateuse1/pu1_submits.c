/* SPDX-License-Identifier: MIT */
/* Counts the submissions that a plug-in reports (the group pu1.submits), in the submitting threads.
 *
 *   vendor's call ── submitted ──► counted as seen, in the thread's slot ──► announced[kind]
 *                        └──────► with --stacks: the number of the call's stack, by correlation
 *   record arrives ── gt_pu1_arrives() ──► arrived[kind]; counted as seen unless announced
 *
 * An activity whose record never arrives, for example because the process is killed, is thus seen
 * without a record: unfinished. For plug-ins without the group, an activity is counted when its
 * record arrives.
 *
 * Never here: allocation, locks, a call of a plug-in's function. */
#include <stdlib.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/stack_choice.h"
#include "core/stacks.h"
#include "generated/privateuse1_taps.h"
#include "runtime/privateuse1/pu1_parts.h"

enum { PROBES = 8, ITEMS_MOST = 1 << 20 };

static bool is_activity(uint32_t kind)
{
	return kind == PU1_KIND_CONCURRENT_KERNEL || kind == PU1_KIND_GPU_MEMCPY ||
	       kind == PU1_KIND_GPU_MEMSET || kind == PU1_KIND_SYNCHRONIZATION;
}

static uint32_t place_of(uint64_t correlation, uint32_t probe)
{
	return (uint32_t)((correlation * UINT64_C(0x9e3779b97f4a7c15) >> 40) + probe) %
	       GT_PU1_CALLS_KNOWN;
}

/* Store a call's data under its correlation. An entry has two words for the correlation: `claim` is
 * set first to claim the entry, and `correlation` last, when the entry is readable. */
static void keep_call(struct gt_pu1 *p, uint64_t correlation, uint32_t kind, uint32_t stack)
{
	for (uint32_t i = 0; i < PROBES && correlation; i++) {
		struct gt_pu1_known *k = &p->known[place_of(correlation, i)];
		uint64_t free_place = 0;

		if (atomic_load_explicit(&k->correlation, memory_order_relaxed) == correlation)
			return; /* the call submits several activities */
		if (!atomic_compare_exchange_strong_explicit(&k->claim, &free_place, correlation,
							     memory_order_relaxed,
							     memory_order_relaxed))
			continue;
		k->kind = kind;
		k->stack = stack;
		atomic_store_explicit(&k->correlation, correlation, memory_order_release);
		return;
	}
}

static void on_submitted(void *user, uint64_t correlation, uint32_t kind, uint32_t records)
{
	struct gt_pu1 *p = user;
	struct gt_thread *t = gt_thread_own();
	uint32_t stack = 0;

	if (!t || !is_activity(kind) || !(p->kinds >> kind & 1))
		return;
	if (kind != PU1_KIND_CONCURRENT_KERNEL || !gt_tap_options.choose_kernels) {
		records = records < ITEMS_MOST ? records : ITEMS_MOST;
		for (uint32_t i = 0; i < records; i++)
			gt_device_seen(t, GT_DOMAIN_PRIVATEUSE1);
		atomic_fetch_add_explicit(&p->announced[kind], records, memory_order_release);
	}
	if (gt_stacks.shared && gt_stacks.wanted & GT_STACKS_LAUNCHES &&
	    kind != PU1_KIND_SYNCHRONIZATION)
		stack = gt_stacks_number(t);
	keep_call(p, correlation, kind, stack);
}

bool gt_pu1_take_call(struct gt_pu1 *p, uint64_t correlation, uint32_t *kind, uint32_t *stack)
{
	for (uint32_t i = 0; p->known && i < PROBES && correlation; i++) {
		struct gt_pu1_known *k = &p->known[place_of(correlation, i)];

		if (atomic_load_explicit(&k->correlation, memory_order_acquire) != correlation)
			continue;
		*kind = k->kind;
		*stack = k->stack;
		atomic_store_explicit(&k->correlation, 0, memory_order_relaxed);
		atomic_store_explicit(&k->claim, 0, memory_order_release);
		return true;
	}
	return false;
}

static bool arrives_as(struct gt_pu1 *p, uint32_t kind)
{
	if (p->arrived[kind] >= atomic_load_explicit(&p->announced[kind], memory_order_acquire))
		return false;
	p->arrived[kind]++;
	return true;
}

void gt_pu1_arrives(struct gt_pu1 *p, uint32_t kind)
{
	if (kind < PU1_KIND_COUNT ? arrives_as(p, kind)
				  : arrives_as(p, PU1_KIND_CONCURRENT_KERNEL) ||
					    arrives_as(p, PU1_KIND_GPU_MEMCPY) ||
					    arrives_as(p, PU1_KIND_GPU_MEMSET) ||
					    arrives_as(p, PU1_KIND_SYNCHRONIZATION))
		return;
	gt_device_seen(p->thread, GT_DOMAIN_PRIVATEUSE1);
}

void gt_pu1_hear_submissions(struct gt_pu1 *p)
{
	bool heard;

	if (!p->known)
		p->known = calloc(GT_PU1_CALLS_KNOWN, sizeof *p->known);
	if (!p->known)
		return;
	atomic_store(&p->in, "pu1.submits");
	heard = !p->f->gputap_plugins_stream_submits(p->index, on_submitted, p);
	atomic_store(&p->in, NULL);
	if (!heard && gt_stacks.shared && gt_stacks.wanted & GT_STACKS_LAUNCHES)
		gt_event_write(
			p->thread, GT_EVENT_STACKS, GT_DOMAIN_PRIVATEUSE1, 0,
			"a plug-in does not report submissions (pu1.submits): its calls have "
			"no stacks");
}
