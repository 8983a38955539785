/* SPDX-License-Identifier: MIT */
/* Writes, for Perfetto, calls that had not returned, as slices without an end on the tracks of
 * their threads. Perfetto extends such a slice to the end of the trace and marks it. The slices are
 * on sequence 1, with full texts. Calls whose start is not known are left out. */
#include <errno.h>

#include "export/perfetto.h"
#include "record/operation.h"
#include "util/error.h"

static void write_call(struct gt_pf *x, const struct gt_view_thread *t,
		       const struct gt_open_call_info *o)
{
	char *packet, *event;
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);

	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, o->start_ns > x->zero ? o->start_ns : x->zero);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, &event);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_BEGIN);
	p = gt_pb_u64(p, EVENT_TRACK,
		      gt_pf_track(x, GT_PF_TRACKS_THREAD, t->pid, gt_pf_thread_key(t)));
	p = gt_pb_text(p, EVENT_CATEGORY_TEXT, gt_domain_name((enum gt_domain)GT_OP_DOMAIN(o->op)));
	p = gt_pb_text(p, EVENT_NAME_TEXT, gt_operation_name(o->op));
	p = gt_pf_annotate_named_text(p, "end", "had not returned");
	p = gt_pf_annotate_named(p, "open_ns", o->seen_ns - o->start_ns);
	if (o->sequence)
		p = gt_pf_annotate_named(p, "number on communicator", o->sequence);
	if (o->peer)
		p = gt_pf_annotate_named(p, "peer", o->peer - 1);
	if (o->state != GT_HOST_STATE_UNKNOWN)
		p = gt_pf_annotate_named_text(p, "thread is", gt_host_state_text(o->state));
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
}

int gt_pf_open_calls(struct gt_pf *x)
{
	size_t count;
	const struct gt_open_call_info *list = gt_capture_open_calls(x->view.capture, &count);

	for (size_t i = 0; i < count; i++) {
		const struct gt_open_call_info *o = &list[i];
		struct gt_view_thread *t;

		if (!o->start_ns || o->seen_ns < o->start_ns || !gt_operation(o->op))
			continue;
		t = gt_view_thread(&x->view, o->process, o->ordinal);
		if (!t || (!t->own && !gt_pf_thread_begin(x, t)))
			return gt_error(-ENOMEM, "cannot export");
		write_call(x, t, o);
	}
	return 0;
}
