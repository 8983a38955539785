/* SPDX-License-Identifier: MIT */
/* Inside the Perfetto exporter: perfetto.c has the frame (sequences, tracks, texts by number,
 * what the capture says of itself), perfetto_records.c the two loops that write each call and
 * each item of work, perfetto_ranges.c what the program says of itself, perfetto_replays.c
 * launches of graphs, perfetto_memory.c memory in use, perfetto_pauses.c when processes were not
 * recorded, perfetto_idle.c why devices were idle. */
#ifndef GPUTAP_EXPORT_PERFETTO_H
#define GPUTAP_EXPORT_PERFETTO_H

#include "export/bits.h"
#include "export/export.h"
#include "export/out.h"
#include "export/proto.h"
#include "export/innermost.h"
#include "export/launch_frames.h"
#include "export/memory_use.h"
#include "export/ranges.h"
#include "export/replays.h"
#include "export/view.h"

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
	PACKET_CLOCK = 58,
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
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_ORDER_RANK = 12,
	TRACK_DESCRIPTION = 14,
	COUNTER_UNIT = 3,
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
	EVENT_COUNTER = 30,
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

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	UNIT_BYTES = 3,

	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6,
	CLOCK_DELTA = 64, /* ids from 64 belong to a sequence: ns since its previous packet */
	CLOCK_ZERO = 65,  /* ns since `zero` */

	ORDER_EXPLICIT = 3,
	SEQUENCE_MAIN = 1,

	IID_NULL = 1, /* "NULL" among the texts of values; others are from 2 */
	ARGS_MAX = 24,
	TEXT_MAX = 512, /* bytes of a text, before it is made valid */
	COMMAND_WORDS = 8,
	ANNOTATIONS_MAX = 12 << 10, /* after this a slice gets no more of them: GT_PB_OPEN_MAX */
};

/* Keys of annotations that are not arguments of calls: in SQL `debug.<key>`. */
#define KEYS(X)                                           \
	X(CORRELATION, "correlation", UINT)               \
	X(ERROR, "error", STRING)                         \
	X(RETURN, "return", POINTER)                      \
	X(EXTERNAL_OPERATION, "external_operation", UINT) \
	X(EXTERNAL_USER, "external_user", UINT)           \
	X(EXTERNAL_ID, "external_id", UINT)               \
	X(DEVICE, "device", UINT)                         \
	X(QUEUE, "queue", UINT)                           \
	X(GLOBAL_SIZE, "global_size", STRING)             \
	X(LOCAL_SIZE, "local_size", STRING)               \
	X(BYTES, "bytes", UINT)                           \
	X(BANDWIDTH, "gigabytes_per_second", DOUBLE)      \
	X(LATENCY, "launch_latency_ns", INT)              \
	X(QUEUED, "queued_to_submitted_ns", INT)          \
	X(SUBMITTED, "submitted_to_start_ns", INT)        \
	X(GRAPH, "graph", UINT)                           \
	X(GRAPH_NODE, "graph_node", UINT)                 \
	X(GRAPH_REPLAY, "graph_replay", UINT)             \
	X(GRAPH_NODES, "graph_nodes", UINT)               \
	X(TIMES, "times", STRING)

enum key {
	KEY_NONE,
#define X(name, text, type) KEY_##name,
	KEYS(X)
#undef X
		KEY_COUNT
};

/* Their fields. */
enum {
#define X(name, text, type) FIELD_##name = ANNOTATION_##type,
	KEYS(X)
#undef X
};

/* An annotation up to its value, put down as one word; the length, its second byte, comes when
 * the value is there. */
struct gt_pf_annotation {
	uint64_t start;
	uint8_t bytes;
};

/* An argument as it was written for a value, the whole annotation: 17 bytes at most, 7 before
 * the value and 10 of it. */
struct gt_pf_value {
	char data[23];
	uint8_t bytes;
	uint64_t value; /* of a free one: not such that it is looked for here */
};
enum { VALUES = 16, VALUE_ALIGNED = 32 };
static_assert(sizeof(struct gt_pf_value) == VALUE_ALIGNED, "copied whole");

/* 32 bytes that the compiler moves at once where it can; memcpy() takes two halves. */
typedef uint8_t gt_pf_whole __attribute__((vector_size(VALUE_ALIGNED), aligned(1), may_alias));

static inline void gt_pf_put_whole(void *to, const void *from)
{
	*(gt_pf_whole *)to = *(const gt_pf_whole *)from;
}

static inline char *gt_pf_put_value(char *p, const struct gt_pf_value *value)
{
	gt_pf_put_whole(p, value);
	return p + value->bytes;
}

