/* SPDX-License-Identifier: MIT */
/* The capture (`.gputap`): append-only file of checked blocks, valid at any moment.
 * The writer is the collector (and `gputap recover`); the reader is everything else.
 * capture/format.h has the bytes; docs/reference/capture-format.md explains them.
 *
 * A process is what one exec or fork made, as everywhere in gputap: a pid may stand for several. */
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

/* A flight recorder: records are kept for so long, in so many bytes of disk. */
struct gt_keep_options {
	uint64_t window_ns; /* 0: all are kept */
	uint64_t most_bytes;
};

struct gt_capture_options {
	/* a new file has the permissions that the umask leaves; else only its owner may read it */
	bool shared;
	bool compress; /* zstd level 1 on stream blocks; smaller, slower */
};

/* What was run where. Strings are borrowed for the call. */
struct gt_session_info {
	const char *hostname, *boot_id, *kernel, *cpu, *gputap_version;
	const char *command; /* argv joined by NUL, ended by a second NUL */
	const char *options; /* text of how it was traced, for `gputap info` */
	const char *directory;
	uint32_t host_clock; /* enum gt_host_clock */
	uint64_t start_ns;   /* BOOTTIME */
	uint64_t start_realtime_ns;
	/* from RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK; -1: none */
	int32_t rank;
};

struct gt_process_info {
	uint32_t index;   /* of the process in this capture, from 0 */
	uint32_t session; /* reader: whose; gt_capture_session_at() */
	uint32_t pid, ppid;
	uint32_t fork_count;  /* 0 after exec; a fork child's is its parent's + 1 */
	uint64_t start_ticks; /* writer; the reader gives start_ns, end_ns */
	/* end 0: not known to have ended; BOOTTIME, given by who writes the end */
	uint64_t start_ns, end_ns;
	const char *exe, *argv; /* argv as in gt_session_info.command */
	/* in its job, from its own environment; in captures from before that was recorded, its
	 * session's. The reader sets no launcher */
	struct gt_rank rank;
	const char *launcher;   /* reader: its name; "": none */
	int32_t wait_status;    /* as waitpid() gives it; -1: not known (not our child) */
	bool ended, proper_end; /* by exit() or quick_exit(), or returned from main */
	uint32_t runtimes;      /* bit per enum gt_domain seen */
	uint32_t children_lost;
};

struct gt_thread_info {
	uint32_t process, ordinal, tid;
	uint64_t start_ticks, end_ticks;
	const char *name;
};

/* Sums at some moment; the newest counts. dropped includes GT_DROP_UNFINISHED once the process is
 * gone. */
