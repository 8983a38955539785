/* SPDX-License-Identifier: MIT */
/* Records of vendors' PrivateUse1 plug-ins in gputap's own captures.
 *
 *   pu1_attach.c    selection and loading: this process has the libraries they need; the end
 *   pu1_stream.c    a plug-in's own thread: load, flush, read, until the process ends
 *   pu1_records.c   conversion of its records to gputap's
 *   pu1_pushes.c    the program's pushes, passed to all plug-ins in the program's threads
 *   pu1_submits.c   submissions that they report, in the program's threads
 *   pu1_links.c     map from the plug-in's correlations to calls
 *   pu1_clock.c     its times; CLOCK_REALTIME in host ticks
 *   pu1_objects.c   its devices, streams and graphs as numbered objects
 *
 *   plug-in ── buffers ──► libgputap-plugin ── records ──► the plug-in's thread ──► rings
 *
 * `gputap run` has found the plug-ins, tested each in a separate process, and listed those that are
 * useful in the session (cli/run_plugins.c). The first plug-in opens libgputap-plugin.so, so that
 * torch.profiler's bridge and this code share one host for a plug-in.
 *
 * All of a plug-in's functions run in its own thread, which holds no lock of gputap: one that never
 * returns blocks no other thread. Waits for that thread have a time-out. */
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
	GT_PU1_WAITS = 0, /* this process does not have the libraries it needs */
	GT_PU1_STARTS,    /* its thread is loading it */
	GT_PU1_RECORDS,
	GT_PU1_OVER, /* it was refused, or its last record is written */
};

/* A correlation of the plug-in, and its call. */
struct gt_pu1_link {
	uint64_t correlation; /* 0: free */
	uint64_t id, start;   /* number and start of the call's record */
	bool driver;          /* a call of the driver, not of the runtime */
};

struct gt_pu1_links {
	struct gt_pu1_link *now, *before; /* hash tables: `before` is full, `now` is being filled */
	uint32_t room, used;
};

/* String ids. */
struct gt_pu1_names {
	uint32_t *list;
	size_t count, room;
};

/* Two readings of a clock and the host's ticks: times between them are interpolated. */
struct gt_pu1_host_clock {
	struct gt_pu1_reading {
		uint64_t ticks, boot_ns, real_ns;
	} first, last;
};

/* A call that has submitted an activity, until its record comes. */
enum { GT_PU1_CALLS_KNOWN = 1 << 16 };
struct gt_pu1_known {
	_Atomic uint64_t claim, correlation; /* 0: free */
	uint32_t kind, stack;
};

/* A device's clock: time of the next reading, and its last reading. */
struct gt_pu1_device_clock {
	uint64_t next_ns, pause_ns;
	uint64_t hz;            /* declared, or measured since; 0: not known */
	uint64_t time, boot_ns; /* read together; boot_ns 0: not read yet */
	bool contradicts;       /* readings contradict the declared rate: reported once */
};

struct gt_pu1_object {
	uint64_t key, number;
};

/* A thread that calls the vendor's runtime: its calls have a separate ring. */
struct gt_pu1_standing {
	uint32_t tid;
	struct gt_thread thread;
	uint64_t tops[GT_EXTERNAL_STACK_COUNT]; /* external ids written last */
};

/* A record that was read, and not yet written. */
struct gt_pu1_item {
	struct gputap_plugin_record r; /* without texts */
	uint32_t name;                 /* string id */
	uint32_t depth;                /* of a call: number of enclosing calls */
	uint32_t waited;               /* of an activity: rounds waited for its call */
};

struct gt_pu1_items {
	struct gt_pu1_item *items;
	size_t count, room;
};

