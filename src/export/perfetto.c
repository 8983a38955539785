/* SPDX-License-Identifier: MIT */
/* Perfetto's native format: a stream of TracePacket messages of TrackEvents.
 *
 *   sequence 1           clocks, processes, devices, what the capture says of itself, gputap's events
 *   one per thread       calls as slice begin and end; times are deltas (incremental clock), so the calls must
 *                        come in order of begin, which is what a cursor gives
 *   one per queue lane   device work; times are from the trace's start, because work comes in any order
 *
 * A sequence says once: its track, its clock, and every text that it names by number (interned). All clocks
 * hang on BOOTTIME at one moment, `zero`: the reader wants the snapshots of a clock to rise through the file.
 * Slices of a track nest by position in the file where times are equal, so a call's end is written before the
 * begin of what comes after it, and lanes (lanes.h) keep device slices of a track apart.
 * A flow leads from a call to the device work that it caused; its id is the correlation number.
 * Memory: by threads, queues and names. Numbers of fields: protos/perfetto/trace/ of the Perfetto project. */
#include <stdio.h>
#include <stdlib.h>

#include "export/bits.h"
#include "export/formats.h"
#include "export/number.h"
#include "export/out.h"
#include "export/proto.h"
#include "export/text.h"
#include "export/view.h"
#include "util/error.h"

/* Field numbers, message by message. */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_FIRST = 87,

	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	CLOCK_INCREMENTAL = 3,

	DEFAULTS_CLOCK = 58,
	DEFAULTS_TRACK_EVENT = 11,
	DEFAULTS_TRACK_UUID = 11,

	INTERNED_CATEGORY = 1,
	INTERNED_EVENT_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_ANNOTATION_STRING = 29,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_CHILD_ORDERING = 11,
	TRACK_ORDER_RANK = 12,
	TRACK_DESCRIPTION = 14,
	PROCESS_PID = 1,
	PROCESS_COMMAND = 2,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY_TEXT = 22,
	EVENT_NAME_TEXT = 23,
	EVENT_FLOW = 47,

	ANNOTATION_NAME = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME_TEXT = 10,
	ANNOTATION_STRING_IID = 17,

	SYSTEM_UTSNAME = 1,
	UTSNAME_SYSTEM = 1,
	UTSNAME_RELEASE = 3,
};

enum {
	FLAG_CLEARED = 1, /* interned texts and defaults begin here */
	FLAG_NEEDS = 2,   /* packet makes no sense without them */

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,

	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6,
	CLOCK_DELTA = 64, /* ids from 64 belong to a sequence: ns since its previous packet */
	CLOCK_ZERO = 65,  /* ns since `zero` */

	ORDER_EXPLICIT = 3,
	SEQUENCE_MAIN = 1,

	IID_NULL = 1,              /* "NULL" among the texts of values; others are from 2 */
	ARGS_MAX = 24,
	TEXT_MAX = 512,            /* bytes of an argument's text, before it is made valid */
	COMMAND_WORDS = 8,
	ANNOTATIONS_MAX = 12 << 10, /* after this a slice gets no more of them: GT_PB_OPEN_MAX */
};

/* Keys of annotations that are not arguments of calls: in SQL `debug.<key>`. */
#define KEYS(X)                                                 \
	X(CORRELATION, "correlation", UINT)                     \
	X(ERROR, "error", STRING)                               \
	X(RETURN, "return", POINTER)                            \
	X(EXTERNAL_OPERATION, "external_operation", UINT)       \
	X(EXTERNAL_USER, "external_user", UINT)                 \
	X(DEVICE, "device", UINT)                               \
	X(QUEUE, "queue", UINT)                                 \
	X(GLOBAL_SIZE, "global_size", STRING)                   \
	X(LOCAL_SIZE, "local_size", STRING)                     \
	X(BYTES, "bytes", UINT)                                 \
	X(BANDWIDTH, "gigabytes_per_second", DOUBLE)            \
	X(LATENCY, "launch_latency_ns", INT)                    \
	X(QUEUED, "queued_to_submitted_ns", INT)                \
	X(SUBMITTED, "submitted_to_start_ns", INT)              \
	X(GRAPH_NODE, "graph_node", UINT)                       \
	X(GRAPH_REPLAY, "graph_replay", UINT)                   \
	X(TIMES, "times", STRING)

enum key {
	KEY_NONE,
#define X(name, text, type) KEY_##name,
	KEYS(X)
#undef X
	KEY_COUNT
};

static const char *const key_texts[KEY_COUNT] = {
#define X(name, text, type) [KEY_##name] = text,
	KEYS(X)
#undef X
};

static const uint8_t key_fields[KEY_COUNT] = {
#define X(name, text, type) [KEY_##name] = ANNOTATION_##type,
	KEYS(X)
#undef X
};

/* A writer of packets that share texts, track and clock. */
struct sequence {
	struct gt_pb_piece head; /* what every packet has: sequence and flags */
	uint64_t last_ns;   /* of the delta clock */
	struct gt_bits ops, keys, words, names, categories; /* interned already */
	struct open_call *open;
	uint32_t open_count, open_capacity;
};

/* A call whose end is not written yet. */
struct open_call {
	uint64_t end_ns;
	uint32_t depth;
};

/* An annotation up to its value, put down as one word; the length, its second byte, comes when the value is there. */
struct annotation {
	uint64_t start;
	uint8_t bytes;
};

