/* SPDX-License-Identifier: MIT */
/* Where the time went between a call and its device work, and in calls that wait.
 *
 *   call begins       its queue is free      the work starts     it ends     a blocking call ends
 *        |  behind its own   |  behind others' work,  |           |               |
 *        |  queue's work     |  through the runtime   |  moving   |  the runtime  |
 *
 * All device work is sorted by its start, so that what ran before it is known; then a blocking
 * copy, or an event that was waited for, is joined with its work by the call's id. Memory is
 * bounded: rows are small, and sorted in files. */
#ifndef GPUTAP_CLI_STAGES_H
#define GPUTAP_CLI_STAGES_H

#include "cli/awaited.h"
#include "cli/lookup.h"
#include "cli/spill.h"

/* A wait in parts; their sum is how long it took. */
struct stages_wait {
	uint64_t moving_ns;  /* data, on the device */
	uint64_t earlier_ns; /* standing behind work that was there before, or waiting for it */
	uint64_t runtime_ns; /* the rest: neither */
	uint64_t unknown_ns; /* of calls, or parts, of which that is not known */
};

/* Timed device work. Queues and devices are numbers of the caller's. */
struct stages_work {
	uint64_t id;            /* of its call; 0: not known */
	uint64_t call_start_ns; /* 0: not known */
	uint64_t submitted_ns;  /* 0: not known */
	uint64_t start_ns, end_ns;
	uint64_t slack_ns;               /* how far the device's clock may be off */
	uint32_t process, device, queue; /* queue: LOOKUP_NONE: not known */
	uint32_t track;                  /* whose latency it is; LOOKUP_NONE: nobody's */
	uint32_t tag;                    /* the caller's, which is handed back */
	bool moves;                      /* data */
};

/* A call that waits. */
enum stages_kind {
	STAGES_COPY,       /* for the work that it caused */
	STAGES_FINISH,     /* for all of a queue */
	STAGES_FINISH_ALL, /* for all queues of its domain in its process */
	STAGES_EVENTS,     /* for the work that these events stand for */
	STAGES_STREAM,     /* for the work of the calls on this stream */
};

struct stages_call {
	uint64_t id, start_ns, end_ns;
	uint64_t queue;          /* FINISH: handle */
	const uint64_t *handles; /* EVENTS, STREAM; read before stages_call() returns */
	size_t handle_count;
	uint32_t process, thread, group; /* thread, group: handed back */
	uint32_t domain;                 /* of the work that is waited for */
	enum stages_kind kind;
	/* it may have waited for other work, too: COPY: that events stand for, before it began;
	 * EVENTS, STREAM: that nobody knows */
	bool dependent;
};

struct stages_queue {
	uint64_t handle;
	uint32_t process, queue;
	uint32_t domain; /* of its work */
	bool untimed;    /* some of its work has no times */
};

/* What is said at the end. */
struct stages_out {
	void *data;
	void (*latency)(void *data, uint32_t track, uint64_t own_ns, uint64_t others_ns,
			uint64_t runtime_ns);
	void (*wait)(void *data, uint32_t thread, uint32_t group, const struct stages_wait *wait);
	/* all work in the order of its start; of @work the times, `id` and `tag`. May be NULL */
	void (*work)(void *data, const struct stages_work *work);
};

enum { STAGES_LAST = 16 };

/* What many work items, or many calls, have in common: rows have its number. */
struct stages_origin;

struct stages {
	struct spill work, calls, parts;
	struct awaited awaited;
	uint64_t event_waits; /* calls of STAGES_EVENTS so far */
	struct stages_origin *origins;
	uint32_t origin_count, origin_room;
	uint32_t *slots; /* number + 1, open addressing */
	uint32_t slot_count;
	/* asked for last, plus 1, by some bits of what they are */
	uint32_t last_work[STAGES_LAST], last_call[STAGES_LAST];
};

void stages_init(struct stages *s);
void stages_work(struct stages *s, const struct stages_work *work);
void stages_call(struct stages *s, const struct stages_call *call);
/* @queues: sorted here. @lost: device work was lost, so that nobody knows what queues had to do.
 * Return: 0 or negative errno with a cause. */
int stages_finish(struct stages *s, struct stages_queue *queues, size_t queue_count, bool lost,
		  const struct stages_out *out);
void stages_fini(struct stages *s);

#endif
