/* SPDX-License-Identifier: MIT */
/* Read what accelerators' plug-ins record: the host's side of PrivateUse1TracingApi.h, for
 * torch.profiler's bridge and for whoever else wants the records.
 *
 *   gputap_plugins_load()    finds and loads them, once a process
 *   gputap_plugins_stacks()  functions to call for each operator
 *   gputap_plugins_start()   a session begins        gputap_plugins_stop()  it ends
 *   gputap_plugins_read()    its records, all of one form, on one clock
 *   gputap_plugins_count()   what was wrong with the others
 *
 *   gputap_plugins_stream_open() ..   one plug-in's records while the program goes on, as
 *                                     `gputap run` takes them; beside sessions
 *
 * Link with libgputap-plugin (pkg-config gputap-plugin); it needs libc alone, and nothing of
 * `gputap run`. Functions return 0 or a negative errno. Descriptions begin with their size, as in
 * gputap.h. No function prints, but for a line on stderr for each plug-in that cannot be used
 * (gputap_plugins_opts.message takes it instead). */
#ifndef GPUTAP_PLUGIN_H
#define GPUTAP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPUTAP_API
#define GPUTAP_API __attribute__((visibility("default")))
#endif

/* What gputap_plugins_load() is to load. */
struct gputap_plugins_opts {
	size_t size; /* of this struct, as its writer knows it */
	/* files or folders, separated by ':'; NULL: KINETO_PLUGIN_PATH. Behind them the standard
	 * folders are looked into: /usr/lib/kineto/plugins, /usr/local/lib/kineto/plugins,
	 * ~/.local/lib/kineto/plugins */
	const char *path;
	/* one sentence for each plug-in that cannot be used; NULL: stderr */
	void (*message)(const char *sentence, void *user);
	void *user;        /* handed to message() */
	uint32_t flags;    /* GPUTAP_PLUGINS_* */
	uint32_t reserved; /* 0 */
};

enum {
	GPUTAP_PLUGINS_NO_FOLDERS = 1, /* do not look into the standard folders */
	/* A plug-in is first registered in a process made for it, and not used if that process
	 * dies or takes more than 5 s. Sessions call plug-ins in separate threads: after a call of
	 * more than 10 s a plug-in is not called any more, and gputap_plugins_error() has the
	 * reason. If a signal kills the process in such a call, a line on stderr names it. */
	GPUTAP_PLUGINS_GUARDED = 2,
};

/**
 * gputap_plugins_load() - find plug-ins and load them
 * @opts: NULL: defaults
 * Return: how many there are now; -EINVAL (size, flags). Once a process: later calls return what
 * the first one did. A plug-in stays loaded for as long as the process runs. Files and folders that
 * others may write are refused; so is KINETO_PLUGIN_PATH in a program that gains privileges.
 * Owner:  @opts stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: torch RFC 177978, PrivateUse1PluginLoader.
 */
GPUTAP_API int gputap_plugins_load(const struct gputap_plugins_opts *opts);

/* A plug-in. Texts stay. */
struct gputap_plugin {
	size_t size;           /* of this struct, as its writer knows it */
	const char *path;      /* of its file */
	const char *name;      /* of the accelerator */
	const char *vendor;    /* "": unknown */
	const char *version;   /* "": unknown */
	uint32_t abi;          /* of the header that it was built with: major << 16 | minor */
	uint32_t device_count; /* 0: it does not tell */
	uint64_t kinds;        /* bit 1 << pu1ActivityKind */
	uint64_t groups;       /* bit 1 << enum gputap_plugin_group */
};

/* Which optional groups it has. */
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
 * gputap_plugins_at() - describe one
 * @index:  from 0; lower than what gputap_plugins_load() returned
 * @plugin: with its size set; filled in
 * Return: 0, -EINVAL (size), -ENOENT.
 * Owner:  @plugin is the caller's; texts in it stay the library's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API int gputap_plugins_at(uint32_t index, struct gputap_plugin *plugin);

/* A plug-in's device or stream, for a row of a picture. Texts stay. */
struct gputap_plugin_row {
	size_t size;            /* of this struct, as its writer knows it */
	int32_t device, stream; /* stream 0: the device itself */
	char name[128];         /* UTF-8, without control characters, quotes and backslashes */
	uint64_t memory_bytes, handle; /* of a device; of a stream: as the program has it */
	uint32_t stream_count;         /* of a device: streams 1 to stream_count */
	int32_t priority;              /* of a stream */
};

