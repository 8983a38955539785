/* SPDX-License-Identifier: MIT */
/* See hsa_activity.h. */
#include "runtime/hsa/hsa_activity.h"

#include <string.h>

void gt_hsa_activity_write(const struct gt_hsa_activity *w, const struct gt_hsa_agent *a,
			   uint64_t queued, const struct gt_hsa_times *times, struct gt_thread *t)
{
	uint32_t device = GT_DEVICE_REF(GT_DOMAIN_HSA_CORE, a->number);
	struct gt_record_device *r;

	if (!(w->flags & GT_HSA_ACTIVITY_RECORDED))
		return;
	if (gt_unlikely(w->span != NULL)) {
		if (times)
			gt_graph_span_complete_part(w->span, t, device, w->queue & UINT32_MAX,
						    times->start, times->end);
		else
			gt_graph_span_lose_part(w->span, t);
		return;
	}
	if (!times) {
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE,
			w->flags & GT_HSA_ACTIVITY_SHARES ? GT_DROP_SIGNAL : GT_DROP_RUNTIME);
		return;
	}
	r = gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE);
	if (!r)
		return;
	*r = (struct gt_record_device){
		.head = {sizeof *r / 8, GT_RECORD_DEVICE, w->op, device},
		.id = w->id,
		.call_start = w->call_start,
		.queue = w->queue,
		.name = w->name,
		.queued = queued,
		.start = times->start,
		.end = times->end,
		.bytes = w->bytes,
		.object = {w->object[0], w->object[1]},
		.ordinal = w->ordinal,
		.replay = w->replay,
	};
	memcpy(r->global, w->global, sizeof r->global);
	if (w->flags & GT_HSA_ACTIVITY_BY_ENGINE) {
		r->endpoints.source = w->source_device;
		r->endpoints.destination = w->destination_device;
	} else {
		memcpy(r->local, w->local, sizeof r->local);
	}
	gt_ring_commit(t, sizeof *r);
}

void gt_hsa_activity_count_unfinished(const struct gt_hsa_activity *w, struct gt_thread *t)
{
	if (!(w->flags & GT_HSA_ACTIVITY_RECORDED))
		return;
	if (w->span)
		gt_graph_span_lose_part(w->span, t);
	else
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_HSA_CORE, GT_DROP_UNFINISHED);
}
