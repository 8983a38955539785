/* SPDX-License-Identifier: MIT */
/* Writes the causes of idle time in Perfetto: a track "idle" for each device, above its queues,
 * with a slice for each part of a gap, named after its cause (idle_parts.h). Parts come device
 * after device, in order of start and without overlap. Each device has a separate sequence with
 * interned texts, because a capture may have millions of parts. */
#include <errno.h>

#include "analysis/idle/idle_read.h"
#include "analysis/tables/retained.h"
#include "export/perfetto.h"
#include "record/operation.h"
#include "util/error.h"

/* Interned annotation names on these sequences, numbered from 1. */
#define ANNOTATIONS(X)                \
	X(CAUSE, "cause")             \
	X(CALL, "call")               \
	X(RANGE, "range")             \
	X(AWAITS, "wait_target")      \
	X(PID, "pid")                 \
	X(TID, "tid")                 \
	X(THREAD, "thread")           \
	X(GAP_NS, "gap_ns")           \
	X(AFTER, "after")             \
	X(BEFORE, "before")           \
	X(WAITS, "waits_for")         \
	X(AFTER_CALL, "after_call")   \
	X(AFTER_LINE, "after_line")   \
	X(BEFORE_CALL, "before_call") \
	X(BEFORE_LINE, "before_line")

enum annotation {
	ANNOTATION_NONE,
#define X(name, text) ANNOTATION_OF_##name,
	ANNOTATIONS(X)
#undef X
		ANNOTATION_NAMES
};

enum { CATEGORY_IDLE = 1 };

struct drawn {
	struct gt_pf *x;
	struct gt_pf_sequence sequence; /* packet sequence of the current device */
	uint32_t device;
	bool any;
	/* address of a text -> number - 1; texts keep their address while parts are delivered */
	struct gt_map texts;
	int status;
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

static void begin_device(struct drawn *d, uint32_t device)
{
	static const char *const names[] = {
#define X(name, text) [ANNOTATION_OF_##name] = text,
		ANNOTATIONS(X)
#undef X
	};
	struct gt_pf_sequence *s = &d->sequence;

	begin_track(d->x, device);
	gt_pf_sequence_fini(s);
	*s = (struct gt_pf_sequence){.id = 0};
	gt_pf_sequence_begin(d->x, s, CLOCK_DELTA, track_number(d->x, device));
	gt_pf_intern(d->x, s, INTERNED_CATEGORY, CATEGORY_IDLE, "idle");
	for (unsigned i = 1; i < ANNOTATION_NAMES; i++)
		gt_pf_intern(d->x, s, INTERNED_ANNOTATION_NAME, i, names[i]);
	for (unsigned c = 0; c < GT_IDLE_COUNT; c++)
		gt_pf_intern(d->x, s, INTERNED_EVENT_NAME, c + 1,
			     gt_idle_cause_text((enum gt_idle_cause)c));
	gt_map_fini(&d->texts);
	d->device = device;
	d->any = true;
}

/* Return the number of a text on the sequence, and intern it if necessary; 0: no text. */
static uint64_t intern(struct drawn *d, const char *text)
{
	int64_t number;

	if (!text || !*text)
		return 0;
	number = gt_map_find(&d->texts, (uintptr_t)text, 0);
	if (number >= 0)
		return (uint64_t)number + 1;
	number = (int64_t)d->texts.count;
	if (gt_map_add(&d->texts, (uintptr_t)text, 0, (uint32_t)number)) {
		d->status = gt_error(-ENOMEM, "cannot compute idle time");
		return 0;
	}
	gt_pf_intern(d->x, &d->sequence, INTERNED_ANNOTATION_STRING, (uint64_t)number + 1, text);
	return (uint64_t)number + 1;
}

static char *put_annotation(char *p, enum annotation name, uint32_t field, uint64_t value)
{
	char *mark;

	if (!value)
		return p;
	p = gt_pb_open_short(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, name);
	p = gt_pb_u64(p, field, value);
	gt_pb_close_short(p, mark);
	return p;
}

/* Open an event. The time of the event is @ns, but not before the previous event's time. */
static char *open_event(struct drawn *d, uint64_t ns, unsigned type, char **packet, char **event)
{
	struct gt_pf_sequence *s = &d->sequence;
	char *p = gt_pf_packet_open(d->x, s, packet);

	ns = ns > s->last_ns ? ns : s->last_ns;
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns - s->last_ns);
	s->last_ns = ns;
	p = gt_pb_open(p, PACKET_TRACK_EVENT, event);
	return gt_pb_u64(p, EVENT_TYPE, type);
}

