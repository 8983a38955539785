/* SPDX-License-Identifier: MIT */
/* Why devices were idle, in Perfetto: a track "idle" of each device, above its queues, with a slice
 * for each part of a gap, named by its cause (idle_parts.h). Parts of a device come in the order of
 * their begin and do not overlap. On sequence 1, texts in full each time. */
#include "export/perfetto.h"
#include "record/operation.h"

struct drawn {
	struct gt_pf *x;
	struct gt_bits begun; /* devices */
};

static uint64_t track_number(const struct gt_pf *x, uint32_t device)
{
	return gt_pf_track(x, GT_PF_TRACKS_IDLE, gt_pf_device_bit(device), 0);
}

static void begin_track(struct gt_pf *x, uint32_t device)
{
	char *p = gt_out_room(&x->out), *packet, *mark;

	p = gt_pb_open(p, TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track_number(x, device));
	p = gt_pb_u64(p, TRACK_PARENT,
		      gt_pf_track(x, GT_PF_TRACKS_DEVICE, gt_pf_device_bit(device), 0));
	p = gt_pb_text(p, TRACK_NAME, "idle");
	p = gt_pb_u64(p, TRACK_ORDER_RANK, 0);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

static char *open_event(struct gt_pf *x, uint64_t ns, uint64_t track, unsigned type, char **packet,
			char **event)
{
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, packet);

	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns > x->zero ? ns : x->zero);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, event);
	p = gt_pb_u64(p, EVENT_TYPE, type);
	return gt_pb_u64(p, EVENT_TRACK, track);
}

static char *annotate_thread(struct gt_pf *x, char *p, const struct gt_idle_part *part)
{
	const struct gt_view_thread *t =
		part->ordinal ? gt_view_thread(&x->view, part->process, part->ordinal) : NULL;

	if (!t)
		return p;
	p = gt_pf_annotate_named(p, "pid", t->pid);
	p = gt_pf_annotate_named(p, "tid", t->tid);
	return *t->name ? gt_pf_annotate_named_text(p, "thread", t->name) : p;
}

static void write_part(void *to, const struct gt_idle_part *part)
{
	struct drawn *d = to;
	struct gt_pf *x = d->x;
	const uint64_t track = track_number(x, part->device);
	char *p, *packet, *event;

	if (!gt_bits_has(&d->begun, gt_pf_device_bit(part->device))) {
		gt_bits_add(&d->begun, gt_pf_device_bit(part->device));
		begin_track(x, part->device);
	}
	p = open_event(x, part->start_ns, track, TYPE_BEGIN, &packet, &event);
	p = gt_pb_text(p, EVENT_CATEGORY_TEXT, "idle");
	p = gt_pb_text(p, EVENT_NAME_TEXT, gt_idle_cause_text(part->cause));
	p = gt_pf_annotate_named_text(p, "cause", gt_idle_cause_name(part->cause));
	if (part->op)
		p = gt_pf_annotate_named_text(p, "call", gt_operation_name(part->op));
	if (part->range)
		p = gt_pf_annotate_named_text(p, "range", part->range);
	if (part->behind)
		p = gt_pf_annotate_named_text(p, "behind", part->behind);
	p = annotate_thread(x, p, part);
	p = gt_pf_annotate_named(p, "gap_ns", part->gap_end_ns - part->gap_start_ns);
	p = gt_pf_annotate_named_text(p, "after", part->after);
	p = gt_pf_annotate_named_text(p, "before", part->before);
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
	p = open_event(x, part->end_ns, track, TYPE_END, &packet, &event);
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
}

int gt_pf_idle(struct gt_pf *x, const struct gt_export_options *options)
{
	struct drawn d = {.x = x};
	int status = 0;

	if (options && options->idle)
		status = options->idle(x->view.capture, options->mangled, write_part, &d);
	gt_bits_fini(&d.begun);
	return status;
}