/* One argument of an operation. The last value that had a name is kept: it mostly comes again. */
struct argument {
	struct annotation value_start, null_start;
	uint8_t form;
	uint32_t key;
	uint64_t value;
	struct gt_view_text *word;
};

/* Of one operation. */
struct call_kind {
	struct gt_pb_piece event; /* type, name, category */
	uint32_t named;           /* bits: arguments of GT_FORM_NAMED */
	uint8_t nargs;
	int8_t status_arg;        /* as in gt_operation_info */
	struct argument args[];
};

struct lanes_own {
	unsigned count;
	struct sequence lane[]; /* by lane */
};

struct perfetto {
	struct gt_out out;
	struct gt_view view;
	uint64_t zero, seed; /* ns; of track numbers */
	uint32_t sequences;
	struct annotation keys[KEY_COUNT]; /* for those that are numbers */
	const char **arg_names; /* all names of arguments; number: KEY_COUNT + index */
	uint32_t arg_name_count;
	struct gt_bits devices; /* that have a track */
};

/* Tracks --------------------------------------------------------------------- */

enum track_kind { TRACKS_PROCESS = 1, TRACKS_THREAD, TRACKS_DEVICE, TRACKS_LANE, TRACKS_SELF };

/* Numbers of tracks differ from capture to capture, so that files may be joined. */
static uint64_t track_uuid(const struct perfetto *x, enum track_kind kind, uint64_t a, uint64_t b)
{
	uint64_t h = x->seed ^ (uint64_t)kind * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 30 ^ a) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27 ^ b) * 0x94d049bb133111ebu;
	h ^= h >> 31;
	return h ? h : 1;
}

static char *put_text(char *p, uint32_t field, const char *text)
{
	char clean[3 * TEXT_MAX];
	size_t length = strlen(text);

	length = (size_t)(gt_put_utf8(clean, text, length < TEXT_MAX ? length : TEXT_MAX) - clean);
	return gt_pb_bytes(p, field, clean, length);
}

static char *packet_open(struct perfetto *x, const struct sequence *s, char **packet)
{
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, packet);

	return gt_pb_put(p, &s->head);
}

static void packet_close(struct perfetto *x, char *p, char *packet)
{
	gt_pb_close(p, packet);
	gt_out_end(&x->out, p);
}

/* Begin a sequence: its clock and, unless 0, its track. */
static void sequence_begin(struct perfetto *x, struct sequence *s, uint32_t clock, uint64_t track)
{
	uint32_t id = ++x->sequences;
	char *p, *packet, *mark, *inner;

	s->last_ns = x->zero;
	p = gt_pb_u64(s->head.data, PACKET_SEQUENCE, id);
	p = gt_pb_u64(p, PACKET_FLAGS, FLAG_NEEDS);
	s->head.bytes = (uint8_t)(p - s->head.data);

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
	packet_close(x, p, packet);
	if (clock == CLOCK_BOOTTIME_ID)
		return;

	p = packet_open(x, s, &packet);
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
	packet_close(x, p, packet);
}

static void sequence_fini(struct sequence *s)
{
	gt_bits_fini(&s->ops);
	gt_bits_fini(&s->keys);
	gt_bits_fini(&s->words);
	gt_bits_fini(&s->names);
	gt_bits_fini(&s->categories);
	free(s->open);
}

/* Texts by number -------------------------------------------------------------- */

static char *put_interned(char *p, uint32_t field, uint64_t iid, const char *text)
{
	char *mark;

	p = gt_pb_open(p, field, &mark);
	p = gt_pb_u64(p, INTERNED_IID, iid);
	p = put_text(p, INTERNED_TEXT, text);
	gt_pb_close(p, mark);
	return p;
}

static void intern(struct perfetto *x, struct sequence *s, uint32_t field, uint64_t iid, const char *text)
{
	char *packet, *mark, *p = packet_open(x, s, &packet);

	p = gt_pb_open(p, PACKET_INTERNED, &mark);
	p = put_interned(p, field, iid, text);
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
}

static const char *key_text(const struct perfetto *x, uint32_t key)
{
	return key < KEY_COUNT ? key_texts[key] : x->arg_names[key - KEY_COUNT];
}

static inline void need_key(struct perfetto *x, struct sequence *s, uint32_t key)
{
	if (__builtin_expect(gt_bits_has(&s->keys, key), 1))
		return;
	gt_bits_add(&s->keys, key);
	intern(x, s, INTERNED_ANNOTATION_NAME, key, key_text(x, key));
}

/* Number of an argument's name. Names are few hundred, and this runs once for each operation. */
static int key_of_argument(struct perfetto *x, const char *name, uint32_t *key)
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

static void make_annotation(struct annotation *a, uint32_t key, uint32_t field, unsigned type)
{
	char start[16], *mark, *p = gt_pb_open_short(start, EVENT_ANNOTATION, &mark);

	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pb_tag(p, field, type);
	a->bytes = (uint8_t)(p - start); /* 7 at most: keys have two bytes, fields too */
	memset(p, 0, sizeof start - a->bytes);
	memcpy(&a->start, start, sizeof a->start);
}

