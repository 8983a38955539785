/* SPDX-License-Identifier: MIT */
/* Load vendors' plug-ins and read their records: the host's side of PrivateUse1TracingApi.h. Used
 * by torch.profiler's bridge and `gputap run`, and usable in your own program.
 *
 *   gputap_plugins_load()         find and load plug-ins, once in a process
 *   gputap_plugins_stacks()       return the functions to call for each operator
 *   gputap_plugins_start()        start a session
 *   gputap_plugins_stop()         end the session
 *   gputap_plugins_read()         read the session's records, converted to one format and one clock
 *   gputap_plugins_count()        return the number of invalid records
 *   gputap_plugins_stream_open()  read one plug-in's records while the program runs, as `gputap
 *                                 run` does; independent of sessions
 *
 * Link with libgputap-plugin (pkg-config gputap-plugin), which needs only libc and does not need
 * `gputap run`.
 * Functions return 0 or a negative errno unless their comment says otherwise. Descriptions start
 * with their size, as in gputap.h. Only functions with "Signal: safe" may be called in a signal
 * handler.
 * gputap_plugins_load() prints a line on stderr for each plug-in that cannot be used, unless
 * gputap_plugins_opts.message is set. No other function prints anything, except as described at
 * GPUTAP_PLUGINS_GUARDED. */
#ifndef GPUTAP_PLUGIN_H
#define GPUTAP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include <gputap/PrivateUse1TracingApi.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPUTAP_API
#define GPUTAP_API __attribute__((visibility("default")))
#endif

/* Flags of gputap_plugins_load(). */
enum gputap_plugins_flags {
	GPUTAP_PLUGINS_NO_FOLDERS = 1, /* Do not search the standard folders */
	/* First register each plug-in in a separate process, and do not use the plug-in if that
	 * process dies or takes more than 5 s. Sessions call plug-ins in separate threads: after a
	 * call that took more than 10 s, the plug-in is no longer called, and
	 * gputap_plugins_error() returns the reason. If a signal kills the process in such a call,
	 * a line on stderr names the plug-in. */
	GPUTAP_PLUGINS_GUARDED = 2
};

/* Options of gputap_plugins_load(). */
struct gputap_plugins_opts {
	size_t size; /* sizeof(struct gputap_plugins_opts) */
	/* files or folders, separated by ':'; NULL: the value of KINETO_PLUGIN_PATH. After these,
	 * the library searches the standard folders: /usr/lib/kineto/plugins,
	 * /usr/local/lib/kineto/plugins, ~/.local/lib/kineto/plugins */
	const char *path;
	/* receives a sentence for each plug-in that cannot be used; NULL: print it to stderr */
	void (*message)(const char *sentence, void *user);
	void *user;                      /* passed to message() */
	enum gputap_plugins_flags flags; /* 0: none */
	uint32_t reserved;               /* must be 0 */
};

/**
 * gputap_plugins_load() - find plug-ins and load them
 * @opts: NULL: defaults
 * Return: number of loaded plug-ins; -EINVAL (size, flags). Only the first call in a process loads
 *         plug-ins; later calls return the current number.
 * A plug-in stays loaded until the process ends. Files and folders that other users can write to
 * are refused. In a program that gains privileges (set-user-ID and similar), KINETO_PLUGIN_PATH is
 * ignored.
 * Owner:  @opts stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_load(const struct gputap_plugins_opts *opts);

/* A plug-in. Texts stay valid until the process ends. */
struct gputap_plugin {
	size_t size;         /* sizeof(struct gputap_plugin) */
	const char *path;    /* path of the plug-in's file */
	const char *name;    /* name of the accelerator */
	const char *vendor;  /* vendor of the accelerator; "": not known */
	const char *version; /* version of the plug-in; "": not known */
	/* version of the header that the plug-in was built with: major << 16 | minor */
	uint32_t abi;
	uint32_t device_count; /* number of devices; 0: not known */
	uint64_t kinds;        /* kinds that the plug-in records, bit 1 << pu1ActivityKind */
	/* groups that the plug-in implements, bit 1 << enum gputap_plugin_group */
	uint64_t groups;
};

/* Optional groups of functions in a plug-in. */
enum gputap_plugin_group {
	GPUTAP_PLUGIN_USER = 0,
	GPUTAP_PLUGIN_DROPS,
	GPUTAP_PLUGIN_CLOCK,
	GPUTAP_PLUGIN_ROWS,
	GPUTAP_PLUGIN_ERRORS,
	GPUTAP_PLUGIN_CONFIG,
	GPUTAP_PLUGIN_WINDOW,
	GPUTAP_PLUGIN_COUNTERS,
	GPUTAP_PLUGIN_GRAPHS,
	GPUTAP_PLUGIN_SYNCHRONIZE,
	GPUTAP_PLUGIN_SUBMITS,
	GPUTAP_PLUGIN_GROUP_COUNT
};

