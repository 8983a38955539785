/* SPDX-License-Identifier: MIT */
/* Internals of idle.h: the interfaces between its steps. idle.c sorts the activities and keeps the
 * results, idle_host.c walks the calls, idle_blocked.c finds activities that blocked a queue,
 * idle_calls.c classifies calls, idle_split.c splits time by the state of the thread. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_STEPS_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_STEPS_H

#include "analysis/idle/idle.h"
#include "analysis/idle/idle_states.h"

/* Properties that many activities share. Must not contain padding. */
struct idle_origin {
	uint64_t slack_ns;
	uint32_t row; /* row for the gaps; LOOKUP_NONE: gaps are not counted */
	uint32_t device, device_index;
	uint32_t process;
	uint32_t is_marker;
	uint32_t name; /* name of the activity */
};

/* A gap, and the activity that ended it. */
struct idle_gap_row {
	uint64_t start, end;
	uint64_t id, call_start, submitted; /* id and times of the activity's call; 0: not known */
	uint32_t origin;                    /* origin of the activity */
	/* position of the calling thread in the order of records; LOOKUP_NONE: none */
	uint32_t thread;
	uint32_t after; /* origin of the activity before the gap */
	uint32_t pad;
};

/* Return the earliest start of a gap's parts: the start of the gap or of the call, whichever is
 * earlier. */
static inline uint64_t idle_gap_from(const struct idle_gap_row *gap)
{
	return gap->call_start && gap->call_start < gap->start ? gap->call_start : gap->start;
}

/* A range of a thread. */
struct idle_range_row {
	uint64_t start, end;
	uint32_t thread, name;
};

/* The calls between which a part lies. */
struct idle_calls {
	uint64_t previous, next; /* ids; 0: none */
	uint32_t pair;           /* index in idle.pairs */
	uint32_t pad;
};

/* The last part of a gap. The queue may have been blocked during this part. */
struct idle_rest {
	struct idle_gap_row gap;
	uint64_t from; /* start of the part, which lasts until the gap ends */
	struct idle_calls calls;
};

/* A part that may still grow; end 0: no such part. */
struct idle_kept {
	uint64_t start, end;
	enum gt_idle_cause cause;
	uint32_t op, name, wait;
	struct idle_calls calls;
};

/* A gap that is being split into parts. */
struct idle_open {
	struct idle_gap_row row;
	uint64_t until;             /* end of the time for which the host is the cause */
	uint64_t causes;            /* one bit for each cause in the gap */
	uint64_t ns[GT_IDLE_COUNT]; /* time of each cause in `causes`; other elements are not set */
	/* the gap's entry among the largest gaps; NULL: it is not one of them */
	struct idle_gap *largest;
	struct idle_kept kept;
	/* of the parts that are added next */
	struct idle_calls calls;
	uint32_t wait; /* what the thread waits for; LOOKUP_NONE: not known */
	uint32_t detail_row;
	bool is_told; /* true if the complete parts are reported, not only their sums */
	bool is_seen; /* true if the call that submitted the activity was seen */
	bool copies;  /* true if that call is a memcpy or memset */
};

/* Return the properties of an operation's calls that matter for idle devices. */
struct idle_operation idle_describe_operation(uint32_t op);
const struct idle_operation *idle_find_operation(const struct idle *s, uint32_t op);
enum gt_idle_cause idle_call_cause(const struct idle *s, const struct gt_item *call);
/* How a call may block a queue. */
enum idle_hold {
	IDLE_HOLDS_NOT,
	IDLE_HOLDS_ACTIVITY, /* the call's activity waits for the events that the call names */
	IDLE_HOLDS_STREAM,   /* later activities of the call's stream wait */
};
enum idle_hold idle_call_hold(uint32_t op);
/* Return true if the operation takes a list of events that its activity waits for. */
bool idle_names_events(const struct gt_operation_info *info);
bool idle_call_holds(const struct gt_item *call, enum idle_hold *how);

