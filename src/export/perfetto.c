/* SPDX-License-Identifier: MIT */
/* Perfetto's native format: a stream of TracePacket messages of TrackEvents.
 *
 *   sequence 1           clocks, processes, devices, what the capture says of itself, gputap's
 *                        events
 *   one per thread       calls as slice begin and end; times are deltas (incremental clock), so
 *                        calls must come in order of begin, which is what a cursor gives
 *   one per thread and   what the program says of itself (ROCTx), see perfetto_ranges.c
 *   one per queue row    device work; times are from the trace's start, because work comes in any
 *                        order
 *   sequence 1, at the   launches of graphs, around their nodes, see perfetto_replays.c
 *   end
 *
 * A sequence says once: its track, its clock, and every text that it names by number (interned).
 * All clocks hang on BOOTTIME at one moment, `zero`: the reader wants the snapshots of a clock
 * to rise through the file. Slices of a track nest by position in the file where times are
 * equal, so a call's end is written before the begin of what comes after it, and rows
 * (track_rows.h) keep device slices of a track apart. A flow leads from a call to the device work
 * that it caused; its id is the correlation number.
 * Memory: by threads, queues, names and launches of graphs. Numbers of fields:
 * protos/perfetto/trace/ of the Perfetto project. */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>

#include "export/formats.h"
#include "export/text.h"
#include "util/error.h"

static const char *const key_texts[KEY_COUNT] = {
#define X(name, text, type) [KEY_##name] = text,
	KEYS(X)
#undef X
};

/* Tracks --------------------------------------------------------------------- */

uint64_t gt_pf_track(const struct gt_pf *x, enum gt_pf_tracks kind, uint64_t a, uint64_t b)
{
	uint64_t h = x->seed ^ (uint64_t)kind * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 30 ^ a) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27 ^ b) * 0x94d049bb133111ebu;
	h ^= h >> 31;
	return h ? h : 1;
}

char *gt_pf_put_text(char *p, uint32_t field, const char *text)
{
	char clean[3 * TEXT_MAX];
	size_t length = strlen(text);

	length = (size_t)(gt_put_utf8(clean, text, length < TEXT_MAX ? length : TEXT_MAX) - clean);
	return gt_pb_bytes(p, field, clean, length);
}

void gt_pf_sequence_begin(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t clock, uint64_t track)
{
	uint32_t id = ++x->sequences;
	char *p, *packet, *mark, *inner;

	s->id = id;
	s->correlation.high = s->correlation.id_high = UINT64_MAX;
	s->last_ns = x->zero;
	/* no flag that the packet needs what came before: it says what to do after a loss, and a
	 * file has none */
	p = gt_pb_u64(s->head.data, PACKET_SEQUENCE, id);
	s->head.bytes = (uint8_t)(p - s->head.data);
	p = gt_pb_open_short(s->timed_head.data, TRACE_PACKET, &mark);
	p = gt_pb_put(p, &s->head);
	p = gt_pb_tag(p, PACKET_TIMESTAMP, GT_PB_VARINT);
	s->timed_head.bytes = (uint8_t)(p - s->timed_head.data);

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, id);
	p = gt_pb_u64(p, PACKET_FLAGS, FLAG_CLEARED);
	p = gt_pb_u64(p, PACKET_FIRST, 1);
	p = gt_pb_open(p, PACKET_DEFAULTS, &mark);
	p = gt_pb_u64(p, DEFAULTS_CLOCK, clock);
	if (track) {
		p = gt_pb_open(p, DEFAULTS_TRACK_EVENT, &inner);
		p = gt_pb_u64(p, DEFAULTS_TRACK_UUID, track);
		gt_pb_close(p, inner);
	}
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
	if (clock == CLOCK_BOOTTIME_ID)
		return;

	p = gt_pf_packet_open(x, s, &packet);
	p = gt_pb_open(p, PACKET_CLOCK_SNAPSHOT, &mark);
	p = gt_pb_open(p, SNAPSHOT_CLOCK, &inner);
	p = gt_pb_u64(p, CLOCK_ID, clock);
	p = gt_pb_u64(p, CLOCK_TIME, clock == CLOCK_DELTA ? x->zero : 0);
	if (clock == CLOCK_DELTA)
		p = gt_pb_u64(p, CLOCK_INCREMENTAL, 1);
	gt_pb_close(p, inner);
	p = gt_pb_open(p, SNAPSHOT_CLOCK, &inner);
	p = gt_pb_u64(p, CLOCK_ID, CLOCK_BOOTTIME_ID);
	p = gt_pb_u64(p, CLOCK_TIME, x->zero);
	gt_pb_close(p, inner);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

