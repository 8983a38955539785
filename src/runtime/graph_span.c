/* SPDX-License-Identifier: MIT */
/* Spans of graph launches: one record per launch for `--mode lite`, from the start of its first
 * node to the end of its last node.
 *
 * The parts of a span are the packets and copies that can be first or last (hip/hip_graph.c), and
 * the launch itself until it has returned. Steps:
 *   1. The launching thread takes a span from the table (compare and exchange of `parts` from 0 to
 *      1 + LAUNCHING, acquire). If none is free, the launch runs unobserved and is counted.
 *   2. The thread adds 1 to `parts` for each part, possibly after that part has completed.
 *   3. A harvester of any device widens the span to include a part's times, under `lock`, and
 *      subtracts 1 from `parts` (release). When the launch returns, the launching thread subtracts
 *      LAUNCHING.
 *   4. The thread that removes the last part (acquire) writes the record, and frees the span:
 *      `parts` 0 (release). */
#include <string.h>

#include "core/emit.h"
#include "runtime/graph_nodes.h"

enum { SPANS = 4096, LAUNCHING = 1 << 30 };

struct gt_graph_span {
	/* 0: free. Otherwise 1, plus 1 for each part in flight, plus LAUNCHING, because a part may
	 * complete before the launch counts it. */
	_Atomic uint32_t parts;
	_Atomic uint32_t lock; /* protects the fields below */
	struct gt_graph_span_head head;
	uint32_t device, lost;
	uint64_t queue, start, end;
};

static struct gt_graph_span spans[SPANS];
static _Atomic uint32_t hint;

struct gt_graph_span *gt_graph_span_open(const struct gt_graph_span_head *head)
{
	uint32_t from = atomic_fetch_add_explicit(&hint, 1, memory_order_relaxed);

	for (uint32_t i = 0; i < SPANS; i++) {
		struct gt_graph_span *e = &spans[(from + i) % SPANS];
		uint32_t nobody = 0;

		if (!atomic_compare_exchange_strong_explicit(&e->parts, &nobody, 1 + LAUNCHING,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		e->head = *head;
		e->device = e->lost = 0;
		e->queue = e->start = e->end = 0;
		return e;
	}
	return NULL;
}

void gt_graph_span_add_part(struct gt_graph_span *e)
{
	atomic_fetch_add_explicit(&e->parts, 1, memory_order_relaxed);
}

static void write_span(const struct gt_graph_span *e, struct gt_thread *t)
{
	const enum gt_domain domain = gt_domain_traits[e->head.domain].activity;
	struct gt_record_device *r;

	if (e->lost) /* a part is lost that may have been first or last */
		gt_drop(t, GT_CLASS_DEVICE, domain, GT_DROP_RUNTIME);
	if (e->lost || !e->device) /* without a device, there was no part, so no node ran */
		return;
	r = gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, domain);
	if (!r)
		return;
	*r = (struct gt_record_device){.head = {sizeof *r / 8, GT_RECORD_DEVICE, GT_DEVICE_GRAPH,
						e->device},
				       .id = e->head.id,
				       .call_start = e->head.start,
				       .queue = e->queue | (uint64_t)e->head.graph << 32,
				       .name = e->head.name,
				       .start = e->start,
				       .end = e->end,
				       .object = {e->head.handle, e->head.nodes},
				       .replay = e->head.replay};
	gt_ring_commit(t, sizeof *r);
}

static void drop_parts(struct gt_graph_span *e, struct gt_thread *t, uint32_t parts)
{
	if (atomic_fetch_sub_explicit(&e->parts, parts, memory_order_acq_rel) != parts + 1)
		return;
	if (t)
		write_span(e, t);
	atomic_store_explicit(&e->parts, 0, memory_order_release);
}

static void lock_span(struct gt_graph_span *e)
{
	while (atomic_exchange_explicit(&e->lock, 1, memory_order_acquire))
		;
}

void gt_graph_span_complete_part(struct gt_graph_span *e, struct gt_thread *t, uint32_t device,
				 uint64_t queue, uint64_t start, uint64_t end)
{
	if (!start || end < start) { /* the clock reading failed */
		gt_graph_span_lose_part(e, t);
		return;
	}
	lock_span(e);
	if (!e->device || start < e->start) {
		e->start = start;
		e->device = device;
		e->queue = queue;
	}
	if (end > e->end)
		e->end = end;
	atomic_store_explicit(&e->lock, 0, memory_order_release);
	drop_parts(e, t, 1);
}

void gt_graph_span_lose_part(struct gt_graph_span *e, struct gt_thread *t)
{
	lock_span(e);
	e->lost = 1;
	atomic_store_explicit(&e->lock, 0, memory_order_release);
	drop_parts(e, t, 1);
}

void gt_graph_span_close(struct gt_graph_span *e, struct gt_thread *t)
{
	drop_parts(e, t, LAUNCHING);
}