/**
 * gputap_plugins_at() - describe a plug-in
 * @index:  from 0; lower than the result of gputap_plugins_load()
 * @plugin: set its size; the function fills in the rest
 * Return: 0, -EINVAL (size), -ENOENT (no such plug-in).
 * Owner:  @plugin stays the caller's; its texts are the library's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_at(uint32_t index, struct gputap_plugin *plugin);

/* A plug-in's device or stream, for a row of a timeline. */
struct gputap_plugin_row {
	size_t size;            /* sizeof(struct gputap_plugin_row) */
	int32_t device, stream; /* stream 0: the device itself */
	char name[128];         /* UTF-8, without control characters, quotes and backslashes */
	uint64_t memory_bytes;  /* device: size of its memory */
	uint64_t handle;        /* stream: handle that the program uses */
	uint32_t stream_count;  /* device: streams 1 to stream_count exist */
	int32_t priority;       /* stream: its priority */
};

/**
 * gputap_plugins_row() - describe a device or a stream
 * @index:  index of the plug-in
 * @device: from 0
 * @stream: from 1; 0: the device itself
 * @row:    set its size; the function fills in the rest
 * Return: 0, -EINVAL (size), -ENOENT (no such plug-in, device or stream, or the plug-in provides no
 *         description).
 * Owner:  @row stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_row(uint32_t index, int32_t device, int32_t stream,
				  struct gputap_plugin_row *row);

/* A plug-in's functions for operators. Call them for each operator, in the operator's thread. No
 * pointer is NULL: a function that the plug-in lacks has no effect. */
struct gputap_plugin_stacks {
	int (*push)(uint64_t id);      /* call when an operator starts */
	int (*pop)(void);              /* call when an operator ends */
	int (*push_user)(uint64_t id); /* call when a user range starts */
	int (*pop_user)(void);         /* call when a user range ends */
};

/**
 * gputap_plugins_stacks() - return the functions to call for each operator
 * Return: array with an element for each loaded plug-in, in plug-in order; NULL: no plug-in is
 *         loaded.
 * Owner:  the library; the array stays valid until the process ends.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API const struct gputap_plugin_stacks *gputap_plugins_stacks(void);

/* Sessions -------------------------------------------------------------------- */

/* Options of gputap_plugins_start(). */
struct gputap_plugins_session {
	size_t size; /* sizeof(struct gputap_plugins_session) */
	/* kinds to record, bit 1 << pu1ActivityKind; 0: all kinds of each plug-in */
	uint64_t kinds;
	const char *config; /* the user's options for the plug-ins; NULL: none */
	/* largest total size of all buffers; records that exceed it are dropped; 0: 4 GiB */
	uint64_t memory_bytes;
	uint32_t buffer_bytes; /* size of a buffer, 4 KiB to 1 GiB; 0: 1 MiB */
	uint32_t reserved;     /* must be 0 */
	/* receives the pages of a buffer that gputap_plugins_read() has read. The caller may store
	 * its copies of the records in these pages, because new pages are expensive, and must
	 * munmap() them. NULL: the library unmaps the pages */
	void (*take_pages)(void *pages, size_t bytes, void *user);
	void *user; /* passed to take_pages() */
};

/**
 * gputap_plugins_start() - start a session
 * @session: NULL: defaults
 * Return: number of plug-ins that record; -EINVAL (size, buffer_bytes), -EBUSY (a session is open).
 * Unread records of the previous session are discarded. A plug-in that refuses to start is skipped;
 * gputap_plugins_count() and gputap_plugins_error() report it.
 * Owner:  @session stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_start(const struct gputap_plugins_session *session);

/**
 * gputap_plugins_stop() - end the session, so that its records can be read
 * Return: 0, -EINVAL (no session is open).
 * Waits at most 2 s for the devices of each plug-in that has the group pu1.synchronize. For other
 * plug-ins, synchronize the device first. A record that arrives later belongs to this session until
 * gputap_plugins_read() has returned 0. After that, the next session counts the record as
 * GPUTAP_PLUGIN_LATE.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stop(void);

/**
 * gputap_plugins_session_active() - return whether a session is open
 * A record contains only one id from each stack. Other code that pushes ids must therefore not use
 * the stacks while a session is open.
 * Return: 1: a session is open; 0: no session is open.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_session_active(void);

/* A completed activity, call or sample: a pu1ActivityRecord, checked and converted to one
 * format. */
