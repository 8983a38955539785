/* SPDX-License-Identifier: MIT */
/* Writes Perfetto's native format: a stream of TracePacket messages that contain TrackEvents.
 *
 *   sequence 1           clocks, processes, devices, metadata of the capture, gputap's events
 *   one per thread       calls as slice begin and end; times are deltas (incremental clock), so
 *                        calls must come in order of start, as a cursor returns them
 *   one per thread and   ranges and marks of the program (ROCTx), see perfetto_ranges.c
 *   one per queue row    GPU activities; they come in any order, so times count from the start
 *                        of the trace
 *   sequence 1, at the   launches of graphs, around their nodes, see perfetto_replays.c; memory in
 *   end                  use, see perfetto_memory.c; times that were not recorded, see
 *                        perfetto_pauses.c; causes of idle time, see perfetto_idle.c
 *
 * A sequence declares its track, its clock, and every interned text once. All clocks are tied to
 * BOOTTIME at one moment, `zero`, because the reader requires that the snapshots of a clock
 * increase through the file. Slices of a track with equal times nest by position in the file, so
 * the end of a call is written before the next call begins. Rows (track_rows.h) keep device slices
 * of a track from overlapping. A flow leads from a call to the GPU activity that it launched; the
 * flow id is the correlation number.
 * Memory: proportional to the number of threads, queues, names, launches of graphs, and calls that
 * allocate or free.
 * Field numbers: protos/perfetto/trace/ of the Perfetto project. */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/text.h"
#include "export/formats.h"
#include "util/error.h"

/* Metadata of the capture ------------------------------------------------------- */

static char *self_packet(struct gt_pf *x, uint64_t ns, uint64_t track, const char *category,
			 const char *name, char **packet, char **event)
{
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, packet);

	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns > x->zero ? ns : x->zero);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, event);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_INSTANT);
	p = gt_pb_u64(p, EVENT_TRACK, track);
	p = gt_pb_text(p, EVENT_CATEGORY_TEXT, category);
	return gt_pf_put_text(p, EVENT_NAME_TEXT, name);
}

static void write_clocks(struct gt_pf *x)
{
	const struct gt_host_clock_map *map = gt_capture_host_clock(x->view.capture);
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	uint64_t real = map ? x->zero + (uint64_t)gt_host_clock_realtime_offset_ns(map, x->zero)
			    : session->start_realtime_ns - (session->start_ns - x->zero);
	char *p, *packet, *mark, *clock;

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_CLOCK_SNAPSHOT, &mark);
	p = gt_pb_open(p, SNAPSHOT_CLOCK, &clock);
	p = gt_pb_u64(p, CLOCK_ID, CLOCK_BOOTTIME_ID);
	p = gt_pb_u64(p, CLOCK_TIME, x->zero);
	gt_pb_close(p, clock);
	p = gt_pb_open(p, SNAPSHOT_CLOCK, &clock);
	p = gt_pb_u64(p, CLOCK_ID, CLOCK_REALTIME_ID);
	p = gt_pb_u64(p, CLOCK_TIME, real);
	gt_pb_close(p, clock);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_SYSTEM_INFO, &mark);
	p = gt_pb_open(p, SYSTEM_UTSNAME, &clock);
	p = gt_pb_text(p, UTSNAME_SYSTEM, "Linux");
	p = gt_pf_put_text(p, UTSNAME_RELEASE, session->kernel ? session->kernel : "");
	gt_pb_close(p, clock);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

static void write_process(struct gt_pf *x, const struct gt_process_info *process)
{
	char label[256], command[TEXT_MAX], *p, *packet, *mark, *inner;
	const char *word = process->argv;

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID,
		      gt_pf_track(x, GT_PF_TRACKS_PROCESS, gt_view_pid(&x->view, process->index),
				  0));
	p = gt_pb_open(p, TRACK_PROCESS, &inner);
	p = gt_pb_u64(p, PROCESS_PID, gt_view_pid(&x->view, process->index));
	p = gt_pf_put_text(p, PROCESS_NAME,
			   gt_view_process_title(&x->view, process, label, sizeof label));
	for (unsigned n = 0; word && *word && n < COMMAND_WORDS; n++, word += strlen(word) + 1)
		p = gt_pf_put_text(p, PROCESS_COMMAND, word);
	gt_pb_close(p, inner);
	/* The reader displays the description; it drops the command line written above. */
	p = gt_pf_put_text(p, TRACK_DESCRIPTION,
			   gt_view_command(process->argv, command, sizeof command));
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