/* Return true if all calls of a process were recorded, as far as known. */
bool idle_host_is_known(const struct gt_capture *capture, uint32_t process);

void idle_add_sum(struct idle_sum *sum, uint64_t ns);
/* Add a part to the sums of its pair of calls. @pair LOOKUP_NONE: not known. */
void idle_add_site(struct idle *s, uint32_t row, enum gt_idle_cause cause, uint32_t pair,
		   uint64_t ns);
/* Prepare to find lines. Return 0 or negative errno with a cause. */
int idle_lines_begin(struct idle *s);
void idle_lines_fini(struct idle *s);
/* Add a part to the sums of the lines at which the current thread was sampled during the part. */
void idle_add_places(struct idle *s, uint32_t row, enum gt_idle_cause cause, uint64_t from,
		     uint64_t to);
void idle_pairs_fini(struct idle *s);
/* Return the line of the program that made a call, as a number in s->names; LOOKUP_NONE: not
 * known. */
uint32_t idle_find_line(struct idle *s, uint32_t process, uint64_t id);
/* Return the number of a pair of calls, of which id and operation are set. */
uint32_t idle_find_pair(struct idle *s, uint32_t process, const struct gt_idle_edge *previous,
			const struct gt_idle_edge *next);

/* Return the unrecorded time of a device; NULL: none. */
static inline const struct unrecorded_list *idle_unrecorded(const struct idle *s, uint32_t device)
{
	return s->unrecorded ? &s->unrecorded[device] : NULL;
}

/* Run the second pass. */
int idle_walk_host(struct idle *s);

/* Add a part of the time of a thread. @v: what the thread did; NULL: not known. @cause: the cause
 * without regard to the thread's state. */
void idle_add_host_part(struct idle *s, struct idle_open *gap, const struct idle_interval *v,
			const struct idle_kept *part);
/* Return the number of the row of @owner. May move the rows. */
uint32_t idle_find_row(struct idle *s, const struct idle_owner *owner);
/* Return the row of a gap: of its origin, or of the phase in which the gap ends. */
uint32_t idle_find_gap_row(struct idle *s, const struct idle_gap_row *gap);
/* Open a gap, before its first part. */
void idle_open_gap(struct idle *s, struct idle_open *gap, const struct idle_gap_row *row);
/* Add a part of the gap, unless its length is 0. @op, @name: as in struct idle_detail. */
void idle_add_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
		   enum gt_idle_cause cause, uint32_t op, uint32_t name);
/* Add the use of the processor during a part. */
void idle_add_evidence(struct idle *s, const struct idle_open *gap, enum gt_idle_cause cause,
		       const struct idle_evidence *e);
/* Close a gap when all its parts are known, or all except the last. */
void idle_close_gap(struct idle *s, struct idle_open *gap);
/* Add a gap that has only one cause. */
void idle_add_whole(struct idle *s, const struct idle_gap_row *row, enum gt_idle_cause cause);
void idle_fini_paused(struct idle *s);
/* Split the time from the call's end (or its start, if the end is not known) to the activity's
 * start. @held_until: end of the activity that the queue waited for, 0: none. @unsure: the queue
 * may have waited longer. */
void idle_split_rest(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t held_until,
		     uint32_t behind, bool unsure);

/* Finds blocked queues from all calls, all activities, and the last parts of gaps. */
struct idle_blocked *idle_blocked_create(void);
void idle_blocked_destroy(struct idle_blocked *h);
void idle_blocked_add_activity(struct idle_blocked *h, uint32_t process, uint64_t id, uint64_t end,
			       uint32_t name);
void idle_blocked_note_call(struct idle_blocked *h, const struct gt_item *call);
/* Add the last part of a gap. @call: call that submitted the activity which ended the gap. The
 * activity waited for the events that @call names. */
void idle_blocked_add_rest(struct idle_blocked *h, const struct gt_item *call,
			   const struct idle_rest *rest);
int idle_blocked_finish(struct idle *s);

#endif