static int make_argument(struct perfetto *x, const struct gt_argument_info *info, struct argument *a)
{
	static const uint32_t fields[] = {
		[GT_FORM_UNSIGNED] = ANNOTATION_UINT,
		[GT_FORM_SIGNED] = ANNOTATION_INT,
		[GT_FORM_ADDRESS] = ANNOTATION_POINTER,
		[GT_FORM_NAMED] = ANNOTATION_STRING_IID,
		[GT_FORM_OTHER] = ANNOTATION_POINTER, /* without payload it is an address */
	};

	if (key_of_argument(x, info->name, &a->key))
		return -ENOMEM;
	a->form = info->form < sizeof fields / sizeof fields[0] ? info->form : (uint8_t)GT_FORM_OTHER;
	make_annotation(&a->value_start, a->key, fields[a->form], GT_PB_VARINT);
	make_annotation(&a->null_start, a->key, ANNOTATION_STRING_IID, GT_PB_VARINT);
	return 0;
}

static struct call_kind *make_kind(struct perfetto *x, struct gt_view_operation *o, uint32_t domain)
{
	unsigned nargs = o->nargs < ARGS_MAX ? o->nargs : ARGS_MAX;
	struct call_kind *kind = calloc(1, sizeof *kind + nargs * sizeof kind->args[0]);
	char *p;

	if (!kind) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	o->own = kind;
	p = gt_pb_u64(kind->event.data, EVENT_TYPE, TYPE_BEGIN);
	p = gt_pb_u64(p, EVENT_NAME, o->index + 1);
	p = gt_pb_u64(p, EVENT_CATEGORY, domain + 1);
	kind->event.bytes = (uint8_t)(p - kind->event.data);
	for (unsigned i = 0; i < nargs; i++)
		if (make_argument(x, &o->info->args[i], &kind->args[i]))
			return NULL;
		else if (kind->args[i].form == GT_FORM_NAMED)
			kind->named |= UINT32_C(1) << i;
	kind->nargs = (uint8_t)nargs;
	kind->status_arg = o->info ? o->info->status_arg : -2;
	return kind;
}

/* What a sequence needs before the first call of an operation. */
static int need_operation(struct perfetto *x, struct sequence *s, struct gt_view_operation *o, uint32_t domain)
{
	struct call_kind *kind = o->own ? o->own : make_kind(x, o, domain);

	if (!kind)
		return -ENOMEM;
	gt_bits_add(&s->ops, o->index);
	intern(x, s, INTERNED_EVENT_NAME, o->index + 1, o->name);
	for (unsigned i = 0; i < kind->nargs; i++)
		need_key(x, s, kind->args[i].key);
	if (!gt_bits_has(&s->categories, domain)) {
		gt_bits_add(&s->categories, domain);
		intern(x, s, INTERNED_CATEGORY, domain + 1, gt_domain_name((enum gt_domain)domain));
	}
	return 0;
}

/* Annotations --------------------------------------------------------------------
 * p: in an open track event. Keys must be interned. */

static inline char *annotate(char *p, const struct annotation *a, uint64_t value)
{
	char *end;

	memcpy(p, &a->start, sizeof a->start);
	end = gt_pb_varint_wide(p + a->bytes, value);
	p[1] = (char)(end - p - 2);
	return end;
}

static char *annotate_text(char *p, uint32_t key, const char *text)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = put_text(p, ANNOTATION_STRING, text);
	gt_pb_close(p, mark);
	return p;
}

/* For sequence 1, which interns nothing. */
static char *annotate_named(char *p, const char *name, const char *text)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = put_text(p, ANNOTATION_NAME_TEXT, name);
	p = put_text(p, ANNOTATION_STRING, text);
	gt_pb_close(p, mark);
	return p;
}

static char *annotate_named_u64(char *p, const char *name, uint64_t value)
{
	char *mark;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = put_text(p, ANNOTATION_NAME_TEXT, name);
	p = gt_pb_u64(p, ANNOTATION_UINT, value);
	gt_pb_close(p, mark);
	return p;
}

/* "1024 x 1024 x 1"; trailing ones are left out */
static char *put_size(char *p, const uint32_t size[3])
{
	unsigned dimensions = size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;

	for (unsigned i = 0; i < dimensions; i++) {
		if (i)
			p = GT_PUT(p, " x ");
		p = gt_put_u64(p, size[i]);
	}
	return p;
}

