/* SPDX-License-Identifier: MIT */
/* Find where the time went between a call and its GPU activity, and in calls that wait.
 *
 *   call begins       its queue is free     the activity starts   it ends     a blocking call ends
 *        |  after its own    |  after others'         |           |               |
 *        |  queue's          |  activities,           |           |               |
 *        |  activities       |  through the runtime   |  moving   |  the runtime  |
 *
 * All GPU activities are sorted by start, so that those that ran before are known; then a blocking
 * memcpy, or an event that was waited for, is joined with its activity on the call's id. Memory is
 * bounded: rows are small, and sorted in files. */
#ifndef GPUTAP_CLI_STAGES_H
#define GPUTAP_CLI_STAGES_H

#include "cli/wait_targets.h"
#include "cli/lookup.h"
#include "cli/spill.h"

/* A wait in parts; their sum is its duration. */
struct stages_wait {
	uint64_t transfer_ns; /* moving data, on the device */
	uint64_t earlier_ns;  /* behind earlier activities, or waiting for the wait target */
	uint64_t runtime_ns;  /* the rest */
	uint64_t unknown_ns;  /* calls, or parts, for which this is not known */
};

/* A timed GPU activity. Queues and devices are the caller's numbers. */
struct stages_work {
	uint64_t id;            /* id of its call; 0: not known */
	uint64_t call_start_ns; /* 0: not known */
	uint64_t submitted_ns;  /* 0: not known */
	uint64_t start_ns, end_ns;
	uint64_t slack_ns;               /* possible error of the device's clock */
	uint32_t process, device, queue; /* queue: LOOKUP_NONE: not known */
	uint32_t track;                  /* for its latency; LOOKUP_NONE: none */
	uint32_t tag;                    /* a value of the caller, passed back to it */
	bool moves;                      /* true if it moves data */
};

/* A call that waits. */
enum stages_kind {
	STAGES_COPY,       /* for its own activity */
	STAGES_FINISH,     /* for a whole queue */
	STAGES_FINISH_ALL, /* for all queues of its domain in its process */
	STAGES_EVENTS,     /* for the activities to which these events refer */
	STAGES_STREAM,     /* for the activities of the calls on this stream */
};

struct stages_call {
	uint64_t id, start_ns, end_ns;
	uint64_t queue;          /* FINISH: handle */
	const uint64_t *handles; /* EVENTS, STREAM; read before stages_call() returns */
	size_t handle_count;
	uint32_t process, thread, group; /* thread, group: passed back */
	uint32_t domain;                 /* of its wait targets */
	enum stages_kind kind;
	/* true if it may also have waited for others: COPY: for events, before it began; EVENTS,
	 * STREAM: for unknown ones */
	bool dependent;
};

struct stages_queue {
	uint64_t handle;
	uint32_t process, queue;
	uint32_t domain; /* of its activities */
	bool untimed;    /* true if some of its activities have no times */
};

/* Callbacks for the results. */
struct stages_out {
	void *data;
	void (*latency)(void *data, uint32_t track, uint64_t own_ns, uint64_t others_ns,
			uint64_t runtime_ns);
	void (*wait)(void *data, uint32_t thread, uint32_t group, const struct stages_wait *wait);
	/* all activities in order of start; @work has times, `id` and `tag`. May be NULL */
	void (*work)(void *data, const struct stages_work *work);
};

enum { STAGES_LAST = 16 };

/* Properties that many activities, or many calls, share: rows have its number. */
struct stages_origin;

struct stages {
	struct spill work, calls, parts;
	struct wait_targets wait_targets;
	uint64_t event_waits; /* calls of STAGES_EVENTS so far */
	struct stages_origin *origins;
	uint32_t origin_count, origin_room;
	uint32_t *slots; /* number + 1, open addressing */
	uint32_t slot_count;
	/* last used numbers plus 1, by some bits of the origin */
	uint32_t last_work[STAGES_LAST], last_call[STAGES_LAST];
};

void stages_init(struct stages *s);
void stages_work(struct stages *s, const struct stages_work *work);
void stages_call(struct stages *s, const struct stages_call *call);
/* @queues: sorted here. @lost: true if GPU activities were lost, so that queues' loads are not
 * known. Return 0 or negative errno with a cause. */
int stages_finish(struct stages *s, struct stages_queue *queues, size_t queue_count, bool lost,
		  const struct stages_out *out);
void stages_fini(struct stages *s);

#endif
