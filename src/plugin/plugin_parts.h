/* SPDX-License-Identifier: MIT */
/* Shared by the files of libgputap-plugin, which finds and opens plug-ins and reads their records.
 *
 *   plugin_find.c     finds plug-in files, and checks who may write them
 *   plugin_open.c     opens one file: its functions and groups, converted to this gputap's form
 *   plugin_buffers.c  passes buffers to plug-ins and takes them back
 *   plugin_clock.c    converts a plug-in's times to CLOCK_REALTIME
 *   plugin_records.c  reads and checks records in buffers
 *   plugin_names.c    sanitises texts of plug-ins
 *   plugin_trial.c    tries a plug-in's registration in a separate process
 *   plugin_guard.c    calls plug-in functions that may crash or never return
 *   plugin_list.c     lists the loaded plug-ins
 *   plugin_session.c  the public functions
 *   plugin_stream.c   the public functions of streams
 *
 * Two readers may request a plug-in's records: a session (of torch.profiler) and a stream (of
 * gputap run). Each reader has its own list of completed buffers. A buffer that both readers
 * request is freed when both have read it.
 *
 * Locking: the_lock of plugin_session.c protects load, start and stop. The list's lock and each
 * plug-in's `buffers.lock` are leaves, because plug-ins request buffers while they hold their own
 * locks. A stream holds no lock while it calls its plug-in, so a plug-in that never returns blocks
 * no other thread. */
#ifndef GPUTAP_PLUGIN_PARTS_H
#define GPUTAP_PLUGIN_PARTS_H

#include <stdatomic.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gputap/PrivateUse1TracingApi.h"
#include "gputap/plugin.h"

enum {
	/* each plug-in needs separate functions, because the callbacks have no context */
	GT_PLUGINS_MOST = 16,
	GT_PLUGIN_DEVICES_MOST = 256,
	GT_PLUGIN_ERROR_BYTES = 320,
	GT_PLUGIN_GUARD_BYTES = 4096, /* bytes after each buffer, to detect writes past its end */
};
#define GT_PLUGIN_SYNCHRONIZE_NS UINT64_C(2000000000)

/* clang-format off */
#define GT_PLUGIN_EACH(X)                                                                         \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
/* clang-format on */

/* A plug-in's eight functions and its groups. All functions of an absent group are NULL. */
struct gt_plugin_calls {
	uint32_t (*version)(void);
	pu1Result (*callbacks)(pu1BufferRequestFn request, pu1BufferCompleteFn complete);
	pu1Result (*enable)(pu1ActivityKind kind);
	pu1Result (*disable)(pu1ActivityKind kind);
	pu1Result (*push)(uint64_t id);
	pu1Result (*pop)(void);
	pu1Result (*flush)(void);
	pu1Result (*next)(const uint8_t *buffer, size_t size, const pu1ActivityRecord **record);
	pu1UserGroup user;
	pu1DropsGroup drops;
	pu1ClockGroup clock;
	pu1RowsGroup rows;
	pu1ErrorsGroup errors;
	pu1ConfigGroup config;
	pu1WindowGroup window;
	pu1CountersGroup counters;
	pu1GraphsGroup graphs;
	pu1SynchronizeGroup synchronize;
	pu1SubmitsGroup submits;
};

/* A buffer for records. This struct is separate from the data, so that a plug-in that writes past
 * the data's end cannot overwrite it. */
enum gt_plugin_who { GT_PLUGIN_SESSION = 0, GT_PLUGIN_STREAM, GT_PLUGIN_READERS };

struct gt_plugin_buffer {
	/* the out list uses next[GT_PLUGIN_SESSION] */
	struct gt_plugin_buffer *next[GT_PLUGIN_READERS];
	uint8_t *data;
	size_t bytes, valid;
	uint32_t session; /* session that was open when the plug-in requested the buffer; 0: none */
	bool streamed;    /* true if the plug-in had a stream when it requested the buffer */
	bool late;        /* true if requested before the session, or completed after it */
	/* number of readers that have not read the buffer yet; protected by buffers.lock */
	uint32_t readers;
};

