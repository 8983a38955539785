/* SPDX-License-Identifier: MIT */
/* Internals of the Perfetto exporter:
 *  - perfetto.c: sequences, tracks, interned texts, metadata of the capture
 *  - perfetto_records.c: the two loops that write calls and GPU activities
 *  - perfetto_ranges.c: ranges of the program
 *  - perfetto_replays.c: launches of graphs
 *  - perfetto_memory.c: memory in use
 *  - perfetto_open.c: calls that had not returned
 *  - perfetto_pauses.c: times in which processes were not recorded
 *  - perfetto_idle.c: causes of idle time */
#ifndef GPUTAP_EXPORT_PERFETTO_H
#define GPUTAP_EXPORT_PERFETTO_H

#include "analysis/base/bits.h"
#include "analysis/model/innermost.h"
#include "analysis/model/memory_use.h"
#include "analysis/model/ranges.h"
#include "analysis/model/replays.h"
#include "analysis/model/view.h"
#include "analysis/symbols/launch_frames.h"
#include "export/export.h"
#include "export/out.h"
#include "export/proto.h"

/* Protobuf field numbers, grouped by message. */
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
	FLAG_CLEARED = 1, /* discards interned texts and defaults of earlier packets */

	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	UNIT_BYTES = 3,

	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6,
	/* ns since the sequence's previous packet; ids from 64 on are per sequence */
	CLOCK_DELTA = 64,
	CLOCK_ZERO = 65, /* ns since `zero` */

	ORDER_EXPLICIT = 3,
	SEQUENCE_MAIN = 1,

	IID_NULL = 1, /* "NULL" among interned values; other values start at 2 */
	ARGS_MAX = 24,
	TEXT_MAX = 512, /* maximum bytes of a text, before conversion to valid UTF-8 */
	COMMAND_WORDS = 8,
	/* A slice of this size gets no further annotations, because of GT_PB_OPEN_MAX. */
	ANNOTATIONS_MAX = 12 << 10,
};

/* Keys of all annotations except call arguments. SQL shows a key as `debug.<key>`. */
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

/* Protobuf field of each key's value. */
enum {
#define X(name, text, type) FIELD_##name = ANNOTATION_##type,
	KEYS(X)
#undef X
};

/* Constant bytes of an annotation before its value, written as one word. The second byte, the
 * length, is set after the value is written. */
struct gt_pf_annotation {
	uint64_t start;
	uint8_t bytes;
};

/* Encoded annotation of an argument with one value: at most 17 bytes, 7 of constant prefix and 10
 * of value. */
struct gt_pf_value {
	char data[23];
	uint8_t bytes;
	uint64_t value; /* in a free entry: a value that is looked up in another slot */
};
enum { VALUES = 16, VALUE_ALIGNED = 32 };
static_assert(sizeof(struct gt_pf_value) == VALUE_ALIGNED, "one aligned copy moves the struct");

/* 32 bytes that the compiler moves with one instruction if possible; memcpy() would move two
 * halves. */
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

/* Return the byte offset of a value's slot among VALUES slots. */
#define GT_PF_FACTOR UINT64_C(0x9e3779b97f4a7c15)
static inline size_t gt_pf_value_at(uint64_t value, uint64_t factor)
{
	return value * factor >> 55 & (VALUES - 1) * VALUE_ALIGNED;
}

static inline size_t gt_pf_value_slot(uint64_t value)
{
	return gt_pf_value_at(value, GT_PF_FACTOR) / VALUE_ALIGNED;
}

/* Annotations of an operation's argument. */
struct gt_pf_argument {
	struct gt_pf_annotation form[2]; /* [0] for the value itself, [1] for an interned text */
	uint32_t key;
	uint8_t length_arg; /* index of the argument that may determine a payload's text */
};

/* Encoded start of a slice: header of the track event with its length at [1], type, name, category,
 * flow, correlation number. Within 16384 consecutive numbers only the lowest 14 bits differ; they
 * occur at two offsets. */
struct gt_pf_begin {
	char data[48];    /* 41 bytes at most */
	uint64_t id_high; /* upper bits of the call ids that `data` fits; UINT64_MAX: none */
	uint16_t in_flow, in_value;       /* bits to combine with the lowest 14 bits */
	uint8_t flow_at, value_at, bytes; /* flow_at: past the data if the slice has no flow */
};