static char *annotate_size(char *p, uint32_t key, const uint32_t size[3])
{
	char text[3 * GT_NUMBER_MAX], *mark;

	p = gt_pb_open_short(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pb_bytes(p, ANNOTATION_STRING, text, (size_t)(put_size(text, size) - text));
	gt_pb_close_short(p, mark);
	return p;
}

/* Calls ----------------------------------------------------------------------- */

/* Texts of arguments that this call needs and the sequence does not know yet. */
static inline void need_words(struct perfetto *x, struct sequence *s, const struct gt_item *call, struct call_kind *kind)
{
	unsigned nargs = GT_OP_NARGS(call->op);

	for (uint32_t named = kind->named; named; named &= named - 1) {
		unsigned i = (unsigned)__builtin_ctz(named);
		struct argument *a = &kind->args[i];

		if (i >= nargs)
			return;
		if (!a->word || a->value != call->args[i]) {
			a->value = call->args[i];
			a->word = gt_view_word(&x->view, call->op, i, call->args);
		}
		if (a->word && !gt_bits_has(&s->words, a->word->index)) {
			gt_bits_add(&s->words, a->word->index);
			intern(x, s, INTERNED_ANNOTATION_STRING, a->word->index + IID_NULL + 1, a->word->text);
		}
	}
}

/* Arguments that have a payload, as bits. */
static uint32_t payload_bits(const struct gt_item *call)
{
	const uint8_t *next = call->payload;
	uint32_t left = call->payload_bytes, bits = 0;
	struct gt_payload head;

	while (left >= sizeof head) {
		uint32_t whole;

		memcpy(&head, next, sizeof head);
		if (head.arg < ARGS_MAX)
			bits |= UINT32_C(1) << head.arg;
		whole = (uint32_t)sizeof head + ((head.bytes + 7) & ~UINT32_C(7));
		if (whole < head.bytes || whole > left)
			break;
		next += whole;
		left -= whole;
	}
	return bits;
}

/* The formatter's text is valid UTF-8 and goes where it belongs at once. */
static char *annotate_formatted(char *p, uint32_t key, const struct gt_item *call, unsigned arg)
{
	char *mark, *inner;
	size_t length;

	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pb_u64(p, ANNOTATION_NAME, key);
	p = gt_pb_open(p, ANNOTATION_STRING, &inner);
	length = gt_format_arg(p, TEXT_MAX, call->op, arg, call->args, call->payload, call->payload_bytes);
	p += length < TEXT_MAX ? length : TEXT_MAX - 1;
	gt_pb_close(p, inner);
	gt_pb_close(p, mark);
	return p;
}

static inline char *put_argument(char *p, const struct argument *a, const struct gt_item *call, unsigned i, uint32_t payloads)
{
	uint64_t value = call->args[i];

	if (a->form == GT_FORM_NAMED) {
		if (!a->word)
			return annotate_formatted(p, a->key, call, i);
		value = a->word->index + IID_NULL + 1;
	} else if (a->form == GT_FORM_OTHER || a->form == GT_FORM_ADDRESS) {
		if (payloads >> i & 1)
			return annotate_formatted(p, a->key, call, i);
		if (!value)
			return annotate(p, &a->null_start, IID_NULL);
	}
	return annotate(p, &a->value_start, value);
}

static char *put_result(const struct perfetto *x, char *p, const struct gt_view_operation *o, const struct gt_item *call)
{
	const char *name;
	char text[64];
	int32_t status;

	if (!call->ret && ((const struct call_kind *)o->own)->status_arg == -1) /* by far the most frequent */
		return p;
	if (gt_call_status(call->op, call->ret, call->args, &status) && status < 0) {
		name = gt_status_name((enum gt_domain)GT_OP_DOMAIN(call->op), status);
		snprintf(text, sizeof text, "%s (%d)", name ? name : "unknown error", status);
		return annotate_text(p, KEY_ERROR, text);
	}
	/* what is not a status is a handle, an address or nothing */
	if (call->ret && o->info && o->info->status_arg != -1)
		return annotate(p, &x->keys[KEY_RETURN], call->ret);
	return p;
}

static void write_end(struct perfetto *x, struct sequence *s, uint64_t ns)
{
	char *packet, *p;

	p = gt_pb_open_short(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_put(p, &s->head);
	*p++ = PACKET_TIMESTAMP << 3 | GT_PB_VARINT;
	p = gt_pb_varint_wide(p, ns - s->last_ns);
	memcpy(p, (char[]){ PACKET_TRACK_EVENT << 3 | GT_PB_BYTES, 2, EVENT_TYPE << 3 | GT_PB_VARINT, TYPE_END }, 4);
	p += 4;
	gt_pb_close_short(p, packet);
	gt_out_end(&x->out, p);
	s->last_ns = ns;
}

/* End the calls that are over when a call of @depth begins at @start_ns. */
static void close_calls(struct perfetto *x, struct sequence *s, uint32_t depth, uint64_t start_ns)
{
	while (s->open_count) {
		struct open_call *top = &s->open[s->open_count - 1];

		/* a lost parent leaves calls of a smaller depth that are over too */
		if (top->depth < depth && top->end_ns >= start_ns)
			return;
		write_end(x, s, top->end_ns > s->last_ns ? top->end_ns : s->last_ns);
		s->open_count--;
	}
}

static int push_call(struct sequence *s, uint64_t end_ns, uint32_t depth)
{
	/* a call ends within the one around it, whatever rounding did */
	if (s->open_count && end_ns > s->open[s->open_count - 1].end_ns)
		end_ns = s->open[s->open_count - 1].end_ns;
	if (s->open_count == s->open_capacity) {
		uint32_t capacity = s->open_capacity ? s->open_capacity * 2 : 8;
		struct open_call *more = realloc(s->open, capacity * sizeof *more);

		if (!more)
			return gt_error(-ENOMEM, "export");
		s->open = more;
		s->open_capacity = capacity;
	}
	s->open[s->open_count++] = (struct open_call){ end_ns, depth };
	return 0;
}

/* A thread's track and sequence, on its first record. */
static struct sequence *thread_begin(struct perfetto *x, struct gt_view_thread *t)
{
	struct sequence *s = t->own = calloc(1, sizeof *s);
	uint64_t track = track_uuid(x, TRACKS_THREAD, t->pid, t->tid ? t->tid : UINT64_C(1) << 32 | t->ordinal);
	char *p, *packet, *mark, *inner;

	if (!s) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	sequence_begin(x, s, CLOCK_DELTA, track);
	p = packet_open(x, s, &packet);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_u64(p, TRACK_PARENT, track_uuid(x, TRACKS_PROCESS, t->pid, 0));
	p = gt_pb_open(p, TRACK_THREAD, &inner);
	p = gt_pb_u64(p, THREAD_PID, t->pid);
	p = gt_pb_u64(p, THREAD_TID, t->tid);
	if (*t->name)
		p = put_text(p, THREAD_NAME, t->name);
	gt_pb_close(p, inner);
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
	for (uint32_t key = KEY_CORRELATION; key <= KEY_EXTERNAL_USER; key++)
		need_key(x, s, key);
	intern(x, s, INTERNED_ANNOTATION_STRING, IID_NULL, "NULL");
	return s;
}

static char *put_call_annotations(const struct perfetto *x, char *p, const struct gt_view_operation *o, const struct gt_item *call)
{
	const char *limit = p + ANNOTATIONS_MAX;
	struct call_kind *kind = o->own;

	if (call->args) {
		unsigned nargs = kind->nargs < GT_OP_NARGS(call->op) ? kind->nargs : GT_OP_NARGS(call->op);
		uint32_t payloads = call->payload_bytes ? payload_bits(call) : 0;

		for (unsigned i = 0; i < nargs && p < limit; i++)
			p = put_argument(p, &kind->args[i], call, i, payloads);
	}
	p = put_result(x, p, o, call);
	if (call->external[GT_EXTERNAL_OPERATION])
		p = annotate(p, &x->keys[KEY_EXTERNAL_OPERATION], call->external[GT_EXTERNAL_OPERATION]);
	if (call->external[GT_EXTERNAL_USER])
		p = annotate(p, &x->keys[KEY_EXTERNAL_USER], call->external[GT_EXTERNAL_USER]);
	return p;
}

static int write_call(struct perfetto *x, const struct gt_item *call)
{
	struct gt_view_thread *t = gt_view_thread(&x->view, call->process, call->ordinal);
	struct gt_view_operation *o = gt_view_operation(&x->view, call->op);
	uint32_t domain = GT_OP_DOMAIN(call->op) % GT_DOMAIN_COUNT;
	struct sequence *s;
	uint64_t start_ns, correlation;
	char *p, *packet, *mark;

	if (!t || !o)
		return -ENOMEM;
	s = t->own ? t->own : thread_begin(x, t);
	if (!s)
		return -ENOMEM;
	if (__builtin_expect(!gt_bits_has(&s->ops, o->index), 0) && need_operation(x, s, o, domain))
		return -ENOMEM;
	close_calls(x, s, call->depth, call->start_ns);
	if (call->args)
		need_words(x, s, call, o->own);

	start_ns = call->start_ns > s->last_ns ? call->start_ns : s->last_ns;
	correlation = gt_view_correlation(&x->view, t, call->id);
	p = packet_open(x, s, &packet);
	*p++ = PACKET_TIMESTAMP << 3 | GT_PB_VARINT;
	p = gt_pb_varint_wide(p, start_ns - s->last_ns);
	s->last_ns = start_ns;
	p = gt_pb_open(p, PACKET_TRACK_EVENT, &mark);
	p = gt_pb_put(p, &((const struct call_kind *)o->own)->event);
	if (o->submits)
		p = gt_pb_fixed64(p, EVENT_FLOW, correlation);
	p = annotate(p, &x->keys[KEY_CORRELATION], correlation);
	p = put_call_annotations(x, p, o, call);
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
	return push_call(s, call->end_ns > start_ns ? call->end_ns : start_ns, call->depth);
}

/* Device work ----------------------------------------------------------------- */

static void device_track(struct perfetto *x, uint32_t device)
{
	uint32_t bit = device == UINT32_MAX ? 0 : device + 1;
	char label[256], *p, *packet, *mark;
	struct sequence main_sequence = { .last_ns = 0 };

	if (gt_bits_has(&x->devices, bit))
		return;
	gt_bits_add(&x->devices, bit);
	gt_view_device_label(&x->view, device, label, sizeof label);
	p = packet_open(x, &main_sequence, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track_uuid(x, TRACKS_DEVICE, bit, 0));
	p = put_text(p, TRACK_NAME, label);
	p = gt_pb_u64(p, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
	p = gt_pb_u64(p, TRACK_ORDER_RANK, bit);
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
}

/* "queue 2 (out of order)", with the process where there are several. */
static void queue_label(const struct perfetto *x, const struct gt_view_queue *q, char *label, size_t size)
{
	const char *properties = q->object ? gt_object_value(q->object, "properties") : NULL;
	bool out_of_order = properties && strstr(properties, "out_of_order");
	bool several = gt_capture_process_count(x->view.capture) > 1;
	char process[32] = "";

	if (several)
		snprintf(process, sizeof process, "pid %u", q->pid);
	if (!q->object)
		snprintf(label, size, "queue not known");
	else if (several || out_of_order)
		snprintf(label, size, "queue %u (%s%s%s)", q->stream, process, several && out_of_order ? ", " : "",
			 out_of_order ? "out of order" : "");
	else
		snprintf(label, size, "queue %u", q->stream);
}

/* The track of a new lane: lanes of a queue have one name, so that the reader shows them as rows of one track. */
static void lane_begin(struct perfetto *x, struct gt_view_queue *q, struct sequence *s, unsigned lane)
{
	uint64_t track = track_uuid(x, TRACKS_LANE, q->index, lane);
	uint32_t bit = q->device == UINT32_MAX ? 0 : q->device + 1;
	char label[64], *p, *packet, *mark;

	device_track(x, q->device);
	sequence_begin(x, s, CLOCK_ZERO, track);
	queue_label(x, q, label, sizeof label);
	p = packet_open(x, s, &packet);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_u64(p, TRACK_PARENT, track_uuid(x, TRACKS_DEVICE, bit, 0));
	p = put_text(p, TRACK_NAME, label);
	p = gt_pb_u64(p, TRACK_ORDER_RANK, q->stream);
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
	for (uint32_t key = KEY_NONE + 1; key < KEY_COUNT; key++)
		need_key(x, s, key);
	intern(x, s, INTERNED_CATEGORY, GT_WORK_KERNEL + 1, "kernel");
	intern(x, s, INTERNED_CATEGORY, GT_WORK_COPY + 1, "copy");
	intern(x, s, INTERNED_CATEGORY, GT_WORK_SET + 1, "fill");
	intern(x, s, INTERNED_CATEGORY, GT_WORK_MARK + 1, "marker");
}

static struct sequence *lane_sequence(struct perfetto *x, struct gt_view_queue *q, unsigned lane)
{
	struct lanes_own *own = q->own;

	if (own && lane < own->count)
		return &own->lane[lane];
	own = realloc(own, sizeof *own + (lane + 1) * sizeof own->lane[0]);
	if (!own) {
		gt_error(-ENOMEM, "export");
		return NULL;
	}
	if (!q->own)
		own->count = 0;
	q->own = own;
	memset(&own->lane[own->count], 0, (lane + 1 - own->count) * sizeof own->lane[0]);
	for (; own->count <= lane; own->count++)
		lane_begin(x, q, &own->lane[own->count], own->count);
	return &own->lane[lane];
}

/* Number of the name of a piece of work; interned on the way. 1 .. GT_DEVICE_OP_COUNT are kinds of work. */
static uint64_t work_name(struct perfetto *x, struct sequence *s, const struct gt_item *work)
{
	uint32_t number = (uint32_t)work->device_op;
	const char *text;

	if (work->name) {
		struct gt_view_text *name = gt_view_name(&x->view, work->process, work->name);

		if (!name)
			return 0;
		number = GT_DEVICE_OP_COUNT + name->index;
		text = name->text;
	} else {
		text = gt_device_op_name(work->device_op);
	}
	if (!gt_bits_has(&s->names, number)) {
		gt_bits_add(&s->names, number);
		intern(x, s, INTERNED_EVENT_NAME, number + 1, text);
	}
	return number + 1;
}

static char *put_work_sizes(const struct perfetto *x, char *p, const struct gt_item *work, enum gt_work_class class)
{
	if (work->global[0])
		p = annotate_size(p, KEY_GLOBAL_SIZE, work->global);
	if (work->local[0])
		p = annotate_size(p, KEY_LOCAL_SIZE, work->local);
	if (!work->bytes)
		return p;
	p = annotate(p, &x->keys[KEY_BYTES], work->bytes);
	if (class == GT_WORK_COPY && work->end_ns > work->start_ns) {
		char *mark;

		p = gt_pb_open_short(p, EVENT_ANNOTATION, &mark);
		p = gt_pb_u64(p, ANNOTATION_NAME, KEY_BANDWIDTH);
		p = gt_pb_double(p, ANNOTATION_DOUBLE, (double)work->bytes / (double)(work->end_ns - work->start_ns));
		gt_pb_close_short(p, mark);
	}
	return p;
}

static char *put_work_annotations(const struct perfetto *x, char *p, const struct gt_view_queue *q, const struct gt_item *work,
				  enum gt_work_class class, uint64_t correlation)
{
	const char *error;
	char text[64];

	if (correlation)
		p = annotate(p, &x->keys[KEY_CORRELATION], correlation);
	if (q->device != UINT32_MAX)
		p = annotate(p, &x->keys[KEY_DEVICE], q->device);
	p = annotate(p, &x->keys[KEY_QUEUE], q->stream);
	p = put_work_sizes(x, p, work, class);
	/* times before the start, as lengths: what a reader wants to know; signed, clocks may be wrong */
	if (work->start_ns && work->call_start_ns)
		p = annotate(p, &x->keys[KEY_LATENCY], work->start_ns - work->call_start_ns);
	if (work->submitted_ns && work->queued_ns)
		p = annotate(p, &x->keys[KEY_QUEUED], work->submitted_ns - work->queued_ns);
	if (work->start_ns && work->submitted_ns)
		p = annotate(p, &x->keys[KEY_SUBMITTED], work->start_ns - work->submitted_ns);
	if (work->replay) {
		p = annotate(p, &x->keys[KEY_GRAPH_NODE], work->ordinal_in_graph);
		p = annotate(p, &x->keys[KEY_GRAPH_REPLAY], work->replay);
	}
	if (work->status < 0) {
		error = gt_status_name((enum gt_domain)GT_OP_DOMAIN(work->op), work->status);
		snprintf(text, sizeof text, "%s (%d)", error ? error : "unknown error", work->status);
		p = annotate_text(p, KEY_ERROR, text);
	}
	return p;
}

static int write_work(struct perfetto *x, const struct gt_item *work)
{
	struct gt_view_queue *q = gt_view_queue(&x->view, work);
	struct gt_view_thread *caller = work->id ? gt_view_thread(&x->view, work->process, GT_ID_ORDINAL(work->id)) : NULL;
	uint64_t correlation = gt_view_correlation(&x->view, caller, work->id);
	bool timed = work->start_ns && work->end_ns >= work->start_ns;
	uint64_t start_ns = timed ? work->start_ns : gt_view_work_time(work), end_ns = timed ? work->end_ns : start_ns, name;
	enum gt_work_class class = gt_view_work_class(work->device_op);
	char *p, *packet, *mark;
	struct sequence *s;
	int lane;

	if (!q)
		return -ENOMEM;
	if (start_ns < x->zero)
		start_ns = x->zero;
	if (end_ns < start_ns)
		end_ns = start_ns;
	lane = timed ? gt_lanes_place(&q->lanes, start_ns, end_ns) : 0;
	if (lane < 0)
		return gt_error(lane, "export");
	s = lane_sequence(x, q, (unsigned)lane);
	if (!s)
		return -ENOMEM;
	name = work_name(x, s, work);
	if (!name)
		return -ENOMEM;

	p = packet_open(x, s, &packet);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, start_ns - x->zero);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, &mark);
	p = gt_pb_u64(p, EVENT_TYPE, timed ? TYPE_BEGIN : TYPE_INSTANT);
	p = gt_pb_u64(p, EVENT_NAME, name);
	p = gt_pb_u64(p, EVENT_CATEGORY, class + 1);
	if (correlation)
		p = gt_pb_fixed64(p, EVENT_FLOW, correlation);
	p = put_work_annotations(x, p, q, work, class, correlation);
	if (!timed)
		p = annotate_text(p, KEY_TIMES, "not known");
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
	if (timed) {
		s->last_ns = x->zero;
		write_end(x, s, end_ns);
	}
	return 0;
}

/* What the capture says of itself ----------------------------------------------- */

static char *self_packet(struct perfetto *x, uint64_t ns, uint64_t track, const char *category, const char *name,
			 char **packet, char **event)
{
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, packet);

	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns > x->zero ? ns : x->zero);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, event);
	p = gt_pb_u64(p, EVENT_TYPE, TYPE_INSTANT);
	p = gt_pb_u64(p, EVENT_TRACK, track);
	p = gt_pb_text(p, EVENT_CATEGORY_TEXT, category);
	return put_text(p, EVENT_NAME_TEXT, name);
}