/* The object of a thread's wait, and the calls before and after. Texts must be interned before the
 * packet is opened. */
struct host_texts {
	uint64_t wait, after_call, after_line, before_call, before_line;
};

static struct host_texts intern_host(struct drawn *d, const struct gt_idle_part *part)
{
	const struct gt_idle_edge *a = &part->previous, *b = &part->next;

	return (struct host_texts){
		.wait = intern(d, part->wait),
		.after_call = intern(d, a->op ? gt_operation_name(a->op) : NULL),
		.after_line = intern(d, a->line),
		.before_call = intern(d, b->op ? gt_operation_name(b->op) : NULL),
		.before_line = intern(d, b->line),
	};
}

static char *put_host(char *p, const struct host_texts *t)
{
	p = put_annotation(p, ANNOTATION_OF_WAITS, ANNOTATION_STRING_IID, t->wait);
	p = put_annotation(p, ANNOTATION_OF_AFTER_CALL, ANNOTATION_STRING_IID, t->after_call);
	p = put_annotation(p, ANNOTATION_OF_AFTER_LINE, ANNOTATION_STRING_IID, t->after_line);
	p = put_annotation(p, ANNOTATION_OF_BEFORE_CALL, ANNOTATION_STRING_IID, t->before_call);
	return put_annotation(p, ANNOTATION_OF_BEFORE_LINE, ANNOTATION_STRING_IID, t->before_line);
}

static void write_part(void *to, const struct gt_idle_part *part)
{
	struct drawn *d = to;
	const struct gt_view_thread *thread;
	uint64_t cause, call, range, behind, name, after, before;
	struct host_texts host;
	char *p, *packet, *event;

	if (!d->any || d->device != part->device)
		begin_device(d, part->device);
	thread = part->ordinal ? gt_view_thread(&d->x->view, part->process, part->ordinal) : NULL;
	cause = intern(d, gt_idle_cause_name(part->cause));
	call = intern(d, part->op ? gt_operation_name(part->op) : NULL);
	range = intern(d, part->range);
	behind = intern(d, part->behind);
	name = intern(d, thread ? thread->name : NULL);
	after = intern(d, part->after);
	before = intern(d, part->before);
	host = intern_host(d, part);
	p = open_event(d, part->start_ns, TYPE_BEGIN, &packet, &event);
	p = gt_pb_u64(p, EVENT_CATEGORY, CATEGORY_IDLE);
	p = gt_pb_u64(p, EVENT_NAME, part->cause + 1);
	p = put_annotation(p, ANNOTATION_OF_CAUSE, ANNOTATION_STRING_IID, cause);
	p = put_annotation(p, ANNOTATION_OF_CALL, ANNOTATION_STRING_IID, call);
	p = put_annotation(p, ANNOTATION_OF_RANGE, ANNOTATION_STRING_IID, range);
	p = put_annotation(p, ANNOTATION_OF_AWAITS, ANNOTATION_STRING_IID, behind);
	p = put_annotation(p, ANNOTATION_OF_PID, ANNOTATION_UINT, thread ? thread->pid : 0);
	p = put_annotation(p, ANNOTATION_OF_TID, ANNOTATION_UINT, thread ? thread->tid : 0);
	p = put_annotation(p, ANNOTATION_OF_THREAD, ANNOTATION_STRING_IID, name);
	p = put_annotation(p, ANNOTATION_OF_GAP_NS, ANNOTATION_UINT,
			   part->gap_end_ns - part->gap_start_ns);
	p = put_annotation(p, ANNOTATION_OF_AFTER, ANNOTATION_STRING_IID, after);
	p = put_annotation(p, ANNOTATION_OF_BEFORE, ANNOTATION_STRING_IID, before);
	p = put_host(p, &host);
	gt_pb_close(p, event);
	gt_pf_packet_close(d->x, p, packet);
	p = open_event(d, part->end_ns, TYPE_END, &packet, &event);
	gt_pb_close(p, event);
	gt_pf_packet_close(d->x, p, packet);
}

int gt_pf_idle(struct gt_pf *x, const struct gt_view_options *options)
{
	struct drawn d = {.x = x};
	int status;

	if (!options || retained_is_part(x->view.capture))
		return 0;
	status = idle_read(&(struct idle_reading){.capture = x->view.capture,
						  .mangled = options->mangled,
						  .each = write_part,
						  .to = &d});
	gt_pf_sequence_fini(&d.sequence);
	gt_map_fini(&d.texts);
	return status ? status : d.status;
}