struct gt_plugin_buffers {
	pthread_mutex_t lock;
	struct gt_plugin_buffer *out; /* buffers that the plug-in holds */
};

/* A reader of a plug-in's records. A session's records use CLOCK_REALTIME, and their texts are
 * kept. A stream's records use the clock that the plug-in names, and their texts are valid until
 * the next record. */
struct gt_plugin_reader {
	enum gt_plugin_who who;
	/* completed, unread buffers; protected by buffers.lock */
	struct gt_plugin_buffer *first, **last;
	uint64_t enabled;                     /* bit per kind that the reader receives */
	uint64_t begun_ns;                    /* CLOCK_REALTIME at the session's start */
	uint64_t life_first_ns, life_last_ns; /* gt_plugin_life() for the buffer being read */
	char error[GT_PLUGIN_ERROR_BYTES];    /* first failure, as a sentence; "": none */
	uint64_t dropped_before;
	int32_t device_count; /* -1: the plug-in does not report the count */
	uint32_t stream_counts[GT_PLUGIN_DEVICES_MOST];
	struct gt_plugin_buffer *reading;
	const pu1ActivityRecord *record; /* last record read in `reading` */
	_Atomic uint64_t counts[GPUTAP_PLUGIN_COUNT_COUNT];
	char *name, *lines; /* texts of the last record, for a stream */
};

/* Relation of a clock to CLOCK_REALTIME, from two moments of a session at which both clocks were
 * read together. */
struct gt_plugin_scale {
	uint64_t clock, real, width_ns; /* at the first of the two moments */
	uint64_t rate;                  /* ns per tick, in units of 2^-48 */
	bool known;
};

struct gt_plugin_device {
	struct gt_plugin_scale scale;
};

struct gt_plugin {
	void *handle;
	char *path;
	dev_t device;
	ino_t inode;
	pu1Plugin about; /* gputap owns the texts */
	uint32_t abi;
	uint64_t groups;
	struct gt_plugin_calls calls;
	struct gt_plugin_buffers buffers;
	uint64_t enabled; /* bit per kind, for the trials of `plugin check` */
	struct gt_plugin_reader readers[GT_PLUGIN_READERS];
	/* true if the plug-in has a stream; stays true until the process ends */
	_Atomic bool streaming;
	_Atomic bool
		stream_ended; /* true between gputap_plugins_stream_end() and the next stream */
	/* true if a session's call has not returned, so no more calls may be made */
	_Atomic bool abandoned;
	bool has_callbacks; /* true if the callbacks were set at least once */
	uint64_t loaded_real_ns, loaded_boot_ns;
	/* receives the submissions of the plug-in's stream; the function is stored last */
	void (*_Atomic submitted)(void *user, uint64_t correlation, uint32_t kind, uint32_t items);
	void *_Atomic submitted_user;
	/* used to convert a session's times */
	pu1ClockKind clock;
	int32_t device_count; /* -1: not reported */
	struct gt_plugin_device devices[GT_PLUGIN_DEVICES_MOST];
};

static inline void gt_plugin_count(struct gt_plugin_reader *r, enum gputap_plugin_count what)
{
	atomic_fetch_add_explicit(&r->counts[what], 1, memory_order_relaxed);
}

/* Count an event that belongs to no single reader. */
static inline void gt_plugin_count_both(struct gt_plugin *p, enum gputap_plugin_count what)
{
	for (int who = 0; who < GT_PLUGIN_READERS; who++)
		gt_plugin_count(&p->readers[who], what);
}

/* The list (plugin_list.c). Entries are appended and never removed. */
uint32_t gt_plugin_list_count(void);
struct gt_plugin *gt_plugin_at(uint32_t index);
/* Mark the plug-in so that sessions make no more calls or pushes to it. */
void gt_plugin_list_abandon(uint32_t index);