/* Data of one operation. */
struct gt_pf_call {
	uint32_t op;
	struct gt_pf_begin begin;
	struct gt_pb_snippet event; /* constant part of the event: at most 16 bytes */
	/* sequence that wrote the most recent call of this operation and has interned its texts */
	struct gt_pf_sequence *owner;
	uint32_t named; /* bit per argument: set if its values have names */
	/* bit per argument: set if it is written as its payload if present, otherwise as the word;
	 * the word 0 is written as "NULL" */
	uint32_t addresses;
	/* subset of `addresses`: the text depends on another argument that calls of this `op`
	 * record */
	uint32_t lengths;
	uint8_t nargs;      /* number of known arguments */
	uint8_t shown;      /* number of known arguments that calls of this `op` record */
	uint8_t flow_bytes; /* bytes of the flow for calls that submit; 0 for others */
	bool by_return;     /* true if the status is the return value */
	bool allocates;     /* true if the call allocates or frees memory */
	/* VALUES recent values per argument, stored after `args`; most values recur */
	struct gt_pf_value *values;
	struct gt_pf_argument args[];
};

enum {
	FLOW_BYTES = 10,
	RECENT = 64,
	BEGIN_BITS = 14,
	OPEN_MAX = 256, /* open calls have distinct depths, and a depth has 8 bits */
};

/* A call whose end has not been written yet. */
struct gt_pf_open {
	uint64_t end_ns;
	uint32_t depth;
};

/* Most recent annotation of a correlation number, as encoded. */
struct gt_pf_correlation {
	uint64_t high;       /* number without its lowest 7 bits; UINT64_MAX: none */
	uint64_t id_high;    /* id of the call, without its lowest 7 bits */
	char data[24];       /* 15 bytes at most */
	uint8_t bytes, more; /* more: continuation bit of the varint after the lowest 7 bits */
};

/* A packet sequence: its packets share interned texts, a track and a clock. */
struct gt_pf_sequence {
	/* At most 16 bytes each: `head` is the part common to all packets (the sequence id),
	 * `timed_head` a packet up to its time, with room for the length at [1]. */
	struct gt_pb_snippet head, timed_head;
	/* annotations shared by all activities of a row: device and queue */
	struct gt_pb_snippet activity;
	uint32_t id;
	struct gt_pf_correlation correlation;
	uint64_t last_ns, last_begin_ns; /* last time of the delta clock; start of the last call */
	struct gt_bits ops, keys, words, names, categories; /* texts that are already interned */
	struct gt_pf_open *open; /* OPEN_MAX entries; only for a thread */
	uint32_t open_count;
	/* ranges of the thread with their tracks; NULL: the thread has none */
	struct gt_pf_ranges *ranges;
};

/* Rows of a queue. */
struct gt_pf_rows {
	unsigned count;
	struct gt_pf_sequence row[];
};

/* A recently seen payload: a payload that recurs becomes an interned text. */
struct gt_pf_payload {
	uint64_t data[4], length, head; /* head: struct gt_payload of the argument */
	uint32_t op;                    /* operation of the call; 0: free entry */
	struct gt_view_text *word;      /* set when the payload occurs for the second time */
	/* sequence that used the payload last and has interned its text */
	const struct gt_pf_sequence *owner;
	struct gt_pf_value written;
	char pad[24];
};
static_assert(sizeof(struct gt_pf_payload) == 128, "a shift computes the index");
enum { PAYLOADS = 2048, PAYLOAD_BYTES = 32 };

static inline unsigned gt_pf_payload_slot(uint64_t hash)
{
	return (unsigned)(hash * 0x9e3779b97f4a7c15u >> 53);
}
static_assert(PAYLOADS == 1 << (64 - 53), "the shift keeps as many bits as the index has");

/* Encoded start of a recent GPU activity's track event: header with the length at [1], type, name,
 * category. */
struct gt_pf_activity {
	uint64_t name;     /* process and string id */
	uint32_t sequence; /* sequence that has interned the name; 0: free entry */
	uint8_t device_op, class, bytes;
	char data[16];
};
enum { ACTIVITIES = 256 };
static_assert(sizeof(struct gt_pf_activity) == 32, "two entries share a cache line");

/* Recent sizes of GPU activities as annotations ("64 x 64"). The sizes of a free entry are 0. */
struct gt_pf_size {
	uint64_t size[3]; /* global and local size */
	uint8_t bytes;
	char data[87];
};
enum { SIZES = 256 };

