/* SPDX-License-Identifier: MIT */
/* Records of vendors' PrivateUse1 plug-ins in gputap's own captures.
 *
 *   pu1_attach.c    which plug-ins, and when: this process has what they are for; the end
 *   pu1_stream.c    a plug-in's own thread: load, flush, read, for as long as the process runs
 *   pu1_records.c   its records become gputap's
 *   pu1_pushes.c    what the program pushes goes to all of them, in the program's threads
 *   pu1_submits.c   submissions that they report, in the program's threads
 *   pu1_links.c     which call a correlation of the plug-in's is
 *   pu1_clock.c     its times; CLOCK_REALTIME in host ticks
 *   pu1_objects.c   its devices, streams and graphs as numbered objects
 *
 *   plug-in ── buffers ──► libgputap-plugin ── records ──► the plug-in's thread ──► rings
 *
 * `gputap run` has found the plug-ins, tried each in a process of its own, and named those that are
 * of use in the session (cli/run_plugins.c). libgputap-plugin.so is opened by the first of them, so
 * that torch.profiler's bridge and this share one host of a plug-in.
 *
 * All of a plug-in's functions run in its own thread, which holds no lock of ours: one that never
 * returns keeps nobody. Who waits for that thread waits for a bounded time. */
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

/* libgputap-plugin's functions, by name. */
#define GT_PU1_FUNCTIONS(X)              \
	X(gputap_plugins_at)             \
	X(gputap_plugins_row)            \
	X(gputap_plugins_count_name)     \
	X(gputap_plugins_sessions)       \
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
	GT_PU1_WAITS = 0, /* this process has nothing that it is for */
	GT_PU1_STARTS,    /* its thread loads it */
	GT_PU1_RECORDS,
	GT_PU1_OVER, /* it was refused, or its last record is written */
};

/* A correlation of the plug-in's, and the call that it is. */
struct gt_pu1_link {
	uint64_t correlation; /* 0: free */
	uint64_t id, start;   /* number and begin of the call's record */
	bool driver;          /* the driver's call, not the runtime's */
};

struct gt_pu1_links {
	struct gt_pu1_link *now, *before; /* by hash: `before` is full, `now` is filled */
	uint32_t room, used;
};

/* Numbers of strings. */
struct gt_pu1_names {
	uint32_t *list;
	size_t count, room;
};

/* Two readings of a clock and the host's ticks: what lies between is on the line. */
struct gt_pu1_host_clock {
	struct gt_pu1_reading {
		uint64_t ticks, boot_ns, real_ns;
	} first, last;
};

/* A call that has submitted work, until its record comes. */
enum { GT_PU1_CALLS_KNOWN = 1 << 16 };
struct gt_pu1_known {
	_Atomic uint64_t claim, correlation; /* 0: free */
	uint32_t kind, stack;
};

/* A device's clock: when it is read next, and its last reading. */
struct gt_pu1_device_clock {
	uint64_t next_ns, pause_ns;
	uint64_t hz;            /* as declared, or measured since; 0: not known */
	uint64_t time, boot_ns; /* read together; boot_ns 0: it was not read yet */
	bool contradicts;       /* what it declares is not what readings say: said once */
};

struct gt_pu1_object {
	uint64_t key, number;
};

/* A thread that calls the vendor's runtime: its calls have a ring of their own. */
struct gt_pu1_standing {
	uint32_t tid;
	struct gt_thread thread;
	uint64_t tops[GT_EXTERNAL_STACK_COUNT]; /* that were written last */
};

/* A record that is read, and not yet written. */
struct gt_pu1_item {
	struct gputap_plugin_record r; /* without texts */
	uint32_t name;                 /* number of the string */
	uint32_t depth;                /* of a call: calls that are around it */
	uint32_t waited;               /* of work: rounds that its call has not come */
};

struct gt_pu1_items {
	struct gt_pu1_item *items;
	size_t count, room;
};

