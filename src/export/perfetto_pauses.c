/* SPDX-License-Identifier: MIT */
/* Writes, for Perfetto, the times in which processes were not recorded: a track "not recorded" for
 * each such process, with a slice for each pause and for the time that a flight recorder evicted.
 * The slices are on sequence 1, with full texts. */
#include "analysis/idle/unrecorded_spans.h"
#include "export/perfetto.h"
#include "util/error.h"

/* Return a track number. Several processes can have one pid because of exec. */
static uint64_t track_number(const struct gt_pf *x, uint64_t pid)
{
	return gt_pf_track(x, GT_PF_TRACKS_PAUSES, pid, 0);
}

static void begin_track(struct gt_pf *x, uint64_t pid)
{
	char *p, *packet, *mark;

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track_number(x, pid));
	p = gt_pb_u64(p, TRACK_PARENT, gt_pf_track(x, GT_PF_TRACKS_PROCESS, pid, 0));
	p = gt_pb_text(p, TRACK_NAME, "not recorded");
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

static void write_span(struct gt_pf *x, uint64_t track, const struct gt_unrecorded *span)
{
	char text[GT_UNRECORDED_TEXT], *packet, *event;
	char *p = open_event(x, span->start_ns, track, TYPE_BEGIN, &packet, &event);

	p = gt_pb_text(p, EVENT_CATEGORY_TEXT, "not_recorded");
	p = gt_pb_text(p, EVENT_NAME_TEXT, gt_unrecorded_text(span, text));
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
	p = open_event(x, span->end_ns, track, TYPE_END, &packet, &event);
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
}

int gt_pf_pauses(struct gt_pf *x)
{
	struct gt_map begun = {.count = 0};
	struct gt_unrecorded_list list;
	int status = gt_unrecorded_read(&list, x->view.capture);

	for (size_t i = 0; i < list.count && !status; i++) {
		uint64_t pid = gt_view_pid(&x->view, list.spans[i].process);

		if (gt_map_find(&begun, pid, 0) < 0) {
			status = gt_map_add(&begun, pid, 0, 0);
			begin_track(x, pid);
		}
		write_span(x, track_number(x, pid), &list.spans[i]);
	}
	gt_map_fini(&begun);
	gt_unrecorded_fini(&list);
	return status ? gt_error(status, "cannot export") : 0;
}