void gt_pf_sequence_fini(struct gt_pf_sequence *s)
{
	gt_bits_fini(&s->ops);
	gt_bits_fini(&s->keys);
	gt_bits_fini(&s->words);
	gt_bits_fini(&s->names);
	gt_bits_fini(&s->categories);
	free(s->open);
	gt_pf_ranges_fini(s->ranges);
}

/* Texts by number -------------------------------------------------------------- */

static char *put_interned(char *p, uint32_t field, uint64_t iid, const char *text)
{
	char *mark;

	p = gt_pb_open(p, field, &mark);
	p = gt_pb_u64(p, INTERNED_IID, iid);
	p = gt_pf_put_text(p, INTERNED_TEXT, text);
	gt_pb_close(p, mark);
	return p;
}

void gt_pf_intern(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t field, uint64_t iid,
		  const char *text)
{
	char *packet, *mark, *p = gt_pf_packet_open(x, s, &packet);

	p = gt_pb_open(p, PACKET_INTERNED, &mark);
	p = put_interned(p, field, iid, text);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

static const char *key_text(const struct gt_pf *x, uint32_t key)
{
	return key < KEY_COUNT ? key_texts[key] : x->arg_names[key - KEY_COUNT];
}

static inline void need_key(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t key)
{
	if (__builtin_expect(gt_bits_has(&s->keys, key), 1))
		return;
	gt_bits_add(&s->keys, key);
	gt_pf_intern(x, s, INTERNED_ANNOTATION_NAME, key, key_text(x, key));
}

/* Number of an argument's name. Names are few hundred, and this runs once for each operation. */
static int key_of_argument(struct gt_pf *x, const char *name, uint32_t *key)
{
	const char **more;
	uint32_t i;

	for (i = 0; i < x->arg_name_count; i++)
		if (!strcmp(x->arg_names[i], name))
			goto found;
	more = realloc(x->arg_names, (i + 1) * sizeof *more);
	if (!more)
		return gt_error(-ENOMEM, "export");
	x->arg_names = more;
	x->arg_names[x->arg_name_count++] = name;
found:
	*key = KEY_COUNT + i;
	return 0;
}

static void make_annotation(struct gt_pf_annotation *a, uint32_t key, uint32_t field)
{
	char start[16], *mark, *p = gt_pb_open_short(start, EVENT_ANNOTATION, &mark);

	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pb_tag(p, field, GT_PB_VARINT);
	a->bytes = (uint8_t)(p - start); /* 7 at most: keys have two bytes, fields too */
	memset(p, 0, sizeof start - a->bytes);
	memcpy(&a->start, start, sizeof a->start);
}

static int make_argument(struct gt_pf *x, struct gt_pf_call *call, unsigned i,
			 const struct gt_argument_info *info)
{
	struct gt_pf_argument *a = &call->args[i];
	uint32_t field = ANNOTATION_POINTER;

	if (key_of_argument(x, info->name, &a->key))
		return -ENOMEM;
	a->length_arg = info->length_arg;
	if (info->form == GT_FORM_UNSIGNED || info->form == GT_FORM_SIGNED) {
		field = info->form == GT_FORM_SIGNED ? ANNOTATION_INT : ANNOTATION_UINT;
	} else if (info->form == GT_FORM_NAMED) {
		call->named |= UINT32_C(1) << i;
	} else { /* other forms without payload: it is an address */
		call->addresses |= UINT32_C(1) << i;
	}
	make_annotation(&a->form[0], a->key, field);
	make_annotation(&a->form[1], a->key, ANNOTATION_STRING_IID);
	return 0;
}

static struct gt_pf_call *make_call(struct gt_pf *x, struct gt_view_operation *o, uint32_t op)
{
	unsigned nargs = o->nargs < ARGS_MAX ? o->nargs : ARGS_MAX;
	size_t values = (sizeof(struct gt_pf_call) + nargs * sizeof(struct gt_pf_argument) +
			 VALUE_ALIGNED - 1) /
			VALUE_ALIGNED;
	size_t bytes = (values + nargs * VALUES) * VALUE_ALIGNED;
	struct gt_pf_call *call = aligned_alloc(VALUE_ALIGNED, bytes);
	char *p, *mark;

	if (!call) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	memset(call, 0, bytes);
	o->own = call;
	p = gt_pb_open_short(call->event.data, PACKET_TRACK_EVENT, &mark);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_BEGIN);
	p = gt_pb_u64(p, EVENT_NAME, o->index + 1);
	p = gt_pb_u64(p, EVENT_CATEGORY, GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT + 1);
	call->event.bytes = (uint8_t)(p - call->event.data);
	call->nargs = (uint8_t)nargs;
	call->values = (struct gt_pf_value *)call + values;
	for (unsigned i = 0; i < nargs; i++)
		if (make_argument(x, call, i, &o->info->args[i]))
			return NULL;
	call->op = op;
	call->flow_bytes = o->submits ? FLOW_BYTES : 0;
	call->by_return = o->info && o->info->status_arg == -1;
	return call;
}

