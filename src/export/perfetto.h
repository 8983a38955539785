/* SPDX-License-Identifier: MIT */
/* Internals of the Perfetto exporter: perfetto.c has the frame (sequences, tracks, interned texts,
 * metadata of the capture), perfetto_records.c the two loops that write calls and GPU activities,
 * perfetto_ranges.c the program's ranges, perfetto_replays.c launches of graphs, perfetto_memory.c
 * memory in use, perfetto_pauses.c when processes were not recorded, perfetto_idle.c why devices
 * were idle. */
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
	FLAG_CLEARED = 1, /* interned texts and defaults start here */

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	UNIT_BYTES = 3,

	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6,
	CLOCK_DELTA = 64, /* ids from 64 are per sequence: ns since its previous packet */
	CLOCK_ZERO = 65,  /* ns since `zero` */

	ORDER_EXPLICIT = 3,
	SEQUENCE_MAIN = 1,

	IID_NULL = 1, /* "NULL" among the texts of values; others start at 2 */
	ARGS_MAX = 24,
	TEXT_MAX = 512, /* bytes of a text, before it is made valid */
	COMMAND_WORDS = 8,
	/* beyond this size a slice gets no more annotations: GT_PB_OPEN_MAX */
	ANNOTATIONS_MAX = 12 << 10,
};

/* Keys of annotations other than arguments of calls: in SQL `debug.<key>`. */
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

/* The start of an annotation, up to its value, written as one word; its second byte, the length, is
 * set once the value is there. */
struct gt_pf_annotation {
	uint64_t start;
	uint8_t bytes;
};

/* The annotation of an argument for one value, as written: at most 17 bytes, 7 before the value and
 * 10 of it. */
struct gt_pf_value {
	char data[23];
	uint8_t bytes;
	uint64_t value; /* in a free entry: a value that is not searched for here */
};
enum { VALUES = 16, VALUE_ALIGNED = 32 };
static_assert(sizeof(struct gt_pf_value) == VALUE_ALIGNED, "copied whole");

/* 32 bytes that the compiler moves in one step if it can; memcpy() takes two halves. */
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

/* Return the place of a value among VALUES, in bytes. */
#define GT_PF_FACTOR UINT64_C(0x9e3779b97f4a7c15)
static inline size_t gt_pf_value_at(uint64_t value, uint64_t factor)
{
	return value * factor >> 55 & (VALUES - 1) * VALUE_ALIGNED;
}

static inline size_t gt_pf_value_slot(uint64_t value)
{
	return gt_pf_value_at(value, GT_PF_FACTOR) / VALUE_ALIGNED;
}

/* An argument of an operation. */
struct gt_pf_argument {
	struct gt_pf_annotation form[2]; /* [0] the value itself, [1] an interned text */
	uint32_t key;
	uint8_t length_arg; /* argument on which the text of a payload may depend */
};

/* The start of a slice: track event up to its length, at [1], type, name, category, flow,
 * correlation number. Among 16384 consecutive numbers only the lowest 14 bits differ, in two
 * places. */
struct gt_pf_begin {
	char data[48];              /* 41 bytes at most */
	uint64_t id_high;           /* upper bits of the ids that it is for; UINT64_MAX: none */
	uint16_t in_flow, in_value; /* other bits in those places */
	uint8_t flow_at, value_at, bytes; /* flow_at: after the data if it has no flow */
};

/* Data of one operation. */
struct gt_pf_call {
	uint32_t op;
	struct gt_pf_begin begin;
	struct gt_pb_snippet event; /* its constant part: at most 16 bytes */
	/* the last one with such a call: it has the operation's texts */
	struct gt_pf_sequence *owner;
	uint32_t named; /* bits: arguments whose values have names */
	/* bits: arguments written as their payload if present, else as the word; 0 is "NULL" */
	uint32_t addresses;
	/* bits: those of `addresses` whose text depends on another argument that this `op` has */
	uint32_t lengths;
	uint8_t nargs;      /* known arguments */
	uint8_t shown;      /* number of those in calls of this `op` */
	uint8_t flow_bytes; /* for a call that submits; else 0 */
	bool by_return;     /* the status is the return value */
	bool allocates;     /* it allocates or frees memory */
	/* after args, VALUES of each: recent ones, because most recur */
	struct gt_pf_value *values;
	struct gt_pf_argument args[];
};