struct gt_pf {
	struct gt_out out;
	struct gt_view view;
	uint64_t zero, seed; /* zero: reference time, ns; seed: of track numbers */
	uint32_t sequences;
	const char **arg_names; /* names of all arguments; the key is KEY_COUNT + index */
	uint32_t arg_name_count;
	struct gt_bits devices;  /* devices that have a track */
	struct gt_ranges ranges; /* ranges that are started and stopped explicitly */
	struct gt_innermost innermost;
	struct gt_launch_frames launches; /* call stacks of calls */
	struct gt_replays replays;
	struct gt_memory_use memory;              /* collected from written calls */
	const struct gt_view_queue *replay_queue; /* queue whose launches are being written */
	unsigned replay_track_rows; /* number of track rows of `replay_queue` so far */
	/* Arguments of the current call that have a payload. An argument whose text must be
	 * formatted points to its entry in `unknown`, which has a different value. */
	uint32_t given_bits;
	const struct gt_pf_value *given[ARGS_MAX];
	struct gt_pf_value unknown[ARGS_MAX];
	/* recently used operations, indexed by number; entries are never NULL */
	struct gt_pf_call *recent[RECENT];
	struct gt_pf_payload payloads[PAYLOADS];
	struct gt_pf_activity activities[ACTIVITIES];
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

/* Return a track number. Track numbers differ between captures, so files can be concatenated. */
uint64_t gt_pf_track(const struct gt_pf *x, enum gt_pf_tracks kind, uint64_t a, uint64_t b);
/* Return the key of a thread in its process. */
static inline uint64_t gt_pf_thread_key(const struct gt_view_thread *t)
{
	return t->tid ? t->tid : UINT64_C(1) << 32 | t->ordinal;
}

/* Start a sequence: write its clock and, unless @track is 0, its default track. */
void gt_pf_sequence_begin(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t clock,
			  uint64_t track);
/* Free everything except `ranges`; gt_pf_ranges_fini() frees the ranges. */
void gt_pf_sequence_fini(struct gt_pf_sequence *s);
char *gt_pf_put_text(char *p, uint32_t field, const char *text);
void gt_pf_intern(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t field, uint64_t iid,
		  const char *text);

/* Return an operation whose texts are interned in sequence @s. Return NULL with a cause if out of
 * memory. */
struct gt_pf_call *gt_pf_operation(struct gt_pf *x, struct gt_pf_sequence *s, uint32_t op);
/* Return the sequence of a thread or of a queue's row, and create it with its track on first use.
 * Return NULL with a cause if out of memory. */
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
/* Write ranges that were never ended. Call after the last record. */
int gt_pf_ranges_end(struct gt_pf *x);
void gt_pf_ranges_fini(struct gt_pf_ranges *r);
/* Write launches of graphs. Call after the last record. Return 0 or negative errno with a cause. */
int gt_pf_replays(struct gt_pf *x);
/* Write memory in use over time. Call after the last record. Return 0 or negative errno with a
 * cause. */
int gt_pf_memory(struct gt_pf *x);
/* Write times in which processes were not recorded. Call after the last record. Return 0 or
 * negative errno with a cause. */
int gt_pf_pauses(struct gt_pf *x);
/* Write calls that had not returned. Call after the last record. Return 0 or negative errno with a
 * cause. */
int gt_pf_open_calls(struct gt_pf *x);
/* Write the causes of idle time. Call after the last record. Return 0 or negative errno with a
 * cause. */
int gt_pf_idle(struct gt_pf *x, const struct gt_view_options *options);

/* Add an annotation without interned texts, for sequence 1. */
char *gt_pf_annotate_named(char *p, const char *name, uint64_t value);
char *gt_pf_annotate_named_signed(char *p, const char *name, int64_t value);
char *gt_pf_annotate_named_text(char *p, const char *name, const char *text);
/* Write "queue 2: copies (out of order)", with the program's name for the queue, if any, and the
 * process if there are several. */
enum { GT_PF_LABEL = 256 };
void gt_pf_queue_label(const struct gt_pf *x, const struct gt_view_queue *q, char *label,
		       size_t size);
/* Return the number of a device's track; 0: not known. */
static inline uint32_t gt_pf_device_bit(uint32_t device)
{
	return device == UINT32_MAX ? 0 : device + 1;
}
/* Return a queue's rank among the tracks of its device. The preceding rank belongs to graphs
 * launched on the queue. */
static inline uint64_t gt_pf_queue_rank(const struct gt_view_queue *q)
{
	return 2 * (uint64_t)q->stream;
}

/* Write all records. Compiled for any CPU and for x86-64 with BMI2. */
int gt_pf_records_any(struct gt_pf *x, const struct gt_view_options *options);
int gt_pf_records_v3(struct gt_pf *x, const struct gt_view_options *options);

static inline char *gt_pf_annotate(char *p, const struct gt_pf_annotation *a, uint64_t value)
{
	char *end;

	memcpy(p, &a->start, sizeof a->start);
	end = gt_pb_varint_wide(p + a->bytes, value);
	p[1] = (char)(end - p - 2);
	return end;
}

/* Add an annotation whose key is one of KEYS(). The compiler folds all bytes before the value. */
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
static_assert(KEY_COUNT < 128 && ANNOTATION_POINTER < 16, "each key takes one byte");

/* Open a packet with (timed) or without (short) a time. The packet's length at @packet usually
 * takes one byte. */
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

/* Close a packet and its track event, which both end at @p. @mark: start of the track event. Return
 * the new end. */
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