static void write_clocks(struct perfetto *x)
{
	const struct gt_host_clock_map *map = gt_capture_host_clock(x->view.capture);
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	uint64_t real = map ? x->zero + (uint64_t)gt_host_clock_realtime_offset_ns(map, x->zero) :
			      session->start_realtime_ns - (session->start_ns - x->zero);
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
	packet_close(x, p, packet);

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_SYSTEM_INFO, &mark);
	p = gt_pb_open(p, SYSTEM_UTSNAME, &clock);
	p = gt_pb_text(p, UTSNAME_SYSTEM, "Linux");
	p = put_text(p, UTSNAME_RELEASE, session->kernel ? session->kernel : "");
	gt_pb_close(p, clock);
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
}

static void write_process(struct perfetto *x, const struct gt_process_info *image)
{
	char label[256], command[TEXT_MAX], *p, *packet, *mark, *inner;
	const char *word = image->argv;

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track_uuid(x, TRACKS_PROCESS, image->pid, 0));
	p = gt_pb_open(p, TRACK_PROCESS, &inner);
	p = gt_pb_u64(p, PROCESS_PID, image->pid);
	p = put_text(p, PROCESS_NAME, gt_view_process_label(image, label, sizeof label));
	for (unsigned n = 0; word && *word && n < COMMAND_WORDS; n++, word += strlen(word) + 1)
		p = put_text(p, PROCESS_COMMAND, word);
	gt_pb_close(p, inner);
	/* the reader keeps this for people; the command line above it drops */
	p = put_text(p, TRACK_DESCRIPTION, gt_view_command(image->argv, command, sizeof command));
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
}

