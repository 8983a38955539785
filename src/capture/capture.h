/* SPDX-License-Identifier: MIT */
/* The capture (`.gputap`): an append-only file of checked blocks, valid at any moment. The
 * collector and `gputap recover` write it; all other commands read it. capture/format.h defines the
 * layout; docs/reference/capture-format.md explains it.
 *
 * In a capture, each exec or fork creates a process. Several processes can have the same pid. */
#ifndef GPUTAP_CAPTURE_CAPTURE_H
#define GPUTAP_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "record/host_state.h"
#include "record/record.h"
#include "util/rank.h"

/* Writing -------------------------------------------------------------------- */

struct gt_capture_writer;

#define GT_CAPTURE_ID_BYTES 16

/* Limits of a flight recorder: retention time and bytes on disk. */
struct gt_keep_options {
	uint64_t window_ns; /* 0: no time limit */
	uint64_t most_bytes;
};

struct gt_capture_options {
	/* true: permissions of a new file follow the umask; false: only the owner may read the
	 * file */
	bool shared;
	/* true: compress stream blocks with zstd level 1, which makes them smaller but takes
	 * longer */
	bool compress;
};

/* The command of a session and its environment. Strings are borrowed for the call. */
struct gt_session_info {
	const char *hostname, *boot_id, *kernel, *cpu, *gputap_version;
	/* argv: each string ends with a NUL, and a second NUL follows the last string */
	const char *command;
	const char *options; /* text that describes how the command was traced, for `gputap info` */
	const char *directory;
	uint32_t host_clock; /* enum gt_host_clock */
	uint64_t start_ns;   /* BOOTTIME */
	uint64_t start_realtime_ns;
	/* from RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK; -1: none */
	int32_t rank;
};

struct gt_process_info {
	uint32_t index; /* number of the process in this capture, from 0 */
	/* session index for gt_capture_session_at(); set when reading */
	uint32_t session;
	uint32_t pid, ppid;
	uint32_t fork_count;  /* 0 after exec; after fork, the parent's fork_count + 1 */
	uint64_t start_ticks; /* for the writer; the reader sets start_ns and end_ns */
	/* BOOTTIME; end_ns: time at which the end was noticed, or at which gputap detached from the
	 * process (`ended` is false then); 0: the end is unknown */
	uint64_t start_ns, end_ns;
	const char *exe, *argv; /* argv as in gt_session_info.command */
	/* rank in the process's job, from the process's environment; in captures from older
	 * versions, the session's rank. The reader does not set rank.launcher */
	struct gt_rank rank;
	const char *launcher; /* name of the launcher; "": none; set when reading */
	int32_t wait_status;  /* as waitpid() reports it; -1: unknown (not a child of gputap) */
	/* proper_end: true if the process called exit() or quick_exit(), or returned from main */
	bool ended, proper_end;
	uint64_t runtimes; /* one bit for each enum gt_domain seen */
	uint32_t children_lost;
};

struct gt_thread_info {
	uint32_t process, ordinal, tid;
	uint64_t start_ticks, end_ticks;
	const char *name;
};

/* Sums at one moment; newer sums replace older ones. After the process has ended, `dropped`
 * includes GT_DROP_UNFINISHED. */
