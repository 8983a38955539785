/* SPDX-License-Identifier: MIT */
/* The capture (`.gputap`): an append-only file of checked blocks, valid at any moment. The writer
 * is the collector (and `gputap recover`); the reader is everything else. capture/format.h defines
 * the layout; docs/reference/capture-format.md explains it.
 *
 * A process here is what one exec or fork created, as everywhere in gputap: several can have one
 * pid. */
#ifndef GPUTAP_CAPTURE_CAPTURE_H
#define GPUTAP_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "record/record.h"
#include "util/rank.h"

/* Writing -------------------------------------------------------------------- */

struct gt_capture_writer;

#define GT_CAPTURE_ID_BYTES 16

/* A flight recorder's limits: how long records are retained, and in how many bytes on disk. */
struct gt_keep_options {
	uint64_t window_ns; /* 0: all are retained */
	uint64_t most_bytes;
};

struct gt_capture_options {
	/* true: a new file gets the permissions that the umask leaves; false: only its owner may
	 * read it */
	bool shared;
	bool compress; /* zstd level 1 on stream blocks: smaller, slower */
};

/* The command of a session and where it ran. Strings are borrowed for the call. */
struct gt_session_info {
	const char *hostname, *boot_id, *kernel, *cpu, *gputap_version;
	const char *command; /* argv joined by NUL, ended by a second NUL */
	const char *options; /* text that says how it was traced, for `gputap info` */
	const char *directory;
	uint32_t host_clock; /* enum gt_host_clock */
	uint64_t start_ns;   /* BOOTTIME */
	uint64_t start_realtime_ns;
	/* from RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK; -1: none */
	int32_t rank;
};

struct gt_process_info {
	uint32_t index;   /* number of the process in this capture, from 0 */
	uint32_t session; /* filled in on reading: its session; gt_capture_session_at() */
	uint32_t pid, ppid;
	uint32_t fork_count;  /* 0 after exec; a fork child's is its parent's + 1 */
	uint64_t start_ticks; /* for the writer; the reader sets start_ns, end_ns */
	/* BOOTTIME; end_ns: as given with the event of the end, 0: not known to have ended */
	uint64_t start_ns, end_ns;
	const char *exe, *argv; /* argv as in gt_session_info.command */
	/* rank in its job, from its own environment; in captures from before that was recorded, its
	 * session's. The reader does not set rank.launcher */
	struct gt_rank rank;
	const char *launcher;   /* filled in on reading: the launcher's name; "": none */
	int32_t wait_status;    /* as waitpid() reports it; -1: not known (not our child) */
	bool ended, proper_end; /* through exit() or quick_exit(), or returned from main */
	uint32_t runtimes;      /* bit per enum gt_domain seen */
	uint32_t children_lost;
};

struct gt_thread_info {
	uint32_t process, ordinal, tid;
	uint64_t start_ticks, end_ticks;
	const char *name;
};

/* Sums at some moment; the newest ones count. dropped includes GT_DROP_UNFINISHED once the process
 * is gone. */
