/* SPDX-License-Identifier: MIT */
/* The parts of libgputap-plugin: how plug-ins are found, opened, and their records read.
 *
 *   plugin_find.c     which files: paths, folders, who may write them
 *   plugin_open.c     one file: its functions and groups in this gputap's form, whatever theirs is
 *   plugin_buffers.c  buffers that go to plug-ins and come back
 *   plugin_clock.c    a plug-in's times in CLOCK_REALTIME
 *   plugin_records.c  records out of buffers, checked
 *   plugin_names.c    texts of plug-ins made fit
 *   plugin_session.c  the public functions
 *
 * Locking: the_lock of plugin_session.c for load, start and stop; each plug-in's `buffers.lock` is
 * a leaf, as plug-ins call for buffers under locks of their own. */
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
	GT_PLUGINS_MOST = 16, /* each needs functions of its own: the callbacks have no context */
	GT_PLUGIN_DEVICES_MOST = 256,
	GT_PLUGIN_ERROR_BYTES = 320,
	GT_PLUGIN_GUARD_BYTES = 4096, /* behind each buffer, to see what is written beyond */
};

/* The eight functions and the groups. Absent groups are all NULL. */
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
};

/* Memory of the host's for records. The descriptor lies apart, where an overrun cannot reach it. */
struct gt_plugin_buffer {
	struct gt_plugin_buffer *next;
	uint8_t *data;
	size_t bytes, valid;
	uint32_t session;
};

struct gt_plugin_buffers {
	pthread_mutex_t lock;
	struct gt_plugin_buffer *out;           /* with the plug-in */
	struct gt_plugin_buffer *first, **last; /* completed, to be read */
};

/* Two moments of a session at which a clock and CLOCK_REALTIME were read together. */
struct gt_plugin_scale {
	uint64_t clock, real; /* at the first one */
	uint64_t rate;        /* ns a tick, in 2^-48 */
	bool known;
};

struct gt_plugin_device {
	struct gt_plugin_scale scale;
	uint32_t stream_count;
};

struct gt_plugin {
	void *handle;
	char *path;
	dev_t device;
	ino_t inode;
	pu1Plugin about; /* texts are ours */
	uint32_t abi;
	uint64_t groups;
	struct gt_plugin_calls calls;
	struct gt_plugin_buffers buffers;
	/* of a session */
	uint64_t asked, enabled;           /* bit per kind */
	char error[GT_PLUGIN_ERROR_BYTES]; /* the first failure, as a sentence; "": none */
	uint64_t dropped_before;
	pu1ClockKind clock;
	int32_t device_count; /* -1: it does not tell */
	struct gt_plugin_device devices[GT_PLUGIN_DEVICES_MOST];
	struct gt_plugin_buffer *reading;
	const pu1ActivityRecord *record; /* the last one that was read in it */
	_Atomic uint64_t counts[GPUTAP_PLUGIN_COUNT_COUNT];
};

static inline void gt_plugin_count(struct gt_plugin *p, enum gputap_plugin_count what)
{
	atomic_fetch_add_explicit(&p->counts[what], 1, memory_order_relaxed);
}

/* Finding. @found is called for each file, in order; sentences about paths that are of no use go to
 * @report. */
struct gt_plugin_seeker {
	void (*found)(struct gt_plugin_seeker *seeker, const char *path);
	void (*report)(struct gt_plugin_seeker *seeker, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
};
void gt_plugin_find(struct gt_plugin_seeker *seeker, const char *path, bool standard_folders);
/* Why the file at @path (or the folder) is not to be trusted, or is no library for this machine.
 * Return: false: nothing is wrong; else @why says what. */
bool gt_plugin_is_unsafe(const char *path, char *why, size_t size);
bool gt_plugin_is_no_library(const char *path, char *why, size_t size);

/**
 * gt_plugin_open() - load a file and put it into this gputap's form
 * @index: of the plug-in, which decides its callbacks
 * Return: true; false: @why says what is missing. It is not unloaded then: what it started may run.
 */
bool gt_plugin_open(struct gt_plugin *p, const char *path, char *why, size_t size);

/* Buffers. */
void gt_plugin_buffers_init(struct gt_plugin *plugins, uint32_t count);
pu1BufferRequestFn gt_plugin_request_of(uint32_t index);
pu1BufferCompleteFn gt_plugin_complete_of(uint32_t index);
/* A session begins: its number, and what buffers may take. */
void gt_plugin_buffers_begin(uint32_t session, size_t bytes, uint64_t most);
/* It ends: what is still out is given up. */
void gt_plugin_buffers_end(struct gt_plugin *p);
/* Give up what was completed. */
void gt_plugin_buffers_clear(struct gt_plugin *p);
void gt_plugin_buffer_free(struct gt_plugin_buffer *b);
/* .. when it has been read: its pages go to this function, if there is one. */
void gt_plugin_buffers_give(void (*take)(void *pages, size_t bytes, void *user), void *user);
void gt_plugin_buffer_give(struct gt_plugin_buffer *b);
/* The guard behind it is as it was. */
bool gt_plugin_buffer_is_whole(const struct gt_plugin_buffer *b);

/* Clocks. @last: the session ends. */
void gt_plugin_clock_read(struct gt_plugin *p, bool last);
/* CLOCK_REALTIME ns; 0: not known. */
uint64_t gt_plugin_real_time(const struct gt_plugin *p, int32_t device, uint64_t time);
uint64_t gt_plugin_now(void);

/**
 * gt_plugin_next() - the next good record of a plug-in
 * Return: true; false: there is none left.
 */
bool gt_plugin_next(struct gt_plugin *p, uint32_t index, struct gputap_plugin_record *out);

/* Texts. */
enum gt_plugin_text { GT_TEXT_GOOD, GT_TEXT_MENDED, GT_TEXT_NONE };
/* A name that stays; @room: bytes that may be read. Never NULL. One thread at a time. */
const char *gt_plugin_name(const char *text, size_t room, enum gt_plugin_text *how);
/* Lines that stay until gt_plugin_lines_clear(). */
const char *gt_plugin_lines(const char *text, size_t room, enum gt_plugin_text *how);
void gt_plugin_lines_clear(void);
/* Into @out, cut. */
enum gt_plugin_text gt_plugin_mend(char *out, size_t size, const char *text, size_t bytes,
				   bool lines);

#endif
