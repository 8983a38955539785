/* SPDX-License-Identifier: MIT */
/* Writes memory in use over time in Perfetto: for each domain, kind and device a counter track of
 * the process, in bytes (memory_tracks.h). The counters are on sequence 1, after all records. */
#include "analysis/model/memory_tracks.h"
#include "export/perfetto.h"

struct drawn {
	struct gt_pf *x;
	struct gt_bits begun; /* indexes of the tracks that have been started */
};

static uint64_t track_number(const struct gt_pf *x, const struct gt_memory_track *track)
{
	return gt_pf_track(x, GT_PF_TRACKS_MEMORY, track->process,
			   gt_memory_key(track->domain, track->memory, track->device));
}

static void begin_track(struct gt_pf *x, const struct gt_memory_track *track)
{
	char label[GT_MEMORY_LABEL], *p, *packet, *mark, *counter;

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track_number(x, track));
	p = gt_pb_u64(p, TRACK_PARENT,
		      gt_pf_track(x, GT_PF_TRACKS_PROCESS, gt_view_pid(&x->view, track->process),
				  0));
	p = gt_pf_put_text(p, TRACK_NAME, gt_memory_track_label(track, label));
	p = gt_pb_open(p, TRACK_COUNTER, &counter);
	p = gt_pb_u64(p, COUNTER_UNIT, UNIT_BYTES);
	gt_pb_close(p, counter);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

static void write_point(void *exporter, const struct gt_memory_track *track, uint64_t ns,
			uint64_t in_use)
{
	struct drawn *d = exporter;
	struct gt_pf *x = d->x;
	char *p, *packet, *event;

	if (!gt_bits_has(&d->begun, track->index)) {
		gt_bits_add(&d->begun, track->index);
		begin_track(x, track);
	}
	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns > x->zero ? ns : x->zero);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, &event);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_COUNTER);
	p = gt_pb_u64(p, EVENT_TRACK, track_number(x, track));
	p = gt_pb_u64(p, EVENT_COUNTER, in_use);
	gt_pb_close(p, event);
	gt_pf_packet_close(x, p, packet);
}

int gt_pf_memory(struct gt_pf *x)
{
	struct drawn d = {.x = x};
	int status = gt_memory_tracks_each(&x->memory, write_point, &d);

	gt_bits_fini(&d.begun);
	return status;
}