struct gt_counts {
	uint64_t seen[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t recorded[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t dropped[GT_DROP_REASON_COUNT][GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	/* recorded, then evicted by a flight recorder because older than its window: seen =
	 * recorded + dropped + evicted */
	uint64_t evicted[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

/* Why a snapshot was taken. */
enum gt_retained_reason {
	GT_RETAINED_END = 0, /* not a snapshot: the recording ended */
	GT_RETAINED_COMMAND,
	GT_RETAINED_SIGNAL,
	GT_RETAINED_TRIGGER,
	GT_RETAINED_RECOVERED, /* the collector had died */
	GT_RETAINED_REASON_COUNT
};

/* Properties of a snapshot, or of the capture of a flight recorder. */
struct gt_retained {
	bool is_kept;    /* true if it is one of these */
	bool is_window;  /* it is the capture of a flight recorder */
	bool is_thinned; /* true if older records were evicted */
	/* cut out of another capture: the records that match `text`, an expression, and records
	 * that those need; begin_ns, end_ns are the former's */
	bool is_cut;
	bool is_whole_time; /* for a cut: no record of its time range is missing */
	enum gt_retained_reason reason;
	uint32_t number; /* number of the snapshot in its session, from 1; 0: none */
	/* BOOTTIME: all records that were written between these are here */
	uint64_t begin_ns, end_ns;
	struct gt_keep_options asked;
	uint64_t processes;      /* processes that ended earlier and are not here */
	struct gt_counts counts; /* counts of those */
	const char *text;        /* what happened, for a snapshot made by a trigger */
};

/* Load of the processors available to a session, while it recorded. */
struct gt_machine_load {
	uint32_t processors; /* 0: nothing is known */
	uint64_t wall_ns;    /* length of the measurement */
	uint64_t busy_ns;    /* sum over all these processors, for all users */
	uint64_t own_ns;     /* part of that used in gputap and the session's ended processes */
	uint64_t stolen_ns;  /* not in busy_ns: time stolen by a virtual machine's host */
};
/* Return the share of the processors' time that other programs used, 0 to 1; 0 also if unknown. */
static inline double gt_machine_load_of_others(const struct gt_machine_load *l)
{
	double all = (double)l->processors * (double)l->wall_ns, own = (double)l->own_ns,
	       others = (double)l->busy_ns - own + (double)l->stolen_ns;

	others = others < all - own ? others : all - own; /* the kernel counts in ticks */
	return all > 0 && others > 0 ? others / all : 0;
}

/**
 * gt_capture_writer_create() - create a capture file
 * @path: must not exist unless @replace; @session: written first
 * Return: 0 or negative errno with a cause (util/error.h).
 */
int gt_capture_writer_create(const char *path, bool replace,
			     const struct gt_capture_options *options,
			     const struct gt_session_info *session, struct gt_capture_writer **out);

/**
 * gt_capture_writer_reopen() - continue a capture that was not finished, for `gputap recover`
 * @id: as gt_capture_writer_id() gave it: another capture that has this name now is left alone.
 *      NULL: accept any capture
 * @bytes: cut the file to this length first: the result of gt_capture_writer_bytes() after the last
 *         flush that counts; UINT64_MAX: keep every whole block, cut off a partial last one and an
 *         end mark
 * Encoders start afresh: no later block refers to one from before. A file that is shorter than
 * @bytes cannot become complete.
 * Return: 0 or negative errno with a cause: -EBADMSG not a capture, or not that one; -EBUSY another
 * process writes it, ...
 */
int gt_capture_writer_reopen(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
			     uint64_t bytes, struct gt_capture_writer **out);

/* Copy out the random number that identifies this capture. */
void gt_capture_writer_id(const struct gt_capture_writer *w, uint8_t id[GT_CAPTURE_ID_BYTES]);

/* From now on call @each for every event that is written, with its process's index. */
typedef void gt_capture_event_function(uint32_t process, const struct gt_record_event *event,
				       void *data);
void gt_capture_writer_watch_events(struct gt_capture_writer *w, gt_capture_event_function *each,
				    void *data);

int gt_capture_write_process(struct gt_capture_writer *w, const struct gt_process_info *process);
int gt_capture_write_process_end(struct gt_capture_writer *w,
				 const struct gt_process_info *process);
int gt_capture_write_thread(struct gt_capture_writer *w, const struct gt_thread_info *thread);
int gt_capture_write_clock(struct gt_capture_writer *w, const struct gt_clock_tuple *tuple);
int gt_capture_write_load(struct gt_capture_writer *w, const struct gt_machine_load *load);
int gt_capture_write_counts(struct gt_capture_writer *w, uint32_t process,
			    const struct gt_counts *counts);

/* State of one thread's ring that is drained. Encoders are kept per (process, ordinal). */
struct gt_stream; /* created on first use, ended with its thread */
int gt_capture_stream_create(struct gt_capture_writer *w, uint32_t process, uint32_t ordinal,
			     struct gt_stream **out);
void gt_capture_stream_destroy(struct gt_stream *s);

/* Return the highest id of a call of @domain among all records given to the stream, written or not;
 * 0: none. */
uint64_t gt_capture_stream_newest_call(const struct gt_stream *s, enum gt_domain domain);

/**
 * gt_capture_write_records() - encode whole records into the capture
 * @data: records as in ring/segment.h, 8-byte aligned; @bytes: multiple of 8; checked: a malformed
 *        record ends the batch with -EBADMSG, and the good ones before it are kept. A misbehaving
 *        program may be writing to this memory: the function reads each word once, or copies it
 *        first
 * @recorded: the records written are added to it, by class and domain
 * Return: 0, -ENOSPC and other negative errno when the file cannot take it: nothing of the batch
 * counts.
 */
int gt_capture_write_records(struct gt_stream *s, const void *data, size_t bytes,
			     struct gt_counts *recorded);

/**
 * gt_capture_stream_is_doubted() - return true if a record was taken that no gputap writer makes
 * @earliest, @latest: range of ticks in which calls can have been made
 * The record's lengths were valid, and it is in the capture; but its operation is not known, its id
 * is not of the stream's thread, it ends before it starts, or the like. Call after
 * gt_capture_write_records(); the call resets the flag.
 */
bool gt_capture_stream_is_doubted(struct gt_stream *s, uint64_t earliest, uint64_t latest);

/**
 * gt_capture_flush() - write out buffered blocks; afterwards the file holds everything accepted
 * Return: 0, or -ENOSPC and other negative errno: then the file is cut back to where the last good
 * flush left it, nothing accepted since then is in it (the caller counts that as lost), and the
 * writer stays usable: a later flush may succeed. Room for the end mark and a last set of counts is
 * reserved.
 */
int gt_capture_flush(struct gt_capture_writer *w);
/* Return the length of the file after the last good flush. */
uint64_t gt_capture_writer_bytes(const struct gt_capture_writer *w);
/* Return the number of kernel records given to it so far. */
uint64_t gt_capture_writer_kernels(const struct gt_capture_writer *w);

/**
 * gt_capture_keep() - make a new capture a flight recorder's, which evicts old records
 * Call before anything but the session is written. Return: 0 or negative errno with a cause.
 */
int gt_capture_keep(struct gt_capture_writer *w, const struct gt_keep_options *asked,
		    uint32_t host_clock);
/* State after the last good flush that recovery needs to continue a flight recorder's files. */
struct gt_keep_position {
	struct gt_keep_options asked; /* window_ns 0: not a flight recorder */
	uint32_t meta, chunk;         /* numbers of its files */
	uint64_t chunk_bytes;
};
void gt_capture_writer_retained(const struct gt_capture_writer *w, struct gt_keep_position *out);
/* gt_capture_writer_reopen() for a flight recorder. @path: of its capture */
int gt_capture_writer_reopen_retained(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
				      uint64_t bytes, const struct gt_keep_position *position,
				      struct gt_capture_writer **out);

/* A capture of the files of a recording in progress. */
struct gt_snapshot;
/* Call after a good flush that ended with the counts of all processes. */
int gt_snapshot_create(const struct gt_capture_writer *w, const struct gt_retained *why,
		       struct gt_snapshot **out);
/* Write the snapshot; any thread may call this. @replace: @path may exist. The file appears once it
 * is complete.
 * Return: 0 or negative errno with a cause. */
int gt_snapshot_write(struct gt_snapshot *s, const char *path, bool replace, bool shared);
void gt_snapshot_destroy(struct gt_snapshot *s);

/* Flush, write the end mark (complete unless @complete is false), close. */
int gt_capture_writer_finish(struct gt_capture_writer *w, bool complete);
void gt_capture_writer_destroy(struct gt_capture_writer *w); /* close without the end mark */
/* Close, and remove the files that it kept next to the capture. */
void gt_capture_writer_discard(struct gt_capture_writer *w);

/* Reading -------------------------------------------------------------------- */

struct gt_capture;

/* How the file ended. */
enum gt_capture_end {
	GT_CAPTURE_COMPLETE,
	GT_CAPTURE_INCOMPLETE /* as the end mark says */,
	GT_CAPTURE_CUT /* no end mark */
};

struct gt_capture_health {
	enum gt_capture_end end;
	uint64_t bytes, bad_bytes; /* bytes skipped because a checksum or a length was wrong */
	uint64_t bad_blocks, unknown_blocks;
	uint64_t bad_sums; /* processes or blocks whose records contradict their sums */
};

/* Return true if everything that was written is in the capture. Commands that read a capture exit
 * with 1 if not, after doing what they can. */
static inline bool gt_capture_is_whole(const struct gt_capture_health *health)
{
	return health->end != GT_CAPTURE_CUT && !health->bad_bytes && !health->bad_blocks &&
	       !health->bad_sums;
}

/**
 * gt_capture_open() - map a capture and read everything but the records
 * Return: 0, or negative errno with a cause: -EBADMSG not a capture, -ENOTSUP from a newer version,
 * -EISDIR, -ENODATA empty, ... A capture that is cut or damaged inside still opens: see health.
 * Owner: caller; gt_capture_close(). Thread: one at a time per object.
 */
int gt_capture_open(const char *path, struct gt_capture **out);
/* Open several files as if they had been merged. At most a few hundred are kept open. */
int gt_capture_open_several(const char *const *paths, size_t count, struct gt_capture **out);
/* Check that a capture would open, reading only its header. Return 0, or the error with its
 * cause. */
int gt_capture_probe(const char *path);
void gt_capture_close(struct gt_capture *c);

/* Read and check every stream payload, which opening does not: then health and counts report all
 * damage; otherwise a damaged payload is reported when a cursor reaches it.
 * Return: 0, or negative errno: cannot read. */
int gt_capture_verify(struct gt_capture *c);

/* State of the indexes through which the files' blocks are found. */
struct gt_capture_index {
	size_t files;       /* files that have one */
	size_t wrong_files; /* files whose index is damaged or wrong: their heads were read */
	uint64_t bytes, blocks;
};
const struct gt_capture_index *gt_capture_index(const struct gt_capture *c);

/* Return the health of all sessions together; `end` is the worst one's. */
const struct gt_capture_health *gt_capture_health(const struct gt_capture *c);
/* Return the first session, whose CLOCK_BOOTTIME all times refer to. */
const struct gt_session_info *gt_capture_session(const struct gt_capture *c);
const struct gt_host_clock_map *gt_capture_host_clock(const struct gt_capture *c);

/* How a session's times were converted to the first session's CLOCK_BOOTTIME. */
enum gt_alignment {
	GT_ALIGNED_BOOT,     /* same kernel, same boot: the same clock */
	GT_ALIGNED_REALTIME, /* through both sides' CLOCK_REALTIME, as accurate as those agree */
	/* through calls that processes of both made together, such as barriers */
	GT_ALIGNED_SHARED,
	GT_ALIGNED_NOT, /* no information about its clock is left */
};

/* One `gputap run`. Opened alone, a capture has one session; merged ones, and several files
 * opened as one, have more. */
struct gt_capture_session {
	struct gt_session_info info;     /* info.start_ns is on the first session's clock */
	struct gt_capture_health health; /* health of the original capture, before it was merged */
	struct gt_retained kept;
	struct gt_machine_load load;
	const char *path; /* path of that capture when it was opened or merged */
	uint8_t uuid[16]; /* id of that capture; 0: damaged */
	enum gt_alignment alignment;
	int64_t shift_ns; /* added to its CLOCK_BOOTTIME */
	/* REALTIME: how far the wall clocks were adjusted while they were watched; SHARED: how far
	 * other clocks that the calls allow are from this one */
	uint64_t uncertainty_ns;
	/* the same for sessions of one boot id or host name, from 0 */
	uint32_t machine;
	/* namespace in which a pid names one process: the sessions of one machine unless pids
	 * contradict; from 0 */
	uint32_t node;
	uint32_t first_process, process_count;
};
/* In order of their start. At least one. */
size_t gt_capture_session_count(const struct gt_capture *c);
const struct gt_capture_session *gt_capture_session_at(const struct gt_capture *c, size_t index);
/* Return the number of sessions left out because another one has the same id: files named twice, or
 * merged already. */
size_t gt_capture_repeated_count(const struct gt_capture *c);
/* Host clock of a process's session, for values still in ticks (gt_thread_info). */
const struct gt_host_clock_map *gt_capture_process_clock(const struct gt_capture *c,
							 uint32_t process);
size_t gt_capture_process_count(const struct gt_capture *c);
const struct gt_process_info *gt_capture_process(const struct gt_capture *c, uint32_t index);
const struct gt_counts *gt_capture_counts(const struct gt_capture *c, uint32_t process);
size_t gt_capture_thread_count(const struct gt_capture *c);
const struct gt_thread_info *gt_capture_thread(const struct gt_capture *c, size_t index);
const struct gt_thread_info *gt_capture_thread_find(const struct gt_capture *c, uint32_t process,
						    uint32_t ordinal);

/* Return a text by id, NUL-terminated; "" if missing, never NULL. The program supplied it: it can
 * contain any bytes. */
const char *gt_capture_string(const struct gt_capture *c, uint32_t process, uint32_t id);

struct gt_object_info {
	uint32_t process;
	enum gt_object_type type;
	enum gt_domain domain;
	uint64_t number, handle, parent;
	const char *text; /* pairs "key=value\0", ended by an empty string */
	/* devices: one device (same uuid, else pci, else name and order) of a machine has the same
	 * index in all processes; queues: their device's; from 0; UINT32_MAX: none */
	uint32_t device_index;
	uint32_t ordinal; /* queues: count within process and device, from 1 */
	/* code objects and kernel symbols: time of load and of unload; 0: not known, or not
	 * unloaded */
	uint64_t begin_ns, end_ns;
};
size_t gt_capture_object_count(const struct gt_capture *c);
const struct gt_object_info *gt_capture_object(const struct gt_capture *c, size_t index);
const struct gt_object_info *gt_capture_object_find(const struct gt_capture *c, uint32_t process,
						    enum gt_object_type type, uint64_t number);
/* Return the value of a key in an object's text, or NULL. */
const char *gt_object_value(const struct gt_object_info *object, const char *key);
/* Return the name that the program gave it, else its own; NULL: neither. */
static inline const char *gt_object_called(const struct gt_object_info *object)
{
	const char *label = gt_object_value(object, "label");

	return label && *label ? label : gt_object_value(object, "name");
}
/* Devices after merging by identity. */
size_t gt_capture_device_count(const struct gt_capture *c);
const struct gt_object_info *gt_capture_device(const struct gt_capture *c, uint32_t device_index);
const struct gt_device_clock *gt_capture_device_clock(const struct gt_capture *c, uint32_t process,
						      uint64_t device_number);

struct gt_event_info {
	uint32_t process;
	enum gt_event_code code;
	enum gt_domain domain;
	uint64_t time_ns, value;
	const char *text;
};
size_t gt_capture_event_count(const struct gt_capture *c);
const struct gt_event_info *gt_capture_event(const struct gt_capture *c, size_t index);
/* Return true for a program that could not be traced. Other events GT_EVENT_NOT_TRACED are about
 * programs that use no runtime, or that another session records. */
static inline bool gt_event_is_not_traced(const struct gt_event_info *e)
{
	return e->code == GT_EVENT_NOT_TRACED && e->domain == GT_DOMAIN_NONE && e->value;
}
/* Return true for a program whose calls may be missing, all or from the session's end on. */
static inline bool gt_event_is_untraced(const struct gt_event_info *e)
{
	return e->code == GT_EVENT_STILL_RUNS || gt_event_is_not_traced(e);
}

/* A part of a process's life in which it was recorded, or was not. */
struct gt_window_info {
	uint32_t process;
	bool recorded;
	enum gt_window_why why;     /* why it started */
	enum gt_window_why end_why; /* why it ended */
	uint64_t from_ns, to_ns;
	/* changes before its start that came too fast to be recorded */
	uint64_t missed;
};
/* "delay", "command", .. */
const char *gt_window_why_name(enum gt_window_why why);
/* Return the windows of one process in order, covering its life without a hole. *count 0: it was
 * never paused, so recorded throughout. */
const struct gt_window_info *gt_capture_windows(const struct gt_capture *c, uint32_t process,
						size_t *count);
/* Return the number of windows of all processes; they are sorted by process. */
size_t gt_capture_window_count(const struct gt_capture *c);
const struct gt_window_info *gt_capture_window_at(const struct gt_capture *c, size_t index);
/**
 * gt_capture_recorded() - measure how long processes that use a runtime lived and were recorded
 * @session: only this session's; NULL: all
 * @recorded_ns, @total_ns: receive it; time in which several processes live counts once
 * Return: true if any of them was paused.
 */
bool gt_capture_recorded(const struct gt_capture *c, const struct gt_capture_session *session,
			 uint64_t *recorded_ns, uint64_t *total_ns);

/* A decoded record, times in BOOTTIME ns. Valid until the next gt_cursor_next(). */
struct gt_item {
	enum gt_record_kind kind; /* CALL, DEVICE or EXTERNAL */
	/* CALL: GT_OP(); DEVICE: GT_DEVICE_REF(); GT_OP_DOMAIN() returns the domain of either.
	 * EXTERNAL: enum gt_external_stack */
	uint32_t op;
	uint32_t payload_bytes; /* size of `payload` */
	union {
		uint8_t depth; /* CALL: calls of the thread that were open when it started */
		uint8_t push;  /* EXTERNAL: 1 push, 0 pop */
	};
	/* GT_CONTEXT_..: in a cut capture: present because other records need it, not counted */
	uint8_t context;
	uint32_t process; /* index */
	/* thread that wrote it; for DEVICE, GT_ID_ORDINAL(id) is the caller's */
	uint32_t ordinal;
	uint64_t id;     /* CALL: own id; DEVICE: id of its call */
	uint64_t parent; /* CALL: enclosing call, 0 none */
	/* CALL: top of the stacks at its start; 0 none; EXTERNAL: tops after it */
	uint64_t external[GT_EXTERNAL_STACK_COUNT];
	uint64_t start_ns, end_ns;
	/* CALL: result; EXTERNAL: the value pushed or popped */
	uint64_t ret;
	/* GT_OP_NARGS(op) of them, or NULL when not recorded, or there are none */
	const uint64_t *args;
	const uint8_t *payload;
	/* DEVICE */
	enum gt_device_op device_op;
	int32_t status;
	uint32_t name;                      /* string id */
	const struct gt_object_info *queue; /* NULL: not known */
	uint64_t call_start_ns;
	uint64_t queued_ns, submitted_ns; /* 0: not known, as start_ns and end_ns may be */
	uint64_t bytes, object[2];
	uint32_t global[3];
	union { /* see gt_item_endpoints() */
		uint32_t local[3];
		struct gt_endpoints endpoints;
	};
	uint32_t ordinal_in_graph, replay;
	/* number of the GT_OBJECT_GRAPH whose launch it belongs to; 0: none */
	uint32_t graph;
	/* CALL, DEVICE of a domain that is `relayed`: number of the range that it was made in; 0:
	 * none */
	uint64_t within;
};

/* Return the call, of any thread, whose ranges contain the item: usually itself or its launching
 * call. */
static inline uint64_t gt_item_place(const struct gt_item *item)
{
	return item->within ? item->within : item->id;
}

/* Devices that a memcpy goes between, by numbers of their objects; NULL: `local` is a size. */
static inline const struct gt_endpoints *gt_item_endpoints(const struct gt_item *work)
{
	return gt_has_endpoints(work->device_op, &work->endpoints) ? &work->endpoints : NULL;
}

struct gt_cursor;

/* Create a cursor over the records of the whole capture, thread after thread; the calls of a thread
 * come in order of their start (an enclosing call before the calls in it), GPU activities and
 * external ids in the order in which they were written. Threads are not ordered with each other.
 * Several cursors may be open.
 * Memory is bounded regardless of the capture's size: if an outermost call has more than 2^18 calls
 * inside, the first ones come before it and without parent. */
int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out);
void gt_cursor_destroy(struct gt_cursor *cursor);
/* Return 1 and *out, 0 at the end, or negative errno with a cause. */
int gt_cursor_next(struct gt_cursor *cursor, const struct gt_item **out);
/* Return several items of one thread at once, consecutive at *out; faster for millions of items.
 * Return how many, 0 at the end, or negative errno with a cause. */
int gt_cursor_next_several(struct gt_cursor *cursor, const struct gt_item **out);
/* From now on cursors leave out calls and GPU activities for which @wants returns false. NULL:
 * none. */
typedef bool gt_item_filter_fn(void *data, const struct gt_item *item);
void gt_capture_filter(struct gt_capture *c, gt_item_filter_fn *wants, void *data);
/* Cut captures contain records that do not count, which records that count need: make this cursor
 * return them also, marked by item->context. */
void gt_cursor_take_context(struct gt_cursor *cursor);
/* Make this cursor return all items, including those that the filter rejects. */
void gt_cursor_take_all(struct gt_cursor *cursor);
/* Return true if the filter accepts the item, or if there is none. */
bool gt_capture_wants(const struct gt_capture *c, const struct gt_item *item);
bool gt_capture_is_filtered(const struct gt_capture *c);
/* A time range, both ends included. */
struct gt_slice_span {
	uint64_t from_ns, to_ns;
};

/* Restricts cursors created from now on: they return calls and GPU activities that overlap a span,
 * activities whose start is not known, all calls that start or end ranges in pairs (push, pop,
 * start, stop), and all external ids. Blocks with none of these are not read. A call's parent is
 * the innermost enclosing call that is returned. */
struct gt_slice {
	const struct gt_slice_span *spans; /* in order, disjoint */
	size_t count;
	bool read_all; /* the same result, but all blocks are read: for tests */
	/* a flag per process; NULL: all. Records of the others are not read */
	const bool *processes;
};
/* Set the slice; NULL: everything. Return 0 or -ENOMEM with a cause. */
int gt_capture_set_slice(struct gt_capture *c, const struct gt_slice *slice);
/* Set the flag of each process whose activities run on a device that a flagged process also uses.
 * Return 0 or -ENOMEM with a cause. */
int gt_capture_add_sharing(const struct gt_capture *c, bool *processes);
/* Call @each for devices of activities (GT_DEVICE_REF()), in the order a cursor without a slice
 * meets them. */
void gt_capture_each_device(const struct gt_capture *c,
			    void (*each)(void *data, uint32_t process, uint32_t ref), void *data);
/* Return when the last call of a session ended. 0: no calls, or not recorded. */
uint64_t gt_capture_last_call_ns(const struct gt_capture *c, size_t session);
/* Make this cursor read only blocks that have marks and ranges: other records may be missing. */
void gt_cursor_take_marks(struct gt_cursor *cursor);
/* Skip the remaining records of the thread that the last items came from. */
void gt_cursor_skip_thread(struct gt_cursor *cursor);
/* Bytes of stream blocks read so far. */
uint64_t gt_cursor_bytes_read(const struct gt_cursor *cursor);
/* Bytes of the file passed so far, for progress bars; at most gt_capture_health.bytes. */
uint64_t gt_cursor_position(const struct gt_cursor *cursor);

/* Merging -------------------------------------------------------------------- */

struct gt_merge_options {
	void (*progress)(void *data, uint64_t done, uint64_t total); /* may be NULL */
	void *progress_data;
};

/**
 * gt_capture_merge() - merge the sessions of several captures into one file, without decoding
 * records
 * @path: must not exist; the caller removes it when this fails
 * @health: receives the damage of the inputs; they are merged as far as they are valid
 * @repeated: receives how many sessions were left out because another copy of them was used: the
 *            one with the most readable bytes
 * Processes, threads, ids and times are unchanged: blocks are copied, each with the number of its
 * session.
 * Return: 0 or negative errno with a cause.
 */
int gt_capture_merge(const char *const *paths, size_t count, const char *path,
		     const struct gt_merge_options *options, struct gt_capture_health *health,
		     size_t *repeated);

#endif