/* One track a pid: an exec goes on in the same one. The newest image gives the name; the reader keeps the first
 * that it sees, so there is one descriptor only. */
static int write_processes(struct perfetto *x)
{
	struct gt_map pids = { .count = 0 };
	int status = 0;

	for (uint32_t i = (uint32_t)gt_capture_process_count(x->view.capture); i-- > 0 && !status;) {
		const struct gt_process_info *image = gt_capture_process(x->view.capture, i);

		if (gt_map_find(&pids, image->pid, 0) >= 0)
			continue;
		status = gt_map_add(&pids, image->pid, 0, 0);
		write_process(x, image);
	}
	gt_map_fini(&pids);
	return status ? gt_error(status, "export") : 0;
}

static char *put_counts(char *p, const char *what, struct gt_view_counts counts)
{
	char name[64];

	snprintf(name, sizeof name, "%s seen", what);
	p = annotate_named_u64(p, name, counts.seen);
	snprintf(name, sizeof name, "%s recorded", what);
	p = annotate_named_u64(p, name, counts.recorded);
	snprintf(name, sizeof name, "%s dropped", what);
	return annotate_named_u64(p, name, counts.dropped);
}

static const char *end_text(enum gt_capture_end end)
{
	return end == GT_CAPTURE_COMPLETE ? "yes" :
	       end == GT_CAPTURE_CUT      ? "no: the file was cut off" :
					    "no: tracing did not end properly";
}

