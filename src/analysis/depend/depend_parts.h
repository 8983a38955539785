/* SPDX-License-Identifier: MIT */
/* Internals of depend.h: the interfaces between its steps.
 *
 *   depend_read.c    records -> nodes, and the calls that launch, wait, or use events
 *   depend_order.c   those calls in order of time -> the calls that each of them waits for
 *   depend_ranks.c   calls of several ranks -> the calls that wait for another rank's call
 *   depend_locks.c   waits for locks, and the threads that held them
 *   depend_edges.c   nodes in order of time -> edges
 *   depend_lags.c    lags of edges that no node waited for
 *   depend_ranges.c  ranges of the program -> nodes in which they start and end */
#ifndef GPUTAP_ANALYSIS_DEPEND_DEPEND_PARTS_H
#define GPUTAP_ANALYSIS_DEPEND_DEPEND_PARTS_H

#include "analysis/base/map.h"
#include "analysis/depend/depend.h"
#include "analysis/model/ranges.h"

/* Clocks of devices are converted, so an activity may appear to start this much before the end of
 * the activity that it waited for. */
enum { DEPEND_SLACK_NS = 2000 };

/* Ways in which a call takes part in dependencies, as bits. */
enum depend_role {
	DEPEND_LAUNCHES = 1, /* adds activities to its stream */
	DEPEND_RECORDS = 2,  /* its event refers to the stream's last activity from now on */
	DEPEND_SIGNALS = 4,  /* its event refers to its own activity */
	DEPEND_HOLDS = 8,    /* later activities of its stream wait for its events */
	DEPEND_NEEDS = 16,   /* its activity waits for its events */
	DEPEND_WAITS_STREAM = 32,
	DEPEND_WAITS_EVENTS = 64,
	DEPEND_WAITS_ALL = 128,
	DEPEND_WAITS_OWN = 256, /* returns after its own activity */
};
enum {
	DEPEND_WAITS =
		DEPEND_WAITS_STREAM | DEPEND_WAITS_EVENTS | DEPEND_WAITS_ALL | DEPEND_WAITS_OWN
};

/* A call, in the order in which it was read. */
struct depend_call {
	uint64_t id, start;
	uint32_t process, class;
	uint32_t first, last; /* first and last node */
	uint32_t action;      /* index + 1 in actions; 0: none */
	/* activities: the one that ends last; LOOKUP_NONE: none */
	uint32_t activity;
	uint32_t activity_count;
	uint32_t launches;   /* as in struct depend_node */
	uint32_t inside;     /* call whose nodes contain this call's time; LOOKUP_NONE: its own */
	uint32_t before;     /* the last call before that launched on its stream; LOOKUP_NONE */
	uint32_t group;      /* index + 1 of the state of a call with several activities */
	bool keeps_activity; /* true if an activity of the call is not gone */
};

struct depend_action {
	uint32_t call;
	uint32_t role;
	uint64_t stream;             /* handle; valid if has_stream */
	uint64_t signal;             /* event that the call records or returns; 0: none */
	uint32_t event, event_count; /* events that it waits for, in depend_reading.events */
	uint32_t need;               /* first dependency + 1 in needs; 0: none */
	bool has_stream;
};

/* A call whose activities another call, or its activities, wait for. */
struct depend_need {
	uint32_t call, next; /* next: index + 1; 0: last */
};

/* A call that waits for the start of another rank's call. */
struct depend_joint {
	uint32_t to, from; /* last node of the waiting call; node before the other call */
};

/* A wait of a thread for a lock. */
struct depend_lock {
	uint64_t start, end;
	uint32_t process;
	/* indexes in depend.threads; until depend_place_locks(), an ordinal and a tid */
	uint32_t thread, holder;
};

struct depend_reading {
	struct depend_call *calls;
	struct depend_action *actions;
	uint64_t *events;
	struct depend_need *needs;
	size_t call_count, call_room, action_count, action_room, event_count, event_room;
	size_t need_count, need_room, node_room, thread_room, queue_room, class_room;
	struct idmap operations; /* operation -> class */
	struct idmap strings;    /* process << 32 | string id -> class */
	struct texts activities; /* names of activities; index -> class in activity_classes */
	uint32_t *activity_classes;
	size_t activity_class_room;
	struct gt_map queue_map; /* process, address of the object -> queue */
	uint32_t *thread_calls;  /* for each thread: its first call; then call_count */
	size_t thread_calls_room;
	struct depend_ranks *ranks;
	struct depend_joint *joints; /* sorted by `to`, after depend_find_joints() */
	size_t joint_count, joint_room;
	struct depend_lock *locks; /* sorted by thread and time, after depend_place_locks() */
	size_t lock_count, lock_room;
	struct gt_ranges ranges;
	size_t range_room;
};

void depend_order_calls(struct depend *d);
void depend_find_edges(struct depend *d);
void depend_find_lags(struct depend *d);
/* Calls of ranks that wait for each other: begin before the first record; note each call; find them
 * when the nodes are sorted. depend_find_joints() returns 0 or negative errno with a cause. */
void depend_begin_ranks(struct depend *d);
void depend_note_joint(struct depend *d, const struct gt_item *call);
int depend_find_joints(struct depend *d);
void depend_end_ranks(struct depend *d);

/* Note a row of a thread's state, if it is a wait for a lock with a known holder. */
void depend_note_lock(struct depend *d, const struct gt_item *item);
void depend_place_locks(struct depend *d);
/* Find the node's longest wait for a lock, within the node. Return false if there is none. */
bool depend_find_lock(const struct depend *d, const struct depend_node *n,
		      struct depend_lock *wait);

/* The nodes of each thread, in order of time. The caller passes both lists to free_scratch(). */
struct depend_thread_nodes {
	uint32_t *first; /* of each thread, and after the last one: index in the list */
	uint32_t *list;
};
struct depend_thread_nodes depend_list_nodes(const struct depend *d);
/* Return the index in the list of the thread's node that contains @time, or is nearest to it;
 * LOOKUP_NONE: the thread has no node. */
uint32_t depend_position(const struct depend *d, const struct depend_thread_nodes *l,
			 uint32_t thread, uint64_t time);
/* Note a call that starts or ends a range. Return 0 or negative errno with a cause. */
int depend_note_mark(struct depend *d, const struct gt_item *call);
/* Find the nodes of the ranges. */
void depend_place_ranges(struct depend *d);

/* Describe how the call takes part in dependencies. Return false if it does not. */
bool depend_describe_call(struct depend_reading *r, const struct gt_item *call,
			  struct depend_action *action);
/* Return the call of a process; LOOKUP_NONE: not recorded. */
uint32_t depend_find_call(const struct depend *d, uint32_t process, uint64_t id);

#endif