/* Write one track per pid. After an exec, the process continues in the same track, and the newest
 * process determines the track's name. The reader keeps only the first descriptor of a track, so
 * only one is written. Readers number processes in order of arrival, so ranks are written in
 * order. */
static int write_processes(struct gt_pf *x)
{
	const struct gt_capture *c = x->view.capture;
	uint32_t count = (uint32_t)gt_capture_process_count(c), *order;
	struct gt_map newest = {.count = 0}, written = {.count = 0};
	int status = 0;

	order = gt_view_order_processes(&x->view);
	if (!order)
		return -ENOMEM;
	for (uint32_t i = count; i-- > 0 && !status;)
		if (gt_map_find(&newest, gt_view_pid(&x->view, i), 0) < 0)
			status = gt_map_add(&newest, gt_view_pid(&x->view, i), 0, i);
	for (uint32_t i = 0; i < count && !status; i++) {
		uint64_t pid = gt_view_pid(&x->view, order[i]);

		if (gt_map_find(&written, pid, 0) >= 0)
			continue;
		status = gt_map_add(&written, pid, 0, 0);
		write_process(x, gt_capture_process(c, (uint32_t)gt_map_find(&newest, pid, 0)));
	}
	gt_map_fini(&newest);
	gt_map_fini(&written);
	free(order);
	return status ? gt_error(status, "cannot export") : 0;
}

static char *put_counts(char *p, const char *what, struct gt_view_counts counts)
{
	char name[64];

	snprintf(name, sizeof name, "%s seen", what);
	p = gt_pf_annotate_named(p, name, counts.seen);
	snprintf(name, sizeof name, "%s recorded", what);
	p = gt_pf_annotate_named(p, name, counts.recorded);
	snprintf(name, sizeof name, "%s dropped", what);
	return gt_pf_annotate_named(p, name, counts.dropped);
}

static const char *end_text(enum gt_capture_end end)
{
	return end == GT_CAPTURE_COMPLETE ? "yes"
	       : end == GT_CAPTURE_CUT    ? "no: the file is truncated"
					  : "no: tracing did not end properly";
}

/* Write a track "gputap" with one instant whose arguments are all metadata. */
static void write_about(struct gt_pf *x, const struct gt_view_options *options)
{
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	uint64_t track = gt_pf_track(x, GT_PF_TRACKS_SELF, 0, 0);
	char *p, *packet, *mark, text[TEXT_MAX];
	const struct {
		const char *name, *text;
	} rows[] = {
		{"gputap version", session->gputap_version},
		{"command", gt_view_command(session->command, text, sizeof text)},
		{"options", session->options},
		{"host", session->hostname},
		{"kernel", session->kernel},
		{"cpu", session->cpu},
		{"boot id", session->boot_id},
		{"complete", end_text(gt_capture_health(x->view.capture)->end)},
		{"exported by", options->command_line},
	};

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_text(p, TRACK_NAME, "gputap");
	p = gt_pb_text(p, TRACK_DESCRIPTION, "The session: what was traced, how, and any losses");
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);

	p = self_packet(x, session->start_ns, track, "gputap", "capture", &packet, &mark);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].text && *rows[i].text)
			p = gt_pf_annotate_named_text(p, rows[i].name, rows[i].text);
	if (session->rank >= 0)
		p = gt_pf_annotate_named(p, "rank", (uint64_t)session->rank);
	p = put_counts(p, "calls", gt_view_counts(&x->view, GT_CLASS_CALL));
	p = put_counts(p, "GPU activities", gt_view_counts(&x->view, GT_CLASS_DEVICE));
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

static void write_events(struct gt_pf *x)
{
	const struct gt_capture *c = x->view.capture;

	for (size_t i = 0; i < gt_capture_event_count(c); i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);
		const struct gt_process_info *process = gt_capture_process(c, e->process);
		uint64_t track = process ? gt_pf_track(x, GT_PF_TRACKS_PROCESS,
						       gt_view_pid(&x->view, e->process), 0)
					 : gt_pf_track(x, GT_PF_TRACKS_SELF, 0, 0);
		char *p, *packet, *mark;

		p = self_packet(x, e->time_ns, track, "gputap", gt_event_code_name(e->code),
				&packet, &mark);
		if (e->domain)
			p = gt_pf_annotate_named_text(p, "domain", gt_domain_name(e->domain));
		p = gt_pf_annotate_named(p, "value", e->value);
		if (e->text && *e->text)
			p = gt_pf_annotate_named_text(p, "text", e->text);
		gt_pb_close(p, mark);
		gt_pf_packet_close(x, p, packet);
	}
}