struct gt_counts {
	uint64_t seen[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t recorded[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t dropped[GT_DROP_REASON_COUNT][GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	/* records that the flight recorder evicted because they left the window: seen = recorded +
	 * dropped + evicted */
	uint64_t evicted[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

/* Reason for taking a snapshot. */
enum gt_retained_reason {
	GT_RETAINED_END = 0, /* not a snapshot; written when the recording ended */
	GT_RETAINED_COMMAND,
	GT_RETAINED_SIGNAL,
	GT_RETAINED_TRIGGER,
	GT_RETAINED_RECOVERED, /* the collector had died */
	GT_RETAINED_REASON_COUNT
};

/* Properties of a snapshot, or of a flight recorder's capture. */
struct gt_retained {
	bool is_kept;    /* true if the capture is a snapshot or a flight recorder's capture */
	bool is_window;  /* true if this is a flight recorder's capture */
	bool is_thinned; /* true if older records were evicted */
	/* true if the capture was cut out of another capture. It contains the records that match
	 * the expression `text`, and the records that those need; begin_ns and end_ns enclose the
	 * matching records */
	bool is_cut;
	bool is_whole_time; /* true if a cut contains every record of its time range */
	enum gt_retained_reason reason;
	uint32_t number; /* number of the snapshot in its session, from 1; 0: not a snapshot */
	/* BOOTTIME: the capture contains all records written in this time range */
	uint64_t begin_ns, end_ns;
	struct gt_keep_options asked;
	/* number of processes that ended before begin_ns and are not in the capture */
	uint64_t processes;
	struct gt_counts counts; /* sums of the counts of those processes */
	const char *text;        /* event that triggered the snapshot */
};

/* Load of the processors that were available to a session, during its recording. */
struct gt_machine_load {
	uint32_t processors; /* 0: the load is unknown */
	uint64_t wall_ns;    /* duration of the measurement */
	uint64_t busy_ns;    /* busy time of all these processors, for all users */
	/* part of busy_ns that gputap and those processes of the session that have ended used */
	uint64_t own_ns;
	uint64_t stolen_ns; /* time that the host of a virtual machine stole; not part of busy_ns */
};
/* Return the share of processor time that other programs used, 0 to 1. Return 0 if the load is
 * unknown. */
static inline double gt_machine_load_of_others(const struct gt_machine_load *l)
{
	double all = (double)l->processors * (double)l->wall_ns, own = (double)l->own_ns,
	       others = (double)l->busy_ns - own + (double)l->stolen_ns;

	/* the kernel counts in ticks, so the sum can exceed the idle time */
	others = others < all - own ? others : all - own;
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
 * gt_capture_writer_reopen() - continue an unfinished capture, for `gputap recover`
 * @id: result of gt_capture_writer_id(); another capture with the same name stays unchanged. NULL:
 *      accept any capture
 * @bytes: length to cut the file to first: the result of gt_capture_writer_bytes() after the last
 *         flush to keep; UINT64_MAX: keep every whole block, and cut off a partial last block and
 *         the end marker
 * Encoders start afresh, so no new block refers to an older one. A file shorter than @bytes cannot
 * become complete.
 * Return: 0 or negative errno with a cause: -EBADMSG not a capture, or another capture; -EBUSY
 *         another process writes the file, ...
 */
int gt_capture_writer_reopen(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
			     uint64_t bytes, struct gt_capture_writer **out);

/* Copy out the random number that identifies this capture. */
void gt_capture_writer_id(const struct gt_capture_writer *w, uint8_t id[GT_CAPTURE_ID_BYTES]);

/* Call @each for every event written from now on, with the index of the event's process. */
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

/* Encoder state for the ring of one thread, by process and ordinal. */
struct gt_stream; /* created on first use, destroyed when the thread ends */
int gt_capture_stream_create(struct gt_capture_writer *w, uint32_t process, uint32_t ordinal,
			     struct gt_stream **out);
void gt_capture_stream_destroy(struct gt_stream *s);

/* Return the highest call id of @domain among all records given to the stream, whether they were
 * written or not; 0: no calls. */
uint64_t gt_capture_stream_newest_call(const struct gt_stream *s, enum gt_domain domain);
/* Return the operation, GT_OP(), of the call that returned last, and its end in host ticks; 0: the
 * stream has no calls. */
uint32_t gt_capture_stream_last_call(const struct gt_stream *s, uint64_t *end);

/**
 * gt_capture_write_records() - encode whole records into the capture
 * @data: records as in ring/segment.h, 8-byte aligned. A misbehaving program may be writing to this
 *        memory, so the function reads each word once, or copies it first
 * @bytes: size of the batch, a multiple of 8
 * @recorded: the function adds the written records to these counts, by class and domain
 * A malformed record ends the batch with -EBADMSG. The good records before it are kept.
 * Return: 0, or -ENOSPC or another negative errno if the file cannot take the batch. Then no record
 *         of the batch counts.
 */
int gt_capture_write_records(struct gt_stream *s, const void *data, size_t bytes,
			     struct gt_counts *recorded);

/**
 * gt_capture_stream_is_doubted() - return true after a record that gputap never writes
 * @earliest, @latest: range of ticks in which calls can have been made
 * The stream has accepted the record, because the record's lengths are valid. However, its
 * operation is unknown, its id belongs to another thread, its end is before its start, or the like.
 * Call after gt_capture_write_records(). The call resets the flag.
 */
bool gt_capture_stream_is_doubted(struct gt_stream *s, uint64_t earliest, uint64_t latest);

/**
 * gt_capture_flush() - write out buffered blocks; afterwards the file contains everything that was
 * accepted
 * Return: 0, or -ENOSPC or another negative errno. On failure the file is cut back to its length
 *         after the last good flush, and everything accepted since then is lost; the caller counts
 *         the loss. The writer stays usable, because a later flush may succeed. Room for the end
 *         marker and a last set of counts is reserved.
 */
int gt_capture_flush(struct gt_capture_writer *w);
/* Return the length of the file after the last good flush. */
uint64_t gt_capture_writer_bytes(const struct gt_capture_writer *w);
/* Return the number of kernel records accepted so far. */
uint64_t gt_capture_writer_kernels(const struct gt_capture_writer *w);

/**
 * gt_capture_keep() - make a new capture a flight recorder's capture, which evicts old records
 * Call before writing anything but the session. Return: 0 or negative errno with a cause.
 */
int gt_capture_keep(struct gt_capture_writer *w, const struct gt_keep_options *asked,
		    uint32_t host_clock);
/* State after the last good flush, from which recovery continues the files of a flight recorder. */
struct gt_keep_position {
	struct gt_keep_options asked; /* window_ns 0: not a flight recorder */
	uint32_t meta, chunk;         /* numbers of the metadata file and of the chunk file */
	uint64_t chunk_bytes;
};
void gt_capture_writer_retained(const struct gt_capture_writer *w, struct gt_keep_position *out);
/* gt_capture_writer_reopen() for a flight recorder. @path: path of its capture */
int gt_capture_writer_reopen_retained(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
				      uint64_t bytes, const struct gt_keep_position *position,
				      struct gt_capture_writer **out);

/* A snapshot made from the files of a recording in progress. */
struct gt_snapshot;
/* Call after a good flush whose last blocks are the counts of all processes. */
int gt_snapshot_create(const struct gt_capture_writer *w, const struct gt_retained *why,
		       struct gt_snapshot **out);
/* Write the snapshot. Any thread may call this. @replace: replace an existing @path. The file
 * appears once it is complete.
 * Return: 0 or negative errno with a cause. */
int gt_snapshot_write(struct gt_snapshot *s, const char *path, bool replace, bool shared);
void gt_snapshot_destroy(struct gt_snapshot *s);

/* Flush, write the end marker, and close. @complete: value of the end marker */
int gt_capture_writer_finish(struct gt_capture_writer *w, bool complete);
/* Close the file without writing the end marker. */
void gt_capture_writer_destroy(struct gt_capture_writer *w);
/* Close the file, and remove the files that the writer kept next to the capture. */
void gt_capture_writer_discard(struct gt_capture_writer *w);

/* Reading -------------------------------------------------------------------- */

struct gt_capture;

/* State of the end of a file. */
enum gt_capture_end {
	GT_CAPTURE_COMPLETE,
	GT_CAPTURE_INCOMPLETE /* according to the end marker */,
	GT_CAPTURE_CUT /* no end marker */
};

struct gt_capture_health {
	enum gt_capture_end end;
	/* number of bytes skipped because a checksum or a length was wrong */
	uint64_t bytes, bad_bytes;
	uint64_t bad_blocks, unknown_blocks;
	uint64_t bad_sums; /* number of processes or blocks whose records do not match their sums */
};

/* Return true if the capture contains everything that was written. If false, commands that read the
 * capture process the readable part and exit with 1. */
static inline bool gt_capture_is_whole(const struct gt_capture_health *health)
{
	return health->end != GT_CAPTURE_CUT && !health->bad_bytes && !health->bad_blocks &&
	       !health->bad_sums;
}

/**
 * gt_capture_open() - map a capture and read everything but the records
 * Return: 0, or negative errno with a cause: -EBADMSG not a capture, -ENOTSUP written by a newer
 *         version, -EISDIR, -ENODATA empty, ... A cut or damaged capture still opens: see
 *         gt_capture_health().
 * Owner: caller; gt_capture_close(). Thread: one at a time per object. Exception: several threads
 * may read one capture at the same time, each with cursors of its own, while no thread changes its
 * scope or filter. The damage that they report is complete once all of them have finished.
 */
int gt_capture_open(const char *path, struct gt_capture **out);
/* Open several files as if they had been merged. At most a few hundred files stay open. */
int gt_capture_open_several(const char *const *paths, size_t count, struct gt_capture **out);
/* Check that a capture would open, reading only its header. Return 0, or the error with its
 * cause. */
int gt_capture_probe(const char *path);
void gt_capture_close(struct gt_capture *c);

/* Read and check every stream payload; gt_capture_open() does not. Afterwards health and counts
 * report all damage. Without this call, a cursor reports a damaged payload when the cursor reaches
 * the payload.
 * Return: 0, or negative errno: cannot read. */
int gt_capture_verify(struct gt_capture *c);

/* State of the indexes through which the files' blocks are found. */
struct gt_capture_index {
	size_t files; /* number of files that have an index */
	/* number of files whose index is damaged or wrong; the heads of their blocks were read
	 * instead */
	size_t wrong_files;
	uint64_t bytes, blocks;
};
const struct gt_capture_index *gt_capture_index(const struct gt_capture *c);

/* Keep cursors in other threads from changing health and counts, which they do when they find
 * damage. Hold only for a moment, in one thread at a time. */
void gt_capture_lock_health(void);
void gt_capture_unlock_health(void);
/* Return the health of all sessions together; `end` is the worst of all sessions. */
const struct gt_capture_health *gt_capture_health(const struct gt_capture *c);
/* Return the first session. All times are on its CLOCK_BOOTTIME. */
const struct gt_session_info *gt_capture_session(const struct gt_capture *c);
const struct gt_host_clock_map *gt_capture_host_clock(const struct gt_capture *c);

/* Method that converted a session's times to the first session's CLOCK_BOOTTIME. */
enum gt_alignment {
	GT_ALIGNED_BOOT,     /* the same boot of the same kernel, so the clocks are the same */
	GT_ALIGNED_REALTIME, /* through CLOCK_REALTIME; accurate if both hosts' clocks agree */
	/* through calls that processes of both sessions made together, such as barriers */
	GT_ALIGNED_SHARED,
	GT_ALIGNED_NOT, /* the session's clock data is lost */
};

/* One `gputap run`. A single capture has one session. A merged capture, and several files opened as
 * one, have more. */
struct gt_capture_session {
	struct gt_session_info info;     /* info.start_ns is on the first session's clock */
	struct gt_capture_health health; /* health of the session's own capture before merging */
	struct gt_retained kept;
	struct gt_machine_load load;
	const char *path; /* path of the session's own capture when it was opened or merged */
	uint8_t uuid[16]; /* id of the session's own capture; 0: damaged */
	enum gt_alignment alignment;
	int64_t shift_ns; /* offset added to the session's CLOCK_BOOTTIME */
	/* REALTIME: adjustment of the wall clocks while gputap watched them; SHARED: largest
	 * distance to another clock that the shared calls allow */
	uint64_t uncertainty_ns;
	/* number of the machine, from 0; equal for sessions with the same boot id or host name */
	uint32_t machine;
	/* number of the pid namespace, from 0. Within a node, a pid names one process. The sessions
	 * of a machine share a node unless their pids contradict this */
	uint32_t node;
	uint32_t first_process, process_count;
};
/* Sessions in order of their start; at least one. */
size_t gt_capture_session_count(const struct gt_capture *c);
const struct gt_capture_session *gt_capture_session_at(const struct gt_capture *c, size_t index);
/* Return the number of sessions left out because they occur more than once: a file is named twice,
 * or a session was merged before. */
size_t gt_capture_repeated_count(const struct gt_capture *c);
/* Host clock of the process's session, for values still in ticks (gt_thread_info). */
const struct gt_host_clock_map *gt_capture_process_clock(const struct gt_capture *c,
							 uint32_t process);
size_t gt_capture_process_count(const struct gt_capture *c);
const struct gt_process_info *gt_capture_process(const struct gt_capture *c, uint32_t index);
const struct gt_counts *gt_capture_counts(const struct gt_capture *c, uint32_t process);
size_t gt_capture_thread_count(const struct gt_capture *c);
const struct gt_thread_info *gt_capture_thread(const struct gt_capture *c, size_t index);
const struct gt_thread_info *gt_capture_thread_find(const struct gt_capture *c, uint32_t process,
						    uint32_t ordinal);

/* Return a text by id, NUL-terminated. Return "" if the text is missing, never NULL. The program
 * supplied the text, so it can contain any bytes. */
const char *gt_capture_string(const struct gt_capture *c, uint32_t process, uint32_t id);

struct gt_object_info {
	uint32_t process;
	enum gt_object_type type;
	enum gt_domain domain;
	uint64_t number, handle, parent;
	const char *text; /* pairs "key=value\0", ended by an empty string */
	/* devices: index from 0, the same for the same device in all processes of a machine (same
	 * uuid, else same pci, else same name and order); queues: index of their device;
	 * UINT32_MAX: none */
	uint32_t device_index;
	uint32_t ordinal; /* queues: number within process and device, from 1 */
	/* code objects and kernel symbols: time of loading and of unloading; 0: unknown, or not
	 * unloaded */
	uint64_t begin_ns, end_ns;
};
size_t gt_capture_object_count(const struct gt_capture *c);
const struct gt_object_info *gt_capture_object(const struct gt_capture *c, size_t index);
const struct gt_object_info *gt_capture_object_find(const struct gt_capture *c, uint32_t process,
						    enum gt_object_type type, uint64_t number);
/* Return the value of a key in an object's text, or NULL. */
const char *gt_object_value(const struct gt_object_info *object, const char *key);
/* Return the name that the program gave the object, else the object's own name, else NULL. */
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
/* Return true for a program that could not be traced. Other GT_EVENT_NOT_TRACED events concern
 * programs that use no runtime, or that another session records. */
static inline bool gt_event_is_not_traced(const struct gt_event_info *e)
{
	return e->code == GT_EVENT_NOT_TRACED && e->domain == GT_DOMAIN_NONE && e->value;
}
/* Return true for a program whose calls may be missing: all calls, or the calls after the session's
 * end. */
static inline bool gt_event_is_untraced(const struct gt_event_info *e)
{
	return e->code == GT_EVENT_STILL_RUNS || gt_event_is_not_traced(e);
}

/* A part of a process's life in which the process was recorded, or was paused. */
struct gt_window_info {
	uint32_t process;
	bool recorded;
	enum gt_window_why why;     /* reason for the window's start */
	enum gt_window_why end_why; /* reason for the window's end */
	uint64_t from_ns, to_ns;
	/* number of changes before the window's start that followed each other too fast to be
	 * recorded */
	uint64_t missed;
};
/* "delay", "command", .. */
const char *gt_window_why_name(enum gt_window_why why);
/* Return the windows of one process in order. The windows cover the process's life without a hole.
 * *count 0: the process was never paused, so its whole life was recorded. */
const struct gt_window_info *gt_capture_windows(const struct gt_capture *c, uint32_t process,
						size_t *count);
/* Return the number of windows of all processes, sorted by process. */
size_t gt_capture_window_count(const struct gt_capture *c);
const struct gt_window_info *gt_capture_window_at(const struct gt_capture *c, size_t index);
/**
 * gt_capture_recorded() - measure the life and the recorded time of processes that use a runtime
 * @session: consider only this session; NULL: all sessions
 * @recorded_ns, @total_ns: receive the times; overlapping lives of several processes count once
 * Return: true if any of these processes was paused.
 */
bool gt_capture_recorded(const struct gt_capture *c, const struct gt_capture_session *session,
			 uint64_t *recorded_ns, uint64_t *total_ns);

/* A call that had not returned when the collector last looked: at a snapshot, at the end of its
 * process, or at the end of the session. */
struct gt_open_call_info {
	uint32_t process;
	uint32_t ordinal;         /* thread */
	uint32_t op;              /* GT_OP() without arguments */
	enum gt_host_state state; /* of the thread */
	uint32_t system_call;     /* number + 1; 0: none, or not known */
	uint64_t id;
	uint64_t start_ns, seen_ns; /* start_ns 0: not known; seen_ns: when it was last seen open */
	/* collectives and messages: handle; number of the collective on the communicator;
	 * destination, source or root + 1. 0: none, or not known */
	uint64_t communicator, sequence, peer;
	const char *text; /* what the thread waits for; "": not known */
};
/* Return the open calls, sorted by process, thread and id. */
const struct gt_open_call_info *gt_capture_open_calls(const struct gt_capture *c, size_t *count);

/* A decoded record, times in BOOTTIME ns. Valid until the next gt_cursor_next(). */
struct gt_item {
	enum gt_record_kind kind; /* CALL, DEVICE, EXTERNAL; HOST if the cursor takes it */
	/* CALL: GT_OP(); DEVICE: GT_DEVICE_REF(); GT_OP_DOMAIN() returns the domain of either.
	 * EXTERNAL: enum gt_external_stack */
	uint32_t op;
	uint32_t payload_bytes; /* size of `payload` */
	union {
		uint8_t depth; /* CALL: number of open calls in the thread at the call's start */
		uint8_t push;  /* EXTERNAL: 1 push, 0 pop; HOST: enum gt_host_detail */
	};
	/* GT_CONTEXT_..: in a cut capture, the item does not count, and is present because other
	 * records need it */
	uint8_t context;
	uint32_t process; /* index */
	/* thread that wrote the record; DEVICE: GT_ID_ORDINAL(id) is the launching thread */
	uint32_t ordinal;
	uint64_t id;     /* CALL: the call's own id; DEVICE: id of the launching call */
	uint64_t parent; /* CALL: id of the enclosing call; 0: none */
	/* CALL: tops of the external stacks at the call's start, 0: none; EXTERNAL: tops after the
	 * push or pop */
	uint64_t external[GT_EXTERNAL_STACK_COUNT];
	uint64_t start_ns, end_ns;
	/* CALL: result; EXTERNAL: the pushed or popped value */
	uint64_t ret;
	/* GT_OP_NARGS(op) arguments; NULL if the operation has none or they were not recorded */
	const uint64_t *args;
	const uint8_t *payload;
	/* DEVICE */
	enum gt_device_op device_op;
	int32_t status;
	uint32_t name;                      /* string id */
	const struct gt_object_info *queue; /* NULL: unknown */
	uint64_t call_start_ns;
	uint64_t queued_ns, submitted_ns; /* 0: unknown; start_ns and end_ns can also be 0 */
	uint64_t bytes, object[2];
	uint32_t global[3];
	union { /* see gt_item_endpoints() */
		uint32_t local[3];
		struct gt_endpoints endpoints;
	};
	uint32_t ordinal_in_graph, replay;
	/* number of the GT_OBJECT_GRAPH whose launch contains the activity; 0: none */
	uint32_t graph;
	/* CALL, DEVICE of a `relayed` domain: number of the enclosing range; 0: none */
	uint64_t within;
};

/* Return the call, of any thread, whose ranges contain the item: usually the item itself, or its
 * launching call. */
static inline uint64_t gt_item_place(const struct gt_item *item)
{
	return item->within ? item->within : item->id;
}

/* Return the source and destination device of a memcpy, as object numbers. NULL: `local` is a
 * size. */
static inline const struct gt_endpoints *gt_item_endpoints(const struct gt_item *activity)
{
	return gt_has_endpoints(activity->device_op, &activity->endpoints) ? &activity->endpoints
									   : NULL;
}

struct gt_cursor;

/* Create a cursor over the records of the whole capture, thread after thread. The calls of a thread
 * are sorted by start (an enclosing call before the calls in it). GPU activities and external ids
 * come in the order in which they were written. There is no order between threads. Several cursors
 * may be open.
 * Memory is bounded regardless of the capture's size: if an outermost call contains more than 2^18
 * calls, the first of these come before the outermost call and have no parent. */
int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out);
void gt_cursor_destroy(struct gt_cursor *cursor);
/* Return 1 and *out, 0 at the end, or negative errno with a cause. */
int gt_cursor_next(struct gt_cursor *cursor, const struct gt_item **out);
/* Return several consecutive items of one thread at *out; faster for millions of items. Return the
 * number of items, 0 at the end, or negative errno with a cause. */
int gt_cursor_next_several(struct gt_cursor *cursor, const struct gt_item **out);
/* Make cursors skip calls and GPU activities for which @wants returns false, from now on. NULL:
 * skip none. */
typedef bool gt_item_filter_fn(void *data, const struct gt_item *item);
void gt_capture_filter(struct gt_capture *c, gt_item_filter_fn *wants, void *data);
/* Make this cursor use its own filter instead of the capture's. */
void gt_cursor_filter(struct gt_cursor *cursor, gt_item_filter_fn *wants, void *data);
/* Return true if the capture has records of a relayed domain. Cursors number the operations that
 * such records name in the order in which they meet the names (gt_operation_named()). */
bool gt_capture_is_relayed(const struct gt_capture *c);
/* Make this cursor also return context records, marked by item->context. Only cut captures have
 * context: records that do not count themselves, but that counted records need. */
void gt_cursor_take_context(struct gt_cursor *cursor);
/* Make this cursor also return states of threads, as items of kind GT_RECORD_HOST, with the words
 * of struct gt_record_host: `push` is enum gt_host_detail, `args` has 8 values. A filter does not
 * apply to them. */
void gt_cursor_take_host(struct gt_cursor *cursor);
/* Make this cursor return all items, including those that the filter rejects. */
void gt_cursor_take_all(struct gt_cursor *cursor);
/* Return true if the filter accepts the item, or if no filter is set. */
bool gt_capture_wants(const struct gt_capture *c, const struct gt_item *item);
bool gt_capture_is_filtered(const struct gt_capture *c);
/* A time range, including both ends. */
struct gt_time_range {
	uint64_t from_ns, to_ns;
};

/* Restricts cursors that are created from now on. These cursors return calls and GPU activities
 * that overlap a span, activities without a known start, all calls that start or end ranges in
 * pairs (push, pop, start, stop), all external ids, and all states of threads if the cursor takes
 * them. Cursors skip blocks without such records. The parent of a call is the innermost enclosing
 * call that is returned. */
struct gt_scope {
	const struct gt_time_range *spans; /* sorted, disjoint */
	size_t count;
	bool read_all; /* true: read all blocks, with the same result; for tests */
	/* flag of each process: true if cursors return the process's records; NULL: all
	 * processes */
	const bool *processes;
};
/* Set the scope; NULL: everything. Return 0 or -ENOMEM with a cause. */
int gt_capture_set_scope(struct gt_capture *c, const struct gt_scope *scope);
/* Restrict this cursor only, before its first record. Return 0 or -ENOMEM with a cause. */
int gt_cursor_take_scope(struct gt_cursor *cursor, const struct gt_scope *scope);
/* Set the flag of each process whose activities run on a device that a flagged process also uses.
 * Return 0 or -ENOMEM with a cause. */
int gt_capture_add_sharing(const struct gt_capture *c, bool *processes);
/* Call @each for the device of activities (GT_DEVICE_REF()), in the order in which a cursor without
 * a scope encounters the devices. */
void gt_capture_each_device(const struct gt_capture *c,
			    void (*each)(void *data, uint32_t process, uint32_t ref), void *data);
/* Return the end of the last call in a session. 0: the session has no recorded calls. */
uint64_t gt_capture_last_call_ns(const struct gt_capture *c, size_t session);
/* Make this cursor read only blocks that contain marks and ranges. Other records may be missing. */
void gt_cursor_take_marks(struct gt_cursor *cursor);
/* A stream: the records of one thread. Streams are sorted by process and ordinal, and cursors
 * return one after another. */
struct gt_stream_info {
	uint32_t process, ordinal;
	uint64_t bytes; /* size of its blocks in the file */
};
size_t gt_capture_stream_count(const struct gt_capture *c);
struct gt_stream_info gt_capture_stream_at(const struct gt_capture *c, size_t index);
/* Make this cursor return only the records of @count streams, the first of which is @first. Call
 * before the first record. */
void gt_cursor_take_streams(struct gt_cursor *cursor, size_t first, size_t count);
/* A part of a capture that a cursor can read without the parts before it: consecutive blocks of a
 * stream. An outermost call and the calls in it belong to the piece in which the first of them
 * ends, with all records up to the end of the outermost call. */
struct gt_capture_piece {
	size_t stream;
	size_t first, count; /* index of the first block in the capture; number of blocks */
	uint64_t bytes;      /* size of the blocks in the file */
	/* true if the piece is large because its stream cannot be split: external ids, which any
	 * record before may have pushed */
	bool is_large;
};
/* Split the capture into pieces of about @bytes bytes. In order, the pieces contain the same
 * records as a cursor without a scope returns. Return 0 or -ENOMEM with a cause. The caller frees
 * the pieces. */
int gt_capture_split(const struct gt_capture *c, uint64_t bytes, struct gt_capture_piece **pieces,
		     size_t *count);
/* Make this cursor return the records of this piece, from the first one. Call for a new cursor, or
 * after the last record of another piece. Return 0 or negative errno with a cause. */
int gt_cursor_take_piece(struct gt_cursor *cursor, const struct gt_capture_piece *piece);
/* Skip the remaining records of the thread that wrote the last items. */
void gt_cursor_skip_thread(struct gt_cursor *cursor);
/* Return the bytes of stream blocks read so far. */
uint64_t gt_cursor_bytes_read(const struct gt_cursor *cursor);
/* Return the bytes of the file passed so far, for progress bars; at most
 * gt_capture_health.bytes. */
uint64_t gt_cursor_position(const struct gt_cursor *cursor);

/* Merging -------------------------------------------------------------------- */

struct gt_merge_options {
	void (*progress)(void *data, uint64_t done, uint64_t total); /* may be NULL */
	void *progress_data;
};

/**
 * gt_capture_merge() - merge several captures into one file, without decoding records
 * @path: must not exist; on failure the caller removes the file
 * @health: receives the damage of the inputs; the valid parts of damaged inputs are merged
 * @repeated: receives the number of sessions left out because a copy has more readable bytes
 * Blocks are copied, each with the number of its session. Processes, threads, ids and times are
 * unchanged.
 * Return: 0 or negative errno with a cause.
 */
int gt_capture_merge(const char *const *paths, size_t count, const char *path,
		     const struct gt_merge_options *options, struct gt_capture_health *health,
		     size_t *repeated);

#endif