/* Where among VALUES a value is looked for, in bytes. */
#define GT_PF_FACTOR UINT64_C(0x9e3779b97f4a7c15)
static inline size_t gt_pf_value_at(uint64_t value, uint64_t factor)
{
	return value * factor >> 55 & (VALUES - 1) * VALUE_ALIGNED;
}

static inline size_t gt_pf_value_slot(uint64_t value)
{
	return gt_pf_value_at(value, GT_PF_FACTOR) / VALUE_ALIGNED;
}

/* One argument of an operation. */
struct gt_pf_argument {
	struct gt_pf_annotation form[2]; /* [0] the value as it is, [1] a text by number */
	uint32_t key;
	uint8_t length_arg; /* argument that a payload's text may depend on */
};

/* How a slice begins: track event up to its length, at [1], type, name, category, flow,
 * correlation number. Of 16384 numbers that come one after the other only the lowest 14 bits
 * differ, in two places. */
struct gt_pf_begin {
	char data[48];    /* 41 bytes at most */
	uint64_t id_high; /* of the ids that it is for, without those bits; UINT64_MAX: of none */
	uint16_t in_flow, in_value;       /* bits beside them there */
	uint8_t flow_at, value_at, bytes; /* flow_at: behind the data where there is no flow */
};

/* Of one operation. */
struct gt_pf_call {
	uint32_t op;
	struct gt_pf_begin begin;
	struct gt_pb_snippet event;   /* the part of it that stays: at most 16 bytes */
	struct gt_pf_sequence *owner; /* that last had such a call: it knows the operation */
	uint32_t named;               /* bits: arguments whose values have names .. */
	/* .. and that are a payload if there is one, else the word; 0 is "NULL" */
	uint32_t addresses;
	/* of those whose payload's text depends on another argument that this `op` has */
	uint32_t lengths;
	uint8_t nargs;      /* that are known */
	uint8_t shown;      /* of them, in calls of this `op` */
	uint8_t flow_bytes; /* of a call that submits; 0 */
	bool by_return;     /* the status is what it returns */
	bool allocates;     /* it allocates or frees memory */
	/* behind args, VALUES of each: those that came lately, for most come again */
	struct gt_pf_value *values;
	struct gt_pf_argument args[];
};

enum {
	FLOW_BYTES = 10,
	RECENT = 64,
	BEGIN_BITS = 14,
	OPEN_MAX = 256, /* each is deeper than the one before, and a depth has 8 bits */
};

/* A call whose end is not written yet. */
struct gt_pf_open {
	uint64_t end_ns;
	uint32_t depth;
};

/* The annotation of a correlation number, as it was written last. */
struct gt_pf_correlation {
	uint64_t high;       /* without its lowest 7 bits; UINT64_MAX: of none */
	uint64_t id_high;    /* the same of the id that had it */
	char data[24];       /* 15 bytes at most */
	uint8_t bytes, more; /* more: bit that says that the lowest 7 are not all */
};

/* A writer of packets that share texts, track and clock. */
struct gt_pf_sequence {
	/* at most 16 bytes each: what every packet has inside (the sequence); a packet up to its
	 * time, with room for the length at [1] */
	struct gt_pb_snippet head, timed_head;
	struct gt_pb_snippet work; /* annotations that all work of a row has: device and queue */
	uint32_t id;
	struct gt_pf_correlation correlation;
	uint64_t last_ns, last_begin_ns; /* of the delta clock; where the last call began */
	struct gt_bits ops, keys, words, names, categories; /* interned already */
	struct gt_pf_open *open;                            /* of a thread: OPEN_MAX */
	uint32_t open_count;
	struct gt_pf_ranges *ranges; /* of a thread that has any; its own tracks */
};

/* Of a queue. */
struct gt_pf_rows {
	unsigned count;
	struct gt_pf_sequence row[];
};

/* Payloads seen lately, so that what comes again becomes a text by number. */
struct gt_pf_payload {
	uint64_t data[4], length, head;     /* head: struct gt_payload, of the argument .. */
	uint32_t op;                        /* .. of this operation; 0: free */
	struct gt_view_text *word;          /* from the second time on */
	const struct gt_pf_sequence *owner; /* that has the text already, and last had it */
	struct gt_pf_value written;
	char pad[24];
};
static_assert(sizeof(struct gt_pf_payload) == 128, "found without a multiplication");
enum { PAYLOADS = 2048, PAYLOAD_BYTES = 32 };

static inline unsigned gt_pf_payload_slot(uint64_t hash)
{
	return (unsigned)(hash * 0x9e3779b97f4a7c15u >> 53);
}
static_assert(PAYLOADS == 1 << (64 - 53), "bits of the hash");