/**
 * gt_plugin_list_load() - return a file's plug-in, loading it first if necessary
 * Return: the plug-in's index; -ENOEXEC: @why receives the reason; -ENOENT: no such file; -EBUSY:
 *         another thread is loading the file.
 */
int gt_plugin_list_load(const char *path, char *why, size_t size);
void gt_plugin_list_lock(void);
void gt_plugin_list_unlock(void);

/* Install the fork handlers (plugin_session.c). Call once. */
void gt_plugin_prepare(void);

/* Count a failure of @function. The reader's first failure is kept, with the plug-in's message.
 * @kind: 0: none */
void gt_plugin_refuse(struct gt_plugin *p, struct gt_plugin_reader *r, const char *function,
		      uint32_t kind, pu1Result result);
/* Return the number of records that the plug-in has reported as dropped since its registration. */
uint64_t gt_plugin_dropped(const struct gt_plugin *p);
/* Set the plug-in's callbacks. Return true if the plug-in accepted them. */
bool gt_plugin_set_callbacks(struct gt_plugin *p, uint32_t index, struct gt_plugin_reader *r);
/* Enable @kinds, a bit per kind. Return the kinds that the plug-in enabled. */
uint64_t gt_plugin_enable(struct gt_plugin *p, struct gt_plugin_reader *r, uint64_t kinds);
void gt_plugin_disable(struct gt_plugin *p, struct gt_plugin_reader *r, uint64_t kinds);
/* Read a caller's struct, which may be shorter or, if the rest is zero, longer. Return false for
 * any other size or content. */
bool gt_plugin_take_struct(void *to, size_t size, const void *from);
/* Fill in a caller's struct of @size bytes, which may be an older, shorter version. */
bool gt_plugin_give_struct(void *to, const void *from, size_t size);

/* Search for plug-ins. Calls @found for each file, in order, and @report with sentences about
 * unusable paths. */