/* A track "gputap" with one instant that has all of it as arguments. */
static void write_about(struct perfetto *x, const struct gt_export_options *options)
{
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	uint64_t track = track_uuid(x, TRACKS_SELF, 0, 0);
	char *p, *packet, *mark, text[TEXT_MAX];
	const struct { const char *name, *text; } rows[] = {
		{ "gputap version", session->gputap_version },
		{ "command", gt_view_command(session->command, text, sizeof text) },
		{ "options", session->options },
		{ "host", session->hostname },
		{ "kernel", session->kernel },
		{ "cpu", session->cpu },
		{ "boot id", session->boot_id },
		{ "complete", end_text(gt_capture_health(x->view.capture)->end) },
		{ "exported by", options->command_line },
	};

	p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);
	p = gt_pb_u64(p, PACKET_SEQUENCE, SEQUENCE_MAIN);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_text(p, TRACK_NAME, "gputap");
	p = gt_pb_text(p, TRACK_DESCRIPTION, "What was traced, how, and whether anything was lost");
	gt_pb_close(p, mark);
	packet_close(x, p, packet);

	p = self_packet(x, session->start_ns, track, "gputap", "capture", &packet, &mark);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].text && *rows[i].text)
			p = annotate_named(p, rows[i].name, rows[i].text);
	if (session->rank >= 0)
		p = annotate_named_u64(p, "rank", (uint64_t)session->rank);
	p = put_counts(p, "calls", gt_view_counts(&x->view, GT_CLASS_CALL));
	p = put_counts(p, "device work", gt_view_counts(&x->view, GT_CLASS_DEVICE));
	gt_pb_close(p, mark);
	packet_close(x, p, packet);
}