/**
 * gputap_plugins_row() - the name of a device or a stream
 * @device: from 0
 * @stream: from 1; 0: the device itself
 * Return: 0, -EINVAL (size), -ENOENT (no such plug-in, device or stream, or it does not tell).
 * Owner:  @row is the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: Kineto's DeviceInfo and ResourceInfo.
 */
GPUTAP_API int gputap_plugins_row(uint32_t index, int32_t device, int32_t stream,
				  struct gputap_plugin_row *row);

/* A plug-in's functions for each operator: call them directly, in the operator's thread. Never
 * NULL; what a plug-in lacks does nothing. */
struct gputap_plugin_stacks {
	int (*push)(uint64_t id);      /* an operator begins */
	int (*pop)(void);              /* it ends */
	int (*push_user)(uint64_t id); /* a range of the user's begins */
	int (*pop_user)(void);         /* it ends */
};

/**
 * gputap_plugins_stacks() - those of all plug-ins
 * Return: as many as plug-ins are loaded, in their order; they stay. NULL: none is loaded.
 * Owner:  the library; the array and its functions stay.
 * Thread: any.   Signal: safe after gputap_plugins_load().   Since: 0.1
 * Source: Kineto's IActivityProfilerSession, pushCorrelationId().
 */
GPUTAP_API const struct gputap_plugin_stacks *gputap_plugins_stacks(void);

/* Sessions -------------------------------------------------------------------- */

/* What gputap_plugins_start() is to record. */
struct gputap_plugins_session {
	size_t size;        /* of this struct, as its writer knows it */
	uint64_t kinds;     /* bit 1 << pu1ActivityKind; 0: all that each plug-in has */
	const char *config; /* the user's words to the plug-ins; NULL: none */
	uint64_t
		memory_bytes; /* that buffers may take in all, then records are dropped; 0: 4 GiB */
	uint32_t buffer_bytes; /* of one; 0: 1 MiB */
	uint32_t reserved;     /* 0 */
	/* a buffer has been read: its pages are the caller's from now on, who has to munmap() them.
	 * For what the caller makes of the records: new pages cost more than all else. It is called
	 * by gputap_plugins_read(). NULL: they are unmapped */
	void (*take_pages)(void *pages, size_t bytes, void *user);
	void *user; /* handed to take_pages() */
};

/**
 * gputap_plugins_start() - record from now on
 * @session: NULL: defaults
 * Return: how many plug-ins record; -EINVAL (size), -EBUSY (a session is open), -ENOMEM. What is
 * left of the last session is given up. A plug-in that refuses is left out; gputap_plugins_count()
 * tells.
 * Owner:  @session stays the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: Kineto's IActivityProfilerSession, start().
 */
GPUTAP_API int gputap_plugins_start(const struct gputap_plugins_session *session);

/**
 * gputap_plugins_stop() - record no longer; what has completed is there to be read
 * Return: 0, -EINVAL (no session is open). It waits 2 s at most for the devices of plug-ins that
 * have the group pu1.synchronize. For the others synchronize first: what completes later is read
 * with this session's records if it comes before gputap_plugins_read() has returned 0; else the
 * next session counts it as GPUTAP_PLUGIN_LATE.
 * Owner:  nothing passes.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: Kineto's IActivityProfilerSession, stop().
 */
GPUTAP_API int gputap_plugins_stop(void);

/**
 * gputap_plugins_sessions() - is a session open?
 * For who pushes ids beside it: a record has but one id of each stack.
 * Return: 1; 0: none is.
 * Owner:  nothing passes.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API uint32_t gputap_plugins_sessions(void);

/* One completed thing: what pu1ActivityRecord says, checked and in one form. */
struct gputap_plugin_record {
	uint32_t plugin;        /* index of its plug-in */
	uint32_t kind;          /* pu1ActivityKind */
	uint64_t start, end;    /* CLOCK_REALTIME ns; end is not before start */
	uint64_t correlation;   /* 0: none. Unique within a plug-in */
	uint64_t external;      /* pushed operator id; 0: none */
	uint64_t user_range;    /* pushed user id; 0: none */
	int32_t device, stream; /* stream from 1. Calls: -1 and 0 */
	/* UTF-8 without control characters, quotes and backslashes; never NULL, stays */
	const char *name;
	const char *metadata;    /* "key=value" lines, UTF-8; "": none. Until the next start */
	uint64_t bytes;          /* copies and fills */
	uint32_t grid[3];        /* kernels: groups */
	uint32_t block[3];       /* kernels: work-items of a group */
	uint32_t thread_id;      /* calls */
	uint32_t copy_direction; /* pu1CopyDirection */
	uint64_t graph;          /* of its launch; 0: none */
	uint32_t replay, node;   /* which launch of the graph, from 1; which node, from 0 */
	uint32_t counter;        /* of it, name is the counter's */
	uint32_t status;         /* 0: it succeeded; else the runtime's number */
	double value;            /* of the counter */
};