/* Export ------------------------------------------------------------------------- */

static void choose_zero(struct gt_pf *x)
{
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	const char *host = session->hostname;

	x->zero = session->start_ns;
	for (uint32_t i = 0; i < gt_capture_process_count(x->view.capture); i++) {
		uint64_t start = gt_capture_process(x->view.capture, i)->start_ns;

		if (start && start < x->zero)
			x->zero = start;
	}
	x->seed = session->start_realtime_ns;
	while (host && *host)
		x->seed = x->seed * 31 + (unsigned char)*host++;
}

static void free_exporter_parts(struct gt_pf *x)
{
	for (uint32_t i = 0; i < x->view.thread_count; i++) {
		struct gt_pf_sequence *s = x->view.threads[i]->own;

		if (s) {
			gt_pf_ranges_fini(s->ranges);
			gt_pf_sequence_fini(s);
		}
	}
	gt_ranges_fini(&x->ranges);
	gt_innermost_fini(&x->innermost);
	gt_launch_frames_fini(&x->launches);
	gt_replays_fini(&x->replays);
	gt_memory_use_fini(&x->memory);
	for (uint32_t i = 0; i < x->view.queue_count; i++) {
		struct gt_pf_rows *own = x->view.queues[i]->own;

		for (unsigned row = 0; own && row < own->count; row++)
			gt_pf_sequence_fini(&own->row[row]);
	}
	gt_bits_fini(&x->devices);
	free(x->arg_names);
	gt_view_fini(&x->view);
}

/* Write all records with the loop that is compiled for this CPU. */
static int write_records(struct gt_pf *x, const struct gt_view_options *options)
{
#if GT_PF_V3
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("bmi2"))
		return gt_pf_records_v3(x, options);
#endif
	return gt_pf_records_any(x, options);
}

static int write_file(struct gt_pf *x, const char *path, const struct gt_view_options *options)
{
	struct gt_pf_sequence main_sequence = {.last_ns = 0};
	int status = gt_out_open(&x->out, path, false);

	if (status)
		return status;
	if (options->jobs > 1)
		gt_out_use_thread(&x->out);
	choose_zero(x);
	gt_pf_sequence_begin(x, &main_sequence, CLOCK_BOOTTIME_ID, 0);
	write_clocks(x);
	status = write_processes(x);
	write_about(x, options);
	write_events(x);
	if (!status)
		status = write_records(x, options);
	if (!status)
		status = gt_pf_ranges_end(x);
	if (!status)
		status = gt_pf_replays(x);
	if (!status)
		status = gt_pf_memory(x);
	if (!status)
		status = gt_pf_pauses(x);
	if (!status)
		status = gt_pf_open_calls(x);
	if (!status)
		status = gt_pf_idle(x, options);
	return gt_out_finish(&x->out, status);
}

/* Initial entry of gt_pf.recent; no sequence owns it. */
static const struct gt_pf_call no_call;

static int write_perfetto(const struct gt_capture *c, const char *path,
			  const struct gt_view_options *options)
{
	struct gt_pf *x = calloc(1, sizeof *x);
	int status;

	if (!x)
		return gt_error(-ENOMEM, "cannot export");
	for (unsigned i = 0; i < RECENT; i++)
		x->recent[i] = (struct gt_pf_call *)(uintptr_t)&no_call;
	x->memory.capture = c;
	status = gt_view_init(&x->view, c, options);
	if (!status) {
		status = gt_innermost_read(&x->innermost, c);
		if (!status)
			status = gt_launch_frames_read(&x->launches, c);
		if (!status)
			status = write_file(x, path, options);
		free_exporter_parts(x);
	}
	free(x);
	return status;
}

static const char *const extensions[] = {".pftrace", ".perfetto-trace", NULL};

const struct gt_exporter gt_exporter_perfetto = {
	.name = "perfetto",
	.extensions = extensions,
	.text = "Perfetto protobuf, for ui.perfetto.dev",
	.write = write_perfetto,
};
