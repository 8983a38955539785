/* SPDX-License-Identifier: MIT */
/* Building blocks of a Perfetto file: tracks, packet sequences, interned texts, the constant part
 * of an operation's calls. Used by the exporter (perfetto.c) and its files for records, ranges and
 * replays; calls none of them. See perfetto.h. */
#include "export/perfetto.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/text.h"
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
	/* Does not set the flag for packets that depend on earlier packets, because the flag
	 * matters only after packet loss, which cannot happen in a file. */
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
}

/* Interned texts --------------------------------------------------------------- */

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

/* Look up the key of an argument's name. A linear search suffices: there are a few hundred names,
 * and this runs once per operation. */
static int key_of_argument(struct gt_pf *x, const char *name, uint32_t *key)
{
	const char **more;
	uint32_t i;

	for (i = 0; i < x->arg_name_count; i++)
		if (!strcmp(x->arg_names[i], name))
			goto found;
	more = realloc(x->arg_names, (i + 1) * sizeof *more);
	if (!more)
		return gt_error(-ENOMEM, "cannot export");
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
	a->bytes = (uint8_t)(p - start); /* at most 7: keys and fields take two bytes each */
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
	} else { /* without a payload, other forms are written as addresses */
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
		gt_error(-ENOMEM, "cannot export");
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
	call->allocates = o->allocates;
	call->by_return = o->info && o->info->status_arg == -1;
	return call;
}

/* Empty the cache of values. Free entries have the value 0, which is looked up in one slot only.
 * The free entry in that slot has the value 1. */
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
	/* in a capture from a newer gputap, calls may differ in their number of arguments */
	call->op = op;
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

/* Create the track and sequence on the thread's first record (perfetto.h). */
struct gt_pf_sequence *gt_pf_thread_begin(struct gt_pf *x, struct gt_view_thread *t)
{
	struct gt_pf_sequence *s = t->own = calloc(1, sizeof *s);
	uint64_t track = gt_pf_track(x, GT_PF_TRACKS_THREAD, t->pid, gt_pf_thread_key(t));
	char *p, *packet, *mark, *inner;

	if (s)
		s->open = malloc(OPEN_MAX * sizeof *s->open);
	if (!s || !s->open) {
		gt_error(-ENOMEM, "cannot export");
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
	for (uint32_t key = KEY_CORRELATION; key <= KEY_EXTERNAL_ID; key++)
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
	const char *called = q->object ? gt_object_called(q->object) : NULL;
	bool several = gt_capture_process_count(x->view.capture) > 1;
	const char *noun = gt_domain_queue_noun(q->object ? q->object->domain : GT_DOMAIN_NONE);
	char process[32] = "";

	if (several)
		snprintf(process, sizeof process, "pid %llu", (unsigned long long)q->pid);
	if (!q->object)
		snprintf(label, size, "unknown queue");
	else if (several || out_of_order)
		snprintf(label, size, "%s %u%s%.128s (%s%s%s)", noun, q->number, called ? ": " : "",
			 called ? called : "", process, several && out_of_order ? ", " : "",
			 out_of_order ? "out of order" : "");
	else
		snprintf(label, size, "%s %u%s%.128s", noun, q->number, called ? ": " : "",
			 called ? called : "");
}

/* Start the track of a new row. All rows of a queue have one name, so that the reader shows them as
 * rows of one track. */
static void begin_row(struct gt_pf *x, struct gt_view_queue *q, struct gt_pf_sequence *s,
		      unsigned row)
{
	uint64_t track = gt_pf_track(x, GT_PF_TRACKS_QUEUE, q->index, row);
	uint32_t bit = gt_pf_device_bit(q->device);
	char label[GT_PF_LABEL], *p, *packet, *mark;

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
	p = s->activity.data;
	if (q->device != UINT32_MAX)
		p = GT_PF_ANNOTATE(p, DEVICE, q->device);
	if (q->number)
		p = GT_PF_ANNOTATE(p, QUEUE, q->number);
	s->activity.bytes = (uint8_t)(p - s->activity.data);
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_ACTIVITY_KERNEL + 1, "kernel");
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_ACTIVITY_COPY + 1, "memcpy");
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_ACTIVITY_SET + 1, "memset");
	gt_pf_intern(x, s, INTERNED_CATEGORY, GT_ACTIVITY_MARK + 1, "marker");
}

struct gt_pf_sequence *gt_pf_row_slow(struct gt_pf *x, struct gt_view_queue *q, unsigned row)
{
	struct gt_pf_rows *own = q->own;

	own = realloc(own, sizeof *own + (row + 1) * sizeof own->row[0]);
	if (!own) {
		gt_error(-ENOMEM, "cannot export");
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

/* For sequence 1 ---------------------------------------------------------------- */

char *gt_pf_annotate_named_signed(char *p, const char *name, int64_t value)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pf_put_text(p, ANNOTATION_NAME_TEXT, name);
	p = gt_pb_u64(p, ANNOTATION_INT, (uint64_t)value);
	gt_pb_close(p, mark);
	return p;
}

char *gt_pf_annotate_named_text(char *p, const char *name, const char *text)
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
