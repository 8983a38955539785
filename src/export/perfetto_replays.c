/* SPDX-License-Identifier: MIT */
/* Writes launches of graphs in Perfetto: a track "queue 2: graphs" above the queue's track, with a
 * slice for each launch (replays.h). The track is separate because the nodes of a launch run on
 * several queues, and launches may overlap. All rows have one name, so that the reader shows them
 * as rows of one track. Launches are rare compared with nodes, so they are written on sequence 1
 * with full texts. */
#include <stdio.h>

#include "export/perfetto.h"

static uint64_t row_track(const struct gt_pf *x, const struct gt_view_queue *q, unsigned row)
{
	return gt_pf_track(x, GT_PF_TRACKS_REPLAYS, q->index, row);
}

static void begin_row(struct gt_pf *x, const struct gt_view_queue *q, unsigned row)
{
	char queue[GT_PF_LABEL], label[GT_PF_LABEL + 16], *p, *packet, *mark;

	gt_pf_queue_label(x, q, queue, sizeof queue);
	snprintf(label, sizeof label, "%s: graphs", queue);
	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, row_track(x, q, row));
	p = gt_pb_u64(p, TRACK_PARENT,
		      gt_pf_track(x, GT_PF_TRACKS_DEVICE, gt_pf_device_bit(q->device), 0));
	p = gt_pf_put_text(p, TRACK_NAME, label);
	p = gt_pb_u64(p, TRACK_ORDER_RANK, gt_pf_queue_rank(q) - 1);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

static char *event_open(struct gt_pf *x, uint64_t ns, uint64_t track, unsigned type, char **packet,
			char **event)
{
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, packet);

	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, event);
	p = gt_pb_u64(p, EVENT_TYPE, type);
	return gt_pb_u64(p, EVENT_TRACK, track);
}

static void event_close(struct gt_pf *x, char *p, char *packet, char *event)
{
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
}

static int write_replay(void *exporter, const struct gt_replay *replay, unsigned row)
{
	struct gt_pf *x = exporter;
	const struct gt_view_queue *q = replay->queue;
	uint64_t track = row_track(x, q, row),
		 nodes = gt_replay_nodes(&x->view, replay->process, replay->graph);
	char name[GT_REPLAY_NAME], *p, *packet, *event;

	if (q != x->replay_queue) {
		x->replay_queue = q;
		x->replay_track_rows = 0;
	}
	if (row == x->replay_track_rows) /* rows are created in order */
		begin_row(x, q, x->replay_track_rows++);
	p = event_open(x, replay->start_ns, track, TYPE_BEGIN, &packet, &event);
	p = gt_pb_text(p, EVENT_CATEGORY_TEXT, "graph");
	p = gt_pf_put_text(p, EVENT_NAME_TEXT, gt_replay_name(replay->graph, replay->replay, name));
	if (replay->correlation)
		p = gt_pf_annotate_named(p, "correlation", replay->correlation);
	if (q->device != UINT32_MAX)
		p = gt_pf_annotate_named(p, "device", q->device);
	if (q->number)
		p = gt_pf_annotate_named(p, "queue", q->number);
	p = gt_pf_annotate_named(p, "graph", replay->graph);
	p = gt_pf_annotate_named(p, "graph_replay", replay->replay);
	if (nodes)
		p = gt_pf_annotate_named(p, "graph_nodes", nodes);
	p = gt_pf_annotate_named(p, "graph_recorded", replay->activity);
	event_close(x, p, packet, event);
	p = event_open(x, replay->end_ns, track, TYPE_END, &packet, &event);
	event_close(x, p, packet, event);
	return 0;
}

int gt_pf_replays(struct gt_pf *x)
{
	return gt_replays_each(&x->replays, &x->view, x->zero, write_replay, x);
}
