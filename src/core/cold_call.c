/* SPDX-License-Identifier: MIT */
/* Recording of calls of `cold` domains: see cold_call.h. The same steps as in generated taps of
 * other domains (gen/emit_taps.py), in the same order.
 * Never here: reading through a pointer that the tap did not find readable. */
#include "core/cold_call.h"

void gt_cold_begin_at(struct gt_cold_call *call, uint32_t op, uintptr_t here, uint32_t back)
{
	const enum gt_domain domain = (enum gt_domain)GT_OP_DOMAIN(op);
	struct gt_thread *t = gt_thread_call_at(domain, here);

	call->thread = t;
	if (gt_unlikely(!t))
		return;
	call->id = gt_call_begin_at(t, domain, GT_OP_NUMBER(op), here, back);
	call->start = gt_edge_start(t, op, call->id);
}

bool gt_cold_end(struct gt_cold_call *call, uint32_t op, uint64_t ret)
{
	if (gt_unlikely(!call->thread))
		return false;
	call->end = gt_edge_end(call->thread, call->id, call->start);
	if (gt_likely(gt_tap_options.record_args))
		return true;
	gt_tap_record_plain(call->thread, GT_OP(GT_OP_DOMAIN(op), GT_OP_NUMBER(op), 0), call->id,
			    call->start, call->end, ret);
	gt_call_end(call->thread);
	return false;
}

void gt_cold_record(const struct gt_cold_call *call, uint32_t op, uint64_t ret,
		    const uint64_t *words, const struct gt_blob *blobs, unsigned count)
{
	const size_t arguments = GT_OP_NARGS(op), bytes = sizeof(struct gt_record_call) +
							  8 * arguments +
							  gt_blobs_bytes(blobs, count);
	struct gt_record_call *r =
		gt_tap_record(call->thread, op, bytes, call->id, call->start, call->end, ret);

	if (gt_likely(r != NULL)) {
		if (arguments)
			memcpy(r->args, words, 8 * arguments);
		gt_blobs_put(r->args + arguments, blobs, count);
		gt_ring_commit(call->thread, bytes);
	}
	gt_call_end(call->thread);
}