/* How the track event of device work begins, up to its length, at [1], and type, name,
 * category; those of late. */
struct gt_pf_work {
	uint64_t name;     /* process and string .. */
	uint32_t sequence; /* .. on a sequence, which knows the name; 0: free */
	uint8_t device_op, class, bytes;
	char data[16];
};
enum { WORKS = 256 };
static_assert(sizeof(struct gt_pf_work) == 32, "several to a cache line");

/* Sizes of device work as annotations, "64 x 64", those of late. A free one is that of no
 * sizes. */
struct gt_pf_size {
	uint64_t size[3]; /* global, local */
	uint8_t bytes;
	char data[87];
};
enum { SIZES = 256 };

struct gt_pf {
	struct gt_out out;
	struct gt_view view;
	uint64_t zero, seed; /* ns; of track numbers */
	uint32_t sequences;
	const char **arg_names; /* all names of arguments; number: KEY_COUNT + index */
	uint32_t arg_name_count;
	struct gt_bits devices;  /* that have a track */
	struct gt_ranges ranges; /* that are started and stopped */
	struct gt_innermost innermost;
	struct gt_launch_frames launches; /* functions that calls were made from */
	struct gt_replays replays;
	struct gt_memory_use memory;              /* by the calls that were written */
	const struct gt_view_queue *replay_queue; /* whose launches are written .. */
	unsigned replay_track_rows;               /* .. in so many rows until now */
	/* of the call at hand: arguments that have a payload; one that has to be formatted is
	 * `unknown`, with another value */
	uint32_t given_bits;
	const struct gt_pf_value *given[ARGS_MAX];
	struct gt_pf_value unknown[ARGS_MAX];
	struct gt_pf_call *recent[RECENT]; /* operations of late, by their numbers; not NULL */
	struct gt_pf_payload payloads[PAYLOADS];
	struct gt_pf_work works[WORKS];
	struct gt_pf_size sizes[SIZES];
};

enum gt_pf_tracks {
	GT_PF_TRACKS_PROCESS = 1,
	GT_PF_TRACKS_THREAD,
	GT_PF_TRACKS_DEVICE,
	GT_PF_TRACKS_QUEUE,
	GT_PF_TRACKS_SELF,
	GT_PF_TRACKS_RANGES,
	GT_PF_TRACKS_REPLAYS,
	GT_PF_TRACKS_MEMORY,
	GT_PF_TRACKS_IDLE,
	GT_PF_TRACKS_PAUSES
};

/* Numbers of tracks differ from capture to capture, so that files may be joined. */
uint64_t gt_pf_track(const struct gt_pf *x, enum gt_pf_tracks kind, uint64_t a, uint64_t b);
/* Of a thread in its process. */
static inline uint64_t gt_pf_thread_key(const struct gt_view_thread *t)
{
	return t->tid ? t->tid : UINT64_C(1) << 32 | t->ordinal;
}

/* Begin a sequence: its clock and, unless 0, its track. */
void gt_pf_sequence_begin(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t clock,
			  uint64_t track);
/* All but its ranges, gt_pf_ranges_fini(). */
void gt_pf_sequence_fini(struct gt_pf_sequence *s);
char *gt_pf_put_text(char *p, uint32_t field, const char *text);
void gt_pf_intern(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t field, uint64_t iid,
		  const char *text);

/* An operation, with what a sequence needs before its first call of it, and after another's
 * call. NULL: no memory, with a cause. */
struct gt_pf_call *gt_pf_operation(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t op);
/* A thread's sequence and track, on its first record; that of a queue's row. NULL: no memory,
 * with a cause. */
struct gt_pf_sequence *gt_pf_thread_begin(struct gt_pf *x, struct gt_view_thread *t);
struct gt_pf_sequence *gt_pf_row_slow(struct gt_pf *x, struct gt_view_queue *q, unsigned row);

static inline struct gt_pf_sequence *gt_pf_row(struct gt_pf *x, struct gt_view_queue *q,
					       unsigned row)
{
	struct gt_pf_rows *own = q->own;

	return __builtin_expect(own && row < own->count, 1) ? &own->row[row]
							    : gt_pf_row_slow(x, q, row);
}

/* A call by which thread @t says something of itself (gt_mark_of()). Return: 0 or negative errno
 * with a cause. */
