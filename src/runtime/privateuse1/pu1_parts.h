/* SPDX-License-Identifier: MIT */
/* Shared by the files that record vendors' PrivateUse1 plug-ins in gputap's own captures.
 *
 *   pu1_attach.c    selects plug-ins, loads them when the process has the libraries, ends them
 *   pu1_stream.c    a plug-in's own thread, which loads, flushes and reads the plug-in
 *   pu1_records.c   converts the plug-in's records to gputap's records
 *   pu1_pushes.c    passes the program's pushes to all plug-ins, in the program's threads
 *   pu1_submits.c   counts submissions that plug-ins report in the program's threads
 *   pu1_links.c     maps the plug-in's correlations to calls
 *   pu1_clock.c     reads the plug-in's clocks; converts CLOCK_REALTIME to host ticks
 *   pu1_objects.c   numbers the plug-in's devices, streams and graphs, and writes them as objects
 *
 *   plug-in ── buffers ──► libgputap-plugin ── records ──► the plug-in's thread ──► rings
 *
 * `gputap run` has found the plug-ins, tested each in a separate process, and listed the useful
 * plug-ins in the session (cli/run_plugins.c). libgputap-plugin.so is opened when the first plug-in
 * is loaded. torch.profiler's bridge and this code thus share one host of the plug-ins.
 *
 * All plug-in functions except pushes and pops run in the plug-in's own thread, which holds no lock
 * of gputap. A function that never returns therefore blocks no other thread. Waits for that thread
 * have a time-out. */
#ifndef GPUTAP_RUNTIME_PU1_PARTS_H
#define GPUTAP_RUNTIME_PU1_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/thread.h"
#include "gputap/PrivateUse1TracingApi.h"
#include "gputap/plugin.h"
#include "ring/session.h"

enum { GT_PU1_MOST = 16, GT_PU1_DEVICES = 256, GT_PU1_STANDING = 256, GT_PU1_LINKS = 1 << 19 };

/* Functions of libgputap-plugin, looked up at run time. */
#define GT_PU1_FUNCTIONS(X)              \
	X(gputap_plugins_at)             \
	X(gputap_plugins_row)            \
	X(gputap_plugins_count_name)     \
	X(gputap_plugins_session_active) \
	X(gputap_plugins_stacks)         \
	X(gputap_plugins_stream_open)    \
	X(gputap_plugins_stream_flush)   \
	X(gputap_plugins_stream_read)    \
	X(gputap_plugins_stream_close)   \
	X(gputap_plugins_stream_end)     \
	X(gputap_plugins_stream_clock)   \
	X(gputap_plugins_stream_rate)    \
	X(gputap_plugins_stream_submits) \
	X(gputap_plugins_stream_count)   \
	X(gputap_plugins_stream_dropped) \
	X(gputap_plugins_stream_error)

struct gt_pu1_functions {
#define X(name) __typeof__(&name) name;
	GT_PU1_FUNCTIONS(X)
#undef X
};

enum gt_pu1_state {
	GT_PU1_WAITS = 0, /* this process does not have the needed libraries */
	GT_PU1_STARTS,    /* the plug-in's thread is loading the plug-in */
	GT_PU1_RECORDS,
	GT_PU1_OVER, /* the plug-in was refused, or its last record was written */
};

/* A correlation of the plug-in, and the call with this correlation. */
struct gt_pu1_link {
	uint64_t correlation; /* 0 if free */
	uint64_t id, start;   /* number and start of the call's record */
	bool driver;          /* true for a call of the driver, false for a call of the runtime */
};

struct gt_pu1_links {
	/* hash tables; `before` is full, and `now` is being filled */
	struct gt_pu1_link *now, *before;
	uint32_t room, used;
};

/* A list of string ids. */
struct gt_pu1_names {
	uint32_t *list;
	size_t count, room;
};

/* Two readings of the host's ticks, CLOCK_BOOTTIME and CLOCK_REALTIME. Times are converted on the
 * line through both readings. */
struct gt_pu1_host_clock {
	struct gt_pu1_reading {
		uint64_t ticks, boot_ns, real_ns;
	} first, last;
};

/* A call that has submitted an activity, until the activity's record arrives. */
enum { GT_PU1_CALLS_KNOWN = 1 << 16 };
struct gt_pu1_known {
	_Atomic uint64_t claim, correlation; /* 0 if free */
	uint32_t kind, stack;
};

/* A device's clock: the time of the next reading, and the last reading. */
struct gt_pu1_device_clock {
	uint64_t next_ns, pause_ns;
	uint64_t hz;            /* declared rate, or the rate measured since; 0 if unknown */
	uint64_t time, boot_ns; /* read together; boot_ns is 0 before the first reading */
	bool contradicts;       /* true once reported that readings contradict the declared rate */
};

struct gt_pu1_object {
	uint64_t key, number;
};

/* A thread that calls the vendor's runtime. Its calls have a separate ring. */
struct gt_pu1_standing {
	uint32_t tid;
	struct gt_thread thread;
	uint64_t tops[GT_EXTERNAL_STACK_COUNT]; /* last written external ids */
};

/* A record that was read and not yet written. */
struct gt_pu1_record {
	struct gputap_plugin_record r; /* without texts */
	uint32_t name;                 /* string id */
	uint32_t depth;                /* for a call, number of enclosing calls */
	uint32_t waited; /* for an activity, number of rounds that it has waited for its call */
};

struct gt_pu1_records {
	struct gt_pu1_record *records;
	size_t count, room;
};

