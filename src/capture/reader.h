/* SPDX-License-Identifier: MIT */
/* Internals of an open capture, which reader.c, objects.c, deviceclocks.c and cursor.c share. */
#ifndef GPUTAP_CAPTURE_READER_H
#define GPUTAP_CAPTURE_READER_H

#include "capture/capture.h"
#include "capture/decode.h"
#include "capture/format.h"
#include "capture/scan.h"
#include "capture/callstacks.h"
#include "capture/frame_names.h"
#include "clock/line.h"

/* Kinds of damage of a stream block, each reported once. */
enum { GT_DAMAGE_BLOCK = 1, GT_DAMAGE_SUMS = 2 };

/* A stream block without its payload. */
struct stream_block {
	uint64_t at; /* position of the block in the file */
	/* position of the head: in the file, or of the head's copy in the index */
	uint64_t head_at;
	uint64_t first_ticks, last_ticks;
	uint64_t base_ticks, base_id;
	uint32_t process, ordinal;
	uint32_t stored_bytes, raw_bytes, payload_crc, head_crc;
	uint16_t head_bytes;
	uint8_t flags, device_count;
	uint8_t reported; /* kinds of damage that were reported; under the lock of block.c */
	bool unbounded;   /* true if the block has no bounds, as in version 1.0 */
	uint32_t marks;   /* as in gt_file_bounds */
	/* index of the block's first entry in gt_capture.activity_times; device_count: number of
	 * entries */
	uint32_t first_device;
};

struct ring_stream {
	uint32_t process, ordinal;
	size_t first, count; /* blocks, in file order */
};

struct text_chunk {
	struct text_chunk *next;
	size_t used, room;
	char data[];
};

struct string_entry {
	uint32_t process, id;
	const char *text;
};

struct clock_reading {
	uint32_t process, device;
	uint64_t device_stamp, host_before, host_after;
};

/* Time at which an object is loaded or unloaded. */
struct lifetime {
	uint64_t ticks, number;
	uint32_t process;
	enum gt_object_type type;
	bool begins;
};

/* A start or end of recording in a process. */
struct window_change {
	uint64_t ticks, missed;
	uint32_t process;
	uint8_t why; /* enum gt_window_why */
	bool recorded;
};

struct open_call {
	uint32_t process;
	struct gt_record_open record;
};

struct device_clock {
	uint32_t process, device;
	struct gt_device_clock *clock;
};