/* 0 is looked for in one place only: the others are free with it, and that one with 1. */
static void forget_values(struct gt_pf_call *call)
{
	memset(call->values, 0, call->nargs * VALUES * sizeof *call->values);
	for (unsigned i = 0; i < call->nargs; i++)
		call->values[i * VALUES + gt_pf_value_slot(0)].value = 1;
}

struct gt_pf_call *gt_pf_operation(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t op)
{
	struct gt_view_operation *o = gt_view_operation(&x->view, op);
	uint32_t domain = GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT;
	struct gt_pf_call *call;

	if (!o || (!o->own && !make_call(x, o, op)))
		return NULL;
	call = x->recent[op % RECENT] = o->own;
	call->op = op; /* of a newer gputap, the number of arguments may differ from call to call */
	call->shown = (uint8_t)(call->nargs < GT_OP_NARGS(op) ? call->nargs : GT_OP_NARGS(op));
	call->lengths = 0;
	for (unsigned i = 0; i < call->shown; i++)
		call->lengths |= (uint32_t)(call->args[i].length_arg < GT_OP_NARGS(op)) << i;
	if (call->owner == s)
		return call;
	call->owner = s;
	call->begin.id_high = UINT64_MAX;
	forget_values(call);
	if (gt_bits_has(&s->ops, o->index))
		return call;
	gt_bits_add(&s->ops, o->index);
	gt_pf_intern(x, s, INTERNED_EVENT_NAME, o->index + 1, o->name);
	for (unsigned i = 0; i < call->nargs; i++)
		need_key(x, s, call->args[i].key);
	if (!gt_bits_has(&s->categories, domain)) {
		gt_bits_add(&s->categories, domain);
		gt_pf_intern(x, s, INTERNED_CATEGORY, domain + 1,
			     gt_domain_name((enum gt_domain)domain));
	}
	return call;
}

/* Tracks of threads and queues --------------------------------------------------- */

/* A thread's track and sequence, on its first record. */
struct gt_pf_sequence *gt_pf_thread_begin(struct gt_pf *x, struct gt_view_thread *t)
{
	struct gt_pf_sequence *s = t->own = calloc(1, sizeof *s);
	uint64_t track = gt_pf_track(x, GT_PF_TRACKS_THREAD, t->pid, gt_pf_thread_key(t));
	char *p, *packet, *mark, *inner;

	if (s)
		s->open = malloc(OPEN_MAX * sizeof *s->open);
	if (!s || !s->open) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	gt_pf_sequence_begin(x, s, CLOCK_DELTA, track);
	p = gt_pf_packet_open(x, s, &packet);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_u64(p, TRACK_PARENT, gt_pf_track(x, GT_PF_TRACKS_PROCESS, t->pid, 0));
	p = gt_pb_open(p, TRACK_THREAD, &inner);
	p = gt_pb_u64(p, THREAD_PID, t->pid);
	p = gt_pb_u64(p, THREAD_TID, t->tid);
	if (*t->name)
		p = gt_pf_put_text(p, THREAD_NAME, t->name);
	gt_pb_close(p, inner);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
	for (uint32_t key = KEY_CORRELATION; key <= KEY_EXTERNAL_USER; key++)
		need_key(x, s, key);
	gt_pf_intern(x, s, INTERNED_ANNOTATION_STRING, IID_NULL, "NULL");
	return s;
}