static void write_events(struct perfetto *x)
{
	const struct gt_capture *c = x->view.capture;

	for (size_t i = 0; i < gt_capture_event_count(c); i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);
		const struct gt_process_info *image = gt_capture_process(c, e->process);
		uint64_t track = image ? track_uuid(x, TRACKS_PROCESS, image->pid, 0) : track_uuid(x, TRACKS_SELF, 0, 0);
		char *p, *packet, *mark;

		p = self_packet(x, e->time_ns, track, "gputap", gt_event_code_name(e->code), &packet, &mark);
		if (e->domain)
			p = annotate_named(p, "domain", gt_domain_name(e->domain));
		p = annotate_named_u64(p, "value", e->value);
		if (e->text && *e->text)
			p = annotate_named(p, "text", e->text);
		gt_pb_close(p, mark);
		packet_close(x, p, packet);
	}
}

/* The whole ---------------------------------------------------------------------- */

static void choose_zero(struct perfetto *x)
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

static int write_records(struct perfetto *x, const struct gt_export_options *options)
{
	struct gt_view_progress progress;
	struct gt_cursor *cursor;
	const struct gt_item *item;
	int status = gt_cursor_create(x->view.capture, &cursor);

	if (status)
		return status;
	gt_view_progress_begin(&progress, &x->view, options);
	while ((status = gt_cursor_next(cursor, &item)) > 0) {
		if (item->kind == GT_RECORD_CALL)
			status = write_call(x, item);
		else if (item->kind == GT_RECORD_DEVICE)
			status = write_work(x, item);
		else
			continue;
		if (status || x->out.status)
			break;
		gt_view_progress_step(&progress, cursor);
	}
	gt_cursor_destroy(cursor);
	for (uint32_t i = 0; !status && i < x->view.thread_count; i++)
		if (x->view.threads[i]->own)
			close_calls(x, x->view.threads[i]->own, 0, UINT64_MAX);
	return status;
}

static void fini(struct perfetto *x)
{
	for (uint32_t i = 0; i < x->view.thread_count; i++)
		if (x->view.threads[i]->own)
			sequence_fini(x->view.threads[i]->own);
	for (uint32_t i = 0; i < x->view.queue_count; i++) {
		struct lanes_own *own = x->view.queues[i]->own;

		for (unsigned lane = 0; own && lane < own->count; lane++)
			sequence_fini(&own->lane[lane]);
	}
	gt_bits_fini(&x->devices);
	free(x->arg_names);
	gt_view_fini(&x->view);
}

static int write_perfetto(const struct gt_capture *c, const char *path, const struct gt_export_options *options)
{
	struct sequence main_sequence = { .last_ns = 0 };
	struct perfetto x = { .seed = 0 };
	int status = gt_view_init(&x.view, c);

	if (status)
		return status;
	status = gt_out_open(&x.out, path, false);
	if (status)
		goto fini_view;
	choose_zero(&x);
	for (uint32_t key = KEY_NONE + 1; key < KEY_COUNT; key++)
		make_annotation(&x.keys[key], key, key_fields[key], GT_PB_VARINT);
	sequence_begin(&x, &main_sequence, CLOCK_BOOTTIME_ID, 0);
	write_clocks(&x);
	status = write_processes(&x);
	write_about(&x, options);
	write_events(&x);
	if (!status)
		status = write_records(&x, options);
	if (status)
		gt_out_abandon(&x.out);
	else
		status = gt_out_close(&x.out);
fini_view:
	fini(&x);
	return status;
}

static const char *const extensions[] = { ".pftrace", ".perfetto-trace", NULL };

const struct gt_exporter gt_exporter_perfetto = {
	.name = "perfetto",
	.extensions = extensions,
	.text = "Perfetto protobuf, for ui.perfetto.dev and its trace processor",
	.write = write_perfetto,
};