struct gt_pu1 {
	/* pointers into the session's list; `path` ends at the first tab */
	const char *path, *needs;
	char name[64];
	_Atomic uint32_t state; /* enum gt_pu1_state; a futex */
	/* plug-in function that the plug-in's thread is executing, or NULL */
	const char *_Atomic in;
	const struct gt_pu1_functions *f;
	uint32_t index; /* index in libgputap-plugin */
	/* state for recording from the plug-in's thread; NULL if nothing is recorded */
	struct gt_thread *thread;
	struct gt_pu1_host_clock host;
	struct gt_pu1_links links;
	struct gt_pu1_records calls, activity;
	uint64_t kinds;             /* kinds that the session wants */
	struct gt_pu1_known *known; /* hash table */
	/* numbers of activities that the plug-in reported */
	_Atomic uint64_t announced[PU1_KIND_COUNT];
	/* numbers of reported activities whose records have arrived */
	uint64_t arrived[PU1_KIND_COUNT];
	struct gt_pu1_names launching, copying,
		setting; /* names of calls seen to launch, copy, set */
	struct gt_pu1_standing *standing;
	uint32_t standing_count;
	/* hash tables; number is 0 in a free entry */
	struct gt_pu1_object *objects[GT_OBJECT_TYPE_COUNT];
	uint32_t object_counts[GT_OBJECT_TYPE_COUNT], object_rooms[GT_OBJECT_TYPE_COUNT];
	struct gt_pu1_device_clock clocks[GT_PU1_DEVICES];
	/* start time of the plug-in's thread; no activity in the plug-in's records is older */
	uint64_t begun_boot_ns;
	/* the plug-in's counts, as already reported in events */
	uint64_t reported[GPUTAP_PLUGIN_COUNT_COUNT];
	/* numbers of records that the plug-in dropped, counted as lost */
	uint64_t lost[PU1_KIND_COUNT];
	uint64_t outside; /* number of records with impossible times */
	bool untimed;     /* true once reported that the plug-in's clock cannot be read */
};

/* pu1_stream.c: start the thread. Return 0 or errno. */
int gt_pu1_start(struct gt_pu1 *p);
/* Ask the threads of all plug-ins to write their last records and end. */
void gt_pu1_ask_end(void);
/* Let threads run that are started from now on. Their predecessors have ended. */
void gt_pu1_ask_begin(void);
/* Forget the session of a plug-in whose thread has ended. */
void gt_pu1_clear(struct gt_pu1 *p);

/* pu1_records.c: write the records that the plug-in has now. @last: true if no more records will
 * come. */
void gt_pu1_write_records(struct gt_pu1 *p, bool last);
/* Return the kinds that the session wants. */
uint64_t gt_pu1_kinds(void);

/* pu1_pushes.c: start to pass pushes and pops to the plug-in with that index. */
void gt_pu1_push_to(const struct gt_pu1_functions *f, uint32_t index);
/* Stop passing pushes and pops to any plug-in, in a fork's child. */
void gt_pu1_push_to_none(void);
/* Convert an id in a record to the number of a range, or to an id of the program. Return 0 if
 * gputap did not push the id. */
uint64_t gt_pu1_range_of(uint64_t external);
uint64_t gt_pu1_external_of(uint64_t external);

/* pu1_submits.c: make the plug-in report its submissions from now on, if it supports this. */
void gt_pu1_hear_submissions(struct gt_pu1 *p);
/* Get the kind of the first activity of the call with a correlation, and the number of the call's
 * stack (0 if no stack was recorded). Return false if the plug-in did not report such a call. */
bool gt_pu1_take_call(struct gt_pu1 *p, uint64_t correlation, uint32_t *kind, uint32_t *stack);
/* Count an activity as seen, once, when its record has arrived or is lost. @kind: PU1_KIND_COUNT if
 * unknown. */
void gt_pu1_arrives(struct gt_pu1 *p, uint32_t kind);

/* pu1_links.c */
void gt_pu1_link_call(struct gt_pu1_links *l, const struct gt_pu1_link *call);
const struct gt_pu1_link *gt_pu1_find_call(const struct gt_pu1_links *l, uint64_t correlation);

/* pu1_clock.c */
void gt_pu1_clock_begin(struct gt_pu1_host_clock *c);
/* Add a reading. The line then goes through the previous reading and this reading. Return the
 * number of ns by which CLOCK_REALTIME was set meanwhile. */
int64_t gt_pu1_clock_step(struct gt_pu1_host_clock *c);
uint64_t gt_pu1_ticks(const struct gt_pu1_host_clock *c, uint64_t real_ns);
/* Read a device's clock if the last reading is old enough. @always: true to read the clock in any
 * case. */
void gt_pu1_read_clock(struct gt_pu1 *p, int32_t device, bool always);
/* Return true if the times can lie between the moment when the plug-in began to record and now, or
 * if this is unknown. */
bool gt_pu1_is_in_life(const struct gt_pu1 *p, int32_t device, uint64_t start, uint64_t end);

/* pu1_objects.c. The functions that return an object's number return 0 if out of memory or if
 * nothing is recorded. */
/* Return the ticks per second that the device declares, or 0 if not declared. */
uint64_t gt_pu1_rate(struct gt_pu1 *p, int32_t device);
uint64_t gt_pu1_device(struct gt_pu1 *p, int32_t device);
uint64_t gt_pu1_queue(struct gt_pu1 *p, int32_t device, int32_t stream);
uint32_t gt_pu1_graph(struct gt_pu1 *p, uint64_t graph);
/* Write an event with the plug-in's name and a sentence about its failure. Thread: any. */
void gt_pu1_event(struct gt_pu1 *p, struct gt_thread *t, uint64_t value, const char *text);
/* Like gt_pu1_event(), for another code. Thread: the plug-in's own. */
void gt_pu1_event_of(struct gt_pu1 *p, enum gt_event_code code, uint64_t value, const char *text);

#endif