static void device_track(struct gt_pf *x, uint32_t device)
{
	uint32_t bit = gt_pf_device_bit(device);
	char label[256], *p, *packet, *mark;
	struct gt_pf_sequence main_sequence = {.last_ns = 0};

	if (gt_bits_has(&x->devices, bit))
		return;
	gt_bits_add(&x->devices, bit);
	gt_view_device_label(&x->view, device, label, sizeof label);
	p = gt_pf_packet_open(x, &main_sequence, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, gt_pf_track(x, GT_PF_TRACKS_DEVICE, bit, 0));
	p = gt_pf_put_text(p, TRACK_NAME, label);
	p = gt_pb_u64(p, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
	p = gt_pb_u64(p, TRACK_ORDER_RANK, bit);
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

void gt_pf_queue_label(const struct gt_pf *x, const struct gt_view_queue *q, char *label,
		       size_t size)
{
	const char *properties = q->object ? gt_object_value(q->object, "properties") : NULL;
	bool out_of_order = properties && strstr(properties, "out_of_order");
	bool several = gt_capture_process_count(x->view.capture) > 1;
	char process[32] = "";

	if (several)
		snprintf(process, sizeof process, "pid %llu", (unsigned long long)q->pid);
	if (!q->object)
		snprintf(label, size, "queue not known");
	else if (several || out_of_order)
		snprintf(label, size, "queue %u (%s%s%s)", q->stream, process,
			 several && out_of_order ? ", " : "", out_of_order ? "out of order" : "");
	else
		snprintf(label, size, "queue %u", q->stream);
}

/* The track of a new row: those of a queue have one name, so that the reader shows them as rows
 * of one track. */
static void begin_row(struct gt_pf *x, struct gt_view_queue *q, struct gt_pf_sequence *s,
		      unsigned row)
{
	uint64_t track = gt_pf_track(x, GT_PF_TRACKS_QUEUE, q->index, row);
	uint32_t bit = gt_pf_device_bit(q->device);
	char label[64], *p, *packet, *mark;

	device_track(x, q->device);
	gt_pf_sequence_begin(x, s, CLOCK_ZERO, track);
	gt_pf_queue_label(x, q, label, sizeof label);
	p = gt_pf_packet_open(x, s, &packet);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_u64(p, TRACK_PARENT, gt_pf_track(x, GT_PF_TRACKS_DEVICE, bit, 0));
	p = gt_pf_put_text(p, TRACK_NAME, label);
	p = gt_pb_u64(p, TRACK_ORDER_RANK, gt_pf_queue_rank(q));
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
	for (uint32_t key = KEY_NONE + 1; key < KEY_COUNT; key++)
		need_key(x, s, key);
	p = s->work.data;
	if (q->device != UINT32_MAX)
		p = GT_PF_ANNOTATE(p, DEVICE, q->device);
	p = GT_PF_ANNOTATE(p, QUEUE, q->stream);
	s->work.bytes = (uint8_t)(p - s->work.data);
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_WORK_KERNEL + 1, "kernel");
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_WORK_COPY + 1, "copy");
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_WORK_SET + 1, "fill");
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_WORK_MARK + 1, "marker");
}

struct gt_pf_sequence *gt_pf_row_slow(struct gt_pf *x, struct gt_view_queue *q, unsigned row)
{
	struct gt_pf_rows *own = q->own;

	own = realloc(own, sizeof *own + (row + 1) * sizeof own->row[0]);
	if (!own) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	if (!q->own)
		own->count = 0;
	q->own = own;
	memset(&own->row[own->count], 0, (row + 1 - own->count) * sizeof own->row[0]);
	for (; own->count <= row; own->count++)
		begin_row(x, q, &own->row[own->count], own->count);
	return &own->row[row];
}

/* What the capture says of itself ----------------------------------------------- */

/* For sequence 1, which interns nothing. */
static char *annotate_named(char *p, const char *name, const char *text)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pf_put_text(p, ANNOTATION_NAME_TEXT, name);
	p = gt_pf_put_text(p, ANNOTATION_STRING, text);
	gt_pb_close(p, mark);
	return p;
}