/**
 * gputap_plugins_read() - the next records of the session that was stopped
 * @records: room for @count of them
 * Return: how many were written; 0: there are no more; -EBUSY (the session is still open). Records
 * that make no sense are counted and left out: gputap_plugins_count(). Those of one plug-in's
 * buffer come in the order in which it wrote them.
 * Owner:  @records are the caller's; texts in them stay as said above.
 * Thread: one at a time.   Signal: not safe.   Since: 0.1
 * Source: Kineto's IActivityProfilerSession, processTrace().
 */
GPUTAP_API long gputap_plugins_read(struct gputap_plugin_record *records, size_t count);

/**
 * gputap_plugins_error() - the first failure of a plug-in in the session
 * @index: of the plug-in
 * Return: a sentence: which of its functions failed, with what result, and what the plug-in itself
 * says of it (the group pu1.errors); NULL: none failed, or there is no such plug-in. The text stays
 * until the next start.
 * Owner:  the library.
 * Thread: one at a time, not while a session starts or stops.   Signal: not safe.   Since: 0.1
 * Source: cuptiGetErrorMessage().
 */
GPUTAP_API const char *gputap_plugins_error(uint32_t index);

/* What is counted, since a session began. Each has a name. */
enum gputap_plugin_count {
	GPUTAP_PLUGIN_RECORDS = 0, /* records that were read */
	GPUTAP_PLUGIN_DROPPED,     /* that the plug-in says it dropped */
	GPUTAP_PLUGIN_NO_BUFFER,   /* requests of buffers beyond memory_bytes */
	GPUTAP_PLUGIN_REFUSED,     /* kinds that it refused to enable, and other failures of it */
	/* records left out, from here on */
	GPUTAP_PLUGIN_BAD_SIZE,  /* shorter than a record, or beyond its buffer's end */
	GPUTAP_PLUGIN_BAD_PLACE, /* not in the buffer, not aligned, not behind the one before */
	GPUTAP_PLUGIN_BAD_KIND,  /* no such kind, or one that was not asked for */
	/* ends before it begins, or at 0, or lies outside of the process's life */
	GPUTAP_PLUGIN_BAD_TIME,
	GPUTAP_PLUGIN_BAD_DEVICE,  /* a device that there is not */
	GPUTAP_PLUGIN_BAD_STREAM,  /* a stream that there is not */
	GPUTAP_PLUGIN_BAD_COUNTER, /* a counter that there is not, or a value that is no number */
	/* records kept, but for what was wrong in them */
	GPUTAP_PLUGIN_NO_NAME,        /* the name is NULL or empty: "unnamed" */
	GPUTAP_PLUGIN_BAD_NAME,       /* not UTF-8, or with characters that break JSON: replaced */
	GPUTAP_PLUGIN_BAD_GRAPH,      /* a graph or node that there is not: 0 */
	GPUTAP_PLUGIN_NO_CORRELATION, /* device work that names no call */
	/* buffers */
	GPUTAP_PLUGIN_OVERRUN,     /* written beyond its end: given up */
	GPUTAP_PLUGIN_BAD_BUFFER,  /* completed twice, or never requested, or longer than it is */
	GPUTAP_PLUGIN_KEPT_BUFFER, /* still with the plug-in after its pu1FlushAll() */
	GPUTAP_PLUGIN_BAD_WALK,    /* pu1GetNextRecord() failed in the middle, or goes in circles */
	/* records of an earlier session, which came when it had been read: left out */
	GPUTAP_PLUGIN_LATE,
	GPUTAP_PLUGIN_BAD_BYTES, /* more than 2^48: kept as 0 */
	GPUTAP_PLUGIN_COUNT_COUNT
};

/**
 * gputap_plugins_count() - how often it happened
 * @index: plug-in; UINT32_MAX: all together
 * @what:  enum gputap_plugin_count
 * Return: the count; 0 also for what there is not.
 * Owner:  nothing passes.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API uint64_t gputap_plugins_count(uint32_t index, uint32_t what);

/**
 * gputap_plugins_count_name() - name of an enum gputap_plugin_count
 * @what: the count
 * Return: "buffer overrun" and the like; NULL: there is none.
 * Owner:  the library.
 * Thread: any.   Signal: safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API const char *gputap_plugins_count_name(uint32_t what);

/* Streams --------------------------------------------------------------------- */