struct gputap_plugin_record {
	uint32_t plugin;        /* index of the plug-in */
	pu1ActivityKind kind;   /* kernel, memcpy, call and others */
	uint64_t start, end;    /* CLOCK_REALTIME ns; end is not before start */
	uint64_t correlation;   /* correlation of the call, unique within a plug-in; 0: none */
	uint64_t external;      /* id of the operator, as pushed to the stack; 0: none */
	uint64_t user_range;    /* id of the user range, as pushed to the stack; 0: none */
	int32_t device, stream; /* device from 0, stream from 1. Calls: -1 and 0 */
	/* UTF-8 without control characters, quotes and backslashes; never NULL. Stays valid until
	 * the process ends */
	const char *name;
	const char *metadata; /* "key=value" lines, UTF-8; "": none. Valid until the next start */
	uint64_t bytes;       /* memcpy and memset: size */
	uint32_t grid[3];     /* kernels: groups */
	uint32_t block[3];    /* kernels: work-items in a group */
	uint32_t thread_id;   /* calls: id of the calling thread */
	pu1CopyDirection copy_direction; /* memcpy: direction */
	uint64_t graph;                  /* id of the graph; 0: none */
	uint32_t replay, node; /* number of the graph launch, from 1; number of the node, from 0 */
	uint32_t counter;      /* counters: id of the counter; `name` is its name */
	uint32_t status;       /* 0: success; otherwise the runtime's error */
	double value;          /* counters: value of the sample */
};

/**
 * gputap_plugins_read() - read the next records of the stopped session
 * @records: receives up to @count records
 * Return: number of records; 0: no more records; -EBUSY (the session is still open).
 * Invalid records are omitted and counted; gputap_plugins_count() returns their numbers. Records of
 * one buffer keep the order in which the plug-in wrote them.
 * Owner:  @records stay the caller's; their texts are the library's.
 * Thread: one at a time.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API long gputap_plugins_read(struct gputap_plugin_record *records, size_t count);

/**
 * gputap_plugins_error() - return the first failure of a plug-in in the session
 * @index: index of the plug-in
 * Return: sentence that names the failed function, its result, and the plug-in's error text (from
 *         the group pu1.errors); NULL: no failure, or no such plug-in. Valid until the next start.
 * Owner:  the library.
 * Thread: one at a time, not while a session starts or stops.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_plugins_error(uint32_t index);

/* Counts since the start of a session. gputap_plugins_count_name() returns their names. */
enum gputap_plugin_count {
	GPUTAP_PLUGIN_RECORDS = 0, /* records that were read */
	GPUTAP_PLUGIN_DROPPED,     /* records that the plug-in reports as dropped */
	GPUTAP_PLUGIN_NO_BUFFER,   /* requests for buffers beyond memory_bytes */
	GPUTAP_PLUGIN_REFUSED,     /* kinds that could not be enabled, and other failed calls */
	/* Omitted records, up to GPUTAP_PLUGIN_BAD_COUNTER */
	/* shorter than the smallest record, or extends beyond the end of the buffer */
	GPUTAP_PLUGIN_BAD_SIZE,
	GPUTAP_PLUGIN_BAD_PLACE, /* outside of the buffer, misaligned, or overlapping */
	GPUTAP_PLUGIN_BAD_KIND,  /* unknown, or not enabled */
	/* start is 0, end is before start, or a time is more than 1 s in the future or before the
	 * plug-in was loaded */
	GPUTAP_PLUGIN_BAD_TIME,
	GPUTAP_PLUGIN_BAD_DEVICE,  /* unknown device */
	GPUTAP_PLUGIN_BAD_STREAM,  /* unknown stream */
	GPUTAP_PLUGIN_BAD_COUNTER, /* unknown counter, or a non-finite value */
	/* Retained records, up to GPUTAP_PLUGIN_NO_CORRELATION */
	GPUTAP_PLUGIN_NO_NAME, /* the name was NULL or empty; replaced by "unnamed" */
	/* the name was not UTF-8, or contained characters that break JSON; they were replaced */
	GPUTAP_PLUGIN_BAD_NAME,
	GPUTAP_PLUGIN_BAD_GRAPH,      /* unknown graph or node; replaced by 0 */
	GPUTAP_PLUGIN_NO_CORRELATION, /* GPU activity without a correlation */
	/* Buffers */
	GPUTAP_PLUGIN_OVERRUN, /* buffers with writes beyond their end; discarded */
	/* buffers completed twice, never requested, or returned with another size */
	GPUTAP_PLUGIN_BAD_BUFFER,
	GPUTAP_PLUGIN_KEPT_BUFFER, /* buffers that the plug-in did not return after pu1FlushAll() */
	GPUTAP_PLUGIN_BAD_WALK,    /* pu1GetNextRecord() failed, or returned an earlier record */
	/* records of an earlier session that arrived after the session had been read; omitted */
	GPUTAP_PLUGIN_LATE,
	GPUTAP_PLUGIN_BAD_BYTES, /* size of more than 2^48; replaced by 0 */
	GPUTAP_PLUGIN_COUNT_COUNT
};