struct gt_plugin_seeker {
	void (*found)(struct gt_plugin_seeker *seeker, const char *path);
	void (*report)(struct gt_plugin_seeker *seeker, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
};
void gt_plugin_find(struct gt_plugin_seeker *seeker, const char *path, bool standard_folders);
/* Check the file or folder at @path. gt_plugin_is_unsafe() returns true if it cannot be trusted,
 * gt_plugin_is_no_library() if it is not a library for this machine; @why receives the reason. */
bool gt_plugin_is_unsafe(const char *path, char *why, size_t size);
bool gt_plugin_is_no_library(const char *path, char *why, size_t size);

/**
 * gt_plugin_open() - load a file and convert its plug-in to this gputap's form
 * @index: index of the plug-in, which selects the callbacks
 * Return: true on success; false: @why receives the missing part, and the library stays loaded,
 *         because something that it started may still run.
 */
bool gt_plugin_open(struct gt_plugin *p, const char *path, char *why, size_t size);

/* Answer of a trial. It is sent with one write to a pipe, so it arrives completely or not at
 * all. */
struct gt_plugin_trial {
	bool good;
	char why[900]; /* the plug-in's name on success, otherwise a sentence */
	/* libraries that the plug-in needs, except those that any program may have */
	char needs[2048];
};

/* Load and register the plug-in in a separate process, which is killed after a time limit
 * (plugin_trial.c). */
void gt_plugin_try(const char *path, struct gt_plugin_trial *answer);

/**
 * gt_plugin_guard() - call a plug-in's function in an expendable thread (plugin_guard.c)
 * @call: called with @data, which must stay valid if the call does not return
 * Return: true; false: the call has not returned in time, and its thread is left running. If a
 *         signal kills the process during the call, a line on stderr names the plug-in and @what.
 */
bool gt_plugin_guard(const char *plugin, const char *what, void (*call)(void *data), void *data,
		     uint64_t limit_ns);

/* Buffers. */
void gt_plugin_buffers_init(struct gt_plugin *plugins, uint32_t count);
pu1BufferRequestFn gt_plugin_request_of(uint32_t index);
pu1BufferCompleteFn gt_plugin_complete_of(uint32_t index);
/* Begin a session: set its number, the size of its buffers and the memory limit of all buffers. */
void gt_plugin_buffers_begin(uint32_t session, size_t bytes, uint64_t most);
/* Add the number of buffers that the plug-in still holds to the counts of that reader. */
void gt_plugin_buffers_count_kept(struct gt_plugin *p, struct gt_plugin_reader *r);
/* Release the buffers that were completed for that reader. */
void gt_plugin_buffers_clear(struct gt_plugin *p, struct gt_plugin_reader *r);
/* Return the next buffer for that reader; NULL: no more buffers. */
struct gt_plugin_buffer *gt_plugin_buffer_next(struct gt_plugin *p, struct gt_plugin_reader *r);
/* Hand the pages of buffers that a session has read to @take. Free the pages if @take is NULL. */
void gt_plugin_buffers_give(void (*take)(void *pages, size_t bytes, void *user), void *user);
/* Release a buffer that the reader has read or does not need. */
void gt_plugin_buffer_release(struct gt_plugin *p, struct gt_plugin_reader *r,
			      struct gt_plugin_buffer *b);
/* Return true if the guard after the buffer is unchanged. */
bool gt_plugin_buffer_is_whole(const struct gt_plugin_buffer *b);

/* Read the clocks of a session. @last: true at the end of the session. */
void gt_plugin_clock_read(struct gt_plugin *p, bool last);
/* Convert a time to CLOCK_REALTIME ns. Return 0 if the conversion is not known. */
uint64_t gt_plugin_real_time(const struct gt_plugin *p, int32_t device, uint64_t time);
uint64_t gt_plugin_now(void);
/* Return the ticks per second that the plug-in declares; 0: not declared. */
uint64_t gt_plugin_nominal_hz(const struct gt_plugin *p, int32_t device, pu1ClockKind kind);
/* Note the start of the plug-in's life in this process. A CLOCK_REALTIME time before the first
 * moment of this life or after the last one cannot be right. */
void gt_plugin_life_begin(struct gt_plugin *p);
void gt_plugin_life(const struct gt_plugin *p, uint64_t *first_ns, uint64_t *last_ns);

/**
 * gt_plugin_next() - return the next valid record of a plug-in
 * Return: true; false: no record is left.
 */
bool gt_plugin_next(struct gt_plugin *p, uint32_t index, struct gt_plugin_reader *r,
		    struct gputap_plugin_record *out);
/* Count the records of late buffers as GPUTAP_PLUGIN_LATE, and release the buffers that were
 * completed for that reader. */
void gt_plugin_retire(struct gt_plugin *p, struct gt_plugin_reader *r);
enum { GT_PLUGIN_NAME_BYTES = 1024, GT_PLUGIN_LINES_BYTES = 4096 }; /* for a stream's records */

/* Texts. */
enum gt_plugin_text { GT_TEXT_GOOD, GT_TEXT_MENDED, GT_TEXT_NONE };
/* Return a permanent copy of a name. @room: number of readable bytes. Never NULL. One thread at a
 * time. */
const char *gt_plugin_name(const char *text, size_t room, enum gt_plugin_text *how);
/* Return a sanitised copy of lines, valid until gt_plugin_lines_clear(). */
const char *gt_plugin_lines(const char *text, size_t room, enum gt_plugin_text *how);
void gt_plugin_lines_clear(void);
/* Copy the sanitised text into @out, truncated if necessary. */
enum gt_plugin_text gt_plugin_mend(char *out, size_t size, const char *text, size_t bytes,
				   bool lines);

#endif