struct gt_counts {
	uint64_t seen[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t recorded[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	uint64_t dropped[GT_DROP_REASON_COUNT][GT_CLASS_COUNT][GT_DOMAIN_COUNT];
	/* recorded, and thrown away by a flight recorder because it was older than its window:
	 * seen = recorded + dropped + not_kept */
	uint64_t not_kept[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

/* Why a snapshot was taken. */
enum gt_kept_reason {
	GT_KEPT_END = 0, /* none: the recording ended */
	GT_KEPT_COMMAND,
	GT_KEPT_SIGNAL,
	GT_KEPT_TRIGGER,
	GT_KEPT_RECOVERED, /* the collector had died */
	GT_KEPT_REASON_COUNT
};

/* What a snapshot, or the capture of a flight recorder, says of itself. */
struct gt_kept {
	bool is_kept;    /* it is one of these */
	bool is_window;  /* of a flight recorder */
	bool is_thinned; /* and there were older records */
	/* cut out of another capture: what `text`, an expression, holds for, and records that those
	 * need; begin_ns, end_ns: of the former */
	bool is_cut;
	bool is_whole_time; /* of a cut: no record of its time is missing */
	enum gt_kept_reason reason;
	uint32_t number; /* of the snapshot in its session, from 1; 0: none */
	/* BOOTTIME: all records that were written between them are here */
	uint64_t begin_ns, end_ns;
	struct gt_keep_options asked;
	uint64_t processes;      /* that ended before: not here */
	struct gt_counts counts; /* of those */
	const char *text;        /* of a trigger: what happened */
};

/* How busy the processors were that a session might use, while it recorded. */
struct gt_machine_load {
	uint32_t processors; /* 0: nothing is known */
	uint64_t wall_ns;    /* so long it was looked at */
	uint64_t busy_ns;    /* of all these processors together, whoever used them */
	uint64_t own_ns; /* .. of that the session's processes, as far as they ended, and gputap */
	uint64_t stolen_ns; /* not in busy_ns: what the host of a virtual machine took */
};
/* Which share of the processors' time others had, 0 to 1. 0: or nothing is known. */
static inline double gt_machine_load_of_others(const struct gt_machine_load *l)
{
	double all = (double)l->processors * (double)l->wall_ns, own = (double)l->own_ns,
	       others = (double)l->busy_ns - own + (double)l->stolen_ns;

	others = others < all - own ? others : all - own; /* the kernel counts in ticks */
	return all > 0 && others > 0 ? others / all : 0;
}

/**
 * gt_capture_writer_create() - start a new capture file
 * @path: must not exist unless @replace; @session is written first
 * Return: 0 or negative errno with a cause (util/error.h).
 */
int gt_capture_writer_create(const char *path, bool replace,
			     const struct gt_capture_options *options,
			     const struct gt_session_info *session, struct gt_capture_writer **out);

/**
 * gt_capture_writer_reopen() - go on with a capture that was not finished, for `gputap recover`
 * @id: as gt_capture_writer_id() gave it: another capture that has this name now is left as it is.
 *         NULL: whatever it is
 * @bytes: cut the file to this length first: what gt_capture_writer_bytes() said after the last
 *         flush that counts; UINT64_MAX: keep every whole block, cut off a torn last one and an end
 *         mark
 * Encoders start afresh: no later block leans on one from before. A file that is shorter than
 * @bytes cannot become complete.
 * Return: 0 or negative errno with a cause: -EBADMSG no capture, or not that one; -EBUSY another
 * process writes it, ..
 */
int gt_capture_writer_reopen(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
			     uint64_t bytes, struct gt_capture_writer **out);

/* The random number that tells this capture from all others. */
void gt_capture_writer_id(const struct gt_capture_writer *w, uint8_t id[GT_CAPTURE_ID_BYTES]);

/* From now on @each is called for every event that is written, with its process's index. */
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

/* A part of one thread's ring that is drained. Encoders are kept per (process, ordinal). */
struct gt_stream; /* created on first use, ended with its thread */
int gt_capture_stream_create(struct gt_capture_writer *w, uint32_t process, uint32_t ordinal,
			     struct gt_stream **out);
void gt_capture_stream_destroy(struct gt_stream *s);

/* The highest id of a call of @domain among all that the stream was given, whatever became of
 * it; 0: none. */
uint64_t gt_capture_stream_newest_call(const struct gt_stream *s, enum gt_domain domain);

/**
 * gt_capture_write_records() - encode whole records into the capture
 * @data: records as in ring/segment.h, 8-byte aligned; @bytes: multiple of 8; checked: a malformed
 *        record ends the batch with -EBADMSG and what was good before it is kept. It is memory that
 *        a wild program may be writing to: read each word once, or copy first
 * @recorded: += by class and domain for what went in
 * Return: 0, -ENOSPC and other negative errno when the file cannot take it: nothing of the batch
 * counts.
 */
int gt_capture_write_records(struct gt_stream *s, const void *data, size_t bytes,
			     struct gt_counts *recorded);

/**
 * gt_capture_stream_is_doubted() - was a record taken that no writer of ours makes?
 * @earliest, @latest: ticks between which calls can have been Its lengths were valid, and it is in
 * the capture; but its operation is not known, its id is not of the stream's thread, it ends before
 * it begins, or the like. Asked after gt_capture_write_records(), and forgotten by asking.
 */
bool gt_capture_stream_is_doubted(struct gt_stream *s, uint64_t earliest, uint64_t latest);

/**
 * gt_capture_flush() - write out what is buffered; after it, the file holds everything that was
 * accepted
 * Return: 0, or -ENOSPC and other negative errno: then the file is cut back to where the last good
 *         flush left it, nothing accepted since then is in it (the caller counts that as lost), and
 *         the writer stays usable: a later flush may work. Room for the end mark and a last set of
 *         counts is kept.
 */
int gt_capture_flush(struct gt_capture_writer *w);
/* Length of the file after the last good flush. */
uint64_t gt_capture_writer_bytes(const struct gt_capture_writer *w);
/* Records of kernels that it was given so far. */
uint64_t gt_capture_writer_kernels(const struct gt_capture_writer *w);

/**
 * gt_capture_keep() - a new capture becomes a flight recorder's: old records are thrown away
 * Before anything but the session was written. Return: 0 or negative errno with a cause.
 */
int gt_capture_keep(struct gt_capture_writer *w, const struct gt_keep_options *asked,
		    uint32_t host_clock);
/* What recovery needs to go on with a flight recorder's files, after the last good flush. */
struct gt_keep_position {
	struct gt_keep_options asked; /* window_ns 0: it is none */
	uint32_t meta, chunk;         /* numbers of its files */
	uint64_t chunk_bytes;
};
void gt_capture_writer_kept(const struct gt_capture_writer *w, struct gt_keep_position *out);
/* gt_capture_writer_reopen() of a flight recorder. @path: of its capture */
int gt_capture_writer_reopen_kept(const char *path, const uint8_t id[GT_CAPTURE_ID_BYTES],
				  uint64_t bytes, const struct gt_keep_position *position,
				  struct gt_capture_writer **out);

/* A capture of what is in the files of a recording that goes on. */
struct gt_snapshot;
/* After a good flush, behind which the counts of all processes stand. */
int gt_snapshot_create(const struct gt_capture_writer *w, const struct gt_kept *why,
		       struct gt_snapshot **out);
/* In any thread. @replace: it may exist. The file appears when it is whole.
 * Return: 0 or negative errno with a cause. */
int gt_snapshot_write(struct gt_snapshot *s, const char *path, bool replace, bool shared);
void gt_snapshot_destroy(struct gt_snapshot *s);

/* Flush, write the end mark (complete unless @complete is false), close. */
int gt_capture_writer_finish(struct gt_capture_writer *w, bool complete);
void gt_capture_writer_destroy(struct gt_capture_writer *w); /* without the end mark */
/* .. and without what it kept beside the capture. */
void gt_capture_writer_discard(struct gt_capture_writer *w);

/* Reading -------------------------------------------------------------------- */

struct gt_capture;

/* How the file ended. */
enum gt_capture_end {
	GT_CAPTURE_COMPLETE,
	GT_CAPTURE_INCOMPLETE /* says so itself */,
	GT_CAPTURE_CUT /* no end mark */
};

struct gt_capture_health {
	enum gt_capture_end end;
	uint64_t bytes, bad_bytes; /* skipped because a checksum or a length was wrong */
	uint64_t bad_blocks, unknown_blocks;
	uint64_t bad_sums; /* of a process or a block: its records are not what they say */
};

/* Is all of it there that was ever in it? Commands that read a capture exit with 1 when not,
 * after doing what they can. */
static inline bool gt_capture_is_whole(const struct gt_capture_health *health)
{
	return health->end != GT_CAPTURE_CUT && !health->bad_bytes && !health->bad_blocks &&
	       !health->bad_sums;
}

/**
 * gt_capture_open() - map a capture and read everything but the records
 * Return: 0, or negative errno with a cause: -EBADMSG not a capture, -ENOTSUP from a newer version,
 *         -EISDIR, -ENODATA empty, .. A capture that is cut or damaged inside opens: see health.
 * Owner: caller; gt_capture_close(). Thread: one at a time per object.
 */
int gt_capture_open(const char *path, struct gt_capture **out);
/* The same for several files as if they had been merged. Some hundred stay open, whatever the
 * number. */
int gt_capture_open_several(const char *const *paths, size_t count, struct gt_capture **out);
/* Would it open? Its header only is looked at. Return: 0, or the error with its cause. */
int gt_capture_probe(const char *path);
void gt_capture_close(struct gt_capture *c);

/* Read and check every stream payload too, which opening does not: then health and counts say
 * all that is damaged; else a damaged one is reported when a cursor meets it.
 * Return: 0, or negative errno: cannot read. */
int gt_capture_verify(struct gt_capture *c);

/* What files have of indexes, by which their blocks are found. */
struct gt_capture_index {
	size_t files;       /* that have one */
	size_t wrong_files; /* .. that is damaged or says what is not so: their heads were read */
	uint64_t bytes, blocks;
};
const struct gt_capture_index *gt_capture_index(const struct gt_capture *c);

/* Of all sessions together: how the worst one ended. */
const struct gt_capture_health *gt_capture_health(const struct gt_capture *c);
/* The first session, in whose CLOCK_BOOTTIME all times are. */
const struct gt_session_info *gt_capture_session(const struct gt_capture *c);
const struct gt_host_clock_map *gt_capture_host_clock(const struct gt_capture *c);

/* How a session's times came onto the first session's CLOCK_BOOTTIME. */
enum gt_alignment {
	GT_ALIGNED_BOOT,     /* same kernel, same boot: the same clock */
	GT_ALIGNED_REALTIME, /* by both sides' CLOCK_REALTIME, as good as those agree */
	GT_ALIGNED_SHARED,   /* by calls that processes of both made together, as barriers */
	GT_ALIGNED_NOT,      /* nothing is left that says how its clock ran */
};

/* One `gputap run`. Opened alone, a capture has one session; merged ones, and several files
 * opened as one, have more. */
struct gt_capture_session {
	struct gt_session_info info;     /* start_ns on the first session's clock */
	struct gt_capture_health health; /* of its own capture, before it was merged */
	struct gt_kept kept;
	struct gt_machine_load load;
	const char *path; /* of that, as it was named when it was opened or merged */
	uint8_t uuid[16]; /* of that; 0: damaged */
	enum gt_alignment alignment;
	int64_t shift_ns; /* what was added to its CLOCK_BOOTTIME */
	/* REALTIME: how far the wall clocks were moved while they were watched; SHARED: how far
	 * other clocks that the calls allow lie from this one */
	uint64_t uncertainty_ns;
	/* the same for sessions of one boot id or host name, from 0 */
	uint32_t machine;
	/* in it a pid is one process: sessions of one machine unless pids say otherwise; from 0 */
	uint32_t node;
	uint32_t first_process, process_count;
};
/* In order of their begin. At least one. */
size_t gt_capture_session_count(const struct gt_capture *c);
const struct gt_capture_session *gt_capture_session_at(const struct gt_capture *c, size_t index);
/* Sessions that were left out because another one has the same id: files named twice, or merged
 * already. */
size_t gt_capture_repeated_count(const struct gt_capture *c);
/* Host clock of a process' session, for ticks that come as they are (gt_thread_info). */
const struct gt_host_clock_map *gt_capture_process_clock(const struct gt_capture *c,
							 uint32_t process);
size_t gt_capture_process_count(const struct gt_capture *c);
const struct gt_process_info *gt_capture_process(const struct gt_capture *c, uint32_t index);
const struct gt_counts *gt_capture_counts(const struct gt_capture *c, uint32_t process);
size_t gt_capture_thread_count(const struct gt_capture *c);
const struct gt_thread_info *gt_capture_thread(const struct gt_capture *c, size_t index);
const struct gt_thread_info *gt_capture_thread_find(const struct gt_capture *c, uint32_t process,
						    uint32_t ordinal);

/* A text by id, terminated; "" when it is not there. Not NULL. It is what the program gave: any
 * bytes. */
const char *gt_capture_string(const struct gt_capture *c, uint32_t process, uint32_t id);

struct gt_object_info {
	uint32_t process;
	enum gt_object_type type;
	enum gt_domain domain;
	uint64_t number, handle, parent;
	const char *text; /* "key=value\0..", ended by an empty string */
	/* devices: the same device (uuid, else pci, else name and order) of a machine has the
	 * same index in all processes; queues: that of their device; from 0; UINT32_MAX: none */
	uint32_t device_index;
	uint32_t ordinal; /* queues: count within process and device, from 1 */
	/* code objects and kernel symbols: loaded from then, until then; 0: not known, or not
	 * unloaded */
	uint64_t begin_ns, end_ns;
};
size_t gt_capture_object_count(const struct gt_capture *c);
const struct gt_object_info *gt_capture_object(const struct gt_capture *c, size_t index);
const struct gt_object_info *gt_capture_object_find(const struct gt_capture *c, uint32_t process,
						    enum gt_object_type type, uint64_t number);
/* Value of a key in an object's text, or NULL. */
const char *gt_object_value(const struct gt_object_info *object, const char *key);
/* The name that the program gave it, else its own; NULL: neither. */
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
/* Of a program that could not be traced? The rest of GT_EVENT_NOT_TRACED is about those that
 * use no runtime, or are another session's. */
static inline bool gt_event_is_not_traced(const struct gt_event_info *e)
{
	return e->code == GT_EVENT_NOT_TRACED && e->domain == GT_DOMAIN_NONE && e->value;
}
/* Of a program whose calls may be missing, all or from the session's end on? */
static inline bool gt_event_is_untraced(const struct gt_event_info *e)
{
	return e->code == GT_EVENT_STILL_RUNS || gt_event_is_not_traced(e);
}

/* A part of a process's life in which it was recorded, or was not. */
struct gt_window_info {
	uint32_t process;
	bool recorded;
	enum gt_window_why why;     /* that it began */
	enum gt_window_why end_why; /* .. ended */
	uint64_t from_ns, to_ns;
	/* changes before its begin that came too fast to be written down */
	uint64_t missed;
};
/* "delay", "command", .. */
const char *gt_window_why_name(enum gt_window_why why);
/* Of one process, in their order, from its begin to its end without a hole. *count 0: it was never
 * paused, so recorded throughout. */
const struct gt_window_info *gt_capture_windows(const struct gt_capture *c, uint32_t process,
						size_t *count);
/* Of all processes, by process. */
size_t gt_capture_window_count(const struct gt_capture *c);
const struct gt_window_info *gt_capture_window_at(const struct gt_capture *c, size_t index);
/**
 * gt_capture_recorded() - how long processes that use a runtime lived, and were recorded in that
 * @session: of this one; NULL: of all
 * @recorded_ns, @total_ns: receive it; times in which several live count once
 * Return: true: any of them was paused.
 */
bool gt_capture_recorded(const struct gt_capture *c, const struct gt_capture_session *session,
			 uint64_t *recorded_ns, uint64_t *total_ns);

/* One record, decoded, times in BOOTTIME ns. Valid until the next gt_cursor_next(). */
struct gt_item {
	enum gt_record_kind kind; /* CALL, DEVICE or EXTERNAL */
	/* CALL: GT_OP(); DEVICE: GT_DEVICE_REF(); GT_OP_DOMAIN() of both; EXTERNAL: enum
	 * gt_external_stack */
	uint32_t op;
	uint32_t payload_bytes; /* of `payload` */
	union {
		uint8_t depth; /* CALL: calls of the thread that were open when it began */
		uint8_t push;  /* EXTERNAL: 1 push, 0 pop */
	};
	uint8_t context;  /* GT_CONTEXT_..: in a cut capture: it is there for others, uncounted */
	uint32_t process; /* index */
	/* thread that wrote it; for DEVICE see GT_ID_ORDINAL(id) for the caller */
	uint32_t ordinal;
	uint64_t id;     /* CALL: own; DEVICE: of its call */
	uint64_t parent; /* CALL: enclosing call, 0 none */
	/* CALL: top of the stacks at its begin; 0 none; EXTERNAL: tops after it */
	uint64_t external[GT_EXTERNAL_STACK_COUNT];
	uint64_t start_ns, end_ns;
	/* CALL; EXTERNAL: ret is the value pushed or popped */
	uint64_t ret;
	/* GT_OP_NARGS(op) of them, or NULL when recorded without, or there are none */
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
	/* number of the GT_OBJECT_GRAPH whose launch this is part of; 0: none */
	uint32_t graph;
	/* CALL, DEVICE of a domain that is `relayed`: number of the range that it was made in; 0:
	 * none */
	uint64_t within;
};

/* The call, of whatever thread, whose ranges the item is in: mostly its own or that of its work. */
static inline uint64_t gt_item_place(const struct gt_item *item)
{
	return item->within ? item->within : item->id;
}

/* Devices that a copy goes between, by numbers of their objects; NULL: `local` is a size. */
static inline const struct gt_endpoints *gt_item_endpoints(const struct gt_item *work)
{
	return gt_has_endpoints(work->device_op, &work->endpoints) ? &work->endpoints : NULL;
}

struct gt_cursor;

/* Records of the whole capture, thread after thread; the calls of a thread in order of their begin
 * (an enclosing call before the calls in it), its device work and external ids where they were
 * written. No order between threads. Several cursors may be open.
 * Memory is bounded, whatever the capture's size: of an outermost call with more than 2^18 calls
 * inside, the first ones come before it and without parent. */
int gt_cursor_create(const struct gt_capture *c, struct gt_cursor **out);
void gt_cursor_destroy(struct gt_cursor *cursor);
/* Return: 1 and *out, 0 at the end, negative errno with a cause. */
int gt_cursor_next(struct gt_cursor *cursor, const struct gt_item **out);
/* The same for those who go through millions: several at once, of one thread, in a row at *out.
 * Return: how many, else as above. */
int gt_cursor_next_several(struct gt_cursor *cursor, const struct gt_item **out);
/* From now on cursors leave out the calls and the work that @wants says no to. NULL: none. */
typedef bool gt_item_filter_fn(void *data, const struct gt_item *item);
void gt_capture_filter(struct gt_capture *c, gt_item_filter_fn *wants, void *data);
/* In captures that were cut out of others there are records that do not count, for those that do:
 * this cursor gives them, too; item->context tells. */
void gt_cursor_take_context(struct gt_cursor *cursor);
/* For one who needs what is around the records that the filter takes: this cursor gives all .. */
void gt_cursor_take_all(struct gt_cursor *cursor);
/* .. and this says whether the filter takes the item. Without a filter: true. */
bool gt_capture_wants(const struct gt_capture *c, const struct gt_item *item);
bool gt_capture_is_filtered(const struct gt_capture *c);
/* A time, both ends included. */
struct gt_slice_span {
	uint64_t from_ns, to_ns;
};

/* What cursors that are made from now on give: calls and device work that overlap a span, work
 * whose start is not known, all calls that begin or end ranges in pairs (push, pop, start, stop),
 * all external ids. Blocks that have none of it are not read. Parents of a call are those that
 * are given. */
struct gt_slice {
	const struct gt_slice_span *spans; /* in order, apart from each other */
	size_t count;
	bool read_all; /* the same, but all blocks are read: for tests */
	/* a flag for each process; NULL: all. Of the others nothing is given or read */
	const bool *processes;
};
/* NULL: everything. Return: 0 or -ENOMEM with a cause. */
int gt_capture_set_slice(struct gt_capture *c, const struct gt_slice *slice);
/* Flags of processes: those whose work runs on a device that a flagged one's does get one, too.
 * Return: 0 or -ENOMEM with a cause. */
int gt_capture_add_sharing(const struct gt_capture *c, bool *processes);
/* Devices of work (GT_DEVICE_REF()), in the order in which a cursor without a slice meets them. */
void gt_capture_each_device(const struct gt_capture *c,
			    void (*each)(void *data, uint32_t process, uint32_t ref), void *data);
/* Of a session's calls: when the last one ended. 0: there are none, or nobody says. */
uint64_t gt_capture_last_call_ns(const struct gt_capture *c, size_t session);
/* This cursor reads only blocks that have marks and ranges: other calls and work may be missing. */
void gt_cursor_take_marks(struct gt_cursor *cursor);
/* What is left of the thread whose items came last is not read. */
void gt_cursor_skip_thread(struct gt_cursor *cursor);
/* Bytes of stream blocks that were read so far. */
uint64_t gt_cursor_bytes_read(const struct gt_cursor *cursor);
/* Bytes of the file passed so far, for progress bars; of gt_capture_health.bytes. */
uint64_t gt_cursor_position(const struct gt_cursor *cursor);

/* Merging -------------------------------------------------------------------- */

struct gt_merge_options {
	void (*progress)(void *data, uint64_t done, uint64_t total); /* may be NULL */
	void *progress_data;
};

/**
 * gt_capture_merge() - put the sessions of several captures into one file, without decoding their
 * records
 * @path: must not exist; removed by the caller when this fails
 * @health: receives what the inputs' damage is; they are merged as far as they are valid
 * @repeated: receives how many sessions were left out because another copy of them is in: the one
 *            of which most can be read
 * Every process, thread, id and time stays what it is: blocks are copied, each with the number of
 * its session.
 * Return: 0 or negative errno with a cause.
 */
int gt_capture_merge(const char *const *paths, size_t count, const char *path,
		     const struct gt_merge_options *options, struct gt_capture_health *health,
		     size_t *repeated);

#endif