enum {
	FLOW_BYTES = 10,
	RECENT = 64,
	BEGIN_BITS = 14,
	OPEN_MAX = 256, /* each is deeper than the previous one, and a depth has 8 bits */
};

/* A call whose end has not been written. */
struct gt_pf_open {
	uint64_t end_ns;
	uint32_t depth;
};

/* The last annotation of a correlation number, as written. */
struct gt_pf_correlation {
	uint64_t high;       /* number without its lowest 7 bits; UINT64_MAX: none */
	uint64_t id_high;    /* id of the call, without its lowest 7 bits */
	char data[24];       /* 15 bytes at most */
	uint8_t bytes, more; /* more: the bit that marks further bytes after the lowest 7 bits */
};

/* A writer of packets that share texts, track and clock. */
struct gt_pf_sequence {
	/* at most 16 bytes each: the part that every packet contains (the sequence); a packet up to
	 * its time, with room for the length at [1] */
	struct gt_pb_snippet head, timed_head;
	/* annotations shared by all activities of a row: device and queue */
	struct gt_pb_snippet work;
	uint32_t id;
	struct gt_pf_correlation correlation;
	uint64_t last_ns, last_begin_ns; /* of the delta clock; start of the last call */
	struct gt_bits ops, keys, words, names, categories; /* interned already */
	struct gt_pf_open *open;                            /* OPEN_MAX entries, for a thread */
	uint32_t open_count;
	struct gt_pf_ranges *ranges; /* ranges of a thread that has any, with their tracks */
};

/* Rows of a queue. */
struct gt_pf_rows {
	unsigned count;
	struct gt_pf_sequence row[];
};