/* The counts block of a process, and the sums of its readable stream blocks. */
struct process_sums {
	struct gt_counts counts;
	uint64_t present[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

/* The newest summary of a file: summary_block.h. */
struct file_summary {
	uint8_t *content;              /* NULL: the file has no summary */
	size_t bytes, used;            /* size of the content, and of the parts that were read */
	uint32_t version, next, parts; /* next: number of the next part */
	uint64_t heads;                /* as the summary describes them */
	bool wrong;                    /* true if the summary contradicts itself or the blocks */
};

struct capture_file {
	int fd; /* -1: the file is opened again for each block, see gt_capture_file_read() */
	uint64_t device, inode;
	uint64_t bytes;   /* size when the file was read */
	uint64_t heads;   /* checksum of the heads that were read: gt_heads_add() */
	uint8_t uuid[16]; /* id of the file */
	struct file_summary summary;
	char *path;
	bool has_end, whole; /* whole: true if all headers of the file were good */
	enum gt_capture_end end;
};

/* Indexes of a process in its original capture, and in this one. */
struct session_process {
	uint32_t index, process;
};

/* A session during and after reading. */
struct session {
	struct gt_capture_session public;
	uint32_t file, section;
	bool has_info;
	struct gt_clock_tuple *tuples;
	struct gt_host_clock_map *host;
	struct session_process *processes; /* sorted by index */
	/* number of the clock, from 0; sessions that share a clock have the same number */
	uint32_t boot;
	/* offset computed from the difference of the wall clocks; added to the session's times */
	int64_t wall_shift_ns;
	const struct gt_clock_lines *moved; /* correction applied after wall_shift_ns; NULL: none */
	size_t tuple_count, tuple_room, process_count, process_room;
};

struct gt_capture {
	struct capture_file *files;
	const struct gt_copies *copies; /* valid while files are read */
	struct session **sessions;      /* sorted by start, once open */
	struct gt_capture_health health;
	struct gt_capture_index index;
	struct gt_process_info *processes;
	struct process_sums **sums; /* one entry per process; NULL: no counts */
	struct gt_thread_info *threads;
	struct gt_event_info *events;
	struct gt_object_info *objects; /* sorted by process, type, number */
	struct string_entry *strings;   /* sorted by process, id */
	size_t *string_first;           /* one entry per process, and one extra */
	struct clock_reading *readings;
	struct lifetime *lifetimes;
	struct open_call *open_records;       /* in file order */
	struct gt_open_call_info *open_calls; /* sorted by process, thread, id */
	struct window_change *changes;        /* sorted by process, time */
	struct gt_window_info *windows;       /* sorted by process, time */
	/* one entry per process, and one extra; NULL: no windows */
	size_t *window_first;
	struct device_clock *clocks;           /* sorted by process, device */
	const struct gt_object_info **devices; /* index: device_index */
	struct stream_block *blocks;  /* sorted by process, ordinal, position in the file */
	struct ring_stream *streams;  /* sorted by process, ordinal */
	struct gt_stack_info *stacks; /* sorted by process, number */
	struct gt_code_info *code;    /* sorted by process, type, number, generation */
	struct gt_names_info *names;  /* sorted by process, generation, address */
	uint64_t stream_bytes;
	struct text_chunk *texts;
	struct gt_clock_lines *moved; /* indexed by session.boot; empty: no correction */
	size_t moved_count;
	size_t file_count, session_count, repeated_count, process_count, thread_count, event_count,
		object_count, string_count, reading_count, clock_count, device_count, block_count,
		stream_count, lifetime_count, stack_count, code_count, name_count, change_count,
		window_count, open_record_count, open_call_count;
	size_t file_room, session_room, process_room, thread_room, event_room, object_room,
		string_room, reading_room, clock_room, device_room, block_room, stream_room,
		lifetime_room, stack_room, code_room, name_room, change_room, window_room,
		open_record_room;
	size_t sums_room;
	struct gt_file_device *activity_times; /* device times of all blocks */
	size_t activity_time_count, activity_time_room;
	struct scope *scope;      /* scope.h; NULL: no restriction */
	gt_item_filter_fn *wants; /* NULL: all */
	bool is_cut; /* true if a session is cut, so that some rows are present only as context */
	void *wants_data;
};

/* lists.c. Make room for one more item; new room is zeroed. Return 0 or -ENOMEM with a cause. */
int gt_list_grow(void **list, size_t *room, size_t count, size_t item_bytes);
#define GT_LIST_ADD(c, list, count, room) \
	gt_list_grow((void **)&(c)->list, &(c)->room, (c)->count, sizeof *(c)->list)

/* sort.c. Return 0 or -ENOMEM with a cause. */
int gt_sort_stable(void *list, size_t count, size_t bytes,
		   int (*compare)(const void *, const void *));

/* Copy a text that lives as long as the capture, and append two NULs. Return NULL if out of
 * memory. */
const char *gt_text_keep(struct gt_capture *c, const void *text, size_t bytes);

/* summary_block.c: note a block of the file, before the block is read. */
void gt_summary_note_block(struct capture_file *file, const struct gt_scan_block *block);
/* Read a part of a summary. Return 0 or -ENOMEM with a cause. A wrong part makes the summary
 * wrong, but is not damage. */
int gt_summary_read(struct capture_file *file, uint64_t at, const uint8_t *payload, size_t bytes);

/* read_records.c: read the payload of a RECORDS block. Return 0, -ENOMEM with a cause, or -EBADMSG
 * if a part was invalid. */
int gt_records_read(struct gt_capture *c, uint32_t process, const uint8_t *p, size_t bytes);
/* Read all blocks of the last file in `files`. */
int gt_capture_scan(struct gt_capture *c);
/* Convert all sessions to one clock, and sort them and their processes by start. */
int gt_sessions_finish(struct gt_capture *c);
static inline struct session *gt_session_of(const struct gt_capture *c, uint32_t process)
{
	return c->sessions[c->processes[process].session];
}
/* Convert BOOTTIME of the session's host to the first session's clock. */
uint64_t gt_session_place_ns(const struct session *s, uint64_t ns);
int gt_objects_finish(struct gt_capture *c);
/* callstacks.c: sort the lists and set their cross-references. */
int gt_stacks_finish(struct gt_capture *c);
void gt_stacks_close(struct gt_capture *c);
/* frame_names.c: sort the names. */
int gt_names_finish(struct gt_capture *c);
/* Build the windows of all processes. Call after the clocks are known. */
int gt_windows_finish(struct gt_capture *c);
/* open_calls.c: make the list of open calls. Call after the clocks and the strings are known. */
int gt_open_calls_finish(struct gt_capture *c);
int gt_open_call_read(struct gt_capture *c, uint32_t process, const struct gt_record_open *r);
int gt_device_clocks_finish(struct gt_capture *c);
/* Compute bounds for the device clocks that have no better source, from all GPU activities and all
 * waits. Return 0 or negative errno. */
int gt_device_clocks_bound(struct gt_capture *c);
/* contents.c: sort orders of the lists, see struct gt_capture. */
int gt_compare_threads(const void *a, const void *b);
int gt_compare_strings(const void *a, const void *b);
int gt_compare_objects(const void *a, const void *b);
int gt_compare_device_clocks(const void *a, const void *b);
/* Return the clock of the device, else the clock of device 0, else NULL: the process has no GPU
 * activities. */
struct gt_device_clock *gt_device_clock_find(const struct gt_capture *c, uint32_t process,
					     uint32_t device);

/* Reads payloads of stream blocks, checked and decompressed. */
struct block_reader {
	/* stored: the block as it is in the file, with its head; raw: rows of a compressed block */
	uint8_t *stored, *raw;
	size_t stored_room, raw_room;
	void *zstd;
};
void gt_block_reader_fini(struct block_reader *r);
/* Return 0 and *payload, followed by GT_DECODE_SLACK zeros; -EBADMSG if the block is damaged
 * (counted in health and counts); another negative errno with a cause. The result is the same each
 * time. Thread: any, with a reader of its own. */
int gt_block_read(struct block_reader *r, const struct gt_capture *c, struct stream_block *b,
		  const uint8_t **payload);
/* Compare the number of decoded rows with the block's head. Call after decoding all rows of the
 * last block. Thread: any. */
void gt_block_check_counts(const struct block_reader *r, const struct gt_capture *c,
			   struct stream_block *b, const struct gt_decoder *d);
/* Like gt_scan_read(), but opens the file if it is closed. -ESTALE: the path now names another
 * file. */
int gt_capture_file_read(const struct capture_file *file, void *to, size_t bytes, uint64_t at);
/* Count the block as damaged, once. Thread: any. */
void gt_block_bad(const struct gt_capture *c, struct stream_block *b);

static inline struct gt_file_stream gt_block_base(const struct stream_block *b)
{
	return (struct gt_file_stream){.base_ticks = b->base_ticks, .base_id = b->base_id};
}

#endif