int gt_pf_mark(struct gt_pf *x, struct gt_view_thread *t, const struct gt_item *call);
/* What nobody ended, after the last record. */
int gt_pf_ranges_end(struct gt_pf *x);
void gt_pf_ranges_fini(struct gt_pf_ranges *r);
/* Launches of graphs, after the last record. Return: 0 or negative errno with a cause. */
int gt_pf_replays(struct gt_pf *x);
/* Memory in use over time, after the last record. Return: the same. */
int gt_pf_memory(struct gt_pf *x);
/* perfetto_pauses.c, after them */
int gt_pf_pauses(struct gt_pf *x);
/* Why devices were idle, after the last record. Return: the same. */
int gt_pf_idle(struct gt_pf *x, const struct gt_export_options *options);

/* For sequence 1, which interns nothing. */
char *gt_pf_annotate_named(char *p, const char *name, uint64_t value);
char *gt_pf_annotate_named_signed(char *p, const char *name, int64_t value);
char *gt_pf_annotate_named_text(char *p, const char *name, const char *text);
/* "queue 2: copies (out of order)": with the program's name for it, if it gave one, and the process
 * where there are several. */
enum { GT_PF_LABEL = 256 };
void gt_pf_queue_label(const struct gt_pf *x, const struct gt_view_queue *q, char *label,
		       size_t size);
/* Number of a device's track; 0: not known. */
static inline uint32_t gt_pf_device_bit(uint32_t device)
{
	return device == UINT32_MAX ? 0 : device + 1;
}
/* Among the tracks of its device; the one before is that of the graphs launched there. */
static inline uint64_t gt_pf_queue_rank(const struct gt_view_queue *q)
{
	return 2 * (uint64_t)q->stream;
}

/* All records. Compiled for any CPU and for x86-64 with BMI2. */
int gt_pf_records_any(struct gt_pf *x, const struct gt_export_options *options);
int gt_pf_records_v3(struct gt_pf *x, const struct gt_export_options *options);

static inline char *gt_pf_annotate(char *p, const struct gt_pf_annotation *a, uint64_t value)
{
	char *end;

	memcpy(p, &a->start, sizeof a->start);
	end = gt_pb_varint_wide(p + a->bytes, value);
	p[1] = (char)(end - p - 2);
	return end;
}

/* By one of the numbers of KEYS(): what is before the value is known to the compiler. */
enum { GT_PF_VALUE_AT = 5 };
#define GT_PF_ANNOTATE(p, name, value) gt_pf_annotate_key(p, KEY_##name, FIELD_##name, value)
static inline char *gt_pf_annotate_key(char *p, enum key key, unsigned field, uint64_t value)
{
	uint64_t start = (EVENT_ANNOTATION << 3 | GT_PB_BYTES) |
			 (ANNOTATION_NAME << 3 | GT_PB_VARINT) << 16 | (unsigned)key << 24 |
			 (uint64_t)(field << 3 | GT_PB_VARINT) << 32;
	size_t bytes;

	memcpy(p, &start, sizeof start);
	bytes = gt_pb_varint_at(p + GT_PF_VALUE_AT, value);
	p[1] = (char)(GT_PF_VALUE_AT - 2 + bytes);
	return p + GT_PF_VALUE_AT + bytes;
}
static_assert(KEY_COUNT < 128 && ANNOTATION_POINTER < 16, "one byte each");

/* A packet, up to its time or without one; nearly always so short that its length, at @packet,
 * has one byte. */
static inline char *gt_pf_timed_open(char *p, const struct gt_pf_sequence *s, uint64_t time,
				     char **packet)
{
	*packet = p + 1;
	return gt_pb_varint_wide(gt_pb_put_short(p, &s->timed_head), time);
}

static inline char *gt_pf_short_open(struct gt_pf *x, const struct gt_pf_sequence *s, char **packet)
{
	return gt_pb_put_short(gt_pb_open_short(gt_out_room(&x->out), TRACE_PACKET, packet),
			       &s->head);
}

/* @mark: of the track event, which ends where the packet does. Return: the end */
static inline char *gt_pf_short_close(char *p, char *packet, char *mark)
{
	if (__builtin_expect(p - packet > 128, 0)) {
		p = gt_pb_close_either(p, mark);
		p = gt_pb_close_either(p, packet);
	} else {
		gt_pb_close_short(p, mark);
		gt_pb_close_short(p, packet);
	}
	return p;
}

static inline char *gt_pf_packet_open(struct gt_pf *x, const struct gt_pf_sequence *s,
				      char **packet)
{
	char *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, packet);

	return gt_pb_put_short(p, &s->head);
}

static inline void gt_pf_packet_close(struct gt_pf *x, char *p, char *packet)
{
	gt_pb_close(p, packet);
	gt_out_end(&x->out, p);
}

#endif