struct gt_pu1 {
	const char *path, *needs; /* in the session's list; `path` ends at the first tab */
	char name[64];
	_Atomic uint32_t state; /* enum gt_pu1_state; a futex */
	/* plug-in function that its thread is executing; NULL: none */
	const char *_Atomic in;
	const struct gt_pu1_functions *f;
	uint32_t index; /* in libgputap-plugin */
	/* state for recording from its thread; NULL: nothing is recorded */
	struct gt_thread *thread;
	struct gt_pu1_host_clock host;
	struct gt_pu1_links links;
	struct gt_pu1_items calls, work;
	uint64_t kinds;                                  /* wanted in the session */
	struct gt_pu1_known *known;                      /* hash table */
	_Atomic uint64_t announced[PU1_KIND_COUNT];      /* activities that it reported */
	uint64_t arrived[PU1_KIND_COUNT];                /* reported ones whose records came */
	struct gt_pu1_names launching, copying, setting; /* names of calls seen to do so */
	struct gt_pu1_standing *standing;
	uint32_t standing_count;
	struct gt_pu1_object *objects[GT_OBJECT_TYPE_COUNT]; /* hash tables; number 0: free */
	uint32_t object_counts[GT_OBJECT_TYPE_COUNT], object_rooms[GT_OBJECT_TYPE_COUNT];
	struct gt_pu1_device_clock clocks[GT_PU1_DEVICES];
	uint64_t begun_boot_ns; /* start of its thread: its records have no older activities */
	/* counts of the plug-in already reported in events */
	uint64_t reported[GPUTAP_PLUGIN_COUNT_COUNT];
	uint64_t lost[PU1_KIND_COUNT]; /* its drops, counted as lost */
	uint64_t outside;              /* records whose times cannot be correct */
	bool untimed;                  /* its clock cannot be read: reported once */
};

/* pu1_stream.c: start the thread. Return 0 or errno. */
int gt_pu1_start(struct gt_pu1 *p);
/* Request all threads to write their last records, and end. */
void gt_pu1_ask_end(void);

/* pu1_records.c: write the records that the plug-in has now. @last: there will be no more. */
void gt_pu1_write_records(struct gt_pu1 *p, bool last);
/* Return the kinds that the session wants. */
uint64_t gt_pu1_kinds(void);

/* pu1_pushes.c: notify the plug-in with that index from now on. */
void gt_pu1_push_to(const struct gt_pu1_functions *f, uint32_t index);
/* Notify no plug-in: in a fork's child. */
void gt_pu1_push_to_none(void);
/* Convert an id in a record: to the number of a range; to an id of the program; 0: not from
 * gputap. */
uint64_t gt_pu1_range_of(uint64_t external);
uint64_t gt_pu1_external_of(uint64_t external);

/* pu1_submits.c: let the plug-in report its submissions from now on, if it can. */
void gt_pu1_hear_submissions(struct gt_pu1 *p);
/* Get the call with that correlation: the kind of its first activity, and its stack's number (0:
 * none). Return false if the plug-in did not report one. */
bool gt_pu1_take_call(struct gt_pu1 *p, uint64_t correlation, uint32_t *kind, uint32_t *stack);
/* Count an activity of that kind (PU1_KIND_COUNT: not known), which has come or is lost, as seen,
 * once. */
void gt_pu1_arrives(struct gt_pu1 *p, uint32_t kind);

/* pu1_links.c */
void gt_pu1_link_call(struct gt_pu1_links *l, const struct gt_pu1_link *call);
const struct gt_pu1_link *gt_pu1_find_call(const struct gt_pu1_links *l, uint64_t correlation);

/* pu1_clock.c */
void gt_pu1_clock_begin(struct gt_pu1_host_clock *c);
/* Add a reading: the line goes from the last one to this one. Return how far CLOCK_REALTIME was set
 * meanwhile, ns. */
int64_t gt_pu1_clock_step(struct gt_pu1_host_clock *c);
uint64_t gt_pu1_ticks(const struct gt_pu1_host_clock *c, uint64_t real_ns);
/* Read a device's clock if the last reading is old enough. @always: in any case. */
void gt_pu1_read_clock(struct gt_pu1 *p, int32_t device, bool always);
/* Return true if a device can have had these times since the plug-in records, or if that is not
 * known. */
bool gt_pu1_is_in_life(const struct gt_pu1 *p, int32_t device, uint64_t start, uint64_t end);

/* pu1_objects.c: numbers of objects; 0: out of memory, or nothing is recorded. */
/* Return the ticks per second that the device declares; 0: not declared. */
uint64_t gt_pu1_rate(struct gt_pu1 *p, int32_t device);
uint64_t gt_pu1_device(struct gt_pu1 *p, int32_t device);
uint64_t gt_pu1_queue(struct gt_pu1 *p, int32_t device, int32_t stream);
uint32_t gt_pu1_graph(struct gt_pu1 *p, uint64_t graph);
/* Write an event: the plug-in's name, and a sentence about its failure. Any thread. */
void gt_pu1_event(struct gt_pu1 *p, struct gt_thread *t, uint64_t value, const char *text);
/* Write an event with another code, in its own thread. */
void gt_pu1_event_of(struct gt_pu1 *p, enum gt_event_code code, uint64_t value, const char *text);

#endif