struct gt_pu1 {
	const char *path, *needs; /* in the session's list; path to the first tab */
	char name[64];
	_Atomic uint32_t state; /* enum gt_pu1_state; a futex */
	/* the function of the plug-in's that its thread is in; NULL: none */
	const char *_Atomic in;
	const struct gt_pu1_functions *f;
	uint32_t index;           /* in libgputap-plugin */
	struct gt_thread *thread; /* of its own thread; NULL: nothing is recorded */
	struct gt_pu1_host_clock host;
	struct gt_pu1_links links;
	struct gt_pu1_items calls, work;
	uint64_t kinds;                                  /* that the session wants */
	struct gt_pu1_known *known;                      /* by hash */
	_Atomic uint64_t announced[PU1_KIND_COUNT];      /* items that it reported, and */
	uint64_t arrived[PU1_KIND_COUNT];                /* those of them that came */
	struct gt_pu1_names launching, copying, setting; /* calls that were seen to do so */
	struct gt_pu1_standing *standing;
	uint32_t standing_count;
	struct gt_pu1_object *objects[GT_OBJECT_TYPE_COUNT]; /* by hash; number 0: free */
	uint32_t object_counts[GT_OBJECT_TYPE_COUNT], object_rooms[GT_OBJECT_TYPE_COUNT];
	struct gt_pu1_device_clock clocks[GT_PU1_DEVICES];
	uint64_t begun_boot_ns; /* its thread began: no work of its records is older */
	uint64_t reported[GPUTAP_PLUGIN_COUNT_COUNT]; /* of its counts, in events */
	uint64_t lost[PU1_KIND_COUNT];                /* of its drops, counted as lost */
	uint64_t outside;                             /* records whose times cannot be right */
	bool untimed;                                 /* its clock cannot be read: said once */
};

/* pu1_stream.c: the thread. Return: 0 or errno. */
int gt_pu1_start(struct gt_pu1 *p);
/* All threads are to write their last records, and end. */
void gt_pu1_ask_end(void);

/* pu1_records.c: what the plug-in has to give now. @last: nothing comes behind it. */
void gt_pu1_write_records(struct gt_pu1 *p, bool last);
/* Kinds that the session asks for. */
uint64_t gt_pu1_kinds(void);

/* pu1_pushes.c: the plug-in of that index is notified from now on. */
void gt_pu1_push_to(const struct gt_pu1_functions *f, uint32_t index);
/* Nobody is: in a fork's child. */
void gt_pu1_push_to_none(void);
/* An id that a record has: the number of a range; an id of the program's; 0: not ours. */
uint64_t gt_pu1_range_of(uint64_t external);
uint64_t gt_pu1_external_of(uint64_t external);

/* pu1_submits.c: the plug-in reports its submissions from now on, if it can. */
void gt_pu1_hear_submissions(struct gt_pu1 *p);
/* The call of that correlation: the kind of its first item of work, and its stack's number (0:
 * none). Return: false: it did not report one. */
bool gt_pu1_take_call(struct gt_pu1 *p, uint64_t correlation, uint32_t *kind, uint32_t *stack);
/* Work of that kind (PU1_KIND_COUNT: not known) has come, or is lost: it counts as seen, once. */
void gt_pu1_arrives(struct gt_pu1 *p, uint32_t kind);

/* pu1_links.c */
void gt_pu1_link_call(struct gt_pu1_links *l, const struct gt_pu1_link *call);
const struct gt_pu1_link *gt_pu1_find_call(const struct gt_pu1_links *l, uint64_t correlation);

/* pu1_clock.c */
void gt_pu1_clock_begin(struct gt_pu1_host_clock *c);
/* One more reading: the line goes from the last one to this one. Return: how far CLOCK_REALTIME was
 * set meanwhile, ns. */
int64_t gt_pu1_clock_step(struct gt_pu1_host_clock *c);
uint64_t gt_pu1_ticks(const struct gt_pu1_host_clock *c, uint64_t real_ns);
/* Read a device's clock if the last reading is some time ago. @always: in any case. */
void gt_pu1_read_clock(struct gt_pu1 *p, int32_t device, bool always);
/* Can a device have shown these times since the plug-in records? True where that is not known. */
bool gt_pu1_is_in_life(const struct gt_pu1 *p, int32_t device, uint64_t start, uint64_t end);

/* pu1_objects.c: numbers of objects; 0: there is no memory, or nothing is recorded. */
/* Ticks a second that the device declares; 0: it does not. */
uint64_t gt_pu1_rate(struct gt_pu1 *p, int32_t device);
uint64_t gt_pu1_device(struct gt_pu1 *p, int32_t device);
uint64_t gt_pu1_queue(struct gt_pu1 *p, int32_t device, int32_t stream);
uint32_t gt_pu1_graph(struct gt_pu1 *p, uint64_t graph);
/* An event: the plug-in's name, and a sentence of what it failed to do. Any thread. */
void gt_pu1_event(struct gt_pu1 *p, struct gt_thread *t, uint64_t value, const char *text);
/* The same of another kind, by its own thread. */
void gt_pu1_event_of(struct gt_pu1 *p, enum gt_event_code code, uint64_t value, const char *text);

#endif