/* Recent payloads, so that a recurring one becomes an interned text. */
struct gt_pf_payload {
	uint64_t data[4], length, head;     /* head: struct gt_payload, of the argument */
	uint32_t op;                        /* of this operation; 0: free */
	struct gt_view_text *word;          /* set from the second time on */
	const struct gt_pf_sequence *owner; /* the last one to use it, which has the text */
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

/* The start of a track event of a GPU activity, up to its length, at [1], and type, name, category;
 * recent ones. */
struct gt_pf_work {
	uint64_t name;     /* process and string */
	uint32_t sequence; /* on this sequence, which has the name; 0: free */
	uint8_t device_op, class, bytes;
	char data[16];
};
enum { WORKS = 256 };
static_assert(sizeof(struct gt_pf_work) == 32, "several to a cache line");

/* Sizes of GPU activities as annotations, "64 x 64", recent ones. A free entry has the sizes 0. */
struct gt_pf_size {
	uint64_t size[3]; /* global, local */
	uint8_t bytes;
	char data[87];
};
enum { SIZES = 256 };

struct gt_pf {
	struct gt_out out;
	struct gt_view view;
	uint64_t zero, seed; /* ns; seed of track numbers */
	uint32_t sequences;
	const char **arg_names; /* all names of arguments; number: KEY_COUNT + index */
	uint32_t arg_name_count;
	struct gt_bits devices;  /* devices that have a track */
	struct gt_ranges ranges; /* started and stopped ones */
	struct gt_innermost innermost;
	struct gt_launch_frames launches; /* call stacks of calls */
	struct gt_replays replays;
	struct gt_memory_use memory;              /* collected from the calls written */
	const struct gt_view_queue *replay_queue; /* queue whose launches are being written .. */
	unsigned replay_track_rows;               /* .. and the number of its rows so far */
	/* of the current call: arguments that have a payload; one that must be formatted points to
	 * `unknown`, with another value */
	uint32_t given_bits;
	const struct gt_pf_value *given[ARGS_MAX];
	struct gt_pf_value unknown[ARGS_MAX];
	struct gt_pf_call *recent[RECENT]; /* recent operations, by number; not NULL */
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

/* Return a track number. They differ between captures, so that files can be joined. */
uint64_t gt_pf_track(const struct gt_pf *x, enum gt_pf_tracks kind, uint64_t a, uint64_t b);
/* Return the key of a thread in its process. */
static inline uint64_t gt_pf_thread_key(const struct gt_view_thread *t)
{
	return t->tid ? t->tid : UINT64_C(1) << 32 | t->ordinal;
}

/* Start a sequence: its clock and, unless 0, its track. */
void gt_pf_sequence_begin(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t clock,
			  uint64_t track);
/* Free all but its ranges: gt_pf_ranges_fini(). */
void gt_pf_sequence_fini(struct gt_pf_sequence *s);
char *gt_pf_put_text(char *p, uint32_t field, const char *text);
void gt_pf_intern(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t field, uint64_t iid,
		  const char *text);

/* Return an operation. It is prepared for the sequence's first call of it, and again after calls of
 * other sequences. NULL: no memory, with a cause. */
struct gt_pf_call *gt_pf_operation(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t op);
/* Return the sequence of a thread, with its track, on the thread's first record; return that of a
 * queue's row. NULL: no memory, with a cause. */
struct gt_pf_sequence *gt_pf_thread_begin(struct gt_pf *x, struct gt_view_thread *t);
struct gt_pf_sequence *gt_pf_row_slow(struct gt_pf *x, struct gt_view_queue *q, unsigned row);

static inline struct gt_pf_sequence *gt_pf_row(struct gt_pf *x, struct gt_view_queue *q,
					       unsigned row)
{
	struct gt_pf_rows *own = q->own;

	return __builtin_expect(own && row < own->count, 1) ? &own->row[row]
							    : gt_pf_row_slow(x, q, row);
}

/* Write a mark or range call of thread @t (gt_mark_of()). Return 0 or negative errno with a
 * cause. */
int gt_pf_mark(struct gt_pf *x, struct gt_view_thread *t, const struct gt_item *call);
/* Write ranges that were not ended, after the last record. */
int gt_pf_ranges_end(struct gt_pf *x);
void gt_pf_ranges_fini(struct gt_pf_ranges *r);
/* Write launches of graphs, after the last record. Return 0 or negative errno with a cause. */
int gt_pf_replays(struct gt_pf *x);
/* Write memory in use over time, after the last record. Return the same. */
int gt_pf_memory(struct gt_pf *x);
/* perfetto_pauses.c, also after the last record */
int gt_pf_pauses(struct gt_pf *x);
/* Write why devices were idle, after the last record. Return the same. */
int gt_pf_idle(struct gt_pf *x, const struct gt_export_options *options);

/* For sequence 1, which interns no texts. */
char *gt_pf_annotate_named(char *p, const char *name, uint64_t value);
char *gt_pf_annotate_named_signed(char *p, const char *name, int64_t value);
char *gt_pf_annotate_named_text(char *p, const char *name, const char *text);
/* Write "queue 2: copies (out of order)": with the program's name for it, if any, and the process
 * if there are several. */
enum { GT_PF_LABEL = 256 };
void gt_pf_queue_label(const struct gt_pf *x, const struct gt_view_queue *q, char *label,
		       size_t size);
/* Return the number of a device's track; 0: not known. */
static inline uint32_t gt_pf_device_bit(uint32_t device)
{
	return device == UINT32_MAX ? 0 : device + 1;
}
/* Return a queue's rank among the tracks of its device. The rank before it is for graphs launched
 * on the queue. */
static inline uint64_t gt_pf_queue_rank(const struct gt_view_queue *q)
{
	return 2 * (uint64_t)q->stream;
}

/* Write all records. Compiled for any CPU and for x86-64 with BMI2. */
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

/* With a number of KEYS(): the compiler knows the bytes before the value. */
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

/* Open a packet, up to its time or without one; usually so short that its length, at @packet, takes
 * one byte. */
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

/* Close a packet and its track event, which end at @p. @mark: start of the track event. Return the
 * end. */
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