/**
 * gputap_plugins_stream_open() - load one plug-in, and record from now on
 * @path:  of its file
 * @kinds: bit 1 << pu1ActivityKind; 0: all that it has
 * @why:   receives a sentence when it fails
 * Return: the plug-in's index, for the functions below; -EINVAL (arguments), -ENOENT (there is no
 * such file), -ENOEXEC (@why says what is wrong), -EBUSY (another thread loads it), -EALREADY (it
 * has a stream). No lock is held while the plug-in's functions run, here and below: call them in a
 * thread that can be spared if one of them does not return. In the child of a fork it is closed.
 * Owner:  @why is the caller's.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API int gputap_plugins_stream_open(const char *path, uint64_t kinds, char *why, size_t size);

/**
 * gputap_plugins_stream_flush() - what has completed can be read
 * Return: 0, -ENOENT (it has no stream), -EIO (its pu1FlushAll() failed).
 * Owner:  nothing passes.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 * Source: cuptiActivityFlushAll().
 */
GPUTAP_API int gputap_plugins_stream_flush(uint32_t index);

/**
 * gputap_plugins_stream_read() - the next record
 * @record: start and end of device work are of the plug-in's own clock, as
 *          gputap_plugins_stream_clock() reads it; calls' are CLOCK_REALTIME ns. Texts stay until
 *          the next call
 * Return: 1; 0: there is none now; -ENOENT (it has no stream).
 * Owner:  @record is the caller's.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API long gputap_plugins_stream_read(uint32_t index, struct gputap_plugin_record *record);

/**
 * gputap_plugins_stream_end() - count what the plug-in has kept
 * Call it after gputap_plugins_stream_close() and the last flush: each buffer that the plug-in
 * still holds counts as GPUTAP_PLUGIN_KEPT_BUFFER.
 * Return: 0, -ENOENT (it has no stream).
 * Owner:  nothing passes.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_end(uint32_t index);

/**
 * gputap_plugins_stream_close() - record no longer
 * What has completed can still be flushed and read.
 * Return: 0, -ENOENT (it has no stream).
 * Owner:  nothing passes.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API int gputap_plugins_stream_close(uint32_t index);

/**
 * gputap_plugins_stream_clock() - read the clock that device work has its times of
 * @device: from 0
 * @time:   what it shows now: ns of a clock of the host's, or ticks of the device's
 * Return: 0, -ENOENT (it has no stream), -ENODATA (the clock cannot be read).
 * Owner:  @time is the caller's.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 * Source: PU1_GROUP_CLOCK.
 */
GPUTAP_API int gputap_plugins_stream_clock(uint32_t index, int32_t device, uint64_t *time);

/**
 * gputap_plugins_stream_rate() - return how many ticks a second that clock makes
 * @device: from 0
 * Return: the rate that the plug-in declares; 1,000,000,000 for clocks of the host; 0: not known.
 * Owner:  nothing passes.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API uint64_t gputap_plugins_stream_rate(uint32_t index, int32_t device);

/**
 * gputap_plugins_stream_submits() - hear of each submission, in its thread
 * @submitted: called with @user by each call that submits work: what the plug-in's group
 *             pu1.submits reports; NULL: no longer
 * Return: 0, -ENOENT (it has no stream), -ENOTSUP (the plug-in lacks the group, or refused).
 * Owner:  @user stays the caller's.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 */
GPUTAP_API int gputap_plugins_stream_submits(uint32_t index,
					     void (*submitted)(void *user, uint64_t correlation,
							       uint32_t kind, uint32_t items),
					     void *user);

/**
 * gputap_plugins_stream_count() - how often it happened, since the stream was opened
 * @what: enum gputap_plugin_count
 * Return: the count; 0 also for what there is not.
 * Owner:  nothing passes.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: gputap
 */
GPUTAP_API uint64_t gputap_plugins_stream_count(uint32_t index, uint32_t what);

/**
 * gputap_plugins_stream_dropped() - records that the plug-in says it dropped
 * @kind: pu1ActivityKind
 * Return: the count since it was registered; 0 also if it does not tell.
 * Owner:  nothing passes.
 * Thread: any.   Signal: not safe.   Since: 0.1
 * Source: PU1_GROUP_DROPS.
 */
GPUTAP_API uint64_t gputap_plugins_stream_dropped(uint32_t index, uint32_t kind);

/**
 * gputap_plugins_stream_error() - the stream's first failure
 * Return: a sentence, as gputap_plugins_error() has it; NULL: none. It stays.
 * Owner:  the library.
 * Thread: one at a time for one plug-in.   Signal: not safe.   Since: 0.1
 * Source: cuptiGetErrorMessage().
 */
GPUTAP_API const char *gputap_plugins_stream_error(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
