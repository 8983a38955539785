/* SPDX-License-Identifier: MIT */
/* Splits into parts the time between a call and its GPU activity, and the time in calls that wait.
 *
 *   call begins        queue is free           activity starts it ends   blocking call ends
 *        |  after its own    |  after others'         |           |               |
 *        |  queue's          |  activities,           |           |               |
 *        |  activities       |  through the runtime   |  moving   |  the runtime  |
 *
 * All GPU activities are sorted by start, so that earlier activities are known. Then each blocking
 * memcpy, and each event that was waited for, is joined with its activity by the call's id. Memory
 * is bounded: rows are small, and sorted in files. */
#ifndef GPUTAP_ANALYSIS_TABLES_STAGES_H
#define GPUTAP_ANALYSIS_TABLES_STAGES_H

#include "analysis/base/lookup.h"
#include "analysis/base/sorter.h"
#include "analysis/idle/wait_targets.h"

/* Parts of a wait. Their sum is the duration of the wait. */
struct stages_wait {
	uint64_t transfer_ns; /* time in which data moved on the device */
	uint64_t earlier_ns;  /* time spent waiting for earlier activities or for the wait target */
	uint64_t runtime_ns;  /* remaining time */
	/* time of calls, or of parts of calls, for which the reason is not known */
	uint64_t unknown_ns;
};

/* A GPU activity with known times. The caller numbers queues and devices. */
struct stages_activity {
	uint64_t id;            /* id of the activity's call; 0: not known */
	uint64_t call_start_ns; /* 0: not known */
	uint64_t submitted_ns;  /* 0: not known */
	uint64_t start_ns, end_ns;
	uint64_t slack_ns;               /* possible error of the device's clock */
	uint32_t process, device, queue; /* queue LOOKUP_NONE: not known */
	/* track to which the activity's latency is added; LOOKUP_NONE: none */
	uint32_t track;
	uint32_t tag; /* value that is passed back to the caller */
	bool moves;   /* true if the activity moves data */
};

/* A call that waits. */
enum stages_kind {
	STAGES_COPY,       /* waits for the call's own activity */
	STAGES_FINISH,     /* waits for a whole queue */
	STAGES_FINISH_ALL, /* waits for all queues of the call's domain in its process */
	STAGES_EVENTS,     /* waits for the activities to which events refer */
	STAGES_STREAM,     /* waits for the activities of the calls on a stream */
};

struct stages_call {
	uint64_t id, start_ns, end_ns;
	uint64_t queue;          /* FINISH: handle of the queue */
	const uint64_t *handles; /* EVENTS, STREAM: handles, read before stages_call() returns */
	size_t handle_count;
	uint32_t process, thread, group; /* thread, group: passed back to the caller */
	uint32_t domain;                 /* domain of the wait targets */
	enum stages_kind kind;
	/* true if the call may also have waited for something else. COPY: for events, before the
	 * copy began. EVENTS, STREAM: for unknown activities */
	bool dependent;
};

struct stages_queue {
	uint64_t handle;
	uint32_t process, queue;
	uint32_t domain; /* domain of the queue's activities */
	bool untimed;    /* true if the queue has activities without times */
};

/* Callbacks for the results. */
struct stages_out {
	void *data;
	void (*latency)(void *data, uint32_t track, uint64_t own_ns, uint64_t others_ns,
			uint64_t runtime_ns);
	void (*wait)(void *data, uint32_t thread, uint32_t group, const struct stages_wait *wait);
	/* called for all activities in order of start. Only the times, `id` and `tag` of @work are
	 * set. May be NULL */
	void (*activity)(void *data, const struct stages_activity *activity);
};

enum { STAGES_LAST = 16 };

/* Properties that many activities or many calls share. A row contains the number of its origin. */
struct stages_origin;

struct stages {
	struct sorter activity, calls, parts;
	struct wait_targets wait_targets;
	uint64_t event_waits; /* number of STAGES_EVENTS calls so far */
	struct stages_origin *origins;
	uint32_t origin_count, origin_room;
	uint32_t *slots; /* number + 1, in a hash table with open addressing */
	uint32_t slot_count;
	/* last used numbers + 1, indexed by some bits of the origin */
	uint32_t last_activity[STAGES_LAST], last_call[STAGES_LAST];
};

void stages_init(struct stages *s);
void stages_activity(struct stages *s, const struct stages_activity *activity);
void stages_call(struct stages *s, const struct stages_call *call);
/* Compute the results. @queues: this function sorts the array. @lost: true if GPU activities were
 * lost, so that the load of queues is not known. Return 0 or negative errno with a cause. */
int stages_finish(struct stages *s, struct stages_queue *queues, size_t queue_count, bool lost,
		  const struct stages_out *out);
void stages_fini(struct stages *s);

#endif