/**
 * gputap_plugins_count() - return one of the session's counts
 * @index: index of the plug-in; UINT32_MAX: sum over all plug-ins
 * Return: the count; 0 if @index or @what does not exist.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_plugins_count(uint32_t index, enum gputap_plugin_count what);

/**
 * gputap_plugins_count_name() - return the name of a count, for example "buffer overrun"
 * Return: text; NULL: no such count.
 * Owner:  the library; the text stays valid.
 * Thread: any.   Signal: safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_plugins_count_name(enum gputap_plugin_count what);

/* Streams --------------------------------------------------------------------- */

/**
 * gputap_plugins_stream_open() - load a plug-in and start recording
 * @path:  path of the plug-in's file
 * @kinds: kinds to record, bit 1 << pu1ActivityKind; 0: all kinds of the plug-in
 * @why:   receives a sentence on failure
 * @size:  size of @why
 * Return: the plug-in's index, for the functions below; -EINVAL (arguments), -ENOENT (no such
 *         file), -ENOEXEC (see @why), -EBUSY (another thread is loading the plug-in), -EALREADY
 *         (the plug-in already has a stream).
 * This function and all functions below hold no lock while they call the plug-in. If the plug-in
 * might not return, call them in a thread that the program can afford to lose. In the child of a
 * fork, the stream is closed.
 * Owner:  @why stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_open(const char *path, uint64_t kinds, char *why, size_t size);

/**
 * gputap_plugins_stream_flush() - make completed activities readable
 * Return: 0, -ENOENT (no stream), -EIO (pu1FlushAll() failed).
 * Owner:  nothing is kept.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_flush(uint32_t index);

/**
 * gputap_plugins_stream_read() - read the next record
 * @record: receives the record. Times of GPU activities are times of the plug-in's clock, as read
 *          with gputap_plugins_stream_clock(). Times of calls are CLOCK_REALTIME ns. Texts are
 *          valid until the next call of this function
 * Return: 1: a record was read; 0: no record is available now; -ENOENT (no stream).
 * Owner:  @record stays the caller's.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API long gputap_plugins_stream_read(uint32_t index, struct gputap_plugin_record *record);

/**
 * gputap_plugins_stream_end() - count the buffers that the plug-in did not return
 * Call it after gputap_plugins_stream_close() and the last flush. Each buffer that the plug-in
 * still holds counts as GPUTAP_PLUGIN_KEPT_BUFFER.
 * Return: 0, -ENOENT (no stream).
 * Owner:  nothing is kept.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_end(uint32_t index);

/**
 * gputap_plugins_stream_close() - stop recording
 * Completed activities can still be flushed and read.
 * Return: 0, -ENOENT (no stream).
 * Owner:  nothing is kept.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_close(uint32_t index);

/**
 * gputap_plugins_stream_clock() - read the clock of a device's activities
 * @device: from 0
 * @time:   receives the time: in ns for a clock of the host, in ticks for the device's clock
 * Return: 0, -ENOENT (no stream), -ENODATA (the clock cannot be read).
 * Owner:  @time stays the caller's.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_clock(uint32_t index, int32_t device, uint64_t *time);

/**
 * gputap_plugins_stream_rate() - return the rate of a device's clock in ticks per second
 * @device: from 0
 * Return: the rate that the plug-in declares; 1,000,000,000 for clocks of the host; 0: not known.
 * Owner:  nothing is kept.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_plugins_stream_rate(uint32_t index, int32_t device);

/**
 * gputap_plugins_stream_submits() - request a call for each submission
 * @submitted: called in the submitting thread with @user and the values that the plug-in's group
 *             pu1.submits reports; NULL: stop the calls
 * @user:      passed to @submitted
 * Return: 0, -ENOENT (no stream), -ENOTSUP (the plug-in lacks the group, or refused).
 * Owner:  @user stays the caller's.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_submits(uint32_t index,
					     void (*submitted)(void *user, uint64_t correlation,
							       pu1ActivityKind kind,
							       uint32_t items),
					     void *user);

/**
 * gputap_plugins_stream_count() - return a count since the stream was opened
 * Return: the count; 0 if the plug-in or @what does not exist.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_plugins_stream_count(uint32_t index, enum gputap_plugin_count what);

/**
 * gputap_plugins_stream_dropped() - return the number of records that the plug-in dropped
 * Return: the count since registration; 0 also if the plug-in does not report drops.
 * Owner:  nothing is kept.
 * Thread: any.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_plugins_stream_dropped(uint32_t index, pu1ActivityKind kind);

/**
 * gputap_plugins_stream_error() - return the stream's first failure
 * Return: sentence in the form of gputap_plugins_error(); NULL: no failure. The text stays valid.
 * Owner:  the library.
 * Thread: one at a time for each plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API const char *gputap_plugins_stream_error(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
