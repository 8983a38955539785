/* SPDX-License-Identifier: MIT */
/* The session's thresholds for edges of gaps (gap_edges.h), in ticks of the host clock. The rate of
 * the processor's counter is not known when recording starts. The first call of a thread determines
 * it from the time since then, if at least RATE_NS have passed. */
#include "core/gap_edges.h"

enum { RATE_NS = 100000 };

GT_AT_START struct gt_edges gt_edges;

static void set_threshold(_Atomic uint64_t *threshold, uint64_t ns, double ticks_per_ns)
{
	atomic_store_explicit(threshold, ns ? (uint64_t)((double)ns * ticks_per_ns) : UINT64_MAX,
			      memory_order_relaxed);
}

/* Set the thresholds. gap_ticks is last, because the others are valid if it is not 0. Several
 * threads may do this at once. */
static void set_thresholds(double ticks_per_ns)
{
	const bool reads = atomic_load_explicit(&gt_edges.reads, memory_order_relaxed);
	uint64_t gap_ns = reads ? GT_EDGE_GAP_NS : 0;

	set_threshold(&gt_edges.busy_ticks, reads ? GT_EDGE_BUSY_NS : 0, ticks_per_ns);
	set_threshold(&gt_edges.stack_ticks, gt_edges.stack_ns, ticks_per_ns);
	if (gt_edges.stack_ns && (!gap_ns || gt_edges.stack_ns < gap_ns))
		gap_ns = gt_edges.stack_ns;
	atomic_thread_fence(memory_order_release);
	set_threshold(&gt_edges.gap_ticks, gap_ns, ticks_per_ns);
}

void gt_edges_init(const struct gt_session *session)
{
	gt_edges.stack_ns = session->stacks & GT_STACKS_GAPS ? session->stacks_gap_ns : 0;
	atomic_store_explicit(&gt_edges.reads, session->host_state != 0, memory_order_relaxed);
	if (!session->host_state && !gt_edges.stack_ns)
		return;
	gt_edges.ticks = gt_ticks();
	gt_edges.ns = gt_ticks_boottime();
	if (gt_host_clock != GT_HOST_CLOCK_COUNTER)
		set_thresholds(1);
	gt_edges.is_wanted = true;
}

uint64_t gt_edges_gap_ticks(void)
{
	uint64_t found = atomic_load_explicit(&gt_edges.gap_ticks, memory_order_acquire), ns, ticks;

	if (gt_likely(found))
		return found;
	ns = gt_ticks_boottime() - gt_edges.ns;
	ticks = gt_ticks() - gt_edges.ticks;
	if (ns < RATE_NS)
		return 0;
	set_thresholds((double)ticks / (double)ns);
	return atomic_load_explicit(&gt_edges.gap_ticks, memory_order_relaxed);
}