char *gt_pf_annotate_named(char *p, const char *name, uint64_t value)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pf_put_text(p, ANNOTATION_NAME_TEXT, name);
	p = gt_pb_u64(p, ANNOTATION_UINT, value);
	gt_pb_close(p, mark);
	return p;
}

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
	/* the reader keeps this for people; the command line above it drops */
	p = gt_pf_put_text(p, TRACK_DESCRIPTION,
			   gt_view_command(process->argv, command, sizeof command));
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

/* One track a pid: an exec goes on in the same one. The newest process gives the name; the reader
 * keeps the first that it sees, so there is one descriptor only. */
static int write_processes(struct gt_pf *x)
{
	struct gt_map pids = {.count = 0};
	int status = 0;

	for (uint32_t i = (uint32_t)gt_capture_process_count(x->view.capture);
	     i-- > 0 && !status;) {
		const struct gt_process_info *process = gt_capture_process(x->view.capture, i);

		if (gt_map_find(&pids, gt_view_pid(&x->view, i), 0) >= 0)
			continue;
		status = gt_map_add(&pids, gt_view_pid(&x->view, i), 0, 0);
		write_process(x, process);
	}
	gt_map_fini(&pids);
	return status ? gt_error(status, "export") : 0;
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
	       : end == GT_CAPTURE_CUT    ? "no: the file was cut off"
					  : "no: tracing did not end properly";
}

/* A track "gputap" with one instant that has all of it as arguments. */
static void write_about(struct gt_pf *x, const struct gt_export_options *options)
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
	p = gt_pb_text(p, TRACK_DESCRIPTION, "What was traced, how, and whether anything was lost");
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);

	p = self_packet(x, session->start_ns, track, "gputap", "capture", &packet, &mark);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].text && *rows[i].text)
			p = annotate_named(p, rows[i].name, rows[i].text);
	if (session->rank >= 0)
		p = gt_pf_annotate_named(p, "rank", (uint64_t)session->rank);
	p = put_counts(p, "calls", gt_view_counts(&x->view, GT_CLASS_CALL));
	p = put_counts(p, "device work", gt_view_counts(&x->view, GT_CLASS_DEVICE));
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
			p = annotate_named(p, "domain", gt_domain_name(e->domain));
		p = gt_pf_annotate_named(p, "value", e->value);
		if (e->text && *e->text)
			p = annotate_named(p, "text", e->text);
		gt_pb_close(p, mark);
		gt_pf_packet_close(x, p, packet);
	}
}

/* The whole ---------------------------------------------------------------------- */

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

static void fini(struct gt_pf *x)
{
	for (uint32_t i = 0; i < x->view.thread_count; i++)
		if (x->view.threads[i]->own)
			gt_pf_sequence_fini(x->view.threads[i]->own);
	gt_ranges_fini(&x->ranges);
	gt_replays_fini(&x->replays);
	for (uint32_t i = 0; i < x->view.queue_count; i++) {
		struct gt_pf_rows *own = x->view.queues[i]->own;

		for (unsigned row = 0; own && row < own->count; row++)
			gt_pf_sequence_fini(&own->row[row]);
	}
	gt_bits_fini(&x->devices);
	free(x->arg_names);
	gt_view_fini(&x->view);
}

/* The record loops use what the CPU has. */
static int write_records(struct gt_pf *x, const struct gt_export_options *options)
{
#if GT_PF_V3
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("bmi2"))
		return gt_pf_records_v3(x, options);
#endif
	return gt_pf_records_any(x, options);
}

static int write_file(struct gt_pf *x, const char *path, const struct gt_export_options *options)
{
	struct gt_pf_sequence main_sequence = {.last_ns = 0};
	int status = gt_out_open(&x->out, path, false);

	if (status)
		return status;
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
	return gt_out_finish(&x->out, status);
}

/* Of no sequence. */
static const struct gt_pf_call no_call;

static int write_perfetto(const struct gt_capture *c, const char *path,
			  const struct gt_export_options *options)
{
	struct gt_pf *x = calloc(1, sizeof *x);
	int status;

	if (!x)
		return gt_error(-ENOMEM, "export");
	for (unsigned i = 0; i < RECENT; i++)
		x->recent[i] = (struct gt_pf_call *)(uintptr_t)&no_call;
	status = gt_view_init(&x->view, c, options);
	if (!status) {
		status = write_file(x, path, options);
		fini(x);
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
